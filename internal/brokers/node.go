package brokers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"sixnines/internal/clock"
)

// NodeState says how a node is doing.
type NodeState string

// The states of a node.
const (
	NodeStarting NodeState = "starting"           // its process does not answer yet
	NodeRunning  NodeState = "running"            // it has answered, and was neither frozen nor ended since
	NodeFrozen   NodeState = "frozen"             // by Freeze
	NodeEnded    NodeState = "ended by sixnines"  // by Kill, Terminate or Stop
	NodeDied     NodeState = "ended unexpectedly" // and so is an error of the cluster
)

// Node is a node of a cluster as it is now. A node is the process that serves clients and takes part in
// replication. Helpers that several nodes share (epmd of RabbitMQ, ZooKeeper of old Kafka, Redis's
// Sentinels) are no nodes: nothing is done to them.
type Node struct {
	Number int    // from 0, in the order of the addresses in Cluster.URL
	Name   string // as in the processes' usage: "kafka-1"
	State  NodeState
	PID    int // of its latest process; 0 before the first
}

// Members returns all nodes, in the order of their numbers.
func (c *Cluster) Members() []Node {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []Node
	for k, m := range c.nodes {
		n := Node{Number: k, Name: m.spec.name, State: m.state()}
		if m.Instance != nil {
			n.PID = m.PID
		}
		all = append(all, n)
	}
	return all
}

// state is how the node is doing. Cluster.mu is held.
func (m *member) state() NodeState {
	if m.starting || m.Instance == nil {
		return NodeStarting
	}
	m.Instance.mu.Lock()
	defer m.Instance.mu.Unlock()
	switch {
	case !m.over() && m.frozen:
		return NodeFrozen
	case !m.over():
		return NodeRunning
	case m.stopping:
		return NodeEnded
	}
	return NodeDied
}

// Down returns an error that wraps [os.ErrProcessDone] if every node has ended and none is being started, else nil.
func (c *Cluster) Down() error {
	for _, n := range c.Members() {
		if n.State != NodeEnded && n.State != NodeDied {
			return nil
		}
	}
	return fmt.Errorf("no node of %s is running, and none will be started again: %w", c.Product, os.ErrProcessDone)
}

// Change says what was done to nodes and when, in nanoseconds of CLOCK_MONOTONIC as by clock.Now.
type Change struct {
	Nodes []int // the numbers of those that it was done to, ascending
	At    int64 // just before the first signal, or before the first process was started
	// Complete is when it was done to the last of them: when all threads had stopped (Freeze), the last
	// process was continued (Thaw) or had ended (Kill, Terminate), or all answered again (Resume).
	Complete int64
	// Killed are the nodes that SIGTERM did not end within 20 s, or until ctx ended, and that were killed.
	Killed []int
}

// chosen are nodes with the processes that they had when they were chosen.
type chosen struct {
	numbers   []int
	instances []*Instance
}

