package report

import "math"

// vitalSeries is a vital that is drawn over time.
type vitalSeries struct{ vital, name string }

// hiccupsChart draws what held the generator up over time: the longest waits of
// the meters, of goroutines for a processor, and for the collector.
func hiccupsChart(subjects []*subject) *chart {
	c := vitalsChart(subjects, []vitalSeries{
		{"hiccup.thread.max", "thread late"}, {"hiccup.goroutine.max", "goroutine late"}, {"hiccup.idle.max", "idle process late"},
		{"go.sched.latency.p99", "goroutines' wait, p99"}, {"go.gc.pause.max", "garbage collection pause"}, {"cgroup.throttled.time", "throttled"},
	}, "hiccup.thread.max", func(v float64) float64 {
		if v < lagFloor {
			return math.NaN()
		}
		return math.Log10(v)
	})
	c.Kind, c.Key, c.Title, c.Y = KindHiccups, "hiccups", "What delayed the generator", axis{Scale: durationScale, Label: "the most in an interval"}
	c.Caption = "How late idle threads and goroutines woke up, how long goroutines waited for a processor, and how long garbage collection or a processor quota paused the generator; the largest of each interval. A delay that all of them show is the machine's."
	c.Alt = c.Title + "."
	return c
}

// processorsChart draws the use of the processors over time.
func processorsChart(subjects []*subject) *chart {
	c := vitalsChart(subjects, []vitalSeries{
		{"process.cpu", "generator, of one core"}, {"host.cpu.busy", "the machine, of all"}, {"host.steal", "stolen, of all"},
	}, "process.cpu", func(v float64) float64 { return v })
	c.Kind, c.Key, c.Title, c.Y = KindProcessors, "processors", "Use of the processors", axis{Scale: shareScale, Label: "busy"}
	c.Caption = "The generator's own use, which may be more than one core, and the whole machine's."
	c.Alt = c.Title + "."
	return c
}

// vitalsChart draws vitals of the measured window over time, of several runs
// the leading one only. Workloads of one run share them.
func vitalsChart(subjects []*subject, series []vitalSeries, leading string, y func(float64) float64) *chart {
	c := &chart{Small: true, X: axis{Scale: secondsScale, Label: "time in the measured window"}, Moments: momentsOf(subjects), Until: untilOf(subjects)}
	whole := wholeOf(subjects)
	for i, s := range whole {
		spans := measured(timeline(s.run))
		for j, v := range series {
			if len(whole) > 1 && v.vital != leading {
				continue
			}
			name := v.name
			if len(whole) > 1 {
				name = lineName(s, name)
			}
			l := timeLine(spans, name, j, 0, func(sp span) float64 {
				value, ok := sp.Vitals[v.vital]
				if !ok || math.IsInf(value, 0) {
					return math.NaN()
				}
				return y(value)
			})
			if len(whole) > 1 {
				l.Colour = i
			} else {
				l.Dash = j % 2
			}
			if l.drawn() {
				c.Lines = append(c.Lines, l)
			}
		}
	}
	return c
}
