package faults

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
	"sixnines/internal/clock"
	"sixnines/internal/disk"
	"sixnines/internal/engine/actions"
	"sixnines/internal/journal"
	"sixnines/result"
)

// onDisk is a target whose nodes' data are on file systems of their own.
func onDisk(t *testing.T) *Target {
	t.Helper()
	if err := disk.Check(); err != nil {
		t.Skip("SKIPPED: " + err.Error())
	}
	j := journal.New(t.TempDir())
	t.Cleanup(func() { // after the broker was stopped
		if err := j.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return &Target{Seed: 1, Cluster: brokertest.Start(t, "redis", brokers.Options{Disks: &brokers.Disks{Journal: j, Size: 128 << 20}, Settings: map[string]string{"appendonly": "yes"}})}
}

// Nodes whose power failed stay down until they are started again, and a file that was never synced is gone
// then.
func TestPower(t *testing.T) {
	target := onDisk(t)
	never := filepath.Join(target.Cluster.Dir, "data", "never")
	if err := os.WriteFile(never, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	power := doer(t, target, "{at: 1s, power: {node: all}, restart: 2s}").(actions.Undoer)
	at := clock.Now()
	happened, err := power.Do(t.Context(), at)
	if err != nil || happened < at || states(target.Cluster)[0] != brokers.NodeEnded {
		t.Fatalf("at %d, happened at %d: %v, %v", at, happened, err, states(target.Cluster))
	}
	if _, err := power.Undo(t.Context()); err != nil || states(target.Cluster)[0] != brokers.NodeRunning {
		t.Fatalf("%v, %v", err, states(target.Cluster))
	}
	if _, err := os.Stat(never); !os.IsNotExist(err) {
		t.Errorf("what was not synced: %v", err)
	}
	if err := target.Cluster.Err(); err != nil {
		t.Error(err)
	}
}

// A disk is full until that is undone.
func TestFull(t *testing.T) {
	target := onDisk(t)
	write := func() error {
		return os.WriteFile(filepath.Join(target.Cluster.Dir, "data", "more"), make([]byte, 1<<20), 0o600)
	}
	f := doer(t, target, "{at: 1s, disk: {full: true}, for: 2s}").(actions.Undoer)
	if _, err := f.Do(t.Context(), clock.Now()); err != nil {
		t.Fatal(err)
	}
	if err := write(); err == nil {
		t.Error("1 MiB is written to a full disk")
	}
	if _, err := f.Undo(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := write(); err != nil {
		t.Error(err)
	}
}

// The event of a damaged file says which bits they were; the node may be under another act.
func TestCorrupt(t *testing.T) {
	target := &Target{Seed: 1, Cluster: brokertest.Start(t, "redis", brokers.Options{Settings: map[string]string{"appendonly": "yes"}})}
	if err := os.WriteFile(filepath.Join(target.Cluster.Dir, "data", "x.blk"), make([]byte, 100), 0o600); err != nil {
		t.Fatal(err)
	}
	stall := doer(t, target, "{at: 1s, stall: {node: 0}, for: 2s}").(actions.Undoer)
	if _, err := stall.Do(t.Context(), clock.Now()); err != nil {
		t.Fatal(err)
	}
	c := doer(t, target, "{at: 1s, corrupt: {node: 0, file: \"*.blk\", bits: 5}}")
	if _, err := c.Do(t.Context(), clock.Now()); err != nil {
		t.Fatal(err)
	}
	e := result.Event{Detail: "corrupt", Action: &result.Acted{}}
	c.(actions.Describer).Describe(&e)
	if len(e.Action.Flips) != 5 || e.Action.Flips[0].File != "x.blk" || !strings.HasPrefix(e.Detail, "corrupt: node 0, x.blk, byte ") || !strings.HasSuffix(e.Detail, "; and 2 more") {
		t.Errorf("%+v, %+v", e, e.Action)
	}
	if _, err := stall.Undo(t.Context()); err != nil {
		t.Error(err)
	}
}
