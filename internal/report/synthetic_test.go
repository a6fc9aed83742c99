package report

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strconv"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"sixnines/internal/histograms"
	"sixnines/result"
)

// synthetic describes a run to make up: deliveries with a lognormal service
// time, and perhaps a stall of the broker.
type synthetic struct {
	name     string
	mode     string
	rate     int
	seconds  int
	median   float64       // ns
	stallAt  time.Duration // 0: none
	stallFor time.Duration
	lost     int64 // acknowledged, never delivered
	acked    bool
	seed     uint64
}

// openRun is the usual one: 20,000/s for 10 s at 80 µs.
func openRun() synthetic {
	return synthetic{name: "nats-20k", mode: result.ModeOpen, rate: 20_000, seconds: 10, median: 80e3, seed: 1}
}

// stalledRun is openRun with a broker that stands still for 0.8 s.
func stalledRun() synthetic {
	s := openRun()
	s.name, s.stallAt, s.stallFor = "nats-20k-stall", 4200*time.Millisecond, 800*time.Millisecond
	return s
}

// closedRun is the same stall as a closed loop sees it: one message waits.
func closedRun() synthetic {
	s := stalledRun()
	s.name, s.mode, s.seed = "nats-closed", result.ModeClosed, 3
	return s
}

// make builds the run as a reader would.
func (s synthetic) make() *result.Run {
	rng := rand.New(rand.NewPCG(s.seed, 2))
	n := s.rate * s.seconds
	window := time.Duration(s.seconds) * time.Second
	gap := int64(window) / int64(n)
	metrics := []result.Metric{result.DeliveryResponse, result.DeliveryService, result.LagOwn, result.LagBlocked}
	if s.mode == result.ModeClosed {
		metrics = []result.Metric{result.DeliveryResponse, result.DeliveryService}
	}
	if s.acked {
		metrics = append(metrics, result.PublishResponse, result.PublishService)
	}
	run := &result.Run{
		Path: "results/" + s.name + ".sixnines", Metrics: map[result.Metric]*result.Merged{},
		Header: result.Header{
			Type: "header", Format: result.Format, Version: result.Version,
			ID: "00f1d2c3b4a59687", Name: s.name, Started: time.Date(2026, 11, 20, 14, 2, 11, 0, time.UTC),
			Tool:     result.Tool{Name: "sixnines", Version: "0.1.0", Go: "go1.26.0"},
			Scenario: json.RawMessage(`{"name":` + strconv.Quote(s.name) + `,"target":{"driver":"nats"},"workload":{"pattern":"deliver","rate":"20000/s","size":"1KiB"},"phases":{"duration":"10s"}}`),
			Mode:     s.mode, Pattern: "deliver", Driver: "nats",
			Broker:  map[string]string{"product": "nats-server", "version": "2.15.2"},
			Managed: "started by sixnines", Ack: "none", SameHost: true,
			Semantics: result.Semantics{Durability: "none: messages live in memory only", Replication: "one copy",
				Acknowledgment: "none", Ordering: "per connection and subject", Delivery: "at most once",
				Batching: "none: each message is written by the caller", Consumption: "push", Transport: "TCP, plain",
				Settings: map[string]string{"write_buffer": "1", "pending_limits": "unlimited"}},
			Clock: result.Clock{Source: "CLOCK_MONOTONIC", Domain: "boot 1", Bracket: 120, ReadNs: 26.4},
			Machine: []result.Fact{{Section: "processor", Name: "model", Value: "Example CPU @ 2.40GHz"},
				{Section: "processor", Name: "cores", Value: "2"},
				{Section: "kernel", Name: "release", Value: "6.1.0"},
				{Section: "kernel", Name: "clock source", Value: "kvm-clock", Note: "not the TSC: reads may be slower"}},
			SetupTimes: []result.SetupTime{{Name: "connect", Duration: 812 * time.Microsecond}, {Name: "first message", Duration: 341 * time.Microsecond}},
			Rate:       float64(s.rate), Size: 1024, Window: window, Interval: time.Second, Slot: 100 * time.Millisecond,
		},
	}
	if s.mode != result.ModeOpen {
		run.Header.Rate = 0
	}
	perInterval := make([]map[result.Metric]*hdr.Histogram, s.seconds)
	for _, m := range metrics {
		run.Metrics[m] = &result.Merged{Hist: result.NewHistogram(1, int64(time.Minute), 3), Min: math.MaxInt64}
	}
	for i := range perInterval {
		perInterval[i] = map[result.Metric]*hdr.Histogram{}
		for _, m := range metrics {
			perInterval[i][m] = hdr.New(1, int64(time.Minute), 3)
		}
	}
	record := func(at int64, m result.Metric, v int64) {
		merged := run.Metrics[m]
		if merged == nil {
			return
		}
		v = max(v, 1)
		_ = merged.Hist.Record(v, 1)
		_ = perInterval[min(int(at/int64(time.Second)), s.seconds-1)][m].RecordValue(v)
		merged.Min, merged.Max = min(merged.Min, v), max(merged.Max, v)
	}
	stallEnd := int64(s.stallAt + s.stallFor)
	for i := range n {
		due := int64(i) * gap
		own := int64(18e3 * math.Exp(0.35*rng.NormFloat64()))
		service := int64(s.median * math.Exp(0.45*rng.NormFloat64()))
		if rng.Float64() < 0.002 {
			service += int64(rng.ExpFloat64() * 900e3)
		}
		var blocked int64
		if s.stallFor > 0 && due >= int64(s.stallAt) && due < stallEnd {
			if s.mode == result.ModeClosed {
				if due >= int64(s.stallAt)+gap {
					continue // the loop waits for its one message
				}
				service += stallEnd - due
			} else {
				blocked = max(0, stallEnd-due-int64(300*time.Millisecond))
				service += stallEnd - due - blocked
			}
		}
		response := own + blocked + service
		if s.mode == result.ModeClosed {
			response = service
		}
		record(due+response, result.DeliveryResponse, response)
		record(due+response, result.DeliveryService, service)
		record(due, result.LagOwn, own)
		record(due, result.LagBlocked, blocked)
		record(due+response, result.PublishResponse, own+blocked+service*6/10)
		record(due+response, result.PublishService, service*6/10)
	}
	sent := run.Metrics[result.DeliveryResponse].Hist.Count()
	for i, hists := range perInterval {
		pt := result.Point{Phase: result.PhaseMeasure, Start: int64(i) * int64(time.Second), End: int64(i+1) * int64(time.Second),
			InFlight: int64(2 + i%3), Metrics: map[result.Metric]result.PointMetric{},
			Vitals: map[result.Vital]float64{"process.cpu": 0.31 + 0.01*float64(i%4), "go.gc.cycles": 0, "hiccup.thread.p99": 11e3 + 1e3*float64(i)}}
		if s.stallFor > 0 && i == int(s.stallAt/time.Second) {
			pt.InFlight, pt.Backlog = 6000, 9500
		}
		for m, h := range hists {
			x := histograms.NewRankIndex(h)
			pt.Metrics[m] = result.PointMetric{Count: x.Count(), Min: x.Min(), P50: x.Percentile(50), P90: x.Percentile(90),
				P99: x.Percentile(99), P999: x.Percentile(99.9), Max: x.Max()}
		}
		got := hists[result.DeliveryResponse].TotalCount()
		pt.Counters = result.Counters{Scheduled: int64(s.rate), Sent: got, Unknown: got, Expected: got, Received: got, BytesSent: got * 1024, BytesRecv: got * 1024}
		run.Series = append(run.Series, pt)
	}
	c := result.Counters{Scheduled: sent, Sent: sent, Unknown: sent, Expected: sent, Received: sent, BytesSent: sent * 1024, BytesRecv: sent * 1024}
	if s.acked {
		c.Acked, c.Unknown = sent, 0
		run.Header.Ack = "broker"
	}
	c.Received -= s.lost
	c.Missing, c.LostAcked, c.Censored = s.lost, s.lost, s.lost
	if s.lost > 0 && !s.acked {
		c.LostAcked, c.MissingUnknown = 0, s.lost
	}
	run.Counters = c
	run.Summary = &result.Summary{Type: "summary", Counters: c, End: int64(window), Resolved: int64(window + time.Millisecond),
		Rate:       result.Rate{Asked: run.Header.Rate, Sent: float64(sent) / window.Seconds(), WorstSecond: 0.9987},
		Histograms: map[result.Metric]*result.Distribution{}, Verdict: result.Verdict{Status: result.Valid}}
	for _, m := range metrics {
		run.Summary.Histograms[m] = distribution(m, run.Metrics[m], s)
	}
	if s.stallFor > 0 {
		run.Events = []result.Event{{Type: "event", At: int64(s.stallAt), Kind: "stall", Detail: "broker stopped"},
			{Type: "event", At: stallEnd, Kind: "recovered", Detail: "broker continued"}}
		run.Pauses = []result.Pause{{Start: int64(7 * time.Second), End: int64(7*time.Second + 40*time.Millisecond), Source: "gc"}}
	}
	if s.mode == result.ModeOpen {
		run.Summary.Verdict = result.Verdict{Status: result.Suspect, Reasons: []result.Reason{
			{Status: result.Valid, Code: "same-host", Text: "broker and generator share two processors"},
			{Status: result.Suspect, Code: "own-lag", Metric: result.DeliveryResponse, Percentile: "50",
				Text: "27 % of delivery.response p50 is the generator's own lag; let the pacers spin longer or give them a processor of their own"}}}
	}
	return run
}

