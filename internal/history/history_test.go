package history

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"sixnines/result"
)

// made are runs of commits, two of each, at these levels of p99 in µs with a percent of noise.
func made(levels ...float64) []*result.Run {
	rng := rand.New(rand.NewPCG(1, 2))
	var runs []*result.Run
	for i, level := range levels {
		for k := range 2 {
			value := func(us float64) result.Figure {
				return result.Figure{Value: int64(us * 1e3 * math.Exp(0.01*rng.NormFloat64()))}
			}
			runs = append(runs, &result.Run{
				Header: result.Header{Name: "load", Driver: "nats", ID: fmt.Sprintf("%04x", 2*i+k), Revision: fmt.Sprintf("c%d", i), Mode: result.ModeOpen, Broker: map[string]string{"version": fmt.Sprintf("1.%d", i/6)},
					Started:  time.Date(2026, 11, 1+i, 12, k, 0, 0, time.UTC),
					Scenario: json.RawMessage(fmt.Sprintf(`{"seed": %d, "target": {"driver": "nats", "url": "nats://%d"}}`, i, i))},
				Summary: &result.Summary{Verdict: result.Verdict{Status: result.Valid}, Histograms: map[result.Metric]*result.Distribution{
					result.DeliveryResponse: {Count: 1000, Figures: map[result.Percentile]result.Figure{"50": value(100), "99": value(level)}}}},
			})
		}
	}
	return runs
}

func levels(of ...float64) []float64 {
	var out []float64
	for _, v := range of {
		for range 8 {
			out = append(out, v)
		}
	}
	return out
}

var both = Options{By: ByCommit, Percentiles: []result.Percentile{"50", "99"}, MinEffect: 0.05}

// TestHistoryFindsAChange: where it is, how large, and whether it is worse and has stayed.
func TestHistoryFindsAChange(t *testing.T) {
	for _, c := range []struct {
		name   string
		levels []float64
		since  []string
		worse  []bool
	}{
		{"slower", levels(250, 280), []string{"c8"}, []bool{true}},
		{"faster", levels(250, 220), []string{"c8"}, []bool{false}},
		{"slower and back", levels(250, 250, 280, 280, 250, 250), []string{"c16", "c32"}, []bool{false, false}},
		{"twice slower", levels(250, 280, 310), []string{"c8", "c16"}, []bool{true, true}},
		{"less than matters", levels(250, 257), []string{"c8"}, []bool{false}},
		{"nothing", levels(250, 250), nil, nil},
	} {
		all, err := Of(made(c.levels...), both)
		if err != nil || len(all) != 1 {
			t.Fatalf("%s: %d histories, %v", c.name, len(all), err)
		}
		h := all[0]
		if len(h.Groups) != len(c.levels) || h.Groups[0].Runs != 2 || h.Metric != result.DeliveryResponse {
			t.Errorf("%s: %d groups of %s", c.name, len(h.Groups), h.Metric)
		}
		if n := len(h.Figures[0].Changes); n > 0 {
			t.Errorf("%s: p50 has %d changes", c.name, n)
		}
		f := h.Figures[1]
		if f.Undecided() || len(f.Changes) != len(c.since) {
			t.Errorf("%s: %+v", c.name, f)
			continue
		}
		for i, d := range f.Changes {
			if d.Since != c.since[i] || d.Worse != c.worse[i] || d.Ratio < d.Lo || d.Ratio > d.Hi {
				t.Errorf("%s: %+v, want a change since %s, worse: %v", c.name, d, c.since[i], c.worse[i])
			}
		}
	}
}

