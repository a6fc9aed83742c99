package judge

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"sixnines/internal/hunttest"
	"sixnines/internal/stats"
	"sixnines/result"
	"sixnines/scenario"
)

// course is a run with the given number of intervals, whose latencies are about 1 ms times
// level of the instant in seconds.
func courseRun(t *testing.T, intervals int, length time.Duration, level func(at float64) float64, change ...func(*result.Header)) *result.Run {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 5))
	run := &result.Run{Metrics: map[result.Metric]*result.Merged{}, Header: result.Header{
		ID: "0123456789abcdef", Mode: result.ModeOpen, Rate: 300, Window: time.Duration(intervals) * length, Interval: length, Slot: slot}}
	for _, f := range change {
		f(&run.Header)
	}
	for n := range intervals {
		start := int64(n) * int64(length)
		i := newInterval(result.PhaseMeasure, start, start+int64(length))
		count := int(300 * length / time.Second)
		for k := range count {
			at := float64(start)/1e9 + length.Seconds()*float64(k)/float64(count)
			i.share(result.DeliveryResponse).response(int64(1e6*level(at)*math.Exp(0.2*rng.NormFloat64())), 0, int64(at*1e9))
		}
		c := &i.v.Counters
		c.Scheduled, c.Sent, c.Unknown, c.Expected, c.Received = int64(count), int64(count), int64(count), int64(count), int64(count)
		if err := run.Add(i.record(t)); err != nil {
			t.Fatal(err)
		}
	}
	return run
}

func after(at, before, then float64) func(float64) float64 {
	return func(s float64) float64 {
		if s < at {
			return before
		}
		return then
	}
}

func TestSteadiness(t *testing.T) {
	flat := func(float64) float64 { return 1 }
	text, err := json.Marshal(&scenario.Scenario{Phases: scenario.Phases{Warmup: 2 * time.Second}})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name      string
		intervals int
		length    time.Duration
		level     func(float64) float64
		change    func(*result.Run)
		class     stats.Steadiness
		status    result.Status
		code      result.ReasonCode
		text      string
	}{
		{"flat", 90, time.Second, flat, nil, stats.Flat, result.Valid, "", "nothing was discarded and nothing needs to be"},
		{"too short", 19, 100 * time.Millisecond, flat, nil, stats.NotAssessed, result.Valid, result.ReasonSteadyNotAssessed, "steady state not assessed: p50 has 19 stretches of at least 24 messages and needs 20: run longer (--duration)"},
		{"long intervals", 10, 10 * time.Second, flat, nil, stats.NotAssessed, result.Valid, result.ReasonSteadyNotAssessed, "or leave record.interval out"},
		{"too little for p99", 100, 100 * time.Millisecond, flat, nil, stats.Flat, result.Valid, result.ReasonSteadyNotAssessed, "steady state not assessed for p99 and the percentiles above it: p99 has 7 stretches of at least 368"},
		{"short intervals", 300, 250 * time.Millisecond, flat, nil, stats.Flat, result.Valid, "", "flat"},
		{"a stall of two seconds", 90, time.Second, func(s float64) float64 {
			if s >= 40 && s < 42 {
				return 500
			}
			return 1
		}, nil, stats.Flat, result.Valid, "", "; short events, not a change of level: 2 of the 90 stretches of p50, 1 of the 45 stretches of p99"},
		{"warm-up", 90, time.Second, after(12, 2, 1), func(r *result.Run) { r.Header.Scenario = text }, stats.WarmUp, result.Suspect, "warm-up", "run with --warmup 14s"},
		{"warm-up of a workload that begins later", 90, time.Second, after(12, 2, 1), func(r *result.Run) { r.Header.Scenario, r.Header.From = text, time.Second }, stats.WarmUp, result.Suspect, "warm-up", "(from) has no warm-up"},
		{"a warm-up that no percentile shows", 300, time.Second, after(6, 1.3, 1), nil, stats.WarmUp, result.Valid, "warm-up", "look like warm-up"},
		{"drift", 90, time.Second, func(s float64) float64 { return 1 + s/60 }, nil, stats.Drift, result.Suspect, "steady", "drift"},
		{"a new level", 90, time.Second, after(35, 1, 1.7), nil, stats.LevelShift, result.Suspect, "steady", "1.71 times its former level 35.0 s"},
		{"back and forth", 120, time.Second, func(s float64) float64 { return 1 + float64(int(s)/20%2) }, nil, stats.NoSteadyState, result.Suspect, "steady", "no steady state"},
		{"a new level after the broker died", 90, time.Second, after(35, 1, 1.7), func(r *result.Run) {
			r.Events = []result.Event{{At: 35e9, Kind: result.EventBrokerEnded}}
		}, stats.LevelShift, result.Valid, "steady", "1.7"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			run := courseRun(t, tt.intervals, tt.length, tt.level)
			if tt.change != nil {
				tt.change(run)
			}
			s := Summarise(run, Inputs{})
			if s.Steady == nil || s.Steady.P50.Class != string(tt.class) || s.Steady.Metric != result.DeliveryResponse {
				t.Fatalf("%+v, want %s", s.Steady, tt.class)
			}
			if tt.code == "" {
				if !strings.Contains(s.Steady.Text, tt.text) || find(s.Verdict, "steady") != nil || find(s.Verdict, "warm-up") != nil {
					t.Errorf("%q, %+v", s.Steady.Text, s.Verdict.Reasons)
				}
				return
			}
			r := find(s.Verdict, tt.code)
			inPlainWords(t, s.Verdict)
			if r == nil || r.Status != tt.status || !strings.Contains(r.Text, tt.text) {
				t.Errorf("%+v, want %s %q", s.Verdict.Reasons, tt.status, tt.text)
			}
			if tt.code != result.ReasonSteadyNotAssessed && !strings.HasPrefix(s.Steady.Text, "nothing was discarded") {
				t.Errorf("does not say what was discarded: %q", s.Steady.Text)
			}
		})
	}
}

