package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"sixnines/internal/judge"
	"sixnines/internal/study"
	"sixnines/result"
)

// thinCells is the number of cells up to which a picture of percentiles has each
// round as a thin line: more of them hide each other.
const thinCells = 5

// pictures returns a chart of the study: one chart, or a panel for each figure. If nothing
// can be drawn, the only one says why.
func (v *studyView) pictures(x *study.Chart, key string) gallery {
	cells := v.Match(x.Cells)
	labels := cellLabels(cells)
	var out gallery
	add := func(c *chart, small bool) {
		c.Title, c.Small = joinNonEmpty(": ", plain(x.Title), c.Title), small
		c.Key = key
		if len(out) > 0 {
			c.Key += "-" + strconv.Itoa(len(out)+1)
		}
		// A chart with only the original's figures would show no measurement.
		if !slices.ContainsFunc(c.Lines, func(l line) bool { return !l.Marks }) || !c.fit() {
			return
		}
		out = append(out, pictureOf(c, false))
	}
	switch x.Kind {
	case study.ChartPercentiles:
		add(v.percentiles(x, cells, labels), false)
	case study.ChartTime:
		for i, show := range x.Show {
			add(v.overTime(x, show, cells, labels), i%2 == 1 || i+1 < len(x.Show))
		}
	case study.ChartOver:
		for i, name := range x.Figures {
			add(v.over(x, name, cells), i%2 == 1 || i+1 < len(x.Figures))
		}
	case study.ChartBars:
		for _, name := range x.Figures {
			if b := v.bars(x, name, cells, labels); b.fit() {
				b.Key = key
				if len(out) > 0 {
					b.Key += "-" + strconv.Itoa(len(out)+1)
				}
				out = append(out, picture{Key: b.Key, Title: b.Title, Caption: b.Caption, Draw: func(alone bool) string { return drawBars(b, alone) }})
			}
		}
	}
	absent := v.absent(cells, labels)
	if len(out) == 0 {
		return gallery{{Key: key, Title: plain(x.Title), Caption: joinNonEmpty(" ", "There is nothing to draw.", absent)}}
	}
	if x.Kind != study.ChartBars { // where they have their places
		out[len(out)-1].Caption = joinNonEmpty(" ", out[len(out)-1].Caption, absent)
	}
	if len(out) == 1 || len(out)%2 == 1 {
		out[len(out)-1].Small = false
	}
	return out
}

// absent names the cells of a chart that have no run, and why; if a system has no runs at
// all, only the system.
func (v *studyView) absent(cells []*study.CellOutcome, labels []string) string {
	there := map[string]bool{}
	for _, c := range cells {
		if v.why(c) == "" {
			there[c.Cell.System.Name] = true
		}
	}
	var reasons []string
	by := map[string][]string{}
	for i, c := range cells {
		why, name := v.why(c), labels[i]
		if why == "" && len(measuredParts(c, "")) > 0 {
			continue
		}
		if why == "" {
			why = string(result.Invalid)
		}
		if !there[c.Cell.System.Name] {
			name = plain(c.Cell.System.Title)
		}
		reasons = appendNew(reasons, why)
		by[why] = appendNew(by[why], name)
	}
	var out []string
	for _, why := range reasons {
		out = append(out, strings.Join(by[why], "; ")+" ("+why+")")
	}
	if len(out) == 0 {
		return ""
	}
	return "Not in it: " + strings.Join(out, "; ") + "."
}

// cellLabels name cells by what they differ in.
func cellLabels(cells []*study.CellOutcome) []string {
	oneSystem, oneLoad := true, true
	for _, c := range cells {
		oneSystem = oneSystem && c.Cell.System.Name == cells[0].Cell.System.Name
		oneLoad = oneLoad && c.Cell.Load.Name == cells[0].Cell.Load.Name
	}
	var out []string
	for _, c := range cells {
		switch {
		case oneLoad:
			out = append(out, plain(c.Cell.System.Title))
		case oneSystem:
			out = append(out, plain(c.Cell.Load.Title))
		default:
			out = append(out, cellTitle(&c.Cell))
		}
	}
	return out
}

// measuredParts are the parts of a cell's runs that can be drawn, by round.
func measuredParts(c *study.CellOutcome, workload string) []*result.Run {
	var out []*result.Run
	for _, t := range c.Trials {
		if t.Run == nil {
			continue
		}
		if p := study.PartOf(t.Run, workload); p != nil && p.Summary != nil && p.Summary.Verdict.Status != result.Invalid {
			out = append(out, p)
		}
	}
	return out
}

// medianRun returns the median run by a percentile of a latency, the lower of two; runs
// without the percentile count as the slowest. It returns nil for no runs.
func medianRun(all []*result.Run, m result.Metric) *result.Run {
	if len(all) == 0 {
		return nil
	}
	sorted := slices.Clone(all)
	value := func(r *result.Run) float64 {
		for _, name := range []string{"p99", "p50"} {
			if f := study.Read(r, name, m); f.Missing == "" {
				return f.Value
			}
		}
		return math.Inf(1)
	}
	slices.SortStableFunc(sorted, func(a, b *result.Run) int { return cmp.Compare(value(a), value(b)) })
	return sorted[(len(sorted)-1)/2]
}

