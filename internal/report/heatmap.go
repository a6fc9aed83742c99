package report

import (
	"fmt"
	"math"
	"unicode/utf8"
)

// heatSteps is how many colours a heat map has.
const heatSteps = 8

// heatDark is the last colour on which numbers have the same text colour as on the first.
const heatDark = 4

// mostHeat is the largest number of columns, and of rows, of a heat map: with more, cells
// would be too small to distinguish.
const mostHeat = 60

// heatmap is one figure over two axes: a cell for each combination of their values,
// coloured by the logarithm of the figure, with the number in it if it fits.
type heatmap struct {
	Key        string // for anchors
	Title      string
	Caption    string
	Alt        string // what a reader who does not see it should know
	Across, Up string // what the columns and the rows are
	Columns    []string
	Rows       []string     // from the top
	Cells      [][]heatCell // by row and column
	Colours    axis         // of the logarithm, fitted
}

// heatCell is one cell of a heat map.
type heatCell struct {
	Value float64 // above 0; 0: no number, and State says why
	Text  string  // the number as the table has it
	State heatState
	// Partly says that some of the rounds are not in the number: they were UNSTABLE,
	// refused or INVALID.
	Partly bool
	Title  string // all of it, in words
}

// heatState is the state of a cell, beside its number or instead of one.
type heatState string

const (
	heatNumber     heatState = ""
	heatOverloaded heatState = "UNSTABLE" // in a cell with a number: half of the rounds or more were UNSTABLE
	heatRefused    heatState = "refused"
	heatInvalid    heatState = "INVALID"
	heatNone       heatState = "no figure" // too few messages, not measured, or not made
)

// fit chooses the range of the colours. It reports whether the map can be drawn: it needs
// a number, and at least two rows and two columns.
func (h *heatmap) fit() bool {
	e := extent{math.Inf(1), math.Inf(-1)}
	for _, row := range h.Cells {
		for _, c := range row {
			if c.Value > 0 {
				e.add(math.Log10(c.Value))
			}
		}
	}
	if len(h.Columns) < 2 || len(h.Rows) < 2 || e.min > e.max {
		return false
	}
	h.Colours.round(e)
	return true
}

// step is the colour of a number, from 0.
func (h *heatmap) step(v float64) int {
	share := (math.Log10(v) - h.Colours.Min) / (h.Colours.Max - h.Colours.Min)
	return min(max(int(share*heatSteps), 0), heatSteps-1)
}

const (
	heatRight  = 16.0
	heatLetter = 7.6  // estimated width of a letter at 13 px in a wide font, since no font can be measured
	heatScale  = 42.0 // height of the colours with their values
	heatMarks  = 20.0 // of a row of marks
)

// heatLayout is where the parts of a heat map are.
type heatLayout struct {
	width, height   float64
	x0, y0          float64 // of the first cell
	column, row     float64 // size of a cell
	turned          bool    // the columns' labels do not fit side by side
	lying           bool    // the rows' name is longer than they are high: it stands above them
	size            float64 // of the numbers, px
	labels, bottoms float64 // width of the rows' labels, height of the columns'
	marks           []heatKey
	markRows        int
}

// small reports whether two maps go side by side.
func (h *heatmap) small() bool { return len(h.Columns) <= 6 }

func textWidth(s string, px float64) float64 {
	return heatLetter * px / 13 * float64(utf8.RuneCountInString(s))
}

