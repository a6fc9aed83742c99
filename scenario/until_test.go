package scenario

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestUntil(t *testing.T) {
	for text, want := range map[string]Until{
		"delivery.response p99 ±5%":              {Metric: "delivery.response", Percent: 99, Share: 0.05},
		"  delivery.response  p99.9 +- 2.5 % ":   {Metric: "delivery.response", Percent: 99.9, Share: 0.025},
		"delivery.response p99 +/-100%":          {Metric: "delivery.response", Percent: 99, Share: 1},
		"publish.service p50±50us":               {Metric: "publish.service", Percent: 50, Width: 50 * time.Microsecond},
		"roundtrip.response p99.999 ± 1.5ms":     {Metric: "roundtrip.response", Percent: 99.999, Width: 1500 * time.Microsecond},
		"delivery.last p75 +-0.00000000000001h ": {},
	} {
		u, err := ParseUntil(text)
		if want.IsZero() {
			if err == nil {
				t.Errorf("%q is read as %+v", text, u)
			}
			continue
		}
		if err != nil || u != want {
			t.Errorf("%q: %+v, %v; want %+v", text, u, err, want)
			continue
		}
		if again, err := ParseUntil(u.String()); err != nil || again != u {
			t.Errorf("%+v is written %q and read as %+v, %v", u, u, again, err)
		}
	}
	u := Until{Metric: "delivery.response", Percent: 99.9, Share: 0.05}
	if u.Limit(2_000_000) != 100_000 || u.Percentile() != "99.9" || (Until{Width: 7}).Limit(100) != 7 || (Until{}).String() != "" {
		t.Errorf("%v, %v, %q", u.Limit(2_000_000), u.Percentile(), Until{})
	}
}

func TestUntilThatIsNone(t *testing.T) {
	for text, part := range map[string]string{
		"":                                 "does not say how narrow",
		"delivery.response p99":            "does not say how narrow",
		"delivery.response p99 5%":         "does not say how narrow",
		"±5%":                              "does not say of which",
		"delivery.responce p99 ±5%":        "did you mean delivery.response?",
		"lag.own p99 ±5%":                  "no interval of \"lag.own\" can be waited for",
		"delivery.response ±5%":            "does not say which percentile",
		"delivery.response p0 ±5%":         "no percentile",
		"delivery.response p100 ±5%":       "no percentile",
		"delivery.response max ±5%":        "no percentile",
		"delivery.response 99 ±5%":         "no percentile",
		"delivery.response p99 p50 ±5%":    "says nothing",
		"delivery.response p99 ±0%":        "no width",
		"delivery.response p99 ±-5%":       "no width",
		"delivery.response p99 ±0.9%":      "no width",
		"delivery.response p99 ±101%":      "no width",
		"delivery.response p99 ±NaN%":      "no width",
		"delivery.response p99 ±":          "no width",
		"delivery.response p99 ±0s":        "no width",
		"delivery.response p99 ±-5us":      "no width",
		"delivery.response p99 ±5":         "no width",
		"delivery.response p99 ±5% ±5%":    "no width",
		"delivery.response p99 ±5% please": "no width",
	} {
		u, err := ParseUntil(text)
		if err == nil {
			t.Errorf("%q is read as %+v", text, u)
			continue
		}
		e, ok := err.(*Error)
		if !ok || e.Hint == "" || !strings.Contains(err.Error(), part) {
			t.Errorf("%q: %v; want %q and a hint", text, err, part)
		}
	}
}

