package selftest

import (
	"math/rand/v2"
	"testing"
	"time"

	"sixnines/internal/nullbroker"
	"sixnines/result"
)

// sojourns returns the times in the system of a trial's queue with its seed, as the tool
// should report them.
func sojourns(t *testing.T, trial queueTrial, change func(stay int64) int64) *result.Run {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 1))
	table := nullbroker.NewTimetable(nullbroker.Config{Server: mustLaw(t, trial.law), Seed: 1})
	values := make([]int64, 300_000)
	at := 0.0
	for i := range values {
		at += rng.ExpFloat64() * float64(queueService) / trial.load
		stay := table.Due(&nullbroker.Entry{Sequence: uint64(i), Received: int64(at)}) - int64(at)
		values[i] = change(stay)
	}
	return timed(result.DeliveryResponse, values)
}

func TestQueuesNotice(t *testing.T) {
	const floor = 100 * time.Microsecond
	for _, trial := range queueTrials(false) {
		for name, tt := range map[string]struct {
			change func(stay int64) int64
			want   string
		}{
			"right":                   {func(stay int64) int64 { return stay + int64(floor) }, ""},
			"the floor three times":   {func(stay int64) int64 { return stay + 3*int64(floor) }, "p50"},
			"7 % too large":           {func(stay int64) int64 { return stay*107/100 + int64(floor) }, "p50"},
			"the tail cut off":        {func(stay int64) int64 { return min(stay, int64(2*queueService)) + int64(floor) }, "p99"},
			"as if nobody had waited": {func(int64) int64 { return int64(queueService + floor) }, "p99"},
		} {
			fails(t, trial.String()+": "+name, judgeQueue(sojourns(t, trial, tt.change), trial, floor), tt.want)
		}
	}
	run := sojourns(t, queueTrials(true)[0], func(stay int64) int64 { return stay })
	run.Counters.Reordered = 1
	fails(t, "overtaken", judgeQueue(run, queueTrials(true)[0], 0), "in order")
	run.Summary.Histograms = nil
	fails(t, "nothing timed", judgeQueue(run, queueTrials(true)[0], 0), "p50")
}

// Each trial has a seed, and it is not always the first that is tried.
func TestSeedsOfQueues(t *testing.T) {
	sum := uint64(0)
	for _, short := range []bool{false, true} {
		for _, trial := range queueTrials(short) {
			window := 4 * time.Second
			if short {
				window = 2 * time.Second
			}
			seed, err := new(Bench).queueSeed(trial, window)
			if err != nil {
				t.Errorf("%s: %v", trial, err)
			}
			t.Logf("%s, %v: seed %d", trial, window, seed)
			sum += seed
		}
	}
	if sum <= 6 {
		t.Error("seeds are not chosen")
	}
}