// percentiles draws each cell's latency by percentile: the median run, and thin each
// other round.
func (v *studyView) percentiles(x *study.Chart, cells []*study.CellOutcome, labels []string) *chart {
	c := &chart{Kind: kindPercentiles, X: axis{Scale: percentileScale, Label: "percentile"}, Y: axis{Scale: durationScale, Label: "latency"}}
	var metrics []string
	var thin, marks []line
	withdrawn, suspected := 0, false
	for i, cell := range cells {
		colour, dash := i%len(lightPalette), curveDashes[i/len(lightPalette)%len(curveDashes)]
		runs := measuredParts(cell, x.Workload)
		m := x.Metric
		if m == "" && len(runs) > 0 {
			m = study.HeadlineOf(runs[0])
		}
		if len(runs) > 0 { // else their curve would have no place in the legend
			marks = append(marks, v.percentileMarks(cell, labels[i], colour)...)
		}
		median := medianRun(runs, m)
		for _, run := range runs {
			d := run.Summary.Histograms[m]
			if d == nil || run.Summary.Verdict.Status == result.Unstable && m.IsResponse() {
				withdrawn++
				continue
			}
			l := percentileCurve(run.Metrics[m], d)
			l.Lo, l.Hi, l.Name, l.Colour, l.Dash = nil, nil, labels[i], colour, dash
			if !l.drawn() {
				continue
			}
			metrics = appendNew(metrics, metricName(m))
			if run == median {
				parts := believed(sparse(l, 2), run, m)
				suspected = suspected || len(parts) > 1 || parts[0].Dash == suspectDash
				c.Lines = append(c.Lines, parts...)
				if x.Corrected {
					c.Lines = append(c.Lines, correctedLines(run, labels[i], colour)...)
				}
			} else if len(cells) <= thinCells {
				l.Thin = true
				thin = append(thin, believed(sparse(l, 4), run, m)...)
			}
		}
	}
	if len(marks) > 0 {
		marks[0].Legend = "theirs: another machine"
	}
	c.Lines = slices.Concat(marks, c.Lines, thin)
	c.Caption = sentence(strings.Join(metrics, " and ")) + " Each step to the right is ten times rarer. "
	if len(cells) <= thinCells && v.rounds() > 1 {
		c.Caption += "The median run of each cell, by p99, and thin its other rounds; nothing is merged or averaged. "
	} else if v.rounds() > 1 {
		c.Caption += "The median run of each cell, by p99. "
	}
	c.Caption += "A curve ends where its messages no longer support a percentile, or where refused messages begin."
	if suspected {
		c.Caption += " What a run's verdict does not believe is dotted."
	}
	if withdrawn > 0 {
		c.Caption += fmt.Sprintf(" %s not drawn: UNSTABLE, a curve would tell the length of the run.", plural(withdrawn, "run"))
	}
	if len(marks) > 0 {
		c.Caption += " Diamonds are the original's figures, in the colours of their cells: another machine, and other versions."
	}
	return c
}

// suspectDash is the dash pattern of suspect parts; curveDashes are the others.
const suspectDash = 2

var curveDashes = [...]int{0, 1, 3}

// believed splits a curve where its suspect part begins, by the run's verdict; the suspect
// part may be the whole curve.
func believed(l line, run *result.Run, m result.Metric) []line {
	from := math.Inf(1)
	v := run.Summary.Verdict
	switch limit := v.Limit(m); {
	case limit == nil && v.Status == result.Suspect, v.Of(m, result.P50) != result.Valid:
		from = 0
	case limit != nil:
		from = -math.Log10(worseThan(limit.From))
	}
	k := 0
	for k < len(l.X) && l.X[k] < from {
		k++
	}
	beyond := l
	beyond.Dash = suspectDash
	switch k {
	case len(l.X):
		return []line{l}
	case 0:
		return []line{beyond}
	}
	beyond.X, beyond.Y, beyond.Name = l.X[k-1:], l.Y[k-1:], "" // the legend names the first part
	l.X, l.Y = l.X[:k], l.Y[:k]
	return []line{l, beyond}
}

// sparse keeps every every-th point of a line, and its last point.
func sparse(l line, every int) line {
	var x, y []float64
	for i := range l.X {
		if i%every == 0 || i == len(l.X)-1 {
			x, y = append(x, l.X[i]), append(y, l.Y[i])
		}
	}
	l.X, l.Y = x, y
	return l
}

// correctedLines are the service time of a synchronous requester, and what
// HdrHistogram's correction makes of it.
func correctedLines(run *result.Run, label string, colour int) []line {
	y := run.Header.Synchronous
	if y == nil {
		return nil
	}
	d, x := run.Summary.Histograms[y.Metric], run.Metrics[y.Metric]
	if d == nil || x == nil {
		return nil
	}
	service, corrected := percentileCurve(x, d), percentileCurve(judge.Corrected(x, y.Interval), d.Corrected)
	service.Name, corrected.Name = label+", service", label+", corrected"
	var out []line
	for i, l := range []line{service, corrected} {
		l.Lo, l.Hi, l.Colour, l.Dash = nil, nil, colour, curveDashes[i+1]
		if l.drawn() {
			out = append(out, sparse(l, 2))
		}
	}
	return out
}

