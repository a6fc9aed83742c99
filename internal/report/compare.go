package report

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"sixnines/internal/compare"
	"sixnines/internal/spell"
)

// CompareJSON writes a comparison as one object on one line. Times are
// nanoseconds; ratios are factors.
func CompareJSON(w io.Writer, c *compare.Comparison) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(comparisonObject{*c, comparisonFormat, comparisonVersion})
}

// comparisonFormat and comparisonVersion identify the JSON form of a comparison.
const (
	comparisonFormat  = "sixnines-comparison"
	comparisonVersion = 1
)

// comparisonObject is the JSON form of a comparison.
type comparisonObject struct {
	compare.Comparison
	Format  string `json:"format"`
	Version int    `json:"version"`
}

//go:embed comparison.schema.json
var comparisonSchema []byte

// ComparisonSchema returns the JSON Schema, draft 2020-12, of what [CompareJSON]
// writes. A test makes it from the types and their comments.
func ComparisonSchema() []byte { return comparisonSchema }

// outcomeWord is an outcome as a cell.
func outcomeWord(o compare.Outcome, least float64) string {
	switch o {
	case compare.Slower:
		return "SLOWER"
	case compare.Faster:
		return "FASTER"
	case compare.Same:
		return "within ±" + percentage(least)
	}
	return outcomeTitle(o)
}

// outcomeTitle is an outcome as a heading.
func outcomeTitle(o compare.Outcome) string {
	switch o {
	case compare.TooFew:
		return "not enough runs"
	case compare.NoFigure:
		return "no figures"
	}
	return string(o)
}

// outcomeStyle returns the style of an outcome.
func outcomeStyle(o compare.Outcome) style {
	switch o {
	case compare.Slower, compare.Mixed:
		return bad
	case compare.Faster, compare.Same, compare.NotSlower:
		return good
	case compare.Unranked, compare.TooFew, compare.Nothing, compare.NoFigure:
		return warning
	}
	return normal
}

// percentage writes a part with as many digits as it has, two at most: "5 %".
func percentage(part float64) string {
	text := strings.TrimRight(fmt.Sprintf("%.2f", part*100), "0")
	return strings.TrimSuffix(text, ".") + " %"
}

// change writes a factor as what it adds: 1.052 is "+5.2 %", 12 "× 12.0".
func change(ratio float64) string {
	p := (ratio - 1) * 100
	switch {
	case math.Abs(p) < 0.05:
		return "0.0 %"
	case math.Abs(p) < 9.95:
		return fmt.Sprintf("%+.1f %%", p)
	case p < 999.5:
		return fmt.Sprintf("%+.0f %%", p)
	case ratio < 1e6:
		return fmt.Sprintf("× %.0f", ratio)
	}
	return fmt.Sprintf("× %.1g", ratio)
}

// signed writes a change in nanoseconds.
func signed(ns float64) string {
	text := durationFloat(ns)
	if ns > 0 && text != "0 ns" {
		text = "+" + text
	}
	return text
}

// between writes the spread from run to run.
func between(f compare.Figures) string {
	if f.Runs < 2 {
		return ""
	}
	return plusMinus(f.Between)
}

// within writes how well one run knows its own figure.
func within(f compare.Figures) string {
	if f.Runs == 0 || f.Within == 0 {
		return ""
	}
	return plusMinus(f.Within)
}

// plusMinus writes a spread; one below a thousandth is written without "±".
func plusMinus(part float64) string {
	text := share(part)
	if !strings.HasPrefix(text, "<") {
		text = "±" + text
	}
	return text
}

// throughputRow is the percentile of the row that holds a throughput.
const throughputRow = "throughput"

// compareRowName is "p99.9", "max" or "throughput".
func compareRowName(r compare.Row) string {
	if r.Percentile == throughputRow {
		return throughputRow
	}
	return rowName(r.Percentile)
}

// compareValue writes a figure of a row in its unit.
func compareValue(r compare.Row, v float64) string {
	if r.Percentile == throughputRow {
		return rate(v)
	}
	return durationFloat(v)
}

