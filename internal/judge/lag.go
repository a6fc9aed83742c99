package judge

import (
	"fmt"

	"sixnines/internal/histograms"
	"sixnines/internal/spell"
	"sixnines/result"
)

// Thresholds of the generator's own lag.
const (
	// ownLagSuspect: above this share of own lag, 0 to 1, a percentile describes
	// the generator as much as the broker. A C client that sleeps between sends has
	// 20 to 30 % at the median of a fast broker on a small virtual machine.
	ownLagSuspect = 0.25
	// ownTail is the share of the tail's messages that may be late mostly by own lag.
	ownTail = 0.5
	// minMeanOwnLag is the mean own lag, ns, from which a tail caused by the
	// generator is invalid. A thread that sleeps on a busy virtual machine wakes
	// some hundred µs late, which is as much as a fast broker's p99; calling every
	// such run INVALID would not help. Below this mean, percentiles are suspect by
	// their shares of own lag.
	minMeanOwnLag = 1e6
)

// ownLag: the generator's own lag is more than ownLagSuspect of a published response
// percentile. Each such percentile is a finding of its own, because others may be valid.
func ownLag(e *evidence) (found []result.Reason) {
	for _, m := range e.responses() {
		d := e.summary.Histograms[m]
		for name, f := range d.All() {
			if f.OwnShare == nil || *f.OwnShare <= ownLagSuspect {
				continue
			}
			share := *f.OwnShare
			found = append(found, because(result.Reason{
				Status: result.Suspect, Code: result.ReasonOwnLag, Metric: m, Percentile: name, Brief: spell.Share(share) + " own lag",
				Found: fmt.Sprintf("%s of %s p%s (%s) is the generator's own lag (limit %s)",
					spell.Share(share), m, name, span(f.Value), spell.Share(ownLagSuspect)),
			}, e.causeAt(m, f.Value)))
		}
	}
	return found
}

// selfInflicted: more than ownTail of the messages at or above a response percentile were
// late mostly by the generator's own lag, and the mean own lag is at least minMeanOwnLag.
// The lowest such percentile and all above it are invalid; those below stay valid.
//
// Messages are counted in bands an eighth of an octave wide, so the tail begins with the
// whole band of the percentile, up to 12 % below it. A tail that is mostly own lag is mostly
// own lag there too.
func selfInflicted(e *evidence) (found []result.Reason) {
	for _, m := range e.responses() {
		d, x := e.summary.Histograms[m], e.run.Metrics[m]
		if x == nil || len(x.Own) == 0 {
			continue
		}
		for name, f := range d.All() {
			if f.Refused {
				continue
			}
			v := f.Value
			tail := e.tail(x, v)
			if tail.Count == 0 || float64(tail.Majority) <= ownTail*float64(tail.Count) ||
				float64(tail.Own) < minMeanOwnLag*float64(tail.Count) {
				continue
			}
			share := spell.Share(float64(tail.Majority) / float64(tail.Count))
			found = append(found, because(result.Reason{
				Status: result.Invalid, Code: result.ReasonSelfInflicted, Metric: m, Percentile: name,
				Brief: share + " of the tail mostly own lag",
				Found: fmt.Sprintf("%s of the %s at or above %s p%s (%s) were delayed mostly by the generator itself, by %s on average",
					share, spell.Plural(tail.Count, timed(m)), m, name, span(v), span(tail.Own/tail.Count)),
				Means: "from there on the figures describe the generator, not the broker",
			}, e.causeAt(m, d.Max)))
			break
		}
	}
	return found
}

// timed names what a metric times.
func timed(m result.Metric) string {
	if m.OfOpening() {
		return "connection"
	}
	return "message"
}

// tail sums the messages of a metric from the band of the value v, ns, upwards.
func (e *evidence) tail(x *result.Merged, v int64) (tail result.OwnBand) {
	for _, b := range x.Own[histograms.BandOf(v):] {
		tail.Count += b.Count
		tail.Own += b.Own + b.Received
		tail.Majority += b.Majority
	}
	tail.Count += refused(x) // refused messages belong to the tail and have no lag
	// So do unresolved ones, unless the generator itself may have failed to send them.
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

// frozen: the whole generator was paused (both hiccup meters at once) in the measured
// window. If a pause lasted 10 ms or more, the percentiles that pauses can affect are
// suspect. If one lasted 100 ms, or all together 1 % of the window, and they can affect every
// percentile, the run is invalid. selfInflicted finds a tail that such a pause caused.
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
	r := because(result.Reason{Code: result.ReasonFrozen, Share: share, Brief: "sixnines paused for " + span(sum), Found: fmt.Sprintf(
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
