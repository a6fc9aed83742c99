package study

import (
	"errors"
	"strings"
	"testing"

	"sixnines/result"
	"sixnines/scenario"
)

const (
	besideX = "      - {kind: faster, a: x/r-100, b: y/r-100, figures: [p50]}\n"
	besideY = "      - {kind: ratio, a: x/r-200, b: y/r-200, figures: [cpu.broker], at_most: 2}\n"
)

// paired is the small study with pairs.
func paired(t *testing.T, beside, tests string, more ...string) (*Study, error) {
	t.Helper()
	text := strings.NewReplacer(more...).Replace(smallText) + "beside: " + beside + "\nconclusions:\n  - name: it\n    claim: it is so\n    tests:\n" + tests
	return Parse("small.yaml", []byte(text))
}

// Pairs are written with patterns, and are of the design. What cannot run at the same time is refused, with its line, and so is a
// claim about one cell of a pair alone.
func TestBeside(t *testing.T) {
	s, err := paired(t, `[{a: "x/r-{rate}", b: "y/r-{rate}", for: {rate: [100, 200]}}]`, besideX+besideY)
	if err != nil {
		t.Fatal(err)
	}
	cells, err := s.Cells(Default)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cells {
		want := map[string]string{"x/r-100": "y/r-100", "y/r-100": "x/r-100", "x/r-200": "y/r-200", "y/r-200": "x/r-200"}[c.Name]
		if c.Beside != want {
			t.Errorf("%s runs beside %q, want %q", c.Name, c.Beside, want)
		}
	}
	if one, err := paired(t, "[{a: x/r-100, b: y/r-100}]", besideX+besideY); err != nil || one.Design() == s.Design() {
		t.Errorf("%v: designs %s and %s", err, one.Design(), s.Design())
	}
	for _, tt := range []struct{ beside, tests, old, new, says string }{
		{"[{a: x/r-100, b: y/r-101}]", besideX, "", "", `there is no cell "y/r-101"`},
		{"[{a: x/r-100, b: y/r-100}, {a: y/r-100, b: x/r-200}]", besideX + "      - {kind: faster, a: y/r-100, b: x/r-200, figures: [p50]}\n", "", "", "y/r-100 is in two pairs"},
		{"[{a: x/r-100, b: x/r-100}]", besideX, "", "", "x/r-100 is in two pairs"},
		{"[{a: x/r-100, b: y/r-100}]", besideY, "", "", "no test compares x/r-100 with y/r-100"},
		{"[{a: x/r-100, b: y/r-100}]", besideX + "      - {kind: below, cells: [x/*], figures: [p50], bound: 1s}\n", "", "", "x/r-100 runs beside y/r-100, and this is about it alone"},
		{"[{a: x/r-100, b: y/r-100}]", besideX + "      - {kind: faster, a: x/r-200, b: y/r-100, figures: [p50]}\n", "", "", "y/r-100 runs beside x/r-100, and this is about it alone, or beside something else"},
		{"[{a: x/r-100, b: y/r-100}]", strings.Replace(besideX, "p50", "cpu.generator", 1), "", "", "cpu.generator of x/r-100: one process makes its runs and those of y/r-100"},
		{"[{a: x/r-100, b: y/r-200}]", "      - {kind: faster, a: x/r-100, b: y/r-200, figures: [p50]}\n", "", "", "small.yaml:16:10: x/r-100 and y/r-200 cannot run at the same time (quick): their rates differ: 100/s and 200/s"},
		{"[{a: x/r-100, b: y/r-100}]", besideX, "{rounds: 6,", "{rounds: 6, loads: [{cells: [x/r-100], rounds: 9}],", "(default): one has 9 rounds, the other 6"},
		{"[{a: x/r-100, b: y/r-100}]", besideX, "{rounds: 6,", "{rounds: 6, loads: [{cells: [x/r-100], scenario: {phases: {duration: 2s}}}],", "(default): their windows differ"},
		{"[{a: x/r-100, b: y/r-100}]", besideX, "{rounds: 6,", "{rounds: 6, cells: [x, y/r-200],", "(default): the length has only one of them"},
		{"[{a: x/r-100, b: y/r-100}]", besideX, `rate: "{rate}/s"`, "rate: max", "(quick): a load without a schedule takes what the other side leaves it"},
		{"[{a: x/r-100, b: y/r-100}]", besideX, `driver: "null"`, "driver: jetstream, nodes: 3", "(quick): two clusters at once are too much for one machine"},
		{"[{a: x/r-100, b: y/r-100}]", besideX, "base: {", "base: {actions: [{at: 100ms, pause: consumers, for: 100ms}], ", "(quick): actions and network conditions of one side would reach the other"},
		{"[{a: x/r-100, c: y/r-100}]", besideX, "", "", `unknown key "c"`},
	} {
		var many scenario.Errors
		if _, err := paired(t, tt.beside, tt.tests, tt.old, tt.new); !errors.As(err, &many) || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v, want %s", tt.beside, err, tt.says)
		}
	}
}

