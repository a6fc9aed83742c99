package fleetrun

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"time"

	"sixnines/internal/engine"
	"sixnines/internal/fleet/coordinator"
	"sixnines/internal/histograms"
	"sixnines/result"
)

// progress adds what the agents recorded last, for whoever looks at the run. It decides nothing: the result is merged from
// the agents' files.
type progress struct {
	observe func(engine.Progress)
	agents  []agentProgress
	sharing int // of the agents, those that have a part in the load
	fresh   int // intervals since observe was called
	decoder histograms.Decoder
}

// agentProgress is what is known of one agent.
type agentProgress struct {
	rest  []byte // of a line that is not complete
	loads []loadProgress
}

// loadProgress is what is known of a workload of an agent.
type loadProgress struct {
	header   result.Header
	counters result.Counters // since the start of the window
	last     result.Interval // zero: it has none
}

func newProgress(members []coordinator.Member, observe func(engine.Progress)) *progress {
	p := &progress{observe: observe, agents: make([]agentProgress, len(members))}
	for _, m := range members {
		if !Beside(m.Segment) {
			p.sharing++
		}
	}
	return p
}

// The beginnings of the lines of headers and intervals.
const headerLine, intervalLine = `{"type":"header"`, `{"type":"interval"`

// add takes what an agent recorded.
func (p *progress) add(agent int, record []byte) {
	a := &p.agents[agent]
	a.rest = append(a.rest, record...)
	from := 0
	for {
		end := bytes.IndexByte(a.rest[from:], '\n')
		if end < 0 {
			break
		}
		if a.line(a.rest[from : from+end]) {
			p.fresh++
		}
		from += end + 1
	}
	a.rest = append(a.rest[:0], a.rest[from:]...)
	if loads := p.sharing * len(a.loads); p.fresh > 0 && p.fresh >= loads {
		p.fresh = 0
		p.observe(p.whole())
	}
}

// line takes a line of a result, and reports whether it is an interval.
func (a *agentProgress) line(line []byte) bool {
	switch {
	case bytes.HasPrefix(line, []byte(headerLine)):
		l := loadProgress{}
		if json.Unmarshal(line, &l.header) == nil {
			a.loads = append(a.loads, l)
		}
	case bytes.HasPrefix(line, []byte(intervalLine)):
		v := result.Interval{}
		if json.Unmarshal(line, &v) != nil || v.Phase == result.PhaseClosing {
			return false
		}
		i := slices.IndexFunc(a.loads, func(l loadProgress) bool { return l.header.Workload == v.Workload })
		if i < 0 {
			return false
		}
		a.loads[i].counters.Add(v.Counters)
		a.loads[i].last = v
		return true
	}
	return false
}

// whole is the progress of the run.
func (p *progress) whole() engine.Progress {
	var all []engine.Progress
	var elapsed, length time.Duration
	phase := result.PhaseDrain
	for i := range p.loads() {
		x, from, window := p.load(i)
		if x.Phase == result.PhaseMeasure {
			phase = result.PhaseMeasure
		}
		elapsed, length = max(elapsed, from+x.Elapsed), max(length, from+window)
		all = append(all, x)
	}
	if len(all) == 1 && all[0].Workload == "" {
		return all[0]
	}
	for i := range all {
		if from := p.from(i); elapsed < from {
			all[i].Begins = from - elapsed
		}
	}
	x := engine.Progress{Phase: phase, Elapsed: elapsed, Workloads: all}
	if phase == result.PhaseMeasure {
		x.Left = max(0, length-elapsed)
	}
	return x
}

// loads is how many workloads are known.
func (p *progress) loads() (n int) {
	for i := range p.agents {
		n = max(n, len(p.agents[i].loads))
	}
	return n
}

// from is when the window of a workload begins in that of the run.
func (p *progress) from(load int) (from time.Duration) {
	for i := range p.agents {
		if load < len(p.agents[i].loads) {
			from = p.agents[i].loads[load].header.From
		}
	}
	return from
}

// load is the progress of a workload.
func (p *progress) load(i int) (x engine.Progress, from, window time.Duration) {
	x.Phase = result.PhaseDrain
	var sum histograms.Sum
	refused := int64(0)
	for a := range p.agents {
		if i >= len(p.agents[a].loads) {
			continue
		}
		l := &p.agents[a].loads[i]
		h, v := &l.header, &l.last
		x.Workload, x.Background, from, window = h.Workload, h.Background, h.From, max(window, h.Window)
		x.Asked += h.Rate
		x.Counters.Add(l.counters)
		if v.End <= v.Start {
			x.Phase = result.PhaseMeasure
			continue
		}
		if v.Phase == result.PhaseMeasure {
			x.Phase = result.PhaseMeasure
		}
		x.Elapsed = max(x.Elapsed, time.Duration(v.End))
		x.InFlight, x.Backlog = x.InFlight+v.InFlight, x.Backlog+v.Backlog
		x.Sent += float64(v.Counters.Sent) / time.Duration(v.End-v.Start).Seconds()
		refused += v.Counters.Nacked + v.Counters.Rejected
		if x.Metric == "" {
			x.Metric = metricOf(v)
		}
		if m := v.Metrics[x.Metric]; m != nil && m.Hist != "" {
			if c, err := p.decoder.Decode(m.Hist); err == nil && sum.Add(c) == nil {
				x.Max = max(x.Max, time.Duration(m.Max))
			}
		}
	}
	if x.Phase == result.PhaseMeasure {
		x.Left = max(0, window-x.Elapsed)
	}
	if x.Count = sum.Count(); sum.Known() && x.Count+refused > 0 {
		ranks := sum.Ranks()
		x.P50, x.P99 = percentile(ranks, refused, 0.5), percentile(ranks, refused, 0.99)
	}
	return x, from, window
}

// metricOf is the latency that an interval is shown by: the first response time that it has, or service time.
func metricOf(v *result.Interval) result.Metric {
	for _, m := range []result.Metric{result.RoundTripResponse, result.DeliveryResponse, result.PublishResponse, result.DeliveryService, result.RoundTripService, result.PublishService} {
		if v.Metrics[m] != nil {
			return m
		}
	}
	return ""
}

// percentile is a percentile of latencies and of messages that were refused, which rank above them.
func percentile(x *histograms.RankIndex, refused int64, q float64) time.Duration {
	rank := max(1, int64(math.Ceil(q*float64(x.Count()+refused))))
	if rank > x.Count() {
		return result.Refused
	}
	_, high := x.ValueAtRank(rank)
	return time.Duration(high)
}
