package faults

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"

	"sixnines/result"
)

// full takes the free space of nodes' file systems for a time.
type full struct {
	*nodes
	taken int64 // bytes
}

// Do implements actions.Doer.
func (f *full) Do(ctx context.Context, at int64) (happened int64, err error) {
	if err := f.ready(ctx, at); err != nil {
		return 0, err
	}
	change, taken, err := f.target.Cluster.FillDisk(ctx, f.chosen...)
	f.taken = taken
	return f.changed(change, err)
}

// Undo implements actions.Undoer.
func (f *full) Undo(ctx context.Context) (happened int64, err error) {
	if f.chosen == nil {
		return 0, nil
	}
	defer f.release()
	return f.changed(f.target.Cluster.EmptyDisk(ctx, f.chosen...))
}

// corrupt turns over bits in files of nodes. It does not take the nodes: they may be under another act.
type corrupt struct {
	*nodes
	flips []result.Flip
}

// Do implements actions.Doer.
func (c *corrupt) Do(ctx context.Context, at int64) (happened int64, err error) {
	chosen, err := c.choose(ctx)
	if err != nil {
		return 0, err
	}
	if err := until(ctx, at); err != nil {
		return 0, err
	}
	c.chosen = chosen
	var errs []error
	for _, k := range chosen {
		h := fnv.New64a()
		fmt.Fprintf(h, "%s %d", c.act.Key(), k)
		flips, err := c.target.Cluster.CorruptData(k, c.act.Corrupt.File, c.act.Corrupt.Flips(), rand.New(rand.NewPCG(c.target.Seed, h.Sum64())))
		for _, f := range flips {
			if happened == 0 {
				happened = f.At // the files were looked for before
			}
			c.flips = append(c.flips, result.Flip{Node: k, File: f.File, Offset: f.Offset, Bit: f.Bit})
		}
		errs = append(errs, err)
	}
	return happened, errors.Join(errs...)
}

// mostFlips is how many bits an event's text lists; its fields have all.
const mostFlips = 3

// Describe implements actions.Describer.
func (c *corrupt) Describe(e *result.Event) {
	c.nodes.Describe(e)
	e.Action.Flips = c.flips
	var all []string
	for i, f := range c.flips {
		if i == mostFlips {
			all = append(all, fmt.Sprintf("and %d more", len(c.flips)-i))
			break
		}
		all = append(all, fmt.Sprintf("node %d, %s, byte %d, bit %d", f.Node, f.File, f.Offset, f.Bit))
	}
	if len(all) > 0 {
		e.Detail += ": " + strings.Join(all, "; ")
	}
}
