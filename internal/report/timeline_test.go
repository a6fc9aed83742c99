package report

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"sixnines/result"
)

// TestMomentsOfCountersLeaveRoom fills a run with stretches of a counter, each
// longer than any pause: the pauses must be drawn all the same.
func TestMomentsOfCountersLeaveRoom(t *testing.T) {
	run := &result.Run{}
	const pauses = 20
	for i := range int64(500) {
		at := i * 250e6
		run.Pauses = append(run.Pauses, result.Pause{Start: at, End: at + 100e6, Source: result.PauseContention},
			result.Pause{Start: at + 100e6, End: at + 200e6, Source: result.PauseContention})
		if i < pauses {
			run.Pauses = append(run.Pauses, result.Pause{Start: at, End: at + 2e6, Source: result.PauseProcess})
		}
	}
	seen, stretches, covered := 0, 0, 0.0
	for _, m := range momentsOf([]*subject{{run: run}}) {
		switch {
		case m.Strip:
			stretches++
			covered += m.To - m.From
		case m.Pause:
			seen++
		}
	}
	if covered < 500*0.2-1e-6 || covered > 125 {
		t.Errorf("the stretches cover %v s, want all 100 s of them and no more than there are", covered)
	}
	if seen != pauses || stretches == 0 || stretches > momentLimit {
		t.Errorf("%d pauses and %d stretches are drawn, want %d and up to %d", seen, stretches, pauses, momentLimit)
	}
}

// TestWorkloadsShareTheTime draws the workloads of a run where they were in its
// window, and what they have in common once.
func TestWorkloadsShareTheTime(t *testing.T) {
	part := func(name string, from time.Duration, own result.EventKind) *subject {
		return &subject{letter: name, run: &result.Run{Header: result.Header{ID: "1", Workload: name, From: from},
			Series: []result.Point{{Phase: result.PhaseMeasure, Start: 0, End: 2e9}},
			Events: []result.Event{{At: 5e9 - int64(from), Kind: "of all"}, {At: 6e9 - int64(from), Kind: own, Workload: name}},
			Pauses: []result.Pause{{Start: 7e9 - int64(from), End: 8e9 - int64(from), Source: result.PauseProcess}}}}
	}
	both := []*subject{part("b", 3*time.Second, "of b"), part("a", 0, "of a")}
	if at := timeline(both[0].run)[0].At; at != 4 {
		t.Errorf("the later one's interval is at %v s, want 4", at)
	}
	if end := untilOf(both); end != 5 {
		t.Errorf("the picture ends at %v s, want 5", end)
	}
	moments := momentsOf(both)
	if len(moments) != 4 {
		t.Fatalf("%d moments, want 4: %+v", len(moments), moments)
	}
	for i, want := range []float64{5, 6, 6, 7} {
		if moments[i].From != want {
			t.Errorf("moment %d is at %v s, want %v", i, moments[i].From, want)
		}
	}
}

// However many events there are, actions are marked, in the order of time.
func TestEventsLeaveOutNoAction(t *testing.T) {
	run := &result.Run{Header: result.Header{Actions: []result.Action{{Kind: "disconnect", Subject: "all", At: 5e8}}},
		Events: []result.Event{{At: 5e8, Kind: result.EventAction, Action: &result.Acted{Number: 1, Planned: 5e8}}}}
	for i := range 2 * momentLimit {
		run.Events = append(run.Events, result.Event{At: int64(i+1) * 1e7, Kind: result.EventDisconnected})
	}
	moments := momentsOf([]*subject{{run: run}})
	if !slices.IsSortedFunc(moments, func(a, b moment) int { return cmp.Compare(a.From, b.From) }) {
		t.Errorf("%+v", moments)
	}
	if !slices.ContainsFunc(moments, func(m moment) bool { return strings.Contains(m.Label, "disconnect all") }) {
		t.Errorf("the action is left out: %+v", moments)
	}
}

// Lines of a workload in the background are thin, and named all the same.
func TestBackgroundIsDrawnThinly(t *testing.T) {
	part := func(name string, background bool) *result.Run {
		return &result.Run{Header: result.Header{ID: "1", Workload: name, Background: background, Mode: result.ModeOpen, Window: time.Second},
			Metrics: map[result.Metric]*result.Merged{}, Summary: &result.Summary{},
			Series: []result.Point{{Phase: result.PhaseMeasure, End: 1e9, Counters: result.Counters{Scheduled: 5, Sent: 5}}}}
	}
	c, err := chartOf([]*result.Run{part("events", false), part("traffic", true)}, kindRate)
	if err != nil || len(c.Lines) != 4 {
		t.Fatalf("%+v, %v", c, err)
	}
	for i, l := range c.Lines {
		if background := i >= 2; l.Thin != background || l.legend() != l.Name {
			t.Errorf("line %d: %+v", i, l)
		}
	}
}

