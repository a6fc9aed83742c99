package report

import (
	"fmt"
	"io"
	"strconv"

	"sixnines/internal/study"
)

// StudyLength is a length of a study, with what it takes.
type StudyLength struct{ Name, Takes string }

// StudyPlan writes for people at a terminal what a study measures and what it decides.
func StudyPlan(w io.Writer, s *study.Study, lengths []StudyLength, opt Options) error {
	var out document
	out.say("", plain(s.Name)+"  "+plain(s.Title), strong)
	out.say("", plain(s.Question), normal)
	if o := s.Original; o != nil {
		out.add(gap{})
		out.say("", joinNonEmpty(", ", "after "+plain(o.Author), strconv.Quote(plain(o.Title)), plain(o.Date)), normal)
		out.say("  ", plain(o.Setting), faint)
		out.say("  ", plain(o.Versions), faint)
	}
	if x := s.Argument; x != nil {
		out.add(gap{})
		out.say("", "What follows is an example: its run takes --broker PRODUCT=VERSION,VERSION…", normal)
		out.say("  ", "--broker "+plain(x.String()), normal)
	}
	out.say("", "design "+s.Design(), faint)
	listed := func(title string, n int, entry func(i int) (name, text string)) {
		var all document
		for i := range n {
			name, text := entry(i)
			all.say(fmt.Sprintf("  %-20s ", plain(name)), plain(text), normal)
		}
		out.add(part{Title: title, Blocks: all})
	}
	listed("Systems", len(s.Systems), func(i int) (string, string) { return s.Systems[i].Name, s.Systems[i].Title })
	listed("Loads", len(s.Loads), func(i int) (string, string) { return s.Loads[i].Name, s.Loads[i].Title })
	listed("Lengths", len(lengths), func(i int) (string, string) { return lengths[i].Name, lengths[i].Takes })
	if len(s.Beside) > 0 {
		listed("At the same time", len(s.Beside), func(i int) (string, string) { return s.Beside[i].A, "beside " + s.Beside[i].B })
	}
	var claims document
	for _, c := range s.Conclusions {
		claims.say("  ", plain(c.Name), strong)
		claims.say("      ", plain(c.Claim), normal)
		for _, t := range c.Tests {
			claims.say("      ", plain(t.String()), faint)
		}
	}
	out.add(part{Title: "Conclusions", Blocks: claims})
	p := newPrinter(opt)
	p.document(out)
	return p.write(w)
}
