package report

import (
	"sixnines/result"
)

// eventsTable lists the events of the run in order: when, what, how often, and the
// original words. It is nil if nothing happened.
func eventsTable(s *subject) *table {
	x := &table{Name: "Events", Head: columnHeads("rlr", "at", "what", "times"), Even: true,
		Caption: "Reports of the broker, its client or the run other than messages, with times from the start of the measured window. The first reports with the same text are listed one by one, later ones together."}
	for _, e := range s.run.Events {
		if e.Workload != "" && e.Workload != s.run.Header.Workload {
			continue
		}
		r := x.add(duration(e.At), plain(string(e.Kind)), count(e.Happened()))
		if text := eventWords(&e); text != "" {
			r.Notes = append(r.Notes, text)
		}
	}
	if len(x.Rows) == 0 {
		return nil
	}
	return x
}

// eventWords returns the detail of an event, with the number of messages.
func eventWords(e *result.Event) string {
	text := plain(e.Detail)
	if e.Count > 0 {
		n := plural(e.Count, e.Kind.Properties().Of)
		if text != "" {
			text += " "
		}
		text += "(" + n + ")"
	}
	if last := e.Until(); last > e.At {
		text += ", the last time at " + duration(last)
	}
	return text
}