// percentileMarks are the original's percentiles of a cell.
func (v *studyView) percentileMarks(c *study.CellOutcome, label string, colour int) []line {
	names := map[string]bool{}
	for _, f := range v.Study.Figures {
		if f.Figure != "" && f.Cell == c.Cell.Name {
			names[f.Figure] = true
		}
		if f.Rows[c.Cell.Name] != nil {
			for _, name := range f.Columns {
				names[name] = true
			}
		}
	}
	var out []line
	for _, name := range slices.Sorted(maps.Keys(names)) {
		p, err := strconv.ParseFloat(strings.TrimPrefix(name, "p"), 64)
		if !strings.HasPrefix(name, "p") || err != nil || p >= 100 {
			continue
		}
		for _, f := range v.theirs(c.Cell.Name, name) {
			if f.value > 0 {
				out = append(out, line{Name: "theirs, " + label + ", " + name, Colour: colour, Marks: true,
					X: []float64{-math.Log10(worseThan(result.Percentile(strings.TrimPrefix(name, "p"))))}, Y: []float64{math.Log10(f.value)}})
			}
		}
	}
	return out
}

// overTime draws one thing over the time of each cell's median run.
func (v *studyView) overTime(x *study.Chart, show string, cells []*study.CellOutcome, labels []string) *chart {
	c := &chart{X: axis{Scale: secondsScale, Label: "time in the measured window"}}
	type quantity struct {
		name string
		of   func(result.Metric) func(span) float64
	}
	same := func(value func(span) float64) func(result.Metric) func(span) float64 {
		return func(result.Metric) func(span) float64 { return value }
	}
	percentile := func(of func(result.PointMetric) int64) func(result.Metric) func(span) float64 {
		return func(m result.Metric) func(span) float64 {
			return func(s span) float64 { return positiveLog(s.Metrics[m].Count, of(s.Metrics[m])) }
		}
	}
	var all []quantity
	switch show {
	case study.ShowRate:
		c.Title, c.Y = "rate", axis{Scale: rateScale, Label: "messages a second"}
		c.Caption = "Messages sent and received a second, in each interval."
		all = []quantity{{"sent", same(perSecond(func(c *result.Counters) int64 { return c.Sent }))}, {"received", same(perSecond(func(c *result.Counters) int64 { return c.Received }))}}
	case study.ShowLatency:
		c.Title, c.Y = "latency", axis{Scale: durationScale, Label: "latency"}
		c.Caption = "Percentiles of the messages resolved in each interval."
		all = []quantity{{"p50", percentile(func(p result.PointMetric) int64 { return p.P50 })}, {"p99", percentile(func(p result.PointMetric) int64 { return p.P99 })}}
	case study.ShowMemory:
		c.Title, c.Y = "memory of the broker", axis{Scale: bytesScale, Label: "resident"}
		c.Caption = "The resident memory of the broker's processes."
		all = []quantity{{"", same(func(s span) float64 { return s.vital(result.VitalBrokerRSS) })}}
	case study.ShowDisk:
		c.Title, c.Y = "reads from disk", axis{Scale: byteRateScale, Label: "bytes a second"}
		c.Caption = "What was read from storage for the broker's processes, in each interval."
		all = []quantity{{"", same(func(s span) float64 { return s.vital(result.VitalBrokerReadBytes) / s.Seconds })}}
	case study.ShowBacklog:
		c.Title, c.Y = "backlog", axis{Scale: countScale, Label: "deliveries"}
		c.Caption = "What had been sent and not received at the end of each interval."
		all = []quantity{{"", func(result.Metric) func(span) float64 { return missing() }}}
	}
	if len(cells) > fewLines && len(all) > 1 {
		all = all[len(all)-1:]
		c.Caption += " Of so many cells only: " + all[0].name + "."
	}
	if v.rounds() > 1 {
		c.Caption += " Of each cell its median run, by p99."
	}
	for i, cell := range cells {
		runs := measuredParts(cell, x.Workload)
		m := x.Metric
		if m == "" && len(runs) > 0 {
			m = study.HeadlineOf(runs[0])
		}
		run := medianRun(runs, m)
		if run == nil {
			continue
		}
		spans := timelineWithin(run, studyPoints)
		if run.Summary.Backlog == nil { // a backlog may be drained after the window
			spans = measured(spans)
		}
		for _, s := range spans {
			c.Until = max(c.Until, s.At+s.Seconds/2)
		}
		for k, s := range all {
			l := timeLine(spans, joinNonEmpty(", ", labels[i], s.name), i%len(lightPalette), k+i/len(lightPalette)*2, s.of(m))
			if len(cells) == 1 && s.name != "" {
				l.Name, l.Colour = s.name, k
			}
			c.add(l)
		}
	}
	return c
}

// studyPoints is the most points that a line over time has on the page of a study,
// which has many.
const studyPoints = 200
