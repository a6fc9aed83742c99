package merge_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"sixnines/internal/fleet/merge"
	"sixnines/result"
)

// changeHeader changes the first header of a file.
func changeHeader(t *testing.T, path string, change func(*result.Header)) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	line, rest, _ := bytes.Cut(text, []byte("\n"))
	var fields map[string]json.RawMessage
	h := &result.Header{}
	for _, into := range []any{&fields, h} {
		if err := json.Unmarshal(line, into); err != nil {
			t.Fatal(err)
		}
	}
	change(h)
	for name, value := range map[string]any{"broker": h.Broker, "semantics": h.Semantics} {
		if fields[name], err = json.Marshal(value); err != nil {
			t.Fatal(err)
		}
	}
	if line, err = json.Marshal(fields); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(append(line, '\n'), rest...), 0o600); err != nil {
		t.Fatal(err)
	}
}

// copies returns sources with files of their own.
func copies(t *testing.T, sources []merge.Source) (all []merge.Source) {
	t.Helper()
	dir := t.TempDir()
	for _, s := range sources {
		text, err := os.ReadFile(s.Path)
		if err != nil {
			t.Fatal(err)
		}
		s.Path = filepath.Join(dir, filepath.Base(s.Path))
		if err := os.WriteFile(s.Path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

// Agents of one run may each be connected to another server of a cluster, which has a name and an address of its own, or to
// servers of several versions during an upgrade. What was measured is merged all the same.
func TestServersOfACluster(t *testing.T) {
	_, recorded := segments(t, loads()["constant"], nil)
	for name, c := range map[string]struct {
		change func(k int, h *result.Header)
		differ bool // and the verdict says so
	}{
		"names": {change: func(k int, h *result.Header) {
			h.Broker["name"], h.Broker["address"] = fmt.Sprintf("n%d", k), fmt.Sprintf("10.0.0.%d:4222", k)
		}},
		"a fact that one has": {change: func(k int, h *result.Header) {
			if k == 1 {
				h.Broker["leader"], h.Semantics.Settings = "yes", map[string]string{"server_connected_slaves": "1"}
			}
		}},
		"versions": {differ: true, change: func(k int, h *result.Header) {
			if h.Broker["version"] = "2.10.1"; k == 2 {
				h.Broker["version"] = "2.11.0"
			}
		}},
		"guarantees": {differ: true, change: func(k int, h *result.Header) {
			if h.Semantics.Levels.Delivery = "at least once"; k == 0 {
				h.Semantics.Levels.Delivery = "at most once"
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			sources := copies(t, recorded)
			for k, s := range sources {
				changeHeader(t, s.Path, func(h *result.Header) {
					if h.Broker == nil {
						h.Broker = map[string]string{}
					}
					h.Broker["cluster"] = "c"
					c.change(k, h)
				})
			}
			run := merged(t, sources)
			if found, err := merge.Again(run.Path, sources); err != nil || len(found) > 0 {
				t.Errorf("merged again: %q, %v", found, err)
			}
			h := run.Header
			if h.Broker["cluster"] != "c" {
				t.Errorf("the whole has not what all say: %v", h.Broker)
			}
			for k, a := range h.Fleet.Agents {
				own, err := result.Load(sources[k].Path)
				if err != nil {
					t.Fatal(err)
				}
				for fact, value := range own.Header.Broker {
					if h.Broker[fact] != value && a.Broker[fact] != value {
						t.Errorf("%s: %s of %s is in neither the whole nor the agent", a.Name, value, fact)
					}
				}
			}
			if found := slices.ContainsFunc(run.Summary.Verdict.Reasons, func(r result.Reason) bool { return r.Code == result.ReasonAgentsDiffer }); found != c.differ {
				t.Errorf("the verdict is %s: %+v", run.Summary.Verdict, run.Summary.Verdict.Reasons)
			}
		})
	}
}
