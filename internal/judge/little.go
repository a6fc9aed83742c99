package judge

import (
	"fmt"
	"time"

	"sixnines/internal/spell"
	"sixnines/result"
)

// LittleCheck compares the counted number of messages in flight with their stamped
// times in flight (Little's law, L = λ·W, for one path: over a period that begins and
// ends with nothing in flight, the integral of the number in flight is the sum of all
// times in flight, without any assumption).
type LittleCheck struct {
	// Sampled is the mean number in flight that the engine's sampler counted. The
	// sampler is a thread that reads counters at random instants, and no time stamps.
	Sampled float64
	// Expected is the mean number in flight by time stamps: Σ service times ÷ Span, of the
	// metric that ends the time in flight ([result.Header.InFlightMetric]). The sum also
	// has the time for which acknowledgements lay in the kernel before a driver that reads
	// them late on purpose read them: these messages still count as in flight, though
	// their stamps say when they arrived. The sum takes each value of the merged histogram
	// at the middle of its bucket: at three digits the error is at most 0.05 %, and far
	// less over many values.
	Expected float64
	// Tolerance is the largest difference that chance explains, as a share of the larger
	// of Sampled and Expected.
	Tolerance float64
	Samples   int64         // how often the sampler read the counters
	Span      time.Duration // sampled period: from the window's start until all was resolved
}

// The thresholds of Little's law.
const (
	// littlePower is the tolerance above which the check has no power: a difference that
	// large is obvious without it.
	littlePower = 0.25
	// littleInvalid is the multiple of the tolerance above which the run is INVALID.
	littleInvalid = 3
)

// Little returns the check of a run. ok is false where the closing record has no samples, or
// the metric that ends the time in flight has no values.
func Little(run *result.Run) (c LittleCheck, ok bool) {
	readLate := 0.0
	for i := range run.Series {
		p := &run.Series[i]
		if p.Phase != result.PhaseClosing {
			continue
		}
		sampled, a := p.Vitals[result.VitalLittleSampled]
		span, b := p.Vitals[result.VitalLittleSpan]
		tolerance, d := p.Vitals[result.VitalLittleTolerance]
		if a && b && d && span > 0 && sampled >= 0 && tolerance >= 0 {
			c, ok = LittleCheck{Sampled: sampled, Tolerance: tolerance, Samples: int64(p.Vitals[result.VitalLittleSamples]), Span: time.Duration(span)}, true
			readLate = p.Vitals[result.VitalLittleReadLate]
		}
	}
	x := run.Metrics[run.Header.InFlightMetric()]
	if !ok || count(x) == 0 {
		return LittleCheck{}, false
	}
	c.Expected = (x.Hist.Mean()*float64(count(x)) + readLate) / float64(c.Span)
	return c, c.Expected > 0
}

// Powered reports whether the check has any power; without it, it says nothing. With few
// messages in flight the sampling error is large: 8 % for 10,000 samples of 0.15 messages
// on average.
func (c LittleCheck) Powered() bool { return c.Tolerance <= littlePower }

// Off is Sampled − Expected as a share of the larger of the two, −1 to 1. Above 0, more
// messages were in flight than the stamps say.
func (c LittleCheck) Off() float64 {
	return (c.Sampled - c.Expected) / max(c.Sampled, c.Expected)
}

// little: the number of messages in flight does not agree with their times in flight, so
// either stamps or counters are wrong. Beyond the tolerance of four standard errors, which
// one of many thousand faultless runs exceeds, the run is SUSPECT. Beyond three times the
// tolerance it is INVALID, because none of its figures can be relied on. Where the check has
// no power it reports nothing: a low rate is no fault, and every such run would carry the note.
func little(e *evidence) []result.Reason {
	c, ok := Little(e.run)
	if !ok || !c.Powered() || e.in.CutShort || e.in.Aborted {
		return nil
	}
	off := max(c.Off(), -c.Off())
	if off <= c.Tolerance {
		return nil
	}
	s := result.Suspect
	if off > littleInvalid*c.Tolerance {
		s = result.Invalid
	}
	return single(result.Reason{Status: s, Code: result.ReasonLittle, Found: fmt.Sprintf(
		"Little's law does not hold: on average %s messages were in flight by count (%s), but %s by their time stamps",
		spell.Number(c.Sampled), spell.Plural(c.Samples, "sample"), spell.Number(c.Expected)),
		Means: fmt.Sprintf("they differ by %s, but chance explains at most %s; time stamps or counters are wrong", spell.Share(off), spell.Share(c.Tolerance))})
}
