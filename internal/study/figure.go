package study

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"sixnines/internal/judge"
	"sixnines/internal/spell"
	"sixnines/result"
)

// NotMeasured is why a number is missing that no run of its kind has.
const NotMeasured = "not measured"

// lowerBound is why a figure is unfit of which only a lower bound is known.
const lowerBound = "a lower bound"

// Figure is one figure of one run.
type Figure struct {
	Name  string
	Unit  Unit
	Value float64
	// Low and High are its 95 % interval within the run, if Bounded.
	Low, High float64
	Bounded   bool
	// Range says that Low and High are no interval by chance: the figure lies between them.
	Range bool
	// AtLeast says that Value is a lower bound: print "≥".
	AtLeast bool
	// Missing says why the number is missing; Unfit says why the number exists but decides
	// nothing. Both are empty for a usable number.
	Missing string
	Unfit   string
	// Needs is the least number of messages for the figure, if Missing says that they were
	// too few. Scarce then says that fewer were due in the window: the schedule and its seed fix that
	// before the run, and nothing that the system does.
	Needs  int64
	Scarce bool
	// Selects says that the figure is unfit because of the system's behaviour: leaving out
	// its round would select the others by their figures.
	Selects bool
	// Unsteady says that the figure is unfit only because the run's level drifted or
	// changed.
	Unsteady bool
	// Cause says in words what makes the figure unfit, alike for all rounds that it concerns; empty
	// where Unfit says it.
	Cause string
	// BySize says that the figure is unfit for something that is held against the figure itself, or taken off it: leaving out its
	// round where an end is not known would select the others by their figures, too.
	BySize bool
	// Little says that the figure is a rate of whose window so little was taken that its round is useful to a comparison. The
	// verdict alone decides that, never the figure.
	Little bool
	// Least and Most are between which values the system's own figure lies although the figure is
	// unfit; infinite where that is not known. leastOwn and mostOwn are the same of its interval
	// within the run.
	Least, Most       float64
	leastOwn, mostOwn float64
}

// blank returns a figure of which nothing is known.
func blank(name string) Figure {
	unit, _ := UnitOf(name)
	return Figure{Name: name, Unit: unit, Least: math.Inf(-1), Most: math.Inf(1), leastOwn: math.Inf(-1), mostOwn: math.Inf(1)}
}

// why says why the figure decides nothing, alike for all rounds that it concerns; empty: it may.
func (f *Figure) why() string { return cmp.Or(f.Missing, f.Cause, f.Unfit) }

// generatorUse is the figure of what the generator's process used.
const generatorUse = "cpu.generator"

// floorMatters is how many times the noise floor a figure must be to describe the
// broker.
const floorMatters = 3

// HeadlineOf returns the default metric of a run's percentiles: the first response time,
// else the first service time; empty if nothing was timed.
func HeadlineOf(run *result.Run) result.Metric {
	var first result.Metric
	if run.Summary == nil {
		return first
	}
	for _, m := range result.Metrics() {
		if d := run.Summary.Histograms[m]; m.IsLatency() && d != nil && d.Total() > 0 && (first == "" || m.IsResponse() && !first.IsResponse()) {
			first = m
		}
	}
	return first
}

// PartOf returns the part of a run that a study uses: the workload of that name, or, if the
// name is empty, the first judged one; nil if no part qualifies.
func PartOf(run *result.Run, workload string) *result.Run {
	for _, p := range run.Parts() {
		if workload != "" && p.Header.Workload == workload || workload == "" && !p.Header.Background {
			return p
		}
	}
	return nil
}

