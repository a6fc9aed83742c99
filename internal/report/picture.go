package report

import (
	"errors"
	"html/template"
)

// Picture is a chart of another package's figures, in the style of the reports.
type Picture struct {
	Title   string        `json:"title"`
	Caption string        `json:"caption,omitempty"` // for a reader who does not see it, too
	X       PictureAxis   `json:"x"`
	Y       PictureAxis   `json:"y"`
	Lines   []PictureLine `json:"lines"`
}

// PictureAxis is an axis of a [Picture]; its scale says what the numbers along it are.
type PictureAxis struct {
	Label string `json:"label"`
	Scale scale  `json:"scale"`
}

// The scales.
const (
	PicturePercentile = percentileScale // percentiles, 0 to below 100, drawn as 1/(1−p)
	PictureDuration   = durationScale   // nanoseconds above 0, drawn logarithmically
	PictureCount      = countScale      // a number, from zero
)

// PictureLine is a line of a [Picture]: X ascends, and Y has as many values; NaN
// is a gap.
type PictureLine struct {
	Name string    `json:"name"`
	X    []float64 `json:"x"`
	Y    []float64 `json:"y"`
}

// Draw returns the picture as an SVG element that takes the colours of a page
// that [PageHead] began. The key is unique on the page: letters, digits and hyphens.
// It fails if the lines are not as described, or there is nothing to draw.
func (p Picture) Draw(key string) (template.HTML, error) {
	c := &chart{Key: key, Title: p.Title, Alt: p.Caption, X: axis{Label: p.X.Label, Scale: p.X.Scale}, Y: axis{Label: p.Y.Label, Scale: p.Y.Scale}}
	for i, l := range p.Lines {
		if len(l.X) != len(l.Y) {
			return "", errors.New("a line with more points along one axis than along the other")
		}
		drawn := line{Name: l.Name, Colour: i % len(lightPalette), Dash: i / len(lightPalette) % len(dashes), Dots: len(l.X) <= 40}
		for k := range l.X {
			drawn.X, drawn.Y = append(drawn.X, c.X.place(l.X[k])), append(drawn.Y, c.Y.place(l.Y[k]))
		}
		c.Lines = append(c.Lines, drawn)
	}
	if !c.fit() {
		return "", errors.New("a picture of nothing")
	}
	return template.HTML(drawSVG(c, false)), nil // which escapes what it is given
}