// Of exactly two versions the cells of a load may run at the same time; of three the first would run beside two.
func TestBesideOfVersions(t *testing.T) {
	s, err := Find("versions")
	if err != nil {
		t.Fatal(err)
	}
	for versions, pairs := range map[string]int{"1 2": 3, "1 2 3": 0} {
		made, err := s.With(Argument{Broker: "nats", Product: "nats", Driver: "nats", Versions: strings.Fields(versions)})
		if err != nil {
			t.Fatal(err)
		}
		if len(made.Beside) != pairs || pairs > 0 && made.beside("nats-1/fan-out") != "nats-2/fan-out" {
			t.Errorf("versions %s: %+v", versions, made.Beside)
		}
	}
}

// madeAtOnce makes runs those of cells that are made at the same time, with what both use of two processors.
func madeAtOnce(used float64, all ...*result.Run) []*result.Run {
	for _, r := range all {
		r.Header.Trial = &result.Trial{Beside: true, Design: &result.Design{Kind: result.DesignBeside, Reason: result.DesignUndisturbed}}
		r.Header.Machine = []result.Fact{{Name: result.FactProcessors, Value: "2"}}
		r.Series = []result.Point{{Phase: result.PhaseMeasure, End: 1e9, Counters: result.Counters{Sent: 100},
			Vitals: map[result.Vital]float64{result.VitalProcessCPU: 2 * used, result.VitalBrokerCPU: 0.001}}}
	}
	return all
}

// Rounds that are made at the same time are compared round by round, and with no others: one whose other run is INVALID counts
// for neither. Neither does one in which both took too much of the machine.
func TestRoundsBesideEachOther(t *testing.T) {
	s, err := paired(t, "[{a: x/r-100, b: y/r-100}]", besideX)
	if err != nil {
		t.Fatal(err)
	}
	found := func(x, y []*result.Run) Found {
		o := outcome(t, s, Default, map[string][]*result.Run{"x/r-100": x, "y/r-100": y})
		o.PairRounds()
		return Decide(o)[0].Tests[0]
	}
	with := func(all []float64, more ...*result.Run) []*result.Run { return append(rounds(all...), more...) }
	for _, tt := range []struct {
		name string
		x, y []*result.Run
		want Verdict
		says string
	}{
		{"at the same time", madeAtOnce(0.3, with(fast)...), madeAtOnce(0.3, with(slow)...), Agrees, "x/r-100 and y/r-100 ran at the same time; p50: y/r-100 ÷ x/r-100 is "},
		{"too much", madeAtOnce(0.3, with(fast)...), madeAtOnce(0.6, with(slow)...), Undecidable, "beside another run (both used more than half of the processors): x/r-100 and y/r-100 (rounds 1 to 6)"},
		{"too much once", append(madeAtOnce(0.3, with(fast)...), madeAtOnce(0.7, ms(1))...), madeAtOnce(0.3, with(slow, ms(2))...), Agrees, "in 6 rounds"},
		{"alone", with(fast), with(slow), Agrees, "p50: y/r-100 ÷ x/r-100 is "},
		// Were the INVALID round only y's, the six others of x would be paired with those of y, in their order.
		{"one INVALID of each, in different rounds", madeAtOnce(0.3, with(fast, spoilt(1, invalid))...), append(madeAtOnce(0.3, spoilt(2, invalid)), madeAtOnce(0.3, with(slow)...)...),
			Undecidable, "x/r-100: 1 of 7 rounds have no result (round 1 is beside an INVALID run: own lag)"},
		{"replaced", madeAtOnce(0.3, with(fast, spoilt(1, invalid), ms(1))...), append(madeAtOnce(0.3, with(slow)...), madeAtOnce(0.3, ms(2), ms(2))...), Agrees, "in 7 rounds"},
	} {
		if f := found(tt.x, tt.y); f.Verdict != tt.want || !strings.Contains(f.Text, tt.says) {
			t.Errorf("%s: %s: %s", tt.name, f.Verdict, f.Text)
		}
	}
	run := madeAtOnce(0.3, ms(1))[0]
	if f := Read(run, generatorUse, ""); f.Missing != "one process made two runs at once" {
		t.Errorf("%+v", f)
	}
	if f := Read(run, "cpu.broker", ""); f.Missing != "" || f.Value == 0 {
		t.Errorf("%+v", f)
	}
}
