package report

import (
	"fmt"
	"image/color"
	"io"
	"math"

	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"git.sr.ht/~sbinet/gg"
	"golang.org/x/image/font"
	"golang.org/x/image/font/opentype"

	"sixnines/result"
)

// The size of a PNG picture in pixels, and in the units of an SVG picture, which
// it is laid out like.
const (
	pngWidth  = 1600
	pngHeight = 704
	pngScale  = float64(pngWidth) / svgWidth // pixels a unit
	pngFoot   = pngHeight / pngScale
)

// PNG writes one picture as a bitmap on white. It draws at most the first
// eight runs.
func PNG(w io.Writer, runs []*result.Run, kind Kind, _ Options) error {
	c, err := chartOf(runs, kind)
	if err != nil {
		return err
	}
	p, err := newPNGPen()
	if err != nil {
		return fmt.Errorf("png: %w", err)
	}
	p.draw(c)
	return p.EncodePNG(w)
}

// pngPen draws in the units of SVG pictures.
type pngPen struct {
	*gg.Context
	ink, soft, bad     color.Color
	title, label, mark font.Face
}

func newPNGPen() (*pngPen, error) {
	p := &pngPen{Context: gg.NewContext(pngWidth, pngHeight),
		ink: hex("#1c2430", 255), soft: hex("#5b6675", 255), bad: hex("#b3261e", 255)}
	for _, f := range []struct {
		face *font.Face
		ttf  []byte
		size float64
	}{{&p.title, liberationsansbold.TTF, 17}, {&p.label, liberationsansregular.TTF, 13}, {&p.mark, liberationsansregular.TTF, 11}} {
		parsed, err := opentype.Parse(f.ttf)
		if err != nil {
			return nil, err
		}
		if *f.face, err = opentype.NewFace(parsed, &opentype.FaceOptions{Size: f.size * pngScale, DPI: 72}); err != nil {
			return nil, err
		}
	}
	p.SetLineJoinRound()
	p.SetLineCapButt()
	return p, nil
}

// hex reads a colour of the palette.
func hex(s string, alpha uint8) color.NRGBA {
	c := color.NRGBA{A: alpha}
	if _, err := fmt.Sscanf(s, "#%02x%02x%02x", &c.R, &c.G, &c.B); err != nil {
		panic("report: colour " + s + ": " + err.Error()) // a constant of this package
	}
	return c
}

// draw draws a fitted chart: title, legend, and below them the plot.
func (p *pngPen) draw(c *chart) {
	p.SetColor(color.White)
	p.Clear()
	p.text(p.title, p.ink, svgLeft, 24, 0, c.Title)
	top := svgTop + 24
	top += p.legend(c, top+6) + 6
	a := area{c, svgLeft, top, svgWidth - svgRight, pngFoot - svgBottom}
	p.moments(a, true)
	p.grid(a)
	p.DrawRectangle(a.x0*pngScale, (a.y0-3)*pngScale, (a.x1-a.x0)*pngScale, (a.y1-a.y0+6)*pngScale)
	p.Clip()
	for _, l := range c.Lines {
		p.band(a, l)
	}
	for i := len(c.Lines) - 1; i >= 0; i-- { // the first line on top
		p.line(a, c.Lines[i])
	}
	p.ResetClip()
	p.moments(a, false)
}

// text writes s on the baseline y, from x on (anchor 0), around it (0.5) or up to
// it (1), and returns its width.
func (p *pngPen) text(face font.Face, c color.Color, x, y, anchor float64, s string) float64 {
	p.SetFontFace(face)
	p.SetColor(c)
	p.DrawStringAnchored(s, x*pngScale, y*pngScale, anchor, 0)
	return p.width(face, s)
}

func (p *pngPen) width(face font.Face, s string) float64 {
	p.SetFontFace(face)
	w, _ := p.MeasureString(s)
	return w / pngScale
}

// rule draws a straight line.
func (p *pngPen) rule(c color.Color, width, x0, y0, x1, y1 float64) {
	p.SetColor(c)
	p.SetLineWidth(width * pngScale)
	p.DrawLine(x0*pngScale, y0*pngScale, x1*pngScale, y1*pngScale)
	p.Stroke()
}

// bar fills a rectangle.
func (p *pngPen) bar(c color.Color, x, y, width, height float64) {
	p.SetColor(c)
	p.DrawRectangle(x*pngScale, y*pngScale, width*pngScale, height*pngScale)
	p.Fill()
}

// to goes on with a path, or begins one.
func (p *pngPen) to(begin bool, x, y float64) {
	if begin {
		p.MoveTo(x*pngScale, y*pngScale)
	} else {
		p.LineTo(x*pngScale, y*pngScale)
	}
}

