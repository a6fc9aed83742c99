package report

import (
	"strings"
	"testing"

	"charm.land/lipgloss/v2"
)

// A fact that is longer than a line is broken within; one that fits stays as it is.
func TestFactsKeepToTheWidth(t *testing.T) {
	p := newPrinter(Options{Width: 60})
	p.joined("  cold      ", []string{"connect 1 ms", strings.TrimSpace(strings.Repeat("until p50 settled ", 8)), "two  spaces"}, dot, normal)
	text := p.buf.String()
	for l := range strings.Lines(text) {
		if w := lipgloss.Width(strings.TrimSuffix(l, "\n")); w > 60 {
			t.Errorf("%d columns: %s", w, l)
		}
	}
	if strings.Count(text, "until p50 settled")+strings.Count(text, "until p50\n")+strings.Count(text, "until\n") != 8 || !strings.HasSuffix(text, "            two  spaces\n") {
		t.Errorf("%s", text)
	}
}
