package recorder

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"sync"
	"testing"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"sixnines/internal/histograms"
	"sixnines/result"
)

func TestGeometryIsHdrHistograms(t *testing.T) {
	for _, digits := range []int{2, 3} {
		g := newGeometry(int64(100*time.Second), digits)
		h := hdr.New(1, int64(100*time.Second), digits)
		rng := rand.New(rand.NewPCG(1, 1))
		for range 300 {
			v := int64(math.Exp(rng.Float64() * math.Log(float64(g.highest))))
			i := g.Index(v)
			if v < g.Floor(i) || v > g.Ceiling(i) {
				t.Fatalf("digits %d: value %d in bucket %d = [%d, %d]", digits, v, i, g.Floor(i), g.Ceiling(i))
			}
			h.Reset()
			if err := h.RecordValue(v); err != nil {
				t.Fatal(err)
			}
			if h.Export().Counts[i] != 1 {
				t.Fatalf("digits %d: HdrHistogram puts %d elsewhere than bucket %d", digits, v, i)
			}
		}
		for i := 1; i < g.length; i++ {
			if g.Floor(i) != g.Ceiling(i-1)+1 {
				t.Fatalf("digits %d: buckets %d and %d do not meet", digits, i-1, i)
			}
		}
	}
}

// Many writers, a collector in between: the intervals sum to one recorder that
// saw everything, bit for bit.
func TestIntervalsSumToTheRun(t *testing.T) {
	r, err := New(Config{Metrics: []ID{DeliveryResponse, DeliveryService, LagOwn}, Shards: 3, Digits: 2,
		Highest: 10 * time.Second, Window: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	const workers, n = 4, 20_000
	whole := hdr.New(1, r.geo.highest, 2)
	tick := make(chan struct{})
	var mu sync.Mutex
	var wg sync.WaitGroup
	var exactMax, exactMin int64 = 0, math.MaxInt64
	var ownSum int64
	for w := range workers {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(9, uint64(w)))
			s := r.Shard(w)
			for i := range n {
				if w == 0 && i%1000 == 0 {
					tick <- struct{}{}
				}
				v := int64(math.Exp(rng.NormFloat64() + 11))
				s.Response(DeliveryResponse, v, v/4, -1, rng.Int64N(int64(time.Minute)))
				s.Value(DeliveryService, v/2)
				mu.Lock()
				_ = whole.RecordValue(v)
				exactMax, exactMin = max(exactMax, v), min(exactMin, v)
				ownSum += v / 4
				mu.Unlock()
			}
		})
	}
	sum := hdr.New(1, r.geo.highest, 2)
	var gotMin, gotMax int64 = math.MaxInt64, 0
	var bands, own, counted int64
	collect := func() {
		r.Snapshot()
		m, _, err := r.Encode()
		if err != nil {
			t.Fatal(err)
		}
		d := m[result.DeliveryResponse]
		if d == nil {
			return
		}
		h, err := histograms.Decode(d.Hist)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(histograms.RanksIn(func(visit func(low, high, n int64)) { r.LastBuckets(DeliveryResponse, visit) }), histograms.NewRankIndex(h)) || histograms.Layout(hdr.New(r.Layout())) != histograms.Layout(h) {
			t.Error("the buckets are not those of the text")
		}
		sum.Merge(h)
		gotMin, gotMax = min(gotMin, d.Min), max(gotMax, d.Max)
		for _, b := range d.Own {
			bands += b.Count
			own += b.Own
		}
		counted += h.TotalCount()
	}
	go func() { wg.Wait(); close(tick) }()
	for range tick {
		collect()
	}
	collect()
	theirs, err := histograms.Encode(sum)
	if err != nil {
		t.Fatal(err)
	}
	ours, err := encode(new(histograms.Encoder), nil, &r.geo, sum.Export().Counts, nil)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := inflate(t, string(ours)), inflate(t, theirs); !bytes.Equal(a, b) {
		t.Errorf("our payload of %d bytes differs from the library's of %d: %x… and %x…", len(a), len(b), a[:min(60, len(a))], b[:min(60, len(b))])
	}
	if !sum.Equals(whole) || counted != workers*n {
		t.Fatalf("the intervals hold %d values, the run %d", counted, workers*n)
	}
	if gotMin != exactMin || gotMax != exactMax {
		t.Fatalf("extremes [%d, %d], want [%d, %d]", gotMin, gotMax, exactMin, exactMax)
	}
	if bands != counted || own > ownSum {
		t.Fatalf("bands hold %d of %d values, own lag %d of %d", bands, counted, own, ownSum)
	}
}

