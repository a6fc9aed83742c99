package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"sixnines/internal/study"
	"sixnines/result"
)

// studyDoc is the page of a study before it is written: the same for the page, for
// Markdown and for the terminal. All text is plain.
type studyDoc struct {
	Title, Question string
	Warnings        []banner // what no reader may miss
	Facts           []string
	GoOn            string // the command that makes what is missing
	Reading         string // how tables are to be read
	Standing        string // how many conclusions stand how
	Conclusions     []studyClaim
	Story           []string
	Original        []entryText
	Parts           []studyPart
	Cells           studyTable // of all cells
	FlatOut         bool       // some are
	Semantics       studyTable
	Caveats         []entryText
	Skipped         []studySkipped
	Slips           []string // that are of no part and no conclusion
	Machine         sheet
	Command         string
	Evidence        []studyEvidence
	Tool            string
}

// studyPart is a section of the original.
type studyPart struct {
	Key, Title  string
	Text        []string
	Slips       []string
	Pictures    []studyPicture
	Tables      []studyTable
	Words       *studyTable // what the original told without a table, and what is seen today
	Conclusions []studyClaim
}

// studyClaim is a conclusion of the author's and how it stands.
type studyClaim struct {
	Key, Claim     string
	Verdict, Class string
	Part           string // where it is on the page
	Tests          []studyTest
	Slips          []string
}

// studyTest is what one test of a conclusion found.
type studyTest struct {
	Verdict, Class, Text, Needs string
	Cells                       []studyLink
	Files                       []string
}

// studyLink leads to what is told of a cell.
type studyLink struct{ Name, Key string }

type studySkipped struct{ System, Why, How string }

// studyEvidence is what there is of one cell: its trials with their files.
type studyEvidence struct {
	Key, Name, Title string
	Standing         string
	Trials           []studyTrial
}

type studyTrial struct {
	Round, File, Status, Class, Text string
	Made                             bool
}

// studyPicture is a chart of a study.
type studyPicture struct {
	Key, Title, Caption string
	Small               bool
	draw                func(alone bool) string // an SVG element; alone: as a file of its own
}

// studyView is an outcome with what all parts of the page need to know of it.
type studyView struct {
	*study.Outcome
	skipped map[string]study.Skipped // by system
	shown   map[string]bool          // cells whose figures in words were told
}

// newStudyDoc prepares a study.
func newStudyDoc(o *study.Outcome) *studyDoc {
	v := &studyView{Outcome: o, skipped: map[string]study.Skipped{}, shown: map[string]bool{}}
	for _, s := range o.Skipped {
		v.skipped[s.System] = s
	}
	d := &studyDoc{Title: plain(o.Study.Title), Question: plain(o.Study.Question), Command: plain(o.Command), GoOn: plain(o.GoOn),
		Warnings: v.warnings(), Facts: v.facts(), Reading: v.reading(), Machine: v.machine(), Semantics: v.semantics(), Cells: v.allCells(), Tool: v.tool()}
	for run := range v.runs {
		d.FlatOut = d.FlatOut || slices.ContainsFunc(run.Parts(), func(p *result.Run) bool { return p.Header.Mode == result.ModeFlatOut })
	}
	for _, text := range o.Study.Story {
		d.Story = append(d.Story, plain(text))
	}
	if x := o.Study.Original; x != nil {
		what := plain(x.Title)
		if x.Date != "" {
			what += ", " + plain(x.Date)
		}
		d.Original = []entryText{{"published", what, "by " + plain(x.Author)}, {"setting", plain(x.Setting), ""}, {"versions", plain(x.Versions), ""}}
	}
	for i := range o.Study.Sections {
		d.Parts = append(d.Parts, v.part(i, &o.Study.Sections[i]))
	}
	v.conclude(d)
	for _, c := range o.Study.Caveats {
		d.Caveats = append(d.Caveats, entryText{plain(c.Text), plain(c.Holds), ""})
	}
	for _, s := range o.Study.Slips {
		if !v.placed(s) {
			d.Slips = append(d.Slips, words(": ", plain(s.Where), plain(s.Text)))
		}
	}
	for _, s := range o.Skipped {
		d.Skipped = append(d.Skipped, studySkipped{v.systemTitle(s.System), plain(s.Why), plain(s.How)})
	}
	for i := range o.Cells {
		d.Evidence = append(d.Evidence, v.evidence(&o.Cells[i]))
	}
	return d
}