func (h *heatmap) layout() heatLayout {
	const longest = 30 // letters of a label
	l := heatLayout{width: svgSmallWidth, row: 30, size: 12}
	if !h.small() {
		l.width = svgWidth
	}
	if len(h.Rows) > 20 {
		l.row = 18
	}
	widest := 0.0
	for _, r := range h.Rows {
		l.labels = max(l.labels, textWidth(shorten(r, longest), 13))
	}
	for _, c := range h.Columns {
		widest = max(widest, textWidth(shorten(c, longest), 13))
	}
	l.x0 = l.labels + 36
	l.marks, l.markRows = h.marks(l)
	l.y0 = heatScale + heatMarks*float64(l.markRows) + 8
	if l.lying = textWidth(h.Up, 13) > l.row*float64(len(h.Rows)); l.lying {
		l.y0 += 18
	}
	l.column = (l.width - heatRight - l.x0) / float64(len(h.Columns))
	l.bottoms = 22
	if widest > l.column-6 {
		l.turned, l.bottoms = true, 12+widest*0.77 // sin 50°
	}
	l.height = l.y0 + l.row*float64(len(h.Rows)) + l.bottoms + 22
	number := 0.0
	for _, row := range h.Cells {
		for _, c := range row {
			number = max(number, textWidth(c.Text, 1))
		}
	}
	l.size = min(12, math.Floor((l.column-4)/number))
	return l
}

// leastLetters is the smallest size of a number that can be read, px.
const leastLetters = 9

// numbered reports whether the cells have room for their numbers.
func (h *heatmap) numbered() bool { return h.layout().size >= leastLetters }

// drawHeat draws a fitted heat map for a page.
func drawHeat(h *heatmap) string {
	l := h.layout()
	p := newSVG("chart heat", h.Key, h.Title, h.Alt, l.width, l.height, false)
	p.f(`<defs><pattern id="%s-u" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="blank" width="7" height="7"/><line class="hatch" x1="2" x2="2" y1="0" y2="7"/></pattern>`, p.id)
	p.f(`<pattern id="%s-r" width="7" height="7" patternUnits="userSpaceOnUse"><rect class="blank" width="7" height="7"/><circle class="dot" cx="3.5" cy="3.5" r="1.5"/></pattern></defs>`, p.id)
	h.legend(p, l)
	for i, row := range h.Cells {
		for j, c := range row {
			h.cell(p, l, l.x0+float64(j)*l.column, l.y0+float64(i)*l.row, c)
		}
	}
	for i, name := range h.Rows {
		p.f(`<text class="tick" text-anchor="end" x="%.1f" y="%.1f"><title>%s</title>%s</text>`, l.x0-8, l.y0+(float64(i)+0.5)*l.row+4.5, name, shorten(name, 30))
	}
	foot := l.y0 + l.row*float64(len(h.Rows))
	for j, name := range h.Columns {
		x, text := l.x0+(float64(j)+0.5)*l.column, shorten(name, 30)
		if l.turned {
			p.f(`<text class="tick" text-anchor="end" transform="translate(%.1f %.1f) rotate(-50)"><title>%s</title>%s</text>`, x+4, foot+14, name, text)
		} else {
			p.f(`<text class="tick" text-anchor="middle" x="%.1f" y="%.1f"><title>%s</title>%s</text>`, x, foot+17, name, text)
		}
	}
	p.text("axis", middle, (l.x0+l.width-heatRight)/2, l.height-8, h.Across)
	if l.lying {
		p.text("axis", fromStart, 6, l.y0-8, h.Up)
	} else {
		p.turned("axis", 15, (l.y0+foot)/2, h.Up)
	}
	return p.end()
}

// cell draws one cell: a number in its colour, or the mark of a missing number.
func (h *heatmap) cell(p *svgCanvas, l heatLayout, x, y float64, c heatCell) {
	w, t := l.column-1, l.row-1
	p.f(`<g><title>%s</title>`, c.Title)
	ink := "low"
	switch {
	case c.Value > 0:
		step := h.step(c.Value)
		if step > heatDark {
			ink = "high"
		}
		p.rect(fmt.Sprintf("h%d", step), x, y, w, t, "")
		if c.State == heatOverloaded {
			p.f(`<rect fill="url(#%s-u)" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`, p.id, x, y+t-l.row/5, w, l.row/5)
		}
		if c.Partly {
			p.f(`<path class="corner" d="M%.1f %.1fh-8l8 8z"/>`, x+w, y)
		}
	default:
		h.blank(p, x, y, w, t, c.State)
	}
	if c.Value > 0 && h.numbered() {
		up := 0.0
		if c.State == heatOverloaded {
			up = 3
		}
		p.f(`<text class="%s s%g" text-anchor="middle" x="%.1f" y="%.1f">%s</text>`, ink, l.size, x+w/2, y+t/2+l.size*0.36-up, c.Text)
	}
	p.WriteString(`</g>`)
}

