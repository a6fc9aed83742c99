package report

import (
	"fmt"
	"strings"

	"sixnines/internal/study"
)

// studyClaim is a conclusion of the author with its verdict.
type studyClaim struct {
	*study.Conclusion
	verdict study.Verdict
	tests   []study.Found
}

func (c studyClaim) key() string { return "claim:" + c.Name }

// claims are the conclusions.
func (v *studyView) claims() []studyClaim {
	var out []studyClaim
	for i := range v.Study.Conclusions {
		c := studyClaim{&v.Study.Conclusions[i], study.Undecidable, nil}
		for _, found := range v.Conclusions {
			if found.Conclusion == c.Name {
				c.verdict, c.tests = found.Verdict, found.Tests
			}
		}
		out = append(out, c)
	}
	return out
}

// standingOf returns the number of conclusions for each verdict.
func standingOf(claims []studyClaim) string {
	counts := map[study.Verdict]int{}
	for _, c := range claims {
		counts[c.verdict]++
	}
	return fmt.Sprintf("%s: %s agreed with, %s disagreed with, %s not decidable here", plural(len(claims), "conclusion"),
		count(counts[study.Agrees]), count(counts[study.Disagrees]), count(counts[study.Undecidable]))
}

// claim is a conclusion with what its tests found.
func (v *studyView) claim(c studyClaim) finding {
	out := finding{Key: c.key(), Status: strings.ToUpper(plain(string(c.verdict))), Label: plain(c.Claim), Class: verdictClass(c.verdict)}
	for _, s := range v.slips(c.Name) {
		out.Blocks = append(out.Blocks, s)
	}
	for _, f := range c.tests {
		found := text{Class: "facts", Lead: plain(string(f.Verdict)), Text: ended(plain(f.Text)), Item: true}
		if f.Needs != "" {
			found.Tail = "It takes " + plain(f.Needs) + "."
		}
		out.Blocks = append(out.Blocks, found)
		if f.Theirs != "" {
			out.Blocks = append(out.Blocks, text{Class: "facts", Lead: "theirs", Text: ended(plain(f.Theirs))})
		}
		if f.Slip != "" {
			out.Blocks = append(out.Blocks, slip(plain(f.Slip)))
		}
		out.Blocks = append(out.Blocks, v.rests(f))
	}
	return out
}

// rests is the evidence of a test.
type rests struct {
	Cells []cell
	Files []string
}

func (v *studyView) rests(f study.Found) rests {
	var out rests
	for _, name := range f.Cells {
		if c := v.Cell(name); c != nil {
			out.Cells = append(out.Cells, cellLink(&c.Cell))
		}
	}
	for _, file := range f.Files {
		out.Files = append(out.Files, plain(file))
	}
	return out
}

func (x rests) markdown(m *markdown) {
	if len(x.Files) > 0 {
		m.f("  It rests on %s: %s.\n", plural(len(x.Files), "result"), strings.Join(x.Files, ", "))
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

// ended is a text with a full stop at its end.
func ended(text string) string { return strings.TrimRight(text, ".") + "." }
