package faults

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sixnines/internal/brokers"
	"sixnines/internal/clock"
	"sixnines/internal/engine/actions"
	"sixnines/internal/journal"
)

// A freeze is noted before it happens, so that what this process leaves if it is killed, at any step, is undone by
// another: nodes that are stopped go on, and none is touched that is not.
func TestFreezeIsNoted(t *testing.T) {
	c := start(t, "nats")
	dir := t.TempDir()
	target := &Target{Cluster: c, Seed: 7, Journal: journal.New(dir)}
	stopped := func() (all int) {
		for _, m := range c.Members() {
			if state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", m.PID)); err != nil || strings.Contains(string(state), ") T ") {
				all++
			}
		}
		return all
	}
	// killed recovers what this process would leave now: the journal without its lock.
	killed := func(want ...journal.State) {
		t.Helper()
		left := t.TempDir()
		all, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range all {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(left, filepath.Base(file)), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		found, err := journal.Recover(t.Context(), left, journal.Kinds())
		if err != nil || len(found) != len(want) {
			t.Fatalf("%+v, %v; want %v", found, err, want)
		}
		for i, f := range found {
			if f.State != want[i] || !strings.Contains(f.Text, "continue process") {
				t.Errorf("%+v, want %s", f, want[i])
			}
		}
	}
	killed()
	d := doer(t, target, "{at: 1s, stall: {node: all}, for: 2s}").(actions.Undoer)
	at := clock.Now() + int64(d.(actions.Early).Ahead()+300*time.Millisecond)
	done := make(chan error, 1)
	go func() { _, err := d.Do(t.Context(), at); done <- err }()
	for clock.Now() < at-int64(2*early) { // noted, and not done
		if names, _ := filepath.Glob(filepath.Join(dir, "*")); len(names) > 0 {
			if text, _ := os.ReadFile(names[0]); strings.Count(string(text), `"kind":"continue"`) == 3 {
				break
			}
		}
		time.Sleep(time.Millisecond)
	}
	if clock.Now() < at-int64(early) {
		killed(journal.Undone, journal.Undone, journal.Undone) // SIGCONT to what runs
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if n := stopped(); n != 3 {
		t.Fatalf("%d of 3 nodes are stopped", n)
	}
	killed(journal.Undone, journal.Undone, journal.Undone)
	for began := time.Now(); stopped() > 0 && time.Since(began) < 5*time.Second; {
		time.Sleep(time.Millisecond)
	}
	if n := stopped(); n != 0 {
		t.Errorf("%d nodes are stopped after a recovery", n)
	}
	if _, err := d.Undo(t.Context()); err != nil {
		t.Fatal(err)
	}
	killed()
	// A node that another act has stopped stays so when an act that could not have it is undone.
	one := doer(t, target, "{at: 1s, stall: {node: 1}, for: 2s}").(actions.Undoer)
	if _, err := one.Do(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	two := doer(t, target, "{at: 2s, freeze: {node: 1}, for: 2s}").(actions.Undoer)
	if _, err := two.Do(t.Context(), 0); err == nil {
		t.Error("a node is under two acts")
	}
	if _, err := two.Undo(t.Context()); err != nil || states(c)[1] != brokers.NodeFrozen || stopped() != 1 {
		t.Errorf("%v, %v", err, states(c))
	}
	if _, err := one.Undo(t.Context()); err != nil || stopped() != 0 {
		t.Errorf("%v, %v", err, states(c))
	}
	if err := target.Journal.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if names, _ := filepath.Glob(filepath.Join(dir, "*")); len(names) > 0 {
		t.Errorf("left: %v", names)
	}
}
