package report

import (
	"math"
	"sixnines/result"
	"slices"
	"strconv"
	"strings"
)

// chart is a chart before it is drawn: the same for the static SVG, the interactive
// page and the image files. All coordinates are those of the axes: on a logarithmic
// axis they already are decimal logarithms.
type chart struct {
	Kind    Kind
	Key     string // for anchors and programs: "percentiles-delivery"
	Title   string
	Caption string // what it shows and how to read it
	Alt     string // text for readers who do not see it; empty: made from its lines
	Small   bool   // half as wide on the page
	X, Y    axis
	Until   float64 // the X axis extends at least to this; on an axis of seconds the end of the run
	Lines   []line
	Moments []moment
}

// scale is how an axis divides its range and writes its values.
type scale string

const (
	percentileScale scale = "percentile" // log10 of 1/(1−p)
	secondsScale    scale = "seconds"    // linear, seconds of the run
	durationScale   scale = "duration"   // log10 of nanoseconds
	countScale      scale = "count"      // linear from zero, messages
	logCountScale   scale = "logcount"   // log10 of messages
	rateScale       scale = "rate"       // linear from zero, messages a second
	logRateScale    scale = "lograte"    // log10 of messages a second
	shareScale      scale = "share"      // linear from zero, 1 is all
	changeScale     scale = "change"     // linear, 0 is no change, 0.1 is a tenth more
	bytesScale      scale = "bytes"      // linear from zero
	byteRateScale   scale = "byterate"   // linear from zero, bytes a second
)

// axis is one axis of a chart; Min and Max are chosen by fit.
type axis struct {
	Scale scale   `json:"scale"`
	Label string  `json:"label"`
	Min   float64 `json:"min"`
	Max   float64 `json:"max"`
}

// line is one series; without a name it is in no legend. Y may hold NaN for gaps; Lo and
// Hi, if set, are the edges of a band around it. An upper edge of +Inf is the top of the
// picture: fit puts it there.
type line struct {
	Name   string
	Colour int // index into the palette
	Dash   int // index into the dash patterns
	X, Y   []float64
	Lo, Hi []float64
	Steps  bool   // a histogram's outline: Y holds until the next X
	Dots   bool   // few points: mark each
	Points bool   // only the points, without a line between them
	Thin   bool   // one of many of a kind
	Marks  bool   // single figures from another source, each with its own mark
	Legend string // replaces Name in static charts; thin lines and marks without it have no legend there
	// Labels name the points, instead of their positions on the X axis.
	Labels []string
	// Signs, if set, are the qualifications beside the points that are dots, such as "≥".
	Signs []string
}

// legend returns the line's name in a static chart; empty: it is not in the legend.
func (l line) legend() string {
	if l.Legend != "" || l.Thin || l.Marks {
		return l.Legend
	}
	return l.Name
}

// stroke returns the CSS classes of the drawn line.
func (l line) stroke() string {
	class := "line c" + strconv.Itoa(l.Colour%len(lightPalette))
	if l.Thin {
		class += " thin"
	}
	return class
}

// fill returns the CSS classes of an area in the line's colour: f and the colour's number appended to kind.
func (l line) fill(kind string) string { return kind + "f" + strconv.Itoa(l.Colour%len(lightPalette)) }

// moment is an event, or a span of time if To is after From.
type moment struct {
	From    float64 `json:"from"`
	To      float64 `json:"to"`
	Label   string  `json:"-"`
	Mark    string  `json:"mark,omitempty"`    // a short number beside an event's line
	Steady  bool    `json:"-"`                 // a steady part begins here
	Pause   bool    `json:"pause,omitempty"`   // a pause of the generator itself
	Strip   bool    `json:"strip,omitempty"`   // a pause is somewhere within the span: drawn at the foot only
	Refused bool    `json:"refused,omitempty"` // messages were refused: drawn at the head, above every latency
}

// Colours and dash patterns can be distinguished without colour vision: the hues
// follow Okabe and Ito (Color Universal Design, 2008), darkened or lightened
// for their background.
var (
	lightPalette = [...]string{"#0067a5", "#c74e00", "#00805c", "#a8508a", "#a86f00", "#3d8fc4", "#6b6b00", "#5a5a5a"}
	darkPalette  = [...]string{"#57b1f0", "#ff9050", "#35cfa3", "#e79fcb", "#f2bd45", "#9dd5ff", "#dccf5e", "#bdbdbd"}
	dashes       = [...]string{"", "7 4", "2 3", "9 3 2 3"}
)

// tick is a mark on an axis; those without a label are minor.
type tick struct {
	At    float64
	Label string
}

