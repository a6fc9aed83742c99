package judge_test

import (
	"strings"
	"testing"

	"sixnines/internal/judge"
	"sixnines/scenario"
)

// Each rule is broken by the scenario that it is about, and kept by one that differs in that only.
func TestRules(t *testing.T) {
	const flatOut = "target: {driver: mem}\nworkload: {rate: max}\n"
	for _, tt := range []struct {
		text     string
		sameHost bool
		machines int
		messages int64
		found    []string // the beginnings of what is found
	}{
		{"target: {driver: mem}\nworkload: {rate: 100/s}\n", false, 1, 5000, nil},
		{"target: {driver: mem}\nworkload: {rate: 100/s}\n", true, 1, 5000, []string{"broker and generator on one machine"}},
		{"target: {driver: mem}\nworkload: {rate: 100/s}\nnetwork: {profile: cross-region}\n", true, 1, 5000, nil},
		{"target: {driver: mem}\nworkload: {rate: 100/s}\n", false, 1, 367, []string{"too few messages for p99"}},
		{"target: {driver: mem}\nworkload: {rate: 100/s}\n", false, 1, 368, nil},
		{flatOut, false, 2, 0, []string{"one producer and at most one consumer"}},
		{flatOut, false, 1, 0, []string{"one producer and at most one consumer", "the load comes from one machine"}},
		{"target: {driver: mem}\nworkload: {rate: max, producers: 2, consumers: 2}\n", false, 2, 0, nil},
		{"target: {driver: mem}\nworkload: {rate: max, producers: 2, pattern: publish}\n", false, 2, 0, []string{"only the sender's end is measured"}},
		{"target: {driver: mem}\nworkload: {rate: 100/s, pattern: publish}\n", false, 1, 5000, nil},
	} {
		s, err := scenario.Parse("s.yaml", []byte(tt.text))
		if err != nil {
			t.Fatal(err)
		}
		s.Normalise()
		got := judge.Rules(s, tt.sameHost, tt.machines, tt.messages)
		if len(got) != len(tt.found) {
			t.Errorf("%s: %+v, want %q", tt.text, got, tt.found)
			continue
		}
		for i, r := range got {
			if !strings.HasPrefix(r.Found, tt.found[i]) || r.Means == "" || r.Try == "" || !strings.Contains(r.Source, "Benchmark Responsibly") {
				t.Errorf("%s: %+v, want %q", tt.text, r, tt.found[i])
			}
		}
	}
}