// blank draws a cell without a number.
func (h *heatmap) blank(p *svgCanvas, x, y, w, t float64, s heatState) {
	switch s {
	case heatOverloaded:
		p.f(`<rect fill="url(#%s-u)"`, p.id)
	case heatRefused:
		p.f(`<rect fill="url(#%s-r)"`, p.id)
	default:
		p.WriteString(`<rect class="blank"`)
	}
	p.f(` x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`, x, y, w, t)
	p.rect("frame", x+0.5, y+0.5, w-1, t-1, "")
	if s == heatInvalid {
		p.f(`<path class="cross" d="M%.1f %.1fL%.1f %.1fM%.1f %.1fL%.1f %.1f"/>`, x+1, y+1, x+w-1, y+t-1, x+1, y+t-1, x+w-1, y+1)
	}
}

// legend draws the colours with their values, and below them the marks that are in
// the map.
func (h *heatmap) legend(p *svgCanvas, l heatLayout) {
	const high = 12.0
	wide := min(l.width-heatRight-l.x0, 420)
	for i := range heatSteps {
		p.f(`<rect class="h%d" x="%.1f" y="4" width="%.1f" height="%g"/>`, i, l.x0+float64(i)*wide/heatSteps, wide/heatSteps, high)
	}
	free := 0.0
	for _, t := range h.Colours.ticks(int(wide / 60)) {
		x := l.x0 + (t.At-h.Colours.Min)/(h.Colours.Max-h.Colours.Min)*wide
		half := textWidth(t.Label, 13) / 2
		if t.Label == "" || x-half < free || x+half > l.width {
			continue
		}
		free = x + half + 8
		p.line("mark", x, 4, x, 4+high+3, "")
		p.text("tick", middle, x, 4+high+15, t.Label)
	}
	for _, k := range l.marks {
		if k.partly {
			p.f(`<rect class="frame" x="%.1f" y="%.1f" width="20" height="13"/><path class="corner" d="M%.1f %.1fh-8l8 8z"/>`, k.x+0.5, k.y+0.5, k.x+20.5, k.y+0.5)
		} else {
			h.blank(p, k.x, k.y, 21, 14, k.state)
		}
		p.text("legend", fromStart, k.x+27, k.y+11.5, k.text)
	}
}

// heatKey is a legend entry for cells without a number.
type heatKey struct {
	x, y   float64
	state  heatState
	partly bool
	text   string
}

// marks returns the legend entries for the marks in the map, with positions, and the number of
// rows that they take.
func (h *heatmap) marks(l heatLayout) (keys []heatKey, rows int) {
	for _, s := range []heatState{heatOverloaded, heatRefused, heatInvalid, heatNone} {
		if h.has(func(c heatCell) bool { return c.State == s }) {
			keys = append(keys, heatKey{state: s, text: string(s)})
		}
	}
	if h.has(func(c heatCell) bool { return c.Partly }) {
		keys = append(keys, heatKey{partly: true, text: "some rounds missing"})
	}
	x := l.x0
	for i := range keys {
		wide := 27 + textWidth(keys[i].text, 13)
		if i == 0 || x+wide > l.width {
			x = l.x0
			rows++
		}
		keys[i].x, keys[i].y = x, heatScale+heatMarks*float64(rows-1)
		x += wide + 16
	}
	return keys, rows
}

// has reports whether is returns true for any cell.
func (h *heatmap) has(is func(heatCell) bool) bool {
	for _, row := range h.Cells {
		for _, c := range row {
			if is(c) {
				return true
			}
		}
	}
	return false
}
