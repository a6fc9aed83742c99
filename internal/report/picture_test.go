package report

import (
	"math"
	"strings"
	"testing"
)

func TestPicture(t *testing.T) {
	p := Picture{Title: payload, Caption: payload, X: PictureAxis{Scale: PicturePercentile, Label: payload}, Y: PictureAxis{Scale: PictureDuration, Label: "latency"},
		Lines: []PictureLine{{payload, []float64{50, 90, 99}, []float64{1e5, 0, 1e6}}, {"b", []float64{50, 99.9}, []float64{2e5, 3e6}}}}
	svg, err := p.Draw("k")
	if err != nil {
		t.Fatal(err)
	}
	text := string(svg)
	if strings.Contains(text, "<script") || strings.Contains(text, "<img") || strings.Contains(text, "NaN") || !strings.Contains(text, "99.9 %") {
		t.Error(text)
	}
	p.Lines[0].X = p.Lines[0].X[:2]
	if _, err := p.Draw("k"); err == nil {
		t.Error("a line of 2 by 3 points was drawn")
	}
	p.Lines = nil
	if _, err := p.Draw("k"); err == nil {
		t.Error("nothing was drawn")
	}
	if got := (axis{Scale: percentileScale}).place(99.9); math.Abs(got-3) > 1e-9 {
		t.Errorf("99.9 %% stands at %g, want 3", got)
	}
}
