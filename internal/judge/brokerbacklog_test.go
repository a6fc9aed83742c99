package judge

import (
	"slices"
	"testing"

	"sixnines/result"
)

// keptRun makes a run of intervals of 100 ms: messages sent and received in each of
// the window, then of the drain.
func keptRun(h result.Header, window, drain [][2]int64) *result.Run {
	run := &result.Run{Header: h}
	at := int64(0)
	add := func(phase string, all [][2]int64) {
		for _, n := range all {
			c := result.Counters{Sent: n[0], Expected: n[0], Received: n[1]}
			run.Series = append(run.Series, result.Point{Phase: phase, Start: at, End: at + 100e6, Counters: c})
			run.Counters.Add(c)
			at += 100e6
		}
	}
	add(result.PhaseMeasure, window)
	add(result.PhaseDrain, drain)
	return run
}

// earlierIn has messages of an earlier run come in an interval.
func earlierIn(run *result.Run, at int, n int64) *result.Run {
	run.Series[at].Counters.Earlier = n
	return run
}

func TestKept(t *testing.T) {
	filled := result.Header{Mode: result.ModeFlatOut, ConsumersFrom: "filled"}
	late := result.Header{Mode: result.ModeOpen, ConsumersFrom: "200ms"}
	paused := result.Header{Mode: result.ModeOpen, ConsumersPause: "200ms@200ms"}
	short := result.Header{Mode: result.ModeOpen, ConsumersPause: "99ms@150ms", Interval: 100e6}
	for _, c := range []struct {
		name          string
		run           *result.Run
		came          int64 // ms; −1: never
		in            Inputs
		filled, peak  int64
		gone, drained int64
		left          int64
		drain         float64
		unstable      bool
	}{
		{"fill and drain", keptRun(filled, [][2]int64{{600, 0}, {400, 0}}, [][2]int64{{0, 500}, {0, 500}}), 200, Inputs{End: 200e6, Resolved: 390e6},
			1000, 1000, 390e6, 1000, 0, 1000 / 0.19, false},
		{"done a moment before the window's end", keptRun(filled, [][2]int64{{600, 0}, {400, 300}}, [][2]int64{{0, 700}}), 199, Inputs{End: 200e6, Resolved: 249e6},
			1000, 1000, 249e6, 1000, 0, 1000 / 0.05, false},
		{"done and drained before the window's end", keptRun(filled, [][2]int64{{600, 0}, {400, 1000}}, nil), 190, Inputs{End: 200e6, Resolved: 195e6},
			1000, 1000, 195e6, 1000, 0, 1000 / 0.005, false},
		{"some never came", keptRun(filled, [][2]int64{{600, 0}, {400, 0}}, [][2]int64{{0, 500}, {0, 490}}), 200, Inputs{End: 200e6, Resolved: 390e6},
			1000, 1000, 0, 990, 10, 990 / 0.19, false},
		{"some never came and were waited for", keptRun(filled, [][2]int64{{600, 0}, {400, 0}}, [][2]int64{{0, 500}, {0, 490}, {0, 0}, {0, 0}, {0, 0}, {0, 0}}), 200, Inputs{End: 200e6, Resolved: 390e6},
			1000, 1000, 0, 990, 10, 990 / 0.19, false},
		{"behind what an earlier run left", earlierIn(keptRun(filled, [][2]int64{{600, 0}, {400, 0}}, [][2]int64{{0, 0}, {0, 1000}}), 2, 800), 200, Inputs{End: 200e6, Resolved: 400e6},
			1000, 1000, 400e6, 1800, 0, 9000, false},
		{"the run was over before they came", keptRun(filled, [][2]int64{{600, 0}}, [][2]int64{{0, 0}}), -1, Inputs{End: 100e6, Resolved: 200e6},
			600, 600, 0, 0, 600, 0, false},
		{"caught up", keptRun(late, [][2]int64{{100, 0}, {100, 0}, {100, 150}, {100, 249}, {100, 100}}, [][2]int64{{0, 1}}), 200, Inputs{End: 500e6, Resolved: 510e6},
			200, 200, 400e6, 399, 0, 399 / 0.2, false},
		{"never caught up", keptRun(late, [][2]int64{{100, 0}, {100, 0}, {100, 100}, {100, 100}, {100, 100}}, [][2]int64{{0, 100}, {0, 100}}), 200, Inputs{End: 500e6, Resolved: 700e6},
			200, 200, 0, 500, 0, 1000, true},
		{"paused, as much under way as before", keptRun(paused, [][2]int64{{100, 95}, {100, 100}, {100, 0}, {100, 0}, {100, 300}, {100, 100}}, [][2]int64{{0, 5}}), 0, Inputs{End: 600e6, Resolved: 610e6},
			400, 205, 500e6, 300, 0, 3000, false},
		{"gone within an interval", keptRun(short, [][2]int64{{100, 100}, {100, 50}, {100, 150}, {100, 100}}, nil), 0, Inputs{End: 400e6, Resolved: 410e6},
			300, 50, 300e6, 150, 0, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.came > 0 {
				c.run.Events = []result.Event{{At: c.came * 1e6, Kind: result.EventConsumers}}
			}
			s := Summarise(c.run, c.in)
			k := s.Backlog
			if k == nil {
				t.Fatal("nothing is said")
			}
			if k.Filled != c.filled || k.Peak != c.peak || k.Gone != c.gone || k.Drained != c.drained || k.Left != c.left || !same(k.DrainRate, c.drain) {
				t.Errorf("%+v", k)
			}
			unstable := slices.ContainsFunc(s.Verdict.Reasons, func(r result.Reason) bool { return r.Code == "backlog" && r.Status == result.Unstable })
			if unstable != c.unstable {
				t.Errorf("%+v", s.Verdict.Reasons)
			}
			if s.Steady != nil {
				t.Error("a backlog was looked at for a steady state")
			}
		})
	}
}

