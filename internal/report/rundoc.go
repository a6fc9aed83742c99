package report

import (
	"slices"

	"sixnines/result"
)

// runsDocument returns the report of runs: the verdicts, then their percentiles side by
// side, then for each run the findings, the fate of its messages, and the setup. drawn are
// the charts of a page.
func runsDocument(prepared []*subject, drawn []*chart, opt Options, in medium) document {
	alone, many := len(prepared) == 1, in == onPage && len(prepared) >= manyRuns
	verdicts, reasons := part{Label: "Verdict"}, part{Key: "reasons", Title: "Verdict and reasons", Page: true}
	for _, line := range setLines(prepared) {
		verdicts.Blocks.add(line)
	}
	for _, s := range prepared {
		x := verdictOf(s, many, in == onPage || alone, in)
		if in == onPage {
			x.Class = "open" // the colour is that of what it opens with
			reasons.Blocks = append(reasons.Blocks, x)
			x = opening(s, many || !alone)
		}
		verdicts.Blocks = append(verdicts.Blocks, x)
	}
	out := document{verdicts}
	if x := objectivesOfAll(prepared); x != nil && in != onPage && !alone {
		out = append(out, x)
	}
	for _, sentence := range omission(prepared) {
		out.add(gap{}, text{Class: "callout", Text: sentence, Quoted: true, setting: setting{Style: strong}})
	}
	if in == onPage {
		keys := part{Label: "Key figures", Blocks: document{keyFigures(prepared)}}
		if many {
			out = append(document{keys}, out...)
		} else {
			out = append(out, keys)
		}
		pictures := part{Label: "Pictures", Blocks: document{livePictures(drawn)}}
		if len(prepared) > chartLimit {
			pictures.Blocks = append(pictures.Blocks, text{Class: "callout", Text: "The pictures show the first " + count(chartLimit) + " results; the tables show all."})
		}
		out = append(out, pictures, reasons)
	}
	between := part{Key: "repeats", Title: "Between runs", Page: true}
	for _, x := range repeatTables(prepared, allMetrics) {
		between.Blocks = append(between.Blocks, section(x, in))
	}
	for _, x := range repeatCosts(prepared) {
		between.Blocks = append(between.Blocks, section(x, in))
	}
	if len(between.Blocks) > 0 {
		out = append(out, between)
	}
	out = append(out, part{Key: "percentiles", Title: "Percentiles", Page: true, Blocks: percentilesOf(prepared, in, func(family) bool { return true })})
	described := map[string]bool{} // repeats of a run have the same setting
	for _, s := range prepared {
		behind := part{Class: "findings", Title: "Details behind the figures", Of: s.of(), Page: true}
		if in == inTerminal && !alone {
			behind.Title, behind.Page, behind.Blocks = "Machine and broker use", false, findingLines(s)
		} else {
			for _, x := range findings(s) {
				if in == onPage && (!x.Column || !alone) || in != onPage && !x.Page {
					x.Of = s.of()
					behind.Blocks = append(behind.Blocks, section(x, in))
				}
			}
		}
		if len(behind.Blocks) > 0 {
			out = append(out, behind)
		}
		switch in {
		case onPage:
			messages := messageTables(s)
			messages.Blocks = append(messages.Blocks, standing(s, opt)...)
			out = append(out, messages)
		case inTerminal:
			out = append(out, messageLines(s)...)
			key := s.run.Header.ID
			if t := s.run.Header.Trial; t != nil && t.Set != "" {
				key = t.Set + " " + t.Arm
			}
			if key += " " + s.run.Header.Workload; !described[key] {
				out = append(out, setupLines(s)...)
			}
			described[key] = true
		}
	}
	if in == inMarkdown {
		out = append(out, accountsOf(prepared))
		for _, s := range prepared {
			if x := copyTable(s); x != nil {
				x.Of = s.of()
				out = append(out, x)
			}
		}
	}
	return out
}

// section is a table that a page folds away.
func section(x *table, in medium) block {
	if in == onPage {
		return folded{Title: x.Name, Open: !x.Folded, Blocks: document{x}}
	}
	return x
}

// verdictOf returns the verdict of a run with its reasons. With many runs the reasons are
// folded; its objectives are here or in a table of all runs.
func verdictOf(s *subject, many, objectives bool, in medium) finding {
	x := finding{Status: s.status(), Class: statusClass(s.sum.Verdict.Status), Style: statusStyle(s.sum.Verdict.Status)}
	if s.letter != "" || in != onPage {
		x.Label = s.label
	}
	if in != onPage { // a page opens with them
		for _, l := range s.limits() {
			x.Blocks = append(x.Blocks, text{Class: "limit", Text: l, Item: true, Bold: true, setting: setting{Margin: "  ", Style: warning}})
		}
	}
	var behind document
	if in != onPage {
		behind.add(facts{List: s.identity(), setting: setting{Margin: "  "}})
	}
	var reasons points
	for _, r := range s.reasons() {
		said := remark{Word: reasonWord(r.Status), Class: statusClass(r.Status), Text: plain(r.Text), Code: plain(string(r.Code))}
		if r.Status == result.Valid {
			said.Class, said.Style = "remark", faint
		}
		reasons = append(reasons, said)
	}
	switch {
	case len(reasons) > 0:
		behind = append(behind, reasons)
	case in == onPage && s.sum.Verdict.Status == result.Valid && len(s.limits()) == 0 && !slices.ContainsFunc(s.banners, func(b banner) bool { return b.Loud }):
		behind = append(behind, text{Class: "reasons", Text: "No reason to suspect these figures was found."})
	}
	for _, b := range s.banners {
		if in != onPage || !b.Loud { // a page opens with those that are loud
			behind = append(behind, notice{b.Head, b.Text, b.Loud})
		}
	}
	if many {
		behind = document{folded{Title: "Facts and reasons", Small: true, Blocks: behind}}
	}
	x.Blocks = append(x.Blocks, behind...)
	if t := objectivesTable(s); t != nil && objectives {
		if in == onPage {
			x.Blocks = append(x.Blocks, minor(t.Name))
		}
		x.Blocks = append(x.Blocks, t)
	}
	return x
}

// percentilesOf returns the tables of the wanted percentiles, with the noise floor to compare
// them with, and what they mean per user and page.
func percentilesOf(prepared []*subject, in medium, wanted func(family) bool) document {
	var out document
	for _, f := range tabled() {
		if f.Apart || !wanted(f) {
			continue
		}
		for _, x := range percentileTables(prepared, f, in) {
			out = append(out, x)
		}
	}
	remarks := floorTexts(prepared)
	switch alone := len(prepared) == 1; {
	case in == onPage:
		out = append(out, percentileLegend{})
		if alone {
			remarks = append(remarks, blocksNotes(prepared[0])...)
		}
	case alone && peopleLine(prepared[0]) != "":
		remarks = append(remarks, sentence(peopleLine(prepared[0])))
	}
	return append(out, keys(remarks...)...)
}

// findingLines are the findings of a run among several, in a line each.
func findingLines(s *subject) document {
	var out document
	if st := s.sum.Steady; st != nil {
		out.say("  ", "steady state: "+plain(st.Text), normal)
	}
	for _, a := range s.sum.Attribution {
		out.say("  ", attributionLine(a), normal)
	}
	return out
}
