package compare

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"sixnines/result"
	"sixnines/semantics"
)

// oldHeader is of a file that was written before drivers stated levels: its guarantees
// are words, and its client is a setting.
func oldHeader(t *testing.T) *result.Header {
	t.Helper()
	text, err := os.ReadFile("testdata/header-without-levels.json")
	if err != nil {
		t.Fatal(err)
	}
	var h result.Header
	if err := json.Unmarshal(text, &h); err != nil || h.Semantics.Durability == "" || h.Semantics.Settings["client"] == "" {
		t.Fatalf("%+v, %v", h.Semantics, err)
	}
	return &h
}

// A file without levels is compared with one that has them: what is said in the same
// words is the same, and how other words rank is not known.
func TestFileWithoutLevels(t *testing.T) {
	for name, tt := range map[string]struct {
		change  func(s *result.Semantics)
		unlike  []string
		refused bool
		says    string
	}{
		"the same settings": {func(*result.Semantics) {}, nil, false, ""},
		"another storage": {func(s *result.Semantics) { s.Durability, s.Levels.Durability = "memory", semantics.Memory },
			[]string{"durability"}, true, `It is not known whether B gives weaker or stronger guarantees: durability "memory" instead of "page cache; fsync every 2m0s".`},
	} {
		for _, swapped := range []bool{false, true} { // the older file is A, or B
			a, b := arms(1.2, `{"workload":{"rate":"1000/s","consumers":1},"target":{"options":{"storage":"memory"}},"phases":{"duration":"10s"}}`, nil)
			older := a
			if swapped {
				older = b
			}
			for _, r := range append(slices.Clone(a), b...) {
				h := oldHeader(t)
				r.Header.Driver, r.Header.Ack, r.Header.Semantics = h.Driver, h.Ack, h.Semantics
				if !slices.Contains(older, r) {
					s := &r.Header.Semantics
					s.Levels = semantics.Levels{Durability: semantics.PageCache, Replication: semantics.Replication{Level: semantics.OneCopy},
						Ordering: semantics.PerTopic, Delivery: semantics.AtLeastOnce}
					s.Client = semantics.Client{Kind: semantics.Direct, Name: "nats.go", Version: "1.55.0"}
					tt.change(s)
				}
			}
			c := compared(t, a, b, standard())
			var unlike []string
			for _, d := range append(slices.Clone(c.Follows), c.Differences...) {
				if d.Guarantee() || d.Weight == Decisive {
					unlike = append(unlike, d.What)
				}
			}
			if !slices.Equal(unlike, tt.unlike) || (c.Refused != "") != tt.refused || !swapped && !strings.Contains(c.Guarantees, tt.says) {
				t.Errorf("%s, swapped %v: unlike %v, %q, %q", name, swapped, unlike, c.Refused, c.Guarantees)
			}
		}
	}
}
