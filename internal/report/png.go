package report

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"strings"

	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"git.sr.ht/~sbinet/gg"
	"golang.org/x/image/font"
	"golang.org/x/image/font/opentype"

	"sixnines/result"
)

// The size of a PNG picture in pixels, and how many of them a unit has.
const (
	pngWidth  = 1600
	pngHeight = 704
	pngScale  = float64(pngWidth) / svgWidth
)

// writePNG writes one picture as a bitmap on white. It draws at most the first
// eight runs.
func writePNG(w io.Writer, runs []*result.Run, kind Kind, _ Options) error {
	c, err := chartOf(runs, kind)
	if err != nil {
		return err
	}
	p, err := newPNG()
	if err != nil {
		return fmt.Errorf("png: %w", err)
	}
	drawChart(p, c, svgWidth, pngHeight/pngScale, true)
	return p.EncodePNG(w)
}

// pngCanvas is a bitmap as it grows.
type pngCanvas struct {
	*gg.Context
	faces map[string]font.Face // by class
}

func newPNG() (*pngCanvas, error) {
	p := &pngCanvas{Context: gg.NewContext(pngWidth, pngHeight), faces: map[string]font.Face{}}
	for class, size := range map[string]float64{"title": 17, "legend": 13, "axis": 13, "tick": 13, "mlabel": 11} {
		ttf := liberationsansregular.TTF
		if class == "title" {
			ttf = liberationsansbold.TTF
		}
		parsed, err := opentype.Parse(ttf)
		if err != nil {
			return nil, err
		}
		if p.faces[class], err = opentype.NewFace(parsed, &opentype.FaceOptions{Size: size * pngScale, DPI: 72}); err != nil {
			return nil, err
		}
	}
	p.SetLineJoinRound()
	p.SetLineCapButt()
	p.SetColor(color.White)
	p.Clear()
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

// look sets colour, width and dashes as a class has them.
func (p *pngCanvas) look(class string, dash int) {
	colour, alpha, width, lengths := lightTheme.ink, uint8(255), 1.0, dashLengths(dash)
	for _, word := range strings.Fields(class) {
		switch word {
		case "grid":
			colour = lightTheme.faint
		case "minor":
			colour, alpha = lightTheme.faint, 128
		case "axis", "tick", "mlabel":
			colour = lightTheme.soft
		case "moment":
			colour, lengths = lightTheme.soft, []float64{4, 3}
		case "pause":
			colour, alpha = lightTheme.soft, 46
		case "refused":
			colour = lightTheme.bad
		case "band":
			alpha = 41
		case "line":
			width = 2
		case "thin":
			width = 1
		default:
			for i, c := range lightPalette {
				if word == fmt.Sprintf("c%d", i) || word == fmt.Sprintf("f%d", i) {
					colour = c
				}
			}
		}
	}
	p.SetColor(hex(colour, alpha))
	p.SetLineWidth(width * pngScale)
	for i := range lengths {
		lengths[i] *= pngScale
	}
	p.SetDash(lengths...)
}

func (p *pngCanvas) line(class string, x0, y0, x1, y1 float64, _ string) {
	p.look(class, 0)
	p.DrawLine(x0*pngScale, y0*pngScale, x1*pngScale, y1*pngScale)
	p.Stroke()
}

func (p *pngCanvas) rect(class string, x, y, width, height float64, _ string) {
	p.look(class, 0)
	p.DrawRectangle(x*pngScale, y*pngScale, width*pngScale, height*pngScale)
	p.Fill()
}

func (p *pngCanvas) circle(class string, r, x, y float64) {
	p.look(class, 0)
	p.DrawCircle(x*pngScale, y*pngScale, r*pngScale)
	p.Fill()
}

func (p *pngCanvas) path(class string, dash int, points []point, _ string) {
	p.look(class, dash)
	for _, x := range points {
		if x.begins {
			p.MoveTo(x.x*pngScale, x.y*pngScale)
		} else {
			p.LineTo(x.x*pngScale, x.y*pngScale)
		}
		if x.closes {
			p.ClosePath()
		}
	}
	if strings.HasPrefix(class, "line") {
		p.Stroke()
	} else {
		p.Fill()
	}
}

func (p *pngCanvas) text(class string, a anchor, x, y float64, text string) {
	p.look(class, 0)
	p.SetFontFace(p.faces[class])
	p.DrawStringAnchored(text, x*pngScale, y*pngScale, map[anchor]float64{middle: 0.5, toEnd: 1}[a], 0)
}

func (p *pngCanvas) turned(class string, x, y float64, text string) {
	p.Push()
	p.RotateAbout(-math.Pi/2, x*pngScale, y*pngScale)
	p.text(class, middle, x, y, text)
	p.Pop()
}

func (p *pngCanvas) width(text string) float64 {
	p.SetFontFace(p.faces["legend"])
	w, _ := p.MeasureString(text)
	return w / pngScale
}

func (p *pngCanvas) clip(x, y, width, height float64, draw func()) {
	p.DrawRectangle(x*pngScale, y*pngScale, width*pngScale, height*pngScale)
	p.Clip()
	draw()
	p.ResetClip()
}
