package study

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"sixnines/scenario"
)

const argumentText = `
name: argued
title: "Versions of {broker}"
question: Which?
story: ["against {first}"]
argument: {broker: a, product: b, driver: "null", versions: [1.2.3, 4.5.6]}
systems:
  - {name: "{broker}-{version}", title: "{broker}: {version}", for: {version: "{versions}"}, scenario: {target: {driver: "{driver}", managed: "{product}@{version}"}}}
loads: [{name: "r-{rate}", title: R, for: {rate: [100, 200]}, scenario: {workload: {rate: "{rate}/s"}}}]
cells: [{systems: ["*"], loads: ["*"]}]
lengths: {quick: {rounds: 1}, default: {rounds: 6}, full: {rounds: 6}}
sections: [{title: "To {version}", for: {version: "{later}"}, conclusions: ["to-{version}"]}]
conclusions:
  - name: "to-{version}"
    for: {version: "{later}"}
    claim: "{version}: no slower than {first}"
    tests: [{kind: ratio, a: "{broker}-{version}/r-100", b: "{broker}-{first}/r-100", figures: [p50], at_most: 1.05}]
`

// The example stands in the study until there is something else; what is made of it is
// an ordinary study, also when it is read again from its text.
func TestArgument(t *testing.T) {
	s, err := Parse("argued.yaml", []byte(argumentText))
	if err != nil {
		t.Fatal(err)
	}
	if s.Argument.String() != "a=1.2.3,4.5.6" || !slices.Equal(s.systemNames(), []string{"a-1.2.3", "a-4.5.6"}) || string(s.Text()) != argumentText {
		t.Errorf("%v, %q", s.Argument, s.systemNames())
	}
	made, err := s.With(Argument{Broker: "c", Product: "d", Driver: "mem", Versions: []string{"2.10", "3", "1.1.1"}})
	if err != nil {
		t.Fatal(err)
	}
	again, err := Parse("again.yaml", made.Text())
	if err != nil {
		t.Fatalf("%v\n%s", err, made.Text())
	}
	for _, s := range []*Study{made, again} {
		if s.Argument != nil || s.Title != "Versions of c" || s.Story[0] != "against 2.10" || s.Systems[1].Title != "c: 3" ||
			!slices.Equal(s.systemNames(), []string{"c-2.10", "c-3", "c-1.1.1"}) || !slices.Equal(s.conclusionNames(), []string{"to-3", "to-1.1.1"}) ||
			s.Conclusions[1].Tests[0].A != "c-1.1.1/r-100" || s.Conclusions[1].Tests[0].B != "c-2.10/r-100" || s.Sections[1].Title != "To 1.1.1" {
			t.Errorf("%+v", s)
		}
		cells, err := s.Cells(Default)
		if err != nil || len(cells) != 6 {
			t.Fatalf("%d cells, %v", len(cells), err)
		}
		if sc, err := cells[0].Scenario(nil); err != nil || sc.Target.Managed != "d@2.10" || sc.Target.Driver != "mem" || sc.Workload.Rate.String() != "100/s" {
			t.Errorf("%+v, %v", sc, err)
		}
		if _, err := s.With(Argument{}); !errors.Is(err, ErrNoArgument) {
			t.Errorf("%v", err)
		}
	}
	for says, versions := range map[string][]string{
		"two versions are wanted": {"1"}, "stands there twice": {"1", "2", "1"}, "is no version": {"1", "a b"}, "7 versions are more than": {"1", "2", "3", "4", "5", "6", "7"},
	} {
		if _, err := s.With(Argument{Broker: "c", Product: "d", Driver: "mem", Versions: versions}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", versions, err)
		}
	}
}

// What is wrong with an example, or with what is made of it, has its line.
func TestArgumentRefused(t *testing.T) {
	for _, tt := range []struct{ old, new, says string }{
		{"versions: [1.2.3, 4.5.6]", "versions: [1.2.3]", "argued.yaml:6:11: argument: two versions are wanted"},
		{"product: b", "prodct: b", `argued.yaml:6:23: unknown key "prodct" in argument (did you mean product?)`},
		{`for: {version: "{later}"}, conclusions`, "conclusions", `argued.yaml:12:50: there is no conclusion "to-{version}"`},
		{`b: "{broker}-{first}/r-100"`, `b: "{broker}-{frist}/r-100"`, `argued.yaml:17:`},
	} {
		text := strings.Replace(argumentText, tt.old, tt.new, 1)
		var many scenario.Errors
		if _, err := Parse("argued.yaml", []byte(text)); text == argumentText || !errors.As(err, &many) || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v", tt.new, err)
		}
	}
}
