package fleetrun

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"sixnines/driver"
	"sixnines/drivers/mem"
	"sixnines/internal/clock"
	"sixnines/internal/engine"
	"sixnines/internal/fleet/agent"
	"sixnines/internal/fleet/control"
	"sixnines/internal/fleet/coordinator"
	"sixnines/internal/fleet/merge"
	"sixnines/internal/fleet/wire"
	"sixnines/result"
	"sixnines/scenario"
)

// becomeAgents is the argument with which the test binary is a control plane with simulated agents, until its stdin ends.
const becomeAgents = "become-a-large-fleet"

func TestMain(m *testing.M) {
	if len(os.Args) == 6 && os.Args[1] == becomeAgents {
		if err := simulate(os.Args[2], os.Args[3], os.Args[4], os.Args[5]); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// replay is a runner that measures nothing: each agent delivers the same recorded intervals, in time or as fast as it can.
type replay struct {
	header result.Header
	rest   [][]byte // lines after the header
	pace   time.Duration
}

func (r *replay) Load(*agent.Plan) (agent.Load, error) { return agent.Load{}, nil }

// Run implements [agent.Runner]. The points are those of a run of the engine.
func (r *replay) Run(ctx context.Context, p *agent.Plan, s agent.Stage) error {
	h := r.header
	h.Segment = &result.Segment{Index: p.Segment.Number, Of: p.Segment.Of}
	line, err := json.Marshal(h)
	if err != nil {
		return err
	}
	if err := s.Record(append(line, '\n')); err != nil {
		return err
	}
	start, err := s.Reach(ctx, wire.Ready)
	if err != nil {
		return err
	}
	s.Began(0)
	for i, line := range r.rest {
		time.Sleep(time.Duration(start+int64(i)*int64(r.pace)) - time.Duration(clock.Now()))
		if err := s.Record(line); err != nil {
			return err
		}
	}
	_, err = s.Reach(ctx, wire.Closed)
	return err
}

// newReplay reads what the agents deliver from a result.
func newReplay(file string, pace time.Duration) (*replay, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	r := &replay{pace: pace}
	for i, line := range bytes.SplitAfter(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")) {
		if i > 0 {
			r.rest = append(r.rest, line)
		} else if err := json.Unmarshal(line, &r.header); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// simulate is a control plane with n agents, which say on stdout that they are there.
func simulate(dir, file, number, pace string) error {
	n, err := strconv.Atoi(number)
	if err != nil {
		return err
	}
	each, err := time.ParseDuration(pace)
	if err != nil {
		return err
	}
	r, err := newReplay(file, each)
	if err != nil {
		return err
	}
	s, err := control.Start(context.Background(), control.Options{Dir: filepath.Join(dir, "control"), Host: "127.0.0.1", Store: 8 << 30})
	if err != nil {
		return err
	}
	defer s.Close()
	ctx, leave := context.WithCancel(context.Background())
	var all sync.WaitGroup
	joined, ended := make(chan wire.Hello, n), make(chan error, n)
	for i := range n {
		all.Go(func() {
			ended <- agent.Run(ctx, agent.Config{Login: s.JoinAt("127.0.0.1"), Version: version, Name: fmt.Sprintf("agent-%04d", i), Dir: filepath.Join(dir, fmt.Sprint(i)),
				Drivers: driver.NewSet(mem.New().Entry()), Runner: r, Leave: time.Second, Joined: func(h wire.Hello) { joined <- h }})
		})
	}
	for range n {
		select {
		case <-joined:
		case err := <-ended:
			leave()
			return err
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(s.Login()); err != nil {
		leave()
		return err
	}
	_, err = io.Copy(io.Discard, os.Stdin)
	leave()
	all.Wait()
	return err
}

// timed is a collector whose parts are timed.
type timed struct {
	*Collector
	began, delivered, merged time.Time
	records, bytes           int
}

func (c *timed) Begin(s *coordinator.Started) error {
	c.began = time.Now().Add(time.Duration(s.Start - clock.Now()))
	return c.Collector.Begin(s)
}

func (c *timed) Collect(of int, number uint64, record []byte) error {
	c.records, c.bytes = c.records+1, c.bytes+len(record)
	return c.Collector.Collect(of, number, record)
}

func (c *timed) Finish(ends []coordinator.End) error {
	c.delivered = time.Now()
	err := c.Collector.Finish(ends)
	c.merged = time.Now()
	return err
}

// BenchmarkLargeFleet has simulated agents deliver recorded intervals by the real protocol: the control plane and the agents are one
// process, the coordinator is this one. Paced, each agent delivers a record a second; flat out, all at once, which is what one
// control plane carries.
func BenchmarkLargeFleet(b *testing.B) {
	for _, n := range []int{100, 1000} {
		for _, pace := range []time.Duration{time.Second, 0} {
			b.Run(fmt.Sprintf("agents=%d/pace=%v", n, pace), func(b *testing.B) {
				for b.Loop() {
					measureLarge(b, n, pace)
				}
			})
		}
	}
}

func measureLarge(b *testing.B, n int, pace time.Duration) {
	dir := b.TempDir()
	const seconds = 10
	s, err := scenario.Parse("test", fmt.Appendf(nil, "version: 1\ntarget: {driver: mem}\nworkload: {rate: %d, producers: %d, topics: %d, consumers: %d}\nphases: {warmup: 0s, duration: %ds}\nrecord: {interval: 1s}\n",
		100*n, n, n, n, seconds))
	if err != nil {
		b.Fatal(err)
	}
	s.Normalise()
	if err := s.Validate(); err != nil {
		b.Fatal(err)
	}
	recorded := filepath.Join(dir, "recorded.jsonl")
	if _, err := engine.Run(b.Context(), engine.Config{Scenario: s, Entry: mem.New().Entry(), File: recorded, Tool: tool(), Segment: &result.Segment{Of: n}}); err != nil {
		b.Fatal(err)
	}
	agents := exec.Command(os.Args[0], becomeAgents, dir, recorded, fmt.Sprint(n), pace.String())
	agents.Stderr = os.Stderr
	in, err := agents.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := agents.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := agents.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := errors.Join(in.Close(), agents.Wait()); err != nil {
			b.Error(err)
		}
	}()
	starting := time.Now()
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		b.Fatal(err)
	}
	there := time.Now()
	login := wire.Login{}
	if err := json.Unmarshal(line, &login); err != nil {
		b.Fatalf("%v: %s", err, line)
	}
	conn, err := wire.Connect(b.Context(), login, nil, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	c := &timed{Collector: &Collector{File: filepath.Join(dir, "merged.jsonl"), Whole: merge.Whole{Tool: tool()}}}
	defer c.Close()
	o, err := coordinator.Run(b.Context(), coordinator.Config{Conn: conn, Version: version, Run: "large", Scenario: s, Entry: mem.Entry(), Divider: Divider{}, Collector: c,
		Agents: n, Ready: 5 * time.Minute, Lead: 5 * time.Second, Patience: time.Minute, Limit: 10 * time.Minute, Store: 8 << 30})
	if err != nil {
		b.Fatal(err)
	}
	if !o.Complete() || c.Result().Counters.Scheduled != int64(100*n*seconds) {
		b.Errorf("%d agents: %+v", len(o.Ends), c.Result().Counters)
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	took := c.delivered.Sub(c.began)
	b.ReportMetric(there.Sub(starting).Seconds(), "s-to-join")
	b.ReportMetric(c.began.Add(-5*time.Second).Sub(there).Seconds(), "s-to-start")
	b.ReportMetric(took.Seconds(), "s-to-deliver")
	b.ReportMetric(float64(c.bytes)/took.Seconds()/1e6, "MB/s")
	b.ReportMetric(float64(c.records)/took.Seconds(), "records/s")
	b.ReportMetric(c.merged.Sub(c.delivered).Seconds(), "s-to-merge")
	b.ReportMetric(float64(memory.Sys)/1e6, "MB-memory")
}
