package judge

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sixnines/internal/resultfile"
	"sixnines/result"
)

func TestBlockIntervals(t *testing.T) {
	flat := func(float64) float64 { return 1 }
	for _, tt := range []struct {
		name    string
		seconds int
		level   func(float64) float64
		na      string // of p99; "": there is one
	}{
		{"steady", 90, flat, ""},
		{"bursts", 240, func(s float64) float64 {
			if int(s)%17 == 3 && s-math.Floor(s) < 0.4 {
				return 3
			}
			return 1
		}, ""},
		{"short", 59, flat, "59 intervals and needs at least 60"},
		{"one long event", 90, func(s float64) float64 {
			if s >= 40 && s < 52 {
				return 5
			}
			return 1
		}, "more than a tenth of the run"},
		{"levels that last", 120, func(s float64) float64 { return 1 + 0.5*math.Sin(s/6) }, "messages depend on each other"},
		{"levels that last for long", 120, func(s float64) float64 { return 1 + 0.5*math.Sin(s/20) }, "resemble each other"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			run := courseRun(t, tt.seconds, time.Second, tt.level)
			d := Summarise(run, Inputs{}).Histograms[result.DeliveryResponse]
			p99 := d.Figures["99"]
			b, na := p99.Blocks, p99.BlocksNA
			if (na != "") != (tt.na != "") || !strings.Contains(na, tt.na) {
				t.Fatalf("%v, %q; want n/a with %q", b, na, tt.na)
			}
			for name, f := range d.All() {
				if (f.Blocks == nil) != (f.BlocksNA != "") {
					t.Errorf("p%s has the interval %v, and the reason %q for none", name, f.Blocks, f.BlocksNA)
				}
			}
			if b == nil {
				return
			}
			if v := p99.Value; b.Low > v || b.High < v || b.Low < d.Min || b.High > d.Max {
				t.Errorf("%v is not about %d within [%d, %d]", b, v, d.Min, d.Max)
			}
			exact := p99.Interval
			ratio := float64(b.High-b.Low) / float64(exact.High-exact.Low)
			if tt.name == "steady" && (ratio < 0.6 || ratio > 1.7) || tt.name == "bursts" && ratio < 2 {
				t.Errorf("%v is %.2f times as wide as %v", b, ratio, exact)
			}
		})
	}
}

// An interval that reaches unresolved messages has no upper end and is not shown.
func TestBlockIntervalsOfTheUnresolved(t *testing.T) {
	for _, tt := range []struct {
		missing int
		want    string
	}{{90, ""}, {265, "reach its interval"}, {400, "reach it"}} {
		run := courseRun(t, 90, time.Second, func(float64) float64 { return 1 }) // 27,000 messages
		x := run.Metrics[result.DeliveryResponse]
		x.Censored = newHist()
		for range tt.missing {
			_ = x.Censored.Record(5e9, 1)
		}
		d := Summarise(run, Inputs{}).Histograms[result.DeliveryResponse]
		f := d.Figures["99"]
		if na := f.BlocksNA; (na != "") != (tt.want != "") || !strings.Contains(na, tt.want) {
			t.Errorf("%d missing: %v, %q, want %q", tt.missing, f.Blocks, na, tt.want)
		}
	}
}

// A file has all that is needed to compute the new figures again, and a change of any of them
// is found.
func TestVerifyRecomputesWhatIsNew(t *testing.T) {
	run := courseRun(t, 90, time.Second, func(s float64) float64 { return 1 + s/100 })
	path := filepath.Join(t.TempDir(), "r.jsonl")
	w, err := resultfile.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	run.Header.Objectives = []string{"delivery.response p99 < 1h", "lost == 0"}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(w.Header(run.Header))
	again := &result.Run{Metrics: map[result.Metric]*result.Merged{}, Header: run.Header}
	for n := range 91 {
		i := newInterval(result.PhaseMeasure, int64(n)*1e9, int64(n+1)*1e9)
		if n == 90 {
			i.v.Phase, i.v.End = result.PhaseClosing, i.v.Start
			i.v.Tail = []result.Exemplar{{Metric: result.DeliveryResponse, Value: 4e6, Intended: 5e9, Sent: 5e9, Done: 5e9 + 4e6}}
			i.v.Pauses = []result.Pause{{Start: 5e9, End: 5e9 + 3e6, Source: result.PauseGC}}
		} else {
			c := &i.v.Counters
			c.Scheduled, c.Sent, c.Unknown, c.Expected, c.Received = 400, 400, 400, 400, 400
			for k := range int64(400) {
				i.share(result.DeliveryResponse).response(1e6+k*k*int64(10+n%7), 0, int64(n)*1e9+k*2e6)
			}
		}
		r := i.record(t)
		must(again.Add(r))
		must(w.Interval(*r.Interval))
	}
	must(w.Summary(*Summarise(again, Inputs{})))
	must(w.Close())
	load := func() *result.Run {
		t.Helper()
		run, err := result.Load(path)
		must(err)
		return run
	}
	if p := Verify(load(), result.Tool{}); len(p) > 0 {
		t.Fatalf("problems: %v", p)
	}
	for name, change := range map[string]func(*result.Summary){
		"steady.p50.class": func(s *result.Summary) { s.Steady.P50.Class = "drift" },
		"steady.intervals": func(s *result.Summary) { s.Steady = nil },
		"histograms.delivery.response.blocks.99": func(s *result.Summary) {
			s.Histograms[result.DeliveryResponse].Figures["99"].Blocks.Low = 1
		},
		"objectives.1.outcome":            func(s *result.Summary) { s.Objectives[1].Outcome = string(Missed) },
		"attribution.0.messages":          func(s *result.Summary) { s.Attribution[0].Messages++ },
		"attribution.0.causes.0.expected": func(s *result.Summary) { s.Attribution[0].Causes[0].Expected *= 2 },
		"attribution.0.unexplained":       func(s *result.Summary) { s.Attribution = nil },
	} {
		run := load()
		change(run.Summary)
		if p := Verify(run, run.Header.Tool); !slices.ContainsFunc(p, func(p Problem) bool { return p.Where == name }) {
			t.Errorf("%s is not among %v", name, p)
		}
	}
	run = load()
	run.Summary.Steady.Text = "in other words"
	if p := problemsOf(run); len(p) != 1 || p[0].Where != "steady.text" {
		t.Errorf("words of this version: %v", p)
	}
	if p := Verify(run, result.Tool{Name: "another version"}); len(p) > 0 {
		t.Errorf("words: %v", p)
	}
}
