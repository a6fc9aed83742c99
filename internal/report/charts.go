package report

import (
	"fmt"
	"math"
	"strings"

	"sixnines/result"
)

// chartLimit is the largest number of runs in a readable chart.
const chartLimit = len(lightPalette)

// Kind names a picture.
type Kind string

// The charts. If a run measured several latencies (delivery and publish), the first
// of them is drawn, in the order of [result.Metrics].
const (
	kindPercentiles Kind = "percentiles" // latency by percentile, response and service
	kindTime        Kind = "time"        // percentiles over time
	kindRate        Kind = "rate"        // due, sent and received over time
	kindInFlight    Kind = "inflight"    // unanswered and overdue messages over time
	kindBacklog     Kind = "backlog"     // messages not yet received by late or paused consumers, over time
	kindLag         Kind = "lag"         // sending lag by percentile
	kindHistogram   Kind = "histogram"   // how many messages had which latency
	kindStages      Kind = "stages"      // the stages of the service time by percentile
	kindRepeats     Kind = "repeats"     // all runs of a set by percentile
	kindHiccups     Kind = "hiccups"     // delays within the generator, over time
	kindProcessors  Kind = "processors"  // the use of the processors over time
)

// Kinds lists all kinds of charts.
func Kinds() []Kind {
	return []Kind{kindPercentiles, kindTime, kindRate, kindInFlight, kindBacklog, kindLag, kindHistogram, kindStages, kindRepeats, kindHiccups, kindProcessors}
}

// charts returns all charts of the runs, in the order of the page, without those that
// have nothing to draw.
func charts(subjects []*subject) []*chart {
	all := subjects
	subjects = subjects[:min(len(subjects), chartLimit)]
	var out []*chart
	add := func(c *chart) {
		if c != nil && c.fit() {
			out = append(out, c)
		}
	}
	for _, c := range repeatCharts(all) {
		add(c)
	}
	for _, f := range kinds() {
		if !f.small() {
			add(percentilesChart(subjects, f))
			add(timeChart(subjects, f))
		}
	}
	add(rateChart(subjects))
	add(inFlightChart(subjects))
	add(backlogChart(subjects))
	for _, f := range kinds() {
		if f.small() {
			add(percentilesChart(subjects, f))
		} else {
			add(histogramChart(subjects, f))
		}
	}
	add(hiccupsChart(subjects))
	add(processorsChart(subjects))
	// A small chart without a neighbour is drawn wide.
	small := 0
	for _, c := range out {
		if c.Small {
			small++
		}
	}
	if small%2 == 1 && len(out) > 0 {
		out[len(out)-1].Small = false
	}
	return out
}

// chartOf draws the picture of a kind.
func chartOf(runs []*result.Run, k Kind) (*chart, error) {
	prepared, err := subjects(runs)
	if err != nil {
		return nil, err
	}
	return pick(charts(prepared), k)
}

// pick returns the first chart of a kind.
func pick(all []*chart, k Kind) (*chart, error) {
	for _, c := range all {
		if c.Kind == k {
			c.Small = false
			return c, nil
		}
	}
	for _, known := range Kinds() {
		if k == known {
			return nil, fmt.Errorf("these results have no data for a picture of kind %q", k)
		}
	}
	return nil, fmt.Errorf("unknown kind of picture %q; the kinds are %v", k, Kinds())
}

// of returns the line with the name what; if there are several runs, the name includes the
// run's, and the line of a background workload is thin.
func (l line) of(s *subject, what string) line {
	l.Name = what
	if s.letter != "" {
		l.Name = shorten(s.label, 28) + ", " + what
		l.Thin = s.run.Header.Background
	}
	if l.Thin {
		l.Legend = l.Name
	}
	return l
}

// small reports whether a family is one picture beside those of the latencies.
func (f family) small() bool { return f.Key == "lag" || f.Key == "probe" || f.Apart }

