package judge

import (
	"fmt"
	"time"

	"sixnines/internal/spell"
	"sixnines/result"
)

// LittleCheck compares the number of messages in flight, as it was counted, with
// the time that they were in flight, as it was stamped (Little's law, L = λ·W,
// for one path: over a time that begins and ends with nothing in flight, the
// integral of the number in flight is the sum of all times in flight, without
// any assumption).
type LittleCheck struct {
	// Sampled is the mean number in flight that the engine's sampler counted: a
	// thread that looks at counters at random instants, and at no stamp.
	Sampled float64
	// Expected is Σ service times ÷ Span, of the metric that ends the time in
	// flight ([result.Header.InFlightMetric]), and for how long acknowledgements lay in
	// the kernel until a driver that reads them late on purpose did: so long they are
	// counted as in flight, though stamped when they arrived. The sum is that of the merged
	// histogram with each value in the middle of its bucket: at three digits off
	// by 0.05 % at most, and by far less over many values.
	Expected float64
	// Tolerance is by which share of Sampled and Expected, whichever is larger,
	// the two may differ without anything being wrong.
	Tolerance float64
	Samples   int64         // looks
	Span      time.Duration // over which it looked: from the window's start until all was resolved
}

// The thresholds of Little's law.
const (
	// littlePower is the tolerance above which the check has no power: a difference that
	// it could still find is plain without it.
	littlePower = 0.25
	// littleInvalid times the tolerance is beyond chance.
	littleInvalid = 3
)

// Little returns the check of a run. ok is false where nothing was sampled:
// flat out, without an end that can be counted, or with messages that had none.
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

// Powered reports whether the check could find anything; else it says nothing,
// neither good nor bad. With few messages in flight the error of looking is
// large: 0.15 of them on average, looked at 10,000 times, leave 8 %.
func (c LittleCheck) Powered() bool { return c.Tolerance <= littlePower }

// Off is the difference as a share of the larger of the two, the sampled one's
// sign: above 0, more was in flight than stamps say.
func (c LittleCheck) Off() float64 {
	return (c.Sampled - c.Expected) / max(c.Sampled, c.Expected)
}

// little: the number of messages in flight does not agree with their times in flight. One
// of the two was measured wrongly: stamps or counters. Beyond the tolerance,
// which four standard errors make, the run is SUSPECT, for of many thousand
// faultless runs one is; beyond three times as much it is INVALID, for then no
// figure of it can be relied on. Where the check has no power nothing is said: a
// low rate is no fault, and every such run would carry the note.
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
		"Little's law does not hold: %s messages were in flight on average by counting (%s), and %s by their time stamps",
		spell.Number(c.Sampled), spell.Plural(c.Samples, "sample"), spell.Number(c.Expected)),
		Means: fmt.Sprintf("they differ by %s, and chance explains %s; time stamps or counters are wrong", spell.Share(off), spell.Share(c.Tolerance))})
}
