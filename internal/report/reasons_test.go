package report

import (
	"strings"
	"testing"

	"sixnines/result"
)

func TestReasonsAreToldOnceWorstFirst(t *testing.T) {
	run := closedRun().make()
	run.Summary.Verdict = result.Verdict{Status: result.Invalid, Reasons: []result.Reason{
		{Status: result.Valid, Code: "same-host", Text: "note of the host"},
		{Status: result.Valid, Code: "closed-loop", Text: "note of the loop"},
		{Status: result.Valid, Code: "censored", Text: "another note"},
		{Status: result.Suspect, Code: "own-lag", Text: "30 % of delivery.response p50 is own lag", Metric: result.DeliveryResponse, Percentile: "50"},
		{Status: result.Invalid, Code: "same-host", Text: "worse than a note"},
		{Status: result.Suspect, Code: "x", Text: "delivery.response p99.9 is of too short a run", Metric: result.DeliveryResponse, Percentile: "99.9"},
	}}
	var got []string
	for _, r := range subjectOf(run).reasons() {
		got = append(got, reasonWord(r.Status)+" "+r.Text)
	}
	want := []string{
		"invalid worse than a note",
		"suspect 30 % of delivery.response p50 is own lag",
		"suspect delivery.response p99.9 is of too short a run",
		"note another note",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
