package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"sixnines/internal/disk"
	"sixnines/internal/netns"
	"sixnines/internal/network"
	"sixnines/result"
)

// restartTime is how long nodes of the cell take at most until they answer again.
func (c faultCell) restartTime() time.Duration {
	switch {
	case c.slow:
		return 20 * time.Second
	case c.nodes > 1: // they agree on a leader first
		return 6 * time.Second
	}
	return 2 * time.Second
}

// faultTimelines are the timelines of the cell by their names. Each kind of action that it can have is in one.
func (c faultCell) faultTimelines() map[string]faultPlan {
	n, restartTime, all := c.nodes, c.restartTime(), map[string]faultPlan{}
	all["stalls"] = faultPlan{
		{"stall: {node: 0}, for: 400ms", 1, time.Second},
		{"freeze: {node: all}, for: 400ms", n, time.Second},
		{"pause: consumers, for: 300ms", 0, time.Second},
	}
	if !c.fixed {
		all["stalls"] = append(all["stalls"], faultStep{"disconnect: producers", 0, time.Second}, faultStep{"disconnect: all", 0, time.Second},
			faultStep{"disconnect: consumers", 0, time.Second})
	}
	all["ends"] = faultPlan{
		{"kill: {node: random}, restart: 200ms", 1, restartTime},
		{"terminate: {node: 0}, restart: 200ms", 1, restartTime},
		{"rolling: {restart: all, pause: 100ms}", n, time.Duration(n) * restartTime},
		{"restart: {node: 0}", 1, restartTime},
		{fmt.Sprintf("kill: {node: %d}", n-1), 1, 500 * time.Millisecond},
	}
	if !c.diskless() {
		// All nodes start at once, on the processors of one machine.
		all["disks"] = faultPlan{{"power: {node: all}, restart: 200ms", n, time.Duration(n) * restartTime}, {"disk: {full: true}, for: 300ms", n, time.Second}}
	}
	if c.corrupt != "" {
		all["corrupt"] = faultPlan{{fmt.Sprintf("corrupt: {node: 0, file: %q, bits: 2}", c.corrupt), 1, 500 * time.Millisecond}}
	}
	all["paths"] = faultPlan{
		{"cut: {from: clients, to: 0}, for: 300ms", 1, time.Second},
		{"cut: {from: 0, to: clients, one_way: true}, for: 200ms", 1, 1500 * time.Millisecond},
		{"network: {delay: 2ms, loss: 1%}, for: 300ms", 0, 1500 * time.Millisecond},
	}
	if n > 1 {
		all["paths"] = append(all["paths"], faultStep{"cut: {from: [0], to: [2]}, for: 300ms", 2, 1500 * time.Millisecond},
			faultStep{"network: {delay: 2ms, between: [brokers, brokers]}, for: 300ms", 0, time.Second})
	}
	all["loopback"] = faultPlan{{"network: {delay: 2ms, loss: 1%, rate: 10mbit}, for: 500ms", 0, time.Second}}
	followers := cmp.Or(c.follow, n-1)
	for _, what := range strings.Fields(c.leads) {
		all["leaders"] = append(all["leaders"], map[string]faultStep{
			"stall":    {"stall: {node: leader}, for: 300ms", 1, 2 * time.Second},
			"freeze":   {"freeze: {node: followers}, for: 300ms", followers, 2 * time.Second},
			"transfer": {"transfer: leader", 2, 5 * time.Second},
			"kill":     {"kill: {node: leader}, restart: 500ms", 1, 2 * time.Second},
		}[what])
	}
	return all
}

// faultsSkipped says why a timeline is impossible on this machine; empty: it is possible.
func faultsSkipped(name string) string {
	switch name {
	case "disks":
		if err := disk.Check(); err != nil {
			return err.Error()
		}
	case "paths":
		n, err := netns.New()
		if errors.Is(err, netns.ErrUnavailable) {
			return err.Error()
		}
		if err == nil {
			n.Close()
		}
	}
	if name == "paths" || name == "loopback" {
		return network.Look().Why[network.NFQueue]
	}
	return ""
}

