package judge

import (
	"fmt"
	"strings"

	"sixnines/result"
)

// dropsInvalid is the share of the messages that a client may throw away before
// the losses counted are more its doing than anyone's.
const dropsInvalid = 0.001

// cutShort: the run was killed, or its file damaged. What there is is right as
// far as it goes, but messages in flight at the end are missing from it.
func cutShort(e *evidence) []result.Reason {
	if !e.in.CutShort {
		return nil
	}
	text := fmt.Sprintf("cut short at second %d of %.0f: the file has no summary, messages unresolved then are in no figure", e.in.End/1e9, e.run.Header.Window.Seconds())
	if e.run.Damaged != "" {
		text += " (" + e.run.Damaged + ")"
	}
	return one(result.Suspect, "cut-short", text+"; run again")
}

// conservation: every message must have exactly one fate. A file that was cut
// short lacks the record that closes the accounts.
func conservation(e *evidence) []result.Reason {
	if ok, problem := e.run.Counters.Conserved(); !ok && !e.in.CutShort {
		return one(result.Invalid, "conservation", "the accounts do not close: "+problem+"; this is a defect of sixnines or of the driver: please report it with the result file")
	}
	return nil
}

// violations: the driver broke its contract, so that nothing it said of a
// message can be relied on.
func violations(e *evidence) []result.Reason {
	if n := e.run.Counters.Violations; n > 0 {
		return one(result.Invalid, "violations", fmt.Sprintf("the driver broke its contract %s; run its conformance suite", times(n)))
	}
	return nil
}

// clientDrops: the client threw messages away by itself; losses can then not be
// told from the broker's.
func clientDrops(e *evidence) []result.Reason {
	c := e.run.Counters
	if c.Dropped == 0 {
		return nil
	}
	text := fmt.Sprintf("the client library threw %s away by itself, which looks like loss by the broker; raise its limits", plural(c.Dropped, "message"))
	share := float64(c.Dropped) / float64(max(c.Sent, 1))
	if share > dropsInvalid {
		return one(result.Invalid, "client-drops", text)
	}
	return e.partly(share, "client-drops", plural(c.Dropped, "message")+" dropped by the client", text)
}

// clamps: values that a histogram could not hold were recorded at its ends.
func clamps(e *evidence) (found []result.Reason) {
	c := e.run.Counters
	if c.Negative > 0 {
		found = append(found, one(result.Suspect, "negative", fmt.Sprintf("%s came out below zero and were recorded as 0: instants of different clocks were compared, or a clock went back", plural(c.Negative, "difference")))...)
	}
	if c.OutOfRange > 0 {
		share := 0.0 // of the metric that has the fewest, should they all be its
		for _, m := range e.latencies() {
			share = max(share, float64(c.OutOfRange)/float64(e.summary.Histograms[m].Count))
		}
		found = append(found, e.partly(share, "out-of-range", plural(c.OutOfRange, "value")+" out of range", fmt.Sprintf("%s exceeded the histograms and were recorded at their end; the upper percentiles may be larger than shown", plural(c.OutOfRange, "value")))...)
	}
	return found
}

// closedLoop, unpaced, sameHost and interrupted say what must be known to read
// the numbers.
func closedLoop(e *evidence) []result.Reason {
	if e.run.Header.Mode != result.ModeClosed {
		return nil
	}
	return one(result.Valid, "closed-loop", "closed loop: coordinated omission; each producer waits for the answer before the next message, so what users would have waited during stalls is not in these numbers")
}

func unpaced(e *evidence) []result.Reason {
	if e.run.Header.Mode != result.ModeFlatOut {
		return nil
	}
	return one(result.Valid, "unpaced", "UNPACED: sent as fast as the client took it; the latencies are those of full queues, use the throughput")
}

func sameHost(e *evidence) []result.Reason {
	if !e.run.Header.SameHost {
		return nil
	}
	return one(result.Valid, "same-host", "broker and generator shared this machine's processors: each slows the other, and no network lies between them")
}

func interrupted(e *evidence) []result.Reason {
	if !e.in.Interrupted {
		return nil
	}
	planned := "planned"
	if e.run.Header.Until != "" {
		planned = "that it might have taken"
	}
	return one(result.Valid, "interrupted", fmt.Sprintf("the window was ended by hand after %s of the %s %s", span(e.in.End), e.run.Header.Window, planned))
}

// aborted: nobody waited for the messages under way at the end.
func aborted(e *evidence) []result.Reason {
	if !e.in.Aborted {
		return nil
	}
	return one(result.Suspect, "aborted", "the run was ended at once: messages under way at that moment count as missing; run again, or interrupt once only")
}

