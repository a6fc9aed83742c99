package judge

import (
	"fmt"

	"sixnines/internal/histograms"
	"sixnines/internal/spell"
	"sixnines/result"
)

// Thresholds of the generator's own lag.
const (
	// ownLagSuspect: above this share of a percentile the percentile is as
	// much about the generator as about the broker. A sleeping C client has 20
	// to 30 % at the median of a fast broker on a small virtual machine.
	ownLagSuspect = 0.25
	// ownTail: the part of the tail's messages that may have mostly own lag.
	ownTail = 0.5
	// minMeanOwnLag is the mean own lag, in ns, from which a tail that the
	// generator made itself is invalid. A thread that sleeps on a busy
	// virtual machine is woken some hundred µs late; a fast broker's p99 is no
	// more than that, and to call every such run INVALID would not help.
	// Below it the percentiles are suspect by their shares.
	minMeanOwnLag = 1e6
)

// ownLag: the generator's own lag is more than a quarter of a published
// response percentile. One finding a percentile, since others may be fine.
func ownLag(e *evidence) (found []result.Reason) {
	for _, m := range e.responses() {
		d := e.summary.Histograms[m]
		for _, name := range result.Percentiles() {
			share, ok := d.OwnShare[name]
			if !ok || share <= ownLagSuspect {
				continue
			}
			found = append(found, because(result.Reason{
				Status: result.Suspect, Code: result.ReasonOwnLag, Metric: m, Percentile: name, Brief: spell.Share(share) + " own lag",
				Found: fmt.Sprintf("%s of %s p%s (%s) is the generator's own lag (limit %s)",
					spell.Share(share), m, name, span(d.Percentiles[name]), spell.Share(ownLagSuspect)),
			}, e.causeAt(m, d.Percentiles[name])))
		}
	}
	return found
}

// selfInflicted: of the messages at or above a response percentile more than half were
// late mostly by the generator's own lag, and by more than a trifle. What is published
// from the lowest such percentile on is then the generator's, and invalid; what is below
// it stands.
//
// Messages are counted in bands an eighth of an octave wide, so that the tail
// begins with the whole band of the percentile: up to 12 % below it. A tail that is
// mostly own lag is so there as well.
func selfInflicted(e *evidence) (found []result.Reason) {
	for _, m := range e.responses() {
		d, x := e.summary.Histograms[m], e.run.Metrics[m]
		if x == nil || len(x.Own) == 0 {
			continue
		}
		for _, name := range result.Percentiles() {
			v, ok := d.Percentiles[name]
			if !ok || d.Refused[name] {
				continue
			}
			tail := e.tail(x, v)
			if tail.Count == 0 || float64(tail.Majority) <= ownTail*float64(tail.Count) ||
				float64(tail.Own) < minMeanOwnLag*float64(tail.Count) {
				continue
			}
			share := spell.Share(float64(tail.Majority) / float64(tail.Count))
			found = append(found, because(result.Reason{
				Status: result.Invalid, Code: result.ReasonSelfInflicted, Metric: m, Percentile: name,
				Brief: share + " of the tail mostly own lag",
				Found: fmt.Sprintf("%s of the %s at or above %s p%s (%s) were late mostly by the generator itself, %s on average",
					share, spell.Plural(tail.Count, "message"), m, name, span(v), span(tail.Own/tail.Count)),
				Means: "from there on the figures are not the broker's",
			}, e.causeAt(m, d.Max)))
			break
		}
	}
	return found
}

// tail sums up the messages of a metric at or above a value.
func (e *evidence) tail(x *result.Merged, v int64) (tail result.OwnBand) {
	for _, b := range x.Own[histograms.BandOf(v):] {
		tail.Count += b.Count
		tail.Own += b.Own + b.Received
		tail.Majority += b.Majority
	}
	tail.Count += refused(x) // the tail is that of refused messages, and no lag
	// So it is of those that were never resolved, unless the generator may be why.
	if e.run.Counters.NotSent == 0 {
		tail.Count += censored(x)
	}
	return tail
}

// Thresholds of freezes of the whole process, in ns and as a share of the
// window.
const (
	freezeInvalid      = 100e6
	freezeShareInvalid = 0.01
	freezeSuspect      = 10e6
)

// frozen: the generator was paused as a whole (both hiccup meters at once) in
// the measured window. From 10 ms on the percentiles that the freezes can have
// reached are suspect. For 100 ms at a time, or 1 % of the window in total, the run
// is invalid where that is all of them; a tail that such a freeze made is found by
// selfInflicted.
func frozen(e *evidence) []result.Reason {
	var sum, longest, worthy int64
	for _, f := range e.freezes {
		d := f.End - f.Start
		sum += d
		longest = max(longest, d)
		if d >= freezeSuspect {
			worthy += d
		}
	}
	share := float64(sum) / e.window()
	r := because(result.Reason{Code: result.ReasonFrozen, Brief: "sixnines paused for " + span(sum), Found: fmt.Sprintf(
		"sixnines itself was paused for %s in the measured window, %s at the longest (%s)", span(sum), span(longest), spell.Plural(int64(len(e.freezes)), "pause"))}, e.causeOfStops())
	switch {
	case longest >= freezeInvalid || share >= freezeShareInvalid:
		r.Means = joined("the broker did not cause this", r.Means)
		return e.invalidIfAll(share, r)
	case worthy > 0:
		return e.suspectFrom(share, r)
	}
	return nil
}
