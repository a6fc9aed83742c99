package report

import (
	"bytes"
	"fmt"
	"html/template"
	"io"

	"sixnines/internal/study"
)

// StudyHTML writes a study as one self-contained page, in the order of the original:
// each chart and table with today's numbers, those of the original beside them,
// each conclusion with how it stands and what that rests on. What was not measured
// has its place, with why. The page loads nothing.
func StudyHTML(w io.Writer, o *study.Outcome) error {
	d := newStudyDoc(o)
	t, err := template.ParseFS(pageFiles, "page/study.html.tmpl")
	if err != nil {
		return fmt.Errorf("study page: %w", err)
	}
	head, err := PageHead(d.Title, "study")
	if err != nil {
		return err
	}
	var b bytes.Buffer
	b.WriteString(head)
	if err := t.Execute(&b, d); err != nil {
		return fmt.Errorf("study page: %w", err)
	}
	b.WriteString(PageFoot("Written by " + d.Tool + ". Runs are never merged; percentiles are never averaged. This file loads nothing from anywhere."))
	_, err = w.Write(b.Bytes())
	return err
}

// SVG is the picture for a page; nothing where there is nothing to draw.
func (p studyPicture) SVG() template.HTML {
	if p.draw == nil {
		return ""
	}
	return template.HTML(p.draw(false)) // which escapes what it is given
}
