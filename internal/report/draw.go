package report

import "math"

// canvas is what a chart is drawn on, in the units of SVG: y grows downwards. A shape's
// class determines its look. Its title is shown on hovering, if the canvas can do that.
type canvas interface {
	line(class string, x0, y0, x1, y1 float64, title string)
	rect(class string, x, y, width, height float64, title string)
	circle(class string, r, x, y float64)
	path(class string, dash int, points []point, title string)
	text(class string, a anchor, x, y float64, s string)
	// turned writes a text upwards, at a point.
	turned(class string, x, y float64, s string)
	// width returns the width of a text in a legend.
	width(s string) float64
	// clip calls draw, whose shapes appear only within the rectangle.
	clip(x, y, width, height float64, draw func())
}

// point is a point of a path: begins is an SVG moveto, closes a closepath behind the point.
type point struct {
	x, y           float64
	begins, closes bool
}

// anchor is the text-anchor: which end of a text lies at its coordinates.
type anchor string

const (
	fromStart anchor = ""
	middle    anchor = ` text-anchor="middle"`
	toEnd     anchor = ` text-anchor="end"`
)

// drawChart draws a fitted chart. A chart that stands alone gets its title and a legend of
// its events, since it has no caption.
func drawChart(on canvas, c *chart, width, height float64, alone bool) {
	top := svgTop
	if alone {
		on.text("title", fromStart, svgLeft, 24, c.Title)
		top += 24
	}
	a := area{c, svgLeft, 0, width - svgRight, height - svgBottom}
	a.y0 = top + drawLegend(on, c, top+6, a.x1, alone) + 6
	a.moments(on, true)
	a.grid(on)
	on.clip(a.x0, a.y0-3, a.x1-a.x0, a.y1-a.y0+6, func() {
		for _, l := range c.Lines {
			a.band(on, l)
		}
		for i := len(c.Lines) - 1; i >= 0; i-- { // the first line on top
			if !c.Lines[i].Marks {
				a.line(on, c.Lines[i])
			}
		}
	})
	for _, l := range c.Lines {
		if l.Marks { // not clipped, so that marks at the edge are whole
			a.marks(on, l)
		}
	}
	a.moments(on, false)
}

// drawLegend writes the names of the lines, and if asked those of the events, from y
// downwards, and returns the height of the legend.
func drawLegend(on canvas, c *chart, y, right float64, events bool) float64 {
	const rowHeight, gap, sample = 18.0, 18.0, 34.0
	x, row := svgLeft, 0
	place := func(width float64) (float64, float64) {
		if x+width > right && x > svgLeft {
			x = svgLeft
			row++
		}
		at := x
		x += width + gap
		return at, y + float64(row)*rowHeight
	}
	for _, l := range c.Lines {
		name := l.legend()
		if name == "" {
			continue
		}
		x, y := place(sample + on.width(name))
		switch {
		case l.Points:
			on.circle(l.fill(""), 3, x+13, y)
		case l.Marks:
			diamond(on, l.Colour, x+13, y, "")
		default:
			on.path(l.stroke(), l.Dash, []point{{x: x, y: y, begins: true}, {x: x + 26, y: y}}, "")
		}
		on.text("legend", fromStart, x+33, y+4.5, name)
	}
	for _, m := range c.Moments {
		if events && m.Mark != "" && row <= 5 {
			name := m.Mark + " " + shorten(m.Label, 60)
			x, y := place(on.width(name))
			on.text("axis", fromStart, x, y+4.5, name)
		}
	}
	return float64(row+1) * rowHeight
}

// diamond marks a single figure; title is what it is.
func diamond(on canvas, colour int, x, y float64, title string) {
	on.path(line{Colour: colour}.fill("mark "), 0,
		[]point{{x: x - 6, y: y, begins: true}, {x: x, y: y - 6}, {x: x + 6, y: y}, {x: x, y: y + 6, closes: true}}, title)
}

// area maps a chart's coordinates to the picture's.
type area struct {
	c              *chart
	x0, y0, x1, y1 float64
}

func (a area) x(v float64) float64 {
	return a.x0 + (v-a.c.X.Min)/(a.c.X.Max-a.c.X.Min)*(a.x1-a.x0)
}

func (a area) y(v float64) float64 {
	return a.y1 - (v-a.c.Y.Min)/(a.c.Y.Max-a.c.Y.Min)*(a.y1-a.y0)
}

