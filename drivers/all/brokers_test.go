package all_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sixnines/driver"
	"sixnines/drivers/all"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
	"sixnines/internal/cli"
	"sixnines/internal/engine"
	"sixnines/internal/judge/judgetest"
	"sixnines/result"
	"sixnines/scenario"
)

// becomeBroker makes the test binary a broker that is built in.
const becomeBroker = "__broker"

// becomeProgram is the variable that makes the test binary the program.
const becomeProgram = "SIXNINES_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(becomeProgram) != "" {
		self, err := os.Executable()
		if err != nil {
			panic(err)
		}
		os.Exit(cli.Main(context.Background(), cli.Env{Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
			Environ: os.Environ(), Executable: self, Drivers: all.Set(), Tool: cli.BuiltTool()}))
	}
	if len(os.Args) > 1 && os.Args[1] == becomeBroker {
		os.Exit(brokers.Serve(os.Stdin, os.Stderr, os.Args[2:]))
	}
	os.Exit(m.Run())
}

// withBroker runs f for every driver with its real broker, if it has one.
func withBroker(t *testing.T, f func(t *testing.T, e driver.Entry, c *brokers.Cluster)) {
	for _, e := range all.Set().Entries() {
		t.Run(e.Name, func(t *testing.T) {
			if e.Capabilities.Brokerless || e.InProcess {
				f(t, e, nil)
				return
			}
			p, ok := brokers.ForDriver(e.Name)
			if !ok {
				t.Fatalf("nothing in package brokers serves driver %s", e.Name)
			}
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			f(t, e, brokertest.Start(t, p.Name, brokers.Options{Home: brokers.Home{Self: []string{self, becomeBroker}}}))
		})
	}
}

func parse(t *testing.T, text string) *scenario.Scenario {
	t.Helper()
	s, err := scenario.Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	s.Normalise()
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	return s
}

// measure runs the scenario and checks that its accounts close and that every
// figure can be computed again.
func measure(ctx context.Context, t *testing.T, c engine.Config) *result.Run {
	t.Helper()
	c.File = filepath.Join(t.TempDir(), "run.jsonl")
	run, err := engine.Run(ctx, c)
	if errors.Is(err, driver.ErrUnsupported) {
		brokertest.Missing(t, err) // a driver that is listed and not in this build
	} else if err != nil {
		t.Fatal(err)
	}
	return judgetest.Verified(t, run, c.File)
}

func config(e driver.Entry, c *brokers.Cluster, s *scenario.Scenario) engine.Config {
	s.Target.Driver = e.Name
	config := engine.Config{Scenario: s, Entry: e}
	if c != nil {
		config.URL = c.URLFor(e.Name)
	}
	return config
}

// Every driver keeps the schedule and outlives its broker. Both are tried with
// the same broker, since some take ten seconds to start.
func TestEveryDriver(t *testing.T) {
	withBroker(t, func(t *testing.T, e driver.Entry, c *brokers.Cluster) {
		t.Run("keeps the schedule", func(t *testing.T) { keepsSchedule(t, e, c) })
		t.Run("outlives its broker", func(t *testing.T) { outlivesBroker(t, e, c) })
	})
}

// keepsSchedule: every driver sends what is due, no more and no less, and
// everything arrives once. Those whose brokers have clusters with leaders name their destinations meanwhile.
func keepsSchedule(t *testing.T, e driver.Entry, c *brokers.Cluster) {
	conf := config(e, c, parse(t, `
workload: {rate: 3000/s, size: 256B}
phases: {warmup: 500ms, duration: 1s, drain: 20s}
`))
	var namer driver.DestinationNamer
	var named []driver.Destination
	conf.Provisioned = func(_ string, d driver.DestinationNamer) { namer = d }
	conf.Observer = func(p engine.Progress) {
		if namer != nil && p.Phase == result.PhaseMeasure {
			named = namer.Destinations()
		}
	}
	run := measure(t.Context(), t, conf)
	p, _ := brokers.ForDriver(e.Name)
	if leaders := slices.Contains(p.Led, e.Name); leaders != (namer != nil) {
		t.Errorf("it names destinations: %v", namer != nil)
	} else if leaders && (len(named) != 1 || !strings.Contains(named[0].Name, "s9") || named[0].Partition != 0) {
		t.Errorf("its destinations are %+v", named)
	}
	n := run.Counters
	if n.Scheduled != 3000 || n.Sent != 3000 || n.Received != 3000 || n.Duplicated+n.Corrupted+n.Foreign+n.Violations+n.Dropped != 0 {
		t.Errorf("%+v", n)
	}
	if e.Capabilities.Ordered && n.Reordered > 0 {
		t.Errorf("%d messages came out of order", n.Reordered)
	}
}

