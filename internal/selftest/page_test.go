package selftest

import (
	"strings"
	"testing"
	"time"

	"sixnines/internal/report"
	"sixnines/result"
)

func TestPage(t *testing.T) {
	const evil = `<script>alert("x")</script>`
	good := Conclude(evil, Exactly(evil, evil, evil))
	good.Charts = []report.Picture{{Title: evil, Caption: evil, X: report.PictureAxis{Label: evil, Scale: report.PicturePercentile},
		Y:     report.PictureAxis{Label: "latency", Scale: report.PictureDuration},
		Lines: []report.PictureLine{{Name: evil, X: []float64{50, 99}, Y: []float64{1e5, 1e6}}}}}
	bad := Conclude("text", Exactly("p99", "3 ms", "4 ms"))
	bad.Attempts = []string{"attempt 1 failed: " + evil}
	r := &Report{Tool: result.Tool{Name: "sixnines", Version: "v0"}, Started: time.Unix(0, 0), Trials: []Result{
		{1, "one", evil, time.Second, good}, {2, "two", "Why?", time.Second, bad}, {3, "three", "Is it?", 0, Skip("not here; go there")}}}
	var b strings.Builder
	if err := r.HTML(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	if strings.Contains(text, "<script") {
		t.Error("what was found is not escaped")
	}
	for _, want := range []string{"<svg", "p99 is 4 ms, expected 3 ms", "not here; go there", "3 trials: 1 passed, 1 failed, 1 not assessed", "attempt 1 failed", `class="verdict bad"`} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, e := range []string{"section", "table", "figure", "article", "main", "ul"} {
		if n := strings.Count(text, "<"+e+" ") + strings.Count(text, "<"+e+">"); n == 0 || n != strings.Count(text, "</"+e+">") {
			t.Errorf("<%s> is opened %d times and closed %d times", e, n, strings.Count(text, "</"+e+">"))
		}
	}
}
