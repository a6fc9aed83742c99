package judge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"sixnines/internal/spell"
	"sixnines/result"
)

// dropsInvalid is the share of the messages above which messages that the client
// threw away explain the counted losses better than the broker does.
const dropsInvalid = 0.001

// cutShort: the run was killed, or its file is damaged. The records that exist are
// correct, but messages in flight at the end are missing from them.
func cutShort(e *evidence) []result.Reason {
	if !e.in.CutShort {
		return nil
	}
	found := fmt.Sprintf("cut short after %s of %s", wholeSeconds(e.in.End), spell.Period(e.run.Header.Window))
	if e.run.Damaged != "" {
		found += " (" + e.run.Damaged + ")"
	}
	return single(result.Reason{Status: result.Suspect, Code: result.ReasonCutShort, Found: found, Means: "the file has no summary, and messages that were still unresolved are in no figure"})
}

// wholeSeconds writes the whole seconds of ns.
func wholeSeconds(ns int64) string { return spell.Period(time.Duration(ns).Truncate(time.Second)) }

// conservation: every message must have exactly one fate. A file that was cut
// short lacks the record that closes the accounts.
func conservation(e *evidence) []result.Reason {
	ok, problem := e.run.Counters.Conserved()
	if ok && !e.run.Header.Fleet.Incomplete() { // an agent that was lost does not say what came of those under way
		ok, problem = e.run.Connections.Conserved()
	}
	if !ok && !e.in.CutShort {
		return single(result.Reason{Status: result.Invalid, Code: result.ReasonConservation, Found: "the message counts do not add up: " + problem})
	}
	return nil
}

// violations: the driver broke its contract, so that nothing that it reported of a
// message can be relied on.
func violations(e *evidence) []result.Reason {
	if n := e.run.Counters.Violations; n > 0 {
		return single(result.Reason{Status: result.Invalid, Code: result.ReasonViolations, Found: "the driver broke its contract " + spell.Times(n)})
	}
	return nil
}

// clientDrops: the client library discarded messages itself, so losses cannot be
// attributed to the broker.
func clientDrops(e *evidence) []result.Reason {
	c := e.run.Counters
	if c.Dropped == 0 {
		return nil
	}
	r := result.Reason{Status: result.Invalid, Code: result.ReasonClientDrops, Brief: spell.Plural(c.Dropped, "message") + " dropped by the client",
		Found: fmt.Sprintf("the client library dropped %s itself, which looks like a loss by the broker", spell.Plural(c.Dropped, "message"))}
	share := float64(c.Dropped) / float64(max(c.Sent, 1))
	if share > dropsInvalid {
		return single(r)
	}
	return e.suspectFrom(share, r)
}

// clamps: values that a histogram could not hold were recorded at its ends.
func clamps(e *evidence) (found []result.Reason) {
	c := e.run.Counters
	if c.Negative > 0 {
		found = append(found, result.Reason{Status: result.Suspect, Code: result.ReasonNegative, Found: spell.Plural(c.Negative, "difference") + " were negative and were recorded as 0",
			Means: "times of different clocks were compared, or a clock stepped back"})
	}
	if c.OutOfRange > 0 {
		share := 0.0 // upper bound: all clamped values may belong to the metric with the fewest
		for _, m := range e.latencies() {
			share = max(share, float64(c.OutOfRange)/float64(e.summary.Histograms[m].Count))
		}
		found = append(found, e.suspectFrom(share, result.Reason{Code: result.ReasonOutOfRange, Brief: spell.Plural(c.OutOfRange, "value") + " out of range",
			Found: spell.Plural(c.OutOfRange, "value") + " exceeded the range of the histograms and were recorded at its end", Means: "the upper percentiles may be larger than shown"})...)
	}
	return found
}

// closedLoop, unpaced, sameHost and interrupted report what a reader must know to read
// the numbers. In an unpaced run the rates are too low by the warm-up messages that were
// still being received or acknowledged in the window: from 1 % of the window's messages
// on, the run is SUSPECT.
func closedLoop(e *evidence) []result.Reason {
	if e.run.Header.Mode != result.ModeClosed {
		return nil
	}
	return note(result.ReasonClosedLoop, "closed loop: coordinated omission; each producer waits for the answer before it sends the next message, so these figures leave out the time that users would have waited during stalls")
}

