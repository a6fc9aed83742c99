package judge

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"sixnines/internal/histograms"
	"sixnines/internal/stats"
	"sixnines/result"
)

// merged is a metric of these values, response-like without own lag.
func merged(values, censoredAt []int64) *result.Merged {
	x := &result.Merged{Hist: newHist()}
	for _, v := range values {
		_ = x.Hist.Record(v, 1)
	}
	if len(values) > 0 {
		x.Min, x.Max = slices.Min(values), slices.Max(values)
	}
	if len(censoredAt) > 0 {
		x.Censored = newHist()
		for _, v := range censoredAt {
			_ = x.Censored.Record(v, 1)
		}
	}
	return x
}

// upTo returns 1, 2, … n, which a histogram of three digits holds exactly up
// to 2,047.
func upTo(n int) []int64 {
	v := make([]int64, n)
	for i := range v {
		v[i] = int64(i + 1)
	}
	return v
}

func repeat(v int64, n int) []int64 { return slices.Repeat([]int64{v}, n) }

func TestPercentilesAreNearestRank(t *testing.T) {
	d := Distribution(result.PublishResponse, merged(upTo(1000), nil), 1000)
	want := map[string]int64{"50": 500, "75": 750, "90": 900, "95": 950, "99": 990}
	for name, v := range want {
		if d.Figures[result.Percentile(name)].Value != v {
			t.Errorf("p%s is %d, want %d", name, d.Figures[result.Percentile(name)].Value, v)
		}
	}
	if len(maps.Collect(d.All())) != len(want) || d.Figures["99.9"].Needs != 3688 || d.Figures["99.9999"].Needs != 3688878 || len(d.Figures) != len(want)+4 {
		t.Errorf("%+v", d.Figures)
	}
	if !d.Figures["99"].Few || !d.Figures["95"].Few || d.Figures["90"].Few || d.Figures["50"].Few {
		t.Errorf("few: %+v", d.Figures)
	}
	if d.Min != 1 || d.Max != 1000 || d.Mean != 500.5 || math.Abs(d.StdDev-288.675) > 0.001 || d.Count != 1000 || d.Samples != 1000 {
		t.Errorf("%+v", d)
	}
	lo, hi, _ := stats.QuantileRanks(1000, 0.99, 0.95)
	if got := d.Figures["99"].Interval; *got != (result.Bounds{Low: lo, High: hi}) {
		t.Errorf("interval of p99 %v, ranks %d and %d", got, lo, hi)
	}
	for name, f := range d.All() {
		if f.AtLeast || f.Interval.Open || f.Episodes != 0 || f.OwnShare != nil {
			t.Errorf("marks on p%s of a plain sample: %+v", name, f)
		}
	}
}

func TestFiguresStayWithinTheExtremes(t *testing.T) {
	d := Distribution(result.PublishService, merged(repeat(1_000_001, 500), nil), 500)
	for _, v := range []int64{175_302, 1_000_001} {
		if d := Distribution(result.PublishService, merged(repeat(v, 3), nil), 3); d.Mean < float64(d.Min) || d.Mean > float64(d.Max) {
			t.Errorf("the mean of %d is %v", v, d.Mean)
		}
	}
	for name, f := range d.All() {
		if v := f.Value; v != 1_000_001 || *f.Interval != (result.Bounds{Low: v, High: v}) {
			t.Errorf("p%s of one value is %d, interval %v", name, v, f.Interval)
		}
	}
}

func TestTheCensoredAreAboveEverything(t *testing.T) {
	// 980 resolved, 20 unresolved whose lower bounds lie below the maximum.
	d := Distribution(result.PublishResponse, merged(upTo(980), repeat(500, 20)), 1000)
	if d.Count != 980 || d.Censored != 20 || d.Max != 980 {
		t.Errorf("%+v", d)
	}
	if d.Figures["95"].Value != 950 || d.Figures["95"].AtLeast {
		t.Errorf("p95 %+v", d.Figures["95"])
	}
	// Rank 990 is a censored one. With the censored at 500 the 990th of all is
	// 970; more than p99 of the resolved is known not to be needed.
	if d.Figures["99"].Value != 970 || !d.Figures["99"].AtLeast {
		t.Errorf("p99 %+v", d.Figures["99"])
	}
	if p99, p50 := d.Figures["99"].Interval, d.Figures["50"].Interval; !p99.Open || p50.Open {
		t.Errorf("p99 %+v, p50 %+v", p99, p50)
	}
}

