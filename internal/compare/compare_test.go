package compare

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

// steady returns sets of so many pairs whose percentiles hardly vary, B's being
// factor times A's; change may alter any of them.
func steady(pairs int, factor float64, change func(side, n int, r *result.Run)) (a, b []*result.Run) {
	at := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	noise := rand.New(rand.NewPCG(1, 2))
	for n := range 2 * pairs {
		side := (n + n/2) % 2 // AB BA AB …
		scale := 1 + 0.002*noise.Float64()
		if side == 1 {
			scale *= factor
		}
		d := &result.Distribution{Count: 1e5, Samples: 1e5, Max: int64(9e6 * scale),
			Figures: map[result.Percentile]result.Figure{
				"50": {Value: int64(80e3 * scale), Interval: &result.Bounds{Low: int64(79e3 * scale), High: int64(81e3 * scale)}},
				"99": {Value: int64(400e3 * scale)}, "99.9": {Value: int64(1e6 * scale)}, "99.9999": {Needs: 3688878}}}
		r := &result.Run{Path: fmt.Sprintf("%s%02d.jsonl", []string{"a", "b"}[side], n/2),
			Header: result.Header{ID: fmt.Sprintf("%016x", n+1), Started: at.Add(time.Duration(n) * time.Minute), Mode: result.ModeOpen,
				Pattern: "deliver", Driver: "nats", Rate: 1000, Size: 256, Ack: "none",
				Scenario:  json.RawMessage(`{"name":"x","workload":{"rate":"1000/s","consumers":1},"phases":{"duration":"10s"}}`),
				Semantics: result.Semantics{Durability: "memory", Delivery: "at most once", Settings: map[string]string{"server_id": fmt.Sprint(n)}},
				Machine:   []result.Fact{{Section: "cpu", Name: "model", Value: "x"}, {Section: "memory", Name: "available", Value: fmt.Sprint(n)}}},
			Summary: &result.Summary{Verdict: result.Verdict{Status: result.Valid}, Counters: result.Counters{Scheduled: 1000, Acked: 1000},
				Rate: result.Rate{Asked: 1000, Sent: 1000, WorstSecond: 1}, Histograms: map[result.Metric]*result.Distribution{result.DeliveryResponse: d}}}
		if change != nil {
			change(side, n/2, r)
		}
		if side == 0 {
			a = append(a, r)
		} else {
			b = append(b, r)
		}
	}
	return a, b
}

