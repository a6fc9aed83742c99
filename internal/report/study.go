package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"sixnines/internal/judge"
	"sixnines/internal/study"
	"sixnines/result"
)

// studyView is an outcome with what all parts of the page need to know of it.
type studyView struct {
	*study.Outcome
	skipped map[string]study.Skipped // by system
	shown   map[string]bool          // cells whose figures are already shown in words
}

// newStudyView prepares an outcome.
func newStudyView(o *study.Outcome) *studyView {
	v := &studyView{Outcome: o, skipped: map[string]study.Skipped{}, shown: map[string]bool{}}
	for _, s := range o.Skipped {
		v.skipped[s.System] = s
	}
	return v
}

// StudyHTML writes a study as one self-contained page, in the order of the original: each
// chart and table with the new numbers beside those of the original, each conclusion with
// its verdict and the evidence. Parts that were not measured say why. The page loads
// nothing.
func StudyHTML(w io.Writer, o *study.Outcome) error {
	v := newStudyView(o)
	body := append(v.document(), v.trials())
	return writePage(w, plain(o.Study.Title), "study", "", nil, body,
		v.writtenBy()+". Runs are never merged; percentiles are never averaged. This file loads nothing from anywhere.")
}

// StudyPicture is a chart of a study as a file of its own.
type StudyPicture struct {
	Name string // of the file: letters, digits, hyphens and ".svg"
	SVG  string
}

// StudyMarkdown writes a study as Markdown (GitHub's dialect), with the content of
// [StudyHTML], and returns the pictures that it refers to: files in the directory
// pictures, by a path from where the text is; empty: beside it.
func StudyMarkdown(w io.Writer, o *study.Outcome, pictures string) ([]StudyPicture, error) {
	v, m := newStudyView(o), newMarkdown()
	m.dir = strings.TrimSuffix(pictures, "/")
	m.f("# %s\n", plain(o.Study.Title))
	m.document(v.document())
	m.f("\n%s. Runs are never merged; percentiles are never averaged.\n", v.writtenBy())
	_, err := io.WriteString(w, m.String())
	return m.pictures, err
}

// document is what the page and Markdown say.
func (v *studyView) document() document {
	var out document
	for _, n := range v.warnings() {
		out = append(out, n)
	}
	out = append(out, text{Lead: plain(v.Study.Question)}, facts{List: v.facts()})
	if command := plain(v.GoOn); command != "" {
		out = append(out, text{Text: "What is missing is made by:"}, code(command))
	}
	claims := v.claims()
	if len(claims) > 0 {
		x := &table{Class: "sheet auto claims", Head: textCells("the claim", "here")}
		if v.Study.Original != nil {
			x.Head[0].Text = "the author's claim"
		}
		for _, c := range claims {
			x.Rows = append(x.Rows, row{Cells: []cell{{Text: plain(c.Claim), Link: c.key()}, {Text: plain(string(c.verdict)), Class: verdictClass(c.verdict), Bold: true}}})
		}
		told := standingOf(claims) + ". A conclusion is decided only where at least six rounds pass an exact test, or an exact interval lies wholly on one side."
		if slices.ContainsFunc(v.Cells, func(c study.CellOutcome) bool { return len(c.Cell.Looks) > 0 }) {
			told += " Where a conclusion says after how many rounds it was decided, its cells were looked at after fixed numbers of rounds, and it was decided at the first look that does. " +
				"All looks together err no more often than one, and cells whose conclusions are decided were made in no more rounds."
		}
		out = append(out, part{Key: "conclusions", Title: "Conclusions", Blocks: document{text{Text: told}, x}})
	}
	out = append(out, v.story())
	for i := range v.Study.Sections {
		out = append(out, v.part(i, &v.Study.Sections[i], claims))
	}
	out = append(out, part{Key: "cells", Title: allCells, Blocks: document{v.allCells()}})
	if x := v.semantics(); len(x.Rows) > 0 {
		out = append(out, part{Key: "systems", Title: "The systems, and what their figures mean", Blocks: document{
			text{Text: "As the runs found it, of a system's first cell that has a run. Systems that promise different things are not ranked by their latency."}, x}})
	}
	if len(v.Study.Caveats) > 0 {
		x := &table{Class: "sheet", Head: textCells("caveat", "does it hold here?")}
		for _, c := range v.Study.Caveats {
			x.add(plain(c.Text), plain(c.Holds))
		}
		out = append(out, part{Key: "caveats", Title: "The author's caveats", Blocks: document{x}})
	}
	if len(v.Skipped) > 0 {
		x := &table{Class: "sheet", Head: textCells("system", "why", "how it can be")}
		for _, s := range v.Skipped {
			x.add(v.systemTitle(s.System), plain(s.Why), plain(s.How))
		}
		out = append(out, part{Key: "skipped", Title: "What was not measured", Blocks: document{x}})
	}
	repeat := part{Key: "repeat", Title: "How to repeat it"}
	if command := plain(v.Command); command != "" {
		repeat.Blocks = append(repeat.Blocks, code(command))
	}
	fixed := "Claims, thresholds, cells and lengths were fixed before the first trial: design " + v.Study.Design() + "."
	if now := v.Study.Changed(); now != "" {
		fixed += " It is not the one that is built in as " + plain(v.Study.Name) + ", " + now + "."
	}
	repeat.Blocks = append(repeat.Blocks, text{Text: fixed})
	machine := &table{Class: "sheet", Caption: "As the last trial found it", Head: textCells("fact", "value", "note")}
	machine.machine(v.Machine)
	if revision := plain(v.Tool.Revision); revision != "" {
		machine.add("revision of the program", revision, "")
	}
	repeat.Blocks = append(repeat.Blocks, folded{Title: "The machine", Blocks: document{machine}})
	return append(out, repeat)
}