// Read returns a figure of a run, or of the part that [PartOf] returns. A quotient is that
// of two figures of the same run, and has no interval. An empty metric means
// [HeadlineOf].
func Read(run *result.Run, name string, metric result.Metric) Figure {
	f := blank(name)
	if run == nil || run.Summary == nil {
		f.Missing = "the run was cut short"
		return f
	}
	if over, under, both := strings.Cut(name, "/"); both {
		return quotient(f, Read(run, over, metric), Read(run, under, metric))
	}
	v := run.Summary.Verdict
	switch {
	case v.Status == result.Invalid:
		f.Unfit = "INVALID: " + reasons(v, result.Invalid)
		f.Cause = "INVALID (" + cause(of(v, result.Invalid)) + ")"
	case v.Status == result.Unstable:
		f.Unfit, f.Selects = "UNSTABLE: "+reasons(v, result.Unstable), true
		f.Cause = "UNSTABLE (" + cause(of(v, result.Unstable)) + ")"
	}
	if metric == "" {
		metric = HeadlineOf(run)
	}
	text, percent, isPercentile := percentile(name)
	switch {
	case isPercentile:
		f.latency(run, metric, run.Summary.Histograms[metric], run.Metrics[metric], text, percent)
	case f.costRead(run, name, metric):
	case name == "max":
		if d := run.Summary.Histograms[metric]; d == nil {
			f.Missing = "nothing was timed"
		} else {
			f.Value, f.AtLeast, f.Unfit = float64(d.Max), d.MaxAtLeast, "a maximum is no property of a system"
			if d.MaxRefused {
				f.Missing = "refused"
			}
		}
	default:
		f.plain(run, name)
		f.suspectWholly(v)
		f.boundPlain(run, name)
	}
	return f
}

// wholly returns the reasons that make the whole run suspect, and not only some of its latencies.
func wholly(v result.Verdict) (all []result.Reason) {
	for _, r := range of(v, result.Suspect) {
		if r.Metric == "" && r.Percentile == "" {
			all = append(all, r)
		}
	}
	return all
}

// suspectWholly makes the figure unfit if the whole run is suspect.
func (f *Figure) suspectWholly(v result.Verdict) {
	if all := wholly(v); f.Unfit == "" && len(all) > 0 {
		f.Unfit, f.Cause = "SUSPECT: "+all[0].Short(), "suspect ("+cause(all)+")"
	}
}

// decidesNothing reports whether no figure of a run may decide anything.
func decidesNothing(v result.Verdict) bool {
	return v.Status == result.Invalid || v.Status == result.Unstable || len(wholly(v)) > 0
}

// quotient divides two figures.
func quotient(f, over, under Figure) Figure {
	f.Selects = over.Selects || under.Selects
	f.Unsteady = (over.Unsteady || under.Unsteady) && (over.Unsteady || over.Unfit == "") && (under.Unsteady || under.Unfit == "")
	for _, x := range []Figure{over, under} {
		switch {
		case x.Missing != "":
			f.Missing, f.Needs, f.Scarce = x.Name+": "+x.Missing, x.Needs, x.Scarce
			return f
		case x.Unfit != "" && f.Unfit == "":
			f.Unfit, f.Cause = x.Unfit, x.Cause
		case x.AtLeast && f.Unfit == "":
			f.Unfit = x.Name + " is a lower bound"
		}
	}
	if !(under.Value > 0) {
		f.Missing = under.Name + " is 0"
		return f
	}
	f.Value = over.Value / under.Value
	f.BySize = over.BySize || under.BySize
	f.Little = (over.Little || under.Little) && (over.Little || over.Unfit == "") && (under.Little || under.Unfit == "")
	least, most := over.ends(false)
	smallest, largest := under.ends(false)
	if largest > 0 {
		f.Least = max(least, 0) / largest
	}
	if smallest > 0 {
		f.Most = most / smallest
	}
	return f
}

// of returns the reasons for a status.
func of(v result.Verdict, status result.Status) (all []result.Reason) {
	for _, r := range v.Reasons {
		if r.Status == status {
			all = append(all, r)
		}
	}
	return all
}

