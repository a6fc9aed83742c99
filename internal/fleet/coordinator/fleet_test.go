package coordinator_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sixnines/driver"
	"sixnines/internal/clock"
	"sixnines/internal/fleet/agent"
	"sixnines/internal/fleet/control"
	"sixnines/internal/fleet/coordinator"
	"sixnines/internal/fleet/wire"
	"sixnines/scenario"
)

const version = "1.2.3"

// intervals is how many records a stub makes after its first one.
const intervals = 5

// until waits for a condition.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(60 * time.Second); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			buf := make([]byte, 1<<20)
			t.Fatalf("waited 60s until %s\n%s", what, buf[:runtime.Stack(buf, true)])
		}
	}
}

// stub carries plans out without a broker.
type stub struct {
	name    string
	refuse  error         // of Load
	prepare error         // of Run, before the start
	at      func(i int)   // called before record i
	hang    chan struct{} // not nil: the run ends when it is closed, whatever it is told
	pace    time.Duration // between records; 5 ms by default
	began   chan int64    // gets the common start
	passed  atomic.Bool   // it was let go on at the point Closed
}

func (s *stub) Load(*agent.Plan) (agent.Load, error) {
	return agent.Load{Rate: 1, Size: 100}, s.refuse
}

func (s *stub) Run(ctx context.Context, p *agent.Plan, stage agent.Stage) error {
	if s.prepare != nil {
		return s.prepare
	}
	if err := stage.Record([]byte(s.name + " header")); err != nil {
		return err
	}
	for _, point := range []wire.Point{wire.Provisioned, wire.Connected} {
		if _, err := stage.Reach(ctx, point); err != nil {
			return err
		}
	}
	start, err := stage.Reach(ctx, wire.Ready)
	if err != nil {
		return err
	}
	if s.began != nil {
		s.began <- start
	}
	for clock.Now() < start {
		time.Sleep(time.Millisecond)
	}
	stage.Began(clock.Now() - start)
	pace := s.pace
	if pace == 0 {
		pace = 5 * time.Millisecond
	}
	for i := range intervals {
		if s.at != nil {
			s.at(i)
		}
		if s.hang != nil {
			<-s.hang
		}
		select {
		case <-ctx.Done():
		case <-stage.Abort():
		case <-time.After(pace):
		}
		if ctx.Err() != nil {
			break
		}
		if err := stage.Record(fmt.Appendf(nil, "%s %d", s.name, i)); err != nil {
			return err
		}
	}
	_, err = stage.Reach(ctx, wire.Closed)
	s.passed.Store(true)
	return err
}

// relay is a path to the control plane that can be cut, so that both ends know, or lost, so that neither does.
type relay struct {
	to, address string
	lost        sync.RWMutex // locked: nothing goes through, and the connections stay
	mu          sync.Mutex
	listener    net.Listener
	conns       []net.Conn
	all         sync.WaitGroup
}

func newRelay(t *testing.T, to string) *relay {
	r := &relay{to: to, address: "127.0.0.1:0"}
	r.heal(t)
	t.Cleanup(func() { r.cut(); r.all.Wait() })
	return r
}

func (r *relay) heal(t *testing.T) {
	l, err := net.Listen("tcp", r.address)
	if err != nil {
		t.Error(err)
		return
	}
	r.mu.Lock()
	r.listener, r.address = l, l.Addr().String()
	r.mu.Unlock()
	r.all.Go(func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("tcp", r.to)
			if err != nil {
				from.Close()
				continue
			}
			r.mu.Lock()
			r.conns = append(r.conns, from, to)
			r.mu.Unlock()
			for _, way := range [][2]net.Conn{{from, to}, {to, from}} {
				r.all.Go(func() { io.Copy(through{way[0], &r.lost}, way[1]); way[0].Close(); way[1].Close() })
			}
		}
	})
}

// through is one way through a relay.
type through struct {
	net.Conn
	lost *sync.RWMutex
}

func (w through) Write(b []byte) (int, error) {
	w.lost.RLock()
	defer w.lost.RUnlock()
	return w.Conn.Write(b)
}

// lose lets nothing through from now on, as where the machine behind it is gone, until the function is called.
func (r *relay) lose() (found func()) {
	r.lost.Lock()
	return r.lost.Unlock
}

func (r *relay) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.listener.Close()
	for _, c := range r.conns {
		c.Close()
	}
	r.conns = nil
}

// fleet is a control plane with agents.
type fleet struct {
	t      *testing.T
	server *control.Server
	conn   *nats.Conn
	dir    string
	agents sync.WaitGroup
}

