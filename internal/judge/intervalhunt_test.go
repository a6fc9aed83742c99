package judge

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"sixnines/internal/hunttest"
	"sixnines/result"
	"sixnines/scenario"
)

// stationaryLaw is a stationary source of messages whose latencies have a memory: put is called
// with the due time and the latency of each message, s.
type stationaryLaw struct {
	name string
	play func(r *rand.Rand, seconds float64, put func(due, latency float64))
}

// wandering is a level with a memory of the given number of seconds.
func wandering(memory float64) stationaryLaw {
	const rate = 1000
	return stationaryLaw{fmt.Sprintf("a level with a memory of %g s", memory), func(r *rand.Rand, seconds float64, put func(due, latency float64)) {
		level, a := r.NormFloat64(), math.Exp(-1/(rate*memory))
		for t := 0.0; t < seconds; t += 1.0 / rate {
			level = a*level + math.Sqrt(1-a*a)*r.NormFloat64()
			put(t, 1e-3*math.Exp(0.5*level+0.3*r.NormFloat64()))
		}
	}}
}

// queueing is M/M/1 with a mean service time of half a millisecond.
func queueing(use float64) stationaryLaw {
	const served = 2000
	return stationaryLaw{fmt.Sprintf("M/M/1 at %g", use), func(r *rand.Rand, seconds float64, put func(due, latency float64)) {
		sojourn := r.ExpFloat64() / (served * (1 - use))
		for t := r.ExpFloat64() / (served * use); t < seconds; {
			put(t, sojourn)
			gap := r.ExpFloat64() / (served * use)
			t += gap
			sojourn = max(sojourn-gap, 0) + r.ExpFloat64()/served
		}
	}}
}

// stalling pauses and works in turn, each for a given time on average.
func stalling(works, stalls float64) stationaryLaw {
	const rate = 1000
	return stationaryLaw{fmt.Sprintf("stalls of %g s after %g s", stalls, works), func(r *rand.Rand, seconds float64, put func(due, latency float64)) {
		next, end := r.ExpFloat64()*works, 0.0
		for t := -2.0; t < seconds; t += 1.0 / rate {
			for ; t+2 >= next; next = end + works*r.ExpFloat64() {
				end = next + stalls*r.ExpFloat64()
			}
			if t >= 0 {
				put(t, max(end-t-2, 0)+1e-4*(1+r.ExpFloat64()))
			}
		}
	}}
}

func stationaryLaws() []stationaryLaw {
	const rate = 400
	return []stationaryLaw{
		{"independent", func(r *rand.Rand, seconds float64, put func(due, latency float64)) {
			for t := 0.0; t < seconds; t += 1e-3 {
				put(t, 1e-3*r.ExpFloat64())
			}
		}},
		wandering(0.02), wandering(0.1), wandering(0.5),
		queueing(0.5), queueing(0.8), queueing(0.9), queueing(0.95),
		stalling(0.1, 0.004), stalling(0.3, 0.03),
		{"jitter without overtaking", func(r *rand.Rand, seconds float64, put func(due, latency float64)) {
			last := 0.0
			for t := -1.0; t < seconds; t += 1.0 / rate {
				if last = max(last, t+0.005+0.05*r.Float64()); t >= 0 {
					put(t, last-t)
				}
			}
		}},
	}
}

// run records messages as an engine does, in intervals of the default length, each where
// it came.
func (l stationaryLaw) run(t testing.TB, seed uint64, window time.Duration) *result.Run {
	length := scenario.IntervalFor(window)
	run := &result.Run{Metrics: map[result.Metric]*result.Merged{}, Header: result.Header{
		ID: "0123456789abcdef", Mode: result.ModeOpen, Rate: 1000, Window: window, Interval: length, Slot: slot}}
	intervals := make([]*interval, window/length)
	for i := range intervals {
		intervals[i] = newInterval(result.PhaseMeasure, int64(i)*int64(length), int64(i+1)*int64(length))
		intervals[i].shares[result.DeliveryResponse] = &share{hist: result.NewHistogram(1000, 1e10, 3), slots: map[int64]int64{}, own: map[int]*result.OwnBand{}}
	}
	l.play(rand.New(rand.NewPCG(seed, uint64(window))), window.Seconds(), func(due, latency float64) {
		i := intervals[min(int((due+latency)/length.Seconds()), len(intervals)-1)]
		i.share(result.DeliveryResponse).response(int64(latency*1e9), 0, int64(due*1e9))
		c := &i.v.Counters
		c.Scheduled, c.Sent, c.Unknown, c.Expected, c.Received = c.Scheduled+1, c.Sent+1, c.Unknown+1, c.Expected+1, c.Received+1
	})
	for _, i := range intervals {
		if err := run.Add(i.record(t)); err != nil {
			t.Error(err)
		}
	}
	return run
}

