package report

import (
	"fmt"
	"html"
	"io"
	"math"
	"strconv"
	"strings"

	"sixnines/result"
)

// The size of a picture, in its own units.
const (
	svgWidth       = 1040
	svgHeight      = 420
	svgSmallWidth  = 520 // beside another
	svgSmallHeight = 340

	svgLeft   = 74.0
	svgRight  = 36.0
	svgBottom = 46.0
	svgTop    = 14.0

	stripHeight = 7.0 // of the marks at the foot and at the head
)

// SVG writes one picture as a file of its own: no scripts, no fonts, no
// references, light or dark as its viewer prefers. It draws at most the first
// eight runs.
func SVG(w io.Writer, runs []*result.Run, kind Kind, _ Options) error {
	c, err := chartOf(runs, kind)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, drawSVG(c, true)+"\n")
	return err
}

// svgPen writes SVG text.
type svgPen struct{ strings.Builder }

func (p *svgPen) f(format string, args ...any) { fmt.Fprintf(&p.Builder, format, args...) }

// drawSVG draws a fitted chart. Alone, it has a title, a background and
// colours of its own; within a page it takes the page's colours and leaves
// title and caption to it.
func drawSVG(c *chart, alone bool) string {
	var p svgPen
	width, height := svgWidth, svgHeight
	if c.Small {
		width, height = svgSmallWidth, svgSmallHeight
	}
	top := svgTop
	id := "svg-" + c.Key
	p.f(`<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 %d %d" role="img" aria-labelledby="%s-t %s-d"`, width, height, id, id)
	if alone {
		p.f(` width="%d" height="%d"`, width, height)
	}
	p.f(`><title id="%s-t">%s</title><desc id="%s-d">%s</desc>`, id, html.EscapeString(c.Title), id, html.EscapeString(c.Alt))
	if alone {
		p.WriteString(svgStyle())
		p.f(`<rect class="bg" width="%d" height="%d"/>`, width, height)
		p.f(`<text class="title" x="%g" y="24">%s</text>`, svgLeft, html.EscapeString(c.Title))
		top += 24
	}
	legend, rows := svgLegend(c, top+6, float64(width)-svgRight, alone)
	top += float64(rows)*18 + 6
	a := area{c, svgLeft, top, float64(width) - svgRight, float64(height) - svgBottom}
	a.moments(&p, true)
	a.grid(&p)
	p.f(`<clipPath id="%s-c"><rect x="%g" y="%g" width="%g" height="%g"/></clipPath>`, id, a.x0, a.y0-3, a.x1-a.x0, a.y1-a.y0+6)
	p.f(`<g clip-path="url(#%s-c)">`, id)
	for _, l := range c.Lines {
		a.band(&p, l)
	}
	for i := len(c.Lines) - 1; i >= 0; i-- { // the first line on top
		if !c.Lines[i].Marks {
			a.line(&p, c.Lines[i])
		}
	}
	p.WriteString(`</g>`)
	for _, l := range c.Lines {
		if l.Marks { // those at the edge are seen, too
			a.marks(&p, l)
		}
	}
	a.moments(&p, false)
	p.WriteString(legend)
	p.WriteString(`</svg>`)
	return p.String()
}

// svgStyle is the style of a picture that stands alone.
func svgStyle() string {
	var p svgPen
	p.WriteString(`<style>`)
	theme := func(bg, ink, soft, faint, bad string, palette [8]string) {
		p.f(`.bg{fill:%s}text{fill:%s}.axis,.tick{fill:%s}.grid,.minor{stroke:%s}.moment{stroke:%s}.pause{fill:%s}.mlabel{fill:%s}.refused{fill:%s}.mark,.whisker{stroke:%s}`, bg, ink, soft, faint, soft, soft, soft, bad, ink)
		for i, colour := range palette {
			p.f(`.c%d{stroke:%s}.f%d{fill:%s}`, i, colour, i, colour)
		}
	}
	p.WriteString(`text{font:13px system-ui,"Liberation Sans","DejaVu Sans",Arial,sans-serif}.title{font-weight:600;font-size:17px}.grid,.minor{stroke-width:1}.minor{stroke-opacity:.5}.line{fill:none;stroke-width:2;stroke-linejoin:round}.thin{stroke-width:1;stroke-opacity:.75}.band{fill-opacity:.16}.mark{stroke-width:1.5}.bar{fill-opacity:.75}.whisker{stroke-width:1.5;fill:none}.moment{stroke-dasharray:4 3}.pause{fill-opacity:.18}.mlabel{font-size:11px}`)
	theme("#ffffff", "#1c2430", "#5b6675", "#dfe3e8", "#b3261e", lightPalette)
	p.WriteString(`@media (prefers-color-scheme:dark){`)
	theme("#14181f", "#e8ecf2", "#9aa5b4", "#2c3440", "#ff8a80", darkPalette)
	p.WriteString(`}</style>`)
	return p.String()
}

