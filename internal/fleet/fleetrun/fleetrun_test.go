package fleetrun

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"sixnines/driver"
	"sixnines/drivers/mem"
	"sixnines/internal/engine"
	"sixnines/internal/fleet/agent"
	"sixnines/internal/fleet/control"
	"sixnines/internal/fleet/coordinator"
	"sixnines/internal/fleet/merge"
	"sixnines/internal/fleet/wire"
	"sixnines/internal/judge"
	"sixnines/result"
	"sixnines/scenario"
)

const version = "1.2.3"

func tool() result.Tool { return result.Tool{Name: "sixnines", Version: version} }

// fleet is a control plane with agents, all in this process.
type fleet struct {
	t      *testing.T
	server *control.Server
	conn   *nats.Conn
	dir    string
	all    sync.WaitGroup
	leave  []context.CancelFunc
	broker *mem.Broker // of all agents
}

func newFleet(t *testing.T, runners ...agent.Runner) *fleet {
	t.Helper()
	f := &fleet{t: t, dir: t.TempDir(), broker: mem.New()}
	var err error
	if f.server, err = control.Start(t.Context(), control.Options{Dir: filepath.Join(f.dir, "control"), Host: "127.0.0.1"}); err != nil {
		t.Fatal(err)
	}
	if f.conn, err = wire.Connect(t.Context(), f.server.Login(), nil, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, leave := range f.leave {
			leave()
		}
		f.all.Wait()
		f.conn.Close()
		f.server.Close()
	})
	for i, r := range runners {
		f.join(fmt.Sprintf("agent-%d", i), r)
	}
	return f
}

// join has an agent join, and returns when it is there.
func (f *fleet) join(name string, r agent.Runner) {
	f.t.Helper()
	ctx, leave := context.WithCancel(context.Background())
	f.leave = append(f.leave, leave)
	joined, ended := make(chan wire.Hello, 1), make(chan error, 1)
	f.all.Go(func() {
		ended <- agent.Run(ctx, agent.Config{Login: f.server.Login(), Version: version, Name: name, Dir: filepath.Join(f.dir, name),
			Drivers: driver.NewSet(f.broker.Entry()), Runner: r, Leave: 3 * time.Second, Joined: func(h wire.Hello) { joined <- h },
			Say: func(line string) { f.t.Logf("%s: %s", name, line) }})
	})
	select {
	case <-joined:
	case err := <-ended:
		f.t.Fatalf("%s: %v", name, err)
	case <-time.After(30 * time.Second):
		f.t.Fatal(name + " does not join")
	}
}

// run carries out a scenario.
func (f *fleet) run(ctx context.Context, text string, change func(*coordinator.Config, *Collector)) (*Collector, *coordinator.Outcome, error) {
	f.t.Helper()
	s, err := scenario.Parse("test", []byte(text))
	if err != nil {
		f.t.Fatal(err)
	}
	s.Normalise()
	if err := s.Validate(); err != nil {
		f.t.Fatal(err)
	}
	c := &Collector{File: filepath.Join(f.t.TempDir(), "merged.jsonl"), Whole: merge.Whole{Tool: tool()}}
	config := coordinator.Config{Conn: f.conn, Version: version, Run: "run-1", Scenario: s, Entry: mem.Entry(), Divider: Divider{}, Collector: c,
		Ready: 30 * time.Second, Patience: 30 * time.Second, Lead: time.Second, Say: func(line string) { f.t.Log(line) }}
	if change != nil {
		change(&config, c)
	}
	o, err := coordinator.Run(ctx, config)
	if closing := c.Close(); closing != nil {
		f.t.Error(closing)
	}
	return c, o, err
}

// steady is a load that three agents can share. On a busy machine messages are late: the drain ends with the last of them.
const steady = "version: 1\ntarget: {driver: mem, options: {delay: 2ms}}\nworkload: {rate: 600, producers: 3, topics: 3, consumers: 3}\n" +
	"phases: {warmup: 200ms, duration: 2s, drain: 60s}\nrecord: {interval: 100ms}\n"

// buckets returns a histogram's counts.
func buckets(h *result.Histogram) map[int64]int64 {
	all := map[int64]int64{}
	if h.Count() > 0 {
		h.Buckets(func(_, high, n int64) { all[high] += n })
	}
	return all
}

// isSum checks that a merged result is, count for count and bucket for bucket, what the agents' files have, and that it verifies.
func isSum(t *testing.T, run *result.Run, file string) {
	t.Helper()
	counters := result.Counters{}
	want := map[result.Metric]map[int64]int64{}
	for _, s := range Sources(file, run.Header.Fleet) {
		of, err := result.Load(s.Path)
		if err != nil {
			t.Fatal(err)
		}
		counters.Add(of.Counters)
		for m, x := range of.Metrics {
			if want[m] == nil {
				want[m] = map[int64]int64{}
			}
			for b, n := range buckets(x.Hist) {
				want[m][b] += n
			}
		}
	}
	if run.Counters != counters {
		t.Errorf("the counters are\n%+v, and of the agents\n%+v", run.Counters, counters)
	}
	for m := range want {
		if got := buckets(run.Metrics[m].Hist); fmt.Sprint(got) != fmt.Sprint(want[m]) {
			t.Errorf("%s: the buckets are\n%v, and of the agents\n%v", m, got, want[m])
		}
	}
	for _, p := range judge.Verify(run, tool()) {
		t.Error(p)
	}
}

