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
	want.Phases.NoWarmup = true
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
	if err := s.Apply(Override{"phases.warmup", "1s", ""}); err != nil || s.Phases.NoWarmup {
		t.Errorf("a warm-up after all: %v", err)
	}
}

// A key reaches into one of several workloads, and the others stay.
func TestApplyToAWorkload(t *testing.T) {
	s := mustParse(t, "workloads:\n  events: {rate: 5/s, options: {acks: all}}\n  bulk: {rate: 7/s, seed: 9}\n")
	before := s.clone()
	if err := s.Apply(Override{"workloads.bulk.rate", "20/s", ""}, Override{"workloads.events.options.acks", "0", ""},
		Override{"workloads.bulk.objectives[]", "lost == 0", ""}, Override{"workloads.bulk.consumer.ack", "each", ""}); err != nil {
		t.Fatal(err)
	}
	events, bulk := s.Workloads[0], s.Workloads[1]
	if bulk.Rate != PerSecond(20) || bulk.Name != "bulk" || len(bulk.Objectives) != 1 || bulk.Consumer.Ack != "each" || events.Rate != PerSecond(5) || events.Options["acks"] != "0" {
		t.Errorf("%+v", s.Workloads)
	}
	if before.Workloads[0].Options["acks"] != "all" || before.Workloads[1].Rate != PerSecond(7) {
		t.Errorf("shared with the scenario before: %+v", before.Workloads)
	}
	if err := s.Apply(Override{"workloads.bulk", "{rate: 3/s}", ""}); err != nil || s.Workloads[1].Name != "bulk" || s.Workloads[1].Rate != PerSecond(3) || len(s.Workloads[1].Objectives) != 0 {
		t.Errorf("%+v, %v", s.Workloads[1], err)
	}
	wantError(t, s.Apply(Override{"workloads.bulk.rate", "3/5", "--set"}), `--set: "3/5" is not a rate: "5" has no unit (write /5s)`)
	wantError(t, s.Apply(Override{"workloads.bulks.rate", "3/s", "--set"}), `--set: there is no workload "bulks" (did you mean bulk?)`)
	wantError(t, new(Scenario).Apply(Override{"workloads.bulk.rate", "3/s", "--set"}), `--set: there is no workload "bulk" (the scenario has one workload, whose keys begin with workload.)`)
}

// Another seed is another one for workloads with seeds of their own, too.
func TestReseed(t *testing.T) {
	s := mustParse(t, "seed: 4\nworkloads:\n  a: {rate: 5/s}\n  b: {rate: 7/s, seed: 9}\n")
	again := *s
	again.Reseed(6)
	if p := again.Parts(); p[0].Seed != 6 || p[1].Seed != 11 || s.Workloads[1].Seed != 9 || s.Seed != 4 {
		t.Errorf("%d and %d, before %d", p[0].Seed, p[1].Seed, s.Workloads[1].Seed)
	}
}

func TestApplyRefuses(t *testing.T) {
	for _, c := range []struct{ o, want string }{
		{"workload.rate=3000/5", "--flag: \"3000/5\" is not a rate: \"5\" has no unit (write /5s)"},
		{"workload.rat=3000", "--flag: unknown key \"rat\" in workload (did you mean rate?)"},
		{"rate=1/s", "--flag: unknown key \"rate\" (did you mean "},
		{"workload.rate.x=1", "--flag: workload.rate has no keys below it"},
		{"workload.rate=", "--flag: workload.rate has no value (total over"},
		{"workload.producers=0", "--flag: 0 is too small for producers (1 to 1048576)"},
		{"workload.producers=many", "--flag: \"many\" is not a whole number (write decimal digits, or such as 20k)"},
		{"record.raw=1", "--flag: \"1\" is not a truth value (write true or false)"},
		{"workload.arrivals=poison", "--flag: no arrivals are called \"poison\""},
		{"workload.arrivals={kind: poison}", "--flag: \"poison\" is not allowed for kind"},
		{"workload.arrivals={kind: poisson, kind: step}", "--flag: duplicate key \"kind\" in workload.arrivals (remove one of them)"},
		{"phases=5", "--flag: phases is \"5\", not a mapping"},
		{"phases={", "--flag: "},
		{"target.options.=5", "--flag: the option has no name"},
		{"name=\xff", "--flag: \"name=…\" is not UTF-8"},
		{"target.options.a=\xff", "--flag: \"target.options.a=…\" is not UTF-8"},
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
	wantError(t, s.Apply(Override{Key: "phases.drain", Value: "1"}), "phases.drain: the duration \"1\" has no unit (write 1s or 1ms)")
}
