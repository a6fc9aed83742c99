package report

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"sixnines/internal/judge"
	"sixnines/internal/sweep"
	"sixnines/result"
)

// repeats are the runs of a report that repeat each other: of one set, one arm of
// it and one workload.
type repeats struct {
	set, arm string
	workload string // of several; background ones marked
	of       int    // runs planned; 0: not known
	runs     []*subject
}

// repeatsOf finds the sets among the runs, in the order of the report.
func repeatsOf(prepared []*subject) []*repeats {
	var out []*repeats
	for _, s := range prepared {
		t := s.run.Header.Trial
		if t == nil || t.Set == "" {
			continue
		}
		w := workloadOf(&s.run.Header)
		i := slices.IndexFunc(out, func(r *repeats) bool { return r.set == t.Set && r.arm == t.Arm && r.workload == w })
		if i < 0 {
			i = len(out)
			out = append(out, &repeats{set: t.Set, arm: t.Arm, workload: w, of: t.Of})
		}
		out[i].runs = append(out[i].runs, s)
	}
	return out
}

// name is how a set is called.
func (r *repeats) name() string {
	name := shorten(plain(r.set), 16)
	if r.arm != "" {
		name += ", arm " + shorten(plain(r.arm), 8)
	}
	if r.workload != "" {
		name += ", workload " + r.workload
	}
	return name
}

// what returns told, after the workload's name if there are several workloads.
func (r *repeats) what(told string) string {
	if r.workload == "" {
		return told
	}
	return r.workload + ", " + told
}

// trialText describes a run's place in its set.
func trialText(t *result.Trial) string {
	if t == nil {
		return ""
	}
	text := "run " + count(int64(t.Index))
	if t.Of > 0 {
		text += " of " + count(int64(t.Of))
	}
	if t.Arm != "" {
		text += ", arm " + plain(t.Arm)
	}
	text += " of the set " + plain(t.Set)
	if t.Beside {
		text += ", at the same time as the other one of its pair"
	}
	if again := judge.Again(t.Attempts); again != "" {
		text += ", " + plain(again)
	}
	return text
}

// repeatTables compares the spread between repeated runs with the intervals within
// them, in a table for each set and wanted latency.
func repeatTables(prepared []*subject, wanted func(result.Metric) bool) []*table {
	var out []*table
	for _, r := range repeatsOf(prepared) {
		if len(r.runs) < 2 {
			out = append(out, &table{Name: "Between runs", After: []string{trialText(r.runs[0].run.Header.Trial) + ": the intervals here are those within this run. " +
				"To see the spread between runs, report all files of the set together."}})
			continue
		}
		for _, f := range kinds() {
			if f.Key == "lag" || f.Apart {
				continue
			}
			for _, k := range f.Columns {
				if k.Corrected || !wanted(k.Metric) {
					continue
				}
				if x := r.table(k.Metric); x != nil {
					out = append(out, x)
				}
			}
		}
	}
	return out
}

// repeatCosts are what actions cost in repeated runs.
func repeatCosts(prepared []*subject) (out []*table) {
	for _, r := range repeatsOf(prepared) {
		if len(r.runs) > 1 {
			out = append(out, r.costTables()...)
		}
	}
	return out
}

// allMetrics returns true for every metric.
func allMetrics(result.Metric) bool { return true }

// table is one latency of the repeats; nil if no two runs have it.
func (r *repeats) table(m result.Metric) *table {
	var columns []*column
	var leftOut []bool
	for _, s := range r.runs {
		if c := s.column(m); c != nil {
			columns, leftOut = append(columns, c), append(leftOut, s.leftOut())
		}
	}
	if len(columns) < 2 {
		return nil
	}
	x := &table{Name: "Between " + count(int64(len(columns))) + " runs: " + r.what(metricName(m)), Explain: true, Spill: true,
		Head:    columnHeads("lrrrrlr", "", "least", "median", "most", "95 % within a run", "larger", "95 % of the median"),
		Caption: "Set " + r.name() + ". Least, median and most are taken over the percentiles of the runs; nothing is merged or averaged. Runs that are UNSTABLE or refused count as slower than all others; those that are INVALID or were cut short are left out. The 95 % interval is that within a typical run (the one of median width). If the runs differ by more than its width, it does not predict the next run."}
	planned := len(r.runs)
	if r.arm == "" {
		planned = max(planned, r.of)
	}
	for i, p := range rows() {
		var runs []repeated
		for k, c := range columns {
			runs = append(runs, repeated{c.Figures[i], leftOut[k]})
		}
		if row, ok := spreadRow(p, runs, planned); ok {
			x.Rows = append(x.Rows, row)
		}
	}
	if len(x.Rows) == 0 {
		return nil
	}
	x.After = largerText(x.Rows)
	if missing := r.planned(len(columns)); missing != "" {
		x.After = append(x.After, missing)
	}
	return x
}

