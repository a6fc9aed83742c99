//go:build linux

package main

import (
	"math"
	"slices"
	"time"
)

// figures is what a trial says, in the shape of `sixnines run --json`.
type figures struct {
	Tool       string               `json:"tool"`
	Counters   counters             `json:"counters"`
	Rate       rates                `json:"rate"`
	Histograms map[string]histogram `json:"histograms"`
}

// counters counts the window's messages; what is missing or harmed is counted
// over the whole trial, warm-up included.
type counters struct {
	Scheduled  uint64 `json:"scheduled"`
	Sent       uint64 `json:"sent"`
	Received   uint64 `json:"received"`
	Missing    uint64 `json:"missing"`
	Corrupted  uint64 `json:"corrupted"`
	Duplicated uint64 `json:"duplicated"`
	Reordered  uint64 `json:"reordered"`
	Foreign    uint64 `json:"foreign"`
}

func (c counters) intact() bool {
	return c.Missing+c.Corrupted+c.Duplicated+c.Reordered+c.Foreign == 0
}

// rates are messages a second over the window; WorstSecond is the share of what
// was due that was sent in the worst whole second of it.
type rates struct {
	Asked       uint64  `json:"asked"`
	Sent        float64 `json:"sent"`
	WorstSecond float64 `json:"worst_second"`
}

// histogram summarises exact values in nanoseconds.
type histogram struct {
	Count       int              `json:"count"`
	Min         int64            `json:"min"`
	Max         int64            `json:"max"`
	Mean        float64          `json:"mean"`
	StdDev      float64          `json:"stddev"`
	Percentiles map[string]int64 `json:"percentiles"`
}

// summarise sorts values and describes them; percentiles are the nearest rank.
func summarise(values []int64) histogram {
	n := len(values)
	if n == 0 {
		return histogram{}
	}
	slices.Sort(values)
	var sum, squares float64
	for _, v := range values {
		sum += float64(v)
	}
	mean := sum / float64(n)
	for _, v := range values {
		squares += (float64(v) - mean) * (float64(v) - mean)
	}
	h := histogram{
		Count: n, Min: values[0], Max: values[n-1], Mean: mean,
		StdDev: math.Sqrt(squares / float64(n)), Percentiles: make(map[string]int64),
	}
	for label, perMyriad := range map[string]int{"50": 5000, "90": 9000, "99": 9900, "99.9": 9990, "99.99": 9999} {
		h.Percentiles[label] = values[nearestRank(n, perMyriad)-1]
	}
	return h
}

// nearestRank is ⌈n·p⌉ for p in ten-thousandths, in integers.
func nearestRank(n, perMyriad int) int { return (n*perMyriad + 9999) / 10000 }

// figures must not be called before the trial's subscription has ended.
func (t *trial) figures() figures {
	first, total := t.first(), t.total()
	var response, service, lag []int64
	perSecond := make([]uint64, t.duration/time.Second+1)
	windowStart := t.start + int64(t.warmup)
	var inWindow uint64
	for i := range total {
		if t.received[i] == 0 {
			continue
		}
		if at := t.sent[i] - windowStart; at >= 0 && at < int64(t.duration) {
			inWindow++
			perSecond[at/int64(time.Second)]++
		}
		if i < first {
			continue
		}
		response = append(response, t.received[i]-t.intended[i])
		service = append(service, t.received[i]-t.sent[i])
		lag = append(lag, t.sent[i]-t.intended[i])
	}
	var worst float64
	if whole := perSecond[:len(perSecond)-1]; len(whole) > 0 {
		worst = float64(slices.Min(whole)) / float64(t.rate)
	}
	c := counters{
		Scheduled: total - first, Received: uint64(len(response)), Missing: total - t.arrived.Load(),
		Corrupted: t.corrupted, Duplicated: t.duplicated, Reordered: t.reordered, Foreign: t.foreign,
	}
	if t.handed > first {
		c.Sent = t.handed - first
	}
	return figures{
		Tool:     "bareloop",
		Counters: c,
		Rate: rates{
			Asked: t.rate, Sent: float64(inWindow) / t.duration.Seconds(), WorstSecond: worst,
		},
		Histograms: map[string]histogram{
			"delivery.response": summarise(response),
			"delivery.service":  summarise(service),
			"lag.own":           summarise(lag),
		},
	}
}
