package report_test

import (
	"context"
	"fmt"
	"log"
	"strings"
	"testing"
	"time"

	"sixnines"
	"sixnines/drivers/all"
	"sixnines/report"
	"sixnines/result"
	"sixnines/scenario"
)

// A run as a page, of a program that makes the run itself.
func ExampleHTML() {
	s := &scenario.Scenario{
		Target:   scenario.Target{Driver: "mem"},
		Workload: scenario.Workload{Rate: scenario.PerSecond(500)},
		Phases:   scenario.Phases{Warmup: 100 * time.Millisecond, Duration: 500 * time.Millisecond},
	}
	run, err := sixnines.Run(context.Background(), s, all.Set())
	if err != nil {
		log.Fatal(err)
	}
	var page strings.Builder
	if err := report.HTML(&page, run); err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.HasPrefix(page.String(), "<!doctype html>"), strings.Contains(page.String(), "p99"))
	// Output: true true
}

// TestReportsOfAFile: each format has what the file has, and what is wrong is said.
func TestReportsOfAFile(t *testing.T) {
	run, err := result.Load("../internal/cli/testdata/compatibility/2026-11-26-paced.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for format, want := range map[string]string{"html": "<!doctype html>", "markdown": "| p99", "csv": "run,metric,percentile", "json": `"verdict"`} {
		var b strings.Builder
		if err := report.Format(&b, format, run); err != nil || !strings.Contains(b.String(), want) {
			t.Errorf("%s: %v; %.200s", format, err, b.String())
		}
	}
	var text strings.Builder
	if err := report.Text(&text, 60, run, run); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(text.String()) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 60 && !strings.Contains(line, "sixnines") {
			t.Errorf("a line of %d columns: %s", n, line)
		}
	}
	if err := report.HTML(&text); err == nil {
		t.Error("no run gives a page")
	}
	if err := report.Format(&text, "pdf", run); err == nil || !strings.Contains(err.Error(), "markdown") {
		t.Errorf("an unknown format: %v", err)
	}
}