// percentilesChart draws the latencies of a family by percentile.
func percentilesChart(subjects []*subject, f family) *chart {
	c := &chart{
		Kind: kindPercentiles, Key: "percentiles-" + f.Key, Title: f.Name + " by percentile",
		X: axis{Scale: percentileScale, Label: "percentile"}, Y: axis{Scale: durationScale, Label: "latency"},
		Caption: "Each step to the right is ten times rarer. The curve ends where the number of messages no longer supports a percentile, or where refused messages begin; the band contains each percentile with 95 % confidence. ",
	}
	if f.Key == "lag" {
		c.Kind, c.Small, c.Y.Label = kindLag, true, "lag"
	}
	if f.Apart {
		c.Kind, c.Small = kindStages, true
	}
	if f.Key == "probe" {
		c.Small = true
	}
	c.Caption += f.About
	for i, s := range subjects {
		for j, k := range f.Columns {
			col := s.column(k.Metric)
			if col == nil || k.Metric != firstOf(s, f) && len(subjects) > fewLines {
				continue
			}
			if s.sum.Verdict.Status == result.Unstable && k.Metric.IsResponse() {
				c.Caption += " Response of " + s.title + " is left out: the run was overloaded, so the curve depends on its length."
				continue
			}
			name := k.Head
			if k.Corrected {
				name = correctedName(&s.run.Header)
			}
			l := percentileCurve(s.merged(k), col.Dist).of(s, name)
			l.Colour, l.Dash = i, j
			if len(subjects) == 1 {
				l.Colour = j
			}
			if j > 0 || len(subjects) > fewLines {
				l.Lo, l.Hi = nil, nil // overlapping bands would hide each other
			}
			if f.Key == "lag" {
				l.hideBelow(lagFloor)
			}
			c.add(l)
		}
	}
	if len(subjects) > fewLines {
		c.Caption += " With this many results only the first latency is drawn, without bands; the tables show all."
	}
	if f.Key == "lag" {
		c.Caption += " Lag below " + duration(lagFloor) + " is not drawn."
	}
	if floors := floorCurves(subjects, f); len(c.Lines) > 0 && len(floors) > 0 {
		c.Lines = append(c.Lines, floors...)
		c.Caption += " The dotted grey line is the noise floor: latencies with a broker that does nothing, on this machine."
	}
	return c
}

// fewLines is the largest number of runs for which a chart has room for more than one
// line each.
const fewLines = 4

// lagFloor is the lag, in ns, below which lines are not drawn: most messages have no
// blocked lag at all.
const lagFloor = 100

// hideBelow replaces points below a duration by gaps.
func (l *line) hideBelow(ns int64) {
	floor := logOf(ns)
	for i := range l.Y {
		if l.Lo != nil {
			l.Lo[i], l.Hi[i] = max(l.Lo[i], floor), max(l.Hi[i], floor)
		}
		if l.Y[i] < floor {
			l.Y[i] = math.NaN()
		}
	}
}

// add adds a line that has a point, and reports whether it has.
func (c *chart) add(l line) bool {
	if l.drawn() {
		c.Lines = append(c.Lines, l)
	}
	return l.drawn()
}

// drawn reports whether the line has a point.
func (l *line) drawn() bool { return len(l.ends()) > 0 }

// momentCaption explains the marks of a chart over time.
func momentCaption(moments []moment) string {
	const most = 12
	var events, steady []string
	pauses, strips, refused := false, false, false
	for _, m := range moments {
		switch {
		case m.Refused:
			refused = true
		case m.Strip:
			strips = true
		case m.Pause:
			pauses = true
		case m.Steady:
			steady = append(steady, m.Label)
		case len(events) < most:
			events = append(events, fmt.Sprintf("%s %s (%s)", m.Mark, m.Label, duration(int64(m.From*1e9))))
		}
	}
	var out []string
	if len(events) > 0 {
		out = append(out, "Events: "+strings.Join(events, "; ")+".")
	}
	if len(steady) > 0 {
		out = append(out, "Steady: "+strings.Join(steady, "; ")+".")
	}
	if refused {
		out = append(out, "Marks at the top are stretches in which messages were refused. A refused message counts as slower than any latency, so a line has a gap where refused messages reach its percentile.")
	}
	if pauses {
		out = append(out, "Shaded spans are pauses of the generator itself: it may have caused what happens there.")
	}
	if strips {
		out = append(out, "Marks at the bottom are stretches with events that may have delayed it: garbage collection, throttling, steal, other processes on the processors, a broker that waited for a processor of this machine, swapping, a retransmission.")
	}
	return strings.Join(out, " ")
}

// firstOf returns the family's first metric that the run has: response if the load was
// paced, else service.
func firstOf(s *subject, f family) result.Metric {
	for _, k := range f.Columns {
		if s.column(k.Metric) != nil {
			return k.Metric
		}
	}
	return ""
}

// histogramChart draws how many messages had which latency.
func histogramChart(subjects []*subject, f family) *chart {
	c := &chart{Kind: kindHistogram, Small: true, Key: "histogram-" + f.Key, Title: f.Name + ", distribution",
		X: axis{Scale: durationScale, Label: "latency"}, Y: axis{Scale: logCountScale, Label: "messages in a bin"}}
	for i, s := range subjects {
		for j, k := range f.Columns {
			if k.Corrected || s.column(k.Metric) == nil || len(subjects) > 1 && k.Metric != firstOf(s, f) {
				continue
			}
			l := densityCurve(s.run.Metrics[k.Metric]).of(s, k.Head)
			l.Colour, l.Dash = i, j
			if len(subjects) == 1 {
				l.Colour = j
			}
			c.add(l)
		}
	}
	c.Caption = fmt.Sprintf("Messages in bins of equal width on a logarithmic axis (%d for each factor of ten). Several humps mean several causes of slowness.", densityBins)
	return c
}
