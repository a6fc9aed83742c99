package report

import (
	"bytes"
	"strings"
	"testing"

	"charm.land/lipgloss/v2"
)

// What a study would do keeps to the width of a terminal, and nothing of it is left out.
func TestStudyPlan(t *testing.T) {
	s := studyOutcome(t).Study
	for _, width := range []int{60, 80, 140} {
		var b bytes.Buffer
		if err := StudyPlan(&b, s, []StudyLength{{"quick", "5 trials of 5 cells, about 52 s including 0 broker starts, which are long words"}}, Options{Width: width}); err != nil {
			t.Fatal(err)
		}
		for l := range strings.Lines(b.String()) {
			if w := lipgloss.Width(strings.TrimSuffix(l, "\n")); w > width {
				t.Errorf("%d columns: %d: %s", width, w, l)
			}
		}
		text := strings.Join(strings.Fields(b.String()), " ")
		for _, want := range []string{s.Name, plain(s.Question), "SYSTEMS", "LOADS", "LENGTHS quick 5 trials of 5 cells", "CONCLUSIONS", plain(s.Conclusions[0].Claim), plain(s.Conclusions[0].Tests[0].String())} {
			if !strings.Contains(text, want) {
				t.Errorf("%d columns: no %q in\n%s", width, want, b.String())
			}
		}
	}
}
