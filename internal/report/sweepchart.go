package report

import (
	"fmt"
	"math"
	"slices"

	"sixnines/internal/sweep"
	"sixnines/result"
)

// mostCurves is how many lines a chart of a sweep has at most.
const mostCurves = 8

// sweepCharts are the curves of a sweep over its main axis: with one curve its
// percentiles together, with several a chart for each percentile.
func sweepCharts(t *sweep.Table) []*chart {
	key := t.Main()
	if key == "" {
		return nil
	}
	curves := t.Along(key)
	x := sweepAxis(t, key)
	var out []*chart
	add := func(c *chart) {
		if c.fit() {
			out = append(out, c)
		}
	}
	if len(curves) == 1 {
		c := latencyChart(curves[0].Rows, x, "latency", "Latency over "+x.Label)
		c.Caption += "Grey: UNSTABLE, the system carries less than the schedule asks for and has no steady latency."
		for i, p := range sweep.Percentiles() {
			c.Lines = append(c.Lines, latencyLine(curves[0], x, c.Y, rowName(p), i, p))
		}
		c.Moments = overloads(curves[0], x)
		add(c)
	} else {
		for _, p := range sweep.Percentiles() {
			c := latencyChart(curves[0].Rows, x, "latency-"+string(p), rowName(p)+" over "+x.Label)
			c.Caption += "A line has a gap or ends where a figure is missing: UNSTABLE, refused, INVALID or too few messages; the table says which."
			for i, curve := range curves[:min(len(curves), mostCurves)] {
				c.Lines = append(c.Lines, latencyLine(curve, x, c.Y, curve.Name(), i, p))
			}
			add(c)
		}
	}
	c := &chart{Key: "achieved", Title: "Achieved over " + x.Label, X: x, Y: axis{Scale: rateScale, Label: "messages a second"},
		Caption: "Messages per second that were sent in the window (with rate max: carried). Below the rate asked for, the system or the generator is at its limit."}
	if key == t.RateKey() && x.Scale == logRateScale {
		c.Y.Scale = logRateScale
	}
	for i, curve := range curves[:min(len(curves), mostCurves)] {
		name := curve.Name()
		if name == "" {
			name = "achieved"
		}
		c.Lines = append(c.Lines, sweepLine(curve, x, c.Y, name, i, func(r *sweep.Row) sweep.Spread { return r.Achieved }))
	}
	if key == t.RateKey() {
		asked := line{Name: "asked", Colour: 7, Dash: 1}
		for _, at := range curves[0].X {
			asked.X, asked.Y = append(asked.X, x.place(at)), append(asked.Y, c.Y.place(at))
		}
		c.Lines = append(c.Lines, asked)
	}
	if len(curves) == 1 {
		c.Moments = overloads(curves[0], x)
	}
	add(c)
	unlike := slices.ContainsFunc(curves, func(c sweep.Curve) bool { return c.Unlike > 0 })
	for _, c := range out {
		if unlike {
			c.Caption += " If the runs of a cell have different guarantees, the first row of the table is drawn."
		}
		if len(curves) > mostCurves {
			c.Caption += fmt.Sprintf(" The first %d of %d combinations of the other axes are drawn; the table shows all.", mostCurves, len(curves))
		}
	}
	return out
}

func latencyChart(rows []*sweep.Row, x axis, key, title string) *chart {
	name := "latency"
	if len(rows) > 0 && rows[0].Metric != "" {
		name = metricName(rows[0].Metric)
	}
	return &chart{Key: key, Title: title, X: x, Y: axis{Scale: durationScale, Label: name},
		Caption: "Each point is the median round, the band is from – to of the table. " +
			"A band up to the top has no upper end: there a round is UNSTABLE or refused, or the end is a lower bound. ≥: a lower bound. ?: suspect in most rounds. "}
}

// sweepAxis is the axis of a chart over a field: rates, and numbers that span a
// decade, on a logarithmic scale.
func sweepAxis(t *sweep.Table, key string) axis {
	for _, a := range t.Axes {
		if a.Key != key {
			continue
		}
		values, _ := a.Numbers()
		least, most := math.Inf(1), math.Inf(-1)
		for _, v := range values {
			least, most = min(least, v), max(most, v)
		}
		switch {
		case key == t.RateKey() && least > 0:
			return axis{Scale: logRateScale, Label: "rate asked"}
		case a.Rates(): // of another workload
			return axis{Scale: logRateScale, Label: plain(a.Name)}
		case least > 0 && most >= 10*least:
			return axis{Scale: logCountScale, Label: plain(a.Name)}
		}
		return axis{Scale: countScale, Label: plain(a.Name)}
	}
	return axis{}
}

// sweepLine is one figure along a curve, with its interval as a band; gaps where it
// has none.
func sweepLine(c sweep.Curve, x, along axis, name string, colour int, of func(*sweep.Row) sweep.Spread) line {
	l := line{Name: plain(name), Colour: colour % len(lightPalette), Dots: true}
	for i, r := range c.Rows {
		s := of(r)
		y, lo, hi := math.NaN(), math.NaN(), math.NaN()
		if s.OK() && s.Value > 0 {
			y, lo, hi = along.place(s.Value), along.place(max(s.Low, 1e-9)), along.place(s.High)
			if s.Above != "" || s.Open {
				hi = math.Inf(1)
			}
		}
		l.X, l.Y, l.Lo, l.Hi = append(l.X, x.place(c.X[i])), append(l.Y, y), append(l.Lo, lo), append(l.Hi, hi)
	}
	return l
}

// latencyLine is a percentile of the latency along a curve, with the marks of the table.
func latencyLine(c sweep.Curve, x, along axis, name string, colour int, p result.Percentile) line {
	l := sweepLine(c, x, along, name, colour, func(r *sweep.Row) sweep.Spread { return r.Latency[p] })
	for _, r := range c.Rows {
		sign := ""
		if s := r.Latency[p]; s.OK() {
			sign = sweepMark(s)
		}
		l.Signs = append(l.Signs, sign)
	}
	return l
}

// overloads are the parts of a curve at which the system was overloaded, each point
// half way to its neighbours.
func overloads(c sweep.Curve, x axis) []moment {
	var out []moment
	for i, r := range c.Rows {
		if !r.Unstable() {
			continue
		}
		at := x.place(c.X[i])
		m := moment{From: at, To: at, Label: "UNSTABLE at " + x.text(at), Pause: true}
		if i > 0 {
			m.From = (at + x.place(c.X[i-1])) / 2
		}
		if i+1 < len(c.Rows) {
			m.To = (at + x.place(c.X[i+1])) / 2
		}
		if len(out) == 0 || out[len(out)-1].To < m.From {
			out = append(out, moment{From: m.From, To: m.From, Label: "UNSTABLE from here", Mark: "UNSTABLE"})
		}
		out = append(out, m)
	}
	return out
}
