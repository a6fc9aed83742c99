package fleetrun

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"sixnines/internal/fleet/coordinator"
	"sixnines/internal/fleet/merge"
	"sixnines/internal/judge"
	"sixnines/result"
)

// unheard is a collector of a coordinator that ends when it has merged, before the agents know.
type unheard struct{ *Collector }

var errUnheard = errors.New("the coordinator has died")

func (u unheard) Finish(ends []coordinator.End) error {
	return errors.Join(u.Collector.Finish(ends), errUnheard)
}

// A coordinator dies between merging and confirming: its result is there. Another one finishes the run into the same file, with the same
// figures, and nothing is left. A result of another run is not touched.
func TestACoordinatorDiesAfterMerging(t *testing.T) {
	t.Parallel()
	f := newFleet(t, &Runner{Tool: tool()}, &Runner{Tool: tool()})
	c, _, err := f.run(t.Context(), "version: 1\ntarget: {driver: mem}\nworkload: {rate: 200, producers: 2, topics: 2, consumers: 2}\nphases: {warmup: 100ms, duration: 1s, drain: 60s}\n",
		func(config *coordinator.Config, c *Collector) { config.Collector = unheard{c} })
	if !errors.Is(err, errUnheard) {
		t.Fatal(err)
	}
	before, err := result.Load(c.File)
	if err != nil {
		t.Fatal(err)
	}
	records := filepath.Join(result.AgentsDir(c.File), before.Header.Fleet.Agents[0].Name+".jsonl")
	files := map[string]string{c.File: "", records: ""}
	for name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(text)
	}

	attach := func(file string) (*Collector, error) {
		again := &Collector{File: file, Whole: merge.Whole{Tool: tool()}}
		_, err := coordinator.Attach(t.Context(), coordinator.Attachment{Conn: f.conn, Version: version, Run: "run-1", Say: func(line string) { t.Log(line) },
			Collector: func([]byte) (coordinator.Collector, error) { return again, nil }})
		return again, errors.Join(err, again.Close())
	}
	other := filepath.Join(t.TempDir(), "other.jsonl")
	if err := os.WriteFile(other, []byte("a result of another run\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := attach(other); !errors.Is(err, fs.ErrExist) {
		t.Errorf("into another run's result: %v", err)
	}
	if text, err := os.ReadFile(other); err != nil || string(text) != "a result of another run\n" {
		t.Errorf("another run's result is now %q, %v", text, err)
	}
	again, err := attach(c.File)
	if err != nil {
		t.Fatal(err)
	}
	run := again.Result()
	if run.Counters != before.Counters || run.Counters.Received != 200 {
		t.Errorf("%+v, and before %+v", run.Counters, before.Counters)
	}
	for _, p := range judge.Verify(run, tool()) {
		t.Error(p)
	}
	for name, text := range files { // the first coordinator knew more than this one
		if now, err := os.ReadFile(name); err != nil || string(now) != text {
			t.Errorf("%s was written again: %v", name, err)
		}
	}
	f.idle()
}