// losses: what the broker did not bring. A fact about it, not a doubt about the
// run.
func losses(e *evidence) (found []result.Reason) {
	c := e.run.Counters
	if c.LostAcked > 0 {
		found = append(found, one(result.Valid, "lost-acked", fmt.Sprintf("the broker broke its promise: %s lost after it had acknowledged them", plural(c.LostAcked, "message")))...)
	}
	if c.Undelivered > 0 {
		found = append(found, one(result.Valid, "undelivered", fmt.Sprintf("%s had not come when the run ended, though acknowledged; the broker may still hold them: a longer --drain tells", plural(c.Undelivered, "message")))...)
	}
	if n := c.Missing - c.LostAcked - c.Undelivered; n > 0 {
		found = append(found, one(result.Valid, "missing", fmt.Sprintf("%s missing that the broker had not acknowledged: it broke no promise", plural(n, "more message")))...)
	}
	if c.Corrupted > 0 {
		found = append(found, one(result.Valid, "corrupted", fmt.Sprintf("%s arrived damaged (checksum)", plural(c.Corrupted, "message")))...)
	}
	return found
}

// refusedAtMost is the share of refused messages up to which percentiles that
// leave them out still speak for the load.
const refusedAtMost = 0.001

// refusals: messages that were answered with a refusal. A fact about the system:
// the percentiles count them as slower than any latency.
func refusals(e *evidence) []result.Reason {
	c := e.run.Counters
	n := c.Nacked + c.Rejected
	if n == 0 {
		return nil
	}
	var who []string
	if c.Nacked > 0 {
		who = append(who, fmt.Sprintf("%d by the broker", c.Nacked))
	}
	if c.Rejected > 0 {
		who = append(who, fmt.Sprintf("%d by the client", c.Rejected))
	}
	text := fmt.Sprintf("%s of %d refused (%s)", plural(n, "message"), c.Scheduled, strings.Join(who, ", "))
	for _, x := range e.run.Metrics {
		if refused(x) > 0 {
			return one(result.Valid, "refused", text+": slower than any latency, so that percentiles which they reach are printed refused; those that succeeded have a table of their own, and the events say why")
		}
	}
	// Results of earlier versions have them in no distribution.
	share := float64(n) / float64(max(c.Scheduled, 1))
	if share <= refusedAtMost {
		return one(result.Valid, "refused", text)
	}
	return one(result.Suspect, "refused", fmt.Sprintf("%s: they have no latency, so the percentiles describe the other %s only; see the events for why", text, percentage(1-share)))
}

// duplicates: deliveries that were not asked for or not in order.
func duplicates(e *evidence) []result.Reason {
	c := e.run.Counters
	var parts []string
	for _, p := range []struct {
		n    int64
		what string
	}{
		{c.Duplicated, "delivered more than once"},
		{c.Redelivered, "marked as delivered before"},
		{c.Reordered, "out of order"},
		{c.Late, "too late to tell new from duplicate"},
		{c.Foreign, "of another run"},
		{c.LateReplies, "replies that came too late"},
	} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return one(result.Valid, "deliveries", "messages "+strings.Join(parts, ", "))
}

// censoredMessages: unresolved messages stand in the figures as lower bounds.
func censoredMessages(e *evidence) []result.Reason {
	c := e.run.Counters
	if c.Censored == 0 {
		return nil
	}
	return one(result.Valid, "censored", fmt.Sprintf("%s had no end when the run had: slower than all others in every percentile, which is printed ≥ where they reach it", plural(c.Censored, "message")))
}

// lastUnknown: of some messages nobody remembered any more who had them, when the
// slowest of their consumers did.
func lastUnknown(e *evidence) []result.Reason {
	if n := e.run.Counters.LastUnknown; n > 0 {
		return one(result.Valid, "last-unknown", fmt.Sprintf("%s came to the slowest consumer later than they are remembered: in %s they stand as lower bounds, which is printed ≥ where they reach a percentile; a longer --drain remembers more",
			plural(n, "message"), result.DeliveryLast))
	}
	return nil
}

// handovers: sends blocked for so long that other producers had to be rescued
// from them.
func handovers(e *evidence) []result.Reason {
	if n := e.run.Counters.Handovers; n > 0 {
		return one(result.Valid, "handovers", fmt.Sprintf("a send blocked its thread %s; the thread's other producers were handed to another", times(n)))
	}
	return nil
}

// events: what the client reported besides messages.
func events(e *evidence) []result.Reason {
	counts := map[string]int64{}
	var kinds []string
	for _, ev := range e.run.Events {
		if ev.Kind == eventNarrow || ev.Kind == result.EventConsumers || ev.Kind == result.EventAbsent {
			continue // until, kept and consumersAbsent say it
		}
		if counts[ev.Kind] == 0 {
			kinds = append(kinds, ev.Kind)
		}
		counts[ev.Kind]++
	}
	var parts []string
	for _, k := range kinds {
		parts = append(parts, fmt.Sprintf("%s (%d)", k, counts[k]))
	}
	if len(parts) == 0 {
		return nil
	}
	return one(result.Valid, "events", "during the run: "+strings.Join(parts, ", "))
}

// semantics: the driver's own doubts about what it set up.
func semantics(e *evidence) (found []result.Reason) {
	for _, w := range e.run.Header.Semantics.Warnings {
		found = append(found, one(result.Valid, "semantics", w)...)
	}
	return found
}

func times(n int64) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
