package account

import (
	"math"
	"math/rand/v2"
	"sync/atomic"

	"sixnines/internal/clock"
	"sixnines/internal/engine/flow"
	"sixnines/internal/engine/plan"
	"sixnines/internal/engine/window"
	"sixnines/internal/recorder"
	"sixnines/result"
)

// The closing record's vitals have what the sampler counted for Little's law. If a driver reads
// acknowledgements late on purpose, their messages count as in flight until they are read, while their
// stamps are those of their arrival: [result.VitalLittleReadLate] is the sum of these times.

const (
	// sampleRate is how often the sampler looks, a second, on average.
	sampleRate = 500
	// samplerLoads bounds the counters that it reads a second: each reading takes
	// the counter's cache line from the processor that adds to it.
	samplerLoads = 200_000
	// leastTolerance is the smallest tolerance of the check, as a share of the mean in flight.
	leastTolerance = 0.02
	// chanceErrors is how many standard errors are left to chance. A few of a thousand faultless
	// runs exceed three, and would be reported as defective; less than one in ten thousand
	// exceeds four.
	chanceErrors = 4
	// samplerReadings is how far a message's stamps and its counts may lie
	// apart for certain, in readings of the clock: what our own code does
	// between the two, twice over.
	samplerReadings = 8
	// lateLook is how late a look must be, in ns, to count as late: several times what a
	// machine that is not overloaded takes to wake a thread.
	lateLook = 200_000
)

// sampler counts what is in flight without looking at any message's stamps, on
// a thread of its own and at random instants. With the stamps it must agree:
// over a time that begins and ends with nothing in flight, the integral of the
// number in flight is the sum of all times in flight (Little's law for one
// path, without any assumption of a steady state; El-Taha and Stidham,
// "Sample-path analysis of queueing systems", 1999). A clock that is wrong on
// one side, a message that is stamped late or a counter that leaks breaks it.
//
// The instants are a Poisson process, seeded, that does not depend on the load:
// their average is that of time (Wolff 1982). A look for which the thread was
// woken late takes the value of that moment, at which many overdue messages may be
// sent: its difference from the look before adds to the tolerance.
//
// Fields up to rate are fixed before watch begins. From rng to span they are the watching thread's, and
// are read after done is closed.
type sampler struct {
	control        *plan.Control
	opened, closed []*atomic.Int64 // counters of messages that went into flight, and of what ended their time there; read only
	readLate       []*atomic.Int64 // ns, summed over acknowledgements: lane.ReadLate
	weight         float64         // what closed counts for each message of opened: deliveries a message
	metric         recorder.ID     // the service time whose stamps the samples are compared with
	acked          bool            // acknowledgements end the time in flight
	rate           float64         // looks a second
	rng            *rand.Rand
	blocks         blocks
	lateDifference float64 // Σ differences of the looks that came late from those before
	lateness       int64   // ns by which the thread was woken late, summed over wakes; lateLook each at most
	wakes          int64
	span           int64   // ns from the window's start to the last look
	left           float64 // what was in flight when the watch ended
	stop           atomic.Bool
	done           chan struct{} // closed when watch has ended
}

// NewSampler returns the load's sampler, nil where there is nothing to
// sample: unpaced producers wait for a credit and not for the
// schedule, publishing without acknowledgements nothing ends, and where the
// topics differ in fan-out a message has no single weight.
func (a *Accounts) NewSampler() *sampler {
	w := &sampler{control: a.Control, weight: 1, done: make(chan struct{}), rng: rand.New(rand.NewPCG(a.Seed, 0x6c6974746c65))}
	for _, st := range a.Sending.Streams {
		w.opened = append(w.opened, &st.Sent)
	}
	switch a.Flow.Sampled {
	case flow.Never:
		return nil
	case flow.OnAck:
		w.metric, w.acked = a.Flow.AckService, true
		for _, l := range a.Sending.Lanes {
			w.closed, w.readLate = append(w.closed, &l.Acked), append(w.readLate, &l.ReadLate)
		}
	case flow.OnDelivery:
		w.metric = a.Flow.Service
		fanOut := a.Sending.Streams[0].Plan.FanOut
		for _, st := range a.Sending.Streams {
			if st.Plan.FanOut != fanOut {
				return nil
			}
		}
		w.weight = float64(fanOut)
		for _, c := range a.Receiving.Consumers {
			if a.Flow.Closed {
				w.closed = append(w.closed, &c.Arrived)
			} else {
				w.closed = append(w.closed, &c.Received)
			}
		}
	}
	w.rate = min(sampleRate, max(1, samplerLoads/float64(2*(len(w.opened)+len(w.closed)))))
	// At first a block has 16 looks on average, later more.
	w.blocks.width = int64(16e9 / w.rate)
	return w
}

