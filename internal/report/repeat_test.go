package report

import (
	"slices"
	"strings"
	"testing"

	"sixnines/result"
)

// textsOf is what cells say.
func textsOf(cells []cell) []string {
	var out []string
	for _, c := range cells {
		out = append(out, c.Text)
	}
	return out
}

func spreadFigure(value, half int64) figure {
	return figure{Percentile: "99", Figure: result.Figure{Value: value, Interval: &result.Bounds{Low: value - half, High: value + half}}}
}

func TestSpreadRow(t *testing.T) {
	const leftOutValue = 7 // marks the run that is left out
	none := figure{Percentile: "99", Figure: result.Figure{Needs: 368}}
	overloaded := figure{Percentile: "99", Unstable: true, Figure: result.Figure{Value: 50}}
	turnedAway := figure{Percentile: "99", Figure: result.Figure{Value: 50, Refused: true, AtLeast: true}}
	bound := spreadFigure(110, 30)
	bound.AtLeast = true
	hundreds := func(n int) (out []figure) {
		for i := range n {
			out = append(out, spreadFigure(int64(100*(i+1)), 10))
		}
		return out
	}
	for _, c := range []struct {
		name    string
		figures []figure
		want    string // cells and note, joined
	}{
		// Of an even number the median is the lower of the two in the middle: a
		// percentile that a run had, not the average of two.
		{"five runs have no interval of the median", []figure{spreadFigure(500, 10), spreadFigure(100, 10), spreadFigure(300, 10), spreadFigure(200, 10), spreadFigure(400, 10)},
			"p99|100 ns|300 ns|500 ns|290 ns – 310 ns|between|needs 6 runs|"},
		{"six have the least and the most", []figure{spreadFigure(600, 10), spreadFigure(100, 10), spreadFigure(300, 10), spreadFigure(200, 10), spreadFigure(400, 10), spreadFigure(500, 10)},
			"p99|100 ns|300 ns|600 ns|290 ns – 310 ns|between|100 ns – 600 ns|"},
		{"runs that agree", []figure{spreadFigure(100, 30), spreadFigure(110, 30), spreadFigure(105, 30)},
			"p99|100 ns|105 ns|110 ns|75 ns – 135 ns|within|needs 6 runs|"},
		{"the interval of middle width, the narrower of two", []figure{spreadFigure(100, 5), spreadFigure(100, 500)},
			"p99|100 ns|100 ns|100 ns|95 ns – 105 ns|within|needs 6 runs|"},
		{"a run without the figure", []figure{spreadFigure(100, 30), none, spreadFigure(105, 30)},
			"p99|100 ns|100 ns|105 ns|70 ns – 130 ns|within|needs 6 runs|no figure in 1 run"},
		// What has no number because it was too slow is the slow end, and the interval is of
		// all planned runs, wherever the others would be.
		{"three of ten are overloaded", append(hundreds(7), overloaded, overloaded, overloaded),
			"p99|100 ns|500 ns|unstable|390 ns – 410 ns|between|200 ns – unstable|unstable in 3 runs"},
		{"most are overloaded", append(hundreds(2), overloaded, overloaded, overloaded),
			"p99|100 ns|unstable|unstable|90 ns – 110 ns|between|needs 6 runs|unstable in 3 runs"},
		{"one is refused", append(hundreds(2), turnedAway),
			"p99|100 ns|200 ns|refused|90 ns – 110 ns|between|needs 6 runs|refused in 1 run"},
		{"one of seven is INVALID", append(hundreds(6), spreadFigure(leftOutValue, 10)),
			"p99|100 ns|300 ns|600 ns|290 ns – 310 ns|between|n/a|without 1 run, INVALID or cut short"},
		{"the slowest is a lower bound", []figure{spreadFigure(100, 30), bound, spreadFigure(105, 30)},
			"p99|100 ns|105 ns|≥ 110 ns|75 ns – 135 ns||needs 6 runs|some are lower bounds"},
	} {
		var runs []repeated
		for _, f := range c.figures {
			runs = append(runs, repeated{f, f.Value == leftOutValue})
		}
		row, ok := spreadRow("99", runs, len(runs))
		if got := strings.Join(append(textsOf(row.Cells), strings.Join(row.Notes, "; ")), "|"); !ok || got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
	if _, ok := spreadRow("99", []repeated{{figure: spreadFigure(1, 1)}, {figure: none}}, 2); ok {
		t.Error("one run has a spread")
	}
}

func TestRepeatsAreThoseOfASet(t *testing.T) {
	runs := repeatedRuns(3)
	other := repeatedRuns(2)
	for _, r := range other {
		r.Header.Trial.Set, r.Header.Trial.Arm = "ffff", "B"
	}
	third := repeatedRuns(4)
	for _, r := range third {
		r.Header.Trial.Set = "eeee"
	}
	prepared, err := subjects(append(append(append(runs, openRun().make()), other...), third...))
	if err != nil {
		t.Fatal(err)
	}
	var got []int
	for _, r := range repeatsOf(prepared) {
		got = append(got, len(r.runs))
	}
	if !slices.Equal(got, []int{3, 2, 4}) {
		t.Errorf("sets of %v runs, want of 3, 2 and 4: the run that belongs to none stands alone", got)
	}
	text := strings.Join(strings.Fields(terminal(t, Options{Width: 120}, runs[0])), " ")
	if !strings.Contains(text, "run 1 of 3 of the set 0011223344556677") || !strings.Contains(text, "report all files of the set together") {
		t.Errorf("one run of a set does not say what is missing:\n%s", text)
	}
	text = terminal(t, Options{Width: 120}, runs[:2]...)
	if !strings.Contains(text, "BETWEEN 2 RUNS: DELIVERY RESPONSE") || !strings.Contains(text, "Only 2 of the 3 runs") {
		t.Errorf("two runs of three:\n%s", text)
	}
	// An overloaded run has no percentiles to spread, and no curve.
	runs[0].Summary.Verdict.Status, runs[1].Summary.Verdict.Status = result.Unstable, result.Unstable
	text = terminal(t, Options{Width: 120}, runs...)
	if strings.Contains(sectionOf(text, "BETWEEN 3 RUNS: DELIVERY RESPONSE"), "p50 ") {
		t.Errorf("percentiles of overloaded runs are laid side by side:\n%s", text)
	}
}

// Runs that are INVALID or were cut short take no part in the spread, and the table says so.
func TestWhatShowsNothingIsNotSpread(t *testing.T) {
	runs := repeatedRuns(8)
	runs[0].Summary.Verdict = result.Verdict{Status: result.Invalid, Reasons: []result.Reason{{Status: result.Invalid, Code: result.ReasonConservation}}}
	runs[1].Summary = nil
	text := sectionOf(terminal(t, Options{Width: 160}, runs...), "BETWEEN 8 RUNS: DELIVERY RESPONSE")
	if !strings.Contains(text, "without 2 runs, INVALID or cut short") || !strings.Contains(text, "n/a") {
		t.Errorf("six of eight have figures:\n%s", text)
	}
	if c, err := chartOf(runs, kindRepeats); err != nil || len(c.Lines) != 6 {
		t.Errorf("%v: %d lines", err, len(c.Lines))
	}
}

// sectionOf is the part of a terminal report under a heading.
func sectionOf(text, heading string) string {
	_, after, _ := strings.Cut(text, heading)
	part, _, _ := strings.Cut(after, "\n\n")
	return part
}

func TestRepeatsShareAPicture(t *testing.T) {
	c, err := chartOf(repeatedRuns(12), kindRepeats)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Lines) != 12 {
		t.Errorf("%d lines, want one for each of 12 runs", len(c.Lines))
	}
	for _, l := range c.Lines {
		if !l.Thin || l.Lo != nil {
			t.Errorf("the line %s is not thin, or has a band", l.Name)
		}
	}
}