func TestCensoredFarOutAreLowerBounds(t *testing.T) {
	d := Distribution(result.PublishResponse, merged(upTo(900), repeat(5e9, 100)), 1000)
	if v := d.Figures["99"].Value; v > 5e9 || v < 4.99e9 || !d.Figures["99"].AtLeast {
		t.Errorf("p99 %d", v)
	}
	if v := d.Figures["90"].Value; v != 900 || d.Figures["90"].AtLeast {
		t.Errorf("p90 %d", v)
	}
}

func TestNothingResolved(t *testing.T) {
	x := merged(nil, repeat(5e9, 1000))
	for _, hist := range []bool{true, false} {
		if !hist {
			x.Hist = nil
		}
		d := Distribution(result.PublishResponse, x, 1000)
		if d.Count != 0 || d.Max != d.Figures["99"].Value || !d.MaxAtLeast || !d.Figures["50"].AtLeast || d.Figures["50"].Value < 4.99e9 || d.Figures["50"].Value > 5e9 {
			t.Errorf("%+v", d)
		}
	}
	if d := Distribution(result.PublishResponse, &result.Merged{}, 0); d.Published() || len(d.Figures) != len(result.Percentiles()) {
		t.Errorf("of nothing: %+v", d)
	}
}

// Whatever the sample: figures rise with the percentile, lie in their
// intervals, and agree with the sorted values where nothing is censored.
func TestDistributionProperties(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 60 {
		values := make([]int64, rng.IntN(20_000))
		for i := range values {
			values[i] = int64(rng.ExpFloat64() * 1e6)
		}
		late := make([]int64, rng.IntN(3)*rng.IntN(500))
		for i := range late {
			late[i] = rng.Int64N(20e6)
		}
		n := int64(len(values) + len(late))
		samples := n
		if n > 0 && rng.IntN(2) == 0 {
			samples = n/int64(1+rng.IntN(50)) + 1
			samples = min(samples, n)
		}
		d := Distribution(result.DeliveryResponse, merged(values, late), samples)
		slices.Sort(values)
		var last int64
		for _, name := range result.Percentiles() {
			f, ok := d.At(name)
			v := f.Value
			if !ok {
				continue
			}
			if v < last {
				t.Fatalf("p%s is %d, below %d of the percentile before", name, v, last)
			}
			last = v
			if i := f.Interval; v < i.Low || v > i.High {
				t.Fatalf("p%s %d is not in its interval %v", name, v, i)
			}
			r := stats.Rank(n, percentOf(name))
			if exceed := r > int64(len(values)); exceed != d.Figures[name].AtLeast {
				t.Fatalf("p%s at rank %d of %d resolved: at least %v", name, r, len(values), d.Figures[name].AtLeast)
			} else if !exceed {
				exact := values[r-1]
				if v < exact || float64(v) > float64(exact)*1.001+1 {
					t.Fatalf("p%s is %d, the value of rank %d is %d", name, v, r, exact)
				}
			}
		}
	}
}

// A message delivered to many is one sample.
func TestFanOutIsOneSampleAMessage(t *testing.T) {
	x := merged(slices.Repeat(upTo(200), 10), nil)
	c := result.Counters{Sent: 200, Expected: 2000, Received: 2000}
	n := Samples(result.DeliveryResponse, x, c)
	if n != 200 {
		t.Fatalf("%d samples, want 200", n)
	}
	d := Distribution(result.DeliveryResponse, x, n)
	if f, ok := d.At("99"); ok || f.Needs != 368 {
		t.Errorf("p99 of 200 messages is printed: %+v", f)
	}
	// The interval is that of 200 messages, not of 2,000 deliveries.
	lo, hi, _ := stats.QuantileRanks(200, 0.5, 0.95)
	if got := d.Figures["50"].Interval; *got != (result.Bounds{Low: lo, High: hi}) {
		t.Errorf("interval %v, ranks of messages %d and %d", got, lo, hi)
	}
	if n := Samples(result.DeliveryLast, merged(upTo(200), nil), c); n != 200 {
		t.Errorf("delivery.last has %d samples", n)
	}
	if n := Samples(result.PublishResponse, merged(upTo(200), nil), c); n != 200 {
		t.Errorf("publish has %d samples", n)
	}
}

