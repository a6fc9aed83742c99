package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sixnines/driver"
	"sixnines/drivers/mem"
	"sixnines/drivers/nats"
	"sixnines/drivers/null"
	"sixnines/internal/engine/prober"
	"sixnines/internal/nullbroker"
	"sixnines/internal/probe"
	"sixnines/result"
	"sixnines/scenario"
)

// serveProbe makes the test binary the probe beside a test's load.
func serveProbe() int {
	drivers := driver.NewSet(nats.Entry(), null.Entry(), tidy{}.Entry())
	err := probe.Serve(os.Stdin, os.Stdout, func(ctx context.Context, s *scenario.Scenario, tell func(probe.Report)) error {
		e, ok := drivers.Lookup(s.Target.Driver)
		if !ok {
			return errors.New("no such driver")
		}
		return prober.Run(ctx, s, e, tell)
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func probeCommand(t *testing.T) []string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{exe, probe.Command}
}

// double is a driver of NATS that a test changes.
type double struct {
	name    string
	session func(driver.Session, driver.Target) driver.Session
}

func (d double) Entry() driver.Entry {
	e := nats.Entry()
	e.Name, e.Driver = d.name, d
	return e
}

func (d double) Open(ctx context.Context, t driver.Target) (driver.Session, error) {
	s, err := nats.Entry().Driver.Open(ctx, t)
	if err != nil {
		return nil, err
	}
	return d.session(s, t), nil
}

// tidy is a driver whose sessions have a file from Provision to Deprovision, with the number
// of their process in it, in the directory that follows the broker's URL.
type tidy struct{}

// tidyIn is the URL of sessions with files in dir.
func tidyIn(url, dir string) string { return url + tidyMark + dir }

const tidyMark = "?tidy="

func (d tidy) Entry() driver.Entry {
	e := nats.Entry()
	e.Name, e.Driver = "tidy", d
	return e
}

func (tidy) Open(ctx context.Context, t driver.Target) (driver.Session, error) {
	var dir string
	t.URL, dir, _ = strings.Cut(t.URL, tidyMark)
	s, err := nats.Entry().Driver.Open(ctx, t)
	if err != nil {
		return nil, err
	}
	return tidySession{s, filepath.Join(dir, t.Run)}, nil
}

type tidySession struct {
	driver.Session
	file string
}

func (s tidySession) Provision(ctx context.Context, t driver.Topology) (driver.Semantics, error) {
	if err := os.WriteFile(s.file, fmt.Append(nil, os.Getpid()), 0o600); err != nil {
		return driver.Semantics{}, err
	}
	return s.Session.Provision(ctx, t)
}

func (s tidySession) Deprovision(ctx context.Context) error {
	return errors.Join(s.Session.Deprovision(ctx), os.Remove(s.file))
}

// late is a driver whose client hands each message over some time after it was
// read, though it does no work meanwhile.
func late(by time.Duration) double {
	return double{"nats", func(s driver.Session, _ driver.Target) driver.Session { return lateSession{s, by} }}
}

type lateSession struct {
	driver.Session
	by time.Duration
}

func (s lateSession) Consumer(ctx context.Context, c driver.ConsumerSpec, deliver driver.Deliver) (driver.Consumer, error) {
	type message struct {
		at time.Time
		driver.Message
	}
	queue := make(chan message, 1<<16)
	go func() {
		for m := range queue { // of the test's length
			time.Sleep(time.Until(m.at))
			deliver(m.Message)
		}
	}()
	return s.Session.Consumer(ctx, c, func(m driver.Message) {
		m.Payload = slices.Clone(m.Payload)
		queue <- message{time.Now().Add(s.by), m}
	})
}

// fillingSession sets full when its second producer is there.
type fillingSession struct {
	driver.Session
	full *atomic.Bool
}

func (s fillingSession) Producer(ctx context.Context, p driver.ProducerSpec, acks driver.Acks) (driver.Producer, error) {
	client, err := s.Session.Producer(ctx, p, acks)
	s.full.Store(p.ID == 1)
	return client, err
}

func fact(r *result.Run, name string) result.Fact {
	for _, f := range r.Header.Machine {
		if f.Name == name {
			return f
		}
	}
	return result.Fact{}
}

func reason(r *result.Run, code result.ReasonCode, percentile result.Percentile) *result.Reason {
	for i, x := range r.Summary.Verdict.Reasons {
		if x.Code == code && x.Percentile == percentile {
			return &r.Summary.Verdict.Reasons[i]
		}
	}
	return nil
}

const probedScenario = "phases: {warmup: 1s, duration: 3s, drain: 5s}\nrecord: {probe: %s}\nworkload: {rate: 400/s, producers: 2, consumers: 2, topics: 2}\n"

// closingVital is a vital of the closing record.
func closingVital(r *result.Run, name result.Vital) float64 {
	return r.Series[len(r.Series)-1].Vitals[name]
}

// A wait in the load's own client is distinguished from one at the broker, which a probe
// beside it shares. Where other programs take the processors both wait for them:
// a try that is off is repeated.
func TestProbeBesideALoad(t *testing.T) {
	t.Parallel()
	b := startNATS(t)
	slow := func(t *testing.T) string {
		law, err := nullbroker.ParseLaw("lognormal(median=10ms,sigma=0.1)")
		if err != nil {
			t.Fatal(err)
		}
		broker, err := nullbroker.New(nullbroker.Config{Law: law, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go func() { _ = broker.Serve(l) }() // it ends with Close
		t.Cleanup(func() { broker.Close() })
		return "null://" + l.Addr().String()
	}
	for _, tt := range []struct {
		name  string
		entry driver.Entry
		url   func(*testing.T) string
		named bool
	}{
		{"a client that hands over late", late(10 * time.Millisecond).Entry(), func(*testing.T) string { return b.URL }, true},
		{"a slow broker", null.Entry(), slow, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.named {
				judgesFigures(t)
			}
			url := tt.url(t)
			var off string
			for range 4 {
				r := measureConfig(t, Config{Scenario: parse(t, fmt.Sprintf(probedScenario, "auto")), Entry: tt.entry, URL: url, Probe: probeCommand(t)})
				c := &r.Counters
				if c.Foreign != 0 || c.Sent != 1200 || c.Received != 1200 || c.Missing != 0 {
					t.Fatalf("the probe's messages are in the load's accounts: %s", show(r))
				}
				d := r.Summary.Histograms[result.ProbeService]
				if d == nil || closingVital(r, result.VitalProbeMissing) != 0 || float64(d.Count) > closingVital(r, result.VitalProbeSent) {
					t.Fatalf("%+v of %v: %s", d, r.Series[len(r.Series)-1].Vitals, show(r))
				}
				// From the warm-up, of which it may have missed the beginning, to the end.
				if span := time.Duration(closingVital(r, result.VitalProbeSpan)); span > 3*time.Second || float64(d.Count) < probe.Rate*span.Seconds()/2 {
					t.Fatalf("%d messages in %v", d.Count, span)
				}
				found := reason(r, "probe", "50")
				if named := found != nil && strings.Contains(found.Text, "own connections, queues or client"); named == tt.named {
					return
				}
				off = show(r)
				t.Log(off)
			}
			t.Error(off)
		})
	}
}

// Where there can be no probe the run goes on without one, and says why.
func TestProbeLeftOut(t *testing.T) {
	t.Parallel()
	b := startNATS(t)
	// The load's connections fill the broker.
	var full atomic.Bool
	front, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { front.Close() })
	go func() {
		for {
			c, err := front.Accept()
			if err != nil {
				return
			}
			if full.Load() {
				c.Close()
				continue
			}
			up, err := net.Dial("tcp", strings.TrimPrefix(b.URL, "nats://"))
			if err != nil {
				c.Close()
				continue
			}
			go func() { _, _ = io.Copy(up, c); up.Close() }()
			go func() { _, _ = io.Copy(c, up); c.Close() }()
		}
	}()
	filling := double{"nats", func(s driver.Session, _ driver.Target) driver.Session { return fillingSession{s, &full} }}
	for _, tt := range []struct {
		name, probe string
		config      Config
		why         string
		long        bool
	}{
		{"off", "off", Config{Entry: nats.Entry(), URL: b.URL, Probe: probeCommand(t)}, "", false},
		{"a broker in the process", "auto", Config{Entry: mem.Entry(), Probe: probeCommand(t)}, "runs in the same process as the load", true},
		{"a library", "on", Config{Entry: nats.Entry(), URL: b.URL}, "only the command", false},
		{"a process that cannot be started", "on", Config{Entry: nats.Entry(), URL: b.URL, Probe: []string{"/nowhere/at/all"}}, "/nowhere/at/all", false},
		{"a process that is no probe", "on", Config{Entry: nats.Entry(), URL: b.URL, Probe: []string{"/bin/echo", "hello"}}, "its report cannot be read", true},
		{"a broker that is full", "on", Config{Entry: filling.Entry(), URL: "nats://" + front.Addr().String(), Probe: probeCommand(t)}, "nats", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			// Where nothing is started it is known before the load begins, unless the window
			// is too short for a probe that was not asked for.
			phases, window := strings.NewReplacer("1s", "100ms", "3s", "250ms"), int64(100)
			if tt.long {
				phases, window = strings.NewReplacer("3s", "1s"), 400
			}
			tt.config.Scenario = parse(t, phases.Replace(fmt.Sprintf(probedScenario, tt.probe)))
			r := measureConfig(t, tt.config)
			f := fact(r, "probe")
			if tt.why == "" {
				if f != (result.Fact{}) {
					t.Errorf("%+v", f)
				}
			} else if f.Value != "left out" || !strings.Contains(f.Note, tt.why) {
				t.Errorf("%+v, events %+v", f, r.Events)
			}
			if r.Summary.Histograms[result.ProbeService] != nil || r.Counters.Received != window {
				t.Errorf("%s", show(r))
			}
		})
	}
}

// awaitTidy waits until n files are in the directory, and returns the numbers of
// their processes.
func awaitTidy(t *testing.T, dir string, n int) (pids []int) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		pids = pids[:0]
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			text, _ := os.ReadFile(filepath.Join(dir, e.Name())) // it may be gone
			var pid int
			if _, err := fmt.Sscan(string(text), &pid); err == nil {
				pids = append(pids, pid)
			}
		}
		if len(pids) == n {
			return pids
		}
		if time.Now().After(end) {
			t.Fatalf("%d of %d in %s", len(pids), n, dir)
		}
	}
}

