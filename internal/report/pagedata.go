package report

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// numbers are coordinates as the page's script reads them: four decimals,
// which is a ten-thousandth of a factor of ten, and null for a gap.
type numbers []float64

// MarshalJSON writes the list.
func (n numbers) MarshalJSON() ([]byte, error) {
	b := []byte{'['}
	for i, v := range n {
		if i > 0 {
			b = append(b, ',')
		}
		if math.IsNaN(v) || math.IsInf(v, 0) {
			b = append(b, "null"...)
			continue
		}
		b = strconv.AppendFloat(b, math.Round(v*1e4)/1e4+0, 'f', -1, 64) // the sum turns -0 into 0
	}
	return append(b, ']'), nil
}

// dataChart is a chart for the page's script.
type dataChart struct {
	Key     string     `json:"key"`
	Small   bool       `json:"small,omitempty"`
	X       axis       `json:"x"`
	Y       axis       `json:"y"`
	At      numbers    `json:"at"`
	Names   []string   `json:"names,omitempty"` // of the points, where they have any
	Bridge  bool       `json:"bridge"`          // lines have points of their own: draw across gaps
	Lines   []dataLine `json:"lines"`
	Moments []moment   `json:"moments"`
}

type dataLine struct {
	Name   string    `json:"name"`
	Colour int       `json:"colour"`
	Dash   []float64 `json:"dash,omitempty"`
	Steps  bool      `json:"steps,omitempty"`
	Thin   bool      `json:"thin,omitempty"`
	Dots   bool      `json:"dots,omitempty"`
	Points bool      `json:"points,omitempty"`
	Y      numbers   `json:"y"`
	Lo     numbers   `json:"lo,omitempty"`
	Hi     numbers   `json:"hi,omitempty"`
}

// chartData prepares charts for the page's script, which wants the lines of a
// chart over the same points.
func chartData(all []*chart) []dataChart {
	out := make([]dataChart, len(all))
	for i, c := range all {
		d := dataChart{Key: c.Key, Small: c.Small, X: c.X, Y: c.Y, Moments: append([]moment{}, c.Moments...)}
		for _, l := range c.Lines {
			d.At = append(d.At, l.X...)
		}
		slices.Sort(d.At)
		d.At = slices.Compact(d.At)
		for _, l := range c.Lines {
			for i, name := range l.Labels {
				if d.Names == nil {
					d.Names = make([]string, len(d.At))
				}
				at, _ := slices.BinarySearch(d.At, l.X[i])
				d.Names[at] = name
			}
		}
		for _, l := range c.Lines {
			d.Bridge = d.Bridge || len(l.X) != len(d.At)
			d.Lines = append(d.Lines, dataLine{Name: l.Name, Colour: l.Colour, Dash: dashLengths(l.Dash), Steps: l.Steps, Thin: l.Thin, Dots: l.Dots, Points: l.Points,
				Y: spread(d.At, l.X, l.Y), Lo: spread(d.At, l.X, l.Lo), Hi: spread(d.At, l.X, l.Hi)})
		}
		out[i] = d
	}
	return out
}

// spread puts the values at x onto the points at, with gaps elsewhere.
func spread(at, x, y []float64) numbers {
	if y == nil {
		return nil
	}
	out := make(numbers, len(at))
	j := 0
	for i, v := range at {
		out[i] = math.NaN()
		if j < len(x) && x[j] == v {
			out[i] = y[j]
			j++
		}
	}
	return out
}

// dashLengths is a dash pattern as numbers.
func dashLengths(d int) []float64 {
	var out []float64
	for _, f := range strings.Fields(dashes[d%len(dashes)]) {
		v, _ := strconv.ParseFloat(f, 64) // a constant of this package
		out = append(out, v)
	}
	return out
}