// largerText lists where the spread between runs is larger than the interval within
// one.
func largerText(all []row) []string {
	var between, within []string
	for _, r := range all {
		switch r.Cells[5].Text {
		case "between":
			between = append(between, r.Cells[0].Text)
		case "within":
			within = append(within, r.Cells[0].Text)
		}
	}
	switch {
	case len(between) == 0 && len(within) == 0:
		return nil
	case len(between) == 0:
		return []string{"The runs differ by no more than the width of the interval within a run."}
	case len(within) == 0:
		return []string{"At every percentile the runs differ by more than the width of the interval within a run."}
	}
	return []string{"The runs differ by more than the width of the interval within a run at " + strings.Join(between, ", ") + ", not at " + strings.Join(within, ", ") + "."}
}

// planned says if runs of the set are not here.
func (r *repeats) planned(have int) string {
	if r.of == 0 || r.arm != "" || have >= r.of {
		return ""
	}
	return "Only " + count(int64(have)) + " of the " + count(int64(r.of)) + " runs of the set are included."
}

// leftOut reports whether a run is left out of the spread between runs.
func (s *subject) leftOut() bool { return s.cut || s.sum.Verdict.Status == result.Invalid }

// repeated is the figure of one of several runs.
type repeated struct {
	figure
	leftOut bool // see [subject.leftOut]
}

// sample returns the figure for [sweep.SpreadOf], with the words of [sweep.Figure].
func (x repeated) sample() sweep.Sample {
	out := sweep.Sample{Value: float64(x.Value), LeftOut: x.leftOut}
	f := &out.Figure
	switch {
	case x.Unstable:
		f.Missing = sweep.MissingUnstable
	case x.Absent:
		f.Missing = sweep.MissingNone
	case x.Needs > 0:
		f.Missing = sweep.MissingUnsupported
	case x.Refused:
		f.Missing = sweep.MissingRefused
	case x.Invalid:
		f.Missing = sweep.MissingInvalid
	default:
		in := ends(x.Interval)
		f.Low, f.High, f.Open, f.AtLeast, f.Suspect = in.Low, in.High, in.Open, x.AtLeast, x.Suspect
	}
	return out
}