// joined is an agent.
type joined struct {
	*stub
	hello wire.Hello
	leave context.CancelFunc
	ended chan error
	relay *relay
	dir   string
}

// newFleet starts a control plane. When the test ends nothing may be left of it.
func newFleet(t *testing.T) *fleet {
	t.Helper()
	goroutines := runtime.NumGoroutine()
	f := &fleet{t: t, dir: t.TempDir()}
	var err error
	if f.server, err = control.Start(t.Context(), control.Options{Dir: filepath.Join(f.dir, "control"), Host: "127.0.0.1"}); err != nil {
		t.Fatal(err)
	}
	if f.conn, err = wire.Connect(t.Context(), f.server.Login(), nil, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		f.agents.Wait()
		if !t.Failed() {
			f.nothingLeft()
		}
		f.conn.Close()
		f.server.Close()
		if t.Failed() {
			return
		}
		until(t, "all goroutines are gone", func() bool { return runtime.NumGoroutine() <= goroutines+1 }) // the test's own clean-up may be one
	})
	return f
}

// nothingLeft checks that the control plane has neither a stream nor a consumer, and knows no agent.
func (f *fleet) nothingLeft() {
	f.t.Helper()
	js, err := jetstream.New(f.conn)
	if err != nil {
		f.t.Fatal(err)
	}
	names := js.StreamNames(context.Background())
	for name := range names.Name() {
		f.t.Errorf("the stream %s is left", name)
	}
	if names.Err() != nil {
		f.t.Error(names.Err())
	}
	found, err := wire.Find(context.Background(), f.conn, version, wire.Search{})
	if err != nil || len(found) > 0 {
		f.t.Errorf("agents are left: %+v, %v", found, err)
	}
}

// entries are the drivers of agents.
func entry() driver.Entry { return driver.Entry{Name: "stub", InProcess: true, Driver: none{}} }

// none is a driver that opens nothing.
type none struct{ driver.Driver }

// join has an agent join, by a path that can be cut.
func (f *fleet) join(s *stub, change ...func(*agent.Config)) *joined {
	f.t.Helper()
	j := f.try(s, change...)
	select {
	case err := <-j.ended:
		f.t.Fatalf("%s: %v", s.name, err)
	default:
	}
	return j
}

// try is join for an agent that may not be able to.
func (f *fleet) try(s *stub, change ...func(*agent.Config)) *joined {
	f.t.Helper()
	l := f.server.JoinAt("127.0.0.1")
	_, address, _ := strings.Cut(l.URL, "://")
	j := &joined{stub: s, ended: make(chan error, 1), relay: newRelay(f.t, address), dir: filepath.Join(f.dir, s.name)}
	l.URL = "tls://" + j.relay.address
	ctx, leave := context.WithCancel(context.Background())
	j.leave = leave
	hello := make(chan wire.Hello, 1)
	c := agent.Config{Login: l, Version: version, Name: s.name, Dir: j.dir, Drivers: driver.NewSet(entry()), Runner: s, Leave: 3 * time.Second,
		Say: func(line string) { f.t.Logf("%s: %s", s.name, line) }, Joined: func(h wire.Hello) { hello <- h }}
	for _, change := range change {
		change(&c)
	}
	f.agents.Go(func() { j.ended <- agent.Run(ctx, c) })
	f.t.Cleanup(func() { leave() })
	select {
	case j.hello = <-hello:
	case err := <-j.ended:
		j.ended <- err
	case <-time.After(30 * time.Second):
		f.t.Fatal(s.name + " does not join")
	}
	return j
}

// files are what is in an agent's directory.
func (j *joined) files() []string {
	all, err := os.ReadDir(j.dir)
	if err != nil {
		return []string{err.Error()}
	}
	names := make([]string, len(all))
	for i, e := range all {
		names[i] = e.Name()
	}
	return names
}

// evenly gives each agent a segment of its own.
type evenly struct{}

func (evenly) Divide(_ *scenario.Scenario, agents []wire.Hello) ([]wire.Segment, error) {
	all := make([]wire.Segment, len(agents))
	for i := range all {
		all[i] = wire.Segment{Number: i, Of: len(agents), Detail: []byte(agents[i].Name)}
	}
	return all, nil
}

// collected keeps what it is given.
type collected struct {
	mu      sync.Mutex
	started *coordinator.Started
	of      map[string][]string
	ends    map[string]coordinator.End
	broken  error // of Finish
	begun   func()
}

func (c *collected) Begin(s *coordinator.Started) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.started, c.of, c.ends = s, map[string][]string{}, map[string]coordinator.End{}
	if c.begun != nil {
		c.begun()
	}
	return nil
}

