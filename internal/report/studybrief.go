package report

import (
	"io"
	"slices"
	"strings"

	"sixnines/internal/study"
	"sixnines/result"
)

// studyWidth is the largest number of columns of a study.
const studyWidth = 80

// StudyTerminal writes a study for people at a terminal, in short. The page has all of it.
func StudyTerminal(w io.Writer, o *study.Outcome, opt Options) error {
	if opt.Width < 40 || opt.Width > studyWidth {
		opt.Width = studyWidth
	}
	p := newPrinter(opt)
	p.document(newStudyView(o).brief())
	return p.write(w)
}

// brief is a study in short: how each conclusion stands, then the table of all cells.
func (v *studyView) brief() document {
	var out document
	out.say("", "Study: "+plain(v.Study.Title), strong)
	for _, n := range v.warnings() {
		out.add(n)
	}
	out.list("  ", v.facts(), faint)
	claims := v.claims()
	if len(claims) > 0 {
		out.add(gap{})
		out.say("", standingOf(claims), strong)
	}
	for _, c := range claims {
		out.say("  ", plain(string(c.verdict))+": "+plain(c.Claim), studyStyle(c.verdict))
		for i, t := range c.tests {
			found := ended(plain(t.Text))
			if t.Verdict == study.Undecidable {
				if i > 0 || c.verdict != study.Undecidable {
					continue
				}
				found = shorten(found, 2*studyWidth-20) // why, in brief: the page has the others
			}
			out.say("      ", found, faint)
		}
	}
	out.add(v.cellsBriefly())
	if len(v.Skipped) > 0 {
		var skipped document
		for _, reason := range v.skippedBriefly() {
			skipped.say("  ", reason, faint)
		}
		out.add(part{Title: "Not measured", Blocks: skipped})
	}
	if command := plain(v.GoOn); command != "" {
		out.add(gap{})
		out.say("  ", "go on: "+command, strong)
	}
	return out
}

// skippedBriefly lists the systems that were not measured, by reason, with what the user can
// do about it if running the study again is not enough.
func (v *studyView) skippedBriefly() []string {
	var reasons []string
	names, hows := map[string][]string{}, map[string][]string{}
	for _, s := range v.Skipped {
		why, how := plain(s.Why), plain(s.How)
		reasons = appendNew(reasons, why)
		names[why] = append(names[why], v.systemTitle(s.System))
		if how != "" && !s.Again {
			hows[why] = appendNew(hows[why], how)
		}
	}
	var out []string
	for _, why := range reasons {
		out = append(out, joinNonEmpty(" – ", why+": "+strings.Join(names[why], "; "), strings.Join(hows[why], "; ")))
	}
	return out
}

// cellsBriefly is the table of the cells that have trials, by their short names, the rate
// before the latencies where some are flat out.
func (v *studyView) cellsBriefly() *table {
	x := v.allCells()
	x.Name, x.Head[1].Right = allCells, false
	var rows []row
	for i, r := range x.Rows {
		c := &v.Cells[i]
		if len(c.Trials) == 0 {
			continue // told below
		}
		r.Cells[0].Text = plain(c.Cell.Name)
		if first := r.Cells[2]; first.Style == faint && len(first.Notes) > 0 && first.Notes[0].Text != r.Cells[1].Text {
			r.noted(first.Notes[0].Text)
		}
		rows = append(rows, r)
	}
	x.Rows = rows
	if v.flatOut() {
		rateFirst := func(c []cell) []cell {
			last := len(c) - 1
			return slices.Concat(c[:2], c[last:], c[2:last])
		}
		x.Head = rateFirst(x.Head)
		for i := range x.Rows {
			x.Rows[i].Cells = rateFirst(x.Rows[i].Cells)
		}
	}
	return x
}

// flatOut reports whether any run of the study is unpaced.
func (v *studyView) flatOut() bool {
	for run := range v.runs {
		if slices.ContainsFunc(run.Parts(), func(p *result.Run) bool { return p.Header.Mode == result.ModeFlatOut }) {
			return true
		}
	}
	return false
}

// studyStyle is how a verdict on a conclusion looks.
func studyStyle(v study.Verdict) style {
	switch v {
	case study.Agrees:
		return good
	case study.Disagrees:
		return bad
	}
	return strong
}
