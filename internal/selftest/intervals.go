package selftest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"sixnines/internal/judge"
	"sixnines/internal/recorder"
	"sixnines/internal/report"
	"sixnines/internal/spell"
	"sixnines/internal/stats"
	"sixnines/result"
)

// mode is one log-normal part of a law of delays: its logarithm is normal.
type mode struct {
	share  float64 // of the messages
	median time.Duration
	sigma  float64 // of the logarithm
}

// virtualLaw is a mixture of log-normal delays, each independent of all others.
type virtualLaw struct {
	name     string
	modes    []mode // the first mode's share is the rest
	messages int    // of one seed
	short    int    // of one seed in the short form
}

// virtualLaws returns the laws of the trial: a smooth one, one with a step at p90 and
// one in which one message in 10⁵ takes 200 ms. For the last, p99.999 is printed, which
// needs 368,888 messages a seed.
func virtualLaws() []virtualLaw {
	return []virtualLaw{
		{"lognormal", []mode{{1, 500 * time.Microsecond, 0.8}}, 40_000, 8_000},
		{"bimodal", []mode{{0.9, 300 * time.Microsecond, 0.2}, {0.1, 20 * time.Millisecond, 0.3}}, 40_000, 8_000},
		{"one in 10⁵ of 200 ms", []mode{{1 - 1e-5, 400 * time.Microsecond, 0.4}, {1e-5, 200 * time.Millisecond, 0.05}}, 370_000, 40_000},
	}
}

// draw returns a delay in ns.
func (l *virtualLaw) draw(r *rand.Rand) int64 {
	m := &l.modes[0]
	if len(l.modes) > 1 {
		u := r.Float64()
		for i := 1; i < len(l.modes); i++ {
			if u < l.modes[i].share {
				m = &l.modes[i]
				break
			}
			u -= l.modes[i].share
		}
	}
	return int64(float64(m.median) * math.Exp(m.sigma*r.NormFloat64()))
}

// above returns the share of delays above v ns: Σ share·½·erfc(ln(v/median)/(σ√2)).
// The upper tail, since 1−p is what distinguishes the percentiles that matter.
func (l *virtualLaw) above(v float64) float64 {
	sum := 0.0
	for _, m := range l.modes {
		sum += m.share / 2 * math.Erfc(math.Log(v/float64(m.median))/(m.sigma*math.Sqrt2))
	}
	return sum
}

// quantile returns the delay in ns that the share p of messages does not
// exceed, by bisection of the logarithm to a relative 1e-12.
func (l *virtualLaw) quantile(p float64) float64 {
	lo, hi := 0.0, math.Log(float64(time.Hour))
	for hi-lo > 1e-12 {
		mid := (lo + hi) / 2
		if l.above(math.Exp(mid)) > 1-p {
			lo = mid
		} else {
			hi = mid
		}
	}
	return math.Exp(hi)
}

// hits counts, by percentile, the seeds for which the interval was printed, and those for
// which the true quantile was within it. Workers count concurrently; the map does not change.
type hits map[result.Percentile]*[2]atomic.Int64

func newHits() hits {
	h := hits{}
	for _, name := range result.Percentiles() {
		h[name] = new([2]atomic.Int64)
	}
	return h
}

// intervals passes known delays through the recorder, encoded intervals, the
// result's merging and the judge's summary, for many seeds, and counts how often
// the true quantile is within the printed interval. The seeds are fixed: the
// figures are the same everywhere, and change only with the code.
func intervals(ctx context.Context, b *Bench) (*Outcome, error) {
	seeds := 500
	if b.Short {
		seeds = 100
	}
	var figures []Figure
	var chart = report.Picture{Title: "Seeds whose interval contains the true quantile", Caption: fmt.Sprintf("Of %d; at least %d are required.", seeds, leastHits(seeds)),
		X: report.PictureAxis{Label: "percentile", Scale: report.PicturePercentile}, Y: report.PictureAxis{Label: "seeds", Scale: report.PictureCount}}
	for _, l := range virtualLaws() {
		n := l.messages
		if b.Short {
			n = l.short
		}
		b.Say("%s: %d seeds of %s messages", l.name, seeds, grouped(int64(n)))
		h, err := cover(ctx, &l, &l, seeds, n)
		if err != nil {
			return nil, err
		}
		line := report.PictureLine{Name: l.name}
		for _, name := range result.Percentiles() {
			printed, held := h[name][0].Load(), h[name][1].Load()
			if printed == 0 {
				continue
			}
			figures = append(figures, covered(l.name+" p"+string(name), held, printed, seeds))
			percent, _ := name.Number()
			line.X, line.Y = append(line.X, percent), append(line.Y, float64(held))
		}
		chart.Lines = append(chart.Lines, line)
	}
	o := Conclude("the intervals are 95 % intervals: with independent delays they must contain the true quantile at least that often, minus what chance allows for this number of seeds", figures...)
	o.Charts = []report.Picture{chart}
	return o, nil
}