// A window that ended before consumers connected or paused shows nothing about them.
func TestEndedBeforeConsumersCame(t *testing.T) {
	for _, h := range []result.Header{{Mode: result.ModeOpen, ConsumersFrom: "1s"}, {Mode: result.ModeOpen, ConsumersPause: "1s@1s"}} {
		s := Summarise(keptRun(h, [][2]int64{{100, 0}, {100, 0}}, [][2]int64{{0, 0}}), Inputs{End: 200e6, Resolved: 300e6, Interrupted: true})
		i := slices.IndexFunc(s.Verdict.Reasons, func(r result.Reason) bool { return r.Code == "backlog" })
		if i < 0 || s.Verdict.Reasons[i].Status != result.Suspect || s.Verdict.Status == result.Unstable {
			t.Errorf("%+v: %+v", h, s.Verdict.Reasons)
		}
	}
}

// Overload that begins when the backlog is cleared is reported as without one.
func TestOverloadAfterABacklog(t *testing.T) {
	window := [][2]int64{{100, 0}, {100, 0}, {100, 0}, {100, 250}, {100, 250}, {100, 100}, {100, 100}, {100, 100}, {100, 100}}
	for _, slow := range []bool{false, true} {
		all := window
		for range 6 {
			n := [2]int64{100, 100}
			if slow {
				n[1] = 60
			}
			all = append(all, n)
		}
		run := keptRun(result.Header{Mode: result.ModeOpen, ConsumersFrom: "300ms"}, all, [][2]int64{{0, 0}, {0, 0}, {0, 0}})
		run.Events = []result.Event{{At: 300e6, Kind: result.EventConsumers}}
		var left int64
		for i := range run.Series {
			p := &run.Series[i]
			left += p.Counters.Sent - p.Counters.Received
			p.InFlight, p.Counters.Scheduled = left, p.Counters.Sent
		}
		s := Summarise(run, Inputs{End: 1500e6, Resolved: 1800e6})
		unstable := slices.ContainsFunc(s.Verdict.Reasons, func(r result.Reason) bool { return r.Code == "backlog" && r.Status == result.Unstable })
		if unstable != slow || s.Backlog.Gone != 500e6 {
			t.Errorf("slow %v: gone at %d, %+v", slow, s.Backlog.Gone, s.Verdict.Reasons)
		}
	}
}

// A backlog has few steps, which add up.
func TestKeptCourse(t *testing.T) {
	var window [][2]int64
	for range 50 {
		window = append(window, [2]int64{10, 0})
	}
	run := keptRun(result.Header{Mode: result.ModeFlatOut, ConsumersFrom: "filled"}, window, [][2]int64{{0, 300}, {0, 200}, {0, 0}})
	run.Series[49].Depth = &result.Depth{At: 5e9, Messages: 498}
	run.Events = []result.Event{{At: 5e9, Kind: result.EventConsumers}}
	steps := Summarise(run, Inputs{End: 5e9, Resolved: 5.15e9}).Backlog.Steps
	if n := len(steps); n > mostBacklogSteps || n < mostBacklogSteps/2 {
		t.Fatalf("%d stretches", n)
	}
	var received, start float64
	told := false
	if d := Summarise(run, Inputs{}).Backlog.Depth; d != result.DepthWaiting {
		t.Errorf("depth %q", d)
	}
	for _, c := range steps {
		received += c.Received * (float64(c.End)/1e9 - start)
		start = float64(c.End) / 1e9
		told = told || c.Depth == 498
	}
	if last := steps[len(steps)-1]; !same(received, 500.0) || last.Backlog != 0 || last.End != 5.2e9 || !told {
		t.Errorf("%v received, told %v: %+v", received, told, steps)
	}
}

// The figures of a backlog do not depend on where intervals end: a pause within one interval
// has its peak, its rates and its end from the readings.
func TestKeptWithinAnInterval(t *testing.T) {
	h := result.Header{Mode: result.ModeOpen, ConsumersPause: "900ms@50ms", Interval: 1e9}
	run := &result.Run{Header: h}
	c := result.Counters{Sent: 500, Expected: 500, Received: 500}
	for i := range int64(2) {
		run.Series = append(run.Series, result.Point{Phase: result.PhaseMeasure, Start: i * 1e9, End: (i + 1) * 1e9, Counters: c})
		run.Counters.Add(c)
	}
	run.Series[0].Readings = []result.BacklogReading{
		{At: 51e6, Sent: 26, Expected: 26, Arrived: 26},
		{At: 500e6, Sent: 250, Expected: 250, Arrived: 26},
		{At: 951e6, Sent: 476, Expected: 476, Arrived: 26},
		{At: 961e6, Sent: 481, Expected: 481, Arrived: 300},
		{At: 971e6, Sent: 486, Expected: 486, Arrived: 486},
	}
	k := Summarise(run, Inputs{End: 2e9, Resolved: 2e9}).Backlog
	if k.Filled != 476 || k.Peak != 450 || k.PeakAt != 951e6 || k.Gone != 971e6 || k.Drained != 460 {
		t.Errorf("%+v", k)
	}
	if k.FillRate > 501 || k.FillRate < 500 || !same(k.DrainRate, 460/0.021) {
		t.Errorf("fill %v/s, drain %v/s", k.FillRate, k.DrainRate)
	}
	// Without readings only the intervals' ends are known: no rate is above the load's.
	run.Series[0].Readings = nil
	if k := Summarise(run, Inputs{End: 2e9, Resolved: 2e9}).Backlog; k.FillRate > 500 {
		t.Errorf("fill %v/s of 500/s", k.FillRate)
	}
}
