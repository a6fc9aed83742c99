package scenario

import (
	"strings"
	"testing"
)

// What can be left or found by which pattern, and what a load that sends nothing
// has not.
func TestLifetime(t *testing.T) {
	for text, want := range map[string]string{
		"workload: {pattern: publish, lifetime: keep}":                                                                     "",
		"workload: {pattern: publish, lifetime: keep, groups: 2}":                                                          "",
		"workload: {pattern: publish, groups: 2}":                                                                          "2 groups for 0 consumers",
		"workload: {existing: 00c0ffee}":                                                                                   "",
		"workload: {existing: orders}":                                                                                     "is not allowed for existing",
		"workload: {pattern: consume, existing: 00c0ffee, groups: 1, consumers: 3}":                                        "",
		"workload: {pattern: consume, existing: 00c0ffee, messages: 500000}":                                               "",
		"workload: {pattern: consume}":                                                                                     "nothing says which",
		"workload: {pattern: consume, existing: 00c0ffee, rate: 5/s}":                                                      "has no rate",
		"workload: {pattern: consume, existing: 00c0ffee, producers: 2}":                                                   "has no producers",
		"workload: {pattern: consume, existing: 00c0ffee, arrivals: poisson}":                                              "has no arrivals",
		"workload: {pattern: consume, existing: 00c0ffee, loop: closed}":                                                   "has no closed loop",
		"workload: {pattern: consume, existing: 00c0ffee, keys: fixed}":                                                    "has no keys",
		"workload: {pattern: consume, existing: 00c0ffee, headers: 4x32B}":                                                 "has no headers",
		"workload: {pattern: consume, existing: 00c0ffee, in_flight: {each: 1}}":                                           "has no messages in flight",
		"{workloads: {a: {existing: 00c0ffee}, b: {pattern: consume, existing: 00c0ffee}}, phases: {duration: 1s}}":        "the workloads a and b use what exists",
		"{workloads: {a: {existing: 00c0ffee}, b: {pattern: consume, existing: 00c0ffed}}, phases: {duration: 1s}}":        "",
		"workload: {pattern: consume, existing: 00c0ffee, consumer: {from: filled}}":                                       "could follow",
		"{workload: {pattern: consume, existing: 00c0ffee}, phases: {warmup: 1s}}":                                         "no warm-up",
		"{workload: {pattern: consume, existing: 00c0ffee, messages: 5}, phases: {duration: 1s}}":                          "end the window",
		"{workload: {pattern: consume, existing: 00c0ffee}, objectives: [delivery.response p99 < 1ms]}":                    "measures no latency",
		"{workload: {pattern: consume, existing: 00c0ffee}, objectives: [earlier >= 5000, earlier_missing == 0]}":          "",
		"workload: {pattern: roundtrip, lifetime: keep}":                                                                   "leaves no messages",
		"workload: {pattern: request-reply, existing: 00c0ffee}":                                                           "waits for its own",
		"{workloads: {a: {lifetime: keep}, b: {pattern: consume, existing: 00c0ffee}}, phases: {duration: 1s}}":            "",
		"{workloads: {a: {lifetime: keep}, b: {pattern: consume, existing: 00c0ffee, rate: 5/s}}, phases: {duration: 1s}}": "workload b: the pattern consume",
	} {
		s, err := Parse("test.yaml", []byte(text))
		if err == nil {
			err = s.Validate()
		}
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// Who uses what exists leaves it, unless told otherwise; a load that sends nothing
// has neither rate nor warm-up.
func TestNormaliseLifetime(t *testing.T) {
	for text, keeps := range map[string]bool{"{}": false, "{lifetime: keep}": true, "{existing: 00c0ffee}": true, "{existing: 00c0ffee, lifetime: run}": false} {
		s, err := Parse("test.yaml", []byte("workload: "+text))
		if err != nil {
			t.Fatal(err)
		}
		if s.Normalise(); s.Workload.Retains() != keeps {
			t.Errorf("%s: %v", text, !keeps)
		}
	}
	s := Scenario{Workload: Workload{Pattern: Consume, Existing: "00c0ffee"}}
	s.Normalise()
	if w := s.Workload; w.Producers != 0 || !w.Rate.IsZero() || w.Consumers != 1 || s.Phases.Warmup != 0 {
		t.Errorf("%+v after %v", w, s.Phases.Warmup)
	}
}