// distribution makes up what a judge would say; the rules are simpler, the
// shape is the same.
func distribution(m result.Metric, merged *result.Merged, s synthetic) *result.Distribution {
	x := histograms.RanksOf(merged.Hist)
	d := &result.Distribution{Count: x.Count(), Samples: x.Count(), Censored: s.lost, Min: merged.Min, Max: merged.Max,
		Mean: math.Round(x.Mean()), StdDev: math.Round(x.StdDev()), Figures: map[result.Percentile]result.Figure{}}
	n := float64(x.Count())
	for _, p := range result.Percentiles() {
		q, _ := strconv.ParseFloat(string(p), 64)
		tail := (100 - q) / 100
		if needs := math.Ceil(math.Log(0.025) / math.Log1p(-tail)); n < needs {
			d.Figures[p] = result.Figure{Needs: int64(needs)}
			continue
		}
		sd := math.Sqrt(n * tail * (1 - tail))
		lo, _ := x.ValueAtRank(int64(n*(1-tail) - 2*sd))
		_, hi := x.ValueAtRank(int64(n*(1-tail) + 2*sd))
		f := result.Figure{Value: x.Percentile(q), Interval: &result.Bounds{Low: lo, High: hi}, Few: n*tail < 100, AtLeast: float64(s.lost) > n*tail}
		if q >= 99 && m.IsResponse() {
			f.Episodes = 37
			if s.stallFor > 0 {
				f.Episodes = 1
			}
		}
		if m.IsResponse() && s.mode == result.ModeOpen {
			f.OwnShare = new(0.27 / (1 + float64(len(p)-2)))
		}
		d.Figures[p] = f
	}
	return d
}
