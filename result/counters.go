package result

import (
	"fmt"
	"reflect"
	"strings"

	"sixnines/internal/spell"
)

// Counters account for every message of the measured window. Publish side:
//
//	Scheduled = NotSent + Taken                   (the schedule, walked again)
//	Taken     = Rejected + Sent                   (given a sequence number)
//	Sent      = Acked + Nacked + Unknown          (handed to the client)
//
// Delivery side, over all delivery groups bound to each message's topic:
//
//	Expected = Received + Corrupted + Missing
//
// Each is counted by itself, where it happens: Scheduled by walking the schedule
// apart from the senders, NotSent by what the senders have left of theirs,
// Unknown and Missing by the sequence numbers that were never ticked off. So a
// message that is lost on the way from one account to the next breaks a sum. A
// closed loop and flat out have no schedule: there Scheduled is Taken.
//
// Unknown are messages that were handed over and of whose fate the broker said
// nothing: all of them where there are no acknowledgements.
type Counters struct {
	Scheduled int64 `json:"scheduled"`
	NotSent   int64 `json:"not_sent"` // due, but the run ended before they could be sent
	// Taken are the messages that a sender took from the schedule. Results of
	// earlier versions, in which Scheduled and Unknown were remainders, have none.
	Taken    int64 `json:"taken,omitempty"`
	Rejected int64 `json:"rejected"` // the client refused them at once
	Acked    int64 `json:"acked"`
	Nacked   int64 `json:"nacked"`
	Unknown  int64 `json:"unknown"`
	Sent     int64 `json:"sent"`

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
	Corrupted   int64 `json:"corrupted"` // came damaged, and not whole
	// CorruptedCopies are other deliveries that came damaged: of messages that came whole as well, or damaged more
	// than once. Duplicated counts them too.
	CorruptedCopies int64 `json:"corrupted_copies,omitempty"`
	// CorruptedUnplaced are those of Corrupted of which it is not known which messages they are. As many more may
	// be missing, and be lost, if they are copies.
	CorruptedUnplaced int64 `json:"corrupted_unplaced,omitempty"`
	// Missing by the fate of the publish, so that acked/unacked × received/missing
	// can be shown.
	MissingNacked  int64 `json:"missing_nacked"`
	MissingUnknown int64 `json:"missing_unknown"`

	Duplicated  int64 `json:"duplicated"`
	Redelivered int64 `json:"redelivered"` // marked by the broker as delivered before
	Reordered   int64 `json:"reordered"`   // RFC 4737: sequence below the highest seen in its stream
	Late        int64 `json:"late"`        // beyond the window of memory: new or duplicate, not known
	Foreign     int64 `json:"foreign"`     // another run's, or not a message of Sixnines
	// Earlier are the messages that earlier runs left where this one used what
	// existed, each counted once for each delivery group; they are in no
	// distribution and in neither account.
	Earlier int64 `json:"earlier,omitempty"`
	// EarlierMissing are the gaps among them: numbers between the lowest and the
	// highest that came of the same stream and run, which a run may have failed to
	// send, or the broker to keep. EarlierDuplicated came more than once.
	EarlierMissing    int64 `json:"earlier_missing,omitempty"`
	EarlierDuplicated int64 `json:"earlier_duplicated,omitempty"`
	LateReplies       int64 `json:"late_replies"`
	// LastUnknown are the messages of a fan-out whose slowest delivery came after
	// the memory of them had gone: in delivery.last as lower bounds.
	LastUnknown int64 `json:"last_unknown,omitempty"`
	// EndedReceived are deliveries of messages that the broker had refused, or that were given
	// up, before them or after them: such a message is not in flight, whether it comes or not.
	EndedReceived int64 `json:"ended_received,omitempty"`
	Censored      int64 `json:"censored"` // in the distributions as lower bounds

	TimedOut   int64 `json:"timed_out"`          // of the window, lost their place in flight; may have been resolved later
	Negative   int64 `json:"negative"`           // differences below zero, recorded as 0
	OutOfRange int64 `json:"out_of_range"`       // values beyond the histograms, recorded at their end
	Violations int64 `json:"violations"`         // the driver broke its contract
	Takeovers  int64 `json:"handovers"`          // a blocked send whose pacer's other producers were taken over
	Dropped    int64 `json:"dropped"`            // thrown away by the client, as it says
	Returned   int64 `json:"returned,omitempty"` // given back by the broker, which could not route them
	// Denied are publishes that the broker refused without saying which: each is in
	// the accounts as what else was known of it, so as a rule unknown and missing.
	Denied    int64 `json:"denied,omitempty"`
	BytesSent int64 `json:"bytes_sent"`
	BytesRecv int64 `json:"bytes_received"`
}