func unpaced(e *evidence) []result.Reason {
	if e.run.Header.Mode != result.ModeFlatOut {
		return nil
	}
	found := note(result.ReasonUnpaced, "UNPACED: messages were sent as fast as the client accepted them; the latencies are those of full queues: use the throughput")
	if t := e.in.Throughput; t != nil && t.WarmUp > 0 && t.WarmUp*100 >= cmp.Or(t.Received, t.Messages) {
		found = append(found, result.Reason{Status: result.Suspect, Code: result.ReasonWarmUpLeft, Found: fmt.Sprintf(
			"messages of the warm-up were still being received or acknowledged when the window began: %s, against %s of the window",
			spell.Count(t.WarmUp), spell.Count(cmp.Or(t.Received, t.Messages))), Means: "the rates are too low by as much"})
	}
	return found
}

func sameHost(e *evidence) []result.Reason {
	if !e.run.Header.SameHost {
		return nil
	}
	return note(result.ReasonSameHost, "broker and generator shared this machine's processors: each slows the other, and there is no network between them"+e.brokerWaited())
}

// delayNote is the factor from which the report mentions that waiting for processors delays
// messages in the broker. Beside a plain C client the factor is 1.5 to 2.5, see slowedFrom.
const delayNote = 2

// brokerWaited says how long the broker's threads waited for this machine's processors. It is
// empty where that delays messages by less than delayNote.
func (e *evidence) brokerWaited() string {
	ran, _ := mean(e.measure, result.VitalBrokerBusy)
	waited, _ := mean(e.measure, result.VitalBrokerWait)
	busy, _ := mean(e.measure, result.VitalHostBusy)
	delay := e.brokerDelay(ran, waited, busy)
	if delay < delayNote {
		return ""
	}
	return fmt.Sprintf("; the broker's threads ran for %s of the time and waited for a processor for %s, so messages spent about %.1f times as long in the broker as they would have without that wait",
		spell.Share(ran), spell.Share(waited), delay)
}

func interrupted(e *evidence) []result.Reason {
	if !e.in.Interrupted {
		return nil
	}
	planned := "planned"
	if e.run.Header.Until != "" {
		planned = "allowed at most"
	}
	return note(result.ReasonInterrupted, fmt.Sprintf("the run was interrupted after %s of the %s %s", span(e.in.End), spell.Period(e.run.Header.Window), planned))
}

// aborted: the run did not wait for the messages under way at the end.
func aborted(e *evidence) []result.Reason {
	if !e.in.Aborted {
		return nil
	}
	return single(result.Reason{Status: result.Suspect, Code: result.ReasonAborted, Found: "the run was aborted", Means: "messages in flight at that moment count as missing"})
}

// losses: messages that the broker did not deliver. A fact about it, and no reason to
// suspect the run.
func losses(e *evidence) (found []result.Reason) {
	c := e.run.Counters
	found = lostReasons(e.run)
	if n := c.Missing - c.LostAcked - c.Undelivered; n > 0 {
		found = append(found, note(result.ReasonMissing, fmt.Sprintf("%s missing that the broker never acknowledged: no guarantee violated", spell.Plural(n, "message")))...)
	}
	if n := c.Damaged(); n > 0 {
		found = append(found, note(result.ReasonCorrupted, fmt.Sprintf("%s arrived damaged (checksum)", spell.Plural(n, "message")))...)
	}
	return found
}

// refusedAtMost is the share of refused messages up to which percentiles that
// leave them out still describe the load.
const refusedAtMost = 0.001

// refusals: messages that were answered with a refusal. This is a fact about the system:
// the percentiles count them as slower than any latency. The run is INVALID where every
// message was refused because of who asked: then nothing was measured.
func refusals(e *evidence) []result.Reason {
	c := e.run.Counters
	n := c.Nacked + c.Rejected
	if n == 0 {
		return nil
	}
	var who []string
	if c.Nacked > 0 {
		who = append(who, spell.Count(c.Nacked)+" by the broker")
	}
	if c.Rejected > 0 {
		who = append(who, spell.Count(c.Rejected)+" by the client")
	}
	text := fmt.Sprintf("%s of %s refused (%s)", spell.Plural(n, "message"), spell.Count(c.Scheduled), strings.Join(who, ", "))
	words := e.whyRefused()
	if words != "" {
		text += ": " + words
	}
	if c.Acked+c.Unknown+c.Received == 0 {
		if e.forbidden() {
			return allRefused(result.Invalid, text, "nothing was measured")
		}
		return allRefused(result.Valid, text, "they count as slower than any latency")
	}
	for _, x := range e.run.Metrics {
		if refused(x) > 0 {
			return e.asked(result.EventRefused, result.ReasonRefused, text, "they count as slower than any latency, so percentiles that they reach are printed as refused; a separate table shows the messages that succeeded")
		}
	}
	if len(e.latencies()) == 0 { // no latencies, so no percentile leaves the refused out
		return e.asked(result.EventRefused, result.ReasonRefused, text, "")
	}
	// Files of earlier versions have the refused messages in no distribution.
	share := float64(n) / float64(max(c.Scheduled, 1))
	if share <= refusedAtMost {
		return e.asked(result.EventRefused, result.ReasonRefused, text, "")
	}
	return single(result.Reason{Status: result.Suspect, Code: result.ReasonRefused, Found: text,
		Means: fmt.Sprintf("they have no latency, so the percentiles describe only the other %s", spell.ExactShare(1-share))})
}

