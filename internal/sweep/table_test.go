package sweep

import (
	"math"
	"testing"

	"sixnines/result"
)

// outcomeAt is a run whose p50, p99 and p99.9 are v, each with an interval of ±1.
func outcomeAt(round int, v int64, status result.Status) Outcome {
	o := Outcome{Round: round, Status: status, Semantics: "s", Asked: 100, Achieved: float64(v), Metric: result.DeliveryResponse, Figures: map[result.Percentile]Figure{}}
	for _, p := range Percentiles() {
		o.Figures[p] = Figure{Value: v, Low: v - 1, High: v + 1}
		if status == result.Unstable {
			o.Figures[p] = Figure{Missing: "unstable"}
		}
	}
	return o
}

func gridOf(t *testing.T, texts ...string) Grid {
	t.Helper()
	var axes []Axis
	for _, text := range texts {
		a, err := ParseAxis(text)
		if err != nil {
			t.Fatal(err)
		}
		axes = append(axes, a)
	}
	g, err := NewGrid(axes...)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// A figure is that of the round in the middle; its interval is what the runs have
// seen, and the median's from six rounds on.
func TestSpread(t *testing.T) {
	g := gridOf(t, "rate=100/s,200/s")
	row := func(runs ...Outcome) Row { return NewTable(g, len(runs), map[int][]Outcome{1: runs}).Rows[0] }
	r := row(outcomeAt(3, 30, result.Valid), outcomeAt(1, 10, result.Valid), outcomeAt(2, 70, result.Suspect))
	if got := r.Latency["99"]; got != (Spread{Value: 30, Low: 9, High: 71, Runs: 3}) {
		t.Errorf("%+v", got)
	}
	if r.Runs[0].Round != 1 || r.Runs[2].Round != 3 || r.Count(result.Suspect) != 1 || r.Unstable() || r.Cell[0].Value != "200/s" {
		t.Errorf("%+v", r)
	}
	if got := r.Achieved; got != (Spread{Value: 30, Low: 10, High: 70, Runs: 3}) {
		t.Errorf("%+v", got)
	}
	if got := row(outcomeAt(1, 10, result.Valid), outcomeAt(2, 20, result.Valid)).Latency["50"].Value; got != 10 {
		t.Errorf("of two rounds %v, and no average", got)
	}
	var six []Outcome
	for i := range 6 {
		six = append(six, outcomeAt(i+1, int64(10*(i+1)), result.Valid))
	}
	if got := row(six...).Latency["50"]; got != (Spread{Value: 30, Low: 10, High: 60, Bounded: true, Runs: 6}) {
		t.Errorf("%+v", got)
	}
	// The median of 20 rounds is not that of the six that have a figure, but of 19 it is
	// nearly known.
	rounds := func(valid, invalid int) Spread {
		var runs []Outcome
		for i := range valid {
			runs = append(runs, outcomeAt(i+1, int64(10*(i+1)), result.Valid))
		}
		for i := range invalid {
			runs = append(runs, outcomeAt(valid+i+1, 1, result.Invalid))
		}
		return NewTable(g, valid+invalid, map[int][]Outcome{1: runs}).Rows[0].Latency["99"]
	}
	if got := rounds(6, 14); got.Low != 9 || got.High != 61 || got.Runs != 6 {
		t.Errorf("%+v", got)
	}
	if got := rounds(18, 1); got.Low != 40 || got.High != 150 || got.Runs != 18 {
		t.Errorf("%+v", got)
	}
	r = row(outcomeAt(1, 10, result.Valid), outcomeAt(2, 0, result.Unstable), outcomeAt(3, 0, result.Unstable))
	if got := r.Latency["50"]; got.OK() || got.Missing != "unstable" || !r.Unstable() {
		t.Errorf("%+v", got)
	}
	r = row(outcomeAt(1, 10, result.Valid), outcomeAt(2, 20, result.Valid), outcomeAt(3, 0, result.Unstable))
	if got := r.Latency["50"]; got != (Spread{Value: 20, Low: 9, High: 21, Above: "unstable", Runs: 2}) || r.Unstable() {
		t.Errorf("%+v", got)
	}
	r = row(outcomeAt(1, 10, result.Invalid), outcomeAt(2, 0, result.Unstable), outcomeAt(3, 20, result.Invalid))
	if !r.Unstable() {
		t.Errorf("the only run that is not INVALID was overloaded: %+v", r)
	}
	// What is refused is slower than what has a number, in the interval of the median
	// as well.
	refused := outcomeAt(7, 0, result.Valid)
	refused.Figures["99"] = Figure{Missing: "refused"}
	r = row(append(six, refused)...)
	if got := r.Latency["99"]; got != (Spread{Value: 40, Low: 10, High: 61, Bounded: true, Above: "refused", Runs: 6}) {
		t.Errorf("%+v", got)
	}
	if got := r.Latency["50"]; got.Above != "" || got.Runs != 7 {
		t.Errorf("%+v", got)
	}
}

// The figures of INVALID runs are not used.
func TestInvalidLeftOut(t *testing.T) {
	g := gridOf(t, "rate=100/s,200/s")
	bad := outcomeAt(2, 1000, result.Invalid)
	r := NewTable(g, 3, map[int][]Outcome{0: {outcomeAt(1, 10, result.Valid), bad, outcomeAt(3, 30, result.Valid)}, 1: {bad}}).Rows
	if got := r[0].Latency["99"]; got != (Spread{Value: 10, Low: 9, High: 31, Runs: 2}) || r[0].Count(result.Invalid) != 1 {
		t.Errorf("%+v", got)
	}
	if got := r[1].Achieved; got.OK() || got.Missing != "invalid" {
		t.Errorf("%+v", got)
	}
}

// Runs of one cell that mean something else are rows of their own.
func TestSemanticsApart(t *testing.T) {
	other := outcomeAt(2, 20, result.Valid)
	other.Semantics = "fsync never"
	table := NewTable(gridOf(t, "rate=100/s,200/s"), 3, map[int][]Outcome{0: {outcomeAt(1, 10, result.Valid), other, outcomeAt(3, 30, result.Valid)}})
	if len(table.Rows) != 2 || table.Rows[0].Semantics != "s" || len(table.Rows[0].Runs) != 2 || table.Rows[1].Semantics != "fsync never" || len(table.Rows[1].Runs) != 1 {
		t.Errorf("%+v", table.Rows)
	}
	if got := table.Left(); got != "3 of 6 trials were made" {
		t.Error(got)
	}
}

// Curves go along one axis, ascending, with the others held.
func TestAlong(t *testing.T) {
	g := gridOf(t, "size=256B,1KiB", "rate=300/s,100/s,20/s")
	outcomes := map[int][]Outcome{}
	for i := range g.Len() {
		outcomes[i] = []Outcome{outcomeAt(1, int64(i+1), result.Valid)}
	}
	table := NewTable(g, 1, outcomes)
	if got := table.Main(); got != "workload.rate" {
		t.Error(got)
	}
	curves := table.Along(table.RateKey())
	if len(curves) != 2 || curves[0].Name() != "size=256B" || curves[1].Name() != "size=1KiB" || table.Left() != "" {
		t.Fatalf("%+v", curves)
	}
	for i, want := range [][]float64{{3, 2, 1}, {6, 5, 4}} {
		for k, x := range []float64{20, 100, 300} {
			if c := curves[i]; c.X[k] != x || c.Rows[k].Achieved.Value != want[k] {
				t.Errorf("%s at %v: %+v", c.Name(), c.X[k], c.Rows[k])
			}
		}
	}
	if curves := table.Along("workload.size"); len(curves) != 3 || curves[0].X[1] != 1024 {
		t.Errorf("%+v", curves)
	}
	if g := gridOf(t, "pattern=publish,deliver"); NewTable(g, 1, nil).Main() != "" {
		t.Error("words along a chart's axis")
	}
}

// A consume load sends nothing: its rate is that of what it received, unless too few messages
// came for a rate.
func TestOutcomeOfAConsumeLoad(t *testing.T) {
	run := &result.Run{Header: result.Header{Mode: result.ModeConsume}, Summary: &result.Summary{Throughput: &result.Throughput{Received: 500, ReceivedPerSecond: 250}}}
	if o := OutcomeOf(run, 1); o.Achieved != 250 || o.Few {
		t.Errorf("%g/s, too few: %v", o.Achieved, o.Few)
	}
	run.Summary.Throughput.Needs = 100
	if o := OutcomeOf(run, 1); o.Achieved != 0 || !o.Few {
		t.Errorf("%g/s, too few: %v", o.Achieved, o.Few)
	}
}

// An outcome has the figures of its run and their qualifications.
func TestOutcomeOf(t *testing.T) {
	run := &result.Run{Header: result.Header{ID: "x", Size: 10, Ack: "broker"}, Summary: &result.Summary{
		Verdict: result.Verdict{Status: result.Valid, Limits: []result.Limit{{Metric: result.DeliveryResponse, From: "99.9"}}},
		Rate:    result.Rate{Asked: 100, Sent: 90},
		Histograms: map[result.Metric]*result.Distribution{
			result.DeliveryService: {Count: 9},
			result.DeliveryResponse: {Count: 9, Figures: map[result.Percentile]result.Figure{
				"50": {Value: 5, Interval: &result.Bounds{Low: 4, High: 6}}, "99": {Value: 9, AtLeast: true}, "99.9": {Value: 10}}},
		}},
		Series: []result.Point{
			{Phase: "warm-up", End: 1e9, Counters: result.Counters{Sent: 100}, Vitals: map[result.Vital]float64{"process.cpu": 9, "broker.cpu": 9}},
			{Phase: result.PhaseMeasure, End: 2e9, Counters: result.Counters{Sent: 100}, Vitals: map[result.Vital]float64{"process.cpu": 0.5, "broker.cpu": 0.2}},
		}}
	o := OutcomeOf(run, 2)
	if o.Round != 2 || o.Bytes != 900 || o.Metric != result.DeliveryResponse || math.Abs(o.GeneratorCPU-0.01) > 1e-12 || math.Abs(o.BrokerCPU-0.002) > 1e-12 {
		t.Errorf("%+v", o)
	}
	for p, want := range map[string]Figure{"50": {Value: 5, Low: 4, High: 6}, "99": {Value: 9, AtLeast: true}, "99.9": {Value: 10, Suspect: true}} {
		if o.Figures[result.Percentile(p)] != want {
			t.Errorf("p%s is %+v, want %+v", p, o.Figures[result.Percentile(p)], want)
		}
	}
	// What concerns all of the run concerns each figure.
	run.Summary.Verdict.Status, run.Summary.Verdict.Reasons = result.Suspect, []result.Reason{{Status: result.Suspect, Code: result.ReasonSteal}}
	if o = OutcomeOf(run, 1); !o.Figures["50"].Suspect || !o.Figures["99"].Suspect {
		t.Errorf("a run that is suspect as a whole: %+v", o.Figures)
	}
	run.Summary.Verdict.Reasons = nil
	run.Summary.Verdict.Limits[0].InvalidFrom = "99.9"
	if o = OutcomeOf(run, 1); o.Figures["99.9"] != (Figure{Missing: "invalid"}) || o.Figures["99"].Missing != "" {
		t.Errorf("invalid from p99.9 on: %+v", o.Figures)
	}
	run.Summary.Verdict.Status = result.Unstable
	if o = OutcomeOf(run, 1); o.Figures["50"].Missing != "unstable" {
		t.Errorf("%+v", o)
	}
	if r := rowOf(nil, []Outcome{o}, 1); !r.GeneratorCPU.OK() || r.BrokerCPU.Value != o.BrokerCPU {
		t.Errorf("%+v", r)
	}
	// Processor time that several workloads share is no figure of one, and not 0.
	run.Header.Workload = "traffic"
	if r := rowOf(nil, []Outcome{OutcomeOf(run, 1)}, 1); r.GeneratorCPU.Missing != "none" || r.BrokerCPU.Missing != "none" {
		t.Errorf("%+v", r)
	}
}

// Of some of a cell's rounds there is no interval for the median of all: those of a
// closed loop that have too few messages for a percentile are the slow ones.
func TestIntervalIsOfAllRounds(t *testing.T) {
	for absent, want := range map[int]Spread{
		0: {Value: 1.5e6, Low: 1.1e6, High: 1.9e6, Bounded: true, Runs: 11},
		5: {Value: 1.2e6, Low: 9e5, High: 2.5e6, Runs: 6},
	} {
		var runs []Outcome
		for i := range 11 {
			f := Figure{Value: int64(1e6 + 1e5*i), Low: 9e5, High: 2.5e6}
			if i >= 11-absent {
				f = Figure{Missing: "unsupported"}
			}
			runs = append(runs, Outcome{Round: i + 1, Status: result.Valid, Metric: result.RoundTripResponse, Figures: map[result.Percentile]Figure{"99.9": f}})
		}
		if s := rowOf(nil, runs, len(runs)).Latency["99.9"]; s != want {
			t.Errorf("%d without: %+v", absent, s)
		}
	}
}
