package report

import (
	"errors"
	"html/template"
	"math"
)

// Picture is a chart of another package's figures, in the style of the reports.
type Picture struct {
	Key   string // unique on its page; letters, digits and hyphens
	Title string
	Alt   string // what a reader who does not see it should know
	X, Y  PictureAxis
	Lines []PictureLine
}

// PictureAxis is an axis of a [Picture].
type PictureAxis struct {
	Scale PictureScale
	Label string
}

// PictureScale says what the numbers along an axis are.
type PictureScale string

// The scales.
const (
	PicturePercentile = PictureScale(percentileScale) // percentiles, 0 to below 100
	PictureSeconds    = PictureScale(secondsScale)    // seconds
	PictureDuration   = PictureScale(durationScale)   // nanoseconds above 0, drawn logarithmically
	PictureCount      = PictureScale(countScale)      // a number, from zero
)

// PictureLine is a line of a [Picture]: X ascends, and Y has as many values; NaN
// is a gap.
type PictureLine struct {
	Name string
	X, Y []float64
}

// Draw returns the picture as an SVG element that takes the colours of a page
// that [PageHead] began. It fails if the lines are not as described, or there
// is nothing to draw.
func (p Picture) Draw() (template.HTML, error) {
	c := &chart{Key: p.Key, Title: p.Title, Alt: p.Alt,
		X: axis{Scale: scale(p.X.Scale), Label: p.X.Label}, Y: axis{Scale: scale(p.Y.Scale), Label: p.Y.Label}}
	for i, l := range p.Lines {
		if len(l.X) != len(l.Y) {
			return "", errors.New("a line with more points along one axis than along the other")
		}
		drawn := line{Name: l.Name, Colour: i % len(lightPalette), Dash: i / len(lightPalette) % len(dashes), Dots: len(l.X) <= 40}
		for k := range l.X {
			drawn.X = append(drawn.X, p.X.Scale.place(l.X[k]))
			drawn.Y = append(drawn.Y, p.Y.Scale.place(l.Y[k]))
		}
		c.Lines = append(c.Lines, drawn)
	}
	if !c.fit() {
		return "", errors.New("a picture of nothing")
	}
	return template.HTML(drawSVG(c, false)), nil // which escapes what it is given
}

// place returns where a value stands on its axis.
func (s PictureScale) place(v float64) float64 {
	switch s {
	case PicturePercentile:
		return math.Log10(1 / (1 - v/100))
	case PictureDuration:
		if v <= 0 {
			return math.NaN()
		}
		return math.Log10(v)
	}
	return v
}
