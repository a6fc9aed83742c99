package report

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sixnines/internal/report/browsertest"
	"sixnines/result"
)

// A page opens with what came of the run, then the figures and the chart, and only then the
// reasons.
func TestPageOpensWithWhatCame(t *testing.T) {
	met := result.Objective{Text: "lost == 0", Outcome: "met", Found: "the count is 0"}
	missed := result.Objective{Text: "delivery.response p99 < 200us", Outcome: "missed", Found: "it is 254 µs"}
	undecided := result.Objective{Text: "delivery.response p90 < 200us", Outcome: "undecided", Found: "it is 254 µs"}
	for _, c := range []struct {
		name       string
		status     result.Status
		objectives []result.Objective
		class      string
		says       []string
	}{
		{"without objectives", result.Valid, nil, "valid", []string{">VALID<", "Delivery response: half of the messages took at most ", "None lost, duplicated or reordered."}},
		{"met", result.Valid, []result.Objective{met}, "valid", []string{">PASSED<", "the measurement is VALID", "All objectives are met (1)."}},
		{"missed", result.Valid, []result.Objective{met, missed}, "bad", []string{">FAILED<", "Missed: delivery.response p99 &lt; 200us."}},
		{"undecided", result.Valid, []result.Objective{met, undecided}, "suspect", []string{">UNDECIDED<", "Undecided: delivery.response p90 &lt; 200us.", "run longer (--duration)"}},
		{"suspect and met", result.Suspect, []result.Objective{met}, "suspect", []string{">PASSED<", "the measurement is SUSPECT"}},
		{"suspect and missed", result.Suspect, []result.Objective{missed}, "bad", []string{">FAILED<"}},
		{"invalid", result.Invalid, []result.Objective{undecided}, "bad", []string{">INVALID<"}},
	} {
		run := openRun().make()
		run.Summary.Verdict, run.Summary.Objectives = result.Verdict{Status: c.status}, c.objectives
		page := htmlOf(t, Options{}, run)
		_, body, _ := strings.Cut(page, "<main>")
		first, _, _ := strings.Cut(body, "</article>")
		if !strings.Contains(first, `<article class="verdict `+c.class+`">`) {
			t.Errorf("%s: the page does not open in the class %s: %.200s", c.name, c.class, first)
		}
		for _, want := range c.says {
			if !strings.Contains(first, want) {
				t.Errorf("%s: the page does not open with %q:\n%s", c.name, want, first)
			}
		}
		if c.class != "valid" && strings.Contains(body, `class="verdict valid"`) {
			t.Errorf("%s: a part of the page is green", c.name)
		}
		at := -1
		for _, part := range []string{`class="status"`, `class="cards"`, `class="charts"`, `id="reasons"`, `id="percentiles"`} {
			next := strings.Index(body, part)
			if next <= at {
				t.Errorf("%s: %s does not follow what comes before it", c.name, part)
			}
			at = next
		}
	}
}

// A print of a run's page is short: the details stay in the page, and the print says so.
func TestPrintIsShort(t *testing.T) {
	dir := browsertest.Directory(t)
	page, print := filepath.Join(dir, "page.html"), filepath.Join(dir, "page.pdf")
	if err := os.WriteFile(page, []byte(htmlOf(t, Options{Command: "sixnines run"}, pages()["rich"]...)), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), browserLimit)
	defer cancel()
	c := exec.CommandContext(ctx, browsertest.Command(t), "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage", "--user-data-dir="+filepath.Join(dir, "profile"), "--print-to-pdf="+print, "file://"+page)
	if text, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	pdf, err := os.ReadFile(print)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(pdf, []byte("/Type /Page\n")); n < 1 || n > 5 {
		t.Errorf("a print has %d pages, want about four", n)
	}
}
