package report

import (
	"math"
	"strings"

	"sixnines/internal/stats"
	"sixnines/result"
)

// newTimeChart begins a chart over the time of the runs, half as wide as the page.
func newTimeChart(kind Kind, title string, y axis, subjects []*subject) *chart {
	return &chart{Kind: kind, Key: string(kind), Title: title, Small: true, X: axis{Scale: secondsScale, Label: "time in the measured window"}, Y: y,
		Moments: momentsOf(subjects), Until: untilOf(subjects)}
}

// overTime draws one figure of each interval of the i-th run, NaN for a gap, and reports
// whether there is any. Of several runs each has its colour.
func (c *chart) overTime(subjects []*subject, i int, spans []span, name string, colour, dash int, value func(span) float64) bool {
	l := timeLine(spans, name, colour, dash, value)
	if len(subjects) > 1 {
		l = l.of(subjects[i], name)
		l.Colour = i
	}
	return c.add(l)
}

// perSecond is a count of an interval as a rate.
func perSecond(n func(*result.Counters) int64) func(span) float64 {
	return func(s span) float64 { return float64(n(&s.Counters)) / s.Seconds }
}

// missing is what had been sent and not received at the end of each interval that it is
// asked for, in order.
func missing() func(span) float64 {
	var all result.Counters
	return func(s span) float64 {
		all.Add(s.Counters)
		return float64(max(0, all.Expected-all.Received-all.Corrupted))
	}
}

// timeChart draws percentiles of the family's first latency over time.
func timeChart(subjects []*subject, f family) *chart {
	c := newTimeChart(kindTime, f.Name+" over time", axis{Scale: durationScale, Label: "latency"}, subjects)
	c.Key, c.Small = "time-"+f.Key, false
	var metrics []string
	few := false
	for i, s := range subjects {
		m := firstOf(s, f)
		if m == "" {
			continue
		}
		metrics = appendNew(metrics, metricName(m))
		c.Moments = append(c.Moments, steadyMoments(s)...)
		spans := timeline(s.run)
		draw := func(name string, colour, dash int, of func(result.PointMetric) int64) bool {
			return c.overTime(subjects, i, spans, name, colour, dash, func(sp span) float64 {
				p := sp.Metrics[m]
				return positiveLog(p.Count, of(p))
			})
		}
		p50 := func(p result.PointMetric) int64 { return p.P50 }
		p90 := func(p result.PointMetric) int64 { return p.P90 }
		p99 := func(p result.PointMetric) int64 { return p.P99 }
		largest := func(p result.PointMetric) int64 { return p.Max }
		if len(subjects) > 1 {
			// One colour a run, and only what tells runs apart: the highest percentile up
			// to p99 that their intervals support.
			if !draw("p99", i, 0, p99) && (draw("p90", i, 0, p90) || draw("p50", i, 0, p50)) {
				few = true
			}
			if len(subjects) <= fewLines {
				draw("max", i, 2, largest)
			}
			continue
		}
		draw("p50", 0, 0, p50)
		if !draw("p99", 1, 0, p99) {
			draw("p90", 1, 0, p90)
		}
		few = !draw("p99.9", 2, 0, func(p result.PointMetric) int64 { return p.P999 })
		draw("max", 3, 2, largest)
	}
	c.Caption = "Percentiles of " + strings.Join(metrics, " and ") + " of the messages resolved in each interval. Percentiles of an interval cover that interval only. "
	if few {
		c.Caption += "Where an interval has too few messages for a percentile (p99 needs " + count(stats.MinSamples(0.99, 0.95)) + ", p99.9 " + count(stats.MinSamples(0.999, 0.95)) + "), the percentile is not drawn. "
	}
	c.Caption += momentCaption(c.Moments)
	return c
}

// rateChart draws due, sent and received messages a second over time.
func rateChart(subjects []*subject) *chart {
	c := newTimeChart(kindRate, "Rate over time", axis{Scale: rateScale, Label: "messages a second"}, subjects)
	received := 3 // the dash
	if len(subjects) > 1 {
		received = 2
	}
	for i, s := range subjects {
		spans := timeline(s.run)
		if s.sum.Backlog == nil { // else what it is about may come after the window
			spans = measured(spans)
		}
		c.overTime(subjects, i, spans, "sent", 0, 0, perSecond(func(c *result.Counters) int64 { return c.Sent }))
		few := len(subjects) <= fewLines
		if few && s.run.Header.Mode == result.ModeOpen {
			c.overTime(subjects, i, spans, "due", 7, 1, perSecond(func(c *result.Counters) int64 { return c.Scheduled }))
		}
		if few && s.sum.Counters.Expected > 0 {
			c.overTime(subjects, i, spans, "received", 2, received, perSecond(func(c *result.Counters) int64 { return c.Received }))
		}
	}
	c.Caption = "Due: messages that the schedule had for the interval. Sent: messages handed to the client in it. Received: messages that arrived in it. Where sent is below due, the delay counts as response time. " + momentCaption(c.Moments)
	return c
}

