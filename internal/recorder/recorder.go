// Package recorder keeps the complete distribution of every metric while a run
// goes on, and hands it over interval by interval.
//
// Writers add counts to shards by atomic adds; the collector takes them out one by one
// by atomic exchanges. A writer never waits, an idle or stalled one loses nothing, and
// the sum of all intervals is the run to the last count. Writers mark the blocks of
// counts that they add to, and the collector reads only those: reading all took a
// millisecond, ten times a second, in which messages waited for the processor. (A
// double buffer behind a writer–reader phaser costs two more atomic operations a message
// and twice the memory; it only puts all metrics of a message into one interval.)
package recorder

import (
	"fmt"
	"iter"
	"math"
	"sync/atomic"
	"time"
	"unsafe"

	"sixnines/internal/histograms"
	"sixnines/result"
)

// Slot is the length of a slot of intended time, the grid of episodes.
const Slot = result.SlotLength

// Config says what to record.
type Config struct {
	Metrics []ID
	Shards  int
	Digits  int           // significant decimal digits, 2 or 3
	Highest time.Duration // the largest value that is distinguished from larger ones
	Window  time.Duration // the longest measured window
	Breathe func()        // Snapshot and Encode call it between metrics, to yield to recording threads; may be nil
}

// Recorder holds the shards and what was collected from them. Any goroutine may call Shard,
// Stages, Probe, Enabled, LagAtMost, Censor and Refuse; one collects and calls the others.
type Recorder struct {
	geo         geometry
	ids         []ID
	shards      []*Shard
	windowSlots int

	breathe func()
	slots   [ids][]atomic.Int64
	raised  [ids]marks     // blocks of slots that changed
	lags    []atomic.Int64 // by slot: the largest lag of the messages due in it, ns

	// Rare events have no shards: lower bounds of messages given up, by bucket, and messages
	// given up and refused by the slot in which they were due; the last element counts
	// those whose slot is unknown.
	censored, unanswered, refused [ids]sparse

	seen     [ids]*collected
	encoded  map[result.Metric]*result.MetricInterval // by the last Encode
	enc      histograms.Encoder
	negative int64
	outRange int64
}

// collected is what the collector has taken of a metric; it belongs to the collector.
type collected struct {
	counts   []int64 // of the run so far
	sum      int64   // of counts
	delta    []int64 // by the last collection
	in       blocks  // of delta that are not all zero
	total    int64   // of delta
	last     int     // the highest bucket of delta
	min, max int64   // of delta
	bands    []result.OwnBand
	slots    []int64               // as encoded
	encoded  result.MetricInterval // by the last Encode, over hist
	hist     []byte
}

// New returns a recorder. It fails if the configuration is impossible.
func New(c Config) (*Recorder, error) {
	if c.Digits != 2 && c.Digits != 3 {
		return nil, fmt.Errorf("recorder: %d significant digits; 2 or 3 are possible", c.Digits)
	}
	if c.Shards < 1 || c.Highest <= 0 || c.Window < 0 || len(c.Metrics) == 0 {
		return nil, fmt.Errorf("recorder: impossible configuration %+v", c)
	}
	r := &Recorder{geo: newGeometry(int64(c.Highest), c.Digits), ids: c.Metrics, windowSlots: int(c.Window/Slot) + 1, breathe: c.Breathe}
	r.lags = make([]atomic.Int64, r.windowSlots)
	if r.breathe == nil {
		r.breathe = func() {}
	}
	for _, id := range r.ids {
		k := &collected{counts: make([]int64, r.geo.length), delta: make([]int64, r.geo.length), in: newBlocks(r.geo.length),
			last: -1, min: noMin, max: noMax}
		if id.Metric().IsResponse() {
			r.slots[id], r.raised[id] = make([]atomic.Int64, r.windowSlots), newMarks(r.windowSlots)
			k.slots = make([]int64, r.windowSlots)
		}
		r.seen[id] = k
	}
	for i := range c.Shards {
		s := &Shard{r: r}
		for _, id := range r.ids {
			if id.sampled() && i > 0 {
				continue
			}
			h := &histogram{counts: make([]int64, r.geo.length), touched: newMarks(r.geo.length)}
			h.min.Store(noMin)
			h.max.Store(noMax)
			if id.Metric().IsResponse() {
				h.own, h.received = make([]int64, histograms.Bands), make([]int64, histograms.Bands)
				h.majority, h.unknown = make([]int64, histograms.Bands), make([]int64, histograms.Bands)
			}
			s.hists[id] = h
		}
		r.shards = append(r.shards, s)
	}
	return r, nil
}

