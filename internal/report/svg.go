package report

import (
	"cmp"
	"fmt"
	"html"
	"io"
	"strings"
	"unicode/utf8"

	"sixnines/result"
)

// The size of a picture, in its own units.
const (
	svgWidth       = 1040
	svgHeight      = 420
	svgSmallWidth  = 520 // beside another
	svgSmallHeight = 340

	svgLeft   = 82.0
	svgRight  = 36.0
	svgBottom = 46.0
	svgTop    = 14.0

	stripHeight = 7.0 // of the marks at the foot and at the head
)

// writeSVG writes one picture as a file of its own: no scripts, no fonts, no
// references, light or dark as its viewer prefers. It draws at most the first
// eight runs.
func writeSVG(w io.Writer, runs []*result.Run, kind Kind, _ Options) error {
	c, err := chartOf(runs, kind)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, drawSVG(c, true)+"\n")
	return err
}

// markup is text that means what it is where a pen writes it.
type markup string

// pen writes HTML and SVG, or what else escape is for. Strings that it is given are
// escaped.
type pen struct {
	strings.Builder
	escape func(string) string // nil: for HTML
}

func (p *pen) f(format string, args ...any) {
	escape := p.escape
	if escape == nil {
		escape = html.EscapeString
	}
	for i, a := range args {
		if s, ok := a.(string); ok {
			args[i] = escape(s)
		}
	}
	fmt.Fprintf(&p.Builder, format, args...)
}

// drawSVG draws a fitted chart. Alone, it has a title, a background and
// colours of its own; within a page it takes the page's colours and leaves
// title and caption to it.
func drawSVG(c *chart, alone bool) string {
	width, height := float64(svgWidth), float64(svgHeight)
	if c.Small {
		width, height = svgSmallWidth, svgSmallHeight
	}
	s := newSVG("chart", c.Key, c.Title, cmp.Or(c.Alt, c.inWords()), width, height, alone)
	drawChart(s, c, width, height, alone)
	return s.end()
}

// svgCanvas is an SVG element as it grows.
type svgCanvas struct {
	pen
	id string
}

// newSVG begins an element. Alone, it has a background and colours of its own.
func newSVG(class, key, title, alt string, width, height float64, alone bool) *svgCanvas {
	s := &svgCanvas{id: "svg-" + key}
	s.f(`<svg xmlns="http://www.w3.org/2000/svg" class="%s" viewBox="0 0 %.0f %.0f" role="img" aria-labelledby="%s-t %s-d"`, class, width, height, s.id, s.id)
	if alone {
		s.f(` width="%.0f" height="%.0f"`, width, height)
	}
	s.f(`><title id="%s-t">%s</title><desc id="%s-d">%s</desc>`, s.id, title, s.id, alt)
	if alone {
		s.WriteString(svgStyle())
		s.f(`<rect class="bg" width="%.0f" height="%.0f"/>`, width, height)
	}
	return s
}

func (s *svgCanvas) end() string {
	s.WriteString(`</svg>`)
	return s.String()
}

// close ends an element of a name, with its title if it has one.
func (s *svgCanvas) close(name, title string) {
	if title == "" {
		s.WriteString("/>")
		return
	}
	s.f("><title>%s</title></%s>", title, name)
}

func (s *svgCanvas) line(class string, x0, y0, x1, y1 float64, title string) {
	s.f(`<line class="%s" x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"`, class, x0, x1, y0, y1)
	s.close("line", title)
}

func (s *svgCanvas) rect(class string, x, y, width, height float64, title string) {
	s.f(`<rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f"`, class, x, y, width, height)
	s.close("rect", title)
}

func (s *svgCanvas) circle(class string, r, x, y float64) {
	s.f(`<circle class="%s" r="%g" cx="%.1f" cy="%.1f"/>`, class, r, x, y)
}

func (s *svgCanvas) path(class string, dash int, points []point, title string) {
	if len(points) == 0 {
		return
	}
	s.f(`<path class="%s"`, class)
	if d := dashes[dash%len(dashes)]; d != "" {
		s.f(` stroke-dasharray="%s"`, d)
	}
	s.WriteString(` d="`)
	for _, p := range points {
		letter := 'L'
		if p.begins {
			letter = 'M'
		}
		s.f("%c%.1f %.1f", letter, p.x, p.y)
		if p.closes {
			s.WriteByte('Z')
		}
	}
	s.WriteByte('"')
	s.close("path", title)
}

func (s *svgCanvas) text(class string, a anchor, x, y float64, text string) {
	if text != "" {
		s.f(`<text class="%s"%s x="%.1f" y="%.1f">%s</text>`, class, a, x, y, text)
	}
}

func (s *svgCanvas) turned(class string, x, y float64, text string) {
	s.f(`<text class="%s"%s transform="translate(%.0f %.1f) rotate(-90)">%s</text>`, class, middle, x, y, text)
}

// width is estimated: there is no font to measure.
func (s *svgCanvas) width(text string) float64 { return 6.9 * float64(utf8.RuneCountInString(text)) }

func (s *svgCanvas) clip(x, y, width, height float64, draw func()) {
	s.f(`<clipPath id="%s-c"><rect x="%.1f" y="%.1f" width="%.1f" height="%.1f"/></clipPath><g clip-path="url(#%s-c)">`, s.id, x, y, width, height, s.id)
	draw()
	s.WriteString(`</g>`)
}

// theme is the colours of a picture.
type theme struct {
	background, ink, soft, faint, bad string
	palette                           [8]string
}

var (
	lightTheme = theme{"#ffffff", "#1c2430", "#5b6675", "#dfe3e8", "#b3261e", lightPalette}
	darkTheme  = theme{"#14181f", "#e8ecf2", "#9aa5b4", "#2c3440", "#ff8a80", darkPalette}
)

// rules are a theme as a style sheet has it.
func (t theme) rules() string {
	var p pen
	p.f(`.bg{fill:%s}text{fill:%s}.axis,.tick{fill:%s}.grid,.minor{stroke:%s}.moment{stroke:%s}.pause{fill:%s}.mlabel{fill:%s}.refused{fill:%s}.mark,.whisker{stroke:%s}`,
		t.background, t.ink, t.soft, t.faint, t.soft, t.soft, t.soft, t.bad, t.ink)
	for i, colour := range t.palette {
		p.f(`.c%d{stroke:%s}.f%d{fill:%s}`, i, colour, i, colour)
	}
	return p.String()
}

// svgStyle is the style of a picture that stands alone.
func svgStyle() string {
	return `<style>text{font:13px system-ui,"Liberation Sans","DejaVu Sans",Arial,sans-serif}.title{font-weight:600;font-size:17px}.grid,.minor{stroke-width:1}.minor{stroke-opacity:.5}.line{fill:none;stroke-width:2;stroke-linejoin:round}.thin{stroke-width:1;stroke-opacity:.75}.band{fill-opacity:.16}.mark{stroke-width:1.5}.bar{fill-opacity:.75}.whisker{stroke-width:1.5;fill:none}.moment{stroke-dasharray:4 3}.pause{fill-opacity:.18}.mlabel{font-size:11px}` +
		lightTheme.rules() + `@media (prefers-color-scheme:dark){` + darkTheme.rules() + `}</style>`
}