// placed reports whether a slip has a section or a conclusion beside which it stands.
func (v *studyView) placed(s study.Slip) bool {
	return slices.ContainsFunc(v.Study.Sections, func(x study.Section) bool { return x.Title == s.Where }) ||
		slices.ContainsFunc(v.Study.Conclusions, func(x study.Conclusion) bool { return x.Name == s.Where })
}

// slips are those that stand beside a section or a conclusion.
func (v *studyView) slips(where string) []string {
	var out []string
	for _, s := range v.Study.Slips {
		if s.Where == where {
			out = append(out, plain(s.Text))
		}
	}
	return out
}

// part is a section with what was measured of it.
func (v *studyView) part(i int, x *study.Section) studyPart {
	p := studyPart{Key: fmt.Sprintf("part-%d", i+1), Title: plain(x.Title), Slips: v.slips(x.Title)}
	for _, text := range x.Text {
		p.Text = append(p.Text, plain(text))
	}
	for k := range x.Charts {
		p.Pictures = append(p.Pictures, v.pictures(&x.Charts[k], fmt.Sprintf("part-%d-chart-%d", i+1, k+1))...)
	}
	for k := range x.Tables {
		p.Tables = append(p.Tables, v.table(&x.Tables[k]))
	}
	p.Words = v.wordsOf(x)
	return p
}