func TestClampsAreCounted(t *testing.T) {
	r, err := New(Config{Metrics: []ID{LagOwn}, Shards: 1, Digits: 3, Highest: time.Second, Window: 0})
	if err != nil {
		t.Fatal(err)
	}
	s := r.Shard(0)
	s.Value(LagOwn, -5)
	s.Value(LagOwn, math.MaxInt64)
	s.Value(LagOwn, 7)
	r.Snapshot()
	m, c, err := r.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if c.Negative != 1 || c.OutOfRange != 1 {
		t.Fatalf("clamps: %+v", c)
	}
	if got := m[result.LagOwn]; got.Min != 0 || got.Max != r.geo.highest {
		t.Fatalf("extremes %d, %d", got.Min, got.Max)
	}
	r.Snapshot()
	if m, c, _ = r.Encode(); len(m) != 0 || c.Negative != 0 {
		t.Fatal("an interval without values is not empty")
	}
}

func TestBlockedZerosAreDerived(t *testing.T) {
	r, err := New(Config{Metrics: []ID{LagOwn, LagBlocked}, Shards: 2, Digits: 3, Highest: time.Second, Window: 0})
	if err != nil {
		t.Fatal(err)
	}
	for round, want := range []struct{ n, zeros, min, max int64 }{{10, 8, 0, 500}, {5, 4, 0, 500}, {0, 0, 0, 0}} {
		for i := range want.n {
			var blocked int64
			if i%5 == 4 {
				blocked = 500
			}
			r.Shard(int(i)).Lag(i, blocked, 0)
		}
		r.Snapshot()
		m, _, err := r.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if want.n == 0 {
			if len(m) != 0 {
				t.Fatal("an interval without messages is not empty")
			}
			continue
		}
		b := m[result.LagBlocked]
		h, err := histograms.Decode(b.Hist)
		if err != nil {
			t.Fatal(err)
		}
		if h.TotalCount() != want.n || h.Export().Counts[0] != want.zeros || b.Min != want.min || b.Max != want.max {
			t.Fatalf("round %d: %d values, %d zeros, [%d, %d]; want %+v", round, h.TotalCount(), h.Export().Counts[0], b.Min, b.Max, want)
		}
	}
}

