package report

import (
	"errors"
	"html/template"
)

// Picture is a chart of another package's figures, in the style of the reports.
type Picture struct {
	Key   string // unique on its page; letters, digits and hyphens
	Title string
	Alt   string // what a reader who does not see it should know
	X, Y  PictureAxis
	Lines []PictureLine
}

// PictureAxis is an axis of a [Picture]: its Scale and its Label.
type PictureAxis = axis

// PictureScale says what the numbers along an axis are.
type PictureScale = scale

// The scales.
const (
	PicturePercentile = percentileScale // percentiles, 0 to below 100
	PictureSeconds    = secondsScale    // seconds
	PictureDuration   = durationScale   // nanoseconds above 0, drawn logarithmically
	PictureCount      = countScale      // a number, from zero
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
	c := &chart{Key: p.Key, Title: p.Title, Alt: p.Alt, X: p.X, Y: p.Y}
	for i, l := range p.Lines {
		if len(l.X) != len(l.Y) {
			return "", errors.New("a line with more points along one axis than along the other")
		}
		drawn := line{Name: l.Name, Colour: i % len(lightPalette), Dash: i / len(lightPalette) % len(dashes), Dots: len(l.X) <= 40}
		for k := range l.X {
			drawn.X, drawn.Y = append(drawn.X, p.X.place(l.X[k])), append(drawn.Y, p.Y.place(l.Y[k]))
		}
		c.Lines = append(c.Lines, drawn)
	}
	if !c.fit() {
		return "", errors.New("a picture of nothing")
	}
	return template.HTML(drawSVG(c, false)), nil // which escapes what it is given
}
