// Package report shows result files to people and to other programs: a table
// for the terminal, one self-contained HTML page, pictures, and the exchange
// formats CSV, JSON, Markdown, .hgrm and .hlog.
//
// It is opinionated. The verdict comes first, with its reasons. A percentile that the
// sample does not support is not shown as a number, nor is a response percentile of an
// overloaded run. The maximum is always shown. Qualifications of a figure (few samples, a
// lower bound, few events, the generator's own share) stand beside it, not in a footnote.
// Tables repeat the summary's figures and compute none of them again; only charts, and
// percentiles that no summary publishes ([Nines]), use the histograms. Runs of one set
// ([result.Trial]) are shown side by side and never merged.
//
// All functions are pure: the same runs and options give the same bytes, without the time
// of writing. They do not change the runs. Text from a result file is treated as hostile:
// it is escaped, or freed of control characters, as the format requires.
package report

import (
	"errors"
	"strconv"

	"sixnines/internal/judge"
	"sixnines/result"
)

// Options are the choices a report leaves to its caller. The zero value is
// good for every format.
type Options struct {
	// Width is the number of columns of the terminal, at least 40; 0 means that it is
	// not known: then it is 100, or 80 for the first screen of a run.
	Width int
	// Full writes everything to the terminal, not only what fits a screen.
	Full bool
	// Show names the [Parts] that follow the first screen of a terminal.
	Show []string
	// Page is the path of the run's page, which the first screen names; empty: no page.
	Page string
	// Details is the command that shows all of a comparison, which its first screen
	// names; empty: the same with --full.
	Details string
	// Color permits ANSI colour sequences in the terminal table.
	Color bool
	// ASCII restricts the terminal table to ASCII.
	ASCII bool
	// Kind is the picture that SVG and PNG show in [Formats]; empty:
	// [kindPercentiles].
	Kind Kind
	// Metric is the distribution that .hgrm has in [Formats]; empty: the
	// first that the run has, in the order of [result.Metrics].
	Metric result.Metric
	// Command is the command line that reproduces the run, shown as such;
	// empty: derived from the result file.
	Command string
}

// errNoRuns is returned when there is nothing to report.
var errNoRuns = errors.New("no result to report: name at least one result file")

// subject is one run, prepared for all formats.
type subject struct {
	run     *result.Run
	sum     *result.Summary
	cut     bool   // the file has no summary: the run was killed
	label   string // unique among the runs of a report
	letter  string // "A", "B", …; empty when the run is alone
	title   string // for people: the name, else what was run
	shared  string // the common name of all workloads of a report, left out of their titles
	tables  []family
	banners []banner
}

// subjectOf prepares a run that stands alone. One that was cut short is
// summarised from its intervals.
func subjectOf(r *result.Run) *subject {
	s := &subject{run: r, sum: r.Summary, title: titleOf(r)}
	if s.sum == nil {
		s.cut = true
		s.sum = judge.Summarise(r, judge.InputsOf(r))
	}
	s.label = s.title
	s.tables = families(r, s.sum)
	s.banners = bannersOf(s)
	return s
}

// subjects prepares the runs in order. If there are several they have letters.
func subjects(runs []*result.Run) ([]*subject, error) {
	if len(runs) == 0 {
		return nil, errNoRuns
	}
	out, shared := make([]*subject, len(runs)), sharedName(runs)
	for i, r := range runs {
		out[i] = subjectOf(r)
		if len(runs) > 1 {
			out[i].letter = letter(i)
			if shared != "" {
				out[i].shared, out[i].title = shared, workloadOf(&r.Header)
			}
			out[i].label = out[i].letter + " " + out[i].title
		}
	}
	return out, nil
}

// of names the run in headings where there are several.
func (s *subject) of() string {
	if s.letter == "" {
		return ""
	}
	return s.label
}

// sends reports whether the run had producers.
func (s *subject) sends() bool { return s.run.Header.Mode != result.ModeConsume }

// sharedName is the name of runs that are all workloads of one scenario, empty if
// they are not, or have none.
func sharedName(runs []*result.Run) string {
	for _, r := range runs {
		if r.Header.Workload == "" || r.Header.Name != runs[0].Header.Name {
			return ""
		}
	}
	return plain(runs[0].Header.Name)
}

// letter names the i-th of several runs: A to Z, then numbers.
func letter(i int) string {
	if i < 26 {
		return string(rune('A' + i))
	}
	return strconv.Itoa(i + 1)
}

// titleOf is the run's name, or driver, pattern and load where it has none.
func titleOf(r *result.Run) string {
	w := workloadOf(&r.Header)
	if w == "" {
		return titleOfAll(r)
	}
	if name := plain(r.Header.Name); name != "" {
		w = name + " " + w
	}
	return w
}

// workloadOf names the workload of a run, empty where it has only one.
func workloadOf(h *result.Header) string {
	w := plain(h.Workload)
	if w != "" && h.Background {
		w += " (background)"
	}
	return w
}

// titleOfAll is titleOf without a workload's name.
func titleOfAll(r *result.Run) string {
	if name := plain(r.Header.Name); name != "" {
		return name
	}
	t := plain(r.Header.Driver + " " + r.Header.Pattern)
	if t == "" {
		return "unnamed run"
	}
	if r.Header.Rate > 0 {
		return t + " " + rate(r.Header.Rate)
	}
	return plain(t + " " + r.Header.Mode)
}