// compareCentre returns the figure that represents a set in a table: the geometric mean of
// its runs, whose ratio is the change, or, if no change is stated, the median run.
func compareCentre(r compare.Row, f compare.Figures, stated bool) string {
	switch {
	case f.Runs == 0:
		return "n/a"
	case stated && f.Mean > 0:
		return compareValue(r, f.Mean)
	}
	return compareValue(r, f.Median)
}

// compareRange is from the least to the largest run.
func compareRange(r compare.Row, f compare.Figures) string {
	if f.Runs < 2 {
		return ""
	}
	lo, hi := compareValue(r, f.Min), compareValue(r, f.Max)
	if lo == hi {
		return lo
	}
	return lo + " – " + hi
}

// compareBy is the change in the figure's own unit.
func compareBy(r compare.Row) string {
	switch {
	case r.Shift == nil:
		return ""
	case r.Percentile == throughputRow:
		sign := ""
		if r.Shift.Ns > 0 {
			sign = "+"
		}
		return sign + rate(r.Shift.Ns)
	}
	return signed(r.Shift.Ns)
}

// compareInterval is the interval of the change.
func compareInterval(r compare.Row) string {
	if r.Shift == nil {
		return ""
	}
	lo, hi := change(r.Shift.Lo), change(r.Shift.Hi)
	if lo == hi && r.Shift.Lo != r.Shift.Hi && r.Shift.Hi < 10 { // narrow enough for another digit
		lo, hi = fmt.Sprintf("%+.2f %%", (r.Shift.Lo-1)*100), fmt.Sprintf("%+.2f %%", (r.Shift.Hi-1)*100)
	}
	return lo + " to " + hi
}

// compareChange returns the change; empty if the row makes no statement, since readers
// would take a bare ratio for one.
func compareChange(r compare.Row) string {
	if r.Shift == nil {
		return ""
	}
	return change(r.Shift.Ratio)
}