// refusedConnections: connections of those that come and go were refused. Their latencies count them as slower than any.
func refusedConnections(e *evidence) []result.Reason {
	c := e.run.Connections
	if c == nil || c.Refused == 0 {
		return nil
	}
	text := fmt.Sprintf("%s of %s that were due refused", spell.Plural(c.Refused, "connection"), spell.Count(c.Scheduled))
	if words, ok := e.words(ofKind(result.EventConnections)); ok {
		text += ": " + words
	}
	return e.asked(result.EventConnections, result.ReasonRefused, text, "they count as slower than any latency, so percentiles that they reach are printed as refused")
}

// asked is a finding about refusals. It is VALID (a fact about the system), but SUSPECT where
// any event of that kind is of the class unauthorized: that part of the load was never
// carried, which says nothing about what the system can do.
func (e *evidence) asked(kind result.EventKind, code result.ReasonCode, found, means string) []result.Reason {
	r := result.Reason{Status: result.Valid, Code: code, Found: found, Means: means}
	if !slices.ContainsFunc(e.run.Events, func(ev result.Event) bool { return ev.Kind == kind && ev.Class == result.ClassUnauthorized }) {
		return single(r)
	}
	r.Status, r.Brief = result.Suspect, "the broker refuses this user"
	return single(r)
}

// allRefused is the finding that no message came through.
func allRefused(s result.Status, found, means string) []result.Reason {
	return single(result.Reason{Status: s, Code: result.ReasonAllRefused, Brief: "every message was refused", Found: found, Means: means})
}

// forbidden reports whether every refusal was for lack of permission, and none for lack of
// capacity.
func (e *evidence) forbidden() bool {
	n, forbidden := int64(0), int64(0)
	for _, ev := range e.run.Events {
		if ev.Kind == result.EventRefused {
			if n += ev.Count; ev.Class == result.ClassUnauthorized {
				forbidden += ev.Count
			}
		}
	}
	return forbidden > 0 && forbidden == n
}

// whyRefused returns the reason for which messages were refused: lack of permission, if any
// refusal has it; where a connection was missing, the lack of permission that kept it from
// being made; else the most frequent reason. It is empty where no event says why.
func (e *evidence) whyRefused() string {
	if words, ok := e.words(func(ev *result.Event) bool {
		return ev.Kind == result.EventRefused && ev.Class == result.ClassUnauthorized
	}); ok {
		return words
	}
	if _, absent := e.words(func(ev *result.Event) bool {
		return ev.Kind == result.EventRefused && ev.Class == result.ClassNotConnected
	}); absent {
		if words, ok := e.words(func(ev *result.Event) bool { return ev.Class == result.ClassUnauthorized }); ok {
			return words
		}
	}
	words, _ := e.words(ofKind(result.EventRefused))
	return words
}

func ofKind(kind result.EventKind) func(*result.Event) bool {
	return func(ev *result.Event) bool { return ev.Kind == kind }
}

// words returns the most frequent detail of the events that match, and how many other details
// they have. ok is false where no event matches.
func (e *evidence) words(of func(*result.Event) bool) (text string, ok bool) {
	times, order := map[string]int64{}, []string(nil)
	for i := range e.run.Events {
		ev := &e.run.Events[i]
		if of(ev) {
			if times[ev.Detail] == 0 {
				order = append(order, ev.Detail)
			}
			times[ev.Detail] += max(ev.Count, ev.Happened())
		}
	}
	if len(order) == 0 {
		return "", false
	}
	first := slices.MaxFunc(order, func(a, b string) int { return cmp.Compare(times[a], times[b]) })
	if n := len(order) - 1; n > 0 {
		return fmt.Sprintf("%s (and %s)", first, spell.Plural(int64(n), "other answer")), true
	}
	return first, true
}

