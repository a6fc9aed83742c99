package recorder

import (
	"math"
	"sync/atomic"

	"sixnines/internal/histograms"
	"sixnines/result"
)

// ID is the number of a metric: writers index arrays by it.
type ID uint8

// The metrics, in the order of names.
const (
	LagOwn ID = iota
	LagBlocked
	PublishResponse
	PublishService
	DeliveryResponse
	DeliveryService
	DeliveryLast
	RoundTripResponse
	RoundTripService
	StageClient
	StageBroker
	StageReceive
	StageCallback
	ProbeService
	LagReceive
	LagReceiveAck
	ConnectionConnect
	ConnectionLogin
	ConnectionSubscribe
	ids
)

// Metric returns the name of an ID.
func (id ID) Metric() result.Metric {
	return [ids]result.Metric{result.LagOwn, result.LagBlocked, result.PublishResponse, result.PublishService,
		result.DeliveryResponse, result.DeliveryService, result.DeliveryLast, result.RoundTripResponse,
		result.RoundTripService, result.StageClient, result.StageBroker, result.StageReceive, result.StageCallback,
		result.ProbeService, result.LagReceive, result.LagReceiveAck,
		result.ConnectionConnect, result.ConnectionLogin, result.ConnectionSubscribe}[id]
}

// sampled reports whether id has so few values, those of sampled messages, of a
// probe or of connections that are opened, that one shard is enough for all writers.
func (id ID) sampled() bool {
	return id >= StageClient && id <= ProbeService || id >= ConnectionConnect
}

// histogram holds what was recorded of one metric in one shard since the collector last
// took it. Any goroutine may add to any field; only the collector subtracts. There is no
// lock: add counts first, then marks the block, then raises the extremes, so a collector
// that takes between two steps sees the rest in the next interval.
type histogram struct {
	counts   []int64 // atomic; by bucket
	touched  marks   // of counts
	min, max atomic.Int64
	own      []int64 // atomic; Σ own lag by band, response metrics only
	received []int64 // atomic; Σ receive lag by band, likewise
	majority []int64 // atomic; messages whose own and receive lag are more than half of the value, by band
	unknown  []int64 // atomic; messages whose receive lag is not known, by band
}

// Shard is a part of the recorder for one or a few writing goroutines, so that
// processors do not contend for cache lines. Its methods are safe for
// concurrent use, do not block and do not allocate.
type Shard struct {
	r     *Recorder
	hists [ids]*histogram

	negative   atomic.Int64
	outOfRange atomic.Int64
	_          [64]byte
}

// Value records v ns under id, which must have been enabled. A negative value
// is counted and recorded as 0, one beyond the range counted and recorded as
// the largest.
func (s *Shard) Value(id ID, v int64) {
	v = s.clamp(v)
	s.hists[id].add(&s.r.geo, v)
}

// Lag records both parts of a message's lag, in ns; the message was due at due ns after the
// window's start. The blocked part is nearly always zero: zeros of LagBlocked are not
// recorded but derived as the number of own lags without a blocked one, which saves a tenth
// of the work for a message. Blocked must be recorded before own, see Recorder.Snapshot.
func (s *Shard) Lag(own, blocked, due int64) {
	if blocked > 0 {
		s.Value(LagBlocked, blocked)
	}
	s.Value(LagOwn, own)
	if i := due / int64(Slot); uint64(i) < uint64(len(s.r.lags)) && own+blocked > s.r.lags[i].Load() {
		raise(&s.r.lags[i], own+blocked)
	}
}

// Response records v ns under the response metric id, for a message due at due
// ns after the window's start. own ns of v were the generator's own lag before
// the message was sent, received ns the time that it waited on this machine
// before it was read (−1: unknown).
func (s *Shard) Response(id ID, v, own, received, due int64) {
	v = s.clamp(v)
	h := s.hists[id]
	if received < 0 {
		atomic.AddInt64(&h.unknown[histograms.BandOf(v)], 1) // first: what is counted and not unknown is known
	}
	h.add(&s.r.geo, v)
	if own > 0 || received > 0 {
		b := histograms.BandOf(v)
		if own > 0 {
			atomic.AddInt64(&h.own[b], own)
		} else {
			own = 0
		}
		if received > 0 {
			atomic.AddInt64(&h.received[b], received)
			own += received
		}
		if own*2 > v {
			atomic.AddInt64(&h.majority[b], 1)
		}
	}
	slots := s.r.slots[id]
	if i := due / int64(Slot); uint64(i) < uint64(len(slots)) && v > slots[i].Load() {
		raise(&slots[i], v)
		s.r.raised[id].set(int(i))
	}
}

func (s *Shard) clamp(v int64) int64 {
	if uint64(v) <= uint64(s.r.geo.highest) {
		return v
	}
	if v < 0 {
		s.negative.Add(1)
		return 0
	}
	s.outOfRange.Add(1)
	return s.r.geo.highest
}

func (h *histogram) add(g *geometry, v int64) {
	i := g.Index(v)
	atomic.AddInt64(&h.counts[i], 1)
	h.touched.set(i)
	if v > h.max.Load() {
		raise(&h.max, v)
	}
	if v < h.min.Load() {
		lower(&h.min, v)
	}
}

func raise(a *atomic.Int64, v int64) {
	for old := a.Load(); v > old && !a.CompareAndSwap(old, v); old = a.Load() {
	}
}

func lower(a *atomic.Int64, v int64) {
	for old := a.Load(); v < old && !a.CompareAndSwap(old, v); old = a.Load() {
	}
}

const (
	noMin = math.MaxInt64
	noMax = -1
)
