package brokers

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"sixnines/internal/clock"
)

// states are those of the nodes in order.
func states(c *Cluster) (all []NodeState) {
	for _, n := range c.Members() {
		all = append(all, n.State)
	}
	return all
}

// changed fails the test unless the change was done to the nodes, within the time since before.
func changed(t *testing.T, before int64, change Change, err error, nodes ...int) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(change.Nodes, nodes) || change.At < before || change.Complete < change.At || change.Complete > clock.Now() || len(change.Killed) > 0 {
		t.Errorf("%+v since %d, want nodes %v", change, before, nodes)
	}
}

// is fails the test unless the nodes have the states and the cluster has no error.
func (c *Cluster) is(t *testing.T, want ...NodeState) {
	t.Helper()
	if got := states(c); !slices.Equal(got, want) {
		t.Errorf("nodes are %q, want %q", got, want)
	}
	if err := c.Err(); err != nil {
		t.Error(err)
	}
}

func TestNodesAreChangedOneByOne(t *testing.T) {
	died := make(chan error, 3)
	c := deployed(t, Options{Nodes: 3, Died: func(err error) { died <- err }})
	begun := c.Members()
	for k, n := range begun {
		if n.Number != k || n.Name != c.Nodes()[k].Name || n.PID != c.Nodes()[k].PID {
			t.Errorf("node %d is %+v", k, n)
		}
	}
	c.is(t, NodeRunning, NodeRunning, NodeRunning)
	now := clock.Now()

	change, err := c.Freeze(t.Context(), 1)
	changed(t, now, change, err, 1)
	c.is(t, NodeRunning, NodeFrozen, NodeRunning)
	for k, n := range begun {
		if atRest, err := stopped(n.PID); err != nil || atRest != (k == 1) {
			t.Errorf("node %d: frozen %v, %v", k, atRest, err)
		}
	}
	change, err = c.Thaw(t.Context(), 1, 1)
	changed(t, now, change, err, 1)
	c.is(t, NodeRunning, NodeRunning, NodeRunning)

	change, err = c.Kill(t.Context(), 2, 0)
	changed(t, now, change, err, 0, 2)
	c.is(t, NodeEnded, NodeRunning, NodeEnded)
	change, err = c.Resume(t.Context(), 2)
	changed(t, now, change, err, 2)
	c.is(t, NodeEnded, NodeRunning, NodeRunning)
	if change, err := c.Kill(t.Context(), 0); !errors.Is(err, os.ErrProcessDone) || change.At != 0 {
		t.Errorf("killed what is gone: %+v, %v", change, err)
	}
	change, err = c.Resume(t.Context())
	changed(t, now, change, err, 0)
	if after := c.Members(); after[1].PID != begun[1].PID || after[0].PID == begun[0].PID || after[2].PID == begun[2].PID {
		t.Errorf("processes were %+v and are %+v", begun, after)
	}

	// A frozen one does not end by SIGTERM; it is continued.
	if _, err := c.Freeze(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	change, err = c.Terminate(t.Context(), 0)
	changed(t, now, change, err, 0)
	c.is(t, NodeEnded, NodeRunning, NodeRunning)
	change, err = c.Resume(t.Context(), 0)
	changed(t, now, change, err, 0)

	for what, f := range map[string]func(context.Context, ...int) (Change, error){"freeze": c.Freeze, "thaw": c.Thaw, "kill": c.Kill, "terminate": c.Terminate, "resume": c.Resume} {
		for _, unknown := range []int{-1, 3} {
			if _, err := f(t.Context(), 1, unknown); err == nil || !strings.Contains(err.Error(), "0 to 2") {
				t.Errorf("%s node %d: %v", what, unknown, err)
			}
		}
	}
	if _, err := c.Resume(t.Context(), 1); err == nil {
		t.Error("a running node was started again")
	}
	if _, err := c.Resume(t.Context()); err == nil {
		t.Error("no node has ended, and yet they were started again")
	}
	c.is(t, NodeRunning, NodeRunning, NodeRunning)
	if len(died) > 0 {
		t.Errorf("ended by sixnines: %v", <-died)
	}

	// What ends by itself is an error, also when it runs again and when all others are ended by sixnines.
	if err := syscall.Kill(c.Members()[1].PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	waitDone(t, c.Nodes()[1])
	if got := states(c); !slices.Equal(got, []NodeState{NodeRunning, NodeDied, NodeRunning}) {
		t.Errorf("nodes are %q", got)
	}
	change, err = c.Resume(t.Context(), 1)
	changed(t, now, change, err, 1)
	change, err = c.Kill(t.Context())
	changed(t, now, change, err, 0, 1, 2)
	for _, err := range []error{<-died, c.Err()} {
		if err == nil || !strings.Contains(err.Error(), "nats-2") || !strings.Contains(err.Error(), "killed") {
			t.Errorf("a node that was killed by another program is %v", err)
		}
	}
}

// A broker that is stopped while nodes start has none of them left.
func TestStopDuringResume(t *testing.T) {
	c := deployed(t, Options{})
	if _, err := c.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	asked := make(chan struct{}, 1)
	c.nodes[0].spec.ready = func(context.Context) error {
		select {
		case asked <- struct{}{}:
		default:
		}
		return errors.New("not yet")
	}
	resumed := make(chan error)
	go func() {
		_, err := c.Resume(context.Background())
		resumed <- err
	}()
	<-asked
	if got := states(c)[0]; got != NodeStarting {
		t.Errorf("it is %s", got)
	}
	if err := c.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	select {
	case err := <-resumed:
		if err == nil {
			t.Error("it was resumed although it was stopped")
		}
	case <-time.After(patience):
		t.Fatal("the start goes on")
	}
	if left := children(); left != "" {
		t.Errorf("left behind: %s", left)
	}
	if _, err := c.Resume(t.Context()); err == nil {
		t.Error("a stopped broker is resumed")
	}
}

// Nodes that need each other to answer are started one by one, and wait for each other.
func TestNodesAreResumedAtTheSameTime(t *testing.T) {
	c := deployed(t, Options{Nodes: 3, Settings: map[string]string{"jetstream": "disabled"}}) // without it they start at once
	if _, err := c.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	alone := c.nodes[0].spec.ready
	second := make(chan struct{})
	c.nodes[0].spec.ready = func(ctx context.Context) error {
		select {
		case <-second:
			return alone(ctx)
		default:
			return errors.New("it waits for the second")
		}
	}
	resumed := make(chan error)
	go func() {
		_, err := c.Resume(t.Context(), 0)
		resumed <- err
	}()
	if _, err := c.Resume(t.Context(), 1, 2); err != nil {
		t.Error(err)
	}
	close(second)
	if err := <-resumed; err != nil {
		t.Error(err)
	}
	c.is(t, NodeRunning, NodeRunning, NodeRunning)
}