// shortRun is a run with intervals of the default length and Poisson arrivals,
// whose latencies have a level that wanders from one 100 ms to the next, times
// level of the instant in seconds.
func shortRun(t *testing.T, seed uint64, rate float64, window time.Duration, level func(at float64) float64) *result.Run {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 77))
	length := scenario.IntervalFor(window)
	run := &result.Run{Metrics: map[result.Metric]*result.Merged{}, Header: result.Header{
		ID: "0123456789abcdef", Mode: result.ModeOpen, Rate: rate, Window: window, Interval: length, Slot: slot}}
	at, wander := rng.ExpFloat64()/rate, 0.0
	for start := time.Duration(0); start < window; start += length {
		i := newInterval(result.PhaseMeasure, int64(start), int64(start+length))
		wander = 0.5*wander + math.Sqrt(1-0.25)*0.1*rng.NormFloat64()
		c := &i.v.Counters
		for ; at < (start + length).Seconds(); at += rng.ExpFloat64() / rate {
			v := math.Exp(0.3*rng.NormFloat64() + wander)
			if rng.IntN(50) == 0 {
				v += rng.ExpFloat64() * 3
			}
			i.share(result.DeliveryResponse).response(int64(7e5*level(at)*v), 0, int64(at*1e9))
			c.Scheduled++
		}
		c.Sent, c.Unknown, c.Expected, c.Received = c.Scheduled, c.Scheduled, c.Scheduled, c.Scheduled
		if err := run.Add(i.record(t)); err != nil {
			t.Fatal(err)
		}
	}
	return run
}

// A short run in which the broker warms up is never plainly valid: its median is
// one of the warm-up.
func TestShortRunsThatWarmUp(t *testing.T) {
	seeds := uint64(hunttest.Cases(t, 2, 100))
	for name, level := range map[string]func(float64) float64{
		"slowly":  func(s float64) float64 { return 1 + 7*math.Exp(-s/1.5) },
		"quickly": func(s float64) float64 { return 1 + 7*math.Exp(-s/0.5) },
		"at once": after(1.6, 8, 1),
		"late":    after(2.2, 8, 1),
		"from 21": func(s float64) float64 { return 0.6 * (1 + 50*math.Exp(-s/2)) },
	} {
		for _, window := range []time.Duration{3 * time.Second, 4 * time.Second} {
			for _, rate := range []float64{300, 3000} {
				for seed := range seeds {
					s := Summarise(shortRun(t, seed, rate, window, level), Inputs{})
					suspect := false
					for _, r := range s.Verdict.Reasons {
						suspect = suspect || r.Status == result.Suspect && (r.Code == "steady" || r.Code == "warm-up") && r.Percentile != ""
					}
					if !suspect || s.Verdict.Status != result.Suspect {
						t.Errorf("%s, %v at %v/s, seed %d: %s %+v", name, window, rate, seed, s.Verdict.Status, s.Verdict.Reasons)
					}
				}
			}
		}
	}
}

