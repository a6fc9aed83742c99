package result

// Connections account for the connections that a load opened and closed beside those of its messages, as
// workload.connections of its scenario says: those that were due in the window.
//
//	Scheduled = NotOpened + Begun                  (the schedule, walked again)
//	Begun     = Opened + Refused + Unanswered
//
// Each is counted by itself, where it happens. The metrics connection.* have a value, a refusal or a lower
// bound for each that was begun.
type Connections struct {
	Scheduled int64 `json:"scheduled"`
	NotOpened int64 `json:"not_opened"` // due, but the run ended before they could be begun
	Begun     int64 `json:"begun"`
	Opened    int64 `json:"opened"`  // connected, logged in, and subscribed where they subscribe
	Refused   int64 `json:"refused"` // by the broker, its machine, or the client
	// Unanswered are given up after the workload's timeout, or at the run's end.
	Unanswered int64 `json:"unanswered"`
	// Lost are those of Opened that ended before they were closed: each is counted once.
	Lost int64 `json:"lost"`
}

// connectionCounters is the number of fields of Connections.
const connectionCounters = 7

// fields lists every counter once.
func (c *Connections) fields() [connectionCounters]*int64 {
	return [connectionCounters]*int64{&c.Scheduled, &c.NotOpened, &c.Begun, &c.Opened, &c.Refused, &c.Unanswered, &c.Lost}
}

// Plus returns the sum of two accounts; nil if neither load had such connections.
func (c *Connections) Plus(o *Connections) *Connections {
	if c == nil || o == nil {
		if c == nil {
			c = o
		}
		if c == nil {
			return nil
		}
		sum := *c
		return &sum
	}
	sum := *c
	f, g := sum.fields(), o.fields()
	for i := range f {
		*f[i] += *g[i]
	}
	return &sum
}

// Minus returns what was counted since an earlier account.
func (c Connections) Minus(o Connections) Connections {
	f, g := c.fields(), o.fields()
	for i := range f {
		*f[i] -= *g[i]
	}
	return c
}

// Conserved reports whether the sums hold and no counter is negative. If not, problem says in one sentence
// what is wrong. It may be called on nil, which is no such connections.
func (c *Connections) Conserved() (ok bool, problem string) {
	if c == nil {
		return true, ""
	}
	switch {
	case c.Scheduled != c.NotOpened+c.Begun:
		return false, differs("connections scheduled", c.Scheduled, "not opened and begun", c.NotOpened, c.Begun)
	case c.Begun != c.Opened+c.Refused+c.Unanswered:
		return false, differs("connections begun", c.Begun, "opened, refused and unanswered", c.Opened, c.Refused, c.Unanswered)
	case c.Lost > c.Opened:
		return false, "more connections were lost than opened"
	}
	for _, f := range c.fields() {
		if *f < 0 {
			return false, "a counter of connections is below zero"
		}
	}
	return true, ""
}
