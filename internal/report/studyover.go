package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"sixnines/internal/study"
	"sixnines/result"
)

// unitAxis returns the axis of a unit, and the number of the axis' units in one unit.
func unitAxis(u study.Unit, name string, wide bool) (axis, float64) {
	scales := map[study.Unit]scale{study.Nanoseconds: durationScale, study.Seconds: durationScale, study.PerSecond: rateScale, study.BytesRate: byteRateScale, study.Bytes: bytesScale}
	s, of := scales[u], 1.0
	switch {
	case u == study.Seconds:
		of = 1e9
	case u == study.PerSecond && wide:
		s = logRateScale
	case s != "":
	case name == "availability":
		s = shareScale
	case wide:
		s = logCountScale
	default:
		s = countScale
	}
	return axis{Scale: s, Label: name}, of
}

// on returns the coordinates of a figure and its interval on an axis with of units per unit
// of the figure; NaN for missing values.
func (f studyFigure) on(a axis, of float64) (y, low, high float64) {
	y, low, high = math.NaN(), math.NaN(), math.NaN()
	if f.ok {
		y = a.place(f.Value * of)
		if f.Bounded && !math.IsInf(f.High, 1) {
			low, high = a.place(f.Low*of), a.place(f.High*of)
		}
	}
	return y, low, high
}

// place is where a cell lies on an axis of the study.
func place(c *study.Cell, over string) (float64, bool) {
	if x, ok := c.Load.At[over]; ok {
		return x, true
	}
	x, ok := c.System.At[over]
	return x, ok
}

// curveName names the curve of a cell over an axis: the cell's name without its value on
// that axis.
func curveName(c *study.Cell, over string) string {
	rest := func(at map[string]float64, title string) []string {
		if _, ok := at[over]; !ok {
			return []string{plain(title)}
		}
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(at)) {
			if name != over {
				parts = append(parts, plain(name)+" "+studyNumber(at[name], study.Part))
			}
		}
		return parts
	}
	parts := append(rest(c.System.At, c.System.Title), rest(c.Load.At, c.Load.Title)...)
	return strings.Join(parts, ", ")
}

// over draws a figure over an axis of the study, a curve for each system.
func (v *studyView) over(x *study.Chart, name string, cells []*study.CellOutcome) *chart {
	c := &chart{Title: name, X: axis{Scale: countScale, Label: plain(x.Over)},
		Caption: "Each point is the median round, the band its interval. A line has a gap, or ends, where there is no figure: UNSTABLE, refused, INVALID or too few messages."}
	type point struct {
		x      float64
		figure studyFigure
		theirs []theirFigure
	}
	curves, names := map[string][]point{}, []string(nil)
	least, most, low, high := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, cell := range cells {
		at, ok := place(&cell.Cell, x.Over)
		if !ok {
			continue
		}
		curve := curveName(&cell.Cell, x.Over)
		if curves[curve] == nil {
			names = append(names, curve)
		}
		p := point{at, v.figure(cell, wanted{name, x.Metric, x.Workload}), v.theirs(cell.Cell.Name, name)}
		curves[curve] = append(curves[curve], p)
		least, most = min(least, at), max(most, at)
		if p.figure.ok && p.figure.Value > 0 {
			low, high = min(low, p.figure.Value), max(high, p.figure.Value)
		}
	}
	if least > 0 && most >= 10*least {
		c.X.Scale = logCountScale
	}
	unit, _ := study.UnitOf(name)
	var of float64
	c.Y, of = unitAxis(unit, name, high >= 20*low || c.X.Scale == logCountScale && unit == study.PerSecond)
	var marks []line
	for i, curve := range names {
		colour, dash := i%len(lightPalette), i/len(lightPalette)%len(dashes)
		points := curves[curve]
		slices.SortStableFunc(points, func(a, b point) int { return cmp.Compare(a.x, b.x) })
		l, m := line{Name: curve, Colour: colour, Dash: dash, Dots: true}, line{Name: "theirs, " + curve, Colour: colour, Marks: true}
		for _, p := range points {
			y, from, to := p.figure.on(c.Y, of)
			l.X, l.Y, l.Lo, l.Hi = append(l.X, c.X.place(p.x)), append(l.Y, y), append(l.Lo, from), append(l.Hi, to)
			for _, t := range p.theirs {
				m.X, m.Y = append(m.X, c.X.place(p.x)), append(m.Y, c.Y.place(t.value*of))
			}
		}
		c.add(l)
		if m.drawn() {
			marks = append(marks, m)
		}
	}
	if len(marks) > 0 {
		marks[0].Legend = "theirs: another machine"
		c.Lines = append(marks, c.Lines...)
		c.Caption += " Diamonds are the original's figures: another machine, and other versions."
	}
	return c
}

// bars compares a figure of several cells: a bar from zero on a linear axis, else a dot,
// with its interval. A cell without the figure keeps its row, with the reason.
func (v *studyView) bars(x *study.Chart, name string, cells []*study.CellOutcome, labels []string) *bars {
	b := &bars{Title: joinNonEmpty(": ", plain(x.Title), name)}
	low, high := math.Inf(1), 0.0
	var all []studyFigure
	for _, c := range cells {
		f := v.figure(c, wanted{name, x.Metric, x.Workload})
		all = append(all, f)
		if f.ok && f.Value > 0 {
			low, high = min(low, f.Value), max(high, f.Value)
		}
	}
	unit, _ := study.UnitOf(name)
	var of float64
	b.X, of = unitAxis(unit, name, high >= 50*low)
	for i, c := range cells {
		f := all[i]
		row := bar{Label: labels[i], Text: f.text(), Title: joinNonEmpty(": ", cellTitle(&c.Cell)+", "+name, joinNonEmpty("; ", f.text(), f.interval(), f.why, f.beside))}
		row.Value, row.Low, row.High = f.on(b.X, of)
		if !f.ok {
			row.Text = f.why
		}
		for _, t := range v.theirs(c.Cell.Name, name) {
			if y := b.X.place(t.value * of); !math.IsNaN(y) {
				row.Theirs = append(row.Theirs, y)
				row.Title += "; theirs " + t.text
			}
		}
		b.Rows = append(b.Rows, row)
	}
	b.Caption = "Each is the median round, with its interval."
	if slices.ContainsFunc(b.Rows, func(r bar) bool { return len(r.Theirs) > 0 }) {
		b.Caption += " Diamonds are the original's figures: another machine, and other versions."
	}
	if m := x.Metric; m != "" && m != result.Metric(name) {
		b.Caption += " Of " + metricName(m) + "."
	}
	b.Alt = fmt.Sprintf("%s; ", b.Title)
	var parts []string
	for _, r := range b.Rows {
		parts = append(parts, r.Label+" "+r.Text)
	}
	b.Alt += strings.Join(parts, ", ") + "."
	return b
}