// TestFaults: every kind of action on the managed brokers that can have it. Each message is in one account, each
// action happened when its event says and to the nodes that it declares, nothing is left on the machine, and the
// verdict does not suffer from what was asked for.
func TestFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("takes its time")
	}
	every := os.Getenv(faultsVariable) == "all"
	sample := map[string][]string{ // each kind once
		"redis-streams on redis 1":         {"disks", "corrupt", "paths"},
		"nats on nats 1":                   {"stalls", "ends", "loopback"},
		"jetstream on nats 3":              {"leaders"},
		"redis-streams on redis-cluster 6": {"leaders"},
	}
	for _, c := range faultCells() {
		for name, plan := range c.faultTimelines() {
			if !every && !slices.Contains(sample[c.String()], name) {
				continue
			}
			t.Run(c.String()+" "+name, func(t *testing.T) {
				c.installed(t)
				if why := faultsSkipped(name); why != "" {
					t.Skip("SKIPPED: " + why)
				}
				actions, window := plan.actions()
				r := c.start(t, "rate: 200/s, size: 128B, timeout: 2s", actions, window).ended(t, name == "disks" || name == "corrupt")
				r.happened(t, c, plan)
				r.judged(t)
			})
		}
	}
}

// happened checks the events of the plan's steps.
func (r *faultRun) happened(t *testing.T, c faultCell, plan faultPlan) {
	t.Helper()
	if len(r.Header.Actions) != len(plan) {
		t.Fatalf("%d actions of %d are in the result", len(r.Header.Actions), len(plan))
	}
	began, over := make([]int64, len(plan)), make([]int64, len(plan))
	for _, e := range r.Events {
		if e.Action == nil {
			continue
		}
		k := e.Action.Number - 1
		step := plan[k]
		switch e.Kind {
		case result.EventActionFailed:
			t.Errorf("%s: %s", step.text, e.Detail)
		case result.EventAction:
			began[k] = e.At
			if e.At < e.Action.Planned || e.Action.Planned != int64(begins+sum(plan[:k])) {
				t.Errorf("%s: planned for %d, happened at %d", step.text, e.Action.Planned, e.At)
			}
			nodes := e.Action.Nodes
			if step.nodes != len(nodes) && (step.nodes != 2 || e.Kind == result.EventActionOver) {
				t.Errorf("%s: it happened to the nodes %v", step.text, nodes)
			}
			if slices.ContainsFunc(nodes, func(n int) bool { return n < 0 || n >= c.nodes }) || len(slices.Compact(slices.Sorted(slices.Values(nodes)))) != len(nodes) {
				t.Errorf("%s: it happened to the nodes %v of %d", step.text, nodes, c.nodes)
			}
			if strings.Contains(step.text, "node: 0") && !slices.Equal(nodes, []int{0}) {
				t.Errorf("%s: it happened to the nodes %v", step.text, nodes)
			}
		case result.EventActionOver:
			over[k] = e.At
			if e.At < began[k] || e.Action.Began != began[k] {
				t.Errorf("%s: began at %d by one event and at %d by the other, and was over at %d", step.text, began[k], e.Action.Began, e.At)
			}
		}
	}
	for k, step := range plan {
		lasts := !strings.HasPrefix(step.text, "disconnect") && !strings.HasPrefix(step.text, "corrupt") && (!strings.HasPrefix(step.text, "kill") || strings.Contains(step.text, "restart"))
		if began[k] == 0 || lasts != (over[k] != 0) {
			t.Errorf("%s: happened at %d, over at %d", step.text, began[k], over[k])
		}
	}
	if t.Failed() {
		t.Logf("%s\n%+v", r.said, r.Events)
	}
}

// sum is how long steps take.
func sum(plan faultPlan) (all time.Duration) {
	for _, s := range plan {
		all += s.takes
	}
	return all
}

// judged checks that what was asked for does not make the run invalid. Other programs on the machine may.
func (r *faultRun) judged(t *testing.T) {
	t.Helper()
	for _, part := range r.Parts() {
		n := part.Counters
		t.Logf("%s: scheduled %d, not sent %d, rejected %d, acked %d, refused %d, unknown %d; expected %d, received %d, missing %d, lost though acknowledged %d, duplicated %d",
			part.Summary.Verdict.Status, n.Scheduled, n.NotSent, n.Rejected, n.Acked, n.Nacked, n.Unknown, n.Expected, n.Received, n.Missing, n.LostAcked, n.Duplicated)
		for _, reason := range part.Summary.Verdict.Reasons {
			by := reason.Code.Properties().By
			if reason.Status == result.Invalid && by != result.ByMachine && by != result.ByGenerator && by != result.ByHost && by != result.ByEither {
				t.Errorf("%s: %s", reason.Code, reason.What())
			}
		}
	}
}