// allCells is the title of the table of all cells.
const allCells = "All cells"

// slip returns a remark on an error of the original.
func slip(told string) text {
	return text{Class: "callout slip", Lead: "A slip of the original", Text: told, Quoted: true}
}

// story is what was published, or what the study is about.
func (v *studyView) story() part {
	out := part{Title: "What this is about"}
	for _, told := range v.Study.Story {
		out.Blocks = append(out.Blocks, text{Text: plain(told)})
	}
	if o := v.Study.Original; o != nil {
		out.Title = "What was published"
		x := &table{Class: "sheet auto", Head: textCells("", "")}
		x.add("published", joinNonEmpty(" ", joinNonEmpty(", ", plain(o.Title), plain(o.Date)), "by "+plain(o.Author)))
		x.add("setting", plain(o.Setting))
		x.add("versions", plain(o.Versions))
		out.Blocks = append(out.Blocks, x)
	}
	out.Blocks = append(out.Blocks, text{Class: "key", Text: v.reading()})
	for _, s := range v.Study.Slips {
		if !v.placed(s) {
			out.Blocks = append(out.Blocks, slip(joinNonEmpty(": ", plain(s.Where), plain(s.Text))))
		}
	}
	return out
}

// placed reports whether a slip belongs to a section or a conclusion.
func (v *studyView) placed(s study.Slip) bool {
	return slices.ContainsFunc(v.Study.Sections, func(x study.Section) bool { return x.Title == s.Where }) ||
		slices.ContainsFunc(v.Study.Conclusions, func(x study.Conclusion) bool { return x.Name == s.Where })
}

// slips returns the slips that belong to a section or a conclusion.
func (v *studyView) slips(where string) []text {
	var out []text
	for _, s := range v.Study.Slips {
		if s.Where == where {
			out = append(out, slip(plain(s.Text)))
		}
	}
	return out
}

// part returns a section with its measurements and conclusions.
func (v *studyView) part(i int, x *study.Section, claims []studyClaim) part {
	p := part{Key: fmt.Sprintf("part-%d", i+1), Title: plain(x.Title)}
	add := func(b ...block) { p.Blocks = append(p.Blocks, b...) }
	for _, told := range x.Text {
		add(text{Text: plain(told)})
	}
	for _, s := range v.slips(x.Title) {
		add(s)
	}
	var drawn gallery
	var elsewhere []string // charts and tables of cells that another length has
	for k := range x.Charts {
		if len(v.Match(x.Charts[k].Cells)) == 0 {
			elsewhere = appendNew(elsewhere, plain(x.Charts[k].Title))
			continue
		}
		drawn = append(drawn, v.pictures(&x.Charts[k], fmt.Sprintf("part-%d-chart-%d", i+1, k+1))...)
	}
	if len(drawn) > 0 {
		add(drawn)
	}
	for k := range x.Tables {
		if len(v.Match(x.Tables[k].Cells)) == 0 {
			elsewhere = appendNew(elsewhere, plain(x.Tables[k].Title))
			continue
		}
		add(v.table(&x.Tables[k]))
	}
	if len(elsewhere) > 0 {
		add(text{Class: "key", Text: "Not of the length " + plain(v.Length) + ", but of " + plain(v.Study.Run(study.Full)) + ": " + strings.Join(elsewhere, "; ") + "."})
	}
	if told := v.wordsOf(x); told != nil {
		add(told)
	}
	for _, c := range claims {
		if slices.Contains(x.Conclusions, c.Name) {
			add(v.claim(c))
		}
	}
	return p
}

