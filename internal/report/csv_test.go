package report

import (
	"bytes"
	"encoding/csv"
	"slices"
	"strings"
	"testing"

	"sixnines/result"
)

// csvOf is a run's figures of the delivery response time as CSV, by percentile and column.
func csvOf(t *testing.T, run *result.Run) map[string]map[string]string {
	t.Helper()
	var b bytes.Buffer
	if err := writeCSV(&b, []*result.Run{run}); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]map[string]string{}
	for _, r := range rows[1:] {
		if r[1] == string(result.DeliveryResponse) {
			out[r[2]] = map[string]string{}
			for i, name := range rows[0] {
				out[r[2]][name] = r[i]
			}
		}
	}
	return out
}

// What is wrong with a whole run is a mark of each of its figures, of moments as well.
func TestCSVMarksWhatAWholeRunIsWorth(t *testing.T) {
	judged := func(status result.Status, reasons ...result.Reason) *result.Run {
		run := openRun().make()
		run.Summary.Verdict = result.Verdict{Status: status, Reasons: reasons}
		return run
	}
	tail := judged(result.Valid)
	tail.Summary.Verdict.Limits = []result.Limit{{Metric: result.DeliveryResponse, ValidTo: "99", From: "99.9"}}
	lossy := lossyRun()
	lossy.Summary.Verdict = result.Verdict{Status: result.Valid}
	for _, tt := range []struct {
		name  string
		run   *result.Run
		marks map[string]string // by row
	}{
		{"valid", judged(result.Valid), map[string]string{"min": "", "50": "", "max": "", "mean": "", "stddev": ""}},
		{"suspect tail", tail, map[string]string{"min": "", "50": "", "99.9": "suspect", "max": "suspect", "mean": "suspect"}},
		{"suspect as a whole", judged(result.Suspect, result.Reason{Status: result.Suspect, Code: result.ReasonSteal}),
			map[string]string{"min": "suspect", "50": "suspect", "max": "suspect", "mean": "suspect", "stddev": "suspect"}},
		{"another latency is suspect", judged(result.Suspect, result.Reason{Status: result.Suspect, Code: result.ReasonClocks, Metric: result.PublishResponse}),
			map[string]string{"min": "", "50": "", "mean": ""}},
		{"INVALID", judged(result.Invalid, result.Reason{Status: result.Invalid, Code: result.ReasonConservation}),
			map[string]string{"min": "invalid", "50": "invalid", "max": "invalid", "mean": "invalid"}},
		{"overloaded", judged(result.Unstable, result.Reason{Status: result.Unstable, Code: result.ReasonBacklog}),
			map[string]string{"min": "", "50": "unstable", "max": "", "mean": "unstable", "stddev": "unstable"}},
		{"with losses", lossy, map[string]string{"min": "", "50": "", "mean": "at-least", "stddev": "at-least"}},
	} {
		got := csvOf(t, tt.run)
		for row, want := range tt.marks {
			words := slices.DeleteFunc(strings.Split(got[row]["mark"], "+"), func(w string) bool { return strings.HasPrefix(w, "few") || w == "at-least" && row == "max" })
			if mark := strings.Join(words, "+"); mark != want || (got[row]["value_ns"] == "") != (want == "unstable") {
				t.Errorf("%s: %s is %q, marked %q, want %q", tt.name, row, got[row]["value_ns"], got[row]["mark"], want)
			}
			if v := got[row]["verdict"]; v != string(tt.run.Summary.Verdict.Status) {
				t.Errorf("%s: the verdict is %q", tt.name, v)
			}
		}
	}
	suspect := judged(result.Suspect, result.Reason{Status: result.Suspect, Code: result.ReasonSteal})
	for _, s := range exposed(t, suspect)["sixnines_percentile_seconds"].GetMetric() {
		if l := labels(s); !strings.Contains(l["mark"], "suspect") {
			t.Fatalf("OpenMetrics: %v", l)
		}
	}
	if text := terminal(t, Options{Width: 120}, suspect); !strings.Contains(text, "? ") {
		t.Errorf("no figure is marked in a terminal:\n%.2000s", text)
	}
}
