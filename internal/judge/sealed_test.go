package judge

import (
	"strings"
	"testing"

	"sixnines/result"
)

// A result that was read is INVALID if its seal is that of other lines, or missing though its header announces one. One that
// is whole, that has no summary, or that an earlier version wrote, stays as it is.
func TestAlteredResultsAreRefused(t *testing.T) {
	for _, x := range []struct {
		name    string
		change  func(*result.Run)
		altered string
	}{
		{"whole", func(*result.Run) {}, ""},
		{"a line was changed", func(r *result.Run) { r.Counted.Intervals.CRC32C = "0" }, "intervals: "},
		{"a line was removed", func(r *result.Run) { r.Counted.Events.Lines++ }, "events: "},
		{"the summary was changed", func(r *result.Run) { r.Counted.SHA256 = "0" }, "file: "},
		{"the seal was removed", func(r *result.Run) { r.Summary.Seal, r.Counted = nil, nil }, "seal: "},
		{"the seal was not announced", func(r *result.Run) { r.Header.Sealed = false }, "header.sealed: "},
		{"cut short", func(r *result.Run) { r.Summary, r.Counted = nil, nil }, ""},
		{"an earlier version's", func(r *result.Run) { r.Header.Sealed, r.Summary.Seal, r.Counted = false, nil, nil }, ""},
	} {
		run := saved(t, newTestbed(healthyMessages()))
		before := run.Summary.Verdict.Status
		x.change(run)
		how := RefuseAltered(run)
		if (how == "") != (x.altered == "") || !strings.HasPrefix(how, x.altered) {
			t.Errorf("%s: %q", x.name, how)
		}
		if run.Summary == nil {
			continue
		}
		v := run.Summary.Verdict
		if how == "" {
			if v.Status != before {
				t.Errorf("%s: %s, before %s", x.name, v.Status, before)
			}
			continue
		}
		if v.Status != result.Invalid || v.Reasons[0].Code != result.ReasonAltered || v.Of(result.DeliveryResponse, "50") != result.Invalid {
			t.Errorf("%s: %s, %+v", x.name, v, v.Reasons)
		}
	}
}

// Which workload a line is of decides nothing: all of an altered file are INVALID.
func TestAllWorkloadsOfAnAlteredResultAreRefused(t *testing.T) {
	run := &result.Run{Workloads: []*result.Run{saved(t, newTestbed(healthyMessages())), saved(t, newTestbed(healthyMessages()))}}
	run.Workloads[1].Counted.Headers.CRC32C = "0"
	if RefuseAltered(run) == "" {
		t.Error("the second workload is not looked at")
	}
	for i, part := range run.Workloads {
		if v := part.Summary.Verdict; v.Status != result.Invalid {
			t.Errorf("workload %d: %s", i, v)
		}
	}
}
