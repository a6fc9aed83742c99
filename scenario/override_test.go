package scenario

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestApply(t *testing.T) {
	s := mustParse(t, "workload:\n  rate: 5/s\n  arrivals: {kind: sine, amplitude: 0.5, period: 1s}\ntarget: {options: {a: 1}}\n")
	before := s.clone()
	err := s.Apply(
		Override{"workload.rate", "20k/s", "--rate"},
		Override{"workload.size", "1KiB", "--size"},
		Override{"workload.producers", "700", ""},
		Override{"workload.arrivals.period", "2s", ""},
		Override{"phases.warmup", "0s", "--warmup"},
		Override{"record.raw", "true", "--raw"},
		Override{"target.options.write_buffer", "64KiB", "--option"},
		Override{"target.options.dotted.name", "x", "--option"},
		Override{"target.tls.ca", "ca.pem", ""},
		Override{"target.url", "", ""},
		Override{"name", "2026", ""},
		Override{"workload.connections", "{producers: 4}", ""},
	)
	if err != nil {
		t.Fatal(err)
	}
	want := before.clone()
	w := &want.Workload
	w.Rate, w.Size, w.Producers, w.Arrivals.Period, w.Connections.Producers = PerSecond(20000), FixedSize(KiB), 700, 2*time.Second, 4
	want.Record.Raw, want.Name = true, "2026"
	want.Target.Options = map[string]any{"a": 1, "write_buffer": "64KiB", "dotted.name": "x"}
	want.Target.TLS = &TLS{CA: "ca.pem"}
	want.cold = true
	source := s.source
	s.source, want.source = nil, nil
	if !reflect.DeepEqual(s, want) {
		t.Errorf("got  %+v\nwant %+v", s, want)
	}
	s.source = source
	if before.Target.Options["write_buffer"] != nil {
		t.Error("options are shared with the scenario before")
	}

	if err := s.Apply(Override{"workload.arrivals", "burst:5@1s", "--arrivals"}, Override{"workload.arrivals", "ramp:1/s..2/s", "--arrivals"}); err != nil {
		t.Fatal(err)
	}
	if got, want := s.Workload.Arrivals.String(), "ramp:1/s..2/s"; got != want {
		t.Errorf("arrivals are %s, want %s", got, want)
	}
	wantError(t, s.Validate(), "--rate: ramp arrivals give their own rate (leave out workload.rate)")
	if err := s.Apply(Override{"workload.arrivals", "{kind: burst, count: 5, period: 1s}", ""}); err != nil || s.Workload.Arrivals.From != (Rate{}) {
		t.Errorf("arrivals from a mapping: %v, %v", s.Workload.Arrivals, err)
	}
	if err := s.Apply(Override{"phases.warmup", "1s", ""}); err != nil || s.cold {
		t.Errorf("a warm-up after all: %v", err)
	}
}

func TestApplyRefuses(t *testing.T) {
	for _, c := range []struct{ o, want string }{
		{"workload.rate=3000", "--flag: the rate \"3000\" has no unit (write 3000/s)"},
		{"workload.rat=3000", "--flag: unknown key \"rat\" in workload (did you mean rate?)"},
		{"rate=1/s", "--flag: unknown key \"rate\" (did you mean "},
		{"workload.rate.x=1", "--flag: workload.rate has no keys below it"},
		{"workload.rate=", "--flag: workload.rate has no value (total over"},
		{"workload.producers=0", "--flag: 0 is too small for producers (1 to 16777216)"},
		{"workload.producers=many", "--flag: \"many\" is not a whole number (write decimal digits)"},
		{"record.raw=1", "--flag: \"1\" is not a truth value (write true or false)"},
		{"workload.arrivals=poison", "--flag: no arrivals are called \"poison\""},
		{"workload.arrivals={kind: poison}", "--flag: \"poison\" is not allowed for kind"},
		{"workload.arrivals={kind: poisson, kind: step}", "--flag: duplicate key \"kind\" in workload.arrivals (remove one of them)"},
		{"phases=5", "--flag: phases is \"5\", not a mapping"},
		{"phases={", "--flag: "},
		{"target.options.=5", "--flag: the option has no name"},
		{"name=\xff", "--flag: \"name=\\xff\" is not UTF-8"},
		{"target.options.a=\xff", "--flag: \"target.options.a=\\xff\" is not UTF-8"},
		{"=5", "--flag: unknown key \"\""},
	} {
		s := mustParse(t, full)
		before := s.clone()
		key, value, _ := strings.Cut(c.o, "=")
		wantError(t, s.Apply(Override{"workload.size", "1KiB", ""}, Override{key, value, "--flag"}), c.want)
		if !reflect.DeepEqual(s, before) {
			t.Errorf("%s: refused, and yet something changed", c.o)
		}
	}
	var s Scenario
	wantError(t, s.Apply(Override{Key: "workload.size", Value: "1"}), "workload.size: the size \"1\" has no unit")
}
