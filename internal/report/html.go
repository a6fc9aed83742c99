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
	t, err := template.ParseFS(pageFiles, "page/page.html.tmpl")
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, page); err != nil {
		return err
	}
	_, err = w.Write(b.Bytes())
	return err
}

// page is what the template shows.
type page struct {
	Title    string
	Several  bool
	Many     bool // so many that reasons are folded away
	KeyHeads []string
	Policy   string
	Style    template.CSS
	UPlot    template.JS
	Script   template.JS
	Data     template.JS
	Tool     string
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
	tool := prepared[0].run.Header.Tool
	p.Tool = strings.TrimSpace(plain(tool.Name + " " + tool.Version))
	if p.Tool == "" {
		p.Tool = "sixnines"
	}
	p.Shown = min(len(prepared), chartLimit)
	p.Left = len(prepared) - p.Shown
	p.Tables = pageTables(prepared)
	p.Notes = floorTexts(prepared)
	if len(prepared) == 1 {
		p.Notes = append(p.Notes, blocksNotes(prepared[0])...)
	}
	for _, x := range repeatSections(prepared) {
		p.Repeats = append(p.Repeats, x.sheet())
	}

	all := charts(prepared)
	for _, c := range all {
		// The SVG writer escapes what it is given.
		p.Charts = append(p.Charts, pageChart{c.Key, c.Title, c.Caption, c.Small, template.HTML(drawSVG(c, false))})
	}
	data, err := json.Marshal(chartData(all)) // escapes <, > and & as it must inside a script element
	if err != nil {
		return nil, err
	}
	style, err := pageFiles.ReadFile("page/style.css")
	if err != nil {
		return nil, err
	}
	script, err := pageFiles.ReadFile("page/charts.js")
	if err != nil {
		return nil, err
	}
	p.Style = template.CSS(uplotStyle + "\n" + string(style))
	p.UPlot, p.Script, p.Data = template.JS(uplotScript), template.JS(script), template.JS(data)
	p.Policy = "default-src 'none'; base-uri 'none'; form-action 'none'; style-src " + sourceHash(string(p.Style)) +
		"; script-src " + sourceHash(uplotScript) + " " + sourceHash(string(script))
	return p, nil
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
