package study

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"sixnines/result"
)

// stolen is a flat-out run of 10 s at a rate of which what is suspect took a share of the window.
func stolen(rate float64, shares ...float64) *result.Run {
	run := ms(1)
	s := run.Summary
	run.Header.Mode, s.End = result.ModeFlatOut, 10e9
	s.Throughput = &result.Throughput{PerSecond: rate, SentPerSecond: rate, ReceivedPerSecond: rate, Received: 1000, Elapsed: 10e9}
	s.Rate.Sent = rate
	for _, share := range shares {
		s.Verdict.Status = result.Suspect
		s.Verdict.Reasons = append(s.Verdict.Reasons, result.Reason{Status: result.Suspect, Code: result.ReasonSteal, Share: share})
	}
	return run
}

// A rate of which a disturbance took a known share of the window is bounded from both sides, counting as much again
// for the recovery. What is not known of one reason is known of none.
func TestRatesOfDisturbedRuns(t *testing.T) {
	backlog := func(run *result.Run) {
		run.Summary.Backlog = &result.Backlog{Filled: 2000, FillRate: 1000, Drained: 2000, DrainRate: 200}
	}
	open := func(run *result.Run) {
		run.Header.Mode, run.Header.Size, run.Summary.Throughput, run.Counters.Scheduled = result.ModeOpen, 10, nil, 10_010
	}
	paused := func(run *result.Run) {
		sent := result.Counters{Sent: 1}
		run.Series = []result.Point{{Phase: result.PhaseMeasure, End: 1e9, Counters: sent}, {Phase: result.PhaseMeasure, Start: 5e9, End: 6e9, Counters: sent}}
	}
	as := func(code result.ReasonCode) func(*result.Run) {
		return func(run *result.Run) { run.Summary.Verdict.Reasons[0].Code = code }
	}
	nothing := func(*result.Run) {}
	unknown, infinite := math.Inf(-1), math.Inf(1)
	for _, tt := range []struct {
		name, figure string
		shares       []float64
		change       func(*result.Run)
		least, most  float64
	}{
		{"steal", "rate.sent", []float64{0.05}, nothing, 900, 1000 / 0.9},
		{"two of them", "rate.sent", []float64{0.05, 0.15}, nothing, 600, 1000 / 0.6},
		{"of what was received", "rate.received", []float64{0.05}, nothing, 900, 1000 / 0.9},
		{"pauses", "rate.sender", []float64{0.05}, as(result.ReasonFrozen), 1000, 1000 / 0.9},
		{"throttling", "rate.sender", []float64{0.05}, as(result.ReasonThrottled), 900, 1000 / 0.9},
		{"garbage collection", "rate.sender", []float64{0.05}, as(result.ReasonGC), 900, 1000 / 0.9},
		{"a pause, and steal", "rate.sender", []float64{0.05, 0.15}, as(result.ReasonFrozen), 600, 1000 / 0.6},
		{"a pause of one agent", "rate.sender", []float64{0.05}, func(run *result.Run) { as(result.ReasonFrozen)(run); run.Header.Fleet = &result.Fleet{} }, 900, 1000 / 0.9},
		{"most of the window", "rate.sent", []float64{0.6}, nothing, unknown, infinite},
		{"a pause of most of the window", "rate.sent", []float64{0.6}, as(result.ReasonFrozen), 1000, infinite},
		{"nobody knows how much", "rate.sent", []float64{0}, nothing, unknown, infinite},
		{"nor of one of two", "rate.sent", []float64{0.05, 0}, nothing, unknown, infinite},
		{"a reason that does more than to lengthen", "rate.sent", []float64{0.05}, as(result.ReasonRate), unknown, infinite},
		{"twice as long as the window", "rate.sent", []float64{0.05}, func(run *result.Run) { run.Summary.Throughput.Elapsed = 20e9 }, 900, 1000 / 0.9},
		{"filled in a fifth of the window, in which all of it may have been", "fill", []float64{0.05}, backlog, 500, 2000},
		{"and drained over all of it", "drain", []float64{0.05}, backlog, 180, 200 / 0.9},
		{"their quotient", "drain/fill", []float64{0.05}, backlog, 0.09, 0.2 / 0.45},
		{"a schedule asks for no more", "rate.sent", []float64{0.05}, open, 900, 1001},
		{"of bytes", "rate.bytes", []float64{0.05}, open, 9000, 10_010},
		{"a pause of the senders", "sender.pause", []float64{0.05}, paused, 3e9, 6e9},
		{"memory", "memory.broker", []float64{0.05}, func(run *result.Run) {
			run.Series = []result.Point{{Phase: result.PhaseMeasure, End: 1e9, Vitals: map[result.Vital]float64{result.VitalBrokerRSS: 1}}}
		}, unknown, infinite},
	} {
		run := stolen(1000, tt.shares...)
		tt.change(run)
		f := Read(run, tt.figure, "")
		near := func(a, b float64) bool { return a == b || math.Abs(a-b) <= 1e-9*math.Abs(b) }
		if f.Unfit == "" || !near(f.Least, tt.least) || !near(f.Most, tt.most) {
			t.Errorf("%s: %s is %q, %v to %v, want %v to %v", tt.name, tt.figure, f.Unfit, f.Least, f.Most, tt.least, tt.most)
		}
	}
}