func compared(t *testing.T, a, b []*result.Run, o Options) *Comparison {
	t.Helper()
	c, err := Compare(a, b, o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := json.Marshal(c); err != nil {
		t.Errorf("no JSON of it: %v", err)
	}
	return c
}

func (c *Comparison) row(percentile result.Percentile) Row {
	for _, r := range c.Metrics[0].Rows {
		if r.Percentile == percentile {
			return r
		}
	}
	return Row{}
}

func standard() Options { return Options{MinEffect: DefaultMinEffect} }

func TestOutcomes(t *testing.T) {
	for _, tt := range []struct {
		name    string
		pairs   int
		factor  float64
		least   float64
		want    Outcome
		regress bool
	}{
		{"slower", 6, 1.2, 0.05, Slower, true},
		{"faster", 6, 1 / 1.2, 0.05, Faster, false},
		{"too little to matter", 6, 1.02, 0.05, Same, false},
		{"any change matters", 6, 1.02, 0, Slower, true},
		{"on the edge", 10, 1.05, 0.05, Undecided, false},
		{"five pairs, however clear", 5, 3, 0.05, TooFew, false},
		{"three against three", 3, 100, 0.05, TooFew, false},
		{"one", 1, 2, 0.05, TooFew, false},
	} {
		a, b := steady(tt.pairs, tt.factor, nil)
		c := compared(t, a, b, Options{MinEffect: tt.least})
		if c.Outcome != tt.want || len(c.Regressions) > 0 != tt.regress {
			t.Errorf("%s: %s (%s), regressions %q; want %s", tt.name, c.Outcome, c.Text, c.Regressions, tt.want)
		}
		if c.Kind != KindSets || c.A.Used != tt.pairs || len(c.Differences) != 0 {
			t.Errorf("%s: %s, %d used, unlike %v", tt.name, c.Kind, c.A.Used, c.Differences)
		}
		r := c.row("99")
		if tt.want == TooFew {
			if r.Shift != nil || r.Outcome != "" || c.Ungated == "" || !strings.Contains(c.Ungated, "6") {
				t.Errorf("%s: a statement without the runs for it: %+v, gate %q", tt.name, r, c.Ungated)
			}
			continue
		}
		if r.Shift == nil || r.Shift.Lo > r.Shift.Ratio || r.Shift.Hi < r.Shift.Ratio || c.Ungated != "" {
			t.Fatalf("%s: %+v, gate %q", tt.name, r, c.Ungated)
		}
		if ns := r.A.Mean * (r.Shift.Ratio - 1); ns != r.Shift.Ns {
			t.Errorf("%s: %v ns of %v, want %v", tt.name, r.Shift.Ns, r.A.Mean, ns)
		}
		// What stands beside a change comes from the same estimator: B's over A's is it.
		if ratio := r.B.Mean / r.A.Mean; math.Abs(ratio/r.Shift.Ratio-1) > 1e-9 {
			t.Errorf("%s: %v ÷ %v is not %v", tt.name, r.B.Mean, r.A.Mean, r.Shift.Ratio)
		}
		if m := c.row("max"); m.Shift != nil || m.Outcome != "" || m.A.Runs != tt.pairs {
			t.Errorf("%s: the maximum is judged or missing: %+v", tt.name, m)
		}
	}
}

// What is slower one way round is faster the other, by the inverse factor.
func TestMirrored(t *testing.T) {
	a, b := steady(8, 1.2, nil)
	there, back := compared(t, a, b, standard()).row("99.9"), compared(t, b, a, standard()).row("99.9")
	if there.Outcome != Slower || back.Outcome != Faster {
		t.Errorf("%s and %s", there.Outcome, back.Outcome)
	}
	for what, product := range map[string]float64{"ratio": there.Shift.Ratio * back.Shift.Ratio, "bounds": there.Shift.Lo * back.Shift.Hi} {
		if product < 1-1e-6 || product > 1+1e-6 {
			t.Errorf("%s: the product is %v", what, product)
		}
	}
}

// A run is one sample: ten million messages show no difference between sets of widely varying runs.
func TestRunsDecideNotMessages(t *testing.T) {
	a, b := steady(6, 1, func(side, n int, r *result.Run) {
		d := r.Summary.Histograms[result.DeliveryResponse]
		d.Count, d.Samples = 1e7, 1e7
		for p := range d.Figures {
			d.Update(p, func(f *result.Figure) { f.Value = f.Value * int64(10+(n*7+side*5)%10) / 10 })
		}
	})
	if c := compared(t, a, b, standard()); c.Outcome != Undecided || c.P < 0.05 {
		t.Errorf("%s, p %v", c.Outcome, c.P)
	}
}

func TestUnfitRunsAreLeftOutWithTheirPartners(t *testing.T) {
	a, b := steady(8, 1.2, func(side, n int, r *result.Run) {
		switch {
		case side == 0 && n == 2:
			r.Summary.Verdict = result.Verdict{Status: result.Invalid, Reasons: []result.Reason{{Status: result.Invalid, Found: "throttled", Try: "do that"}}}
		case side == 1 && n == 5:
			r.Summary = nil
		}
	})
	c := compared(t, a, b, standard())
	if len(c.Pairs) != 6 || len(c.Left) != 4 || c.Outcome != Slower {
		t.Fatalf("%d pairs, left %v, %s", len(c.Pairs), c.Left, c.Outcome)
	}
	for _, p := range c.Pairs {
		if p.A[1:] != p.B[1:] {
			t.Errorf("pair %v: partners have moved", p)
		}
	}
	var left []string
	for _, l := range c.Left {
		left = append(left, fmt.Sprintf("%s: %s, partner %t", l.Side, l.Why, l.Partner))
	}
	text := strings.Join(left, "; ")
	for _, want := range []string{"INVALID: throttled, partner false", "cut short, partner false", "its partner in pair 3 cannot be used, partner true", "its partner in pair 6"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
	a, b = steady(6, 1.2, func(side, n int, r *result.Run) { r.Summary.Aborted = side == 1 })
	if c := compared(t, a, b, standard()); c.Outcome != Nothing || c.Ungated == "" {
		t.Errorf("%s, gate %q", c.Outcome, c.Ungated)
	}
}

func TestUnevenSets(t *testing.T) {
	a, b := steady(8, 1.2, nil)
	c := compared(t, a, b[:6], standard())
	if len(c.Pairs) != 6 || len(c.Left) != 2 || c.Left[0].Side != "A" || !strings.Contains(c.Left[0].Why, "no partner") {
		t.Errorf("%d pairs, left %v", len(c.Pairs), c.Left)
	}
}

// The runs of an ab are paired by what they say, not by the order of files or of
// time.
func TestPairsOfAnAB(t *testing.T) {
	a, b := steady(6, 1.2, func(side, n int, r *result.Run) {
		r.Header.Trial = &result.Trial{Set: "s", Kind: result.TrialAB, Arm: []string{"A", "B"}[side], Pair: (n*5)%6 + 1, Index: n + 1, Of: 12}
		r.Header.Started = r.Header.Started.Add(time.Duration(side) * -time.Hour)
		r.Header.Scenario = fmt.Appendf(nil, `{"name":"x","seed":%d,"workload":{"rate":"1000/s"}}`, r.Header.Trial.Pair)
	})
	slices.Reverse(a)
	c := compared(t, a, b, standard())
	if c.Kind != KindAA { // the scenarios are the same, but for the seed of each pair
		t.Errorf("kind %s", c.Kind)
	}
	for _, p := range c.Pairs {
		if p.A[1:] != p.B[1:] {
			t.Errorf("pair %v", p)
		}
	}
	if len(c.Differences) != 0 || !strings.HasPrefix(c.Text, "FALSE ALARM") {
		t.Errorf("unlike %v; %s", c.Differences, c.Text)
	}
	c = compared(t, a[1:], b, standard())
	if len(c.Pairs) != 5 || len(c.Left) != 1 || !strings.Contains(c.Left[0].Why, "has no A") {
		t.Errorf("%v, left %v", c.Pairs, c.Left)
	}
}

// Measuring all of A before all of B, which makes identical systems look different, is
// reported; so is an A that always goes first.
func TestOrderIsTold(t *testing.T) {
	a, b := steady(6, 1, func(side, n int, r *result.Run) {
		r.Header.Started = r.Header.Started.Add(time.Duration(side) * 24 * time.Hour)
	})
	c := compared(t, a, b, standard())
	if len(c.Differences) != 1 || c.Differences[0].What != "order" || c.Differences[0].Weight != Large {
		t.Errorf("%v", c.Differences)
	}
	a, b = steady(6, 1, func(side, n int, r *result.Run) {
		r.Header.Started = time.Unix(int64(n*100+side*10), 0)
	})
	if c = compared(t, a, b, standard()); len(c.Differences) != 1 || c.Differences[0].A != "always first" {
		t.Errorf("%v", c.Differences)
	}
}

func TestUnlike(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(h *result.Header)
		what   string
		weight Weight
	}{
		"durability": {func(h *result.Header) { h.Semantics.Durability = "disk" }, "durability", Decisive},
		"ack":        {func(h *result.Header) { h.Ack = "broker" }, "what an acknowledgement is", Decisive},
		"mode":       {func(h *result.Header) { h.Mode = result.ModeClosed }, "mode", Decisive},
		"rate":       {func(h *result.Header) { h.Rate = 2000 }, "rate", Decisive},
		"size":       {func(h *result.Header) { h.Size = 1024 }, "size", Decisive},
		"consumers": {func(h *result.Header) {
			h.Scenario = json.RawMessage(`{"workload":{"rate":"1000/s","consumers":2},"phases":{"duration":"10s"}}`)
		}, "consumers", Decisive},
		"duration": {func(h *result.Header) {
			h.Scenario = json.RawMessage(`{"workload":{"rate":"1000/s","consumers":1},"phases":{"duration":"20s"}}`)
		}, "phases.duration", Large},
		"batching": {func(h *result.Header) { h.Semantics.Batching = "5 ms" }, "batching", Large},
		"machine":  {func(h *result.Header) { h.Machine = []result.Fact{{Section: "cpu", Name: "model", Value: "y"}} }, "cpu model", Large},
		"version":  {func(h *result.Header) { h.Broker = map[string]string{"version": "2"} }, "broker version", Large},
		"version, which older results have twice": {func(h *result.Header) {
			h.Broker = map[string]string{"version": "2"}
			h.Semantics.Settings = map[string]string{"server_version": "2"}
		}, "broker version", Large},
		"tool":  {func(h *result.Header) { h.Tool.Version = "2" }, "tool version", Large},
		"clock": {func(h *result.Header) { h.Clock.Domain = "boot 2" }, "clock domain", Small},
		"floor": {func(h *result.Header) {
			h.Floor = &result.Floor{Percentiles: map[result.Metric]map[result.Percentile]int64{result.DeliveryResponse: {"50": 1}}}
		}, "noise floor", Small},
	} {
		a, b := steady(6, 1.2, func(side, n int, r *result.Run) {
			if side == 1 {
				tt.change(&r.Header)
			}
		})
		c := compared(t, a, b, standard())
		if len(c.Differences) != 1 || c.Differences[0].What != tt.what || c.Differences[0].Weight != tt.weight || c.Differences[0].Why == "" {
			t.Errorf("%s: %+v", name, c.Differences)
		}
		refused := tt.weight == Decisive
		if (c.Outcome == Unranked) != refused || (c.Refused != "") != refused || refused && (c.row("99").Shift != nil || c.Ungated == "") {
			t.Errorf("%s: %s, refused %q, gate %q", name, c.Outcome, c.Refused, c.Ungated)
		}
		o := standard()
		o.RankUnlike = true
		if c = compared(t, a, b, o); c.Outcome != Slower || c.Forced != refused {
			t.Errorf("%s: %s although it was asked for, forced %v", name, c.Outcome, c.Forced)
		}
	}
	// One odd run within a set counts as much.
	a, b := steady(6, 1, func(side, n int, r *result.Run) {
		if side == 0 && n == 3 {
			r.Header.Size = 1024
		}
	})
	if c := compared(t, a, b, standard()); c.Outcome != Unranked || !strings.Contains(c.Differences[0].A, "1024 B in 1 of 6") {
		t.Errorf("%s, %v", c.Outcome, c.Differences)
	}
}

// Runs that lack a percentile are the slow ones: if one lacks it, nothing is stated about it.
func TestPercentilesThatSomeRunLacks(t *testing.T) {
	a, b := steady(8, 1.2, func(side, n int, r *result.Run) {
		d := r.Summary.Histograms[result.DeliveryResponse]
		switch {
		case side == 1 && n == 0:
			d.Figures["99.9"] = result.Figure{Needs: 3688}
		case side == 1 && n == 1:
			atLeast(d, "99")
		}
	})
	c := compared(t, a, b, standard())
	for p, want := range map[string]string{"99.9": "needs 3,688", "99": "lower bound"} {
		if r := c.row(result.Percentile(p)); r.Shift != nil || r.Outcome != NoFigure || len(r.Notes) == 0 || !strings.Contains(r.Notes[0], want) {
			t.Errorf("p%s: %+v", p, r)
		}
	}
	if r := c.row("50"); r.Outcome != Slower {
		t.Errorf("p50: %+v", r)
	}
	if r := c.row("99.9999"); r.Percentile != "" {
		t.Errorf("p99.9999 is in no run: %+v", r)
	}
}

// A run invalid from a percentile on has figures only below it: nothing is stated about the rest.
func TestPercentilesThatAreInvalidInARun(t *testing.T) {
	a, b := steady(8, 1.2, func(side, n int, r *result.Run) {
		if side == 0 && n == 2 {
			r.Summary.Verdict.Limits = []result.Limit{{Metric: result.DeliveryResponse, ValidTo: "50", From: "99", InvalidFrom: "99", Why: "own lag", InvalidWhy: "own lag"}}
		}
	})
	c := compared(t, a, b, standard())
	for _, p := range []string{"99", "99.9"} {
		if r := c.row(result.Percentile(p)); r.Shift != nil || r.Outcome != NoFigure || len(r.Notes) == 0 || !strings.Contains(r.Notes[0], "in 1 of 16 runs INVALID") {
			t.Errorf("p%s: %+v", p, r)
		}
	}
	if r := c.row("50"); r.Outcome != Slower || len(c.Left) > 0 {
		t.Errorf("p50: %+v, %+v", r, c.Left)
	}
}

func TestLossAndOverloadAreRegressions(t *testing.T) {
	a, b := steady(6, 1, func(side, n int, r *result.Run) {
		if side == 1 && n == 4 {
			r.Summary.Counters.LostAcked, r.Summary.Counters.Missing = 3, 3
		}
	})
	if c := compared(t, a, b, standard()); c.Gate.Answer != Open || !opens(c, "messages lost although acknowledged: A none, B 3 in 1 run") {
		t.Errorf("%+v", c.Gate)
	}
	if c := compared(t, b, a, standard()); len(c.Regressions) != 0 || c.Gate.Answer != NotWorse {
		t.Errorf("the other way round: %+v", c.Gate)
	}
	// An overload leaves the run out of the figures, and its losses count.
	a, b = steady(8, 1, func(side, n int, r *result.Run) {
		if side == 1 && n == 4 {
			r.Summary.Verdict.Status, r.Summary.Counters.LostAcked = result.Unstable, 5
		}
	})
	if c := compared(t, a, b, standard()); len(c.Pairs) != 7 || c.Gate.Answer != Open || !opens(c, "messages lost although acknowledged: A none, B 5 in 1 run") || !opens(c, "did not carry the load in 1") {
		t.Errorf("%d pairs, %+v", len(c.Pairs), c.Gate)
	}
	for failures, want := range map[int]int{5: 0, 6: 1} {
		a, b = steady(6, 1, func(side, n int, r *result.Run) {
			if side == 1 && n < failures {
				r.Summary.Verdict.Status = result.Unstable
			}
		})
		if c := compared(t, a, b, standard()); len(c.Regressions) != want || c.Ungated == "" {
			t.Errorf("%d overloads: %q, gate %q", failures, c.Regressions, c.Ungated)
		}
	}
	// Though the pairs that are left are alike.
	for _, tt := range []struct {
		overloads, unresolved, byA int
		want                       string
	}{
		{6, 0, 0, "only B failed in 6 pairs, only A in 0 (p = 0.016): B did not carry the load in 6"},
		{0, 6, 0, "B had unresolved messages up to a judged percentile in 6"},
		{3, 3, 0, "B did not carry the load in 3 and had unresolved messages up to a judged percentile in 3"},
		{3, 2, 0, ""},
		{6, 6, 1, "only B failed in 12 pairs, only A in 1"},
		{6, 6, 4, ""},
	} {
		a, b = steady(20, 1, func(side, n int, r *result.Run) {
			switch {
			case side == 1 && n < tt.overloads || side == 0 && n >= 20-tt.byA:
				r.Summary.Verdict.Status = result.Unstable
			case side == 1 && n < tt.overloads+tt.unresolved:
				atLeast(r.Summary.Histograms[result.DeliveryResponse], "99.9")
			}
		})
		c := compared(t, a, b, standard())
		if got := strings.Join(c.Regressions, "; "); c.Ungated != "" || (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%+v: %q, gate %q", tt, got, c.Ungated)
		}
		if c := compared(t, b, a, standard()); len(c.Regressions) != 0 {
			t.Errorf("%+v, the other way round: %q", tt, c.Regressions)
		}
	}
}

// opens reports whether a gate is undecided for such a reason.
func opens(c *Comparison, text string) bool {
	return slices.ContainsFunc(c.Gate.Of(Open), func(j Judged) bool { return j.Cause != "" && strings.Contains(j.Text, text) })
}

// Flat out more is better.
func TestThroughput(t *testing.T) {
	a, b := steady(6, 1, func(side, n int, r *result.Run) {
		r.Header.Mode, r.Header.Rate = result.ModeFlatOut, 0
		r.Summary.Throughput = &result.Throughput{PerSecond: float64(100000 - 20000*side + 10*n)}
		r.Summary.Histograms[result.DeliveryService] = r.Summary.Histograms[result.DeliveryResponse]
		delete(r.Summary.Histograms, result.DeliveryResponse)
	})
	c := compared(t, a, b, standard())
	if c.Outcome != Slower || c.Throughput == nil || c.Throughput.Outcome != Slower || c.Throughput.Shift.Ratio > 0.81 || len(c.Regressions) != 1 {
		t.Errorf("%s, %+v, %q", c.Outcome, c.Throughput, c.Regressions)
	}
	if m := c.Metrics[0]; m.Judged || m.Rows[0].Outcome != "" {
		t.Errorf("service times are judged: %+v", m)
	}
	if c = compared(t, b, a, standard()); c.Outcome != Faster || len(c.Regressions) != 0 {
		t.Errorf("the other way round: %s, %q", c.Outcome, c.Regressions)
	}
}

// One metric is judged; others are information, unless they are asked for.
func TestJudgedMetrics(t *testing.T) {
	a, b := steady(6, 1.2, func(side, n int, r *result.Run) {
		r.Summary.Histograms[result.PublishResponse] = r.Summary.Histograms[result.DeliveryResponse]
	})
	c := compared(t, a, b, standard())
	if !c.Metrics[0].Judged || c.Metrics[0].Metric != result.DeliveryResponse || c.Metrics[1].Judged || c.Metrics[1].Rows[0].Outcome != "" || c.Metrics[1].Rows[0].Shift == nil {
		t.Errorf("%+v", c.Metrics)
	}
	o := standard()
	o.Metrics, o.Percentiles = []result.Metric{result.PublishResponse}, []result.Percentile{"99"}
	if c = compared(t, a, b, o); c.Metrics[0].Metric != result.PublishResponse || !c.Metrics[0].Judged || len(c.Metrics[0].Rows) != 2 {
		t.Errorf("%+v", c.Metrics)
	}
	o.Metrics = []result.Metric{result.RoundTripResponse}
	if _, err := Compare(a, b, o); !errors.Is(err, ErrInput) {
		t.Errorf("a metric that is not there: %v", err)
	}
}

func TestRefused(t *testing.T) {
	a, b := steady(6, 1, nil)
	for name, tt := range map[string][2][]*result.Run{
		"nothing":            {nil, b},
		"itself":             {a, a},
		"a run twice":        {append(slices.Clone(a), a[0]), b},
		"a run on each side": {a, append(slices.Clone(b), a[2])},
	} {
		if c, err := Compare(tt[0], tt[1], standard()); !errors.Is(err, ErrInput) {
			t.Errorf("%s: %v, %v", name, c, err)
		}
	}
	for name, o := range map[string]Options{"effect": {MinEffect: -1}, "percentile": {Percentiles: []result.Percentile{"98"}}, "metric": {Metrics: []result.Metric{"x"}}} {
		if _, err := Compare(a, b, o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestSuspectReasonsAreShown(t *testing.T) {
	a, b := steady(6, 1, func(side, n int, r *result.Run) {
		if side == 1 && n%2 == 0 {
			r.Summary.Verdict = result.Verdict{Status: result.Suspect, Reasons: []result.Reason{
				{Status: result.Suspect, Code: "own-lag", Metric: result.DeliveryResponse, Percentile: "99", Text: "30 % is own lag"},
				{Status: result.Suspect, Code: "own-lag", Metric: result.DeliveryResponse, Percentile: "50", Text: "40 % is own lag"}, {Status: result.Valid, Code: "note"}}}
		}
	})
	c := compared(t, a, b, standard())
	if len(c.SuspectReasons) != 1 || c.SuspectReasons[0].Side != "B" || c.SuspectReasons[0].Runs != 3 || c.SuspectReasons[0].Code != "own-lag" ||
		!slices.Equal(c.SuspectReasons[0].Percentiles, []result.Percentile{"99", "50"}) {
		t.Errorf("%+v", c.SuspectReasons)
	}
	if r := c.row("99"); len(r.Notes) == 0 || !strings.Contains(r.Notes[0], "in 3 of 12 runs SUSPECT") {
		t.Errorf("%+v", r.Notes)
	}
}

// A value that differs in every run identifies something and is no property.
func TestIdentifiersAreNoDifferences(t *testing.T) {
	name := func(text func(side, n int) string) []Difference {
		a, b := steady(6, 1, func(side, n int, r *result.Run) {
			r.Header.Semantics.Settings = map[string]string{"shard": text(side, n)}
		})
		return compared(t, a, b, standard()).Differences
	}
	if d := name(func(side, n int) string { return fmt.Sprint(side, n) }); len(d) != 0 {
		t.Errorf("%v", d)
	}
	if d := name(func(side, n int) string { return fmt.Sprint(side) }); len(d) != 1 || d[0].What != "setting shard" {
		t.Errorf("%v", d)
	}
	if d := name(func(side, n int) string { return fmt.Sprint(n % 2) }); len(d) != 0 {
		t.Errorf("alike in both sets: %v", d)
	}
}

// Two values of a coarse histogram at one percentile leave the others no interval, but no infinity.
func TestTiesLeaveNoInterval(t *testing.T) {
	a, b := steady(6, 1.2, func(side, n int, r *result.Run) {
		r.Summary.Histograms[result.DeliveryResponse].Figures["50"] = result.Figure{Value: int64(80_000 + 800*side*(n%2))}
	})
	c := compared(t, a, b, standard())
	if r := c.row("99"); r.Shift != nil || r.Outcome != Undecided || len(r.Notes) != 1 || c.Outcome != Undecided || c.P > 0.05 {
		t.Errorf("%s, p %v: %+v", c.Outcome, c.P, r)
	}
}
