package judge

import (
	"fmt"
	"math"
	"strings"

	"sixnines/internal/spell"
	"sixnines/result"
	"sixnines/scenario"
)

// tally is what a run says of a count: it is least to most, and text says so. why says what is not
// known where these differ.
type tally struct {
	least, most int64
	text, why   string
}

// anyNumber is tally.most where there may be any number more.
const anyNumber = math.MaxInt64

// ofCounter decides about a count. It is undecided where what is not known could change the answer, and
// where a count of 0 is of nothing: who observed no message has not shown that nothing happened to it. lost are
// the agents that did not finish.
func (d *Decision) ofCounter(run *result.Run, lost []string) {
	c, o := &run.Counters, d.Objective
	n, ok := c.Named(o.Subject)
	if !ok {
		d.Text = "there is no counter " + o.Subject
		return
	}
	t := tally{least: n, most: n, text: "the count is " + spell.Count(n)}
	switch o.Subject {
	case "lost_acked":
		t = lostTally(run)
	case "lost", "missing":
		t.most, t.why = n+c.CorruptedUnplaced, unplaced
	case "corrupted": // who got a damaged copy got it
		t.least, t.most, t.text = c.Damaged(), c.Damaged(), "the count is "+spell.Count(c.Damaged())
	}
	if len(lost) > 0 && t.unobserved(run, o.Subject) {
		t.why = "it ends before the run does what " + strings.Join(lost, ", ") + " observed"
	}
	of, nothing := observed(c, o.Subject)
	switch d.fact(o.Holds(float64(t.least)), t.text); {
	case t.open(o) && t.most == anyNumber:
		d.Outcome, d.Text = Undecided, t.text+" at least, and how many more is not known: "+t.why
	case t.open(o):
		d.Outcome = Undecided
		d.Text += fmt.Sprintf(", but for %s it is not known: %s", spell.Plural(t.most-t.least, "message"), t.why)
	case d.Outcome == Met && t.least == 0 && of == 0:
		d.Outcome, d.Text = Undecided, d.Text+", but "+nothing
	}
}

// unplaced is why as many more may be missing as [result.Counters.CorruptedUnplaced] says.
const unplaced = "as many came damaged, and which messages these were, or whether they were copies, cannot be read from them"

// open reports whether counts from least to most differ in whether they satisfy o.
func (t *tally) open(o scenario.Objective) bool {
	least, most := o.Holds(float64(t.least)), o.Holds(float64(t.most))
	return least != most || o.Op == "==" && float64(t.least) < o.Limit && o.Limit < float64(t.most)
}

// lostTally returns how many acknowledged messages are lost: not delivered and not kept, or delivered and
// yet gone from a log that keeps what was delivered. While it is not known what the broker keeps, more may be.
func lostTally(run *result.Run) (t tally) {
	b := run.ReadBack
	t.least, t.most = run.LostAcked()
	t.text = "the count is " + spell.Count(t.least)
	if b != nil && b.Whole && t.least > b.LostAcked {
		t.text += fmt.Sprintf("; %s of them were delivered but are gone from the broker's log", spell.Count(t.least-b.LostAcked))
	}
	switch {
	case b == nil && run.Counters.Expected == 0:
		t.why = "nothing consumed them; read_back reads what the broker keeps"
	case b == nil && run.Counters.Undelivered == 0:
		t.why = unplaced
	case b == nil:
		t.why = "they were acknowledged and had not been delivered when the run ended; read_back reads what the broker keeps, and a longer drain waits for it"
	case b.Outcome == result.ReadBackNothingKept && run.Counters.Expected == 0:
		t.why = "nothing consumed them, and the broker keeps nothing that could be read back"
	case b.Outcome == result.ReadBackNothingKept:
		t.why = "they were acknowledged and had not been delivered when the run ended, and the broker keeps nothing that could be read back; a longer drain waits for it"
	case b.Decided():
		t.why = unplaced
	case b.Unread == 0 && b.Removed > 0:
		t.why = "the broker removes messages by a limit or as it hands them out"
	default:
		t.why = "what the broker keeps could not be read back"
	}
	return t
}

// MayBeLost says of how many acknowledged messages it is not known whether they are lost, and why.
func MayBeLost(run *result.Run) string {
	t := lostTally(run)
	return fmt.Sprintf("it is not known of %s whether they are lost: %s", spell.Plural(t.most-t.least, "acknowledged message"), t.why)
}

// unobserved widens t by what an agent that was lost may have observed after its last record, and reports
// whether it did so. What no agent received may have come to it.
func (t *tally) unobserved(run *result.Run, subject string) bool {
	c := &run.Counters
	switch subject {
	case "lost", "missing":
		t.least = c.LostAcked + c.MissingNacked // what others were sent after, and what was refused
		if v := run.Closing; v != nil && v.Unobserved > 0 {
			t.least = max(t.least, c.Missing-v.Unobserved)
		}
		t.least = min(t.least, t.most)
	case "corrupted", "duplicated", "redelivered", "reordered", "late", "foreign", "late_replies", "earlier", "earlier_missing", "earlier_duplicated":
		t.most = anyNumber
	default:
		return false
	}
	return t.least < t.most
}

// observed returns of how many messages a counter counts some, and what is to be said where it is of none.
func observed(c *result.Counters, subject string) (n int64, nothing string) {
	switch subject {
	case "lost", "missing":
		return c.Expected, "no message was to be received"
	case "lost_acked":
		return c.Acked, "nothing was acknowledged"
	case "duplicated", "reordered", "late":
		return c.Received, "no message of this run was received"
	case "corrupted", "redelivered", "foreign":
		return c.Received + c.Corrupted + c.Earlier, "nothing was received"
	case "earlier_missing", "earlier_duplicated":
		return c.Earlier, "nothing that an earlier run had sent was received"
	case "nacked", "unknown", "timed_out", "dropped", "returned":
		return c.Sent, "nothing was sent"
	}
	return c.Scheduled + c.Expected + c.Earlier, "nothing was sent"
}