// fit sets the axes' ranges from the data, rounded outwards. It reports
// whether there is anything to draw.
func (c *chart) fit() bool {
	x := extent{math.Inf(1), math.Inf(-1)}
	y := x
	for _, l := range c.Lines {
		for i := range l.X {
			if math.IsNaN(l.Y[i]) {
				continue
			}
			x.add(l.X[i])
			y.add(l.Y[i])
			if l.Lo != nil && !math.IsNaN(l.Lo[i]) {
				y.add(l.Lo[i])
				if !math.IsInf(l.Hi[i], 1) {
					y.add(l.Hi[i])
				}
			}
		}
	}
	if x.min > x.max {
		return false
	}
	if c.X.Scale == secondsScale || c.Until > 0 {
		x.add(c.Until)
	}
	c.X.round(x)
	c.Y.round(y)
	for _, l := range c.Lines {
		for i, hi := range l.Hi {
			if math.IsInf(hi, 1) {
				l.Hi[i] = c.Y.Max
			}
		}
	}
	return true
}

// extent is a range of values that grows.
type extent struct{ min, max float64 }

func (e *extent) add(v float64) { e.min, e.max = min(e.min, v), max(e.max, v) }

// round sets the axis' range to the extent, rounded outwards to possible positions of
// ticks.
func (a *axis) round(e extent) {
	switch a.Scale {
	case percentileScale:
		a.Min, a.Max = 0, max(e.max, 1)
	case secondsScale:
		a.Min, a.Max = min(e.min, 0), e.max
		if a.Max <= a.Min {
			a.Max = a.Min + 1
		}
	case shareScale:
		a.Min, a.Max = min(e.min, 0), max(e.max, 0.1)*1.06
	case changeScale:
		reach := max(e.max-e.min, 0.02) * 0.06
		a.Min, a.Max = min(e.min, 0)-reach, max(e.max, 0)+reach
	case countScale, rateScale, bytesScale, byteRateScale:
		a.Min, a.Max = min(e.min, 0), max(e.max, 1)*1.06
	case durationScale, logCountScale, logRateScale:
		a.Min, a.Max = roundLog(e.min, math.Floor), roundLog(e.max, math.Ceil)
		if a.Max-a.Min < 1 { // less than a decade would exaggerate small differences
			mid := (a.Min + a.Max) / 2
			a.Min, a.Max = roundLog(mid-0.5, math.Floor), roundLog(mid+0.5, math.Ceil)
		}
	}
}

// roundLog rounds a logarithm to that of a 1, 2 or 5 times a power of ten.
func roundLog(v float64, way func(float64) float64) float64 {
	steps := [...]float64{0, math.Log10(2), math.Log10(5), 1}
	whole := math.Floor(v)
	rest := v - whole
	best := steps[0]
	if way(0.5) == 1 { // upwards
		best = 1
		for i := len(steps) - 1; i >= 0 && steps[i] >= rest-1e-9; i-- {
			best = steps[i]
		}
		return whole + best
	}
	for _, s := range steps {
		if s <= rest+1e-9 {
			best = s
		}
	}
	return whole + best
}

// ticks returns the marks of the axis, ascending, about n of them with labels.
func (a axis) ticks(n int) []tick {
	switch a.Scale {
	case percentileScale:
		return percentileTicks(a.Max)
	case durationScale, logCountScale, logRateScale:
		return logTicks(a, n)
	}
	step := niceStep((a.Max - a.Min) / float64(n))
	if a.Scale == bytesScale || a.Scale == byteRateScale { // round numbers in the unit of the labels
		unit := 1.0
		for unit < 1<<40 && a.Max >= 1024*unit {
			unit *= 1024
		}
		step = unit * niceStep((a.Max-a.Min)/unit/float64(n))
	}
	var out []tick
	for k := math.Ceil(a.Min/step - 1e-9); k*step <= a.Max+step*1e-9; k++ {
		at := k*step + 0 // the sum turns -0 into 0
		out = append(out, tick{at, a.text(at)})
	}
	return out
}

// percentileTicks returns ticks at 0, 50, 90, 99, 99.9 … % and unlabelled ones at 75, 95,
// 97.5, 99.5 and so on.
func percentileTicks(limit float64) []tick {
	out := []tick{{0, "0 %"}, {math.Log10(2), "50 %"}, {math.Log10(4), ""}}
	for d := 1; float64(d) <= limit+1e-9; d++ {
		label := "90 %"
		switch {
		case d == 2:
			label = "99 %"
		case d > 2:
			label = "99." + strings.Repeat("9", d-2) + " %"
		}
		out = append(out, tick{float64(d), label})
		for _, minor := range []float64{2, 4} {
			out = append(out, tick{float64(d) + math.Log10(minor), ""})
		}
	}
	for len(out) > 0 && out[len(out)-1].At > limit+1e-9 {
		out = out[:len(out)-1]
	}
	return out
}

