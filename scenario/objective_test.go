package scenario

import (
	"strings"
	"testing"
)

func TestObjectives(t *testing.T) {
	for text, want := range map[string]Objective{
		"delivery.response p99.9 < 5ms":       {"delivery.response", 99.9, "<", 5e6, ""},
		"publish.service p50<=250us":          {"publish.service", 50, "<=", 250e3, ""},
		"  roundtrip.response  max  <  1.5s ": {"roundtrip.response", 100, "<", 1.5e9, ""},
		"delivery.last p99.99 > 1ns":          {"delivery.last", 99.99, ">", 1, ""},
		"lost == 0":                           {"lost", 0, "==", 0, ""},
		"duplicated <= 12":                    {"duplicated", 0, "<=", 12, ""},
		"rate >= 99.9%":                       {"rate", 0, ">=", 0.999, ""},
		"worst_second>95 %":                   {"worst_second", 0, ">", 0.95, ""},
		"p99<5ms":                             {"", 99, "<", 5e6, ""},
		"p99.9 <= 5 ms":                       {"", 99.9, "<=", 5e6, ""},
		"p(99) < 500us":                       {"", 99, "<", 500e3, ""},
		"p 99 ≤ 1s":                           {"", 99, "<=", 1e9, ""},
		"P99<5ms":                             {"", 99, "<", 5e6, ""},
		" max<1s":                             {"", 100, "<", 1e9, ""},
		"lost = 0":                            {"lost", 0, "==", 0, ""},
		"p99 < 20ms outside actions":          {"", 99, "<", 20e6, "outside actions"},
		"p99 < 50ms  during  pause":           {"", 99, "<", 50e6, "during pause"},
		"rate >= 50% during disconnect":       {"rate", 0, ">=", 0.5, "during disconnect"},
		"unavailable < 5s":                    {"unavailable", 0, "<", 5e9, ""},
		"unavailable<=5 s during actions":     {"unavailable", 0, "<=", 5e9, "during actions"},
		"recovered < 10s during pause":        {"recovered", 0, "<", 10e9, "during pause"},
	} {
		got, err := ParseObjective(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got.Subject != want.Subject || got.Percent != want.Percent || got.Op != want.Op || got.Limit != want.Limit || got.Stretch != want.Stretch {
			t.Errorf("%q is %+v, want %+v", text, got, want)
		}
		if again, err := ParseObjective(got.String()); err != nil || again != got {
			t.Errorf("%q is written %q, which is %+v, %v", text, got, again, err)
		}
	}
}

func TestObjectivesThatAreNone(t *testing.T) {
	for text, part := range map[string]string{
		"":                        "compares nothing",
		"lost":                    "compares nothing",
		"avg < 5ms":               "a mean does not show",
		"p99 < 5ms during":        "does not say during what",
		"p99 < 5ms during paus":   "did you mean pause?",
		"p99 < 5ms outside pause": "write outside actions",
		"lost == 0 during pause":  "lost is of the whole run",
		"delivery.service p99 < 5ms during pause": "name a response time",
		"unavailable < 5s outside actions":        "unavailable is about actions",
		"recovered < 5":                           "has no unit",
		"recovered == 5s":                         "never equal",
		"during pause < 5ms":                      "there are percentiles such as",
		"delivery p99 < 5ms":                      "has a response and a service time",
		"p100 < 5ms":                              "no percentile",
		"p0 < 5ms":                                "no percentile",
		"pause < 5ms":                             "there are percentiles such as",
		"p999 < 5ms":                              "write p99.9",
		"service p99 < 5ms":                       "does not say of what",
		"p99 == 5ms":                              "never equal",
		"p99 < 5":                                 "has no unit",
		"lost < 0":                                "can never be met",
		"lost < 5ms":                              "such as lost == 0",
		"rate >= 0%":                              "always met",
		"delivery.response max < 0s":              "can never be met",
		"lag.own p50 < 9223372036854775807ns":     "not a duration",
		"lost ==":                                 "incomplete on one side",
		"< 5ms":                                   "incomplete on one side",
		"delivery.response < 5ms":                 "which percentile",
		"delivery.response p99 p50 < 5ms":         "which percentile",
		"delivery.response p100 < 5ms":            "no percentile",
		"delivery.response p0 < 5ms":              "no percentile",
		"delivery.response pNaN < 5ms":            "no percentile",
		"delivery.response p1e1 < 5ms":            "no percentile",
		"delivery.response 99 < 5ms":              "no percentile",
		"delivery.response p99 == 5ms":            "never equal",
		"delivery.response p99 < 5":               "has no unit",
		"delivery.response p99 < -5ms":            "negative",
		"delivery.responce p99 < 5ms":             "nothing is called",
		"lost twice == 0":                         "says nothing",
		"lost == 0.5":                             "not a number",
		"lost == -1":                              "not a number",
		"rate >= 99.9":                            "not a percentage",
		"rate >= NaN%":                            "not a percentage",
		"rate >= 99.99999999%":                    "more than seven decimals",
		"delivery.response p99 <> 5ms":            "not a duration",
		"duplicated < 99999999999999999999":       "not a number",
		"delivery.response p99 < 5ms < 6ms":       "not a duration",
		"worst_second delivery.response < 5%":     "says nothing",
	} {
		o, err := ParseObjective(text)
		if err == nil {
			t.Errorf("%q is read as %+v", text, o)
			continue
		}
		e, ok := err.(*Error)
		if !ok || e.Hint == "" || !strings.Contains(err.Error(), part) {
			t.Errorf("%q: %v; want %q and a hint", text, err, part)
		}
	}
}

// An objective without a metric, and an interval to wait for, are about the response
// time of the pattern.
func TestResponseTimeOfThePattern(t *testing.T) {
	for pattern, want := range map[string]string{"publish": "publish.response", "deliver": "delivery.response", "roundtrip": "roundtrip.response", "request-reply": "roundtrip.response"} {
		s := mustParse(t, "workload: {pattern: "+pattern+"}\nobjectives: [p99 < 5ms, max < 1s, nacked == 0]\nphases: {until: p99 ±5%}\n")
		before := s.clone()
		n := s.clone()
		n.Normalise()
		if n.Objectives[0].Subject != want || n.Objectives[1].Subject != want || n.Objectives[2].Subject != "nacked" || n.Phases.Until.Metric != want {
			t.Errorf("%s: %v, %v", pattern, n.Objectives, n.Phases.Until)
		}
		if before.Objectives[0].Subject != "" {
			t.Error("normalising changed what another scenario has")
		}
		survives(t, n)
	}
	s := mustParse(t, "workloads:\n  a: {pattern: publish, objectives: [p99 < 5ms]}\n  b: {objectives: [p99 < 6ms]}\n")
	s.Normalise()
	if s.Workloads[0].Objectives[0].Subject != "publish.response" || s.Workloads[1].Objectives[0].Subject != "delivery.response" {
		t.Errorf("%v", s.Workloads)
	}
	wantError(t, mustParse(t, "workload: {rate: max}\nobjectives: [p99 < 5ms]\n").Validate(), "rate: max has no schedule, so only service times (name delivery.service")
	wantError(t, mustParse(t, "workload: {pattern: consume, existing: 12345678}\nobjectives: [p99 < 5ms]\n").Validate(), "the pattern consume measures no latency")
	wantError(t, mustParse(t, "objectives: [p99 < 5ms, delivery.response p99 < 5ms]\n").Validate(), "is given twice")
}

func FuzzObjective(f *testing.F) {
	f.Add("delivery.response p99.9 < 5ms")
	f.Add("rate >= 99.9%")
	f.Add("worst_second > 33.3333333%")
	f.Add("lost == 0")
	f.Fuzz(func(t *testing.T, text string) {
		o, err := ParseObjective(text)
		if err != nil {
			return
		}
		again, err := ParseObjective(o.String())
		if err != nil || again.Subject != o.Subject || again.Op != o.Op || again.Percent != o.Percent || again.Limit != o.Limit {
			t.Errorf("%q is %+v, written %q, then %+v, %v", text, o, o, again, err)
		}
	})
}
