package report

import "math"

// bars is a chart of one figure of several things, one row each.
type bars struct {
	Key, Title, Caption, Alt string
	X                        axis
	Rows                     []bar
}

// bar is a row. Its values are coordinates of the axis; NaN means no value.
type bar struct {
	Label, Text, Title string
	Value, Low, High   float64
	Theirs             []float64 // marked beside it
}

// fit sets the axis' range. It reports whether there is anything to draw.
func (b *bars) fit() bool {
	e := extent{math.Inf(1), math.Inf(-1)}
	for _, r := range b.Rows {
		for _, v := range append([]float64{r.Value, r.Low, r.High}, r.Theirs...) {
			if !math.IsNaN(v) {
				e.add(v)
			}
		}
	}
	if e.min > e.max {
		return false
	}
	b.X.round(e)
	return true
}

// fromZero reports whether the axis begins at zero, so that lengths can be compared.
func (b *bars) fromZero() bool {
	switch b.X.Scale {
	case durationScale, logCountScale, logRateScale:
		return false
	}
	return true
}

const (
	barRow    = 26.0
	barLabel  = 44 // letters of a label
	barNumber = 92.0
)

// drawBars draws a fitted picture of bars, as [drawSVG] draws a chart.
func drawBars(b *bars, alone bool) string {
	left, top, widest := 0.0, 8.0, barNumber
	for _, r := range b.Rows {
		left = max(left, textWidth(shorten(r.Label, barLabel), 13)*0.92)
		widest = max(widest, textWidth(shorten(r.Text, 30), 13)+14)
	}
	if alone {
		top += 28
	}
	left += 16
	right := svgWidth - widest
	foot := top + barRow*float64(len(b.Rows)) + 4
	height := foot + 44
	p := newSVG("chart", b.Key, b.Title, b.Alt, svgWidth, height, alone)
	if alone {
		p.text("title", fromStart, 16, 24, b.Title)
	}
	x := func(v float64) float64 { return left + (v-b.X.Min)/(b.X.Max-b.X.Min)*(right-left) }
	free := 0.0
	for _, t := range b.X.ticks(int((right - left) / 90)) {
		at := x(t.At)
		p.line(t.class(), at, top, at, foot, "")
		if half := textWidth(t.Label, 13) / 2; t.Label != "" && at-half >= free {
			free = at + half + 8
			p.text("tick", middle, at, foot+17, t.Label)
		}
	}
	for i, r := range b.Rows {
		y := top + (float64(i)+0.5)*barRow
		p.f(`<g><title>%s</title>`, r.Title)
		p.f(`<text x="%.1f" y="%.1f" text-anchor="end">%s</text>`, left-10, y+4.5, shorten(r.Label, barLabel))
		if !math.IsNaN(r.Value) {
			if b.fromZero() {
				p.f(`<path class="bar f0" d="M%.1f %.1fH%.1fv%gH%.1fz"/>`, x(max(b.X.Min, 0)), y-7, max(x(r.Value), x(max(b.X.Min, 0))+1), 14.0, x(max(b.X.Min, 0)))
			} else {
				p.circle("bar f0", 5, x(r.Value), y)
			}
		}
		if !math.IsNaN(r.Low) && !math.IsNaN(r.High) {
			p.f(`<path class="whisker" d="M%.1f %.1fv8m0 -4H%.1fm0 -4v8"/>`, x(r.Low), y-4, x(r.High))
		}
		for _, t := range r.Theirs {
			diamond(p, 1, x(t), y, "theirs: "+b.X.text(t))
		}
		p.text("tick", fromStart, right+10, y+4.5, shorten(r.Text, 30))
		p.WriteString(`</g>`)
	}
	p.text("axis", middle, (left+right)/2, foot+37, b.X.Label)
	return p.end()
}