// compareSide describes a set in a line.
func compareSide(s compare.Set) []string {
	facts := []string{plain(s.Label), plural(int64(s.Runs), "run")}
	if s.Used != s.Runs {
		facts = append(facts, count(int64(s.Used))+" used")
	}
	if when := spanOf(s.From, s.To); when != "" {
		facts = append(facts, when)
	}
	return facts
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// spanOf writes when the first and the last run of a set began.
func spanOf(from, to time.Time) string {
	if from.IsZero() {
		return ""
	}
	from, to = from.UTC(), to.UTC()
	const day, clock = "2006-01-02 ", "15:04:05"
	text := from.Format(day + clock)
	switch {
	case to.Format(day) != from.Format(day):
		text += " to " + to.Format(day+clock)
	case to.Format(clock) != from.Format(clock):
		text += " to " + to.Format(clock)
	}
	return text + " UTC"
}

// compareHow says how the runs were paired.
func compareHow(c *compare.Comparison) string {
	text := plural(int64(len(c.Pairs)), "pair")
	switch c.Kind {
	case compare.KindAA, compare.KindAB:
		if c.Beside != nil && c.Beside.Slice > 0 {
			text += ", both runs at the same time, loaded in turn for " + spell.Duration(c.Beside.Slice) + " each"
			if why := compare.Apart(c.Design); why != "" {
				text += ": " + why
			}
			break
		}
		if c.Beside != nil {
			text += ", both runs at the same time, up to " + percentage(math.Round(c.Beside.Used*100)/100) + " of the processors used by them"
			break
		}
		text += ", in random order"
		if why := compare.Apart(c.Design); why != "" {
			text += "; not at the same time: " + why
		}
	default:
		text += ", in order of time"
	}
	if c.Confidence > compare.Confidence {
		text += fmt.Sprintf(", one of %d looks, whose intervals hold at once", len(c.Design.Looks))
	} else if n := len(c.Pairs); n >= compare.MinPairs && n < compare.RecommendedPairs {
		text += fmt.Sprintf("; %d are recommended", compare.RecommendedPairs)
	}
	return text
}

// noDifferences says that the sides do not differ, except in what was changed.
func noDifferences(c *compare.Comparison) string {
	if len(c.Changes) > 0 {
		return "No other known differences."
	}
	return "No known differences."
}

// replacedTexts say which pairs were made again, and why.
func replacedTexts(c *compare.Comparison) []string {
	var remade []string
	for _, r := range c.Remade {
		for _, w := range r.Why {
			pair := fmt.Sprintf("pair %d", r.Pair)
			if r.Control {
				pair += ", A on both sides,"
			}
			remade = append(remade, fmt.Sprintf("%s of %s %s", w.Side, pair, plain(w.Why)))
		}
	}
	if len(c.Replaced) == 0 {
		return remade
	}
	sides := map[string]int{}
	var out []string
	for _, r := range c.Replaced {
		text := fmt.Sprintf("pair %d by pair %d", r.Pair, r.By)
		for i, w := range r.Why {
			sides[w.Side]++
			text += []string{": ", "; "}[min(i, 1)] + w.Side + " " + plain(w.Why)
		}
		out = append(out, text)
	}
	n := len(out)
	first := fmt.Sprintf("%s, by verdict alone (INVALID: A %d, B %d)", plural(int64(n), "pair"), sides["A"], sides["B"])
	for _, s := range []string{"A", "B"} {
		if n >= 3 && sides[s] == n && len(sides) == 1 {
			first += "; always " + s + ": perhaps because of what " + s + " does"
		}
	}
	return slices.Concat([]string{first}, out, remade)
}

// compareTitle heads a comparison.
func compareTitle(c *compare.Comparison) string {
	title := strings.ToUpper(outcomeTitle(c.Outcome))
	if c.Kind == compare.KindAA && !c.Background {
		title = "A/A"
	}
	if w := plain(c.Workload); w != "" {
		if c.Background {
			w += " (background)"
		}
		title = w + ": " + title
	}
	return title
}

// compareAbout says what a metric's intervals hold for.
func compareAbout(m compare.Metric, c *compare.Comparison) string {
	judged := 0
	for _, o := range c.Metrics {
		if o.Judged {
			judged++
		}
	}
	switch {
	case !m.Judged:
		return "for information, not judged: these intervals hold for this table only"
	case judged > 1:
		return "judged: the 95 % intervals hold for all judged tables at once"
	}
	return "judged: the 95 % intervals hold for all rows at once"
}

// suspectText returns why runs of a set are suspect. The runs' own reports say what to do
// about it.
func suspectText(d compare.SuspectReason, s compare.Set) string {
	text := fmt.Sprintf("%d of %d runs, %s", d.Runs, s.Used, plain(string(d.Code)))
	if len(d.Percentiles) > 0 {
		text += " at"
		for _, p := range d.Percentiles {
			text += " " + rowName(p)
		}
		if d.Metric != "" {
			text += " of " + plain(string(d.Metric))
		}
	}
	return text + ": " + plain(d.Found)
}

// accountCells are an account as cells.
func accountCells(a compare.Account) (left, right string) {
	if a.Unit == "messages" {
		cell := func(v float64, runs int) string {
			text := count(int64(v))
			if v > 0 && a.Name != "due" {
				text += " in " + plural(int64(runs), "run")
			}
			return text
		}
		return cell(a.A, a.RunsA), cell(a.B, a.RunsB)
	}
	return exactShare(a.A), exactShare(a.B)
}

// setNamed returns the set of a side.
func setNamed(c *compare.Comparison, side string) compare.Set {
	if side == "B" {
		return c.B
	}
	return c.A
}

// gateRemarks returns the reasons for which a gate fails, or cannot decide, that are in no
// row of a table.
func gateRemarks(c *compare.Comparison, a compare.Answer) []string {
	var out []string
	for _, j := range c.Gate.Of(a) {
		if j.Of != compare.OfPercentile && j.Of != compare.OfThroughput && j.Of != compare.OfPairs {
			out = append(out, c.Gate.Name(j)+": "+plain(j.Text))
		}
	}
	return out
}