// watch looks from the start of the window, CLOCK_MONOTONIC, until finish, on a thread of its own.
func (w *sampler) watch(start int64) {
	defer close(w.done)
	w.control.TakeThread()
	next := start
	before := 0.0 // what the last look saw
	for !w.stop.Load() {
		now := clock.Now()
		if now < next {
			w.control.SleepHandingOver(min(next, now+window.Slice))
			continue
		}
		w.lateness, w.wakes = w.lateness+min(now-next, lateLook), w.wakes+1
		inFlight := w.look()
		for ; next <= now; next += int64(w.rng.ExpFloat64() * 1e9 / w.rate) {
			if now-next > lateLook {
				w.lateDifference += math.Abs(inFlight - before)
			}
			w.blocks.add(next-start, inFlight)
		}
		before = inFlight
	}
	w.span, w.left = clock.Now()-start, w.look()
}

// look returns the number in flight. The counters are read there and back, so
// that each is read at the same mean instant as all others: what is sent or
// ended meanwhile leaves no bias.
func (w *sampler) look() float64 {
	var opened, closed int64
	for _, c := range w.closed {
		closed += c.Load()
	}
	for _, o := range w.opened {
		opened += o.Load()
	}
	for i := len(w.opened) - 1; i >= 0; i-- {
		opened += w.opened[i].Load()
	}
	for i := len(w.closed) - 1; i >= 0; i-- {
		closed += w.closed[i].Load()
	}
	return (float64(opened)*w.weight - float64(closed)) / 2
}

// finish ends the watch and waits for it. What watch has written may be read then.
func (w *sampler) finish() {
	w.stop.Store(true)
	<-w.done
}

// outlived reports whether messages came to their regular end only after the watch: while the clients closed,
// for example, after a drain that did not wait for them. Their stamps hold times that no look saw.
func (w *sampler) outlived() bool { return w.left != 0 && w.look() == 0 }

// assess adds to the closing record's vitals what the sampler saw, if everything that
// was sent came to its regular end: a message that did not has no time in flight. It is called after
// finish.
func (w *sampler) assess(total *result.Counters, rec *recorder.Recorder, readNs float64, to map[result.Vital]float64) {
	if w.span <= 0 || total.Sent == 0 || total.Rejected+total.Missing+total.Nacked+total.Corrupted+total.Duplicated+
		rec.Clamped() > 0 {
		return
	}
	if w.acked && total.Unknown > 0 || w.outlived() {
		return
	}
	n, mean, deviation := rec.Moments(w.metric)
	if n == 0 || mean <= 0 {
		return
	}
	sampled, chance, looks := w.blocks.estimate(w.span)
	if looks == 0 {
		return
	}
	var late int64
	for _, l := range w.readLate {
		late += l.Load()
	}
	if late > 0 {
		to[result.VitalLittleReadLate] = float64(late)
		mean += float64(late) / float64(n)
	}
	to[result.VitalLittleSampled] = sampled
	to[result.VitalLittleSamples] = float64(looks)
	to[result.VitalLittleSpan] = float64(w.span)
	to[result.VitalLittleTolerance] = w.tolerance(sampled, chance, float64(n), mean, deviation, float64(looks), readNs)
}

