package scenario

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

const full = `# everything at once
version: 1
name: event-700
description: "an event stream: 700 flows"
seed: 7
target:
  driver: nats
  url: tls://broker:4222
  options: {write_buffer: 64KiB, retries: 3, share: 0.5, verbose: true, servers: [a, b]}
  tls:
    ca: ca.pem
    cert: me.pem
    key: me.key
    server_name: broker
    insecure_skip_verify: true
workload:
  pattern: deliver
  loop: open
  rate: 3000/s
  arrivals: {kind: sine, amplitude: 0.5, period: 10s, random: true}
  size: 1KiB
  producers: 700
  consumers: 1000
  topics: 700
  groups: 10
  connections: {producers: 4, consumers: 8}
  in_flight: {messages: 1000, bytes: 1MiB}
  timeout: 5s
  consumer: {ack: 10, work: 50us}
phases:
  warmup: 0s
  duration: 1m30s
  drain: 5s
record:
  interval: 500ms
  digits: 2
  raw: true
`

func mustParse(t testing.TB, text string) *Scenario {
	t.Helper()
	s, err := Parse("x.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestParse(t *testing.T) {
	got := mustParse(t, full)
	got.source = nil
	want := &Scenario{
		Version: 1, Name: "event-700", Description: "an event stream: 700 flows", Seed: 7,
		Target: Target{
			Driver: "nats", URL: "tls://broker:4222",
			Options: map[string]any{"write_buffer": "64KiB", "retries": 3, "share": 0.5, "verbose": true, "servers": []any{"a", "b"}},
			TLS:     &TLS{CA: "ca.pem", Cert: "me.pem", Key: "me.key", ServerName: "broker", InsecureSkipVerify: true},
		},
		Workload: Workload{
			Pattern: Deliver, Loop: Open, Rate: PerSecond(3000),
			Arrivals: Arrivals{Kind: Sine, Amplitude: 0.5, Period: 10 * time.Second, Random: true},
			Size:     FixedSize(KiB), Producers: 700, Consumers: 1000, Topics: 700, Groups: 10,
			Connections: Connections{Producers: 4, Consumers: 8}, InFlight: InFlight{Messages: 1000, Bytes: MiB}, Timeout: 5 * time.Second,
			Consumer: Consumer{Ack: "10", Work: 50 * time.Microsecond},
		},
		Phases: Phases{NoWarmup: true, Duration: 90 * time.Second, Drain: 5 * time.Second},
		Record: Record{Interval: 500 * time.Millisecond, Digits: 2, Raw: true},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if err := got.Validate(); err != nil {
		t.Error(err)
	}
}

func TestParseArrivalsForms(t *testing.T) {
	for text, want := range map[string]Arrivals{
		"poisson":                              {Kind: Poisson},
		"{kind: poisson}":                      {Kind: Poisson},
		"\"burst:100@1s\"":                     {Kind: Burst, Count: 100, Period: time.Second},
		"ramp:1000/s..5000/s":                  {Kind: Ramp, From: PerSecond(1000), To: PerSecond(5000)},
		"{kind: ramp, from: 1000/s, to: 5k/s}": {Kind: Ramp, From: PerSecond(1000), To: PerSecond(5000)},
		"{kind: step, steps: [{rate: 1/3s, for: 10s}]}":    {Kind: Step, Steps: []RateStep{{Rate{1, 3 * time.Second}, 10 * time.Second}}},
		"step:1/3s@10s,2/s@1m":                             {Kind: Step, Steps: []RateStep{{Rate{1, 3 * time.Second}, 10 * time.Second}, {PerSecond(2), time.Minute}}},
		"sine:50%@10s,random":                              {Kind: Sine, Amplitude: 0.5, Period: 10 * time.Second, Random: true},
		"trace:a:b, random":                                {Kind: Trace, File: "a:b, random"},
		"{kind: sine, amplitude: 1, period: 1h}":           {Kind: Sine, Amplitude: 1, Period: time.Hour},
		"{kind: ramp, from: 1/s, to: 2/s, random: true}":   {Kind: Ramp, From: PerSecond(1), To: PerSecond(2), Random: true},
		"{kind: burst, count: 18, period: 250ms}":          {Kind: Burst, Count: 18, Period: 250 * time.Millisecond},
		"{kind: trace, file: arrivals.txt}":                {Kind: Trace, File: "arrivals.txt"},
		"{kind: step, steps: [{rate: 10/min, for: 1ms}]}":  {Kind: Step, Steps: []RateStep{{Rate{10, time.Minute}, time.Millisecond}}},
		"{kind: constant, random: false, period: 1us}":     {Kind: Constant, Period: time.Microsecond},
		"{kind: constant, amplitude: 1e-3, count: 1}":      {Kind: Constant, Amplitude: 0.001, Count: 1},
		"{kind: step, steps: []}":                          {Kind: Step, Steps: []RateStep{}},
		"{kind: burst, period: 1s}":                        {Kind: Burst, Period: time.Second},
		"{period: 1s}":                                     {Period: time.Second},
		"{}":                                               {},
		"{kind: sine, amplitude: 0.333, period: 1h30m15s}": {Kind: Sine, Amplitude: 0.333, Period: time.Hour + 30*time.Minute + 15*time.Second},
	} {
		got := mustParse(t, "workload:\n  arrivals: "+text+"\n").Workload.Arrivals
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, want %+v", text, got, want)
		}
	}
}

// TestWrongText holds the texts that Parse refuses.
func TestWrongText(t *testing.T) {
	deep := strings.Repeat("[", 40) + strings.Repeat("]", 40)
	for _, c := range []struct{ name, text, want string }{
		{"unknown key", "workload:\n  rat: 1/s\n", "x.yaml:2:3: unknown key \"rat\" in workload (did you mean rate?)"},
		{"unknown key at the top", "wrkload: {}\n", "x.yaml:1:1: unknown key \"wrkload\" (did you mean workload?)"},
		{"key of another mapping", "warmup: 2s\n", "x.yaml:1:1: unknown key \"warmup\" (did you mean phases.warmup?)"},
		{"key like nothing", "record:\n  xyzzy: 2s\n", "x.yaml:2:3: unknown key \"xyzzy\" in record (valid keys are interval, digits, raw, probe)"},
		{"duplicate key", "seed: 1\nname: a\nseed: 2\n", "x.yaml:3:1: duplicate key \"seed\" (it is first given in line 1; remove one of them)"},
		{"duplicate option", "target:\n  options:\n    a: 1\n    a: 2\n", "x.yaml:4:5: duplicate key \"a\" in target.options (it is first given in line 3; remove one of them)"},
		{"a list for a mapping", "workload: [1]\n", "x.yaml:1:11: workload is a list, not a mapping (its keys are pattern, loop,"},
		{"a word for a mapping", "phases: long\n", "x.yaml:1:9: phases is \"long\", not a mapping (its keys are warmup, duration, until, at_most, drain, read_back)"},
		{"a mapping for a word", "name: {a: b}\n", "x.yaml:1:7: name is a mapping, not a word"},
		{"a word for a list", "workload: {arrivals: {kind: step, steps: 5}}\n", "x.yaml:1:42: workload.arrivals.steps is \"5\", not a list"},
		{"rate of thousands apart", "workload:\n  rate: \"3,000/s\"\n", "x.yaml:2:9: \"3,000/s\" is not a rate: \"3,000\" has a comma, which could divide thousands or be the decimal point (write 3000 or 3.000)"},
		{"rate of a small m", "workload:\n  rate: 3m\n", "\"3m\" is not a rate: m could mean a million or a minute (write 3M/s or 3/min)"},
		{"rate with a wrong unit", "workload: {rate: 3000/parsec}\n", "x.yaml:1:18: \"3000/parsec\" is not a rate: \"parsec\" is not a time"},
		{"rate over a bare number", "workload: {rate: 3/5}\n", "x.yaml:1:18: \"3/5\" is not a rate: \"5\" has no unit (write /5s)"},
		{"rate over days", "workload: {rate: 3/48h}\n", "counts over more than a day"},
		{"negative rate", "workload: {rate: -1/s}\n", "x.yaml:1:18: the rate \"-1/s\" is negative"},
		{"no rate at all", "workload: {rate: 0/s}\n", "the rate \"0/s\" is zero (leave it out"},
		{"rate overflow", "workload: {rate: 99999999999999999999/s}\n", "is not a rate: \"99999999999999999999\" is too large"},
		{"rate overflow by its multiple", "workload: {rate: 9999999999G/s}\n", "the rate \"9999999999G/s\" is too high (write max"},
		{"rate misspelt", "workload: {rate: mx}\n", "\"mx\" is not a rate (a rate is messages per time, such as 3000/s, 0.5/s, 20k/s or 100/3s, or max; did you mean max?)"},
		{"size with an unknown unit", "workload: {size: 1MiBs}\n", "has an unknown unit \"MiBs\" (did you mean MiB?)"},
		{"negative size", "workload: {size: -1B}\n", "the size \"-1B\" is negative"},
		{"size below the envelope", "workload: {size: 31B}\n", "31B is too small for size (32B to 1GiB)"},
		{"size overflow", "workload: {size: 99999999999GiB}\n", "the size \"99999999999GiB\" is too large"},
		{"size of a fraction", "workload: {size: 0.3KiB}\n", "is not a whole number of bytes (write 307B or 308B)"},
		{"duration without unit", "phases: {duration: 10}\n", "x.yaml:1:20: the duration \"10\" has no unit (write 10s or 10ms)"},
		{"duration of months or minutes", "phases: {duration: 5M}\n", "\"5M\" is not a duration (a duration is a number and a unit (ns, us, ms, s, m or min, h, d)"},
		{"negative duration", "phases: {drain: -1s}\n", "the duration \"-1s\" is negative"},
		{"no drain", "phases: {drain: 0s}\n", "0s is too small for drain (1ms to 24h)"},
		{"a window of more than a week", "phases: {duration: 169h}\n", "169h is too large for duration (1ms to 168h)"},
		{"duration overflow", "phases: {duration: 99999999h}\n", "\"99999999h\" is not a duration"},
		{"interval too short", "record: {interval: 4ms}\n", "4ms is too small for interval (5ms to 1m)"},
		{"interval too long", "record: {interval: 61s}\n", "1m1s is too large for interval (5ms to 1m)"},
		{"five digits", "record: {digits: 5}\n", "5 is too large for digits (2 to 3)"},
		{"digits as text", "record: {digits: \"3\"}\n", "\"3\" is not a whole number (write decimal digits, or such as 20k, without quotes)"},
		{"digits in octal", "record: {digits: 03}\n", "\"03\" is not a whole number"},
		{"truth in other words", "record: {raw: yes}\n", "\"yes\" is not a truth value (write true or false)"},
		{"negative number", "workload: {producers: -1}\n", "-1 is negative"},
		{"no producers", "workload: {producers: 0}\n", "0 is too small for producers (1 to 1048576)"},
		{"too many producers", "workload: {producers: 1048577}\n", "1048577 is too large for producers (1 to 1048576)"},
		{"number overflow", "workload: {producers: 99999999999999999999}\n", "\"99999999999999999999\" is too large"},
		{"fraction of a producer", "workload: {producers: 1.5}\n", "\"1.5\" is not a whole number"},
		{"seed zero", "seed: 0\n", "0 is too small for seed (at least 1)"},
		{"unknown pattern", "workload: {pattern: delivery}\n", "\"delivery\" is not allowed for pattern (one of publish, deliver, roundtrip, request-reply, consume; did you mean deliver?)"},
		{"unknown loop", "workload: {loop: half-open}\n", "\"half-open\" is not allowed for loop (one of open, closed)"},
		{"unknown acknowledgement", "workload: {consumer: {ack: sometimes}}\n", "\"sometimes\" is not allowed for ack (acknowledge to the broker: none, each, or a number"},
		{"a name with spaces", "name: my run\n", "\"my run\" is not allowed for name (what to call the run; letters, digits, - and _)"},
		{"unknown arrivals", "workload: {arrivals: poison}\n", "no arrivals are called \"poison\" (one of constant, poisson, step, ramp, sine, burst, trace; did you mean poisson?)"},
		{"unknown kind of arrivals", "workload: {arrivals: {kind: bursts}}\n", "\"bursts\" is not allowed for kind (one of constant, poisson, step, ramp, sine, burst, trace; did you mean burst?)"},
		{"arrivals without parameters", "workload: {arrivals: ramp}\n", "the arrivals \"ramp\" lack their parameters (write such as ramp:1000/s..5000/s)"},
		{"arrivals with parameters", "workload: {arrivals: \"poisson:3\"}\n", "the arrivals \"poisson:3\" take no parameters (write poisson)"},
		{"half a ramp", "workload: {arrivals: ramp:1/s}\n", "\"1/s\" lacks its \"..\" (write such as ramp:1000/s..5000/s)"},
		{"a sine without percent", "workload: {arrivals: sine:0.5@10s}\n", "\"0.5\" is not a percentage (write such as sine:50%@10s)"},
		{"half a burst", "workload: {arrivals: burst:x@10s}\n", "\"x\" is not a whole number (write such as burst:100@1s)"},
		{"a trace of nothing", "workload: {arrivals: \"trace:\"}\n", "the file's name is missing (write such as trace:FILE)"},
		{"amplitude above one", "workload: {arrivals: {kind: sine, amplitude: 1.5, period: 1s}}\n", "1.5 is too large for amplitude (at most 1)"},
		{"amplitude in words", "workload: {arrivals: {kind: sine, amplitude: half, period: 1s}}\n", "\"half\" is not a number (write a decimal number such as 0.5)"},
		{"a value forgotten", "workload:\n  rate:\n", "x.yaml:2:8: workload.rate has no value (write one, or remove the line: total over all producers"},
		{"an option forgotten", "target: {options: {a: }}\n", "target.options.a has no value"},
		{"options as a list", "target: {options: [a]}\n", "target.options is a list, not a mapping (write name: value, one a line)"},
		{"an option without end", "target: {options: {a: .inf}}\n", "the number of target.options.a is not understood"},
		{"an option in octal", "target: {options: {a: 0644}}\n", "the number of target.options.a is not understood (write it in decimal digits, or put it in quotes)"},
		{"empty file", "", "x.yaml:1:1: the scenario is empty (write {} for a run with every default)"},
		{"only comments", "# nothing\n", "x.yaml:1:1: the scenario is empty"},
		{"an empty document", "---\n", "x.yaml:1:1: the scenario is empty"},
		{"a list", "- a\n", "x.yaml:1:1: the scenario is a list, not a mapping"},
		{"a second document", "seed: 1\n---\nseed: 2\n", "x.yaml:3:1: a second document begins here (a file holds one scenario"},
		{"an alias", "name: &a x\ndescription: *a\n", "x.yaml:1:7: anchors are not part of the format (remove &a and write values out)\nx.yaml:2:14: aliases are not part of the format (write the value of *a out)"},
		{"an unknown alias", "name: *a\n", "x.yaml:1:7: aliases are not part of the format"},
		{"a bomb", "target:\n  options: &a\n    x: [*a, *a, *a]\n", "anchors are not part of the format"},
		{"a merge", "workload:\n  <<: {rate: 1/s}\n", "x.yaml:2:3: merge keys are not part of the format"},
		{"a tag", "seed: !!int 5\n", "x.yaml:1:7: tags are not part of the format (remove !!int)"},
		{"nested too deep", "target: {options: {a: " + deep + "}}\n", "nested more than 32 deep"},
		{"nested deeper than the reader", strings.Repeat("[", 20000), "nested more than 32 deep"},
		{"not UTF-8", "name: a\ndescription: caf\xe9\n", "x.yaml:2:17: byte 0xe9 is not UTF-8 (save the file as UTF-8)"},
		{"UTF-16", "\xff\xfen\x00", "x.yaml:1:1: byte 0xff is not UTF-8"},
		{"a control character", "name: a\x00b\n", "x.yaml:1:8: control character U+0000"},
		{"a tab", "workload:\n\trate: 1/s\n", "x.yaml:2:1: a tab in the indentation (indent with spaces)"},
		{"a bracket left open", "workload: {rate: 1/s\n", "x.yaml:2:1: "},
		{"a colon in text", "description: a: b\n", "x.yaml:1:15: a second value in one line"},
		{"too long", "# " + strings.Repeat("x", MaxText), "the scenario is longer than 1048576 bytes"},
		{"a key that is a list", "[a]: 1\n", "a key is a list, not a word"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse("x.yaml", []byte(c.text))
			wantError(t, err, c.want)
		})
	}
}

