package model

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"sixnines/scenario"
)

// due is when a message of a producer is due, ns from the window's start.
type due struct {
	at       int64
	producer int
}

// never is an instant after all others.
const never = math.MaxInt64

// schedule lists the messages due from the beginning of the warm-up to horizon, in order of
// their due times. A window that was ended early keeps what was due before its end; the load
// after the window then follows at once, unless the load stops with its window.
func schedule(w *scenario.Workload, seed uint64, warmup, window, end, horizon time.Duration) ([]due, error) {
	var all []due
	horizon += window - end
	f, err := flowOf(w, window)
	switch {
	case err != nil:
		return nil, err
	case w.Arrivals.Kind == scenario.Burst:
		all = burst(w, -int64(warmup), int64(horizon))
	case w.Arrivals.Kind == scenario.Poisson || w.Arrivals.Random:
		for p := range w.Producers {
			all = append(all, poisson(w, f.first, seed, p, beforeWindow, -int64(warmup), 0)...)
			all = append(all, f.random(w, seed, p)...)
			all = append(all, poisson(w, f.last, seed, p, afterWindow, int64(window), int64(horizon))...)
		}
	default:
		all = f.numbered(w.Producers, -int64(warmup), int64(horizon))
	}
	all = slices.DeleteFunc(all, func(d due) bool { return d.at >= int64(end) && d.at < int64(window) })
	for i := range all {
		if all[i].at >= int64(window) {
			all[i].at -= int64(window - end)
		}
	}
	slices.SortStableFunc(all, func(a, b due) int {
		if a.at != b.at {
			return int(a.at/2 - b.at/2 + (a.at%2 - b.at%2)) // no overflow
		}
		return a.producer - b.producer
	})
	return all, nil
}

// burst lists the messages of a burst schedule: a number of messages at once in each period.
func burst(w *scenario.Workload, from, to int64) []due {
	var all []due
	count, period := int64(w.Arrivals.Count), int64(w.Arrivals.Period)
	for k := -(-from / period); k*period < to; k++ {
		for i := range count {
			n := k*count + i
			all = append(all, due{k * period, int(((n % int64(w.Producers)) + int64(w.Producers)) % int64(w.Producers))})
		}
	}
	return all
}

// The parts of a schedule. Each is drawn from a random stream of its own.
const (
	beforeWindow = iota
	inWindow
	afterWindow
)

// poisson draws the arrivals of one producer in one part of the schedule, from from to to:
// gaps of −ln(U)·P/λ, U uniform on the multiples of 2⁻⁵³ above 0. The fraction of a
// nanosecond that rounding leaves is carried to the next gap.
func poisson(w *scenario.Workload, rate scenario.Rate, seed uint64, producer, part int, from, to int64) []due {
	unit := units(seed, producer, part)
	gap := float64(float64(w.Producers)*float64(rate.Per)) / float64(rate.Messages)
	var all []due
	at, rest := from, 0.0
	for {
		rest += unit() * gap
		whole := math.Floor(rest)
		rest -= whole
		if whole > 1<<62 || at+int64(whole) >= to {
			return all
		}
		at += int64(whole)
		all = append(all, due{at, producer})
	}
}

// units returns a generator of −ln(U), U uniform on the multiples of 2⁻⁵³ above 0, for a
// producer's part of the schedule.
func units(seed uint64, producer, part int) func() float64 {
	const golden = 0x9e3779b97f4a7c15
	high := finalise(seed + golden*(uint64(part)+1))
	source := rand.NewPCG(high, finalise(high+golden*(uint64(producer)+1)))
	return func() float64 { return -math.Log(float64(source.Uint64()>>11+1) / (1 << 53)) }
}

// finalise is the last step of SplitMix64.
func finalise(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