// Intervals of stationary laws with dependent messages, at several lengths of the run: 95 % of
// the objectives at the law's true percentile stay undecided, and 93 % of the printed intervals
// contain it. A run that is too short for the memory has no interval.
func TestIntervalsCover(t *testing.T) {
	seeds := hunttest.Cases(t, 4*44, 0) // four of each law and length
	percentiles, windows := []string{"50", "90", "99", "99.9"}, []time.Duration{time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second}
	laws := stationaryLaws()
	truths := make([]func() []float64, len(laws))
	for i, l := range laws {
		truths[i] = sync.OnceValue(func() []float64 {
			var all []float64
			l.play(rand.New(rand.NewPCG(1, 2)), 600, func(_, latency float64) { all = append(all, latency) })
			slices.Sort(all)
			var at []float64
			for _, p := range percentiles {
				at = append(at, all[int(percentOf(result.Percentile(p))/100*float64(len(all)))])
			}
			return at
		})
	}
	var (
		mu                       sync.Mutex
		asked, printed, hold     = map[string]int{}, map[string]int{}, map[string]int{}
		decided, decidedOf, each = map[string]int{}, map[string]int{}, map[string]int{}
	)
	const parts = 4
	t.Run("runs", func(t *testing.T) {
		for part := range parts {
			t.Run(strconv.Itoa(part), func(t *testing.T) {
				t.Parallel()
				for seed := part; seed < seeds; seed += parts {
					n := seed % len(laws)
					run := laws[n].run(t, uint64(seed), windows[seed/len(laws)%len(windows)])
					x := run.Metrics[result.DeliveryResponse]
					d := Distribution(result.DeliveryResponse, x, Samples(result.DeliveryResponse, x, run.Counters))
					end := int64(run.Header.Window)
					setBlocks(d, result.DeliveryResponse, run, Inputs{End: end})
					s := &result.Summary{End: end, Histograms: map[result.Metric]*result.Distribution{result.DeliveryResponse: d}, Verdict: result.Verdict{Status: result.Valid}}
					for i, p := range percentiles {
						truth := int64(truths[n]()[i] * 1e9)
						o, err := scenario.ParseObjective("delivery.response p" + p + " < " + time.Duration(truth).String())
						if err != nil {
							t.Fatal(err)
						}
						outcome := decideObjective(run, s, false, o).Outcome
						mu.Lock()
						asked[p]++
						each[laws[n].name]++
						if outcome != Undecided {
							decided[p]++
							decidedOf[laws[n].name]++
						}
						if at := d.Figures[result.Percentile(p)].Blocks; at != nil {
							printed[p]++
							if at.Low <= truth && truth <= at.High {
								hold[p]++
							}
						}
						mu.Unlock()
					}
				}
			})
		}
	})
	within := func(part float64, n int) float64 { return 3 * math.Sqrt(part*(1-part)/float64(n)) }
	for _, p := range percentiles {
		wrong, held := float64(decided[p])/float64(asked[p]), float64(hold[p])/float64(max(printed[p], 1))
		t.Logf("p%s: %.1f %% of %d decided; %.1f %% of %d intervals hold it", p, 100*wrong, asked[p], 100*held, printed[p])
		if wrong > 0.05+within(0.05, asked[p]) {
			t.Errorf("p%s: %d of %d objectives at the true percentile are decided", p, decided[p], asked[p])
		}
		if held < 0.93-within(0.07, max(printed[p], 1)) {
			t.Errorf("p%s: %d of %d intervals hold the true percentile", p, hold[p], printed[p])
		}
	}
	for _, l := range laws {
		if wrong := float64(decidedOf[l.name]) / float64(each[l.name]); wrong > 0.05+within(0.05, each[l.name]/len(percentiles)) {
			t.Errorf("%s: %d of %d objectives at the true percentile are decided", l.name, decidedOf[l.name], each[l.name])
		}
	}
	if printed["50"] < asked["50"]/2 || printed["99"] < asked["99"]/10 {
		t.Errorf("hardly any intervals: %v of %v", printed, asked)
	}
}
