package scenario

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// survives checks that a valid scenario is the same after YAML and after JSON.
func survives(t *testing.T, s *Scenario) {
	t.Helper()
	want := s.clone()
	want.Normalise()
	want.source = nil
	want.chosen = false // what is written down is given
	text, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	object, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	fromYAML, err := Parse("encoded.yaml", text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	fromJSON, err := FromJSON("encoded.json", object)
	if err != nil {
		t.Fatalf("%v\n%s", err, object)
	}
	for name, got := range map[string]*Scenario{"YAML": fromYAML, "JSON": fromJSON} {
		if err := got.Validate(); err != nil {
			t.Fatalf("%s is not valid: %v\n%s", name, err, text)
		}
		got.source = nil
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%s does not give all of it:\ngot  %+v\nwant %+v\n%s\n%s", name, got, want, text, object)
		}
		again := got.clone()
		again.Normalise()
		if !reflect.DeepEqual(again, want) {
			t.Fatalf("normalising twice changes\n%+v\nto\n%+v", want, again)
		}
	}
	// The YAML's keys are the JSON's.
	if viaYAML, _ := json.Marshal(fromYAML); !bytes.Equal(viaYAML, object) {
		t.Fatalf("JSON by way of YAML differs:\n%s\n%s", viaYAML, object)
	}
}

func TestEncode(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		s, err := ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		survives(t, s)
	}
	for _, words := range []string{"", "yes", "~", "null", "1.10", "0x1F", " lead", "trail ", "a: b", "# c", "- d", "\"", "'", "line\nline", "\ttab", "ümläut", "\u2028", "\u0085", "\ufeff", "\x00\x1b", "🜚", "|", ">", "%YAML", "!tag", "&a", "*a", "<<", "---", "..."} {
		survives(t, &Scenario{Description: words, Target: Target{URL: words, Options: map[string]any{"k" + words: words, "list": []any{words, 1, 2.5, 3.0, 1e21, -1e-9, uint64(1 << 63), true}, "map": map[string]any{words: words}}}})
	}
	survives(t, &Scenario{Phases: Phases{NoWarmup: true}})
}

func TestEncodeIsForPeople(t *testing.T) {
	s := &Scenario{Name: "x", Workload: Workload{Rate: Rate{100, 3 * time.Second}, Arrivals: Arrivals{Kind: Sine, Amplitude: 0.5, Period: time.Minute}}}
	text, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"version: 1\nname: x\nseed: 1\ntarget:\n  driver: nats\n", "  rate: 100/3s\n  arrivals:\n    kind: sine\n    amplitude: 0.5\n    period: 1m\n  size: 256B\n", "phases:\n  warmup: 2s\n"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if s.Version != 0 {
		t.Error("encoding changed the scenario")
	}
}

func TestOptionsOfGoPrograms(t *testing.T) {
	s := &Scenario{Target: Target{Options: map[string]any{"a": 5 * time.Second, "b": []string{"x", "y"}, "c": int8(3), "d": KiB, "e": float32(0.5)}}}
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	if want := `"options":{"a":"5s","b":["x","y"],"c":3,"d":"1KiB","e":0.5}`; !strings.Contains(string(text), want) {
		t.Errorf("no %s in %s", want, text)
	}
}

func TestFromJSONRefuses(t *testing.T) {
	for text, want := range map[string]string{
		``:                                      "x.json:1:1: ",
		`{`:                                     "x.json:1:",
		`[]`:                                    "x.json:1:1: the scenario is a list, not a mapping",
		`{} {}`:                                 "there is more after the scenario",
		`{"seed": 1, "seed": 2}`:                "x.json:1:13: duplicate key \"seed\"",
		"{\n \"workload\": {\"rat\": \"1/s\"}}": "x.json:2:15: unknown key \"rat\" in workload (did you mean rate?)",
		`{"workload": {"rate": -5}}`:            "x.json:1:23: the rate \"-5\" is negative",
		`{"workload": {"rate": null}}`:          "workload.rate has no value",
		`{"seed": "5"}`:                         "\"5\" is not a whole number (write decimal digits, or such as 20k, without quotes)",
		strings.Repeat(`{"a":`, 100):            "nested more than 32 deep",
	} {
		_, err := FromJSON("x.json", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s:\ngot  %v\nwant %s", text, err, want)
		}
	}
	s, err := FromJSON("x.json", []byte(`{"description": "\ud83d\ude00 \/ \u0000", "target": {"options": {"n": 1e2, "i": 12345678901234567890}}}`))
	if err != nil || s.Description != "😀 / \x00" || s.Target.Options["n"] != 100.0 || s.Target.Options["i"] != uint64(12345678901234567890) {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestScenarioInAHeader(t *testing.T) {
	type header struct {
		Scenario *Scenario `json:"scenario"`
	}
	in := header{&Scenario{Name: "a"}}
	text, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	if value, err := json.Marshal(struct {
		Scenario Scenario `json:"scenario"`
	}{*in.Scenario}); err != nil || !bytes.Equal(value, text) {
		t.Errorf("a value is written otherwise than a pointer: %s, %v", value, err)
	}
	var out header
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	in.Scenario.Normalise()
	in.Scenario.chosen = false // what is written down is given
	out.Scenario.source = nil
	if !reflect.DeepEqual(in.Scenario, out.Scenario) {
		t.Errorf("got %+v, want %+v", out.Scenario, in.Scenario)
	}
}

func FuzzParse(f *testing.F) {
	paths, err := filepath.Glob("testdata/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte("workload: {arrivals: 'burst:1@1s'}\nphases: {warmup: 0s}\ntarget: {options: {a: [1, {b: 2.5}], c: 0x10}}"))
	f.Add([]byte("a: &a [*a]\n---\n\t- x"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Parse("fuzz.yaml", text)
		if err != nil {
			for _, e := range err.(Errors) {
				if e.Line < 1 || e.Column < 1 || e.Cause == "" || strings.ContainsRune(e.Error(), '\n') {
					t.Fatalf("a poor error: %+v", e)
				}
			}
			return
		}
		if s.Validate() == nil {
			survives(t, s)
		}
	})
}

func FuzzFromJSON(f *testing.F) {
	f.Add([]byte(`{"workload": {"rate": "5/s", "arrivals": {"kind": "poisson"}}, "target": {"options": {"a": [1, 2.5, "x", true]}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if s, err := FromJSON("fuzz.json", text); err == nil && s.Validate() == nil {
			survives(t, s)
		}
	})
}

func FuzzApply(f *testing.F) {
	f.Add("workload.arrivals", "step:1/s@10s")
	f.Add("target.tls", "{ca: x}")
	f.Add("target.options.a.b", "x")
	f.Add("phases", "{warmup: 0s}")
	f.Fuzz(func(t *testing.T, key, value string) {
		var s Scenario
		if s.Apply(Override{Key: key, Value: value, Flag: "--set"}) == nil && s.Validate() == nil {
			survives(t, &s)
		}
	})
}