// A level that does not change is not reported to, in runs that are short.
func TestShortRunsThatStayFlat(t *testing.T) {
	trials := hunttest.Cases(t, 20, 300)
	for _, tt := range []struct {
		rate   float64
		window time.Duration
	}{{1000, 10 * time.Second}, {300, 4 * time.Second}, {3000, 5 * time.Second}} {
		alarms, notAssessed := 0, 0
		for seed := range uint64(trials) {
			s := Summarise(shortRun(t, 1000+seed, tt.rate, tt.window, func(float64) float64 { return 1 }), Inputs{})
			if s.Verdict.Status != result.Valid {
				if alarms++; alarms == 1 {
					t.Logf("%+v", s.Verdict.Reasons)
				}
			}
			if s.Steady.P50.Class == string(stats.NotAssessed) {
				notAssessed++
			}
		}
		t.Logf("%v at %v/s: %d of %d are called unsteady", tt.window, tt.rate, alarms, trials)
		if alarms > trials/50 || notAssessed > 0 {
			t.Errorf("%v at %v/s: %d of %d are called unsteady, %d are not assessed", tt.window, tt.rate, alarms, trials, notAssessed)
		}
	}
}

func TestFloor(t *testing.T) {
	b := newTestbed(healthyMessages())
	d := b.summed(t).Summary.Histograms[result.DeliveryResponse]
	b.header.Floor = &result.Floor{Rate: 20_000, Size: 64, Percentiles: map[result.Metric]map[result.Percentile]int64{
		result.DeliveryResponse: {"50": d.Figures["50"].Value / 2, "99": d.Figures["99"].Value / 4, "99.9": 0}}}
	s := b.summed(t).Summary
	d = s.Histograms[result.DeliveryResponse]
	for name, f := range d.All() {
		want := map[string]float64{"50": 2, "99": 4}[string(name)]
		if (f.FloorRatio != nil) != (want > 0) || want > 0 && math.Abs(*f.FloorRatio-want) > 0.01 {
			t.Errorf("p%s: %+v, want %v times the floor", name, f, want)
		}
	}
	r := find(s.Verdict, "floor")
	if r == nil || r.Status != result.Valid || !strings.Contains(r.Text, "p50 2 times)") || !strings.Contains(r.Text, "at 20,000/s with messages of 64 B") || !strings.Contains(r.Text, "as much about this machine") {
		t.Errorf("%+v", s.Verdict.Reasons)
	}
}

// Every objective in the header has an outcome in the summary, even if it cannot be parsed, and
// is never met for lack of evidence.
func TestObjectivesOfTheHeader(t *testing.T) {
	b := newFineTestbed(healthyMessages())
	b.header.Objectives = []string{"delivery.response p99 < 1h", "delivery.response p99.9999 < 1h", "lost > 5", "rate >= 50%", "nonsense < 3"}
	want := []Outcome{Met, Undecided, Missed, Met, Meaningless}
	check := func(got []result.Objective, want []Outcome) {
		t.Helper()
		if len(got) != len(want) {
			t.Fatalf("%+v", got)
		}
		for i, o := range got {
			if o.Outcome != string(want[i]) || o.Text != b.header.Objectives[i] || o.Found == "" {
				t.Errorf("%+v, want %s", o, want[i])
			}
		}
	}
	check(b.summed(t).Summary.Objectives, want)
	check(Summarise(b.run(t), Inputs{CutShort: true, End: 4e9}).Objectives, []Outcome{Meaningless, Meaningless, Meaningless, Meaningless, Meaningless})
}
