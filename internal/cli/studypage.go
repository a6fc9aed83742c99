package cli

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"sixnines/internal/report"
	"sixnines/internal/study"
)

// The files of a study beside its results.
const (
	studyPage     = "study.html"
	studyMarkdown = "study.md"
	studyTable    = "study.csv"
	studyCharts   = "charts" // of the Markdown
)

// writePause is the least time between two updates of the pages during trials, since
// writing them uses the machine.
const writePause = time.Minute

// writeBetween writes the pages when the next trial is of another system, so that they can
// be read while other systems are measured. A failure is only noted, since the pages
// are written again at the end.
func (s *studyRuns) writeBetween(system string) {
	if s.last != "" && s.last != system && len(s.made) > 0 && time.Since(s.written) >= writePause {
		if err := s.write(s.outcome(filepath.Base(s.dir))); err != nil {
			s.note("the pages could not be written now: %s", oneLine(err.Error()))
		}
		s.written = time.Now()
	}
	s.last = system
}

// write writes the pages of a study into its directory, in place of those that are
// there.
func (s *studyRuns) write(o *study.Outcome) error {
	var text bytes.Buffer
	pictures, err := report.StudyMarkdown(&text, o, studyCharts)
	if err != nil {
		return failed("the results are in "+s.dir, err)
	}
	charts := filepath.Join(s.dir, studyCharts)
	if err := os.MkdirAll(s.path(charts), 0o755); err != nil {
		return failed(fileHint(err), err)
	}
	for _, p := range pictures {
		err = errors.Join(err, s.writeNew(filepath.Join(charts, p.Name), true, func(w io.Writer) error {
			_, err := io.WriteString(w, p.SVG)
			return err
		}))
	}
	err = errors.Join(err,
		s.writeNew(filepath.Join(s.dir, studyMarkdown), true, func(w io.Writer) error { _, err := w.Write(text.Bytes()); return err }),
		s.writeNew(filepath.Join(s.dir, studyPage), true, func(w io.Writer) error { return report.StudyHTML(w, o) }),
		s.writeNew(filepath.Join(s.dir, studyTable), true, func(w io.Writer) error { return report.StudyCSV(w, o) }))
	if err != nil {
		return failed(fileHint(err), err)
	}
	return nil
}
