package nullbroker

import (
	"math"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"sixnines/internal/histograms"
	"sixnines/internal/schedule"
	"sixnines/internal/stats"
	"sixnines/scenario"
)

// instants are a schedule's, as one producer has them.
func instants(t *testing.T, kind scenario.ArrivalsKind, rate uint64, window time.Duration) schedule.Cursor {
	t.Helper()
	w := scenario.Workload{Rate: scenario.PerSecond(rate), Producers: 1, Arrivals: scenario.Arrivals{Kind: kind}}
	p, err := schedule.New(&w, window, 1)
	if err != nil {
		t.Fatal(err)
	}
	return p.Producer(0)
}

// On a virtual clock the times in the system are those of queueing theory, within
// 3 %, up to 95 % of the server's rate: the schedule's arrivals, the broker's
// instants and the percentiles of a result file. Near the server's rate neighbours
// in time are alike for thousands of messages, so that it takes millions.
func TestQueuesAreAsTheorySays(t *testing.T) {
	if testing.Short() {
		t.Skip("sums, of which the race detector only makes more")
	}
	const service = 100 * time.Microsecond
	for _, tt := range []struct {
		name, law string
		theory    func(rho, p float64) float64
		longest   time.Duration // window
	}{
		{"M/M/1", "exponential(mean=100us)", stats.MM1Sojourn, 5000 * time.Second},
		{"M/D/1", "100us", stats.MD1Sojourn, 1500 * time.Second},
	} {
		for percent, window := range map[uint64]time.Duration{30: 100 * time.Second, 70: 500 * time.Second, 90: 1500 * time.Second, 95: tt.longest} {
			rate := percent * uint64(time.Second/service) / 100
			table := NewTimetable(Config{Server: mustLaw(t, tt.law), Seed: 2})
			h := hdrhistogram.New(1, int64(10*time.Second), 3)
			c := instants(t, scenario.Poisson, rate, window)
			for sequence := uint64(0); ; sequence++ {
				at, ok := c.Next()
				if !ok {
					break
				}
				if err := h.RecordValue(table.Due(&Entry{Sequence: sequence, Received: at}) - at); err != nil {
					t.Fatal(err)
				}
			}
			index := histograms.NewRankIndex(h)
			for _, p := range []float64{50, 99} {
				rho := float64(percent) / 100
				want := tt.theory(rho, p/100) * float64(service)
				off := float64(index.Percentile(p))/want - 1
				t.Logf("%s at %d %%: p%g is %v, off by %+.2f %%, of %d", tt.name, percent, p, time.Duration(index.Percentile(p)), 100*off, index.Count())
				if math.Abs(off) > 0.03 {
					t.Errorf("%s at %d %%: p%g is %v, want %v", tt.name, percent, p, time.Duration(index.Percentile(p)), time.Duration(want))
				}
			}
		}
	}
}

// With constant arrivals below a constant server's rate nobody waits, to the
// nanosecond; above it everybody waits for longer than the one before.
func TestConstantQueue(t *testing.T) {
	const service, delay = 100 * time.Microsecond, time.Millisecond
	for _, rate := range []uint64{9_999, 10_000, 12_500} {
		table := NewTimetable(Config{Server: mustLaw(t, "100us"), Law: mustLaw(t, "1ms"), Seed: 1})
		c := instants(t, scenario.Constant, rate, time.Second)
		first, n := int64(0), int64(0)
		for at, ok := c.Next(); ok; at, ok = c.Next() {
			if n == 0 {
				first = at
			}
			want := at + int64(service+delay)
			if rate > 10_000 {
				want = first + (n+1)*int64(service) + int64(delay)
			}
			if got := table.Due(&Entry{Sequence: uint64(n), Received: at}); got != want {
				t.Fatalf("%d/s: message %d stays for %v, want %v", rate, n, time.Duration(got-at), time.Duration(want-at))
			}
			n++
		}
		if n < 9_000 {
			t.Errorf("%d messages", n)
		}
	}
}

// Laws change so long after the first message of a run, for each run anew, and
// what was served by the law before is not served again.
func TestLawsChange(t *testing.T) {
	table := NewTimetable(Config{Server: mustLaw(t, "1ms,3ms@10s,none@20s"), Law: mustLaw(t, "none,5ms@10s")})
	const ms = int64(time.Millisecond)
	for i, tt := range []struct {
		run       uint32
		at, stays int64 // ms
	}{
		{1, 1000, 1}, {1, 1000, 2}, {1, 10_999, 1}, {1, 11_000, 8}, {1, 11_000, 11}, {2, 11_006, 1},
		{1, 20_999, 8}, {1, 21_000, 7}, {1, 21_002, 5}, {2, 21_006, 8}, {1, 21_006, 8},
	} {
		if got := table.Due(&Entry{Run: tt.run, Received: tt.at * ms}) - tt.at*ms; got != tt.stays*ms {
			t.Errorf("message %d stays for %v, want %d ms", i, time.Duration(got), tt.stays)
		}
	}
	for run := range uint32(3 * runsMost) {
		table.Due(&Entry{Run: 10 + run, Received: int64(run+30_000) * ms})
	}
	if n := len(table.began); n != runsMost {
		t.Errorf("%d runs are remembered", n)
	}
	last := int64(3*runsMost-1+30_000) * ms
	if at := table.began[10+3*runsMost-1]; at != last {
		t.Errorf("the last run began at %d, want %d", at, last)
	}
}

// Service times and delays of the same message have nothing to do with each
// other.
func TestServiceAndDelayAreIndependent(t *testing.T) {
	const n = 10_000
	law := mustLaw(t, "exponential(mean=1ms)")
	table := NewTimetable(Config{Server: law, Law: law, Seed: 1})
	var both, squares float64
	for i := range uint64(n) {
		at := int64(i) * int64(time.Second)
		delay := float64(law.Delay(1, 0, 0, i))
		service := float64(table.Due(&Entry{Sequence: i, Received: at})-at) - delay
		both += (delay - 1e6) * (service - 1e6)
		squares += (service - 1e6) * (service - 1e6)
	}
	if r := both / squares; math.Abs(r) > 5/math.Sqrt(n) {
		t.Errorf("they correlate by %.3f", r)
	}
}