// wantError checks that err holds want and that each of its errors is one line
// with a place and, unless it is obvious, a hint.
func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error; want %q", want)
	}
	if !strings.Contains(err.Error(), want) {
		t.Errorf("got  %s\nwant %s", err, want)
	}
	var all Errors
	if !errors.As(err, &all) {
		t.Fatalf("a %T, want Errors", err)
	}
	for _, e := range all {
		if strings.ContainsAny(e.Cause+e.Hint, "\n\r") {
			t.Errorf("more than one line: %q (%q)", e.Cause, e.Hint)
		}
		if e.File == "x.yaml" && (e.Line < 1 || e.Column < 1) {
			t.Errorf("no position: %v", e)
		}
		if e.Cause == "" {
			t.Errorf("no cause: %+v", e)
		}
	}
}

func TestErrorsAreAllFoundInOrder(t *testing.T) {
	_, err := Parse("x.yaml", []byte("zzz: 1\nworkload: {rate: 5/x, size: 5x}\nphases:\n  drain: x\n"))
	var all Errors
	if !errors.As(err, &all) {
		t.Fatal(err)
	}
	var places []string
	for _, e := range all {
		places = append(places, fmt.Sprintf("%d:%d", e.Line, e.Column))
	}
	if got, want := strings.Join(places, " "), "1:1 2:18 2:29 4:10"; got != want {
		t.Errorf("errors at %s, want %s\n%v", got, want, err)
	}
	var one *Error
	if !errors.As(err, &one) || one != all[0] {
		t.Error("the first error is not found by errors.As")
	}
}
