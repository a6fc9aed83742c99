// Package report writes results for people and for other programs, as the command sixnines
// report does: a self-contained page, a table, Markdown, CSV or JSON.
//
// A report is made from records alone: the same runs give the same bytes, without the time of
// writing. Text from a result is escaped. The runs are not changed, and not merged: several stand
// side by side. What a report says in words may change with the version; programs read JSON or CSV.
//
// All functions are safe for concurrent use, on different runs.
package report

import (
	"io"

	"sixnines/internal/report"
	"sixnines/result"
)

// HTML writes a page that loads nothing from the network: verdict, figures, charts and every table. A run
// of several workloads has a column for each of them. It returns an error without runs, and those of w.
func HTML(w io.Writer, runs ...*result.Run) error {
	return report.HTML(w, parts(runs), report.Options{})
}

// Text writes the screen of sixnines run, without colours, at most columns wide; 0: 80.
func Text(w io.Writer, columns int, runs ...*result.Run) error {
	return report.Terminal(w, parts(runs), report.Options{Width: columns})
}

// Format writes the runs in a format that sixnines report --format knows, such as "markdown",
// "csv" or "json". An unknown name gives an error that lists those there are.
func Format(w io.Writer, name string, runs ...*result.Run) error {
	f, err := report.FormatOf(name)
	if err != nil {
		return err
	}
	return f.Write(w, parts(runs), report.Options{})
}

// parts returns the runs with each of several workloads in place of what holds them.
func parts(runs []*result.Run) []*result.Run {
	var out []*result.Run
	for _, r := range runs {
		out = append(out, r.Parts()...)
	}
	return out
}
