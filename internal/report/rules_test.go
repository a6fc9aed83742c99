package report

import (
	"strings"
	"testing"

	"sixnines/result"
)

// A page names the rules of benchmarking that its load does not keep, each with its source, and
// says nothing of them where it keeps all, or where no scenario can be read.
func TestRulesOfAPage(t *testing.T) {
	for text, want := range map[string]string{
		`{"target": {"driver": "mem"}, "workload": {"rate": "max"}}`:                  "flat out",
		`{"target": {"driver": "mem"}, "workload": {"rate": "10/s"}}`:                 "too few messages for p99",
		`{"workloads": {"a": {"rate": "max", "pattern": "publish", "producers": 2}}}`: "", // another workload's
		`{"target"`: "",
		"":          "",
	} {
		h := &result.Header{Scenario: []byte(text), Fleet: &result.Fleet{Agents: make([]result.Agent, 2)}}
		sum := &result.Summary{}
		if strings.Contains(text, "10/s") {
			sum.Counters.Scheduled = 100
		}
		x := rulesOf(h, sum)
		if (len(x.Rows) > 0) != (want != "") {
			t.Fatalf("%s: %+v", text, x.Rows)
		}
		for _, r := range x.Rows {
			if !strings.Contains(r.Cells[0].Text, want) || !strings.Contains(r.Cells[3].Text, "Benchmark Responsibly") {
				t.Errorf("%s: %+v", text, r.Cells)
			}
		}
	}
}
