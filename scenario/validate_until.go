package scenario

import "fmt"

// until checks that the run can reach the precision that it is to go on for.
func (v *validator) until() {
	p, w := &v.s.Phases, &v.s.Workload
	u := p.Until
	if u.IsZero() {
		v.refuse(p.AtMost != 0, "a limit of "+formatDuration(p.AtMost)+" on waiting, but the run waits for no percentile", "give phases.until (--until), or leave phases.at_most (--at-most) out", "phases.at_most")
		return
	}
	const key, at = "phases.until", "workload.arrivals"
	if _, err := ParseUntil(u.String()); v.unreadable(err, key) {
		return
	}
	o := Objective{Subject: u.Metric, Percent: u.Percent, Op: "<"}
	cause, hint := w.without(o)
	a := &w.Arrivals
	switch {
	case w.Loop == Open && w.Rate.IsMax():
		v.fail("with rate: max the latencies are those of full buffers, not of the system", "give a rate, or leave phases.until out", key, "workload.rate")
	case w.Messages > 0:
		v.fail("both an interval and a number of messages would end the window", "leave one of them out", key, "workload.messages")
	case cause != "":
		v.fail(quote(u.String())+": "+cause, hint, key)
	case a.Kind == Step || a.Kind == Ramp || a.Kind == Trace:
		v.fail(fmt.Sprintf("the load of %s arrivals changes over the window, so a longer window has another percentile", a.Kind),
			"choose arrivals whose load does not change over time: constant, poisson, sine or burst", key, at)
	case a.Period > p.Duration:
		v.fail(fmt.Sprintf("the run may end within the first period of %s", formatDuration(a.Period)), "make phases.duration (--duration), the minimum length, at least one period", key, at)
	case p.AtMost <= p.Duration:
		v.fail(fmt.Sprintf("a window of at least %s and at most %s cannot be extended", formatDuration(p.Duration), formatDuration(p.AtMost)),
			"raise phases.at_most (--at-most), or lower phases.duration (--duration)", "phases.at_most", "phases.duration", key)
	case u.Share > 0 && u.Share < leastShareOfTwo && v.s.Record.Digits == 2:
		v.fail("with two digits no interval can be as narrow as "+quote(u.String()), "ask for ±3% or more, or leave record.digits out", key, "record.digits")
	default:
		if cause, hint := v.s.tooShort(o); cause != "" {
			v.fail(cause, hint, key)
		}
	}
}
