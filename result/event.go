package result

import (
	"cmp"
	"fmt"
	"slices"
)

// Event is something that happened at a moment, or several times in the same words.
//
// The first ones with the same kind and detail are written each. Then one record stands
// for all that came since the record before it: it is written when twice as long has
// passed as before that one, and when the run ends. Of details that are new when there are
// hundreds, only the kinds are distinguished.
type Event struct {
	Type     string    `json:"type"`               // "event"
	Workload string    `json:"workload,omitempty"` // Header.Workload; empty: the whole run's
	Agent    string    `json:"agent,omitempty"`    // the agent of a fleet whose result it is from; empty: from all agents, or not a fleet
	At       int64     `json:"at"`                 // of the first
	Kind     EventKind `json:"kind"`
	Detail   string    `json:"detail,omitempty"`
	Class    string    `json:"class,omitempty"` // of the error that it is about: one of driver.Classes
	Count    int64     `json:"count,omitempty"` // of messages that it concerns, together
	Times    int64     `json:"times,omitempty"` // it happened; 0: once
	Last     int64     `json:"last,omitempty"`  // when it last did, where Times is more than 1
	// Action says which of the plan's actions the event is of; nil: of none. Each of these
	// events is written by itself.
	Action *Acted `json:"action,omitempty"`
	// Network is what was counted and measured of Header.Network; of EventNetwork.
	Network *Network `json:"network,omitempty"`
}

// Since returns the event with instants that count from an origin.
func (e Event) Since(origin int64) Event {
	e.At -= origin
	if e.Times > 1 {
		e.Last -= origin
	}
	if e.Action != nil {
		a := *e.Action
		a.Planned -= origin
		if a.Done != 0 {
			a.Asked -= origin
			a.Done -= origin
		}
		if e.Kind == EventActionOver {
			a.Began -= origin
		}
		if a.Network != nil {
			n := a.Network.Since(origin)
			a.Network = &n
		}
		e.Action = &a
	}
	return e
}

// Happened returns how often the event happened, at least 1.
func (e *Event) Happened() int64 { return max(1, e.Times) }

// Until returns when it last happened, on the same clock as At.
func (e *Event) Until() int64 {
	if e.Times > 1 {
		return e.Last
	}
	return e.At
}

// Classes of errors, as driver.Classes names them.
const (
	ClassUnauthorized = "not authorised" // the broker refuses the user or its rights
	ClassNotConnected = "not connected"
)

// EventKind says what an event is about. Files of other versions may hold kinds that are not
// listed here.
type EventKind string

// The kinds of events.
const (
	// Reported by a driver: what the client says beside its messages.
	EventDisconnected EventKind = "disconnected"
	EventReconnected  EventKind = "reconnected"
	EventDropped      EventKind = "dropped"  // the client threw Count messages away
	EventReturned     EventKind = "returned" // the broker could not route Count messages
	EventError        EventKind = "error"    // an error that belongs to no message
	// Refusals by a broker or a client.
	EventRefused     EventKind = "refused"     // Count messages, counted as nacked or rejected
	EventDenied      EventKind = "denied"      // Count messages, not known which: Counters.Denied
	EventGivenUp     EventKind = "given up"    // a connection, for good
	EventConnections EventKind = "connections" // Count of [Connections] could not be opened, kept or closed
	// Actions of the plan.
	EventAction       EventKind = "action"        // it happens
	EventActionOver   EventKind = "action over"   // an action with a length is undone
	EventActionFailed EventKind = "action failed" // it did not happen, or was not undone
	// The broker and the consumers.
	EventBrokerEnded EventKind = "broker ended"     // one of its processes ended
	EventConsumers   EventKind = "consumers"        // late consumers begin to connect
	EventAbsent      EventKind = "consumers absent" // Count consumers could not connect
	// The run itself.
	EventInterrupted EventKind = "interrupted"
	EventNarrow      EventKind = "narrow" // the window ends, since an interval is as narrow as was asked
	EventRawFull     EventKind = "raw file full"
	EventStages      EventKind = "stages" // the recording of stages ended
	EventPauses      EventKind = "pauses" // some pauses are not listed
	EventDrain       EventKind = "drain"  // the drain ended before its limit
	EventWarmUp      EventKind = "warm-up"
	EventDepth       EventKind = "depth"   // the broker's depth is not read
	EventProbe       EventKind = "probe"   // the probe ended before the load
	EventNetwork     EventKind = "network" // the conditions of the whole run's network are over
)

// EventProperties describes one kind of event.
type EventProperties struct {
	Kind EventKind
	// Cause says that such an event may have slowed the messages of its time. Events that the
	// run itself reports, and events that the accounts contain as messages, are no causes.
	Cause bool
	Told  bool   // the verdict has another reason for it than the one for events
	Of    string // what Count counts
	What  string // a noun: "a lost connection"
	Try   string // what to do
}

// Properties returns the properties of a kind. A kind that this version does not know may be
// a cause; the other properties get general words.
func (k EventKind) Properties() EventProperties {
	p := EventProperties{Kind: k, Cause: true}
	if i := slices.IndexFunc(Events(), func(p EventProperties) bool { return p.Kind == k }); i >= 0 {
		p = Events()[i]
	}
	p.Of = cmp.Or(p.Of, "message")
	p.What = cmp.Or(p.What, fmt.Sprintf("the event %q", string(k)))
	p.Try = cmp.Or(p.Try, "see what it says: --show events")
	return p
}

// Events lists the properties of all kinds.
func Events() []EventProperties {
	return []EventProperties{
		{Kind: EventDisconnected, Cause: true, What: "a lost connection", Try: "see its reason: --show events"},
		{Kind: EventReconnected, Cause: true},
		{Kind: EventDropped, Cause: true},
		{Kind: EventReturned, Cause: true},
		{Kind: EventError, Cause: true},
		{Kind: EventRefused, Told: true},
		{Kind: EventDenied, Told: true},
		{Kind: EventGivenUp, Cause: true, Told: true},
		{Kind: EventConnections, Told: true, Of: "connection"},
		{Kind: EventBrokerEnded, Cause: true, Told: true, What: "the end of a process of the broker", Try: "see when and how: --show events"},
		{Kind: EventAction, Cause: true, Told: true, What: "an action of the plan"},
		{Kind: EventActionOver, Told: true},
		{Kind: EventActionFailed, Told: true},
		{Kind: EventConsumers, Cause: true, Told: true, Of: "consumer"},
		{Kind: EventAbsent, Cause: true, Told: true, Of: "consumer"},
		{Kind: EventInterrupted},
		{Kind: EventNarrow, Told: true},
		{Kind: EventRawFull},
		{Kind: EventStages},
		{Kind: EventPauses},
		{Kind: EventDrain},
		{Kind: EventWarmUp},
		{Kind: EventDepth},
		{Kind: EventProbe},
		{Kind: EventNetwork, Told: true},
	}
}
