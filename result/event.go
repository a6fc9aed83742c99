package result

// Event is something that happened at a moment, or several times in the same words.
//
// The first ones with the same kind and detail are written each. Then one record stands
// for all that came since the record before it: it is written when twice as long has
// passed as before that one, and when the run ends. Of details that are new when there are
// hundreds, the kind alone is told apart.
type Event struct {
	Type     string `json:"type"`               // "event"
	Workload string `json:"workload,omitempty"` // Header.Workload; empty: the whole run's
	At       int64  `json:"at"`                 // of the first
	Kind     string `json:"kind"`
	Detail   string `json:"detail,omitempty"`
	Class    string `json:"class,omitempty"` // of the error that it is about: one of driver.Classes
	Count    int64  `json:"count,omitempty"` // of messages that it concerns, together
	Times    int64  `json:"times,omitempty"` // it happened; 0: once
	Last     int64  `json:"last,omitempty"`  // when it last did, where Times is more than 1
}

// Happened is how often what the event tells of happened.
func (e *Event) Happened() int64 { return max(1, e.Times) }

// Until is when it last did.
func (e *Event) Until() int64 {
	if e.Times > 1 {
		return e.Last
	}
	return e.At
}

// The kinds of events by which a broker or a client refuses.
const (
	EventRefused = "refused"  // Count messages, which the accounts have as nacked or rejected
	EventDenied  = "denied"   // messages, of which nobody says which they were: Counters.Denied
	EventGivenUp = "given up" // a connection, for good
)

// Classes of errors, as driver.Classes names them.
const (
	ClassUnauthorized = "not authorised" // the broker refuses who asks
	ClassNotConnected = "not connected"
)
