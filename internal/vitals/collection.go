package vitals

import (
	"fmt"
	"runtime/metrics"
	"time"
)

// gcStopped is the least time for which Go's collector stopped the world, summed over one
// look, that is a pause. Ordinary collections stop it twice for some 10 to 100 µs, too
// little to report; half a millisecond matters beside a broker that answers in less.
const gcStopped = 500 * time.Microsecond

// collectionWatch reads the time for which the collector stopped the world.
type collectionWatch struct {
	metrics []metrics.Sample
	pauses  bucketDelta
	last    int64
}

func openCollectionWatch(now int64) (watcher, error) {
	w := &collectionWatch{metrics: []metrics.Sample{{Name: "/sched/pauses/total/gc:seconds"}}, last: now}
	metrics.Read(w.metrics)
	if w.metrics[0].Value.Kind() != metrics.KindFloat64Histogram {
		return nil, fmt.Errorf("this Go runtime does not supply %s as expected", w.metrics[0].Name)
	}
	w.pauses.advance(w.metrics[0].Value.Float64Histogram())
	return w, nil
}

func (w *collectionWatch) look(now int64, out []Pause) ([]Pause, error) {
	metrics.Read(w.metrics)
	stopped := w.pauses.advance(w.metrics[0].Value.Float64Histogram()).total()
	if stopped >= float64(gcStopped) {
		out = append(out, stretch(w.last, now, int64(stopped), quickLook))
	}
	w.last = now
	return out, nil
}

func (w *collectionWatch) close() {}
