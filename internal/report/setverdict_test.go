package report

import (
	"strings"
	"testing"

	"sixnines/result"
)

// A set holds up to the percentile at which more than half of its runs do.
func TestSetVerdict(t *testing.T) {
	suspect := func(from string) result.Verdict {
		return result.Verdict{Status: result.Valid, ValidTo: "50", Limits: []result.Limit{{Metric: result.DeliveryResponse, From: result.Percentile(from), Why: "own lag", Codes: []result.ReasonCode{result.ReasonOwnLag}}}}
	}
	good, from99, invalid := result.Verdict{Status: result.Valid}, suspect("99"), result.Verdict{Status: result.Invalid}
	whole := result.Verdict{Status: result.Suspect}
	for _, c := range []struct {
		name string
		runs []result.Verdict
		want string
	}{
		{"all valid", []result.Verdict{good, good, good}, "the set of 3 runs: VALID"},
		{"a minority is disturbed", []result.Verdict{good, from99, good}, "the set of 3 runs: VALID"},
		{"a minority is invalid", []result.Verdict{good, invalid, good}, "the set of 3 runs: VALID"},
		{"most are disturbed beyond p90", []result.Verdict{from99, from99, good}, "the set of 3 runs: VALID to p90; at p99 1 of 3 runs are valid, and more than half must be"},
		{"half are not more than half", []result.Verdict{from99, good}, "the set of 2 runs: VALID to p90; at p99 1 of 2 runs are valid, and more than half must be"},
		{"most are suspect as a whole", []result.Verdict{whole, whole, good}, "the set of 3 runs: SUSPECT; at p50 1 of 3 runs are valid, and more than half must be"},
		{"most are invalid", []result.Verdict{invalid, invalid, good}, "the set of 3 runs: INVALID; at p50 1 of 3 runs are valid, and more than half must be"},
	} {
		var runs []*result.Run
		for i, v := range c.runs {
			run := openRun().make()
			run.Summary.Verdict = v
			run.Header.Trial = &result.Trial{Set: "0011223344556677", Index: i + 1, Of: len(c.runs)}
			runs = append(runs, run)
		}
		prepared, err := subjects(runs)
		if err != nil {
			t.Fatal(err)
		}
		if lines := setLines(prepared); len(lines) != 1 || lines[0].Text != c.want {
			t.Errorf("%s: %v, want %q", c.name, lines, c.want)
		}
		v := SetVerdictOf(runs)
		if said := "the set of " + plural(v.Runs, "run") + ": " + string(v.Status); !strings.HasPrefix(c.want, said) || (v.Next != "") != strings.Contains(c.want, "; at "+rowName(v.Next)) ||
			v.Next != "" && v.ValidTo != "" && !strings.Contains(c.want, " to "+rowName(v.ValidTo)) {
			t.Errorf("%s: %+v, want %q", c.name, v, c.want)
		}
		if page := htmlOf(t, Options{}, runs...); !strings.Contains(page, c.want) {
			t.Errorf("%s: the page does not say %q", c.name, c.want)
		}
	}
	if v := SetVerdictOf([]*result.Run{openRun().make()}); v != nil {
		t.Errorf("a single run is a set: %+v", v)
	}
}
