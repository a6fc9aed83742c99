package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"sixnines/internal/study"
	"sixnines/result"
)

// wanted identifies a figure that a study shows: its name for [study.Read], its latency and
// its workload.
type wanted struct {
	name     string
	metric   result.Metric
	workload string
}

// studyFigure is a figure of a cell over its rounds.
type studyFigure struct {
	study.Over
	ok      bool
	why     string // why the figure is missing; empty also if the cell does not exist
	needs   int64  // it is missing only because each round needs this number of messages
	beside  string // a remark beside it
	suspect bool   // it is suspect in some round, or rounds without a number are slower
}

// figure reads a figure of a cell. Rounds in which it is missing because they were overloaded
// or refused messages count as slower than every number, and are mentioned; if they are half
// of all rounds or more, the figure has no number.
func (v *studyView) figure(c *study.CellOutcome, a wanted) studyFigure {
	f := studyFigure{why: v.why(c)}
	if f.why != "" {
		return f
	}
	made, slower, invalid, unfit := 0, 0, 0, 0
	var missing, suspectNotes []string
	var needs int64
	for _, t := range c.Trials {
		if t.Bench != nil {
			made++
		}
		if t.Run == nil {
			continue
		}
		part := study.PartOf(t.Run, a.workload)
		if part != nil && part.Summary != nil && part.Summary.Verdict.Status == result.Invalid {
			invalid++
			continue
		}
		made++
		x := study.Read(part, a.name, a.metric)
		switch {
		case x.Missing != "":
			missing, needs = appendNew(missing, plain(x.Missing)), x.Needs
			if x.Missing == "UNSTABLE" || x.Missing == refused {
				slower++
			}
		case x.Unfit != "":
			unfit++
			suspectNotes = appendNew(suspectNotes, plain(x.Unfit))
		}
	}
	f.Over = study.ReadRounds(c, a.name, a.metric, a.workload)
	f.ok = f.Rounds > 0 && 2*slower < made
	if !f.ok {
		if made == 0 && invalid > 0 {
			missing = []string{"INVALID"}
		}
		f.why = strings.Join(missing, "; ")
		if len(missing) == 1 {
			f.needs = needs
		}
		return f
	}
	var notes []string
	if n := made - f.Rounds; n > 0 {
		notes = append(notes, fmt.Sprintf("%d of %s have no number (%s)", n, plural(made, "round"), strings.Join(missing, "; ")))
	}
	if invalid > 0 {
		notes = append(notes, plural(invalid, "INVALID round")+" left out")
	}
	if unfit > 0 {
		notes = append(notes, fmt.Sprintf("%d of %s: %s", unfit, plural(made, "round"), strings.Join(suspectNotes, "; ")))
	}
	f.beside = strings.Join(notes, "; ")
	f.suspect = slower > 0 || 2*unfit > f.Rounds && a.name != string(result.Maximum)
	return f
}

// text is the figure as a cell of a table.
func (f studyFigure) text() string {
	if !f.ok {
		return "–"
	}
	sign := ""
	if f.suspect {
		sign = "? "
	}
	if f.AtLeast {
		sign += "≥ "
	}
	return sign + studyNumber(f.Value, f.Unit)
}

// interval returns its interval as a cell; empty if it has none.
func (f studyFigure) interval() string {
	if !f.ok || !f.Bounded || f.Low == f.High {
		return ""
	}
	if math.IsInf(f.High, 1) {
		return studyNumber(f.Low, f.Unit) + " or more"
	}
	return studyNumber(f.Low, f.Unit) + " – " + studyNumber(f.High, f.Unit)
}

// studyNumber writes a figure; a share is one of all.
func studyNumber(x float64, u study.Unit) string { return plain(study.Spell(x, u)) }

// cell is the figure as a cell of a table, with what the original printed.
func (v *studyView) tableCell(c *study.CellOutcome, a wanted, original bool) cell {
	f := v.figure(c, a)
	t := cell{Text: f.text(), Title: joinNonEmpty(": ", cellTitle(&c.Cell)+", "+a.name, joinNonEmpty("; ", f.why, f.beside))}
	why := ""
	switch {
	case !f.ok:
		t.Style, why = faint, f.why
		if f.needs > 0 {
			t.Text, why = "n/a", "needs "+plural(f.needs, "message")
		}
	case f.suspect:
		t.Style = warning
	}
	t.Notes = cellNotes("note range", f.interval())
	if original {
		for _, x := range v.theirs(c.Cell.Name, a.name) {
			t.Notes = append(t.Notes, note{"theirs " + x.text, "theirs"})
		}
	}
	t.Notes = append(t.Notes, cellNotes("note", why)...)
	return t
}

// theirFigure is a figure of the original's.
type theirFigure struct {
	text   string  // as printed, with its unit
	value  float64 // in the unit of our figure; NaN: not comparable
	source string
	note   string
}

// theirs are the original's figures of a cell.
func (v *studyView) theirs(cell, name string) []theirFigure {
	var out []theirFigure
	add := func(x *study.Figures, value study.Printed) {
		if !math.IsNaN(value.Number()) {
			out = append(out, printed(value, x.Unit, name, plain(x.Source), plain(x.Note)))
		}
	}
	for i := range v.Study.Figures {
		x := &v.Study.Figures[i]
		if values, ok := x.Rows[cell]; ok {
			if k := slices.Index(x.Columns, name); k >= 0 && k < len(values) {
				add(x, values[k])
			}
		}
		if x.Cell == cell && x.Figure == name && x.Value != "" {
			add(x, x.Value)
		}
	}
	return out
}

// printed is a figure in the unit in which it was printed; latencies are in ms unless
// another is said.
func printed(value study.Printed, unit, name, source, note string) theirFigure {
	u, _ := study.UnitOf(name)
	unit = plain(unit)
	if unit == "" && u == study.Nanoseconds {
		unit = "ms"
	}
	factor, ok := study.PrintedScale(unit, name)
	if !ok {
		factor = math.NaN()
	}
	whole, part, _ := strings.Cut(string(value), ".")
	text := grouped(whole)
	if part != "" {
		text += "." + part
	}
	switch {
	case unit == "":
	case strings.HasPrefix(unit, "/"):
		text += unit
	default:
		text += " " + unit
	}
	return theirFigure{text: text, value: value.Number() * factor, source: source, note: note}
}