// leastHits returns how many of n seeds must hit: 465 of 500, which is 93 %. Intervals
// of exactly 95 % fall below it with a probability of 2 % (2.05 standard errors); exact
// binomial intervals are wider than necessary.
func leastHits(seeds int) int {
	n := float64(seeds)
	return int(n * (0.95 - 2.05*math.Sqrt(0.95*0.05/n)))
}

// covered judges one percentile.
func covered(what string, held, printed int64, seeds int) Figure {
	f := Figure{What: what, Expected: fmt.Sprintf("at least %d of %d", leastHits(seeds), seeds), Found: fmt.Sprintf("%d of %d", held, printed), Verdict: Passed}
	if held < int64(leastHits(seeds)) || printed != int64(seeds) {
		f.Verdict = Failed
	}
	return f
}

// cover draws from one law and compares the intervals with the quantiles of claimed,
// the same law unless a test needs a failure.
func cover(ctx context.Context, drawn, claimed *virtualLaw, seeds, messages int) (hits, error) {
	h := newHits()
	truth := map[result.Percentile]float64{}
	for _, name := range result.Percentiles() {
		percent, _ := name.Number()
		truth[name] = claimed.quantile(stats.Fraction(percent))
	}
	var next atomic.Int64
	var working sync.WaitGroup
	errs := make([]error, max(1, runtime.GOMAXPROCS(0)))
	for w := range errs {
		working.Go(func() {
			for seed := next.Add(1); seed <= int64(seeds) && ctx.Err() == nil; seed = next.Add(1) {
				d, err := printed(drawn, uint64(seed), messages)
				if err != nil {
					errs[w] = err
					return
				}
				for name, f := range d.All() {
					if f.Interval == nil {
						continue
					}
					h[name][0].Add(1)
					// Values are whole ns, cut off below the point.
					if f.Interval.Low <= int64(truth[name]) && int64(truth[name]) <= f.Interval.High {
						h[name][1].Add(1)
					}
				}
			}
		})
	}
	working.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return h, context.Cause(ctx)
}

// printed returns the published distribution of delays drawn with a seed, on a
// virtual clock: messages are due at equal distances in a window of four seconds, and
// an interval is encoded once a second.
func printed(l *virtualLaw, seed uint64, messages int) (*result.Distribution, error) {
	const window, seconds = 4 * time.Second, 4
	rec, err := recorder.New(recorder.Config{Metrics: []recorder.ID{recorder.DeliveryResponse}, Shards: 2, Digits: 3, Highest: 10 * time.Second, Window: window})
	if err != nil {
		return nil, err
	}
	run := &result.Run{Metrics: map[result.Metric]*result.Merged{}, Header: result.Header{
		Mode: result.ModeOpen, Pattern: "deliver", Window: window, Interval: time.Second, Slot: recorder.Slot, Rate: float64(messages) / window.Seconds()}}
	r := rand.New(rand.NewPCG(seed, 0x515))
	for second := range seconds {
		from, to := messages*second/seconds, messages*(second+1)/seconds
		for i := from; i < to; i++ {
			due := int64(window) / int64(messages) * int64(i)
			rec.Shard(i).Response(recorder.DeliveryResponse, l.draw(r), 0, -1, due)
		}
		rec.Snapshot()
		metrics, counters, err := rec.Encode()
		if err != nil {
			return nil, err
		}
		n := int64(to - from)
		counters.Add(result.Counters{Scheduled: n, Sent: n, Unknown: n, Expected: n, Received: n})
		if err := run.Add(result.Record{Interval: &result.Interval{Phase: result.PhaseMeasure, Start: int64(second) * 1e9, End: int64(second+1) * 1e9,
			Metrics: metrics, Counters: counters}}); err != nil {
			return nil, err
		}
	}
	d := judge.Summarise(run, judge.Inputs{}).Histograms[result.DeliveryResponse]
	if d == nil || d.Count != int64(messages) {
		return nil, fmt.Errorf("%s were recorded, and the summary has %+v", spell.Plural(messages, "message"), d)
	}
	return d, nil
}
