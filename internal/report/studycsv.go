package report

import (
	"encoding/csv"
	"io"
	"math"
	"slices"

	"sixnines/internal/study"
	"sixnines/result"
)

// StudyCSV writes a study, a line for each figure of each trial, with the columns
//
//	study, length, cell, system, load, round, file, verdict, workload, metric, figure, unit, value, low, high, mark, why, original, original_source
//
// figure is a percentile (p50 to p99.9999), max, or another of [study.FigureNames],
// and unit ns, /s, B/s, B, s (of processor time a message), 1 (a count) or empty (a share). low and high
// hold the 95 % interval within the run, without high where unresolved messages
// reach it. mark is at-least or unfit (why says why it decides nothing), several of
// them joined by "+", or missing (there is no value, and why says why). original is what
// the original printed of the cell, in the same unit: of another machine. A trial that
// has no result has one line, with figure empty; mark is failed or not-made, and why
// says why; and so has a cell without trials, with round empty and mark skipped.
func StudyCSV(w io.Writer, o *study.Outcome) error {
	v := newStudyView(o)
	c := csv.NewWriter(w)
	_ = c.Write([]string{"study", "length", "cell", "system", "load", "round", "file", "verdict", "workload", "metric", "figure", "unit", "value", "low", "high",
		"mark", "why", "original", "original_source"}) // kept by the writer until Error
	for i := range o.Cells {
		cell := &o.Cells[i]
		lead := []string{o.Study.Name, o.Length, cell.Cell.Name, cell.Cell.System.Name, cell.Cell.Load.Name}
		if len(cell.Trials) == 0 {
			_ = c.Write(append(lead, "", "", "", "", "", "", "", "", "", "", "skipped", v.why(cell), "", ""))
		}
		for _, t := range cell.Trials {
			at := append(slices.Clone(lead), integer(int64(t.Round)), t.File)
			if t.Bench != nil {
				for _, name := range benchFigures() {
					one := study.CellOutcome{Cell: cell.Cell, Trials: []study.TrialOutcome{t}}
					f := study.ReadRounds(&one, name, "", "")
					_ = c.Write(append(slices.Clone(at), "", "", "", name, string(f.Unit), decimal(f.Value), "", "", "", plain(f.Blocked), "", ""))
				}
				continue
			}
			if t.Run == nil {
				mark, why := "not-made", ""
				if t.Why != "" {
					mark, why = t.Outcome(), plain(t.Why)
				}
				_ = c.Write(append(at, "", "", "", "", "", "", "", "", mark, why, "", ""))
				continue
			}
			for _, p := range t.Run.Parts() {
				v.csvLines(c, at, cell, p)
			}
		}
	}
	c.Flush()
	return c.Error()
}

// csvLines writes the figures of one part of a run.
func (v *studyView) csvLines(c *csv.Writer, lead []string, cell *study.CellOutcome, p *result.Run) {
	status := ""
	if p.Summary != nil {
		status = p.Summary.Verdict.String()
	}
	lead = append(slices.Clone(lead), plain(status), plain(p.Header.Workload))
	headline := study.HeadlineOf(p)
	line := func(m result.Metric, name string) {
		f := study.Read(p, name, m)
		if f.Missing == study.NotMeasured {
			return
		}
		value, low, high, mark, why := decimal(f.Value), "", "", "", plain(f.Unfit)
		if f.Bounded {
			low, high = decimal(f.Low), decimal(f.High)
		}
		switch {
		case f.Missing != "":
			value, low, high, mark, why = "", "", "", "missing", plain(f.Missing)
		case f.AtLeast && f.Unfit != "":
			mark = "at-least+unfit"
		case f.AtLeast:
			mark = "at-least"
		case f.Unfit != "":
			mark = "unfit"
		}
		original, source := "", ""
		if m == "" || m == headline && !p.Header.Background {
			for _, x := range v.theirs(cell.Cell.Name, name) {
				if !math.IsNaN(x.value) {
					original, source = decimal(x.value), x.source
				}
			}
		}
		_ = c.Write(append(slices.Clone(lead), string(m), name, string(f.Unit), value, low, high, mark, why, original, source))
	}
	for _, m := range v.metrics(headline) {
		if p.Summary == nil || p.Summary.Histograms[m] == nil {
			continue
		}
		for _, percentile := range result.Percentiles() {
			line(m, rowName(percentile))
		}
		line(m, rowName(result.Maximum))
		if p.Summary.Outside[m] != nil {
			for _, percentile := range result.Percentiles() {
				line(m, "outside."+rowName(percentile))
			}
		}
	}
	for _, name := range study.FigureNames() {
		if name != string(result.Maximum) {
			line("", name)
		}
	}
}

// metrics are the latencies that a study names, the headline first.
func (v *studyView) metrics(headline result.Metric) []result.Metric {
	all := []result.Metric{headline}
	add := func(m result.Metric) {
		if m != "" && !slices.Contains(all, m) {
			all = append(all, m)
		}
	}
	for _, s := range v.Study.Sections {
		for _, x := range s.Charts {
			add(x.Metric)
		}
		for _, x := range s.Tables {
			add(x.Metric)
		}
	}
	for _, x := range v.Study.Conclusions {
		for _, t := range x.Tests {
			add(t.Metric)
		}
	}
	return all
}