// logTicks marks powers of ten, with 2 and 5 times these between; the latter
// are labelled where there is room.
func logTicks(a axis, n int) []tick {
	decades := a.Max - a.Min
	every := max(1, int(math.Ceil(decades/float64(n))))
	var out []tick
	for e := int(math.Floor(a.Min)); e <= int(math.Ceil(a.Max)); e++ {
		for i, f := range []float64{1, 2, 5} {
			at := float64(e) + math.Log10(f)
			if at < a.Min-1e-9 || at > a.Max+1e-9 {
				continue
			}
			t := tick{At: at}
			if i == 0 && e%every == 0 || i > 0 && decades*3 <= float64(n)+1 {
				t.Label = a.text(at)
			}
			if i == 0 || every == 1 {
				out = append(out, t)
			}
		}
	}
	return out
}

// niceStep rounds up to 1, 2 or 5 times a power of ten.
func niceStep(v float64) float64 {
	if !(v > 0) {
		return 1
	}
	unit := math.Pow(10, math.Floor(math.Log10(v)))
	for _, f := range []float64{1, 2, 5, 10} {
		if f*unit >= v*(1-1e-9) {
			return f * unit
		}
	}
	return 10 * unit
}

// text writes a value of the axis as its ticks do: short.
func (a axis) text(v float64) string {
	switch a.Scale {
	case durationScale:
		return shortDuration(math.Pow(10, v))
	case logCountScale:
		return shortCount(math.Pow(10, v))
	case countScale:
		return shortCount(v)
	case rateScale:
		return shortCount(v) + "/s"
	case logRateScale:
		return shortCount(math.Pow(10, v)) + "/s"
	case bytesScale:
		return size(int64(v))
	case byteRateScale:
		return size(int64(v)) + "/s"
	case shareScale:
		return strconv.FormatFloat(math.Round(v*1e6)/1e4, 'f', -1, 64) + " %"
	case changeScale:
		text := strconv.FormatFloat(math.Round(v*1e6)/1e4, 'f', -1, 64) + " %"
		if v > 0 {
			text = "+" + text
		}
		return text
	case secondsScale:
		return strconv.FormatFloat(math.Round(v*1e6)/1e6, 'f', -1, 64) + " s"
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// place returns a value's coordinate on the axis; NaN if it has none.
func (a axis) place(v float64) float64 {
	switch a.Scale {
	case percentileScale: // in percent
		return math.Log10(1 / (1 - v/100))
	case durationScale, logCountScale, logRateScale:
		if v <= 0 {
			return math.NaN()
		}
		return math.Log10(v)
	}
	return v
}

// inWords describes a chart for readers who do not see it: for percentiles, several points of
// each line, else its first and last point.
func (c *chart) inWords() string {
	text := c.Title
	for _, l := range c.Lines {
		if l.Name == "" || l.Thin || l.Marks || l.Points || l.Steps {
			continue
		}
		var parts []string
		say := func(i int, where string) {
			if !math.IsNaN(l.Y[i]) {
				parts = append(parts, where+" "+c.Y.text(l.Y[i]))
			}
		}
		if c.X.Scale == percentileScale {
			for _, p := range []result.Percentile{result.P50, result.P99, result.P999, result.P9999} {
				at := -math.Log10(worseThan(p)) - 1e-9
				if i := slices.IndexFunc(l.X, func(x float64) bool { return x >= at }); i >= 0 {
					say(i, "about "+rowName(p))
				}
			}
		} else {
			for _, i := range l.ends() {
				say(i, "at "+c.X.text(l.X[i]))
			}
		}
		if len(parts) > 0 {
			text += "; " + l.Name + ": " + strings.Join(parts, ", ")
		}
	}
	return text + "."
}

// ends returns the indices of the first and the last drawn point of a line.
func (l *line) ends() []int {
	var out []int
	for i, y := range l.Y {
		if !math.IsNaN(y) {
			out = append(out[:min(len(out), 1)], i)
		}
	}
	return out
}

// shortDuration writes a round duration: "20 µs".
func shortDuration(ns float64) string { return short(ns, 3, " s", " ms", " µs", " ns") }

// shortCount writes a round number: "20 k", "1.5 M".
func shortCount(n float64) string { return short(n, 4, " G", " M", " k", "") }

// short writes a number with the given number of digits, in one of four units, each a
// thousandth of the one before.
func short(v float64, digits int, units ...string) string {
	scale := 1e9
	for _, unit := range units[:3] {
		if math.Abs(v) >= scale*(1-1e-6) {
			return strconv.FormatFloat(v/scale, 'g', digits, 64) + unit
		}
		scale /= 1000
	}
	return strconv.FormatFloat(v, 'g', digits, 64) + units[3]
}
