package judge

import (
	"math/rand/v2"
	"testing"
	"time"

	"sixnines/internal/histograms"
	"sixnines/result"
)

const (
	seconds   = 10
	perSecond = 2000
	slot      = 100 * time.Millisecond
)

// msg is a message of a synthetic run; all in ns.
type msg struct {
	intended, own, blocked, service int64
	missing                         bool // never came; censored 5 s after it was due
	refused                         bool // by the broker
}

func (m msg) response() int64 { return m.own + m.blocked + m.service }

// healthyMessages are like those of a fast broker on a small machine: 70 µs at the median, with
// 20 µs of own lag; the tail is the broker's.
func healthyMessages() []msg {
	rng := rand.New(rand.NewPCG(7, 9))
	ms := make([]msg, seconds*perSecond)
	for i := range ms {
		ms[i] = msg{
			intended: int64(i) * int64(time.Second) / perSecond,
			own:      12_000 + rng.Int64N(8_000),
			service:  55_000 + int64(rng.ExpFloat64()*20_000),
		}
		if rng.IntN(50) == 0 {
			ms[i].service += int64(rng.ExpFloat64() * 200_000)
		}
	}
	return ms
}

func newHist() *result.Histogram { return result.NewHistogram(1, 30e9, 3) }

// share is a metric's part of an interval, being made.
type share struct {
	hist, censored *result.Histogram
	m              result.MetricInterval
	slots          map[int64]int64
	own            map[int]*result.OwnBand
}

func (s *share) add(v int64) {
	if s.hist.Count() == 0 {
		s.m.Min, s.m.Max = v, v
	}
	s.m.Min, s.m.Max = min(s.m.Min, v), max(s.m.Max, v)
	if err := s.hist.Record(v, 1); err != nil {
		panic(err)
	}
}

func (s *share) response(v, own, due int64) {
	s.add(v)
	s.slots[due/int64(slot)] = max(s.slots[due/int64(slot)], v)
	b := histograms.BandOf(v)
	if s.own[b] == nil {
		s.own[b] = &result.OwnBand{Band: b}
	}
	o := s.own[b]
	o.Count++
	o.Own += own
	o.Total += v
	if 2*own > v {
		o.Majority++
	}
}

// interval is an interval being made.
type interval struct {
	v      result.Interval
	shares map[result.Metric]*share
}

func newInterval(phase string, start, end int64) *interval {
	return &interval{
		v:      result.Interval{Type: "interval", Phase: phase, Start: start, End: end, Vitals: map[result.Vital]float64{}},
		shares: map[result.Metric]*share{},
	}
}

func (i *interval) share(m result.Metric) *share {
	s := i.shares[m]
	if s == nil {
		s = &share{hist: newHist(), slots: map[int64]int64{}, own: map[int]*result.OwnBand{}}
		i.shares[m] = s
	}
	return s
}

func (i *interval) record(t testing.TB) result.Record {
	t.Helper()
	i.v.Metrics = map[result.Metric]*result.MetricInterval{}
	for name, s := range i.shares {
		s.m.Slots, s.m.Own = nil, nil
		var err error
		if s.m.Hist, err = histograms.Encode(histograms.Of(s.hist)); err != nil {
			t.Fatal(err)
		}
		if s.censored != nil {
			if s.m.Censored, err = histograms.Encode(histograms.Of(s.censored)); err != nil {
				t.Fatal(err)
			}
		}
		for n, v := range s.slots {
			s.m.Slots = append(s.m.Slots, [2]int64{n, v})
		}
		for _, b := range s.own {
			s.m.Own = append(s.m.Own, *b)
		}
		i.v.Metrics[name] = &s.m
	}
	return result.Record{Interval: &i.v}
}

// testbed makes a run of messages as the engine would write it down; change may
// alter it before it is summed up.
type testbed struct {
	header    result.Header
	intervals []*interval // of the window, of the drain, and the closing one
	each      int64       // their length, ns
}

// verdictOf judges a run.
func verdictOf(run *result.Run, in Inputs) result.Verdict { return Summarise(run, in).Verdict }

func newTestbed(messages []msg) *testbed { return newTestbedOf(messages, time.Second) }

// newFineTestbed has intervals enough for stretches of the run to be told apart.
func newFineTestbed(messages []msg) *testbed { return newTestbedOf(messages, 100*time.Millisecond) }

func newTestbedOf(messages []msg, each time.Duration) *testbed {
	b := &testbed{each: int64(each), header: result.Header{
		ID: "0123456789abcdef", Mode: result.ModeOpen, Rate: perSecond, Window: seconds * time.Second, Interval: each, Slot: slot,
		Machine: []result.Fact{{Section: "program", Name: result.FactProcessors, Value: "2"}},
	}}
	for s := range (seconds + 3) * int64(time.Second) / b.each {
		phase := result.PhaseMeasure
		if s*b.each >= seconds*1e9 {
			phase = result.PhaseDrain
		}
		b.intervals = append(b.intervals, newInterval(phase, s*b.each, (s+1)*b.each))
	}
	closing := newInterval(result.PhaseClosing, (seconds+3)*1e9, (seconds+3)*1e9)
	b.intervals = append(b.intervals, closing)
	for _, m := range messages {
		b.at(m.intended).v.Counters.Scheduled++
		sent := m.intended + m.own + m.blocked
		at := b.at(sent)
		c := &at.v.Counters
		c.Sent++
		c.Unknown++
		at.share(result.LagOwn).add(m.own)
		at.share(result.LagBlocked).add(m.blocked)
		if m.missing {
			k := &closing.v.Counters
			k.Expected++
			k.Missing++
			k.MissingUnknown++
			k.Censored++
			s := closing.share(result.DeliveryResponse)
			if s.censored == nil {
				s.censored = newHist()
			}
			_ = s.censored.Record(5e9, 1)
			s.m.Unanswered = counted(s.m.Unanswered, m.intended/int64(slot))
			continue
		}
		if m.refused {
			k := &closing.v.Counters
			k.Expected++
			k.Missing++
			k.MissingNacked++
			c.Unknown--
			c.Nacked++
			s := closing.share(result.DeliveryResponse)
			s.m.Refused = counted(s.m.Refused, m.intended/int64(slot))
			continue
		}
		done := b.at(m.intended + m.response())
		done.v.Counters.Expected++
		done.v.Counters.Received++
		done.share(result.DeliveryResponse).response(m.response(), m.own, m.intended)
		done.share(result.DeliveryService).add(m.service)
	}
	return b
}

// counted adds one to the count of a slot, of slots that come in order.
func counted(all [][2]int64, slot int64) [][2]int64 {
	if n := len(all); n > 0 && all[n-1][0] == slot {
		all[n-1][1]++
		return all
	}
	return append(all, [2]int64{slot, 1})
}

// at is the interval of an instant; late ones fall into the last of the drain.
func (b *testbed) at(ns int64) *interval {
	return b.intervals[min(ns/b.each, int64(len(b.intervals)-2))]
}

func (b *testbed) run(t testing.TB) *result.Run {
	t.Helper()
	run := &result.Run{Metrics: map[result.Metric]*result.Merged{}}
	add := func(r result.Record) {
		if err := run.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	add(result.Record{Header: &b.header})
	for _, i := range b.intervals {
		add(i.record(t))
	}
	return run
}

// summed is the run with its summary.
func (b *testbed) summed(t testing.TB) *result.Run {
	run := b.run(t)
	run.Summary = Summarise(run, Inputs{})
	return run
}