// reasons joins the short texts of the reasons for a status.
func reasons(v result.Verdict, status result.Status) string {
	var all []string
	for _, r := range of(v, status) {
		if text := r.Short(); !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return strings.Join(all, ", ")
}

// lacks marks a figure as missing because it needs that many messages.
func (f *Figure) lacks(run *result.Run, messages int64) {
	f.Needs, f.Missing = messages, fmt.Sprintf("n/a (needs %s messages)", spell.Count(messages))
	f.Scarce = run.Header.Mode == result.ModeOpen && run.Counters.Scheduled < messages && !endedEarly(run.Summary.Verdict)
}

// endedEarly reports whether a run ended before its planned end, so that fewer messages were due in
// it than planned.
func endedEarly(v result.Verdict) bool {
	return slices.ContainsFunc(v.Reasons, func(r result.Reason) bool {
		return slices.Contains([]result.ReasonCode{result.ReasonInterrupted, result.ReasonUntil, result.ReasonAborted, result.ReasonCutShort, result.ReasonAgentLost}, r.Code)
	})
}

// latency reads a percentile of d; x is its histogram, nil if only the published percentiles are
// known.
func (f *Figure) latency(run *result.Run, m result.Metric, d *result.Distribution, x *result.Merged, text result.Percentile, percent float64) {
	switch {
	case m == "" || d == nil || d.Total() == 0:
		f.Missing = "nothing was timed"
		return
	case run.Summary.Verdict.Status == result.Unstable && m.IsResponse():
		f.Missing, f.Unfit = "UNSTABLE", ""
		return
	}
	p, listed := d.Figures[text]
	switch {
	case listed:
	case x == nil:
		f.Missing = "its histogram is not there"
		return
	default:
		p = judge.PercentileOf(x, d.Samples, percent)
	}
	switch {
	case p.Needs > 0:
		f.lacks(run, p.Needs)
		return
	case p.Refused:
		f.Missing, f.Selects = "refused", true
		return
	}
	f.Value, f.AtLeast = float64(p.Value), p.AtLeast
	if f.Bounded = p.Interval != nil; f.Bounded {
		low, high := p.Widest()
		f.Low, f.High = float64(low), float64(high)
		if p.Interval.Open {
			f.High = math.Inf(1)
		}
	}
	limit := run.Summary.Verdict.Limit(m)
	f.Selects = f.Selects || p.AtLeast || nearFloor(d, text)
	suspect := false
	switch {
	case f.Unfit != "":
	case run.Summary.Verdict.Status == result.Suspect && limit == nil:
		suspect, f.Unfit = true, "SUSPECT: "+reasons(run.Summary.Verdict, result.Suspect)
	case limit.Of(text) == result.Invalid:
		suspect, f.Unfit = true, "invalid: "+limit.InvalidWhy
	case limit.Reaches(text):
		suspect, f.Unfit = true, "suspect: "+limit.Why
	case len(wholly(run.Summary.Verdict)) > 0: // no limit reaches the percentile, but the whole run is suspect
		suspect = true
		f.suspectWholly(run.Summary.Verdict)
	case p.AtLeast:
		f.Unfit = lowerBound
	case nearFloor(d, text):
		f.Unfit = fmt.Sprintf("below %d times the noise floor", floorMatters)
	}
	upTo := percent
	if limit.Reaches(text) {
		if from, ok := limit.From.Number(); ok {
			upTo = max(upTo, from) // an unpublished percentile has the reasons of the next published one
		}
	}
	why := reaching(run.Summary.Verdict, m, upTo)
	if suspect && len(why) > 0 {
		f.Cause = "suspect (" + cause(why) + ")"
		f.BySize = slices.ContainsFunc(why, judgedBeside)
	}
	f.Unsteady = !f.Selects && suspect && len(why) > 0 && !slices.ContainsFunc(why, func(r result.Reason) bool { return r.Code != result.ReasonSteady })
	f.bound(run, m, d, why, text, percent, suspect)
}

// nearFloor reports whether a percentile is below floorMatters times the noise floor. An
// unpublished percentile is judged like the next lower published one.
func nearFloor(d *result.Distribution, text result.Percentile) bool {
	at, ok := text.Number()
	near := false
	for _, name := range result.Percentiles() {
		p, isNumber := name.Number()
		if !ok || !isNumber || p > at {
			break
		}
		if r := d.Figures[name].FloorRatio; r != nil {
			near = *r < floorMatters
		}
	}
	return near
}

// plain reads a figure that is not a latency.
func (f *Figure) plain(run *result.Run, name string) {
	s, h := run.Summary, &run.Header
	known := true
	if t := s.Throughput; t != nil && t.Needs > 0 && (strings.HasPrefix(name, "rate.") || name == "fill") {
		f.lacks(run, t.Needs)
		return
	}
	switch name {
	case "rate.asked":
		f.Value = s.Rate.Asked
		known = f.Value > 0
	case "rate.sent":
		f.Value = s.Rate.Sent
		if s.Throughput != nil {
			f.Value = s.Throughput.PerSecond
		}
	case "rate.sender":
		f.Value = s.Rate.Sent
		if s.Throughput != nil {
			f.Value = s.Throughput.SentPerSecond
			known = f.Value > 0
		}
	case "rate.received":
		f.Value, known = receivedRate(run)
	case "rate.bytes":
		sent := Read(run, "rate.sent", "")
		f.Value = sent.Value * float64(h.Size)
	case "cpu.broker", generatorUse, "memory.broker", "disk.read", "disk.write":
		if f.Value, known = used(run, name); name == generatorUse && atOnce(run) {
			f.Missing = "one process made two runs at once"
			return
		}
	case "availability":
		if known = s.Availability != nil; known {
			a := s.Availability
			f.Value, f.Low, f.High, f.Bounded = a.Share, a.Low, a.High, true
		}
	case "sender.pause":
		f.Low, f.High, f.Bounded = senderPause(run)
		f.Value, f.Range, known = f.Low, true, f.Bounded
	case "fill":
		if known = s.Backlog != nil; known {
			f.Value = s.Backlog.FillRate
		}
	case "drain":
		if known = s.Backlog != nil && s.Backlog.DrainRate > 0; known {
			f.Value = s.Backlog.DrainRate
		}
	default:
		known = false
	}
	if !known {
		f.Missing = NotMeasured
	}
}

// senderPause returns between which lengths the longest pause of the senders lies, by the
// intervals in which nothing was sent although something was sent before and after: the pause is
// as long as these, and shorter than they and one interval at each end. It is not known without
// two intervals in which something was sent.
func senderPause(run *result.Run) (least, most float64, known bool) {
	last := -1 // the interval in which something was sent last
	for i := range run.Series {
		p := &run.Series[i]
		if p.Phase != result.PhaseMeasure || p.Counters.Sent == 0 {
			continue
		}
		if last >= 0 {
			before := &run.Series[last]
			known = true
			least = max(least, float64(p.Start-before.End))
			most = max(most, float64(p.End-before.Start))
		}
		last = i
	}
	return least, most, known
}

// receivedRate returns the deliveries a second; false if unknown.
func receivedRate(run *result.Run) (float64, bool) {
	s := run.Summary
	if t := s.Throughput; t != nil {
		return t.ReceivedPerSecond, t.Received > 0
	}
	if s.Counters.Received == 0 || s.End <= 0 {
		return 0, false
	}
	return float64(s.Counters.Received) / (float64(s.End) / 1e9), true
}

// used returns what processes used in the window. With several workloads processor time is
// unknown, because it cannot be attributed to one of them.
func used(run *result.Run, name string) (value float64, known bool) {
	key := map[string]result.Vital{"cpu.broker": result.VitalBrokerCPU, generatorUse: result.VitalProcessCPU, "memory.broker": result.VitalBrokerRSS,
		"disk.read": result.VitalBrokerReadBytes, "disk.write": result.VitalBrokerWriteBytes}[name]
	var sent int64
	for i := range run.Series {
		p := &run.Series[i]
		if p.Phase != result.PhaseMeasure {
			continue
		}
		sent += p.Counters.Sent
		v, there := p.Vitals[key]
		known = known || there
		switch name {
		case "memory.broker":
			value = max(value, v)
		case generatorUse:
			value += v * float64(p.End-p.Start) / 1e9
		default:
			value += v
		}
	}
	if name == "cpu.broker" || name == generatorUse {
		if sent == 0 || run.Header.Workload != "" {
			return 0, false
		}
		value /= float64(sent)
	}
	return value, known
}
