// Package faults does what happens to a run's broker: the doers of the acts that the engine leaves to its
// caller. Each is exact by itself: it first finds out what it acts on, waits for its instant, and
// says when the system was asked.
package faults

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"sixnines/driver"
	"sixnines/internal/brokers"
	"sixnines/internal/clock"
	"sixnines/internal/engine/actions"
	"sixnines/internal/journal"
	"sixnines/scenario"
)

// Target is what the acts of a run happen to.
type Target struct {
	Cluster *brokers.Cluster // nil: the broker was not started for the run
	Seed    uint64           // of the scenario: it draws random nodes
	Network *Network
	Journal *journal.Journal // what a killed process leaves stopped; nil: no journal

	mu    sync.Mutex     // guards the rest
	taken map[int]string // by node: the act that it is under
	// namers name the destinations of workloads, in the order of these.
	namers []driver.DestinationNamer
}

// Doer returns what does an act of the run; nil: it is of a load.
func (t *Target) Doer(a *scenario.Act) (actions.Doer, error) {
	if a.Kind == scenario.ActionNetwork {
		path, err := t.Path(context.Background(), *a.Network)
		if err != nil {
			return nil, err
		}
		return &conditions{path: path}, nil
	}
	if a.Kind == scenario.ActionExec {
		return t.newExec(a)
	}
	on := &nodes{target: t, act: a, choice: a.Nodes()}
	switch a.Kind {
	case scenario.ActionStall, scenario.ActionFreeze:
		return &freeze{nodes: on}, nil
	case scenario.ActionKill, scenario.ActionTerminate, scenario.ActionRestart, scenario.ActionPower:
		ends := end{on, t.Cluster.Terminate}
		switch a.Kind {
		case scenario.ActionKill:
			ends.by = t.Cluster.Kill
		case scenario.ActionPower:
			ends.by = t.Cluster.FailPower
		}
		if a.Restart == nil {
			return &ends, nil
		}
		return &restart{ends}, nil
	case scenario.ActionTransfer:
		return &transfer{nodes: on}, nil
	case scenario.ActionRolling:
		return &rolling{nodes: on}, nil
	case scenario.ActionCut:
		return &cut{target: t, act: a}, nil
	case scenario.ActionDisk:
		return &full{nodes: on}, nil
	case scenario.ActionCorrupt:
		return &corrupt{nodes: on}, nil
	}
	return nil, nil
}

// take puts nodes under an act. It fails, and takes none, if one of them is under another.
func (t *Target) take(nodes []int, act string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, k := range nodes {
		if other, is := t.taken[k]; is {
			return fmt.Errorf("node %d is still under the action %s", k, other)
		}
	}
	if t.taken == nil {
		t.taken = map[int]string{}
	}
	for _, k := range nodes {
		t.taken[k] = act
	}
	return nil
}

// release ends that nodes are under an act. Nodes that are under another stay so.
func (t *Target) release(nodes []int, act string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, k := range nodes {
		if t.taken[k] == act {
			delete(t.taken, k)
		}
	}
}

// until waits for an instant, CLOCK_MONOTONIC, or returns the context's error if that ends before.
func until(ctx context.Context, at int64) error {
	wait := time.NewTimer(time.Duration(at - clock.Now()))
	defer wait.Stop()
	select {
	case <-wait.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// numbers returns the numbers of all nodes.
func (t *Target) numbers() (all []int) {
	for _, m := range t.Cluster.Members() {
		all = append(all, m.Number)
	}
	return slices.Clip(all)
}