func TestScale(t *testing.T) {
	tests := []struct{ a, num, den, add, want int64 }{
		{7, 3, 10, 0, 2}, {7, 3, 10, 9, 3}, {0, 5, 5, 0, 0},
		{1 << 60, 1 << 40, 1 << 41, 0, 1 << 59}, {math.MaxInt64, math.MaxInt64, math.MaxInt64, 0, math.MaxInt64},
		{math.MaxInt64, math.MaxInt64, 2, 0, math.MaxInt64}, {5, 5, 0, 0, math.MaxInt64},
	}
	for _, tt := range tests {
		if got := scale(tt.a, tt.num, tt.den, tt.add); got != tt.want {
			t.Errorf("(%d·%d + %d)/%d = %d, want %d", tt.a, tt.num, tt.add, tt.den, got, tt.want)
		}
	}
}

func TestEpisodes(t *testing.T) {
	tests := []struct {
		name  string
		slots []int64
		want  int
	}{
		{"one", []int64{1, 9, 9, 9, 1, 1}, 1},
		{"two", []int64{9, 9, 1, 9, 1, 1}, 2},
		{"a slot without messages ends nothing", []int64{9, 0, 0, 9, 1, 1}, 1},
		{"all", []int64{9, 9, 9}, 3},
		{"nearly all", []int64{9, 9, 1, 9, 9, 9}, 5},
		{"alternating", []int64{9, 1, 9, 1, 9, 1, 9}, 4},
		{"equal to the value", []int64{5, 5, 5}, 1},
	}
	for _, tt := range tests {
		if got := episodes(tt.slots, 5); got != tt.want {
			t.Errorf("%s: %d episodes of %v above 5, want %d", tt.name, got, tt.slots, tt.want)
		}
	}
}

func TestLagShares(t *testing.T) {
	own := make([]result.OwnBand, histograms.Bands)
	b := histograms.BandOf(70_000)
	own[b] = result.OwnBand{Band: b, Count: 100, Own: 20, Total: 100}
	own[b+3] = result.OwnBand{Band: b + 3, Count: 5, Own: 90, Total: 100}
	own[b+6] = result.OwnBand{Band: b + 6, Count: 25, Own: 30, Total: 100}
	if s, ok := sharesAround(own, 70_000); !ok || s.own != 0.2 {
		t.Errorf("in a full band: %v, %v", s, ok)
	}
	if s, ok := sharesAround(own, histograms.BandFloor(b+3)); !ok || s.own != 140.0/300 {
		t.Errorf("in a thin band, widened by three on both sides: %v, %v", s, ok)
	}
	if _, ok := sharesAround(make([]result.OwnBand, histograms.Bands), 70_000); ok {
		t.Error("a share of nothing")
	}
	if _, ok := sharesAround(nil, 70_000); ok {
		t.Error("a share without bands")
	}
	own[b].Own = 105
	own[b].Received = 50
	if s, _ := sharesAround(own, 70_000); s != (lagShares{1, 0.5, true}) {
		t.Errorf("shares %+v", s)
	}
	own[b].Unknown, own[b].Received = 50, 40
	if s, _ := sharesAround(own, 70_000); s != (lagShares{1, 0.8, true}) {
		t.Errorf("where the receive lag is known of half: %+v", s)
	}
	own[b].Unknown = 51
	if s, _ := sharesAround(own, 70_000); s != (lagShares{1, 0, false}) {
		t.Errorf("where the receive lag is known of less than half: %+v", s)
	}
}
