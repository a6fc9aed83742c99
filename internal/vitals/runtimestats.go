package vitals

import (
	"fmt"
	"math"
	"runtime/metrics"
	"sixnines/result"
)

// Indices into runtimeStats.metrics.
const (
	metricCycles = iota
	metricAssist
	metricGoroutines
	metricHeapLive
	metricHeapObjects
	metricLatencies
	metricGCPauses
	metricOtherPauses
	metricMutexWait
	metricCPUUser
	metricCPUGC
	metricCPUGCIdle
	metricCPUIdle
	metricCPUTotal
	metricProcs
	metricRunnable
	metricTotal
)

// runtimeStats reads runtime/metrics. Its memory is allocated by the first
// readings and used again.
type runtimeStats struct {
	metrics                          []metrics.Sample
	cycles                           uint64
	seconds                          [metricTotal]float64 // of the growing sums, at the last reading
	latencies, gcPauses, otherPauses bucketDelta
}

// runtimeOpener offers the values of the Go runtime.
func runtimeOpener() opener {
	return opener{
		names: []result.Vital{result.VitalGoCycles, result.VitalGoAssist, result.VitalGoGCPauseTotal, result.VitalGoGCPauseMax, result.VitalGoOtherPauseTotal, result.VitalGoOtherPauseMax,
			result.VitalGoLatencyCount, result.VitalGoLatencyP50, result.VitalGoLatencyP99, result.VitalGoLatencyMax,
			result.VitalGoMutexWait, result.VitalGoCPUUser, result.VitalGoCPUGC, result.VitalGoCPUIdle, result.VitalGoCPUTotal, result.VitalGoProcs, result.VitalGoRunnable, result.VitalGoGoroutines, result.VitalGoHeapLive, result.VitalGoHeapObjects},
		open: func() (source, error) { return openRuntimeStats() },
	}
}

func openRuntimeStats() (*runtimeStats, error) {
	r := &runtimeStats{metrics: make([]metrics.Sample, metricTotal)}
	kinds := make([]metrics.ValueKind, metricTotal)
	for i, m := range []struct {
		name string
		kind metrics.ValueKind
	}{
		metricCycles:      {"/gc/cycles/total:gc-cycles", metrics.KindUint64},
		metricAssist:      {"/cpu/classes/gc/mark/assist:cpu-seconds", metrics.KindFloat64},
		metricGoroutines:  {"/sched/goroutines:goroutines", metrics.KindUint64},
		metricHeapLive:    {"/gc/heap/live:bytes", metrics.KindUint64},
		metricHeapObjects: {"/memory/classes/heap/objects:bytes", metrics.KindUint64},
		metricLatencies:   {"/sched/latencies:seconds", metrics.KindFloat64Histogram},
		metricGCPauses:    {"/sched/pauses/total/gc:seconds", metrics.KindFloat64Histogram},
		metricOtherPauses: {"/sched/pauses/total/other:seconds", metrics.KindFloat64Histogram},
		metricMutexWait:   {"/sync/mutex/wait/total:seconds", metrics.KindFloat64},
		metricCPUUser:     {"/cpu/classes/user:cpu-seconds", metrics.KindFloat64},
		metricCPUGC:       {"/cpu/classes/gc/total:cpu-seconds", metrics.KindFloat64},
		metricCPUGCIdle:   {"/cpu/classes/gc/mark/idle:cpu-seconds", metrics.KindFloat64},
		metricCPUIdle:     {"/cpu/classes/idle:cpu-seconds", metrics.KindFloat64},
		metricCPUTotal:    {"/cpu/classes/total:cpu-seconds", metrics.KindFloat64},
		metricProcs:       {"/sched/gomaxprocs:threads", metrics.KindUint64},
		metricRunnable:    {"/sched/goroutines/runnable:goroutines", metrics.KindUint64},
	} {
		r.metrics[i].Name, kinds[i] = m.name, m.kind
	}
	metrics.Read(r.metrics)
	for i, m := range r.metrics { // a later runtime may drop or change one
		if m.Value.Kind() != kinds[i] {
			return nil, fmt.Errorf("this Go runtime does not supply %s as expected", m.Name)
		}
	}
	return r, nil
}