// Three agents carry out a scenario, and the result is the sum of what they recorded.
func TestAFleetIsMerged(t *testing.T) {
	t.Parallel()
	f := newFleet(t, &Runner{Tool: tool()}, &Runner{Tool: tool()}, &Runner{Tool: tool()})
	var began sync.WaitGroup
	began.Add(1)
	var seen []engine.Progress
	c, o, err := f.run(t.Context(), steady, func(_ *coordinator.Config, c *Collector) {
		c.Begun = began.Done
		c.Observe = func(p engine.Progress) { seen = append(seen, p) }
	})
	if err != nil {
		t.Fatal(err)
	}
	began.Wait()
	run := c.Result()
	if !o.Complete() || run.Counters.Scheduled != 1200 || run.Counters.Received != 1200 {
		t.Errorf("%+v, %+v", o.Ends, run.Counters)
	}
	isSum(t, run, c.File)
	for i, a := range run.Header.Fleet.Agents { // what a kernel knows of a time service, each agent says of its own
		of, err := result.Load(Sources(c.File, run.Header.Fleet)[i].Path)
		if err != nil {
			t.Fatal(err)
		}
		if s := of.Header.Clock.Service; runtime.GOOS == "linux" && (s == nil || s.MostError < 0) || (a.Service == nil) != (s == nil) || s != nil && *a.Service != *s {
			t.Errorf("agent %s says %+v of its time service, and the merged result %+v", a.Name, s, a.Service)
		}
	}
	if run.Header.Clock.Service != nil {
		t.Error("the merged result has the time service of one agent")
	}
	if len(seen) == 0 || !slices.ContainsFunc(seen, func(p engine.Progress) bool {
		return p.Phase == result.PhaseMeasure && p.Asked == 600 && p.Count > 0 && p.P50 >= 2*time.Millisecond && p.Max >= p.P50
	}) {
		t.Errorf("the progress was %+v", seen)
	}
	for _, e := range o.Ends {
		if e.Late < 0 {
			t.Errorf("an agent began before the others: %+v", e)
		}
	}
	f.idle()
}

// idle waits until no agent keeps anything.
func (f *fleet) idle() {
	f.t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		left, err := filepath.Glob(filepath.Join(f.dir, "agent-*", "*"))
		switch {
		case err == nil && len(left) == 0:
			return
		case time.Now().After(end):
			f.t.Fatalf("agents keep %v", left)
		}
	}
}