// warnings returns the warnings that come before all figures.
func (v *studyView) warnings() []notice {
	var out []notice
	if v.sameHost() {
		text := "broker and generator share this machine's processors: the figures are of both together"
		if n := v.processors(); n != "" {
			text = "broker and generator share the " + n + " processors of this machine: the figures are of both together"
		}
		out = append(out, notice{"BROKER ON THIS HOST", text, true})
	}
	if v.Length == study.Quick {
		out = append(out, notice{"QUICK", "one short round of each cell, to see that everything works and for a first look: it decides nothing but what one round can show", true})
	}
	if v.Made+v.Refused < v.Planned {
		text := fmt.Sprintf("%s of %s trials have a result", count(v.Made), count(v.Planned))
		if v.Failed > 0 {
			text += "; failed: " + count(v.Failed)
		}
		if v.Refused > 0 {
			text += "; refused by the broker: " + count(v.Refused)
		}
		if left := v.Planned - v.Made - v.Failed - v.Refused; left > 0 {
			text += "; not made yet: " + count(left)
		}
		out = append(out, notice{"INCOMPLETE", text + ". Their places are empty, and say why", true})
	}
	if again := v.again(); len(again) > 0 {
		if more := len(again) - mostAgain; more > 0 {
			again = append(again[:mostAgain], "as were "+plural(more, "other trial"))
		}
		out = append(out, notice{"MADE AGAIN", strings.Join(again, "; ") + ". Whoever resumed the study may have seen what the first attempts showed, and all conclusions about these cells rest on the later ones", true})
	}
	return out
}

// mostAgain is how many trials that were made again are named.
const mostAgain = 6

// again says which trials were made again, and why.
func (v *studyView) again() (all []string) {
	for _, c := range v.Cells {
		for _, t := range c.Trials {
			if again := judge.Again(t.Attempts); again != "" {
				all = append(all, fmt.Sprintf("round %d of %s %s", t.Round, plain(c.Cell.Name), plain(again)))
			}
		}
	}
	return all
}

// sameHost reports whether a broker ran beside the generator.
func (v *studyView) sameHost() bool {
	for run := range v.runs {
		if run.Header.SameHost {
			return true
		}
	}
	return false
}

// runs yields all runs.
func (v *studyView) runs(yield func(*result.Run) bool) {
	for i := range v.Cells {
		for _, t := range v.Cells[i].Trials {
			if t.Run != nil {
				if !yield(t.Run) {
					return
				}
			}
		}
	}
}

// processors returns how many processors the program could use, by the machine's facts;
// empty: not known.
func (v *studyView) processors() string { return v.fact(result.FactProcessors) }

func (v *studyView) fact(name string) string {
	for _, f := range v.Machine {
		if f.Name == name {
			return plain(f.Value)
		}
	}
	return ""
}

// tool is the program that made the trials.
func (v *studyView) tool() string { return toolName(v.Tool) }

// toolName is a program and its version.
func toolName(t result.Tool) string {
	return cmp.Or(strings.TrimSpace(plain(t.Name+" "+t.Version)), "sixnines")
}

// writtenBy names the program that made the report, and the one that made the trials if it
// was another.
func (v *studyView) writtenBy() string {
	by := v.tool()
	if w := v.WrittenBy; w.Version != "" && w.Version != v.Tool.Version {
		return "Measured by " + by + ", written by " + toolName(w)
	}
	return "Written by " + by
}

// facts are the page's first line.
func (v *studyView) facts() []string {
	out := []string{"length " + plain(v.Length), fmt.Sprintf("%s of %s", count(v.Made), plural(v.Planned, "trial"))}
	if v.Unneeded > 0 {
		out = append(out, count(v.Unneeded)+" more not needed")
	}
	if !v.Began.IsZero() {
		out = append(out, studyTime(v.Began)+" to "+studyTime(v.Ended))
	}
	if n := v.processors(); n != "" {
		out = append(out, n+" processors")
	}
	if m := v.fact("model"); m != "" {
		out = append(out, m)
	}
	return append(out, v.tool(), "design "+v.Study.Design())
}