func (r *runtimeStats) sample(_ interval, out []Value) ([]Value, error) {
	metrics.Read(r.metrics)
	value := func(i int) metrics.Value { return r.metrics[i].Value }
	// Estimates that the runtime may correct downwards: never negative.
	grown := func(i int) float64 {
		now := value(i).Float64()
		d := max(0, now-r.seconds[i])
		r.seconds[i] = now
		return d
	}
	cycles := value(metricCycles).Uint64()
	gc := r.gcPauses.advance(value(metricGCPauses).Float64Histogram())
	other := r.otherPauses.advance(value(metricOtherPauses).Float64Histogram())
	latencies := r.latencies.advance(value(metricLatencies).Float64Histogram())
	out = append(out,
		Value{result.VitalGoCycles, float64(cycles - r.cycles)},
		Value{result.VitalGoAssist, grown(metricAssist)},
		Value{result.VitalGoGCPauseTotal, gc.total()},
		Value{result.VitalGoGCPauseMax, gc.max()},
		Value{result.VitalGoOtherPauseTotal, other.total()},
		Value{result.VitalGoOtherPauseMax, other.max()},
		Value{result.VitalGoLatencyCount, float64(latencies.count)})
	if latencies.count > 0 {
		out = append(out,
			Value{result.VitalGoLatencyP50, latencies.quantile(0.50)},
			Value{result.VitalGoLatencyP99, latencies.quantile(0.99)},
			Value{result.VitalGoLatencyMax, latencies.max()})
	}
	r.cycles = cycles
	return append(out,
		Value{result.VitalGoMutexWait, grown(metricMutexWait)},
		Value{result.VitalGoCPUUser, grown(metricCPUUser)},
		Value{result.VitalGoCPUGC, max(0, grown(metricCPUGC)-grown(metricCPUGCIdle))},
		Value{result.VitalGoCPUIdle, grown(metricCPUIdle)},
		Value{result.VitalGoCPUTotal, grown(metricCPUTotal)},
		Value{result.VitalGoProcs, float64(value(metricProcs).Uint64())},
		Value{result.VitalGoRunnable, float64(value(metricRunnable).Uint64())},
		Value{result.VitalGoGoroutines, float64(value(metricGoroutines).Uint64())},
		Value{result.VitalGoHeapLive, float64(value(metricHeapLive).Uint64())},
		Value{result.VitalGoHeapObjects, float64(value(metricHeapObjects).Uint64())}), nil
}

func (r *runtimeStats) close() {}

// bucketDelta turns a cumulative histogram of runtime/metrics, in seconds, into
// that of one interval. All figures taken from it are upper edges of buckets in
// ns: bounds, not guesses.
type bucketDelta struct {
	previous, counts []uint64
	edges            []float64 // len(counts)+1, the runtime's: not to be changed
	count            uint64
}

// advance ends the interval with the cumulative histogram h.
func (d *bucketDelta) advance(h *metrics.Float64Histogram) *bucketDelta {
	if len(d.counts) != len(h.Counts) {
		d.previous, d.counts = make([]uint64, len(h.Counts)), make([]uint64, len(h.Counts))
	}
	d.edges, d.count = h.Buckets, 0
	for i, n := range h.Counts {
		d.counts[i] = n - d.previous[i]
		d.previous[i] = n
		d.count += d.counts[i]
	}
	return d
}

// upper returns the upper edge of bucket i in ns; for the last bucket, which
// has none, the lower edge.
func (d *bucketDelta) upper(i int) float64 {
	edge := d.edges[i+1]
	if math.IsInf(edge, 1) {
		edge = d.edges[i]
	}
	return max(0, edge) * 1e9
}

func (d *bucketDelta) total() float64 {
	var sum float64
	for i, n := range d.counts {
		if n > 0 {
			sum += float64(n) * d.upper(i)
		}
	}
	return sum
}

func (d *bucketDelta) max() float64 {
	for i := len(d.counts) - 1; i >= 0; i-- {
		if d.counts[i] > 0 {
			return d.upper(i)
		}
	}
	return 0
}

// quantile returns the nearest-rank q-quantile, 0 without records.
func (d *bucketDelta) quantile(q float64) float64 {
	rank := max(1, uint64(math.Ceil(q*float64(d.count))))
	var seen uint64
	for i, n := range d.counts {
		if seen += n; n > 0 && seen >= rank {
			return d.upper(i)
		}
	}
	return 0
}