// warnings are what has to be said before any figure.
func (v *studyView) warnings() []banner {
	var out []banner
	if v.sameHost() {
		text := "broker and generator share this machine's processors: the figures are of both together"
		if n := v.processors(); n != "" {
			text = "broker and generator share the " + n + " processors of this machine: the figures are of both together"
		}
		out = append(out, banner{"same-host", "BROKER ON THIS HOST", text})
	}
	if v.Length == study.Quick {
		out = append(out, banner{"quick", "QUICK", "short runs, few rounds: to see that everything works, and for a first look; hardly a conclusion can be decided"})
	}
	if v.Made < v.Planned {
		text := fmt.Sprintf("%s of %s trials have a result", count(v.Made), count(v.Planned))
		if v.Failed > 0 {
			text += "; failed: " + count(v.Failed)
		}
		if left := v.Planned - v.Made - v.Failed; left > 0 {
			text += "; not made yet: " + count(left)
		}
		out = append(out, banner{"incomplete", "INCOMPLETE", text + ". Their places are empty, and say why"})
	}
	return out
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

// runs yields the runs there are.
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

// processors is how many processors the program could use, as the machine's facts
// tell it; empty: they do not.
func (v *studyView) processors() string { return v.fact("processors usable") }

func (v *studyView) fact(name string) string {
	for _, f := range v.Machine {
		if f.Name == name {
			return plain(f.Value)
		}
	}
	return ""
}

// tool is the program that made the trials.
func (v *studyView) tool() string {
	name := strings.TrimSpace(plain(v.Tool.Name + " " + v.Tool.Version))
	if name == "" {
		return "sixnines"
	}
	return name
}

// facts are the page's first line.
func (v *studyView) facts() []string {
	out := []string{"length " + plain(v.Length), fmt.Sprintf("%s of %s", count(v.Made), plural(v.Planned, "trial"))}
	if !v.Began.IsZero() {
		out = append(out, studyTime(v.Began)+" to "+studyTime(v.Ended))
	}
	if n := v.processors(); n != "" {
		out = append(out, n+" processors")
	}
	if m := v.fact("model"); m != "" {
		out = append(out, m)
	}
	return append(out, v.tool())
}

func studyTime(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

// machine lists the facts of the machine.
func (v *studyView) machine() sheet {
	s := sheet{Name: "The machine", Caption: "As the last trial found it", Heads: []string{"fact", "value", "note"}, Rows: machineRows(v.Machine)}
	if revision := plain(v.Tool.Revision); revision != "" {
		s.Rows = append(s.Rows, sheetRow{Name: "revision of the program", Cells: []string{revision, ""}})
	}
	return s
}

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
	failed, made := "", 0
	for _, t := range c.Trials {
		switch {
		case t.Made():
			made++
		case t.Why != "":
			failed = plain(t.Why)
		}
	}
	s, skipped := v.skipped[c.Cell.System.Name]
	switch {
	case made > 0:
		return ""
	case failed != "":
		return "failed: " + failed
	case skipped:
		return plain(s.Why)
	case len(c.Trials) == 0:
		return "left out"
	}
	return "not made yet"
}

// conclude puts the conclusions in, at the top and in their sections.
func (v *studyView) conclude(d *studyDoc) {
	counts := map[study.Verdict]int{}
	for i := range v.Study.Conclusions {
		x := &v.Study.Conclusions[i]
		c := studyClaim{Key: "claim:" + x.Name, Claim: plain(x.Claim), Verdict: string(study.Undecidable), Slips: v.slips(x.Name)}
		for _, found := range v.Conclusions {
			if found.Conclusion == x.Name {
				c.Verdict = plain(string(found.Verdict))
				c.Tests = v.tests(found.Tests)
			}
		}
		c.Class = verdictClass(study.Verdict(c.Verdict))
		counts[study.Verdict(c.Verdict)]++
		for k := range v.Study.Sections {
			if slices.Contains(v.Study.Sections[k].Conclusions, x.Name) {
				c.Part = d.Parts[k].Key
				d.Parts[k].Conclusions = append(d.Parts[k].Conclusions, c)
			}
		}
		d.Conclusions = append(d.Conclusions, c)
	}
	if n := len(d.Conclusions); n > 0 {
		d.Standing = fmt.Sprintf("%s: %s agreed with, %s disagreed with, %s not decidable here", plural(n, "conclusion"),
			count(counts[study.Agrees]), count(counts[study.Disagrees]), count(counts[study.Undecidable]))
	}
}

// verdictClass is a verdict as the style sheet knows it.
func verdictClass(v study.Verdict) string {
	switch v {
	case study.Agrees:
		return "valid"
	case study.Disagrees:
		return "bad"
	}
	return "open"
}

// tests are what the tests of a conclusion found.
func (v *studyView) tests(all []study.Found) []studyTest {
	var out []studyTest
	for _, f := range all {
		t := studyTest{Verdict: plain(string(f.Verdict)), Class: verdictClass(f.Verdict), Text: ended(plain(f.Text)), Needs: plain(f.Needs)}
		for _, name := range f.Cells {
			if c := v.Cell(name); c != nil {
				t.Cells = append(t.Cells, studyLink{cellTitle(&c.Cell), cellKey(name)})
			}
		}
		for _, file := range f.Files {
			t.Files = append(t.Files, plain(file))
		}
		out = append(out, t)
	}
	return out
}

// ended is a text with a full stop at its end.
func ended(text string) string { return strings.TrimRight(text, ".") + "." }

// evidence is what there is of a cell.
func (v *studyView) evidence(c *study.CellOutcome) studyEvidence {
	e := studyEvidence{Key: cellKey(c.Cell.Name), Name: plain(c.Cell.Name), Title: cellTitle(&c.Cell), Standing: v.why(c)}
	if e.Standing == "" {
		made := 0
		for _, t := range c.Trials {
			if t.Made() {
				made++
			}
		}
		e.Standing = fmt.Sprintf("%d of %s", made, plural(len(c.Trials), "round"))
	}
	for _, t := range c.Trials {
		x := studyTrial{Round: count(t.Round), File: plain(t.File), Status: "not made yet", Class: "none"}
		switch {
		case t.Run != nil:
			x.Made = true
			var status, reasons []string
			for _, p := range t.Run.Parts() {
				s := subjectOf(p)
				status = append(status, words(" ", workloadOf(&p.Header), s.status()))
				if x.Class != "bad" && x.Class != "suspect" {
					x.Class = statusClass(s.sum.Verdict.Status)
				}
				for _, r := range s.reasons() {
					if r.Status != result.Valid {
						reasons = append(reasons, reasonText(r))
					}
				}
				reasons = append(reasons, s.limits()...)
			}
			x.Status, x.Text = strings.Join(status, "; "), strings.Join(reasons, "; ")
		case t.Bench != nil:
			x.Made, x.Status, x.Class = true, "made", "valid"
			x.Text = fmt.Sprintf("%s operations, %s, GOMAXPROCS %d", count(t.Bench.N), plain(t.Bench.Version), t.Bench.Processors)
		case t.Why != "":
			x.Status, x.Class, x.Text = "failed", "bad", plain(t.Why)
		}
		e.Trials = append(e.Trials, x)
	}
	return e
}
