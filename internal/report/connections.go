package report

import "sixnines/result"

// connectionSide lists the account of connections that come and go: the first is the sum of the others.
func connectionSide(c *result.Connections) []entry {
	if c == nil {
		return nil
	}
	return []entry{
		{"due", c.Scheduled, "connections due to be opened in the measured window", alwaysShown},
		{"not opened", c.NotOpened, "due, but the run ended before they could be begun", alarming | atEnd},
		{"opened", c.Opened, "connected, logged in, and subscribed where they subscribe", 0},
		{"refused", c.Refused, "by the broker, its machine or the client; slower than any latency", alarming},
		{"unanswered", c.Unanswered, "given up after workload.timeout or at the run's end; counted in the distributions as lower bounds", alarming},
	}
}

// connectionSide is the run's; empty: no connections came and went.
func (s *subject) connectionSide() []entry {
	all := connectionSide(s.sum.Connections)
	if all == nil {
		return nil
	}
	return s.open(all, "being opened when the run was cut short: it is not known what came of them")
}

// connectionWords say the same in a few words, and what went wrong.
func connectionWords(c *result.Connections) (parts, troubles []string) {
	if c == nil {
		return nil, nil
	}
	for _, e := range append(connectionSide(c), entry{Name: "lost", Value: c.Lost, Is: alarming}) {
		if e.is(alarming) && e.Value > 0 {
			troubles = append(troubles, plural(e.Value, "connection")+" "+e.Name)
		}
	}
	return []string{"opened " + count(c.Opened) + " of " + plural(c.Scheduled, "connection")}, troubles
}