// Shard returns shard i modulo the number of shards, i ≥ 0.
func (r *Recorder) Shard(i int) *Shard { return r.shards[i%len(r.shards)] }

// Stages records the stages of one message of a sample, in ns, under
// [StageClient], [StageBroker], [StageReceive] and [StageCallback], which must
// have been enabled. It is safe for concurrent use, does not block and does not
// allocate.
func (r *Recorder) Stages(client, broker, receive, callback int64) {
	s := r.shards[0]
	s.Value(StageClient, client)
	s.Value(StageBroker, broker)
	s.Value(StageReceive, receive)
	s.Value(StageCallback, callback)
}

// Probe records a probe's service time of v ns under [ProbeService], which must
// have been enabled. It is safe for concurrent use, does not block and does not
// allocate.
func (r *Recorder) Probe(v int64) { r.shards[0].Value(ProbeService, v) }

// Opening records that a connection, due at due ns after the window's start, took v ns from then to a step of its opening, id,
// of which the generator was own ns late to begin. It is safe for concurrent use, does not block and does not allocate.
func (r *Recorder) Opening(id ID, v, own, due int64) { r.shards[0].Response(id, v, own, -1, due) }

// Enabled reports whether id is recorded.
func (r *Recorder) Enabled(id ID) bool { return r.seen[id] != nil }

// Snapshot takes what all shards have recorded; Encode then encodes it.
func (r *Recorder) Snapshot() {
	// A writer records the blocked lag before the own lag, and this takes the own
	// lags first: of a message recorded meanwhile only the blocked lag is seen, so
	// the number of derived zeros may be too low for an interval, never too high.
	var lags int64
	derived := r.Enabled(LagOwn) && r.Enabled(LagBlocked)
	if derived {
		r.take(LagOwn)
		lags = r.seen[LagOwn].sum
	}
	for _, id := range r.ids {
		if id != LagOwn || !derived {
			r.breathe()
			r.take(id)
		}
		if id == LagBlocked {
			r.seen[id].deriveZeros(lags)
		}
	}
}

// Behind reports whether values were recorded since the last Snapshot, or during it.
func (r *Recorder) Behind() bool {
	for _, s := range r.shards {
		for _, h := range s.hists {
			if h == nil {
				continue
			}
			for i := range h.counts {
				if atomic.LoadInt64(&h.counts[i]) != 0 {
					return true
				}
			}
		}
	}
	return false
}

// take moves what was recorded of a metric since the last take from the shards to seen.
func (r *Recorder) take(id ID) {
	k := r.seen[id]
	if k.total > 0 {
		for i := range k.nonzero() {
			k.delta[i] = 0
		}
		clear(k.in)
		// An extreme may be seen before the count it belongs to: it is kept until
		// an interval has a count.
		k.min, k.max = noMin, noMax
	}
	k.total, k.last = 0, -1
	for _, s := range r.shards {
		h := s.hists[id]
		if h == nil {
			continue // a sampled metric is in the first shard only
		}
		for first := range h.touched.take() {
			k.in.add(first)
			for i := first; i < min(first+block, len(h.counts)); i++ {
				if atomic.LoadInt64(&h.counts[i]) == 0 {
					continue
				}
				n := atomic.SwapInt64(&h.counts[i], 0)
				k.delta[i] += n
				k.counts[i] += n
				k.total += n
				k.last = max(k.last, i)
			}
		}
		k.min, k.max = min(k.min, h.min.Swap(noMin)), max(k.max, h.max.Swap(noMax))
	}
	k.sum += k.total
	if id.Metric().IsResponse() {
		r.takeBands(id)
	}
}