// svgLegend draws the names of the lines from y on and tells how many rows
// they took. Widths are estimated: there is no font to measure.
func svgLegend(c *chart, y, right float64, alone bool) (string, int) {
	var p svgPen
	x, row := svgLeft, 0
	for _, l := range c.Lines {
		name := l.legend()
		if name == "" {
			continue
		}
		need := 34 + 6.9*float64(len([]rune(name))) + 18
		if x+need-18 > right && x > svgLeft {
			x = svgLeft
			row++
		}
		at := y + float64(row)*18
		switch {
		case l.Points:
			p.f(`<circle class="f%d" r="3" cx="%.1f" cy="%.1f"/>`, l.Colour, x+13, at)
		case l.Marks:
			diamond(&p, l.Colour, x+13, at, "")
		default:
			p.f(`<line class="line c%d" x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"%s/>`, l.Colour, x, x+26, at, at, dashAttribute(l.Dash))
		}
		p.f(`<text class="legend" x="%.1f" y="%.1f">%s</text>`, x+33, at+4.5, html.EscapeString(name))
		x += need
	}
	if alone { // no caption will name the events
		for _, m := range c.Moments {
			if m.Mark == "" || row > 5 {
				continue
			}
			name := m.Mark + " " + shorten(m.Label, 60)
			need := 6.9*float64(len([]rune(name))) + 18
			if x+need-18 > right && x > svgLeft {
				x = svgLeft
				row++
			}
			p.f(`<text class="axis" x="%.1f" y="%.1f">%s</text>`, x, y+float64(row)*18+4.5, html.EscapeString(name))
			x += need
		}
	}
	return p.String(), row + 1
}

func dashAttribute(d int) string {
	if dashes[d%len(dashes)] == "" {
		return ""
	}
	return ` stroke-dasharray="` + dashes[d%len(dashes)] + `"`
}

