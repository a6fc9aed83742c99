package result

import (
	"reflect"
	"strings"
)

// Counters account for every message of the measured window. Publish side:
//
//	Scheduled = NotSent + Rejected + Acked + Nacked + Unknown
//	Sent      = Acked + Nacked + Unknown          (handed to the client)
//
// Delivery side, over all delivery groups bound to each message's topic:
//
//	Expected = Received + Corrupted + Missing
//
// Unknown are messages that were handed over and of whose fate the broker said
// nothing: all of them where there are no acknowledgements.
type Counters struct {
	Scheduled int64 `json:"scheduled"`
	NotSent   int64 `json:"not_sent"` // due, but the run ended before they could be sent
	Rejected  int64 `json:"rejected"` // the client refused them at once
	Acked     int64 `json:"acked"`
	Nacked    int64 `json:"nacked"`
	Unknown   int64 `json:"unknown"`
	Sent      int64 `json:"sent"`

	Expected int64 `json:"expected"`
	Received int64 `json:"received"` // unique
	Missing  int64 `json:"missing"`
	// LostAcked are the missing messages that the broker had acknowledged, and
	// that later ones have overtaken: its broken promise.
	LostAcked int64 `json:"lost_acked"`
	// Undelivered are the other missing messages that it had acknowledged. It may
	// still hold them: nothing that was sent after them has come, or others were
	// still coming when the run ended.
	Undelivered int64 `json:"undelivered,omitempty"`
	Corrupted   int64 `json:"corrupted"`
	// Missing by the fate of the publish, so that acked/unacked × received/missing
	// can be shown.
	MissingNacked  int64 `json:"missing_nacked"`
	MissingUnknown int64 `json:"missing_unknown"`

	Duplicated  int64 `json:"duplicated"`
	Redelivered int64 `json:"redelivered"` // marked by the broker as delivered before
	Reordered   int64 `json:"reordered"`   // RFC 4737: sequence below the highest seen in its stream
	Late        int64 `json:"late"`        // beyond the window of memory: new or duplicate, not known
	Foreign     int64 `json:"foreign"`     // another run's, or no message of ours
	LateReplies int64 `json:"late_replies"`
	Censored    int64 `json:"censored"` // in the distributions as lower bounds

	TimedOut   int64 `json:"timed_out"`          // lost their place in flight; may have been resolved later
	Negative   int64 `json:"negative"`           // differences below zero, recorded as 0
	OutOfRange int64 `json:"out_of_range"`       // values beyond the histograms, recorded at their end
	Violations int64 `json:"violations"`         // the driver broke its contract
	Handovers  int64 `json:"handovers"`          // a blocked send whose pacer's other producers were taken over
	Dropped    int64 `json:"dropped"`            // thrown away by the client, as it says
	Returned   int64 `json:"returned,omitempty"` // given back by the broker, which could not route them
	BytesSent  int64 `json:"bytes_sent"`
	BytesRecv  int64 `json:"bytes_received"`
}

// fields lists every counter once: Add, Sub and IsZero must not forget one.
func (c *Counters) fields() []*int64 {
	return []*int64{&c.Scheduled, &c.NotSent, &c.Rejected, &c.Acked, &c.Nacked, &c.Unknown, &c.Sent,
		&c.Expected, &c.Received, &c.Missing, &c.LostAcked, &c.Undelivered, &c.Corrupted, &c.MissingNacked, &c.MissingUnknown,
		&c.Duplicated, &c.Redelivered, &c.Reordered, &c.Late, &c.Foreign, &c.LateReplies, &c.Censored,
		&c.TimedOut, &c.Negative, &c.OutOfRange, &c.Violations, &c.Handovers, &c.Dropped, &c.Returned, &c.BytesSent, &c.BytesRecv}
}

// Add adds o to c.
func (c *Counters) Add(o Counters) {
	f, g := c.fields(), o.fields()
	for i := range f {
		*f[i] += *g[i]
	}
}

// Sub subtracts o from c.
func (c *Counters) Sub(o Counters) {
	f, g := c.fields(), o.fields()
	for i := range f {
		*f[i] -= *g[i]
	}
}

// Conserved reports whether both accounts close, and if not, which does not.
func (c Counters) Conserved() (ok bool, problem string) {
	switch {
	case c.Scheduled != c.NotSent+c.Rejected+c.Acked+c.Nacked+c.Unknown:
		return false, "scheduled is not the sum of not sent, rejected, acknowledged, refused and unknown"
	case c.Sent != c.Acked+c.Nacked+c.Unknown:
		return false, "sent is not the sum of acknowledged, refused and unknown"
	case c.Expected != c.Received+c.Corrupted+c.Missing:
		return false, "expected is not the sum of received, corrupted and missing"
	}
	for _, f := range c.fields() {
		if *f < 0 {
			return false, "a counter is below zero"
		}
	}
	return true, ""
}

// Named returns the counter that result files call by the name; "lost" is
// another word for "missing". ok is false if there is none.
func (c Counters) Named(name string) (n int64, ok bool) {
	if name == "lost" {
		name = "missing"
	}
	v := reflect.ValueOf(c)
	for i := range v.NumField() {
		if tag, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ","); tag == name {
			return v.Field(i).Int(), true
		}
	}
	return 0, false
}
