package report

import (
	"fmt"
	"image/color"
	"io"
	"math"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"sixnines/result"
)

// The size of a PNG picture: 10 by 4.4 inches at 160 dots an inch, 1600 × 704
// pixels.
const (
	pngWidth  = 10 * vg.Inch
	pngHeight = 4.4 * vg.Inch
	pngDPI    = 160
)

// PNG writes one picture as a bitmap on white. It draws at most the first
// eight runs.
func PNG(w io.Writer, runs []*result.Run, kind Kind, _ Options) error {
	c, err := chartOf(runs, kind)
	if err != nil {
		return err
	}
	canvas := vgimg.NewWith(vgimg.UseWH(pngWidth, pngHeight), vgimg.UseDPI(pngDPI))
	if err := drawPNG(draw.New(canvas), c); err != nil {
		return fmt.Errorf("png: %w", err)
	}
	_, err = vgimg.PngCanvas{Canvas: canvas}.WriteTo(w)
	return err
}

// sans is a text style of the pictures.
func sans(points vg.Length, weight font.Font, c color.Color) text.Style {
	weight.Typeface, weight.Variant, weight.Size = "Liberation", "Sans", points
	return text.Style{Color: c, Font: weight, Handler: plot.DefaultTextHandler, YAlign: draw.YCenter}
}

// hex reads a colour of the palette.
func hex(s string, alpha uint8) color.NRGBA {
	c := color.NRGBA{A: alpha}
	if _, err := fmt.Sscanf(s, "#%02x%02x%02x", &c.R, &c.G, &c.B); err != nil {
		panic("report: colour " + s + ": " + err.Error()) // a constant of this package
	}
	return c
}

// drawPNG draws a fitted chart: title, legend, and below them the plot.
func drawPNG(dc draw.Canvas, c *chart) error {
	dc.SetColor(color.White)
	dc.Fill(dc.Rectangle.Path())
	ink, soft := hex("#1c2430", 255), hex("#5b6675", 255)
	dc = draw.Crop(dc, vg.Points(10), -vg.Points(14), vg.Points(8), -vg.Points(10))

	title := sans(14, font.Font{Weight: xfont.WeightBold}, ink)
	title.YAlign = draw.YTop
	dc.FillText(title, vg.Point{X: dc.Min.X, Y: dc.Max.Y}, c.Title)
	used := vg.Points(26) + pngLegend(draw.Crop(dc, 0, 0, 0, -vg.Points(30)), c, sans(10, font.Font{}, ink))

	p := plot.New()
	p.BackgroundColor = nil
	label := sans(10, font.Font{}, soft)
	for _, a := range []struct {
		axis  *plot.Axis
		from  axis
		ticks []tick
	}{{&p.X, c.X, c.X.ticks(10)}, {&p.Y, c.Y, c.Y.ticks(7)}} {
		a.axis.Min, a.axis.Max = a.from.Min, a.from.Max
		a.axis.Label.Text = a.from.Label
		rotation, x, y := a.axis.Label.TextStyle.Rotation, a.axis.Label.TextStyle.XAlign, a.axis.Label.TextStyle.YAlign
		a.axis.Label.TextStyle = label
		a.axis.Label.TextStyle.Rotation, a.axis.Label.TextStyle.XAlign, a.axis.Label.TextStyle.YAlign = rotation, x, y
		x, y = a.axis.Tick.Label.XAlign, a.axis.Tick.Label.YAlign
		a.axis.Tick.Label = label
		a.axis.Tick.Label.XAlign, a.axis.Tick.Label.YAlign = x, y
		a.axis.Tick.LineStyle.Width, a.axis.LineStyle.Width = 0, 0
		a.axis.Padding, a.axis.Tick.Length = 0, vg.Points(5)
		var ticks plot.ConstantTicks
		for _, t := range a.ticks {
			if t.At >= a.from.Min-1e-9 && t.At <= a.from.Max+1e-9 {
				ticks = append(ticks, plot.Tick{Value: t.At, Label: t.Label})
			}
		}
		a.axis.Tick.Marker = ticks
	}
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = hex("#dfe3e8", 255), hex("#dfe3e8", 255)
	p.Add(grid)
	if err := pngSeries(p, c); err != nil {
		return err
	}
	p.Draw(draw.Crop(dc, 0, 0, 0, -used))
	return nil
}

// pngLegend writes the names of the lines and of the events from the top of
// the canvas on, and returns the height they took.
func pngLegend(dc draw.Canvas, c *chart, style text.Style) vg.Length {
	const rowHeight, swatch, gap = 15, 24, 16
	x, y := dc.Min.X, dc.Max.Y
	place := func(width vg.Length) {
		if x+width > dc.Max.X && x > dc.Min.X {
			x, y = dc.Min.X, y-rowHeight
		}
	}
	for _, l := range c.Lines {
		name := l.legend()
		if name == "" {
			continue
		}
		place(swatch + 6 + style.Width(name))
		dc.StrokeLine2(pngLine(l), x, y, x+swatch, y)
		dc.FillText(style, vg.Point{X: x + swatch + 6, Y: y}, name)
		x += swatch + 6 + style.Width(name) + gap
	}
	for _, m := range c.Moments {
		if m.Mark == "" || y < dc.Max.Y-4*rowHeight {
			continue
		}
		name := m.Mark + " " + shorten(m.Label, 60)
		place(style.Width(name))
		dc.FillText(style, vg.Point{X: x, Y: y}, name)
		x += style.Width(name) + gap
	}
	return dc.Max.Y - y + rowHeight
}

