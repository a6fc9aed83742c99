package faults

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"time"

	"sixnines/internal/brokers"
	"sixnines/internal/journal"
	"sixnines/result"
	"sixnines/scenario"
)

// early is how long before its instant an act on given nodes is called, so that it waits for it.
const early = 20 * time.Millisecond

// nodes are those that an act happens to. Do chooses them; from its instant on they do not change.
type nodes struct {
	target *Target
	act    *scenario.Act
	choice scenario.Node
	chosen []int // ascending; nil: it has not happened
	latest brokers.Change
}

// Ahead implements actions.Early.
func (n *nodes) Ahead() time.Duration { return aheadOf(n.choice) }

// aheadOf returns how long before its instant an act on a choice of nodes is called.
func aheadOf(choice scenario.Node) time.Duration {
	if choice == scenario.Leader || choice == scenario.Followers {
		return asked
	}
	return early
}

// Describe implements actions.Describer.
func (n *nodes) Describe(e *result.Event) {
	e.Action.Nodes = n.chosen
	if n.latest.Complete != 0 {
		e.Action.Asked, e.Action.Done = n.latest.At, n.latest.Complete
	}
}

// ready chooses the nodes, takes them and waits for the act's instant.
func (n *nodes) ready(ctx context.Context, at int64) error {
	chosen, err := n.choose(ctx)
	if err != nil {
		return err
	}
	return n.take(ctx, chosen, at)
}

// take takes the nodes and waits for the act's instant.
func (n *nodes) take(ctx context.Context, chosen []int, at int64) error {
	if err := n.target.take(chosen, n.act.String()); err != nil {
		return err
	}
	if err := until(ctx, at); err != nil {
		n.target.release(chosen, n.act.String())
		return err
	}
	n.chosen = chosen
	return nil
}

// release ends the act.
func (n *nodes) release() { n.target.release(n.chosen, n.act.String()) }

// choose finds out which nodes are meant.
func (n *nodes) choose(ctx context.Context) ([]int, error) {
	return n.target.choose(ctx, n.act, n.choice)
}

// choose finds out which nodes an act means by a choice.
func (t *Target) choose(ctx context.Context, act *scenario.Act, choice scenario.Node) ([]int, error) {
	all := t.numbers()
	if k, is := choice.Number(); is {
		if k >= len(all) {
			return nil, fmt.Errorf("node %d does not exist: the broker has %d, numbered from 0", k, len(all))
		}
		return []int{k}, nil
	}
	switch choice {
	case scenario.EveryNode:
		return all, nil
	case scenario.RandomNode:
		h := fnv.New64a()
		h.Write([]byte(act.Key()))
		return []int{all[rand.New(rand.NewPCG(t.Seed, h.Sum64())).IntN(len(all))]}, nil
	}
	p, err := t.placement(ctx)
	switch {
	case err != nil:
		return nil, err
	case choice == scenario.Leader:
		return []int{p.Leader}, nil
	case len(p.Followers) == 0:
		return nil, fmt.Errorf("node %d leads and no other node has a replica, so there are no followers", p.Leader)
	}
	return p.Followers, nil
}

// changed notes a change of nodes, and returns its instant.
func (n *nodes) changed(c brokers.Change, err error) (happened int64, _ error) {
	n.latest = c
	return c.At, err
}

// freeze stops nodes for a time.
type freeze struct {
	*nodes
	noted []*journal.Entry // how they are continued if this process is killed
}

// noting is how long before its instant the nodes of a freeze are noted: a note is synced to disk.
const noting = 300 * time.Millisecond

// Ahead implements actions.Early.
func (f *freeze) Ahead() time.Duration { return f.nodes.Ahead() + noting }

// Do implements actions.Doer.
func (f *freeze) Do(ctx context.Context, at int64) (happened int64, err error) {
	chosen, err := f.choose(ctx)
	if err != nil {
		return 0, err
	}
	noted, err := f.note(chosen, nil)
	if err != nil {
		return 0, err
	}
	if err := until(ctx, at-int64(early)); err != nil {
		return 0, err
	}
	if err := f.take(ctx, chosen, at); err != nil {
		return 0, err
	}
	// Now nothing else starts or ends the nodes: one that was started again meanwhile is another process.
	if _, err := f.note(f.chosen, noted); err != nil {
		return 0, err
	}
	return f.changed(f.target.Cluster.Freeze(ctx, f.chosen...))
}

// note notes how nodes that run are continued, those that are not among the noted processes, and returns the numbers
// of all.
func (f *freeze) note(chosen, noted []int) (processes []int, err error) {
	if f.target.Journal == nil {
		return nil, nil
	}
	for _, m := range f.target.Cluster.Members() {
		if !slices.Contains(chosen, m.Number) || m.State != brokers.NodeRunning || slices.Contains(noted, m.PID) {
			continue
		}
		process, err := journal.ProcessOf(m.PID, m.Name)
		if err != nil {
			continue // it has just ended: stopping it says so
		}
		entry, err := f.target.Journal.Note(f.act.String(), &journal.Continue{Process: process})
		if err != nil {
			return nil, err
		}
		f.noted, processes = append(f.noted, entry), append(processes, m.PID)
	}
	return append(processes, noted...), nil
}

// Undo implements actions.Undoer. Nodes that have ended meanwhile need nothing.
func (f *freeze) Undo(ctx context.Context) (happened int64, err error) {
	if f.chosen != nil {
		defer f.release()
		happened, err = f.changed(f.target.Cluster.Thaw(ctx, f.chosen...))
	}
	if err != nil {
		return happened, err // the notes stay: what they are about may be stopped
	}
	// Erased, not undone: nodes that this act has not stopped may be stopped by another.
	for _, entry := range f.noted {
		err = errors.Join(err, entry.Erase())
	}
	return happened, err
}