// class returns the CSS class of a tick's line.
func (t tick) class() string {
	if t.Label == "" {
		return "minor"
	}
	return "grid"
}

// grid draws ticks, their labels and the axes' names.
func (a area) grid(on canvas) {
	for _, t := range a.c.Y.ticks(7) {
		y := a.y(t.At)
		on.line(t.class(), a.x0, y, a.x1, y, "")
		on.text("tick", toEnd, a.x0-8, y+4.5, t.Label)
	}
	free := 0.0 // the left end of the next label must not be before this
	for _, t := range a.c.X.ticks(int((a.x1 - a.x0) / 90)) {
		x := a.x(t.At)
		on.line(t.class(), x, a.y0, x, a.y1, "")
		if t.Label != "" && x >= free {
			free = x + 40
			on.text("tick", middle, x, a.y1+18, t.Label)
		}
	}
	on.text("axis", middle, (a.x0+a.x1)/2, a.y1+38, a.c.X.Label)
	on.turned("axis", 15, (a.y0+a.y1)/2, a.c.Y.Label)
}

// band draws the confidence band of a line, in parts where it has gaps.
func (a area) band(on canvas, l line) {
	var points []point
	for from := 0; from < len(l.Lo); from++ {
		to := from
		for to < len(l.Lo) && !math.IsNaN(l.Lo[to]) && !math.IsNaN(l.Hi[to]) {
			to++
		}
		if to == from {
			continue
		}
		for i := from; i < to; i++ {
			points = append(points, point{x: a.x(l.X[i]), y: a.y(l.Hi[i]), begins: i == from})
		}
		for i := to - 1; i >= from; i-- {
			points = append(points, point{x: a.x(l.X[i]), y: a.y(l.Lo[i]), closes: i == from})
		}
		from = to
	}
	on.path(l.fill("band "), 0, points, "")
}

// line draws a line, broken at gaps. A point between two gaps is a dot.
func (a area) line(on canvas, l line) {
	var points []point
	var dots []int
	drawn := func(i int) bool { return i >= 0 && i < len(l.X) && !math.IsNaN(l.Y[i]) }
	for i := range l.X {
		switch {
		case !drawn(i):
			continue
		case l.Points || !drawn(i-1) && !drawn(i+1):
			dots = append(dots, i)
			continue
		case l.Dots:
			dots = append(dots, i)
		}
		if l.Steps && drawn(i-1) {
			points = append(points, point{x: a.x(l.X[i]), y: a.y(l.Y[i-1])})
		}
		points = append(points, point{x: a.x(l.X[i]), y: a.y(l.Y[i]), begins: !drawn(i - 1)})
	}
	on.path(l.stroke(), l.Dash, points, "")
	for _, i := range dots {
		on.circle(l.fill(""), 2.6, a.x(l.X[i]), a.y(l.Y[i]))
		if l.Signs != nil && l.Signs[i] != "" {
			on.text("mlabel", fromStart, a.x(l.X[i])+4, a.y(l.Y[i])-4, l.Signs[i])
		}
	}
}

// marks draws the single figures of a line.
func (a area) marks(on canvas, l line) {
	for i := range l.X {
		if !math.IsNaN(l.Y[i]) {
			diamond(on, l.Colour, a.x(l.X[i]), a.y(l.Y[i]), l.Name+": "+a.c.Y.text(l.Y[i]))
		}
	}
}

// moments draws the events, pauses and refusals that fall into the picture:
// pauses and refusals behind the lines, events before them.
func (a area) moments(on canvas, behind bool) {
	n := 0
	for _, m := range a.c.Moments {
		if m.To < a.c.X.Min || m.From > a.c.X.Max || (m.Pause || m.Refused) != behind {
			continue
		}
		from, to := a.x(max(m.From, a.c.X.Min)), a.x(min(m.To, a.c.X.Max))
		switch wide := max(to-from, 2); {
		case m.Refused:
			on.rect("refused", from, a.y0, wide, stripHeight, m.Label)
		case m.Pause && m.Strip:
			on.rect("pause", from, a.y1-stripHeight, wide, stripHeight, m.Label)
		case m.Pause:
			on.rect("pause", from, a.y0, wide, a.y1-a.y0, m.Label)
		default:
			on.line("moment", from, a.y0, from, a.y1, m.Label)
			on.text("mlabel", fromStart, from+3, a.y0+11+float64(n%4)*12, m.Mark)
			n++
		}
	}
}