// spreadRow returns the row of one percentile of several runs, by the rules of a sweep's cell;
// false if fewer than two runs have a number, or most have no figure. planned is the number of
// planned runs.
func spreadRow(percentile result.Percentile, runs []repeated, planned int) (row, bool) {
	var samples []sweep.Sample
	var have []figure
	slower := map[string]int{}
	lacking, left := 0, 0
	for _, x := range runs {
		y := x.sample()
		samples = append(samples, y)
		switch word := y.Figure.Missing; {
		case y.LeftOut:
			left++
		case word == sweep.MissingUnstable, word == sweep.MissingRefused:
			slower[word]++
		case word != "":
			lacking++
		default:
			have = append(have, x.figure)
		}
	}
	spread, slow := sweep.SpreadOf(samples, planned), slower[sweep.MissingUnstable]+slower[sweep.MissingRefused]
	if len(have) < 2 || !spread.OK() && slow < len(have)+lacking {
		return row{}, false
	}
	bound := func(f figure) bool { return f.AtLeast }
	slices.SortStableFunc(have, func(a, b figure) int { return cmp.Compare(a.Value, b.Value) })
	least, most := have[0], have[len(have)-1]
	most.AtLeast = slices.ContainsFunc(have, bound)
	word := sweep.MissingUnstable
	if slower[word] == 0 {
		word = sweep.MissingRefused
	}
	out := row{Cells: textCells(rowName(percentile), least.text(), word, word, "", "", "needs 6 runs")}
	if spread.OK() {
		median := have[(len(have)+slow-1)/2]
		median.AtLeast, median.Suspect = spread.AtLeast, spread.Questionable()
		out.Cells[2].Text = median.text()
	}
	if slow == 0 {
		out.Cells[3].Text = most.text()
	}
	switch {
	case spread.OK() && spread.Bounded:
		out.Cells[6].Text = cmp.Or(sweepInterval(spread), durationFloat(spread.Low))
	case planned >= 6:
		out.Cells[6].Text = "n/a"
	}
	if within, ok := typicalInterval(have); ok {
		out.Cells[4].Text = within.interval()
		between, inside := most.Value-least.Value, within.Interval.High-within.Interval.Low
		switch {
		case between > inside || slow > 0:
			out.Cells[5] = cell{Text: "between", Style: warning}
		case !most.AtLeast: // else it is not known
			out.Cells[5].Text = "within"
		}
	}
	var notes []string
	note := func(n int, before, after string) {
		if n > 0 {
			notes = append(notes, before+plural(int64(n), "run")+after)
		}
	}
	for _, why := range []string{sweep.MissingUnstable, sweep.MissingRefused} {
		note(slower[why], why+" in ", "")
	}
	note(lacking, "no figure in ", "")
	note(left, "without ", ", INVALID or cut short")
	if slices.ContainsFunc(have, bound) {
		notes = append(notes, "some are lower bounds")
	}
	out.noted(strings.Join(notes, "; "))
	return out, true
}

// typicalInterval is the figure whose interval has the middle width of all, the
// narrower of two in the middle.
func typicalInterval(figures []figure) (figure, bool) {
	var with []figure
	for _, f := range figures {
		if f.interval() != "" {
			with = append(with, f)
		}
	}
	if len(with) == 0 {
		return figure{}, false
	}
	slices.SortStableFunc(with, func(a, b figure) int {
		return cmp.Compare(a.Interval.High-a.Interval.Low, b.Interval.High-b.Interval.Low)
	})
	return with[(len(with)-1)/2], true
}

// repeatCharts draw the curves of all runs of a set thin in one picture, a
// picture for each kind of latency.
func repeatCharts(prepared []*subject) []*chart {
	var out []*chart
	for i, r := range repeatsOf(prepared) {
		if len(r.runs) < 2 {
			continue
		}
		for _, f := range kinds() {
			if f.Key == "lag" || f.Apart {
				continue
			}
			c := &chart{Kind: kindRepeats, Key: "repeats-" + strconv.Itoa(i) + "-" + f.Key, Title: r.what(f.Name) + " of " + count(int64(len(r.runs))) + " repeated runs",
				X: axis{Scale: percentileScale, Label: "percentile"}, Y: axis{Scale: durationScale, Label: "latency"}}
			m := result.Metric("")
			for _, s := range r.runs {
				first := firstOf(s, f)
				if first == "" || m != "" && first != m || s.leftOut() || s.sum.Verdict.Status == result.Unstable && first.IsResponse() {
					continue
				}
				m = first
				l := percentileCurve(s.run.Metrics[first], s.column(first).Dist)
				l.Lo, l.Hi, l.Thin = nil, nil, true
				l.Name, l.Colour = s.letter, i
				if len(c.Lines) == 0 {
					l.Legend = "each run by itself"
				}
				c.add(l)
			}
			if len(c.Lines) < 2 {
				continue
			}
			c.Caption = "The " + metricName(m) + " of each run of the set " + r.name() + ", one line each. The distance between the lines is uncertainty that no interval of a single run shows. Runs that are UNSTABLE, INVALID or were cut short have no line."
			c.Lines = append(c.Lines, floorCurves(r.runs, f)...)
			out = append(out, c)
		}
	}
	return out
}