// diamond marks a single figure; title is what it is.
func diamond(p *svgPen, colour int, x, y float64, title string) {
	if title != "" {
		title = "<title>" + html.EscapeString(title) + "</title>"
	}
	p.f(`<path class="mark f%d" d="M%.1f %.1fl6 -6l6 6l-6 6z">%s</path>`, colour, x-6, y, title)
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

// grid draws ticks, their labels and the axes' names.
func (a area) grid(p *svgPen) {
	class := func(t tick) string {
		if t.Label == "" {
			return "minor"
		}
		return "grid"
	}
	for _, t := range a.c.Y.ticks(7) {
		y := a.y(t.At)
		p.f(`<line class="%s" x1="%g" x2="%g" y1="%.1f" y2="%.1f"/>`, class(t), a.x0, a.x1, y, y)
		if t.Label != "" {
			p.f(`<text class="tick" text-anchor="end" x="%g" y="%.1f">%s</text>`, a.x0-8, y+4.5, html.EscapeString(t.Label))
		}
	}
	free := 0.0 // where the next label may be
	for _, t := range a.c.X.ticks(int((a.x1 - a.x0) / 90)) {
		x := a.x(t.At)
		p.f(`<line class="%s" x1="%.1f" x2="%.1f" y1="%g" y2="%g"/>`, class(t), x, x, a.y0, a.y1)
		if t.Label != "" && x >= free {
			free = x + 40
			p.f(`<text class="tick" text-anchor="middle" x="%.1f" y="%g">%s</text>`, x, a.y1+18, html.EscapeString(t.Label))
		}
	}
	p.f(`<text class="axis" text-anchor="middle" x="%g" y="%g">%s</text>`, (a.x0+a.x1)/2, a.y1+38, html.EscapeString(a.c.X.Label))
	p.f(`<text class="axis" text-anchor="middle" transform="translate(15 %.1f) rotate(-90)">%s</text>`, (a.y0+a.y1)/2, html.EscapeString(a.c.Y.Label))
}

// band draws the confidence band of a line, in parts where it has gaps.
func (a area) band(p *svgPen, l line) {
	if l.Lo == nil {
		return
	}
	var d strings.Builder
	for from := 0; from < len(l.X); from++ {
		to := from
		for to < len(l.X) && !math.IsNaN(l.Lo[to]) && !math.IsNaN(l.Hi[to]) {
			to++
		}
		if to == from {
			continue
		}
		for i := from; i < to; i++ {
			a.to(&d, i == from, l.X[i], l.Hi[i])
		}
		for i := to - 1; i >= from; i-- {
			a.to(&d, false, l.X[i], l.Lo[i])
		}
		d.WriteByte('Z')
		from = to
	}
	p.f(`<path class="band f%d" d="%s"/>`, l.Colour, d.String())
}

// to appends a point to a path.
func (a area) to(d *strings.Builder, move bool, x, y float64) {
	letter := byte('L')
	if move {
		letter = 'M'
	}
	d.WriteByte(letter)
	d.WriteString(strconv.FormatFloat(a.x(x), 'f', 1, 64))
	d.WriteByte(' ')
	d.WriteString(strconv.FormatFloat(a.y(y), 'f', 1, 64))
}

// line draws a line, broken at gaps. A point between two gaps is a dot.
func (a area) line(p *svgPen, l line) {
	var d strings.Builder
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
			a.to(&d, false, l.X[i], l.Y[i-1])
		}
		a.to(&d, !drawn(i-1), l.X[i], l.Y[i])
	}
	thin := ""
	if l.Thin {
		thin = " thin"
	}
	if d.Len() > 0 {
		p.f(`<path class="line c%d%s"%s d="%s"/>`, l.Colour, thin, dashAttribute(l.Dash), d.String())
	}
	for _, i := range dots {
		p.f(`<circle class="f%d" r="2.6" cx="%.1f" cy="%.1f"/>`, l.Colour, a.x(l.X[i]), a.y(l.Y[i]))
	}
}

// marks draws the single figures of a line.
func (a area) marks(p *svgPen, l line) {
	for i := range l.X {
		if !math.IsNaN(l.Y[i]) {
			diamond(p, l.Colour, a.x(l.X[i]), a.y(l.Y[i]), l.Name+": "+a.c.Y.text(l.Y[i]))
		}
	}
}

// moments draws the events, pauses and refusals that fall into the picture:
// pauses and refusals behind the lines, events before them.
func (a area) moments(p *svgPen, behind bool) {
	n := 0
	for _, m := range a.c.Moments {
		if m.To < a.c.X.Min || m.From > a.c.X.Max || (m.Pause || m.Refused) != behind {
			continue
		}
		from, to := a.x(max(m.From, a.c.X.Min)), a.x(min(m.To, a.c.X.Max))
		title := "<title>" + html.EscapeString(m.Label) + "</title>"
		if m.Refused {
			p.f(`<rect class="refused" x="%.1f" y="%g" width="%.1f" height="%g">%s</rect>`, from, a.y0, max(to-from, 2), stripHeight, title)
			continue
		}
		if m.Pause {
			top := a.y0
			if m.Strip {
				top = a.y1 - stripHeight
			}
			p.f(`<rect class="pause" x="%.1f" y="%g" width="%.1f" height="%g">%s</rect>`, from, top, max(to-from, 2), a.y1-top, title)
			continue
		}
		p.f(`<line class="moment" x1="%.1f" x2="%.1f" y1="%g" y2="%g">%s</line>`, from, from, a.y0, a.y1, title)
		p.f(`<text class="mlabel" x="%.1f" y="%.1f">%s</text>`, from+3, a.y0+11+float64(n%4)*12, html.EscapeString(m.Mark))
		n++
	}
}