// denials: publishes that the broker refused without saying which. Consumers or
// acknowledgements, if the run has them, account for each message; without them nothing
// says which of the messages sent the broker accepted.
func denials(e *evidence) []result.Reason {
	c := e.run.Counters
	if c.Denied == 0 {
		return nil
	}
	text := fmt.Sprintf("the broker refused at least %s of %s, but does not say which", spell.Plural(min(c.Denied, max(c.Sent, 1)), "message"), spell.Count(c.Sent))
	if words, ok := e.words(ofKind(result.EventDenied)); ok {
		text += ": " + words
	}
	switch {
	case c.Denied >= c.Sent && c.Received == 0 && c.Acked == 0:
		return allRefused(result.Invalid, text, "nothing was measured")
	case c.Expected == 0 && e.run.Header.Ack == "none":
		return single(result.Reason{Status: result.Suspect, Code: result.ReasonDenied, Found: text, Means: "rates and counts include the messages that it refused"})
	}
	return e.asked(result.EventDenied, result.ReasonDenied, text, "they count as not answered, or as missing")
}

// answers: other requests that the broker refused, and connections given up because of them.
func answers(e *evidence) (found []result.Reason) {
	if words, ok := e.words(ofKind(result.EventGivenUp)); ok {
		found = append(found, e.asked(result.EventGivenUp, result.ReasonGivenUp, "a connection was lost and given up: "+words, "messages meant for it were refused or did not arrive")...)
	}
	for _, ev := range e.run.Events {
		if ev.Class == result.ClassUnauthorized && ev.Kind != result.EventRefused && ev.Kind != result.EventDenied && ev.Kind != result.EventGivenUp {
			return append(found, e.asked(ev.Kind, result.ReasonUnauthorised, "the broker refused a request of the client: "+ev.Detail, "")...)
		}
	}
	return found
}

// duplicates: deliveries that were repeated, out of order, late or of another run.
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
		{c.Late, "too late to tell a new message from a duplicate"},
		{c.Foreign, "of another run or program"},
		{c.LateReplies, "replies after the timeout"},
	} {
		if p.n > 0 {
			parts = append(parts, spell.Count(p.n)+" "+p.what)
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return note(result.ReasonDeliveries, "messages "+strings.Join(parts, ", "))
}

// censoredMessages: unresolved messages count in the figures as lower bounds.
func censoredMessages(e *evidence) []result.Reason {
	c := e.run.Counters
	if c.Censored == 0 {
		return nil
	}
	return note(result.ReasonCensored, fmt.Sprintf("%s not resolved when the run ended; they count as slower than all others, and percentiles that they reach are printed with ≥", spell.Plural(c.Censored, "message")))
}

// lastUnknown: the tool had already forgotten which consumers had received some messages when
// the slowest consumer received them.
func lastUnknown(e *evidence) []result.Reason {
	if n := e.run.Counters.LastUnknown; n > 0 {
		return note(result.ReasonLastUnknown, fmt.Sprintf("%s reached the slowest consumer after the tool had stopped tracking them; in %s they count as lower bounds, and percentiles that they reach are printed with ≥; a longer --drain tracks them longer",
			spell.Plural(n, "message"), result.DeliveryLast))
	}
	return nil
}

// takeovers: sends blocked for so long that the thread's other producers were moved to
// another pacer.
func takeovers(e *evidence) []result.Reason {
	if n := e.run.Counters.Takeovers; n > 0 {
		return note(result.ReasonTakeovers, fmt.Sprintf("a send blocked its thread %s; the thread's other producers continued on another thread", spell.Times(n)))
	}
	return nil
}

// events: what the client reported besides messages.
func events(e *evidence) []result.Reason {
	counts := map[result.EventKind]int64{}
	var kinds []result.EventKind
	for _, ev := range e.run.Events {
		if ev.Kind.Properties().Told {
			continue
		}
		if counts[ev.Kind] == 0 {
			kinds = append(kinds, ev.Kind)
		}
		counts[ev.Kind] += ev.Happened()
	}
	var parts []string
	for _, k := range kinds {
		part := fmt.Sprintf("%s (%s)", k, spell.Count(counts[k]))
		if words, _ := e.words(ofKind(k)); words != "" {
			part += ": " + shortened(words)
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return nil
	}
	return note(result.ReasonEvents, "during the run: "+strings.Join(parts, ", "))
}

// firstWords is how many characters of an event's detail are shown in a list of events.
const firstWords = 120

// shortened returns the beginning of an event's detail on one line, at most firstWords
// characters.
func shortened(words string) string {
	words = strings.Join(strings.Fields(words), " ")
	if all := []rune(words); len(all) > firstWords {
		words = strings.TrimSpace(string(all[:firstWords])) + "…"
	}
	return words
}

// semantics: warnings of the driver about what it set up.
func semantics(e *evidence) (found []result.Reason) {
	for _, w := range e.run.Header.Semantics.Warnings {
		found = append(found, note(result.ReasonSemantics, w)...)
	}
	return found
}