// However the load ends, the probe ends too and takes its topic away.
func TestProbeTidiesUp(t *testing.T) {
	t.Parallel()
	b := startNATS(t)
	config := func(t *testing.T, window string) (c Config, dir string) {
		dir = t.TempDir()
		return Config{Scenario: parse(t, strings.NewReplacer("1s", "300ms", "3s", window).Replace(fmt.Sprintf(probedScenario, "on"))), Entry: tidy{}.Entry(),
			URL: tidyIn(b.URL, dir), Probe: probeCommand(t), File: filepath.Join(t.TempDir(), "run.jsonl")}, dir
	}
	// measuring runs c until so much of the window is over, then calls stop.
	measuring := func(t *testing.T, ctx context.Context, c Config, dir string, after time.Duration, stop func(other int)) (*result.Run, error) {
		var once atomic.Bool
		c.Observer = func(p Progress) {
			if p.Phase == result.PhaseMeasure && p.Elapsed > after && !once.Swap(true) {
				for _, pid := range awaitTidy(t, dir, 2) {
					if pid != os.Getpid() {
						stop(pid)
					}
				}
			}
		}
		return Run(ctx, c)
	}
	t.Run("interrupted", func(t *testing.T) {
		t.Parallel()
		c, dir := config(t, "10s")
		ctx, cancel := context.WithCancel(t.Context())
		// In a window of 10 s the probe's intervals are half a second long: one at least
		// lies in what there is of it.
		r, err := measuring(t, ctx, c, dir, 1500*time.Millisecond, func(int) { cancel() })
		if err != nil || r.Summary.Histograms[result.ProbeService] == nil {
			t.Fatalf("%v: %s", err, show(r))
		}
		if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
			t.Errorf("%v %v", files, err) // Run has waited for it
		}
	})
	t.Run("aborted", func(t *testing.T) {
		t.Parallel()
		c, dir := config(t, "1m")
		abort := make(chan struct{})
		c.Abort = abort
		if _, err := measuring(t, t.Context(), c, dir, 0, func(int) { close(abort) }); !errors.Is(err, ErrAborted) {
			t.Fatal(err)
		}
		awaitTidy(t, dir, 0)
	})
	t.Run("the probe is killed", func(t *testing.T) {
		t.Parallel()
		c, dir := config(t, "4s")
		r, err := measuring(t, t.Context(), c, dir, 500*time.Millisecond, func(pid int) { kill(t, pid) })
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, e := range r.Events {
			found = found || e.Kind == "probe" && strings.Contains(e.Detail, "killed")
		}
		if !found || r.Counters.Missing != 0 {
			t.Errorf("%+v: %s", r.Events, show(r))
		}
		for _, e := range awaitTidy(t, dir, 1) { // that of the killed one
			if e == os.Getpid() {
				t.Error("the load left its own")
			}
		}
		files, _ := os.ReadDir(dir)
		if err := os.Remove(filepath.Join(dir, files[0].Name())); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("the load is killed", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		cmd, _ := startAlone(t, "target: {driver: tidy}\n"+strings.Replace(fmt.Sprintf(probedScenario, "on"), "3s", "1m", 1), tidyIn(b.URL, dir))
		for _, pid := range awaitTidy(t, dir, 2) {
			if pid == cmd.Process.Pid {
				continue
			}
			kill(t, cmd.Process.Pid)
			_ = cmd.Wait() // killed
			awaitTidy(t, dir, 1)
			awaitGone(t, pid)
		}
	})
}

func kill(t *testing.T, pid int) {
	t.Helper()
	p, err := os.FindProcess(pid)
	if err == nil {
		err = p.Kill()
	}
	if err != nil {
		t.Error(err)
	}
}

// awaitGone waits until a process that is no child of ours has ended.
func awaitGone(t *testing.T, pid int) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || strings.Contains(string(text), ") Z ") {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("process %d is still there", pid)
		}
	}
}