// tolerance is by how much, as a share of the mean in flight, the looks and the
// stamps may differ without anything being wrong: 2 %, four standard
// errors, the time between the stamps and the counts of one message, or for how long a
// look itself stops what it looks at; and what late looks add.
//
// There are two standard errors, and the larger counts. The first is that of
// the looks within blocks of time: given the path, the instants alone are
// random, and what differs from block to block is no error. But a rare moment
// in which many messages were stuck may fall between all looks, and then they
// do not show how much chance there is. Its variance is ∫L²dt, over the looks a
// second. Where the messages that are under way together are those of one
// queue that is λ·v·… long, ∫L²dt = Σv + λΣ(v − mean)², which the stamps know:
// this is the second.
func (w *sampler) tolerance(sampled, chance, n, mean, deviation, looks, readNs float64) float64 {
	span := float64(w.span)
	inFlight := n * mean / span
	lambda := n / span
	rare := math.Sqrt((n*mean + lambda*n*deviation*deviation) / (looks / span)) // of the integral
	return max(leastTolerance, chanceErrors*chance/max(sampled, inFlight), chanceErrors*rare/(n*mean), samplerReadings*readNs/mean, w.disturbance()/mean) +
		w.lateDifference/looks/inFlight
}

// disturbance returns for how long, in ns, a look may have stopped what it looks at before it was
// made: as long as the thread takes to be woken, on average. The thread
// takes the processor of one of the two sides, and the other goes on: at
// 200,000 messages a second on two processors, 14 µs in flight each, the looks saw
// each of them 10 µs longer than it was.
func (w *sampler) disturbance() float64 { return float64(w.lateness) / float64(max(w.wakes, 1)) }

// blocks are sums of looks over equal stretches of time. Their number is fixed: when time runs beyond
// the last, each two neighbours become one.
type blocks struct {
	width   int64               // of a block, ns
	n       [blockCount]float64 // looks
	sum     [blockCount]float64
	squares [blockCount]float64
}

const (
	blockCount = 64
	// blockLeast is the number of looks below which a block joins the next.
	blockLeast = 8
)

// add counts value as seen at t, ns from the window's start.
func (b *blocks) add(t int64, value float64) {
	for t/b.width >= blockCount {
		b.fold()
	}
	i := t / b.width
	b.n[i]++
	b.sum[i] += value
	b.squares[i] += value * value
}

func (b *blocks) fold() {
	for _, column := range []*[blockCount]float64{&b.n, &b.sum, &b.squares} {
		for i := range blockCount / 2 {
			column[i] = column[2*i] + column[2*i+1]
		}
		clear(column[blockCount/2:])
	}
	b.width *= 2
}

// estimate returns the mean over [0, span), its standard error and the number
// of looks. It is the blocks' means weighted by their lengths: that one had
// more looks than another is chance and carries no weight.
func (b *blocks) estimate(span int64) (mean, deviation float64, looks int64) {
	type stratum struct{ length, n, sum, squares float64 }
	var strata []stratum
	var s stratum
	for i := range blockCount {
		from, to := int64(i)*b.width, min(int64(i+1)*b.width, span)
		if to <= from {
			break
		}
		looks += int64(b.n[i])
		s = stratum{s.length + float64(to-from), s.n + b.n[i], s.sum + b.sum[i], s.squares + b.squares[i]}
		if s.n >= blockLeast {
			strata = append(strata, s)
			s = stratum{}
		}
	}
	if s.length > 0 { // too few for a block of its own
		if len(strata) == 0 {
			strata = append(strata, s)
		} else {
			last := &strata[len(strata)-1]
			*last = stratum{last.length + s.length, last.n + s.n, last.sum + s.sum, last.squares + s.squares}
		}
	}
	if looks < 2 {
		return 0, 0, 0
	}
	var variance float64
	for _, s := range strata {
		weight, m := s.length/float64(span), s.sum/s.n
		mean += weight * m
		if s.n > 1 {
			variance += weight * weight * max(0, s.squares-s.n*m*m) / (s.n - 1) / s.n
		}
	}
	return mean, math.Sqrt(variance), looks
}

// StartSampler starts the sampler of a load, if it can have one. The window is fixed.
func (a *Accounts) StartSampler() {
	if a.Sampler != nil {
		go a.Sampler.watch(a.Start.Load())
	}
}

// Sampled ends the sampler's watch. It is called when what was measured is resolved, or no longer
// waited for.
func (a *Accounts) Sampled() {
	if a.Sampler != nil {
		a.Sampler.finish()
	}
}
