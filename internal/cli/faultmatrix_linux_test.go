package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sixnines/internal/disk"
	"sixnines/internal/network"
	"sixnines/result"
)

// unledCells are further cells, whose options leave a leader without followers, or one that stays.
func unledCells() []faultCell {
	const heap = "java.heap: 256m"
	return []faultCell{
		{driver: "redis", product: "redis", nodes: 3, leads: "stall freeze transfer kill"},
		{driver: "redis", product: "redis-cluster", nodes: 6, options: "sharded: true", leads: "stall freeze transfer kill", follow: 1},
		{driver: "mqtt", product: "nats", nodes: 3, options: "version: 3.1.1"},
		{driver: "jetstream", product: "nats", nodes: 3, leads: "stall kill"},
		{driver: "rabbitmq", product: "rabbitmq", nodes: 3, slow: true, leads: "stall kill"},
		{driver: "rabbitmq", product: "rabbitmq", nodes: 3, options: "queue_type: stream", slow: true, leads: "stall freeze kill"},
		{driver: "rabbitmq-stream", product: "rabbitmq", nodes: 3, options: "replicas: 1", slow: true, leads: "stall kill"},
		{driver: "rabbitmq-stream", product: "rabbitmq", nodes: 1, options: "client: library", slow: true, fixed: true},
		{driver: "amqp10", product: "rabbitmq", nodes: 3, slow: true},
		{driver: "kafka", product: "kafka", nodes: 3, options: "replication_factor: 1", settings: heap, slow: true, leads: "stall kill"},
	}
}

// matrixAct is an action of the matrix of kinds and brokers.
type matrixAct struct {
	text    string
	refused bool // by the plan, in this cell
	takes   time.Duration
}

// choices are the words for nodes.
func choices() []string { return []string{"0", "leader", "followers", "random", "all"} }

// cannot reports whether the cell has nothing that a word for nodes stands for.
func (c faultCell) cannot(choice string) bool {
	switch choice {
	case "leader":
		return c.nodes > 1 && c.leads == ""
	case "followers":
		return !strings.Contains(c.leads, "freeze")
	}
	return false
}

// matrix lists actions of all sorts with each subject that they may have, and which of these the cell cannot have. Which
// nodes a word stands for is the same for all kinds.
func (c faultCell) matrix() (all []matrixAct) {
	add := func(refused bool, takes time.Duration, format string, args ...any) {
		all = append(all, matrixAct{fmt.Sprintf(format, args...), refused, takes})
	}
	for _, kind := range []string{"power", "disk"} {
		add(c.diskless(), 0, runActs()[kind], "0")
	}
	for _, to := range []string{"followers", "1"} {
		add(c.nodes == 1 || c.cannot(to), 0, "cut: {from: 0, to: %s}, for: 100ms", to)
	}
	add(c.nodes == 1, 0, "network: {delay: 2ms, between: [brokers, brokers]}, for: 100ms")
	return append(all, c.matrixRun()...)
}

// matrixRun are those actions of the matrix that are run: each word for nodes, and each subject of a connection. What
// kinds do to nodes, whatever their words, is TestFaults's.
func (c faultCell) matrixRun() (all []matrixAct) {
	add := func(refused bool, takes time.Duration, format string, args ...any) {
		all = append(all, matrixAct{fmt.Sprintf(format, args...), refused, takes})
	}
	for _, choice := range choices() {
		add(c.cannot(choice), 1500*time.Millisecond, "stall: {node: %s}, for: 200ms", choice)
	}
	for _, choice := range []string{"leader", "followers"} {
		add(c.cannot(choice), 1500*time.Millisecond, "cut: {from: clients, to: %s}, for: 100ms", choice)
	}
	add(!strings.Contains(c.leads, "transfer"), 5*time.Second, "transfer: leader")
	add(c.fixed, time.Second, "disconnect: producers")
	add(c.fixed, time.Second, "disconnect: all")
	return all
}

// matrixSkipped reports whether this machine has no means for an action.
func matrixSkipped(text string) bool {
	kind, _, _ := strings.Cut(text, ":")
	switch kind {
	case "power", "disk":
		return disk.Check() != nil
	case "cut":
		return faultsSkipped("paths") != ""
	case "network":
		return faultsSkipped("paths") != "" || network.Look().Why[network.NFQueue] != ""
	}
	return false
}

// Each sort of action with each subject on each managed broker is refused by the plan, with what would work, or can be.
func TestFaultsMatrix(t *testing.T) {
	for _, c := range slices.Concat(faultCells(), unledCells()) {
		t.Run(c.String()+" "+c.options, func(t *testing.T) {
			t.Parallel() // each waits for the kernel's namespaces
			file := filepath.Join(t.TempDir(), "scenario.yaml")
			for _, a := range c.matrix() {
				if matrixSkipped(a.text) {
					continue
				}
				if err := os.WriteFile(file, []byte(c.scenario("rate: 100/s", "  - {at: 1s, "+a.text+"}\n", 5*time.Second)), 0o644); err != nil {
					t.Fatal(err)
				}
				code, _, errs := invoke(t, Env{}, "run", file, "--dry-run")
				switch {
				case a.refused && (code != exitUsage || !strings.Contains(errs, "hint: ") && !strings.Contains(errs, "(")):
					t.Errorf("%s: exit code %d, and it cannot be:\n%s", a.text, code, errs)
				case !a.refused && code != exitOK:
					t.Errorf("%s: exit code %d, and it can be:\n%s", a.text, code, errs)
				}
			}
		})
	}
}

// What the plan does not refuse does not fail at its instant: each word for nodes and each subject of a connection, with
// consumers and without.
func TestFaultsHappen(t *testing.T) {
	if os.Getenv(faultsVariable) != "all" {
		t.Skip("takes half an hour: make faults")
	}
	for _, c := range slices.Concat(faultCells(), unledCells()) {
		for _, pattern := range []string{"deliver", "publish"} {
			t.Run(c.String()+" "+c.options+" "+pattern, func(t *testing.T) {
				c.installed(t)
				var plan faultPlan
				for _, a := range c.matrixRun() {
					if !a.refused && !matrixSkipped(a.text) {
						plan = append(plan, faultStep{text: a.text, takes: a.takes})
					}
				}
				actions, window := plan.actions()
				r := c.start(t, "rate: 100/s, size: 128B, timeout: 2s, pattern: "+pattern, actions, window).ended(t, false)
				happened := map[int]bool{}
				for _, e := range r.Events {
					switch {
					case e.Action == nil:
					case e.Kind == result.EventActionFailed:
						t.Errorf("%s: %s", plan[e.Action.Number-1].text, e.Detail)
					default:
						happened[e.Action.Number] = true
					}
				}
				if len(happened) != len(plan) {
					t.Errorf("%d of %d actions happened: %s", len(happened), len(plan), r.said)
				}
			})
		}
	}
}