// Rounds whose rates lie in known ranges are evidence for both answers, where both ends are on one side.
func TestDisturbedRatesDecide(t *testing.T) {
	runs := func(shares []float64, rates ...float64) (all []*result.Run) {
		for _, rate := range rates {
			all = append(all, stolen(rate, shares...))
		}
		return all
	}
	slower, faster := []float64{100, 101, 99, 102, 98, 100}, []float64{150, 151, 149, 152, 148, 150}
	const ratio, above = "{kind: ratio, a: x/r-100, b: y/r-100, figures: [rate.sent], at_least: 1.2}", "{kind: above, cells: [x/r-100], figures: [rate.sent], bound: 120}"
	for _, tt := range []struct {
		name, test string
		x, y       []*result.Run
		want       Verdict
	}{
		{"a little of all", ratio, runs([]float64{0.02}, faster...), runs([]float64{0.02}, slower...), Agrees},
		{"a little of one", ratio, append(runs(nil, faster[:5]...), runs([]float64{0.02}, 150)...), runs(nil, slower...), Agrees},
		{"of the slower so much that it may be as fast", ratio, runs(nil, faster...), runs([]float64{0.1}, slower...), Undecidable},
		{"against it", ratio, runs([]float64{0.02}, slower...), runs([]float64{0.02}, faster...), Disagrees},
		{"nobody knows how much", ratio, runs(nil, faster...), runs([]float64{0}, slower...), Undecidable},
		{"above", above, runs([]float64{0.02}, faster...), nil, Agrees},
		{"not above", above, runs([]float64{0.02}, slower...), nil, Disagrees},
		{"perhaps above", above, runs([]float64{0.1}, slower...), nil, Undecidable},
	} {
		s := small(t, "      - "+tt.test)
		d := Decide(outcome(t, s, Default, map[string][]*result.Run{"x/r-100": tt.x, "y/r-100": tt.y}))[0]
		if d.Verdict != tt.want || (d.Tests[0].Needs == "") != (tt.want != Undecidable) {
			t.Errorf("%s: %s, want %s: %+v", tt.name, d.Verdict, tt.want, d.Tests[0])
		}
	}
}

// Whether a round is made again depends on what was taken from it, and on no figure of it: neither a slow round of many
// seconds nor one that keeps near its schedule is kept where a faster one is not.
func TestFiguresReplaceNoRounds(t *testing.T) {
	c := &Cell{}
	spoilt := func(run *result.Run, figure string) bool { return c.Spoilt(run, &Test{Figures: []string{figure}}) }
	for share, want := range map[float64]bool{0: true, 0.02: false, 0.03: true, 0.1: true} {
		for _, rate := range []float64{10, 1000} {
			if got := spoilt(stolen(rate, share), "rate.sent"); got != want {
				t.Errorf("another round for %g of the window at %g/s: %v", share, rate, got)
			}
			run := stolen(rate, share)
			run.Header.Mode, run.Summary.Throughput, run.Counters.Scheduled = result.ModeOpen, nil, 10_000
			if got := spoilt(run, "rate.sent"); got != want {
				t.Errorf("another round for %g of a schedule's window at %g/s: %v", share, rate, got)
			}
			run = stolen(1000, share)
			run.Summary.Backlog = &result.Backlog{Filled: 2000, FillRate: rate, Drained: 2000, DrainRate: 200}
			if got := spoilt(run, "drain/fill"); got != want {
				t.Errorf("another round for %g of the window, filled at %g/s: %v", share, rate, got)
			}
		}
	}
	for _, ms := range []float64{1, 9000} {
		if !spoilt(taking(ms, 0.01), "p50") {
			t.Errorf("a latency of %v ms needs no other round", ms)
		}
	}
}

