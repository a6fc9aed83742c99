package report

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"html/template"
	"io"
	"slices"
	"strings"

	"sixnines/result"
)

//go:embed page
var pageFiles embed.FS

//go:embed vendor-uplot/uPlot.iife.min.js
var uplotScript string

//go:embed vendor-uplot/uPlot.min.css
var uplotStyle string

// HTML writes one page that needs nothing else: no network, no fonts, no
// scripts of others at run time. Without JavaScript it is complete, with
// tables and static pictures; with it the pictures can be zoomed and read off.
// It follows the reader's light or dark preference and prints. Several runs
// are overlaid in the pictures (the first eight) and stand side by side in the
// tables.
//
// Everything that comes from a result file is escaped, and the page's content
// security policy admits only the scripts and styles that this package wrote,
// by their hashes.
func HTML(w io.Writer, runs []*result.Run, opt Options) error {
	prepared, err := subjects(runs)
	if err != nil {
		return err
	}
	page, err := newPage(prepared, opt)
	if err != nil {
		return err
	}
	return writePage(w, "page.html.tmpl", page)
}

// writePage writes a page by the name of its template.
func writePage(w io.Writer, name string, page any) error {
	t, err := template.ParseFS(pageFiles, "page/shell.html.tmpl", "page/"+name)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := t.ExecuteTemplate(&b, name, page); err != nil {
		return err
	}
	_, err = w.Write(b.Bytes())
	return err
}

// shell is what every page with charts has: its policy, style and scripts, and the
// charts as data.
type shell struct {
	Title, Kind string
	Policy      string
	Style       template.CSS
	UPlot       template.JS
	Script      template.JS
	Data        template.JS
	Tool        string
}

// newShell prepares a page of some kind ("latency report") with charts.
func newShell(title, kind string, all []*chart) (shell, error) {
	s := shell{Title: title, Kind: kind}
	data, err := json.Marshal(chartData(all)) // escapes <, > and & as it must inside a script element
	if err != nil {
		return s, err
	}
	style, err := pageFiles.ReadFile("page/style.css")
	if err != nil {
		return s, err
	}
	script, err := pageFiles.ReadFile("page/charts.js")
	if err != nil {
		return s, err
	}
	s.Style = template.CSS(uplotStyle + "\n" + string(style))
	s.UPlot, s.Script, s.Data = template.JS(uplotScript), template.JS(script), template.JS(data)
	s.Policy = "default-src 'none'; base-uri 'none'; form-action 'none'; style-src " + sourceHash(string(s.Style)) +
		"; script-src " + sourceHash(uplotScript) + " " + sourceHash(string(script))
	return s, nil
}

// pictures are charts drawn for a page.
func pictures(all []*chart) []pageChart {
	var out []pageChart
	for _, c := range all {
		// The SVG writer escapes what it is given.
		out = append(out, pageChart{c.Key, c.Title, c.Caption, c.Small, template.HTML(drawSVG(c, false))})
	}
	return out
}

// toolOf is what wrote a result, for people.
func toolOf(r *result.Run) string {
	if tool := strings.TrimSpace(plain(r.Header.Tool.Name + " " + r.Header.Tool.Version)); tool != "" {
		return tool
	}
	return "sixnines"
}

// page is what the template shows.
type page struct {
	shell
	Several  bool
	Many     bool // so many that reasons are folded away
	KeyHeads []string
	Runs     []pageRun
	Omission []string
	Charts   []pageChart
	Shown    int // runs in the pictures
	Left     int // runs that are in the tables only
	Tables   []pageTable
	Notes    []string // what is to be said of noise floors, and of intervals
	Repeats  []sheet
}

// pageChart is a picture and its words.
type pageChart struct {
	Key, Title, Caption string
	Small               bool
	SVG                 template.HTML
}

func newPage(prepared []*subject, opt Options) (*page, error) {
	p := &page{Several: len(prepared) > 1, Omission: omission(prepared)}
	names := make([]string, len(prepared))
	for i, s := range prepared {
		names[i] = s.title
		p.Runs = append(p.Runs, newPageRun(s, opt))
	}
	p.Many = len(prepared) > 3
	p.Title = strings.Join(names, " · ")
	if distinct := slices.Compact(slices.Clone(names)); len(names) > 1 && len(distinct) == 1 {
		p.Title = count(int64(len(names))) + " results: " + names[0]
	} else if p.Many {
		p.Title = count(int64(len(names))) + " results: " + names[0] + " to " + names[len(names)-1]
	}
	if name := prepared[0].shared; name != "" {
		p.Title = name + ": " + p.Title
	}
	p.Title = shorten(p.Title, 120)
	p.alignKeys()
	p.Shown = min(len(prepared), chartLimit)
	p.Left = len(prepared) - p.Shown
	p.Tables = pageTables(prepared)
	p.Notes = floorTexts(prepared)
	if len(prepared) == 1 {
		p.Notes = append(p.Notes, blocksNotes(prepared[0])...)
	}
	for _, x := range repeatSections(prepared, every) {
		p.Repeats = append(p.Repeats, x.sheet())
	}

	all := charts(prepared)
	p.Charts = pictures(all)
	var err error
	p.shell, err = newShell(p.Title, "latency report", all)
	p.Tool = toolOf(prepared[0].run)
	return p, err
}

// alignKeys puts the cards of several runs into the columns of one table.
func (p *page) alignKeys() {
	for _, r := range p.Runs {
		for _, c := range r.Cards {
			if !slices.Contains(p.KeyHeads, c.Key) {
				p.KeyHeads = append(p.KeyHeads, c.Key)
			}
		}
	}
	for i := range p.Runs {
		r := &p.Runs[i]
		r.Keys = make([]pageRow, len(p.KeyHeads))
		for _, c := range r.Cards {
			r.Keys[slices.Index(p.KeyHeads, c.Key)] = c
		}
	}
}

// sourceHash admits one inline script or style (Content Security Policy
// level 3, hash-source).
func sourceHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
