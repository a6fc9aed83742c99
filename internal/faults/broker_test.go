package faults

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sixnines/driver"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
	"sixnines/internal/clock"
	"sixnines/internal/engine/actions"
	"sixnines/internal/network"
	"sixnines/result"
	"sixnines/scenario"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == serveNATS {
		os.Exit(brokers.ServeNATS(os.Stdin, os.Stderr, os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == network.Command {
		if err := network.Serve(os.Stdin, os.Stdout); err != nil {
			panic(err)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// serveNATS makes the test binary a NATS server.
const serveNATS = "__broker-nats"

// start starts three nodes of the product.
func start(t *testing.T, product string) *brokers.Cluster {
	t.Helper()
	h := brokertest.Home(t)
	h.Self = []string{os.Args[0], serveNATS}
	return brokertest.Start(t, product, brokers.Options{Nodes: 3, Home: h})
}

// act returns the one act of a plan.
func act(t *testing.T, text string) *scenario.Act {
	t.Helper()
	s, err := scenario.Parse("x.yaml", []byte("target: {nodes: 3}\nactions: ["+text+"]\n"))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	s.Normalise()
	acts := s.Acts()
	if len(acts) != 1 {
		t.Fatalf("%d acts", len(acts))
	}
	return &acts[0]
}

// doer returns what does the act of a text to a cluster.
func doer(t *testing.T, target *Target, text string) actions.Doer {
	t.Helper()
	d, err := target.Doer(act(t, text))
	if err != nil || d == nil {
		t.Fatalf("%s: %v, %v", text, d, err)
	}
	return d
}

// states returns how the nodes of a cluster are doing.
func states(c *brokers.Cluster) (all []brokers.NodeState) {
	for _, m := range c.Members() {
		all = append(all, m.State)
	}
	return all
}

// A stalled node is stopped when the act says so, and goes on when it is undone. A node is under one act
// at a time, and one that was given up before its instant is free.
func TestStall(t *testing.T) {
	c := start(t, "nats")
	target := &Target{Cluster: c, Seed: 7}
	stall := doer(t, target, "{at: 1s, stall: {node: 1}, for: 2s}").(actions.Undoer)
	at := clock.Now() + int64(50*time.Millisecond)
	happened, err := stall.Do(t.Context(), at)
	if err != nil || happened < at || happened > clock.Now() {
		t.Fatalf("planned for %d, happened at %d: %v", at, happened, err)
	}
	if got := states(c); got[0] != brokers.NodeRunning || got[1] != brokers.NodeFrozen || got[2] != brokers.NodeRunning {
		t.Errorf("while node 1 is stalled: %v", got)
	}
	e := result.Event{Action: &result.Acted{}}
	if stall.(actions.Describer).Describe(&e); !slices.Equal(e.Action.Nodes, []int{1}) {
		t.Errorf("the event says %v", e.Action.Nodes)
	}
	freeze := doer(t, target, "{at: 2s, freeze: {node: 1}, for: 2s}").(actions.Undoer)
	if _, err := freeze.Do(t.Context(), 0); err == nil || !strings.Contains(err.Error(), "node 1 is still under the action {at: 1s, stall: {node: 1}, for: 2s}") {
		t.Errorf("a second act on node 1: %v", err)
	}
	if _, err := freeze.Undo(t.Context()); err != nil {
		t.Error(err)
	}
	over, err := stall.Undo(t.Context())
	if err != nil || over < happened || slices.Contains(states(c), brokers.NodeFrozen) {
		t.Errorf("undone at %d: %v, %v", over, err, states(c))
	}
	all := doer(t, target, "{at: 2s, stall: {node: all}, for: 2s}").(actions.Undoer)
	given, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := all.Do(given, clock.Now()+int64(time.Minute)); err == nil || slices.Contains(states(c), brokers.NodeFrozen) {
		t.Errorf("given up before its instant: %v, %v", err, states(c))
	}
	if _, err := all.Undo(t.Context()); err != nil {
		t.Error(err)
	}
	if err := target.take([]int{0, 1, 2}, "another"); err != nil {
		t.Error(err)
	}
}

// at notes when what an act did happened.
func at(t *testing.T, d actions.Doer) (happened int64) {
	t.Helper()
	before := clock.Now()
	happened, err := d.Do(t.Context(), 0)
	if err != nil || happened < before || happened > clock.Now() {
		t.Fatalf("%d, after %d: %v", happened, before, err)
	}
	return happened
}

// undone is the same of undoing it.
func undone(t *testing.T, d actions.Doer) (happened int64) {
	t.Helper()
	before := clock.Now()
	happened, err := d.(actions.Undoer).Undo(t.Context())
	if err != nil || happened < before || happened > clock.Now() {
		t.Fatalf("%d, after %d: %v", happened, before, err)
	}
	return happened
}

// Nodes end, and are started again where the act says so: that is no end by itself.
func TestEndOfNodes(t *testing.T) {
	c := start(t, "nats")
	target := &Target{Cluster: c}
	first := c.Members()
	for _, text := range []string{"{at: 1s, kill: {node: 0}, restart: 2s}", "{at: 1s, terminate: {node: 0}, restart: 2s}", "{at: 1s, restart: {node: 0}}"} {
		d := doer(t, target, text)
		at(t, d)
		if got := states(c); got[0] != brokers.NodeEnded || got[1] != brokers.NodeRunning {
			t.Errorf("%s: %v", text, got)
		}
		undone(t, d)
		if got := c.Members(); got[0].State != brokers.NodeRunning || got[0].PID == first[0].PID || got[1].PID != first[1].PID {
			t.Errorf("%s: before %v, after %v", text, first, got)
		}
	}
	at(t, doer(t, target, "{at: 1s, kill: {node: 2}}"))
	if _, err := doer(t, target, "{at: 1s, restart: {node: 2}}").Do(t.Context(), 0); err == nil || !strings.Contains(err.Error(), "node 2 is still under the action {at: 1s, kill: {node: 2}}") {
		t.Errorf("a restart of a node that stays down: %v", err)
	}
	if err := c.Down(); err != nil {
		t.Errorf("one node of three is down: %v", err)
	}
	at(t, doer(t, target, "{at: 1s, kill: {node: 0}}"))
	at(t, doer(t, target, "{at: 1s, kill: {node: 1}}"))
	if err := c.Down(); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("all nodes are down: %v", err)
	}
	if err := c.Err(); err != nil {
		t.Error(err)
	}
}

// A rolling restart ends one node at a time, and all in their order.
func TestRolling(t *testing.T) {
	c := start(t, "nats")
	before := c.Members()
	d := doer(t, &Target{Cluster: c}, "{at: 1s, rolling: {restart: all, pause: 50ms}}")
	most := make(chan int)
	stop := make(chan struct{})
	go func() {
		down := 0
		for {
			select {
			case <-stop:
				most <- down
				return
			case <-time.After(time.Millisecond):
			}
			n := 0
			for _, s := range states(c) {
				if s != brokers.NodeRunning {
					n++
				}
			}
			down = max(down, n)
		}
	}()
	happened := at(t, d)
	over, err := d.(actions.Undoer).Undo(t.Context())
	close(stop)
	if down := <-most; down != 1 {
		t.Errorf("%d nodes were down at a time", down)
	}
	if err != nil || over-happened < int64(100*time.Millisecond) {
		t.Errorf("from %d to %d: %v", happened, over, err)
	}
	for k, m := range c.Members() {
		if m.State != brokers.NodeRunning || m.PID == before[k].PID {
			t.Errorf("node %d: before %+v, after %+v", k, before[k], m)
		}
	}
	given, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := doer(t, &Target{Cluster: c}, "{at: 1s, rolling: {restart: all}}").Do(given, clock.Now()+int64(time.Minute)); err == nil {
		t.Error("it did not notice that it was given up")
	}
}

// A rolling restart that the run's end stops has not happened to all nodes, which is an error; one that an interruption stops
// says which nodes it happened to.
func TestRollingIsStopped(t *testing.T) {
	c := start(t, "nats")
	for _, why := range []error{nil, actions.ErrInterrupted} {
		d := doer(t, &Target{Cluster: c}, "{at: 1s, rolling: {restart: all, pause: 4s}}")
		ctx, cancel := context.WithCancelCause(t.Context())
		before := c.Members()[0].PID
		go func() { // when the first node runs again
			for c.Members()[0].PID == before || c.Members()[0].State != brokers.NodeRunning {
				time.Sleep(time.Millisecond)
			}
			cancel(why)
		}()
		happened, err := d.Do(ctx, clock.Now())
		if why == nil && (err == nil || !strings.Contains(err.Error(), "the run ended when 1 of 3 nodes were restarted")) {
			t.Errorf("the run's end: %v", err)
		}
		if why != nil && (err != nil || happened == 0) {
			t.Errorf("an interruption: %d, %v", happened, err)
		}
		e := result.Event{Action: &result.Acted{}}
		if d.(actions.Describer).Describe(&e); !slices.Equal(e.Action.Nodes, []int{0}) {
			t.Errorf("the event says %v", e.Action.Nodes)
		}
		if _, err := d.(actions.Undoer).Undo(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// A random node follows from the seed and the act's place in the plan.
func TestRandomNode(t *testing.T) {
	c := start(t, "nats")
	drawn := map[int]bool{}
	for seed := range uint64(20) {
		n := &nodes{target: &Target{Cluster: c, Seed: seed}, act: act(t, "{at: 1s, stall: {node: random}, for: 1s}"), choice: scenario.RandomNode}
		first, err := n.choose(t.Context())
		again, _ := n.choose(t.Context())
		if err != nil || len(first) != 1 || !slices.Equal(first, again) {
			t.Fatalf("seed %d: %v and %v, %v", seed, first, again, err)
		}
		drawn[first[0]] = true
	}
	if len(drawn) != 3 {
		t.Errorf("20 seeds draw the nodes %v", drawn)
	}
}

// named names one destination.
type named string

func (n named) Destinations() []driver.Destination {
	return []driver.Destination{{Topic: "t", Name: string(n)}}
}

// replicated makes the stream SIXNINES on all nodes, and returns which one leads it.
func replicated(t *testing.T, c *brokers.Cluster) int {
	t.Helper()
	nc, err := nats.Connect(c.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "SIXNINES", Subjects: []string{"s"}, Replicas: 3}); err != nil {
		t.Fatal(err)
	}
	p, err := (&Target{Cluster: c, namers: []driver.DestinationNamer{named("SIXNINES")}}).placement(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return p.Leader
}

// Leader and followers are those of the first destination that a workload has; leadership moves by asking.
func TestLeader(t *testing.T) {
	c := start(t, "nats")
	target := &Target{Cluster: c}
	target.Provisioned("", named("SIXNINES"))
	if d := target.destination(); d.Name != "SIXNINES" {
		t.Errorf("%+v", d)
	}
	n := &nodes{target: target, choice: scenario.Leader}
	if n.Ahead() != asked {
		t.Errorf("a leader is asked for %s before", n.Ahead())
	}
	if _, err := n.choose(t.Context()); err == nil {
		t.Error("a stream that does not exist has a leader")
	}
	before := replicated(t, c)
	x := doer(t, target, "{at: 1s, transfer: leader}")
	happened := at(t, x)
	over, err := x.(actions.Undoer).Undo(t.Context())
	e := result.Event{Action: &result.Acted{}}
	x.(actions.Describer).Describe(&e)
	if err != nil || over < happened || len(e.Action.Nodes) != 2 || e.Action.Nodes[0] != before || e.Action.Nodes[1] == before {
		t.Fatalf("from %d, at %d to %d: %v, %v", before, happened, over, e.Action.Nodes, err)
	}
	leader, err := n.choose(t.Context())
	if err != nil || !slices.Equal(leader, e.Action.Nodes[1:]) {
		t.Errorf("%v leads, moved %v: %v", leader, e.Action.Nodes, err)
	}
	n.choice = scenario.Followers
	if followers, err := n.choose(t.Context()); err != nil || len(followers) != 2 || slices.Contains(followers, leader[0]) {
		t.Errorf("%v leads, and %v follow: %v", leader, followers, err)
	}
}