// before is how many messages go through a broker before it is killed. RabbitMQ
// writes down what it knows of queues and streams a second or more after it has
// confirmed them: killed at once it has forgotten them, as it may.
func before(e driver.Entry) int64 {
	if strings.HasPrefix(e.Name, "rabbitmq") {
		return 1500 // three seconds
	}
	return 100
}

// outlivesBroker: a broker is killed and comes back in mid-run: the run goes on, tells of it and
// knows of every message what became of it, and nothing is left behind.
func outlivesBroker(t *testing.T, e driver.Entry, c *brokers.Cluster) {
	if testing.Short() {
		t.Skip("takes its time")
	}
	if c == nil {
		t.Skipf("driver %s has no broker to kill", e.Name)
	}
	goroutines := runtime.NumGoroutine()
	ctx, end := context.WithCancel(t.Context())
	defer end()
	s := parse(t, `
workload: {rate: 500/s, size: 256B}
phases: {warmup: 500ms, duration: 90s, drain: 2s}
record: {interval: 100ms}
`)
	conf := config(e, c, s)
	var received atomic.Int64
	conf.Observer = func(p engine.Progress) {
		if p.Phase == result.PhaseMeasure {
			received.Store(p.Counters.Received)
		}
	}
	failure := make(chan error, 1)
	more := func(than int64) bool {
		for limit := time.Now().Add(60 * time.Second); time.Now().Before(limit); time.Sleep(5 * time.Millisecond) {
			if received.Load() > than {
				return true
			}
		}
		return false
	}
	go func() {
		defer end()
		failure <- func() error {
			if !more(before(e)) {
				return fmt.Errorf("nothing flows before the kill")
			}
			limit, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			if _, err := c.Kill(limit); err != nil {
				return err
			}
			if _, err := c.Resume(limit); err != nil {
				return err
			}
			if !more(received.Load() + 200) {
				return fmt.Errorf("nothing flows after the broker came back")
			}
			return nil
		}()
	}()
	run := measure(ctx, t, conf)
	if err := <-failure; err != nil {
		t.Error(err)
	}
	var kinds []string
	for _, ev := range run.Events {
		kinds = append(kinds, string(ev.Kind))
	}
	for _, kind := range []driver.EventKind{driver.Disconnected, driver.Reconnected} {
		if !slices.Contains(kinds, kind.String()) {
			t.Errorf("no event %q in the result, only %v", kind, kinds)
		}
	}
	n := run.Counters
	t.Logf("scheduled %d, rejected %d, unknown %d, nacked %d; received %d, missing %d, duplicated %d",
		n.Scheduled, n.Rejected, n.Unknown, n.Nacked, n.Received, n.Missing, n.Duplicated)
	if n.Violations > 0 || n.Corrupted > 0 || n.Foreign > 0 {
		t.Errorf("%+v", n)
	}
	// What the client library still has to end, it ends soon.
	for range 1000 {
		if runtime.NumGoroutine() <= goroutines {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	buf := make([]byte, 1<<20)
	t.Errorf("%d goroutines before, %d after:\n%s", goroutines, runtime.NumGoroutine(), buf[:runtime.Stack(buf, true)])
}
