package engine

import (
	"maps"
	"testing"

	"sixnines/drivers/mem"
	"sixnines/internal/histograms"
	"sixnines/result"
)

// shown sums what an exporter gets.
type shown struct {
	workloads []string
	values    map[string]map[result.Metric]map[int64]int64 // by upper edge
	counters  map[string]*result.Counters
}

func (s *shown) Begin(headers []result.Header) {
	for _, h := range headers {
		s.workloads = append(s.workloads, h.Workload)
		s.values[h.Workload], s.counters[h.Workload] = map[result.Metric]map[int64]int64{}, &result.Counters{}
	}
}

func (s *shown) Interval(v *result.Interval, added func(visit func(m result.Metric, low, high, count int64))) {
	s.counters[v.Workload].Add(v.Counters)
	all := s.values[v.Workload]
	added(func(m result.Metric, _, high, count int64) {
		if all[m] == nil {
			all[m] = map[int64]int64{}
		}
		all[m][high] += count
	})
}

// An exporter gets, interval by interval, what the result file has at the end.
func TestExporterIsShownWhatIsWritten(t *testing.T) {
	s := &shown{values: map[string]map[result.Metric]map[int64]int64{}, counters: map[string]*result.Counters{}}
	r := inVirtualTime(t, Config{Entry: mem.Entry(), Exporter: s, Scenario: parse(t, `
target: {driver: mem}
phases: {warmup: 50ms, duration: 500ms}
record: {interval: 100ms}
workloads:
  events: {rate: 500/s}
  traffic: {pattern: publish, rate: 1000/s, from: 100ms}
`)})
	if len(s.workloads) != 2 {
		t.Fatalf("workloads %q", s.workloads)
	}
	for _, part := range r.Parts() {
		name := part.Header.Workload
		if got := s.counters[name]; got.Sent == 0 || got.Sent != part.Counters.Sent || got.Received != part.Counters.Received {
			t.Errorf("%s: shown %+v, the file has %+v", name, got, part.Counters)
		}
		for m, x := range part.Metrics {
			want := map[int64]int64{}
			histograms.RanksOf(x.Hist).Buckets(func(_, high, n int64) { want[high] += n })
			if got := s.values[name][m]; len(want) == 0 || !maps.Equal(got, want) {
				t.Errorf("%s: of %s shown %v, the file has %v", name, m, got, want)
			}
		}
	}
}