// takeBands takes the lags of the bands that have values.
func (r *Recorder) takeBands(id ID) {
	k := r.seen[id]
	k.bands = k.bands[:0]
	for i, n := range k.nonzero() {
		b := histograms.BandOf(r.geo.Floor(i))
		last := len(k.bands) - 1
		if last < 0 || k.bands[last].Band != b {
			k.bands = append(k.bands, result.OwnBand{Band: b})
			last++
		}
		k.bands[last].Count += n
		k.bands[last].Total += n * r.geo.middle(i)
	}
	for i := range k.bands {
		b := &k.bands[i]
		for _, s := range r.shards {
			h := s.hists[id]
			if h == nil {
				continue
			}
			b.Own += takeCount(&h.own[b.Band])
			b.Received += takeCount(&h.received[b.Band])
			b.Majority += takeCount(&h.majority[b.Band])
			// A message is unknown before it is counted, so meanwhile there may be more of these
			// than were counted: they are left for the next interval.
			b.Unknown += takeAtMost(&h.unknown[b.Band], b.Count-b.Unknown)
		}
	}
}

// takeAtMost takes a count out, up to most, and leaves the rest.
func takeAtMost(n *int64, most int64) int64 {
	taken := min(atomic.LoadInt64(n), most)
	if taken > 0 {
		atomic.AddInt64(n, -taken)
	}
	return taken
}

// takeCount takes a count out; most are zero and need no exchange.
func takeCount(n *int64) int64 {
	if atomic.LoadInt64(n) == 0 {
		return 0
	}
	return atomic.SwapInt64(n, 0)
}

// nonzero returns the buckets of delta that have values, ascending.
func (k *collected) nonzero() iter.Seq2[int, int64] {
	return func(yield func(int, int64) bool) {
		end := k.last + 1
		for i := k.in.next(0, end); i < end; i = k.in.next(i+1, end) {
			if n := k.delta[i]; n != 0 && !yield(i, n) {
				return
			}
		}
	}
}

// deriveZeros adds the zeros that Shard.Lag left out, given the number of own lags.
func (k *collected) deriveZeros(lags int64) {
	if more := lags - k.sum; more > 0 {
		k.counts[0] += more
		k.delta[0] += more
		k.in.add(0)
		k.total += more
		k.sum += more
		k.last = max(k.last, 0)
		k.min, k.max = min(k.min, 0), max(k.max, 0)
	}
}

// Encode returns what the last Snapshot added, by metric without empty ones, and the
// values clamped since the last Encode. The next call reuses the memory of the result,
// the text of Hist included: an interval leaves no garbage.
func (r *Recorder) Encode() (map[result.Metric]*result.MetricInterval, result.Counters, error) {
	if r.encoded == nil {
		r.encoded = map[result.Metric]*result.MetricInterval{}
	}
	clear(r.encoded)
	for _, id := range r.ids {
		k := r.seen[id]
		if k.total == 0 {
			continue
		}
		r.breathe()
		m := &k.encoded
		// A count is added before its extreme: between the two a snapshot sees
		// a bucket without its extreme. The bucket's edges then stand in.
		first := k.last
		for first = range k.nonzero() {
			break
		}
		*m = result.MetricInterval{Min: min(k.min, r.geo.Ceiling(first)), Max: max(k.max, r.geo.Floor(k.last)), Slots: m.Slots[:0],
			Own: k.bands}
		var err error
		if k.hist, err = encode(&r.enc, k.hist[:0], &r.geo, k.delta[:k.last+1], k.in); err != nil {
			return nil, result.Counters{}, fmt.Errorf("recorder: %s: %w", id.Metric(), err)
		}
		m.Hist = unsafe.String(unsafe.SliceData(k.hist), len(k.hist)) // no copy: valid until the next Encode
		for first := range r.raised[id].take() {
			for i := first; i < min(first+block, r.windowSlots); i++ {
				if v := r.slots[id][i].Load(); v != k.slots[i] {
					k.slots[i] = v
					m.Slots = append(m.Slots, [2]int64{int64(i), v})
				}
			}
		}
		r.encoded[id.Metric()] = m
	}
	var c result.Counters
	for _, s := range r.shards {
		c.Negative += s.negative.Load()
		c.OutOfRange += s.outOfRange.Load()
	}
	c.Negative, r.negative = c.Negative-r.negative, c.Negative
	c.OutOfRange, r.outRange = c.OutOfRange-r.outRange, c.OutOfRange
	return r.encoded, c, nil
}