// legend writes the names of the lines and of the events from y on, and returns
// the height they took.
func (p *pngPen) legend(c *chart, y float64) float64 {
	const row, gap = 18, 18
	x, first := svgLeft, y
	place := func(width float64) {
		if x+width > svgWidth-svgRight && x > svgLeft {
			x, y = svgLeft, y+row
		}
	}
	for _, l := range c.Lines {
		name := l.legend()
		if name == "" {
			continue
		}
		place(33 + p.width(p.label, name))
		p.look(l)
		p.to(true, x, y)
		p.to(false, x+26, y)
		p.Stroke()
		p.SetDash()
		x += 33 + p.text(p.label, p.ink, x+33, y+4.5, 0, name) + gap
	}
	for _, m := range c.Moments {
		if m.Mark == "" || y > first+4*row {
			continue
		}
		name := m.Mark + " " + shorten(m.Label, 60)
		place(p.width(p.label, name))
		x += p.text(p.label, p.soft, x, y+4.5, 0, name) + gap
	}
	return y - first + row
}

// look sets colour, width and dashes of a line. Who strokes it ends the dashes.
func (p *pngPen) look(l line) {
	p.SetColor(hex(lightPalette[l.Colour%len(lightPalette)], 255))
	p.SetLineWidth(2 * pngScale)
	if l.Thin {
		p.SetLineWidth(pngScale)
	}
	var lengths []float64
	for _, d := range dashLengths(l.Dash) {
		lengths = append(lengths, d*pngScale)
	}
	p.SetDash(lengths...)
}

// grid draws ticks, their labels and the axes' names.
func (p *pngPen) grid(a area) {
	faint := func(t tick) color.Color {
		if t.Label == "" {
			return hex("#dfe3e8", 128)
		}
		return hex("#dfe3e8", 255)
	}
	for _, t := range a.c.Y.ticks(7) {
		y := a.y(t.At)
		p.rule(faint(t), 1, a.x0, y, a.x1, y)
		p.text(p.label, p.soft, a.x0-8, y+4.5, 1, t.Label)
	}
	free := 0.0 // where the next label may be
	for _, t := range a.c.X.ticks(10) {
		x := a.x(t.At)
		p.rule(faint(t), 1, x, a.y0, x, a.y1)
		if t.Label != "" && x >= free {
			free = x + 40
			p.text(p.label, p.soft, x, a.y1+18, 0.5, t.Label)
		}
	}
	p.text(p.label, p.soft, (a.x0+a.x1)/2, a.y1+38, 0.5, a.c.X.Label)
	p.Push()
	p.RotateAbout(-math.Pi/2, 15*pngScale, (a.y0+a.y1)/2*pngScale)
	p.text(p.label, p.soft, 15, (a.y0+a.y1)/2, 0.5, a.c.Y.Label)
	p.Pop()
}

// band fills the confidence band of a line, in parts where it has gaps.
func (p *pngPen) band(a area, l line) {
	p.SetColor(hex(lightPalette[l.Colour%len(lightPalette)], 41))
	for from := 0; from < len(l.Lo); from++ {
		to := from
		for to < len(l.Lo) && !math.IsNaN(l.Lo[to]) && !math.IsNaN(l.Hi[to]) {
			to++
		}
		for i := from; i < to; i++ {
			p.to(i == from, a.x(l.X[i]), a.y(l.Hi[i]))
		}
		for i := to - 1; i >= from; i-- {
			p.to(false, a.x(l.X[i]), a.y(l.Lo[i]))
		}
		p.Fill()
		from = to
	}
}

// line draws a line, broken at gaps. Values below the floor, as empty bins of a
// histogram have, are drawn on it.
func (p *pngPen) line(a area, l line) {
	p.look(l)
	gap, last := true, 0.0
	for i := range l.X {
		if math.IsNaN(l.Y[i]) {
			gap = true
			continue
		}
		x, y := a.x(l.X[i]), a.y(max(l.Y[i], a.c.Y.Min))
		if l.Steps && !gap {
			p.to(false, x, last)
		}
		p.to(gap, x, y)
		gap, last = false, y
	}
	p.Stroke()
	p.SetDash()
	for i := range l.X {
		if l.Dots && !math.IsNaN(l.Y[i]) {
			p.DrawCircle(a.x(l.X[i])*pngScale, a.y(l.Y[i])*pngScale, 2.6*pngScale)
			p.Fill()
		}
	}
}

// moments draws the events, pauses and refusals that fall into the picture:
// pauses and refusals behind the lines, events before them.
func (p *pngPen) moments(a area, behind bool) {
	n := 0
	for _, m := range a.c.Moments {
		if m.To < a.c.X.Min || m.From > a.c.X.Max || (m.Pause || m.Refused) != behind || !behind && m.Mark == "" {
			continue
		}
		from, to := a.x(max(m.From, a.c.X.Min)), a.x(min(m.To, a.c.X.Max))
		switch {
		case m.Refused:
			p.bar(p.bad, from, a.y0, max(to-from, 2), stripHeight)
		case m.Pause && m.Strip:
			p.bar(hex("#5b6675", 46), from, a.y1-stripHeight, max(to-from, 2), stripHeight)
		case m.Pause:
			p.bar(hex("#5b6675", 46), from, a.y0, max(to-from, 2), a.y1-a.y0)
		default:
			p.SetDash(4*pngScale, 3*pngScale)
			p.rule(p.soft, 1, from, a.y0, from, a.y1)
			p.SetDash()
			p.text(p.mark, p.soft, from+3, a.y0+11+float64(n%4)*12, 0, m.Mark)
			n++
		}
	}
}