func (c *collected) Collect(of int, number uint64, record []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	name := c.started.Members[of].Name
	if number != uint64(len(c.of[name])) {
		return fmt.Errorf("record %d of %s after %d", number, name, len(c.of[name]))
	}
	c.of[name] = append(c.of[name], string(record))
	return nil
}

func (c *collected) Finish(ends []coordinator.End) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, e := range ends {
		c.ends[c.started.Members[i].Name] = e
	}
	return c.broken
}

// whole are all records of a stub.
func whole(name string) []string {
	all := []string{name + " header"}
	for i := range intervals {
		all = append(all, fmt.Sprintf("%s %d", name, i))
	}
	return all
}

func parse(t *testing.T, text string) *scenario.Scenario {
	t.Helper()
	s, err := scenario.Parse("test", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	s.Normalise()
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	return s
}

// config is that of a run on f.
func (f *fleet) config(c *collected, agents int) coordinator.Config {
	return coordinator.Config{Conn: f.conn, Version: version, Run: "run-1", Scenario: parse(f.t, "target: {driver: stub}"), Entry: entry(), Divider: evenly{}, Collector: c,
		Agents: agents, Ready: 20 * time.Second, Patience: time.Second, Lead: 200 * time.Millisecond, Limit: 3 * time.Second,
		Say: func(line string) { f.t.Log("coordinator: " + line) }}
}

// stubs are runners of these names.
func stubs(names ...string) []*stub {
	all := make([]*stub, len(names))
	for i, name := range names {
		all[i] = &stub{name: name, began: make(chan int64, 2)}
	}
	return all
}

func (f *fleet) joinAll(all []*stub) []*joined {
	f.t.Helper()
	js := make([]*joined, len(all))
	for i, s := range all {
		js[i] = f.join(s)
	}
	return js
}

// idle waits until agents have no run any more, and checks that they keep no file.
func (f *fleet) idle(js ...*joined) {
	f.t.Helper()
	for _, j := range js {
		until(f.t, j.name+" keeps nothing", func() bool { return len(j.files()) == 0 })
	}
}

func TestARunOnAFleet(t *testing.T) {
	f := newFleet(t)
	all := stubs("a", "b", "c")
	js := f.joinAll(all)
	c := &collected{}
	o, err := coordinator.Run(t.Context(), f.config(c, 3))
	if err != nil {
		t.Fatal(err)
	}
	if !o.Complete() || len(o.Late) > 0 {
		t.Errorf("%+v", o)
	}
	var starts []int64
	for i, s := range all {
		if got := c.of[s.name]; !slices.Equal(got, whole(s.name)) {
			t.Errorf("%s: %q", s.name, got)
		}
		if e := o.Ends[i]; e.Ending != wire.Completed || e.Records != intervals+1 || e.Missing != 0 || e.Late < 0 {
			t.Errorf("%s: %+v", s.name, e)
		}
		starts = append(starts, <-s.began)
		if m := o.Started.Members[i]; m.Name != s.name || m.Segment.Number != i || m.Segment.Of != 3 || string(m.Segment.Detail) != s.name || m.Offset != 0 || m.Bound != 0 {
			t.Errorf("%+v", m)
		}
	}
	// All agents are on one machine: the common instant is the same number.
	if starts[0] != o.Started.Start || starts[1] != starts[0] || starts[2] != starts[0] {
		t.Errorf("starts at %v, and at %d here", starts, o.Started.Start)
	}
	f.idle(js...)
	// The agents can be used again.
	if o, err = coordinator.Run(t.Context(), f.config(&collected{}, 0)); err != nil || !o.Complete() {
		t.Errorf("once more: %+v, %v", o, err)
	}
	f.idle(js...)
}

// indivisible divides nothing.
type indivisible struct{ why error }

func (d indivisible) Divide(*scenario.Scenario, []wire.Hello) ([]wire.Segment, error) {
	return nil, d.why
}

// messages is how many messages of a subject a run's stream has.
func (f *fleet) messages(run, subject string) uint64 {
	js, err := jetstream.New(f.conn)
	if err != nil {
		f.t.Error(err)
		return 0
	}
	s, err := js.Stream(context.Background(), wire.StreamName(run))
	if err != nil {
		f.t.Error(err)
		return 0
	}
	i, err := s.Info(context.Background(), jetstream.WithSubjectFilter(subject))
	if err != nil {
		f.t.Error(err)
		return 0
	}
	return i.State.Subjects[subject]
}