// inFlightChart draws the unanswered and the overdue messages over time.
func inFlightChart(subjects []*subject) *chart {
	c := newTimeChart(kindInFlight, "In flight and overdue over time", axis{Scale: countScale, Label: "messages"}, subjects)
	for i, s := range subjects {
		spans := timeline(s.run)
		c.overTime(subjects, i, spans, "in flight", 0, 0, func(sp span) float64 { return float64(sp.InFlight) })
		c.overTime(subjects, i, spans, "due, not sent", 1, 1, func(sp span) float64 { return float64(sp.Backlog) })
	}
	c.Caption = "Unanswered messages, and messages that were due and not yet sent, at the end of each interval. A line that climbs to the end means overload. " + momentCaption(c.Moments)
	return c
}

// backlogChart draws the messages that late or paused consumers had not received yet, over
// time, by the run's own count and by the broker's.
func backlogChart(subjects []*subject) *chart {
	c := newTimeChart(kindBacklog, "Backlog over time", axis{Scale: countScale, Label: "deliveries"}, subjects)
	told := ""
	for i, s := range subjects {
		if s.sum.Backlog == nil {
			continue
		}
		spans := timeline(s.run)
		c.overTime(subjects, i, spans, "sent, not received", 0, 0, missing())
		if s.sum.Backlog.Depth != "" {
			told = s.sum.Backlog.Depth
			c.overTime(subjects, i, spans, "as the broker reports", 1, 1, func(sp span) float64 {
				if sp.Depth < 0 {
					return math.NaN()
				}
				return float64(sp.Depth)
			})
		}
	}
	c.Caption = "Deliveries that were sent but not yet received at the end of each interval. "
	if told != "" {
		c.Caption += "As the broker reports: the messages it held that were " + told + ", when it was last asked in the interval, all messages included. "
	}
	c.Caption += momentCaption(c.Moments)
	return c
}

// hiccupsChart draws the delays within the generator over time: the longest waits of the
// meters, of goroutines for a processor, and for the collector.
func hiccupsChart(subjects []*subject) *chart {
	c := newTimeChart(kindHiccups, "What delayed the generator", axis{Scale: durationScale, Label: "maximum of an interval"}, subjects)
	c.vitals(subjects, func(v float64) float64 {
		if v < lagFloor {
			return math.NaN()
		}
		return math.Log10(v)
	}, result.VitalHiccupThreadMax, result.VitalHiccupGoroutineMax, result.VitalHiccupIdleMax, result.VitalGoLatencyP99, result.VitalGoGCPauseMax, result.VitalCgroupThrottleTime)
	c.Caption = "How late idle threads and goroutines woke up, how long goroutines waited for a processor, and how long garbage collection or a processor quota paused the generator; the largest of each interval. A delay that all of them show is caused by the machine."
	return c
}

// processorsChart draws the use of the processors over time.
func processorsChart(subjects []*subject) *chart {
	c := newTimeChart(kindProcessors, "Use of the processors", axis{Scale: shareScale, Label: "busy"}, subjects)
	c.vitals(subjects, func(v float64) float64 { return v }, result.VitalProcessCPU, result.VitalHostBusy, result.VitalHostSteal)
	c.Caption = "The generator's own use, which may be more than one core, and the whole machine's."
	return c
}

// vitals draws vitals of the measured window over time, of several runs
// the first one only. Workloads of one run share them.
func (c *chart) vitals(subjects []*subject, y func(float64) float64, series ...result.Vital) {
	whole := wholeOf(subjects)
	for i, s := range whole {
		spans := measured(timeline(s.run))
		for j, v := range series {
			if len(whole) > 1 && j > 0 {
				break
			}
			c.overTime(whole, i, spans, v.Properties().Label, j, j%2, func(sp span) float64 { return y(sp.vital(v)) })
		}
	}
}

// vital returns the largest value of a vital in the span; NaN: the span has none.
func (s span) vital(v result.Vital) float64 {
	if value, ok := s.Vitals[v]; ok && !math.IsInf(value, 0) {
		return value
	}
	return math.NaN()
}

// measured returns the points of the measured window.
func measured(spans []span) []span {
	var out []span
	for _, s := range spans {
		if s.Phase == result.PhaseMeasure {
			out = append(out, s)
		}
	}
	return out
}
