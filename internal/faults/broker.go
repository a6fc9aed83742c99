package faults

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"time"

	"sixnines/internal/brokers"
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
func (n *nodes) Describe(e *result.Event) { e.Action.Nodes = n.chosen }

// ready chooses the nodes, takes them and waits for the act's instant.
func (n *nodes) ready(ctx context.Context, at int64) error {
	chosen, err := n.choose(ctx)
	if err != nil {
		return err
	}
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
			return nil, fmt.Errorf("there is no node %d: there are %d, numbered from 0", k, len(all))
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
		return nil, fmt.Errorf("node %d leads, and no other keeps a replica: there are no followers", p.Leader)
	}
	return p.Followers, nil
}

// when is the instant of a change.
func when(c brokers.Change, err error) (happened int64, _ error) { return c.At, err }

// freeze stops nodes for a time.
type freeze struct{ *nodes }

// Do implements actions.Doer.
func (f *freeze) Do(ctx context.Context, at int64) (happened int64, err error) {
	if err := f.ready(ctx, at); err != nil {
		return 0, err
	}
	return when(f.target.Cluster.Freeze(ctx, f.chosen...))
}

// Undo implements actions.Undoer. Nodes that have ended meanwhile need nothing.
func (f *freeze) Undo(ctx context.Context) (happened int64, err error) {
	if f.chosen == nil {
		return 0, nil
	}
	defer f.release()
	return when(f.target.Cluster.Thaw(ctx, f.chosen...))
}
