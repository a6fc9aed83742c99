package report

import (
	"fmt"
	"io"
	"strings"

	"sixnines/result"
)

// Format is one way to write results.
type Format struct {
	Name      string // as on the command line
	Extension string // of its files, with the dot
	About     string // one line for people
	Binary    bool   // not for a terminal
	// Single says that the format holds one result; Write refuses several.
	Single bool
	Write  func(w io.Writer, runs []*result.Run, opt Options) error
}

// Formats lists the formats there are, in the order of help texts.
func Formats() []Format {
	return []Format{
		{Name: "terminal", Extension: ".txt", About: "a table to read", Write: Terminal},
		{Name: "html", Extension: ".html", About: "one self-contained page with pictures", Write: HTML},
		{Name: "markdown", Extension: ".md", About: "tables for a pull request or a README",
			Write: func(w io.Writer, runs []*result.Run, _ Options) error { return writeMarkdown(w, runs) }},
		{Name: "json", Extension: ".json", About: "the summary, one object per line for each result", Write: jsonLines},
		{Name: "csv", Extension: ".csv", About: "the published figures, one per line",
			Write: func(w io.Writer, runs []*result.Run, _ Options) error { return writeCSV(w, runs) }},
		{Name: "csv-time", Extension: ".csv", About: "the values of each interval, one per line",
			Write: func(w io.Writer, runs []*result.Run, _ Options) error { return writeTimeCSV(w, runs) }},
		{Name: "parquet", Extension: ".parquet", About: "the values of each interval, for notebooks and databases", Binary: true,
			Write: func(w io.Writer, runs []*result.Run, _ Options) error { return writeParquet(w, runs) }},
		{Name: "csv-tail", Extension: ".csv", About: "the slowest messages, one per line",
			Write: func(w io.Writer, runs []*result.Run, _ Options) error { return writeTailCSV(w, runs) }},
		{Name: "openmetrics", Extension: ".prom", About: "distributions, counters, verdict and figures for monitoring systems",
			Write: func(w io.Writer, runs []*result.Run, _ Options) error { return writeOpenMetrics(w, runs) }},
		{Name: "svg", Extension: ".svg", About: "one picture, light or dark as its viewer prefers",
			Write: func(w io.Writer, runs []*result.Run, opt Options) error { return writeSVG(w, runs, opt.kind(), opt) }},
		{Name: "png", Extension: ".png", About: "one picture", Binary: true,
			Write: func(w io.Writer, runs []*result.Run, opt Options) error { return writePNG(w, runs, opt.kind(), opt) }},
		{Name: "hgrm", Extension: ".hgrm", About: "a percentile distribution in milliseconds, for HdrHistogram's plotters", Single: true,
			Write: single("hgrm", func(w io.Writer, run *result.Run, opt Options) error { return writeHgrm(w, run, opt.Metric) })},
		{Name: "hlog", Extension: ".hlog", About: "a histogram log, for HdrHistogram's tools", Single: true,
			Write: single("hlog", func(w io.Writer, run *result.Run, _ Options) error { return writeHlog(w, run) })},
	}
}

// FormatOf returns the format of a name; an error names those there are.
func FormatOf(name string) (Format, error) {
	var names []string
	for _, f := range Formats() {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	return Format{}, fmt.Errorf("unknown format %q; the formats are %s", name, strings.Join(names, ", "))
}

func (o Options) kind() Kind {
	if o.Kind == "" {
		return kindPercentiles
	}
	return o.Kind
}

// single wraps a format that holds one result.
func single(name string, write func(io.Writer, *result.Run, Options) error) func(io.Writer, []*result.Run, Options) error {
	return func(w io.Writer, runs []*result.Run, opt Options) error {
		switch len(runs) {
		case 0:
			return errNoRuns
		case 1:
			return write(w, runs[0], opt)
		}
		return fmt.Errorf("a file of format %s holds one result, not %d: write one file for each", name, len(runs))
	}
}

// jsonLines writes one object a line for each run.
func jsonLines(w io.Writer, runs []*result.Run, _ Options) error {
	if len(runs) == 0 {
		return errNoRuns
	}
	for _, run := range runs {
		if err := JSON(w, run); err != nil {
			return err
		}
	}
	return nil
}