// The end of the coordinator's context ends the window of all agents early, and abort ends them at once.
func TestAFleetIsInterrupted(t *testing.T) {
	t.Parallel()
	const long = "version: 1\ntarget: {driver: mem, options: {delay: 2ms}}\nworkload: {rate: 300, producers: 3, topics: 3, consumers: 3}\n" +
		"phases: {warmup: 0s, duration: 60s, drain: 5s}\nrecord: {interval: 100ms}\n"
	for name, atOnce := range map[string]bool{"early": false, "at once": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFleet(t, &Runner{Tool: tool()}, &Runner{Tool: tool()}, &Runner{Tool: tool()})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			abort := make(chan struct{})
			stop := sync.OnceFunc(func() {
				cancel()
				if atOnce {
					close(abort)
				}
			})
			c, o, err := f.run(ctx, long, func(config *coordinator.Config, c *Collector) {
				config.Abort = abort
				c.Observe = func(p engine.Progress) {
					if p.Counters.Sent > 30 {
						stop()
					}
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			run := c.Result()
			for i, e := range o.Ends {
				if e.Ending != wire.Interrupted || e.Missing != 0 {
					t.Errorf("agent %d: %+v", i, e)
				}
			}
			s := run.Summary
			if !s.Interrupted || s.Aborted != atOnce || run.Counters.Sent < 30 || run.Counters.Scheduled >= 18000 {
				t.Errorf("interrupted %v, aborted %v, %+v", s.Interrupted, s.Aborted, run.Counters)
			}
			isSum(t, run, c.File)
			f.idle()
		})
	}
}

// dying is a runner whose agent has recorded nothing more from some record on.
type dying struct {
	Runner
	after int
}

func (d *dying) Run(ctx context.Context, p *agent.Plan, s agent.Stage) error {
	return d.Runner.Run(ctx, p, &dyingStage{Stage: s, dying: d})
}

type dyingStage struct {
	agent.Stage
	*dying
	n int
}

var errDead = errors.New("this machine has lost its power")

func (s *dyingStage) Record(record []byte) error {
	if s.n++; s.n > s.after {
		return errDead
	}
	return s.Stage.Record(record)
}

// Of an agent that is lost the result has what it recorded until then, and the rest of its segment as not sent; also of
// one that recorded nothing. It is named.
func TestAnAgentIsLost(t *testing.T) {
	t.Parallel()
	for _, after := range []int{0, 4} {
		t.Run(fmt.Sprint(after), func(t *testing.T) {
			t.Parallel()
			f := newFleet(t, &Runner{Tool: tool()}, &dying{Runner: Runner{Tool: tool()}, after: after}, &Runner{Tool: tool()})
			c, o, err := f.run(t.Context(), steady, nil)
			if err != nil {
				t.Fatal(err)
			}
			if o.Complete() || o.Ends[1].Ending != wire.Failed || !strings.Contains(o.Ends[1].Why, errDead.Error()) {
				t.Errorf("%+v", o.Ends)
			}
			run := c.Result()
			if run.Counters.Scheduled != 1200 || run.Counters.NotSent == 0 || run.Counters.NotSent > 400 {
				t.Errorf("%+v", run.Counters)
			}
			if ok, problem := run.Counters.Conserved(); !ok {
				t.Error(problem)
			}
			for _, p := range judge.Verify(run, tool()) {
				t.Error(p)
			}
			v := run.Summary.Verdict
			if v.Status == result.Valid || !slices.ContainsFunc(v.Reasons, func(r result.Reason) bool {
				return r.Code == result.ReasonAgentLost && strings.Contains(r.Text, "agent-1")
			}) {
				t.Errorf("%s: %+v", v, v.Reasons)
			}
			f.idle()
		})
	}
}

// What no fleet can run is refused before anything is sent, and what cannot be divided as well.
func TestRefused(t *testing.T) {
	t.Parallel()
	f := newFleet(t, &Runner{Tool: tool()}, &Runner{Tool: tool()})
	for name, c := range map[string]struct{ change, with, want string }{
		"too few topics": {"topics: 3", "topics: 1", "at least 2 topics"},
		"until":          {"duration: 2s", "duration: 2s, until: delivery.response p99 ±5%", "phases.until"},
		"raw":            {"record: {", "record: {raw: true, ", "raw"},
		"probe":          {"record: {", "record: {probe: on, ", "probe"},
	} {
		t.Run(name, func(t *testing.T) {
			col, _, err := f.run(t.Context(), strings.Replace(steady, c.change, c.with, 1), nil)
			if !errors.Is(err, ErrScenario) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if left, _ := os.ReadDir(filepath.Dir(col.File)); len(left) > 0 {
				t.Errorf("there are %v", left)
			}
		})
	}
}

// An agent's limits are compared with what its segment sends.
func TestLoad(t *testing.T) {
	for name, c := range map[string]struct {
		workload string
		of       int
		want     float64
		open     int64
	}{
		"constant":  {"rate: 900, producers: 3, topics: 3, consumers: 3", 3, 300, 2},
		"the whole": {"rate: 900, producers: 3, topics: 3, consumers: 3", 1, 900, 6},
		"poisson":   {"rate: 900, arrivals: poisson, producers: 3, topics: 3, consumers: 3", 3, 300, 2},
		"steps":     {"arrivals: 'step:100/s@1s,1000/s@4s', producers: 2, topics: 2, consumers: 2", 2, 500, 2},
		"shared":    {"rate: 900, producers: 60, topics: 60, consumers: 60, connections: {producers: 6, consumers: 30}", 3, 300, 12},
		"beside":    {"rate: 900, connections: {rate: 10/s, hold: 2s}", 1, 900, 22},
		"flat out":  {"rate: max, producers: 3, topics: 3, consumers: 3", 3, math.Inf(1), 2},
		"closed":    {"loop: closed, think: 10ms, outstanding: 2, producers: 3, topics: 3, consumers: 3", 3, 200, 2},
		"unbounded": {"loop: closed, producers: 3, topics: 3, consumers: 3", 3, math.Inf(1), 2},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := scenario.Parse("test", []byte("version: 1\ntarget: {driver: mem}\nworkload: {size: 300B, "+c.workload+"}\nphases: {duration: 5s}\n"))
			if err != nil {
				t.Fatal(err)
			}
			s.Normalise()
			l, err := (&Runner{}).Load(&agent.Plan{Scenario: s, Entry: mem.Entry(), Segment: wire.Segment{Number: c.of - 1, Of: c.of}})
			if err != nil || l.Size != 300 || l.Connections != c.open || !(l.Rate == c.want || math.Abs(l.Rate-c.want) <= c.want/100) {
				t.Errorf("%+v, %v; want %v and %d connections", l, err, c.want, c.open)
			}
		})
	}
}