// Of rounds from which as much was taken, those of which something is left stay, and so do the others: a comparison of a
// half that is slower than A and a half that is faster finds nothing.
func TestTimeTakenSelectsNothing(t *testing.T) {
	var x, y, pauses []*result.Run
	for i := range 12 {
		x, y = append(x, ms(500+float64(i))), append(y, taking([]float64{400, 1200}[i%2], 0.0225))
		sent, long := result.Counters{Sent: 1}, int64([]float64{1, 4}[i%2]*1e9)
		run := stolen(1000, 0.1)
		run.Series = []result.Point{{Phase: result.PhaseMeasure, End: 1e9, Counters: sent}, {Phase: result.PhaseMeasure, Start: 1e9 + long, End: 2e9 + long, Counters: sent}}
		pauses = append(pauses, run)
	}
	for _, test := range []string{"{kind: faster, a: x/r-100, b: y/r-100, figures: [p50]}", "{kind: ratio, a: x/r-100, b: y/r-100, figures: [p50], at_most: 1}"} {
		s := small(t, "      - "+test)
		if d := Decide(outcome(t, s, Full, map[string][]*result.Run{"x/r-100": x, "y/r-100": y}))[0]; d.Verdict != Undecidable {
			t.Errorf("%s: %s: %+v", test, d.Verdict, d.Tests[0])
		}
	}
	for _, run := range append(pauses, y...) {
		for _, name := range []string{"sender.pause", "p50"} {
			if f := Read(run, name, ""); f.Missing == "" && !f.BySize {
				t.Errorf("%s of %v, at least %v, may be left out", name, f.Value, f.Least)
			}
		}
	}
}

// taking is a run of 10 s with that p50 in ms, of which steal took a share.
func taking(p50, share float64) *result.Run {
	return spoilt(p50, func(s *result.Summary, _ *result.Distribution) {
		s.End = 10e9
		s.Verdict = result.Verdict{Status: result.Suspect, Reasons: []result.Reason{{Status: result.Suspect, Code: result.ReasonSteal, Share: share}}}
	})
}

// What is left of a latency without all that pauses took of the window is never more than it was without them, in a
// queue that is paused again and again.
func TestTakenOffIsNeverTooLittle(t *testing.T) {
	draw := rand.New(rand.NewPCG(41, 5))
	const n = 5000
	var due, none, takes, paused []int64
	at, all := int64(0), int64(0)
	for i := range n {
		at += int64(draw.ExpFloat64() * 100e3)
		due, none, takes = append(due, at), append(none, 0), append(takes, int64(95e3*draw.ExpFloat64()))
		pause := int64(0)
		if i%500 == 499 {
			pause = 5e6 // of the queue, while it serves this message
		}
		all += pause
		paused = append(paused, takes[i]+pause)
	}
	own, _ := queue(due, none, takes)
	measured, _ := queue(due, none, paused)
	run := ms(1)
	run.Summary.End = at
	timed(run, result.DeliveryResponse, measured)
	suspect := result.Reason{Status: result.Suspect, Code: result.ReasonFrozen, Share: float64(all) / float64(at)}
	run.Summary.Verdict = result.Verdict{Status: result.Suspect, Reasons: []result.Reason{suspect}}
	slices.Sort(own)
	for _, p := range []string{"p50", "p90", "p99"} {
		_, percent, _ := percentile(p)
		f, truth := Read(run, p, ""), float64(own[int(percent/100*n)])
		if f.Unfit == "" || f.Least > truth || f.Most < truth {
			t.Errorf("%s: %q, %.0f to %.0f µs, and it is %.0f", p, f.Unfit, f.Least/1e3, f.Most/1e3, truth/1e3)
		}
	}
	// The longer a message is on its way, the more is left.
	if f := Read(taking(1000, 0.01), "p50", ""); f.Least != 800e6 || f.Most != 1e9 {
		t.Errorf("%v to %v", f.Least, f.Most)
	}
}