// pngLine is how a line looks.
func pngLine(l line) draw.LineStyle {
	s := draw.LineStyle{Color: hex(lightPalette[l.Colour%len(lightPalette)], 255), Width: vg.Points(1.6)}
	if l.Thin {
		s.Width = vg.Points(0.7)
	}
	for _, d := range dashLengths(l.Dash) {
		s.Dashes = append(s.Dashes, vg.Points(d*0.8))
	}
	return s
}

// pngSeries adds bands, moments and lines to the plot.
func pngSeries(p *plot.Plot, c *chart) error {
	for _, m := range c.Moments {
		if !m.Pause && !m.Refused || m.From > c.X.Max || m.To < c.X.Min {
			continue
		}
		from, to := max(m.From, c.X.Min), min(max(m.To, m.From+(c.X.Max-c.X.Min)/400), c.X.Max)
		foot, top, fill := c.Y.Min, c.Y.Max, hex("#5b6675", 50)
		switch strip := (c.Y.Max - c.Y.Min) * 0.02; {
		case m.Refused:
			foot, fill = top-strip, hex("#b3261e", 255)
		case m.Strip:
			top = foot + strip
		}
		if err := pngArea(p, plotter.XYs{{X: from, Y: foot}, {X: from, Y: top}, {X: to, Y: top}, {X: to, Y: foot}}, fill); err != nil {
			return err
		}
	}
	for _, l := range c.Lines {
		if l.Lo == nil {
			continue
		}
		var edge plotter.XYs
		for i := range l.X {
			edge = append(edge, plotter.XY{X: l.X[i], Y: l.Hi[i]})
		}
		for i := len(l.X) - 1; i >= 0; i-- {
			edge = append(edge, plotter.XY{X: l.X[i], Y: l.Lo[i]})
		}
		if err := pngArea(p, edge, hex(lightPalette[l.Colour%len(lightPalette)], 41)); err != nil {
			return err
		}
	}
	for i := len(c.Lines) - 1; i >= 0; i-- { // the first line on top
		for _, part := range parts(c.Lines[i], c.Y.Min) {
			drawn, err := plotter.NewLine(part)
			if err != nil {
				return err
			}
			drawn.LineStyle = pngLine(c.Lines[i])
			p.Add(drawn)
		}
	}
	return pngEvents(p, c)
}

// pngArea adds a filled area.
func pngArea(p *plot.Plot, edge plotter.XYs, fill color.Color) error {
	area, err := plotter.NewPolygon(edge)
	if err != nil {
		return err
	}
	area.Color, area.LineStyle.Width = fill, 0
	p.Add(area)
	return nil
}

// pngEvents adds the lines of events with their numbers.
func pngEvents(p *plot.Plot, c *chart) error {
	n := 0
	for _, m := range c.Moments {
		if m.Mark == "" || m.From < c.X.Min || m.From > c.X.Max {
			continue
		}
		drawn, err := plotter.NewLine(plotter.XYs{{X: m.From, Y: c.Y.Min}, {X: m.From, Y: c.Y.Max}})
		if err != nil {
			return err
		}
		drawn.LineStyle = draw.LineStyle{Color: hex("#5b6675", 255), Width: vg.Points(0.8), Dashes: []vg.Length{3, 2}}
		labels, err := plotter.NewLabels(plotter.XYLabels{XYs: plotter.XYs{{X: m.From, Y: c.Y.Max}}, Labels: []string{m.Mark}})
		if err != nil {
			return err
		}
		labels.TextStyle[0] = sans(9, font.Font{}, hex("#5b6675", 255))
		labels.Offset = vg.Point{X: 3, Y: vg.Length(-6 - n%4*10)}
		n++
		p.Add(drawn, labels)
	}
	return nil
}

// parts splits a line at its gaps; steps become corners. Values below the
// floor, as empty bins of a histogram have, are drawn on it.
func parts(l line, floor float64) []plotter.XYs {
	var out []plotter.XYs
	var part plotter.XYs
	for i := range l.X {
		if math.IsNaN(l.Y[i]) {
			if len(part) > 0 {
				out = append(out, part)
			}
			part = nil
			continue
		}
		y := max(l.Y[i], floor)
		if l.Steps && len(part) > 0 {
			part = append(part, plotter.XY{X: l.X[i], Y: part[len(part)-1].Y})
		}
		part = append(part, plotter.XY{X: l.X[i], Y: y})
	}
	if len(part) > 0 {
		out = append(out, part)
	}
	return out
}
