//go:build linux

package main

import (
	"slices"
	"time"

	"sixnines/benchmarks/exact"
)

// figures is what a trial says, in the shape of `sixnines run --json`.
type figures struct {
	Tool       string                     `json:"tool"`
	Counters   counters                   `json:"counters"`
	Rate       rates                      `json:"rate"`
	Histograms map[string]exact.Histogram `json:"histograms"`
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
		Histograms: map[string]exact.Histogram{
			"delivery.response": exact.Summarise(response),
			"delivery.service":  exact.Summarise(service),
			"lag.own":           exact.Summarise(lag),
		},
	}
}