// What workloads of one run have in common is drawn once, with all that a run alone
// shows, and where a later one was steady lies on the run's time.
func TestWorkloadsShareWhatIsTheMachines(t *testing.T) {
	part := func(name string, from time.Duration) *result.Run {
		return &result.Run{Header: result.Header{ID: "1", Name: "shop", Workload: name, From: from, Mode: result.ModeOpen, Window: time.Second},
			Metrics: map[result.Metric]*result.Merged{}, Summary: &result.Summary{Steady: &result.Steady{P50: result.Trend{From: 5e8}}},
			Series: []result.Point{{Phase: result.PhaseMeasure, End: 1e9, Vitals: map[result.Vital]float64{"process.cpu": 0.5, "host.cpu.busy": 0.7}}}}
	}
	runs := []*result.Run{part("later", 3*time.Second), part("first", 0)}
	c, err := chartOf(runs, kindProcessors)
	if err != nil || len(c.Lines) != 2 || c.Lines[0].X[0] != 0.5 || c.Lines[0].Name != "generator, of one core" {
		t.Errorf("%+v, %v", c, err)
	}
	prepared, err := subjects(runs)
	if err != nil {
		t.Fatal(err)
	}
	if m := steadyMoments(prepared[0]); len(m) != 1 || m[0].From != 3.5 {
		t.Errorf("%+v", m)
	}
	// The name that they share stands in the title alone.
	if s := prepared[0]; s.label != "A later" || headline(s)[0] != "shop" {
		t.Errorf("%q, %q", s.label, headline(s))
	}
	if title := runsTitle(prepared); title != "shop: later · first" {
		t.Errorf("%q", title)
	}
	other := part("third", 0)
	other.Header.Name = "depot"
	if prepared, err = subjects(append(runs, other)); err != nil || prepared[0].label != "A shop later" {
		t.Errorf("%q, %v", prepared[0].label, err)
	}
}

// Of an interval only the percentiles that its messages support are drawn, and
// exported: of a thousand messages no p99.9, and of deliveries as many as messages.
func TestNoNinesOfIntervalsWithoutMessages(t *testing.T) {
	for _, tt := range []struct {
		rate, consumers   int
		p50, p99, p999    bool
		also, without     string
		pictured, missing string
	}{
		{20_000, 1, true, true, true, ".p99.9_ns,6", ".p99.9_ns,n/a", "p99.9", ""},
		{1000, 1, true, true, false, ".p99.9_ns,n/a", ".p99_ns,n/a", "p99", "p99.9"},
		{1000, 4, true, false, false, ".p99_ns,n/a", ".p50_ns,n/a", "p90", "p99"},
		{100, 1, true, false, false, ".p99_ns,n/a", ".p50_ns,n/a", "p90", "p99"},
	} {
		s := openRun()
		s.rate = tt.rate
		run := s.make()
		run.Counters.Expected = run.Counters.Sent * int64(tt.consumers)
		p := timeline(run)[0].Metrics[result.DeliveryResponse]
		if p.P50 > 0 != tt.p50 || p.P99 > 0 != tt.p99 || p.P999 > 0 != tt.p999 || p.Max <= 0 {
			t.Errorf("%d/s: %+v", tt.rate, p)
		}
		var b bytes.Buffer
		if err := writeTimeCSV(&b, []*result.Run{run}); err != nil {
			t.Fatal(err)
		}
		if text := b.String(); !strings.Contains(text, "delivery.response"+tt.also) || strings.Contains(text, "delivery.response"+tt.without) {
			t.Errorf("%d/s: %.600s", tt.rate, text)
		}
		sub := subjectOf(run)
		drawn := map[string]bool{}
		for _, l := range timeChart([]*subject{sub}, sub.tables[0]).Lines {
			drawn[l.Name] = true
			for _, y := range l.Y {
				if !math.IsNaN(y) && y <= 0 {
					t.Errorf("%d/s: %s holds %v", tt.rate, l.Name, y)
				}
			}
		}
		if !drawn[tt.pictured] || tt.missing != "" && drawn[tt.missing] || !drawn["max"] {
			t.Errorf("%d/s: drawn are %v", tt.rate, drawn)
		}
	}
}