func studyTime(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

// systemTitle is how a system is called.
func (v *studyView) systemTitle(name string) string {
	for i := range v.Study.Systems {
		if s := &v.Study.Systems[i]; s.Name == name {
			return plain(s.Title)
		}
	}
	return plain(name)
}

// cellKey is the anchor of a cell.
func cellKey(name string) string { return "cell:" + strings.ReplaceAll(name, "/", ":") }

// cellTitle is how a cell is called.
func cellTitle(c *study.Cell) string { return plain(c.System.Title) + ", " + plain(c.Load.Title) }

// why says why a cell has no figures, empty if it has results.
func (v *studyView) why(c *study.CellOutcome) string {
	ended, made := "", 0
	for _, t := range c.Trials {
		switch {
		case t.Made():
			made++
		case t.Why != "":
			ended = t.Outcome() + ": " + plain(t.Why)
		}
	}
	s, skipped := v.skipped[c.Cell.System.Name]
	switch {
	case made > 0:
		return ""
	case ended != "":
		return ended
	case skipped:
		return plain(s.Why)
	case len(c.Trials) == 0:
		return "left out"
	}
	return "not made yet"
}

// cellLink is a cell's title, which leads to what there is of it.
func cellLink(c *study.Cell) cell { return cell{Text: cellTitle(c), Link: cellKey(c.Name)} }

// trials are the trials of all cells with their files, for the page.
func (v *studyView) trials() part {
	out := part{Key: "trials", Title: "Trials", Blocks: document{
		text{Text: "Each trial has its result file, beside this page where it was written; every figure here can be computed again from these."}}}
	for i := range v.Cells {
		c := &v.Cells[i]
		x := &table{Class: "sheet", Key: cellKey(c.Cell.Name), Head: textCells("round", "verdict", "why", "file")}
		made := 0
		for _, t := range c.Trials {
			if t.Made() {
				made++
			}
			x.Rows = append(x.Rows, trialRow(t))
		}
		f := folded{Title: cellTitle(&c.Cell), Small: true, Note: v.why(c), Blocks: document{x}}
		if f.Note == "" {
			f.Note = joinNonEmpty(", ", fmt.Sprintf("%d of %s", made, plural(len(c.Trials), "round")), v.together(c))
			if c.Unneeded > 0 {
				f.Note += fmt.Sprintf("; %d more were not needed: all tests of the cell are decided", c.Unneeded)
			}
		}
		if len(x.Rows) == 0 {
			f.Key = x.Key
		}
		out.Blocks = append(out.Blocks, f)
	}
	return out
}

// trialRow is what became of a trial.
func trialRow(t study.TrialOutcome) row {
	status, why, file := cell{Text: "not made yet", Style: faint}, "", cell{}
	if t.Made() {
		file = cell{Text: plain(t.File), File: true}
	}
	switch {
	case t.Run != nil:
		var verdicts, reasons []string
		status.Style = normal
		for _, p := range t.Run.Parts() {
			s := subjectOf(p)
			verdicts = append(verdicts, joinNonEmpty(" ", workloadOf(&p.Header), s.status()))
			if status.Style != bad && status.Style != warning {
				status.Style = statusStyle(s.sum.Verdict.Status)
			}
			for _, r := range s.reasons() {
				if r.Status != result.Valid {
					reasons = append(reasons, plain(r.Text))
				}
			}
			reasons = append(reasons, s.limits()...)
		}
		if why := t.Spoilt(); why != "" {
			reasons = append(reasons, "does not count: "+plain(why))
		}
		status.Text, why = strings.Join(verdicts, "; "), strings.Join(reasons, "; ")
	case t.Bench != nil:
		status = cell{Text: "made", Style: good}
		why = fmt.Sprintf("%s operations, %s, GOMAXPROCS %d", count(t.Bench.N), plain(t.Bench.Version), t.Bench.Processors)
	case t.Why != "":
		status, why = cell{Text: t.Outcome(), Style: bad}, plain(t.Why)
	}
	return row{Cells: []cell{{Text: count(t.Round)}, status, {Text: why}, file}}
}
