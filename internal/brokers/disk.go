package brokers

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"

	"sixnines/internal/clock"
	"sixnines/internal/disk"
	"sixnines/internal/journal"
)

// Disks give each node's data a file system of its own, see package disk, so that its power can fail and its
// disk be full. They end with the cluster.
type Disks struct {
	Journal *journal.Journal // has how each is undone
	Size    int64            // of each, in bytes; 0: as [disk.Make] chooses
}

// ErrNoDisk says that a node's data are on no file system of its own, or that it has no data on disk.
var ErrNoDisk = errors.New("its data are not on a file system of their own")

// CheckDisks returns why Options.Disks is impossible for the product or here: an error that wraps [ErrNoDisk]
// or [disk.ErrUnavailable].
func (p Product) CheckDisks() error {
	if p.Diskless != "" {
		return fmt.Errorf("%s: %w: %s; kill ends its process", p.Name, ErrNoDisk, p.Diskless)
	}
	return disk.Check()
}

// makeDisks makes the nodes' file systems, with what is in their directories.
func (c *Cluster) makeDisks(p Product, o *Options, nodes []process) error {
	if o.Disks == nil {
		return nil
	}
	if err := p.CheckDisks(); err != nil {
		return err
	}
	if o.Detach || c.keep {
		return errors.New("its own file system is removed at the end of the run, so its data cannot be kept; leave the directory out")
	}
	for _, n := range nodes {
		if err := os.MkdirAll(n.dir, 0o755); err != nil {
			return err
		}
		f, err := disk.Make(o.Disks.Journal, "the data of "+n.name, n.dir, o.Disks.Size)
		if err != nil {
			return err
		}
		c.disks = append(c.disks, f)
	}
	return nil
}

// syncDisks syncs what nodes that have started have written: a power failure shall find them as if they had run
// for a while, and not just installed.
func (c *Cluster) syncDisks() error {
	errs := make([]error, 0, len(c.disks))
	for _, f := range c.disks {
		errs = append(errs, f.Sync())
	}
	return errors.Join(errs...)
}

// removeDisks removes the nodes' file systems. No process uses them any more.
func (c *Cluster) removeDisks(ctx context.Context) error {
	var errs []error
	for _, f := range c.disks {
		errs = append(errs, f.Remove(ctx))
	}
	return errors.Join(errs...)
}

// Disk returns the size in bytes of each node's own file system; 0: they have none.
func (c *Cluster) Disk() int64 {
	if len(c.disks) == 0 {
		return 0
	}
	return c.disks[0].Size
}

// disked returns nodes, as choose does, which must have file systems of their own.
func (c *Cluster) disked(what string, nodes []int) (chosen, error) {
	if len(c.disks) == 0 {
		return chosen{}, fmt.Errorf("brokers: %s %s: %w", what, c.Product, ErrNoDisk)
	}
	return c.choose(what, nodes)
}

// FailPower is a power failure of nodes, all running ones without numbers: their processes are killed and
// their file systems shut down, all before it waits for any. What was not synced is gone. Resume
// recovers the file systems and starts the nodes again. Options.Disks is needed.
func (c *Cluster) FailPower(ctx context.Context, nodes ...int) (Change, error) {
	all, err := c.disked("fail the power of", nodes)
	if err != nil {
		return Change{}, err
	}
	change := Change{Nodes: all.numbers, At: clock.Now()}
	for _, i := range all.instances { // from here on nothing is acknowledged
		if i.endsByUs() {
			i.kill()
		}
	}
	errs := make([]error, len(all.numbers))
	var failing sync.WaitGroup
	for k, number := range all.numbers {
		failing.Go(func() { errs[k] = c.disks[number].Shutdown() })
	}
	failing.Wait()
	down := clock.Now()
	c.mu.Lock()
	for k, number := range all.numbers {
		c.nodes[number].dark = errs[k] == nil
	}
	c.mu.Unlock()
	for _, i := range all.instances {
		errs = append(errs, i.killed(ctx))
		i.closeInput()
	}
	change.Complete = max(down, all.ended())
	return change, errors.Join(errs...)
}

// lit recovers the file system of a node whose power failed. The node's process has ended.
func (c *Cluster) lit(ctx context.Context, m *member) error {
	c.mu.Lock()
	number, dark := slices.Index(c.nodes, m), m.dark
	c.mu.Unlock()
	if !dark {
		return nil
	}
	if err := c.disks[number].Recover(ctx); err != nil {
		return fmt.Errorf("%s after its power failure: %w", m.spec.name, err)
	}
	c.mu.Lock()
	m.dark = false
	c.mu.Unlock()
	return nil
}

// FillDisk takes all free space of the nodes' own file systems, of all without numbers, until EmptyDisk. It returns
// how many bytes that was. If it fails nothing is taken.
func (c *Cluster) FillDisk(_ context.Context, nodes ...int) (change Change, taken int64, err error) {
	all, err := c.disked("fill the disk of", nodes)
	if err != nil {
		return Change{}, 0, err
	}
	change = Change{Nodes: all.numbers, At: clock.Now()}
	for _, k := range all.numbers {
		n, err := c.disks[k].Fill()
		if err != nil {
			_, empty := c.EmptyDisk(context.Background(), all.numbers...)
			return Change{}, 0, errors.Join(err, empty)
		}
		taken += n
	}
	change.Complete = clock.Now()
	return change, taken, nil
}

// EmptyDisk frees what FillDisk has taken of nodes, of all without numbers, running or not.
func (c *Cluster) EmptyDisk(_ context.Context, nodes ...int) (Change, error) {
	c.mu.Lock()
	numbers, err := c.numbers(nodes)
	c.mu.Unlock()
	if err == nil && len(c.disks) == 0 {
		err = ErrNoDisk
	}
	if err != nil {
		return Change{}, fmt.Errorf("brokers: empty the disk of %s: %w", c.Product, err)
	}
	change := Change{Nodes: numbers, At: clock.Now()}
	var errs []error
	for _, k := range numbers {
		errs = append(errs, c.disks[k].Empty())
	}
	change.Complete = clock.Now()
	return change, errors.Join(errs...)
}

// CorruptData turns over bits of a node's files, see [disk.Corrupt], whether it runs or not. It fails where the
// data must be kept: they are the user's.
func (c *Cluster) CorruptData(node int, pattern string, bits int, draw *rand.Rand) ([]disk.Flip, error) {
	fail := func(err error) ([]disk.Flip, error) {
		return nil, fmt.Errorf("brokers: corrupt data of %s: %w", c.Product, err)
	}
	c.mu.Lock()
	_, err := c.numbers([]int{node})
	dir := ""
	if err == nil {
		dir = c.nodes[node].spec.dir
	}
	c.mu.Unlock()
	switch {
	case err != nil:
		return fail(err)
	case c.keep:
		return fail(errors.New("its directory is kept after the run, so it must not be damaged"))
	case dir == "":
		return fail(fmt.Errorf("%w: it keeps nothing on disk", ErrNoDisk))
	}
	flips, err := disk.Corrupt(dir, pattern, bits, draw)
	if err != nil {
		_, err = fail(fmt.Errorf("node %d: %w", node, err))
	}
	return flips, err
}