// choose returns the nodes with the numbers; none: all whose process runs. It fails if a node with a
// number does not exist or does not run; the latter error wraps [os.ErrProcessDone].
func (c *Cluster) choose(what string, nodes []int) (chosen, error) {
	fail := func(err error) (chosen, error) {
		return chosen{}, fmt.Errorf("brokers: %s %s: %w", what, c.Product, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	numbers, err := c.numbers(nodes)
	if err != nil {
		return fail(err)
	}
	var all chosen
	for _, k := range numbers {
		m := c.nodes[k]
		switch state := m.state(); {
		case state == NodeRunning || state == NodeFrozen:
			all.numbers, all.instances = append(all.numbers, k), append(all.instances, m.Instance)
		case len(nodes) > 0:
			return fail(fmt.Errorf("node %d (%s) is %s: %w", k, m.spec.name, state, os.ErrProcessDone))
		}
	}
	if len(all.numbers) == 0 {
		return fail(fmt.Errorf("no node is running: %w", os.ErrProcessDone))
	}
	return all, nil
}

// numbers returns the numbers of nodes in order and without repetitions; none: all. c.mu is held.
func (c *Cluster) numbers(nodes []int) ([]int, error) {
	if len(nodes) == 0 {
		for k := range c.nodes {
			nodes = append(nodes, k)
		}
	}
	nodes = slices.Compact(slices.Sorted(slices.Values(nodes)))
	for _, k := range nodes {
		if k < 0 || k >= len(c.nodes) {
			return nil, fmt.Errorf("node %d does not exist; the nodes are numbered from 0 to %d", k, len(c.nodes)-1)
		}
	}
	return nodes, nil
}

// Freeze stops the processes of nodes (SIGSTOP), all running ones without numbers: their connections stay
// open and unserved. It returns when every thread has stopped, see [Instance.Freeze]. If one does not stop,
// all are continued. A node that does not run is an error that wraps [os.ErrProcessDone].
func (c *Cluster) Freeze(_ context.Context, nodes ...int) (Change, error) {
	all, err := c.choose("freeze", nodes)
	if err != nil {
		return Change{}, err
	}
	change := Change{Nodes: all.numbers, At: clock.Now()}
	for _, i := range all.instances { // first all signals, then the waits
		if err := freeze(i.process); err != nil {
			return Change{}, errors.Join(i.failed("freeze", err), all.thaw())
		}
	}
	for _, i := range all.instances {
		if err := i.rest(); err != nil {
			return Change{}, errors.Join(err, all.thaw())
		}
	}
	change.Complete = clock.Now()
	return change, nil
}

// Thaw continues frozen nodes (SIGCONT), all without numbers. It does nothing to those that are not frozen
// or do not run any more.
func (c *Cluster) Thaw(_ context.Context, nodes ...int) (Change, error) {
	c.mu.Lock()
	numbers, err := c.numbers(nodes)
	var all chosen
	for _, k := range numbers {
		if m := c.nodes[k]; m.Instance != nil && !m.over() {
			all.numbers, all.instances = append(all.numbers, k), append(all.instances, m.Instance)
		}
	}
	c.mu.Unlock()
	if err != nil {
		return Change{}, fmt.Errorf("brokers: thaw %s: %w", c.Product, err)
	}
	change := Change{Nodes: all.numbers, At: clock.Now()}
	err = all.thaw()
	change.Complete = clock.Now()
	return change, err
}

// thaw continues the processes that still run.
func (all chosen) thaw() error {
	var errs []error
	for _, i := range all.instances {
		if err := i.Thaw(); !errors.Is(err, os.ErrProcessDone) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// Kill kills nodes (SIGKILL), all running ones without numbers, frozen ones too: they write nothing any
// more, but what the kernel has of their files stays. It returns when they have ended; Resume starts them
// again. A node that does not run is an error that wraps [os.ErrProcessDone].
func (c *Cluster) Kill(ctx context.Context, nodes ...int) (Change, error) {
	all, err := c.choose("kill", nodes)
	if err != nil {
		return Change{}, err
	}
	change := Change{Nodes: all.numbers, At: clock.Now()}
	for _, i := range all.instances {
		if i.endsByUs() {
			i.kill()
		}
	}
	var errs []error
	for _, i := range all.instances {
		errs = append(errs, i.killed(ctx))
		i.closeInput()
	}
	change.Complete = all.ended()
	return change, errors.Join(errs...)
}

// Terminate asks nodes to end (SIGTERM), all running ones without numbers, and returns when they have;
// Resume starts them again. Those that have not ended after 20 s, or when ctx ends, are killed. A frozen node
// is continued first, since it would not notice. A node that does not run is an error that wraps
// [os.ErrProcessDone].
func (c *Cluster) Terminate(ctx context.Context, nodes ...int) (Change, error) {
	all, err := c.choose("terminate", nodes)
	if err != nil {
		return Change{}, err
	}
	change := Change{Nodes: all.numbers, At: clock.Now()}
	var errs []error
	for _, i := range all.instances {
		if !i.endsByUs() {
			continue
		}
		if err := i.terminate(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			errs = append(errs, i.failed("terminate", err), i.destroy(ctx))
		}
	}
	ctx, cancel := context.WithTimeout(ctx, stopGrace) // for all of them
	defer cancel()
	for k, i := range all.instances {
		if !i.gone(ctx, stopGrace) {
			change.Killed = append(change.Killed, all.numbers[k])
			errs = append(errs, i.destroy(ctx))
		}
		i.closeInput()
	}
	change.Complete = all.ended()
	return change, errors.Join(errs...)
}

// ended returns when the last of the processes that have ended did.
func (all chosen) ended() (last int64) {
	for _, i := range all.instances {
		if i.over() {
			last = max(last, clock.At(i.endedAt))
		}
	}
	return last
}

// Resume starts nodes that have ended again, all that have without numbers, at the same addresses with the
// same data. It returns when they answer, and, if all nodes of the cluster run then, when they answer
// together. It fails if a node still runs, or none has ended. A node that fails to start is ended; the
// others stay. Several may be under way for different nodes.
func (c *Cluster) Resume(ctx context.Context, nodes ...int) (Change, error) {
	fail := func(err error) (Change, error) {
		return Change{}, fmt.Errorf("brokers: resume %s: %w", c.Product, err)
	}
	c.mu.Lock()
	numbers, err := c.numbers(nodes)
	var change Change
	var members []*member
	for _, k := range numbers {
		m := c.nodes[k]
		switch state := m.state(); {
		case state == NodeEnded || state == NodeDied:
			change.Nodes, members = append(change.Nodes, k), append(members, m)
		case len(nodes) > 0 && err == nil:
			err = fmt.Errorf("node %d (%s) is %s", k, m.spec.name, state)
		}
	}
	switch {
	case err != nil:
	case c.stopped:
		err = errors.New("it was stopped")
	case len(members) == 0:
		err = errors.New("all nodes are still running")
	default:
		for _, m := range members {
			if c.died == nil {
				c.died = m.Err()
			}
			m.starting = true
		}
		c.resuming.Add(1)
	}
	c.mu.Unlock()
	if err != nil {
		return fail(err)
	}
	if err := c.startNodes(ctx, members); err != nil {
		return fail(err)
	}
	c.mu.Lock()
	for _, m := range members { // file systems were recovered before
		if change.At == 0 || m.begun < change.At {
			change.At = m.begun
		}
	}
	c.mu.Unlock()
	if err := c.together(ctx); err != nil {
		return fail(err)
	}
	change.Complete = clock.Now()
	return change, nil
}

// startNodes starts the members, which are marked as starting, at once and waits until each answers. It
// ends c.resuming's count.
func (c *Cluster) startNodes(ctx context.Context, members []*member) error {
	defer c.resuming.Done()
	ctx, cancel := c.starting(ctx)
	defer cancel(nil)
	// The first error is returned: it cancels the other starts, and their
	// errors only say so.
	var failure error
	var failing sync.Once
	var starting sync.WaitGroup
	for _, m := range members {
		starting.Go(func() {
			var i *Instance
			err := c.lit(ctx, m)
			if err == nil {
				i, err = m.spec.startAgain(ctx)
			}
			c.mu.Lock()
			m.starting = false
			if err == nil {
				m.Instance = i
				c.watch(i)
			}
			c.mu.Unlock()
			if err != nil {
				failing.Do(func() { failure = err })
				cancel(err)
			}
		})
	}
	starting.Wait()
	return failure
}

// starting returns a context for starting nodes, which Stop ends.
func (c *Cluster) starting(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(c.alive, func() { cancel(errors.New("the broker is being stopped")) })
	return ctx, func(cause error) {
		stop()
		cancel(cause)
	}
}

// together waits until the cluster answers as one, if all its nodes run.
func (c *Cluster) together(ctx context.Context) error {
	if c.ready == nil {
		return nil
	}
	ctx, cancel := c.starting(ctx)
	defer cancel(nil)
	died := make(chan struct{})
	if err := poll(ctx, died, func(ctx context.Context) error {
		for _, n := range c.Members() {
			switch n.State {
			case NodeDied:
				close(died) // poll asks no more
				return c.Err()
			case NodeRunning:
			default:
				return nil // the cluster is not whole, and need not answer as one
			}
		}
		return c.ready(ctx)
	}); err != nil {
		return fmt.Errorf("the nodes are running but do not work together: %w", err)
	}
	return nil
}

// watch has Options.Died called if the process ends by itself.
func (c *Cluster) watch(i *Instance) {
	if c.death == nil {
		return
	}
	go func() {
		<-i.done // at the latest when the cluster is stopped
		if err := i.Err(); err != nil {
			c.death(err)
		}
	}()
}