// What a run could never come to know, or what contradicts it, is refused where
// it stands.
func TestImpossibleUntil(t *testing.T) {
	const until = "phases: {until: delivery.response p99 ±5%}\n"
	for _, c := range []struct{ name, text, want string }{
		{"no text", "phases: {until: 5}\n", "x.yaml:1:17: \"5\" does not say how narrow"},
		{"a list", "phases: {until: [delivery.response p99 ±5%]}\n", "is a list, not"},
		{"a limit of nothing", "phases: {at_most: 5m}\n", "x.yaml:1:19: a limit of 5m on waiting, but the run waits for no percentile"},
		{"flat out", "workload: {rate: max}\nphases: {until: delivery.service p99 ±5%}\n", "with rate: max the latencies are those of full buffers"},
		{"a number of messages", "workload: {loop: closed, messages: 100000}\nphases: {until: delivery.service p99 ±5%}\n", "both an interval and a number of messages would end the window"},
		{"response of a closed loop", "workload: {loop: closed}\n" + until, "a closed loop has no schedule, so only service times"},
		{"delivery of publish", "workload: {pattern: publish}\n" + until, "the pattern publish has no consumers (name publish.response"},
		{"a ramp", "workload: {arrivals: \"ramp:100/s..1000/s\"}\n" + until, "the load of ramp arrivals changes over the window"},
		{"steps", "workload: {arrivals: \"step:100/s@10s,200/s@10s\"}\n" + until, "the load of step arrivals"},
		{"a trace", "workload: {arrivals: \"trace:f\"}\n" + until, "the load of trace arrivals"},
		{"half a wave", "workload: {arrivals: \"sine:50%@1m\"}\n" + until, "the run may end within the first period of 1m"},
		{"no more than the least", "phases: {until: delivery.response p99 ±5%, duration: 1m, at_most: 1m}\n", "x.yaml:1:67: a window of at least 1m and at most 1m cannot be extended"},
		{"the longest is too short", "phases: {until: delivery.response p99.99 ±5%, at_most: 20s}\n", "it needs 36887 messages (lengthen phases.at_most (--at-most) to 37s"},
		{"too few digits", "phases: {until: delivery.response p99 ±2%}\nrecord: {digits: 2}\n", "with two digits no interval can be as narrow"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := Parse("x.yaml", []byte(c.text))
			if err == nil {
				err = s.Validate()
			}
			wantError(t, err, c.want)
			var all Errors
			errors.As(err, &all)
			for _, e := range all {
				if e.Hint == "" {
					t.Errorf("no hint: %v", e)
				}
			}
		})
	}
	made := &Scenario{}
	made.Phases.Until = Until{Metric: "delivery.response", Percent: 101, Share: 0.05}
	if err := made.Validate(); err == nil || !strings.Contains(err.Error(), "no percentile") {
		t.Errorf("made in Go: %v", err)
	}
}

func TestPossibleUntil(t *testing.T) {
	for text, most := range map[string]time.Duration{
		"phases: {until: delivery.response p99 ±5%}\n":                                                      100 * time.Second,
		"phases: {until: \"delivery.response p99.99 +-5%\", duration: 2s}\n":                                time.Minute,
		"phases: {until: delivery.response p99 ±50us, at_most: 10m}\n":                                      10 * time.Minute,
		"phases: {until: delivery.response p99 ±5%, duration: 100h}\n":                                      MaxDuration,
		"workload: {arrivals: \"sine:50%@5s\"}\nphases: {until: delivery.response p50 ±5%}\n":               100 * time.Second,
		"workload: {loop: closed}\nphases: {until: delivery.service p99.9999 ±5%}\n":                        100 * time.Second,
		"objectives: [delivery.response p99.99 < 5ms]\nphases: {until: \"delivery.response p99.99 ±5%\"}\n": 100 * time.Second,
	} {
		s := mustParse(t, text)
		if err := s.Validate(); err != nil {
			t.Errorf("%s%v", text, err)
		}
		s.Normalise()
		if s.Phases.AtMost != most || s.Phases.Longest() != most {
			t.Errorf("%s at most %v, want %v", text, s.Phases.Longest(), most)
		}
		survives(t, s)
	}
	for text, want := range map[string]time.Duration{
		"": 100 * time.Millisecond, ", duration: 50s": 500 * time.Millisecond, ", duration: 1h": 3600 * time.Millisecond,
		", at_most: 2h": 720 * time.Millisecond, ", at_most: 168h": time.Minute,
	} {
		s := mustParse(t, "phases: {until: delivery.response p99 ±5%"+text+"}\n")
		s.Normalise()
		if s.Record.Interval != want {
			t.Errorf("until%s: intervals of %v, want %v", text, s.Record.Interval, want)
		}
	}
	if p := (Phases{Duration: time.Second, AtMost: time.Hour}); p.Longest() != time.Second {
		t.Errorf("without an until the window lasts %v", p.Longest())
	}
}

func FuzzUntil(f *testing.F) {
	f.Add("delivery.response p99 ±5%")
	f.Add("publish.service p99.9 +-50us")
	f.Fuzz(func(t *testing.T, text string) {
		u, err := ParseUntil(text)
		if err != nil {
			return
		}
		if again, err := ParseUntil(u.String()); err != nil || again != u {
			t.Errorf("%q is %+v, written %q, then %+v, %v", text, u, u, again, err)
		}
	})
}