func TestRecordingDoesNotAllocate(t *testing.T) {
	r, err := New(Config{Metrics: []ID{DeliveryResponse, LagOwn}, Shards: 1, Digits: 3, Highest: time.Minute, Window: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	s := r.Shard(0)
	v := int64(1)
	if a := testing.AllocsPerRun(1000, func() {
		s.Response(DeliveryResponse, v, v/2, -1, v)
		s.Value(LagOwn, v)
		v += 977
	}); a != 0 {
		t.Fatalf("%v allocations a message", a)
	}
}

func BenchmarkResponse(b *testing.B) {
	r, _ := New(Config{Metrics: []ID{DeliveryResponse}, Shards: 1, Digits: 3, Highest: time.Minute, Window: time.Minute})
	s := r.Shard(0)
	v := int64(50_000)
	b.ReportAllocs()
	for b.Loop() {
		s.Response(DeliveryResponse, v, v/4, 1, v)
		v = 50_000 + (v+977)&0xffff
	}
}

func BenchmarkValue(b *testing.B) {
	r, _ := New(Config{Metrics: []ID{LagOwn}, Shards: 1, Digits: 3, Highest: time.Minute, Window: time.Minute})
	s := r.Shard(0)
	v := int64(50_000)
	b.ReportAllocs()
	for b.Loop() {
		s.Value(LagOwn, v)
		v = 50_000 + (v+977)&0xffff
	}
}

func BenchmarkSnapshotAndEncode(b *testing.B) {
	r, _ := New(Config{Metrics: []ID{DeliveryResponse}, Shards: 4, Digits: 3, Highest: time.Minute, Window: time.Minute})
	rng := rand.New(rand.NewPCG(1, 1))
	b.ReportAllocs()
	for b.Loop() {
		for i := range 1000 {
			r.Shard(i).Response(DeliveryResponse, int64(math.Exp(rng.NormFloat64()+11)), 0, -1, 0)
		}
		r.Snapshot()
		if _, _, err := r.Encode(); err != nil {
			b.Fatal(err)
		}
	}
}

func inflate(t *testing.T, s string) []byte {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	z, err := zlib.NewReader(bytes.NewReader(b[8:]))
	if err != nil {
		t.Fatal(err)
	}
	b, err = io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Values of a sampled metric come out once, whatever the number of shards, and the
// moments are those of the recorded values.
func TestStagesAndMoments(t *testing.T) {
	r, err := New(Config{Metrics: []ID{StageClient, StageBroker, StageReceive, StageCallback, DeliveryService}, Shards: 5, Digits: 3, Highest: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range int64(1000) {
				r.Stages(100+i, 2000, 5, 3)
				r.Shard(w).Value(DeliveryService, 1000+2*(i%2))
			}
		})
	}
	wg.Wait()
	r.Snapshot()
	metrics, _, err := r.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for m, want := range map[result.Metric][2]int64{result.StageClient: {100, 1099}, result.StageBroker: {2000, 2000}, result.StageReceive: {5, 5}, result.StageCallback: {3, 3}} {
		h, err := histograms.Decode(metrics[m].Hist)
		if err != nil {
			t.Fatal(err)
		}
		if metrics[m].Min != want[0] || metrics[m].Max != want[1] || h.TotalCount() != 4000 {
			t.Errorf("%s: %d from %d to %d", m, h.TotalCount(), metrics[m].Min, metrics[m].Max)
		}
	}
	if n, mean, deviation := r.Moments(DeliveryService); n != 4000 || mean != 1001 || deviation != 1 {
		t.Errorf("%d, mean %v ± %v", n, mean, deviation)
	}
	if n, _, _ := r.Moments(LagOwn); n != 0 {
		t.Errorf("%d values of a metric that is not recorded", n)
	}
}

func TestValues(t *testing.T) {
	r, err := New(Config{Metrics: []ID{DeliveryService, PublishService}, Shards: 2, Digits: 3, Highest: time.Minute, Window: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	added := []int64{1_234_567, 50_001, 50_001, 70_000_009}
	for range 2 {
		for i, v := range added {
			r.Shard(i).Value(DeliveryService, v)
		}
		r.Snapshot()
		got := r.Values(DeliveryService)
		if len(got) != len(added) || got[0] != 50_001 || got[3] != 70_000_009 {
			t.Fatalf("%d", got)
		}
		for i, want := range []int64{50_001, 50_001, 1_234_567, 70_000_009} {
			if d := got[i] - want; max(d, -d) > want/1000 {
				t.Errorf("value %d is %d, not %d", i, got[i], want)
			}
		}
		if got := r.Values(PublishService); got != nil {
			t.Errorf("%d of a metric without any", got)
		}
	}
	r.Snapshot()
	if got := r.Values(DeliveryService); got != nil {
		t.Errorf("%d after a collection of nothing", got)
	}
}

// Snapshot and Encode yield the processor between two metrics.
func TestBreathesBetweenMetrics(t *testing.T) {
	breaths := 0
	metrics := []ID{LagOwn, LagBlocked, DeliveryResponse, DeliveryService}
	r, err := New(Config{Metrics: metrics, Shards: 1, Digits: 3, Highest: time.Second, Breathe: func() { breaths++ }})
	if err != nil {
		t.Fatal(err)
	}
	s := r.Shard(0)
	s.Lag(1000, 1000, 0)
	s.Response(DeliveryResponse, 2000, 1000, -1, 0)
	s.Value(DeliveryService, 1000)
	r.Snapshot()
	if breaths < len(metrics)-1 {
		t.Errorf("%d times while a snapshot of %d metrics was made", breaths, len(metrics))
	}
	breaths = 0
	if _, _, err := r.Encode(); err != nil {
		t.Fatal(err)
	}
	if breaths < len(metrics)-1 {
		t.Errorf("%d times while %d metrics were encoded", breaths, len(metrics))
	}
}