// counters is the number of fields of Counters.
const counters = 40

// fields lists every counter once: Add, Sub and IsZero must not forget one.
func (c *Counters) fields() [counters]*int64 {
	return [counters]*int64{&c.Scheduled, &c.NotSent, &c.Taken, &c.Rejected, &c.Acked, &c.Nacked, &c.Unknown, &c.Sent,
		&c.Expected, &c.Received, &c.Missing, &c.LostAcked, &c.Undelivered, &c.Corrupted, &c.CorruptedCopies, &c.CorruptedUnplaced, &c.MissingNacked, &c.MissingUnknown,
		&c.Duplicated, &c.Redelivered, &c.Reordered, &c.Late, &c.Foreign, &c.Earlier, &c.EarlierMissing, &c.EarlierDuplicated, &c.LateReplies, &c.LastUnknown, &c.EndedReceived, &c.Censored,
		&c.TimedOut, &c.Negative, &c.OutOfRange, &c.Violations, &c.Takeovers, &c.Dropped, &c.Returned, &c.Denied, &c.BytesSent, &c.BytesRecv}
}

// Damaged is how many deliveries came damaged.
func (c *Counters) Damaged() int64 { return c.Corrupted + c.CorruptedCopies }

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

// Conserved reports whether both accounts balance and no counter is negative. If not,
// problem says in one sentence what is wrong.
func (c Counters) Conserved() (ok bool, problem string) {
	if c.Taken != 0 {
		switch {
		case c.Scheduled != c.NotSent+c.Taken:
			return false, differs("scheduled", c.Scheduled, "not sent and taken by the senders", c.NotSent, c.Taken)
		case c.Taken != c.Rejected+c.Sent:
			return false, differs("taken by the senders", c.Taken, "rejected and sent", c.Rejected, c.Sent)
		}
	}
	switch {
	case c.Sent != c.Acked+c.Nacked+c.Unknown:
		return false, differs("sent", c.Sent, "acknowledged, refused and unknown", c.Acked, c.Nacked, c.Unknown)
	case c.Scheduled != c.NotSent+c.Rejected+c.Acked+c.Nacked+c.Unknown:
		return false, differs("scheduled", c.Scheduled, "not sent, rejected, acknowledged, refused and unknown", c.NotSent, c.Rejected, c.Acked, c.Nacked, c.Unknown)
	case c.Expected != c.Received+c.Corrupted+c.Missing:
		return false, differs("expected", c.Expected, "received, corrupted and missing", c.Received, c.Corrupted, c.Missing)
	}
	for _, f := range c.fields() {
		if *f < 0 {
			return false, "a counter is below zero"
		}
	}
	return true, ""
}

// differs says by how much a total is not the sum of its parts.
func differs(total string, n int64, parts string, of ...int64) string {
	text, sum := "", int64(0)
	for i, v := range of {
		if i > 0 {
			text += " + "
		}
		text, sum = text+spell.Count(v), sum+v
	}
	return fmt.Sprintf("%s %s are not the sum of %s (%s = %s): %s too few", spell.Count(n), total, parts, text, spell.Count(sum), spell.Count(n-sum))
}

// Named returns the counter with this name in result files; "lost" is another word for
// "missing". ok is false if no counter has the name.
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