// TestHistoryOfFailures: what lost its number, or can show nothing, does not drop out of a history.
func TestHistoryOfFailures(t *testing.T) {
	for _, c := range []struct {
		name    string
		spoil   func(*result.Run)
		from    int // the first of 30 groups that is spoilt
		worse   bool
		lacking int
		word    string
	}{
		{"refused", figured(result.Figure{Value: 5e9, AtLeast: true, Refused: true}), 20, true, 0, "refused"},
		{"a lower bound", figured(result.Figure{Value: 5e9, AtLeast: true}), 20, true, 0, "≥ 5.00 s"},
		{"overloaded", func(r *result.Run) { r.Summary.Verdict.Status = result.Unstable }, 20, true, 0, "OVERLOADED"},
		{"invalid", func(r *result.Run) { r.Summary.Verdict.Status = result.Invalid }, 29, false, 1, "INVALID"},
		{"cut short", func(r *result.Run) { r.Summary = nil }, 28, false, 2, "ended early"},
		{"an agent was lost", func(r *result.Run) {
			r.Summary.Verdict = result.Verdict{Status: result.Suspect, Reasons: []result.Reason{{Status: result.Suspect, Code: result.ReasonAgentLost, Found: "of 2 agents 1 did not finish"}}}
		}, 25, false, 3, "SUSPECT: "},
		{"not measured", func(r *result.Run) { r.Summary.Histograms = nil }, 29, false, 1, "not measured"},
		{"made beside another load", func(r *result.Run) { r.Header.Trial = &result.Trial{Kind: result.TrialAB, Beside: true} }, 20, false, 0, ""},
	} {
		runs := made(levels(250, 250, 250, 250)[:30]...)
		for _, r := range runs[2*c.from:] {
			c.spoil(r)
		}
		all, err := Of(runs, both)
		if err != nil || len(all) != 1 {
			t.Errorf("%s: %d histories, %v", c.name, len(all), err)
			continue
		}
		f, last := all[0].Figures[1], all[0].Groups[len(all[0].Groups)-1]
		// Where the last good figure is the largest by chance, the ranks differ most one group earlier.
		worse := len(f.Changes) == 1 && f.Changes[0].Worse && slices.Contains([]string{fmt.Sprintf("c%d", c.from), fmt.Sprintf("c%d", c.from-1)}, f.Changes[0].Since)
		if worse != c.worse || len(f.Lacking) != c.lacking || f.Undecided() != (c.lacking > 0) || !strings.HasPrefix(last.Words["99"], c.word) || (c.word == "") != (last.Words["99"] == "") {
			t.Errorf("%s: %+v; the last group %+v", c.name, f, last)
		}
		if _, err := json.Marshal(all); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// figured sets p99 of a run.
func figured(f result.Figure) func(*result.Run) {
	return func(r *result.Run) { r.Summary.Histograms[result.DeliveryResponse].Figures["99"] = f }
}

// TestHistoryOfNoThroughput: a load flat out that delivers nothing ranks behind every rate.
func TestHistoryOfNoThroughput(t *testing.T) {
	runs := made(levels(250, 250, 250)...)
	for i, r := range runs {
		r.Header.Mode, r.Summary.Counters.Sent = result.ModeFlatOut, 50_000
		r.Summary.Throughput = &result.Throughput{Messages: 50_000, PerSecond: 1e5 + float64(i%7)}
		if i >= 32 {
			r.Summary.Throughput = &result.Throughput{Needs: result.LeastThroughput}
		}
	}
	all, err := Of(runs, both)
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	if f := all[0].Figures[0]; f.Name != Throughput || len(f.Changes) != 1 || !f.Changes[0].Worse || all[0].Groups[20].Words[Throughput] != "0 of 50,000 sent" {
		t.Errorf("%+v; %+v", f, all[0].Groups[20])
	}
}

// TestHistoryGroups by each kind, leaves out what is not valid, and begins where it is told to.
func TestHistoryGroups(t *testing.T) {
	runs := made(levels(250)...)
	runs[0].Summary.Verdict.Status = result.Invalid
	runs[1].Summary.Verdict.Status = result.Unstable
	runs[2].Header.Revision = ""
	runs[3].Header.Scenario = json.RawMessage(`{"size": 1}`)
	runs[5].Header.Machine = []result.Fact{{Section: "processor", Name: "model", Value: "another"}}
	of := func(o Options) []*History {
		t.Helper()
		all, err := Of(runs, o)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	o := both
	for by, want := range map[By]int{ByCommit: 7, ByVersion: 2, ByDay: 8, ByRun: 15} {
		o.By = by
		all := of(o)
		if len(all) != 2 || len(all[0].Groups) != want || all[0].LeftOut != 1 || all[0].Machines != 2 {
			t.Errorf("by %s: %d loads, the first %+v, want %d groups", by, len(all), all[0], want)
		}
	}
	o.By, o.Since = ByCommit, "c4"
	if all := of(o); len(all) != 1 || len(all[0].Groups) != 4 || !all[0].Figures[1].Undecided() {
		t.Errorf("since c4: %+v", all[0])
	}
	o.Since = "gone"
	if _, err := Of(runs, o); !errors.Is(err, ErrInput) {
		t.Errorf("since a commit that no run has: %v", err)
	}
	for _, r := range runs {
		r.Header.Revision = ""
	}
	if _, err := Of(runs, both); !errors.Is(err, ErrInput) {
		t.Errorf("without commits: %v", err)
	}
}
