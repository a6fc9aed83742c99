package engine

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"sixnines/driver"
	"sixnines/drivers/mem"
	"sixnines/drivers/nats"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
	"sixnines/internal/judge/judgetest"
	"sixnines/internal/probe"
	"sixnines/result"
	"sixnines/scenario"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == serveNATS {
		os.Exit(brokers.ServeNATS(os.Stdin, os.Stderr, os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == probe.Command {
		os.Exit(serveProbe())
	}
	if os.Getenv(runsScenario) != "" {
		os.Exit(runAlone())
	}
	os.Exit(m.Run())
}

// serveNATS makes the test binary a NATS server with JetStream.
const serveNATS = "__broker-nats"

// startNATS starts one in a child process.
func startNATS(t *testing.T) *brokers.Cluster {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return brokertest.Start(t, "nats", brokers.Options{Home: brokers.Home{Self: []string{exe, serveNATS}}})
}

// parse returns a normalised scenario.
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

// measure runs a scenario and checks what must hold of every run: the accounts
// close, and every figure can be computed again from the file. It does so in virtual time
// where the broker has no address, so that it is in this process.
func measure(t *testing.T, text string, e driver.Entry, at string) *result.Run {
	t.Helper()
	return measureConfig(t, Config{Scenario: parse(t, text), Entry: e, URL: at})
}

func measureConfig(t *testing.T, c Config) *result.Run {
	t.Helper()
	if c.URL == "" {
		return inVirtualTime(t, c)
	}
	return inRealTime(t, c)
}

// measureReally is measure in real time, for what the kernel or other threads do, and for
// loads to which only the processor sets an end.
func measureReally(t *testing.T, text string, e driver.Entry) *result.Run {
	t.Helper()
	return inRealTime(t, Config{Scenario: parse(t, text), Entry: e})
}

func inRealTime(t *testing.T, c Config) *result.Run {
	t.Helper()
	c.File = filepath.Join(t.TempDir(), "run.jsonl")
	r, err := Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return judgetest.Verified(t, r, c.File)
}

// judgesFigures leaves a test out where the race detector runs: it judges times,
// shares or bytes, which the detector would only blur, on a path that others take.
func judgesFigures(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("figures, which the race detector would only blur")
	}
}

// variant leaves a case of a table out where the race detector runs: others of the
// table have the same goroutines.
func variant(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("a variant: the race detector sees the same goroutines in another case")
	}
}

func show(r *result.Run) string {
	s := ""
	for m, d := range r.Summary.Histograms {
		own := math.NaN()
		if x := d.Figures["50"].OwnShare; x != nil {
			own = *x
		}
		s += fmt.Sprintf("\n%s n=%d p50=%v p99=%v max=%v own=%.2g", m, d.Count, time.Duration(d.Figures["50"].Value), time.Duration(d.Figures["99"].Value), time.Duration(d.Max), own)
	}
	return fmt.Sprintf("%+v\n%+v\n%+v%s", r.Summary.Verdict, r.Summary.Counters, r.Summary.Rate, s)
}

func TestPatternsOverNATS(t *testing.T) {
	t.Parallel()
	b := startNATS(t)
	for _, tt := range []struct {
		name, workload string
		expected       float64 // deliveries per message
	}{
		{"deliver", "{rate: 2000/s}", 1},
		{"publish", "{pattern: publish, rate: 2000/s}", 0},
		{"roundtrip", "{pattern: roundtrip, rate: 2000/s, producers: 3}", 1},
		{"request-reply", "{pattern: request-reply, rate: 1000/s, producers: 2, consumers: 2}", 1},
		{"fan-out", "{rate: 500/s, consumers: 5}", 5},
		{"n to 1", "{rate: 1000/s, producers: 5}", 1},
		{"queue groups", "{rate: 1000/s, consumers: 4, groups: 2}", 2},
		{"topics", "{rate: 1000/s, producers: 2, topics: 6, consumers: 3}", 1},
		{"poisson", "{rate: 2000/s, arrivals: poisson, producers: 4}", 1},
		{"burst", "{arrivals: 'burst:50@50ms'}", 1},
		{"closed", "{loop: closed, outstanding: 4}", 1},
		{"flat out", "{rate: max, messages: 20000}", 1},
		{"flat out publish", "{pattern: publish, rate: max, messages: 20000}", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			duration := "duration: 200ms, "
			if strings.Contains(tt.workload, "messages:") {
				duration = ""
			}
			r := measure(t, "phases: {warmup: 50ms, "+duration+"drain: 5s}\nworkload: "+tt.workload, nats.Entry(), b.URL)
			c := r.Counters
			if c.Sent == 0 || c.NotSent != 0 || c.Rejected != 0 || c.Missing != 0 || c.Corrupted != 0 || c.Duplicated != 0 || c.Reordered != 0 {
				t.Errorf("%s", show(r))
			}
			if float64(c.Received) != tt.expected*float64(c.Sent) {
				t.Errorf("%d sent, %d received, want %v a message", c.Sent, c.Received, tt.expected)
			}
			t.Log(show(r))
		})
	}
}

// A password is not written down.
func TestSecretsAreMasked(t *testing.T) {
	s := parse(t, "target: {url: 'nats://bob:hunter2@127.0.0.1:4222', options: {password: hunter3, user: bob}}")
	text, err := s.Redacted(nats.Entry().Secret).MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "hunter") || !strings.Contains(string(text), "bob") {
		t.Errorf("%s", text)
	}
	if s.Target.Options["password"] != "hunter3" {
		t.Error("the scenario itself was changed")
	}
}

// A run's live memory does not grow with its length.
func TestLiveHeapIsConstant(t *testing.T) {
	judgesFigures(t)
	var heaps []uint64
	inVirtualTime(t, Config{Scenario: parse(t, `
target: {driver: mem}
phases: {warmup: 500ms, duration: 6s}
workload: {rate: 5000/s, producers: 4}
record: {interval: 100ms}
`), Entry: mem.Entry(), Observer: func(p Progress) {
		if p.Phase == result.PhaseMeasure {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			heaps = append(heaps, m.HeapAlloc)
		}
	}})
	third := len(heaps) / 3
	if len(heaps) != 60 { // as many as a minute's run has
		t.Fatalf("%d intervals", len(heaps))
	}
	early, late := slices.Min(heaps[:third]), slices.Min(heaps[2*third:])
	if late > early+1<<20 {
		t.Errorf("live heap %d kB in the first third of the intervals, %d kB in the last", early>>10, late>>10)
	}
	t.Logf("live heap %d kB, then %d kB", early>>10, late>>10)
}
