package selftest

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"sixnines/internal/report"
	"sixnines/internal/spell"
)

//go:embed page.html.tmpl
var pageTemplate string

// page is what the template shows.
type page struct {
	Class, Status, Summary string
	Facts                  []string
	Reasons                []pageReason
	Trials                 []pageTrial
}

type pageReason struct{ Class, Verdict, Name, Text string }

// pageTrial is a trial and its result on the page.
type pageTrial struct {
	*Outcome
	Sentence              string // Outcome.Text as one
	Number                int
	Name, Question, Class string
	Tally, Took           string
	Pictures              []pagePicture
}

type pagePicture struct {
	report.Picture
	SVG template.HTML
}

// class is the style of a verdict.
func class(v Verdict) string {
	switch v {
	case Passed:
		return "valid"
	case Failed:
		return "bad"
	case NotAssessed:
		return "suspect"
	}
	return ""
}

// Verdict returns Failed if a trial failed, else NotAssessed if one was not assessed,
// else Passed.
func (r *Report) Verdict() Verdict {
	for _, v := range []Verdict{Failed, NotAssessed} {
		if r.Count(v) > 0 {
			return v
		}
	}
	return Passed
}

// Summary sums the trials up in a line.
func (r *Report) Summary() string {
	text := fmt.Sprintf("%d trials: %d passed", len(r.Trials), r.Count(Passed))
	if len(r.Trials) == 1 {
		text = strings.Replace(text, "trials", "trial", 1)
	}
	for _, v := range []Verdict{Failed, NotAssessed, Information} {
		if n := r.Count(v); n > 0 {
			text += fmt.Sprintf(", %d %s", n, v)
		}
	}
	return text
}

// Tally counts an outcome's figures: "12 of 13 as expected".
func (o *Outcome) Tally() string {
	demanded, good := 0, 0
	for _, f := range o.Figures {
		if f.Verdict != Information {
			demanded++
		}
		if f.Verdict == Passed {
			good++
		}
	}
	switch {
	case len(o.Figures) == 0:
		return "nothing measured"
	case demanded == 0:
		return "for information"
	}
	return fmt.Sprintf("%d of %d as expected", good, demanded)
}

// Why says in a line why an outcome is not assessed or failed; empty for others.
func (o *Outcome) Why() string {
	switch {
	case o.Verdict == NotAssessed:
		return o.Reason
	case o.Verdict == Failed:
		return failures(o)
	}
	return ""
}

// sentence gives a text a capital and a full stop.
func sentence(text string) string {
	r, n := utf8.DecodeRuneInString(text)
	if n == 0 {
		return ""
	}
	return string(unicode.ToUpper(r)) + strings.TrimSuffix(text[n:], ".") + "."
}

// Rounded writes how long something took.
func Rounded(d time.Duration) string { return spell.Period(d.Round(100 * time.Millisecond)) }

// HTML writes one self-contained page in the style of the reports. All text is
// escaped.
func (r *Report) HTML(w io.Writer) error {
	head, err := report.PageHead("The tool on trial", "self-test")
	if err != nil {
		return err
	}
	form := "full form"
	if r.Short {
		form = "short form"
	}
	p := page{Class: class(r.Verdict()), Status: string(r.Verdict()), Summary: r.Summary(), Facts: []string{
		r.Started.Format(time.RFC1123Z), "· " + form, "· took " + Rounded(r.Took), "· " + r.Machine.String(), "· " + r.Tool.Name + " " + r.Tool.Version}}
	if r.Stopped {
		p.Facts = append(p.Facts, "· stopped before its end")
	}
	for _, t := range r.Trials {
		shown := pageTrial{Outcome: t.Outcome, Sentence: sentence(t.Text), Number: t.Number, Name: t.Name, Question: t.Question, Class: class(t.Verdict),
			Tally: t.Tally(), Took: Rounded(t.Took)}
		if why := t.Why(); why != "" {
			p.Reasons = append(p.Reasons, pageReason{class(t.Verdict), string(t.Verdict), t.Name, why})
		}
		for i, c := range t.Charts {
			svg, err := c.Draw(fmt.Sprintf("%s-%d", t.Name, i))
			if err != nil {
				return fmt.Errorf("%s: draw %q: %w", t.Name, c.Title, err)
			}
			shown.Pictures = append(shown.Pictures, pagePicture{c, svg})
		}
		p.Trials = append(p.Trials, shown)
	}
	t, err := template.New("page").Funcs(template.FuncMap{"class": class}).Parse(pageTemplate)
	if err != nil {
		return err
	}
	var body strings.Builder
	if err := t.Execute(&body, p); err != nil {
		return err
	}
	_, err = io.WriteString(w, head+body.String()+report.PageFoot("Written by "+r.Tool.Name+" "+r.Tool.Version+
		". The method's documentation says what is required and why; run sixnines selftest --only NAME to repeat a trial."))
	return err
}