// Last returns how many values of id the last Snapshot added, and the quantiles (0 to 1) by
// nearest rank of these and of the refused messages above them, each as its bucket's upper
// edge in ns, or result.Refused if a refused message has the rank.
func (r *Recorder) Last(id ID, refused int64, quantiles ...float64) (n int64, at []int64) {
	k := r.seen[id]
	for _, q := range quantiles {
		rank := max(1, int64(math.Ceil(q*float64(k.total+refused))))
		if rank > k.total {
			at = append(at, result.Refused)
			continue
		}
		for i, c := range k.nonzero() {
			if rank -= c; rank <= 0 {
				at = append(at, r.geo.Ceiling(i))
				break
			}
		}
	}
	return k.total, at
}

// Values returns the values of id that the last Snapshot added, in ns, ascending:
// each as the middle of its bucket, but the least and the largest as they were. It is
// for metrics with few values.
func (r *Recorder) Values(id ID) []int64 {
	k := r.seen[id]
	if k == nil || k.total == 0 {
		return nil
	}
	values := make([]int64, 0, k.total)
	for i, n := range k.nonzero() {
		for range n {
			values = append(values, r.geo.middle(i))
		}
	}
	last := len(values) - 1
	values[last] = max(min(k.max, r.geo.Ceiling(k.last)), r.geo.Floor(k.last))
	first := r.geo.Index(values[0])
	values[0] = max(min(k.min, r.geo.Ceiling(first)), r.geo.Floor(first))
	return values
}

// Added visits the buckets of the values that the last Snapshot added, metric by
// metric, ascending: their edges, both inclusive, and how many values.
func (r *Recorder) Added(visit func(m result.Metric, low, high, count int64)) {
	for _, id := range r.ids {
		m := id.Metric()
		for i, n := range r.seen[id].nonzero() {
			visit(m, r.geo.Floor(i), r.geo.Ceiling(i), n)
		}
	}
}

// LastBuckets calls visit with the edges, both inclusive, and the count of each bucket of id in which the
// last Snapshot added values, in ascending order.
func (r *Recorder) LastBuckets(id ID, visit func(low, high, n int64)) {
	for i, n := range r.seen[id].delta {
		if n != 0 {
			visit(r.geo.Floor(i), r.geo.Ceiling(i), n)
		}
	}
}

// Layout returns the least and the largest value and the significant digits of the histograms that
// Encode writes.
func (r *Recorder) Layout() (lowest, highest int64, digits int) {
	return 1, r.geo.highest, r.geo.digits
}

// LagAtMost returns the largest lag, in ns, of the messages due in the same slot as due, in
// ns after the window's start. For a due outside the window it is the largest of all slots.
func (r *Recorder) LagAtMost(due int64) int64 {
	if i := due / int64(Slot); due >= 0 && i < int64(r.windowSlots) {
		return r.lags[i].Load()
	}
	most := int64(0)
	for i := range r.lags {
		most = max(most, r.lags[i].Load())
	}
	return most
}

// Moments returns the number, the mean and the standard deviation in ns of all
// values of id up to the last Snapshot, each taken as the middle of its bucket.
func (r *Recorder) Moments(id ID) (n int64, mean, deviation float64) {
	k := r.seen[id]
	if k == nil {
		return 0, 0, 0
	}
	for i, c := range k.counts {
		n += c
		mean += float64(c) * float64(r.geo.middle(i))
	}
	if n == 0 {
		return 0, 0, 0
	}
	mean /= float64(n)
	for i, c := range k.counts {
		d := float64(r.geo.middle(i)) - mean
		deviation += float64(c) * d * d
	}
	return n, mean, math.Sqrt(deviation / float64(n))
}

// Clamped returns how many values up to the last Encode were below zero or out of range;
// the histograms have the nearest possible value instead.
func (r *Recorder) Clamped() int64 { return r.negative + r.outRange }
