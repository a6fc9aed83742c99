package report

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"html/template"
	"io"
	"strings"
)

//go:embed page/page.html.tmpl
var pageTemplate string

//go:embed page/style.css
var pageStyle string

//go:embed page/charts.js
var pageScript string

//go:embed vendor-uplot/uPlot.iife.min.js
var uplotScript string

//go:embed vendor-uplot/uPlot.min.css
var uplotStyle string

// page is the data of the page template.
type page struct {
	Title, Kind string
	Policy      string
	Style       template.CSS
	Live        bool   // a script redraws the charts
	Events      string // the address from which the script reads updates; empty: none come
	UPlot       template.JS
	Script      template.JS
	Data        template.JS
	Body        document
	Foot        []string
	Printed     string // what a print leaves out; empty: nothing
}

// newPage begins a page of some kind ("latency report").
func newPage(title, kind string, live bool) *page {
	style, scripts := pageStyle, ""
	if live {
		style, scripts = uplotStyle+"\n"+style, "; script-src "+sourceHash(uplotScript)+" "+sourceHash(pageScript)
	}
	return &page{Title: title, Kind: kind, Style: template.CSS(style), Live: live, UPlot: template.JS(uplotScript), Script: template.JS(pageScript),
		Policy: "default-src 'none'; base-uri 'none'; form-action 'none'; style-src " + sourceHash(style) + scripts}
}

// templates returns the templates of a page.
func templates() (*template.Template, error) {
	t := template.New("")
	t.Funcs(template.FuncMap{
		"blocks": func(d document) (template.HTML, error) {
			var b strings.Builder
			for _, x := range d {
				kind := fmt.Sprintf("%T", x)
				if err := t.ExecuteTemplate(&b, kind[strings.LastIndexByte(kind, '.')+1:], x); err != nil {
					return "", err
				}
			}
			return template.HTML(b.String()), nil
		},
		"divisible": divisible,
	})
	return t.Parse(pageTemplate)
}

// write writes a template of the page.
func (p *page) write(w io.Writer, name string) error {
	t, err := templates()
	if err != nil {
		return err
	}
	var b strings.Builder
	if err := t.ExecuteTemplate(&b, name, p); err != nil {
		return err
	}
	_, err = io.WriteString(w, b.String())
	return err
}

// fragment returns a part of a page's body.
func fragment(d document) (string, error) {
	t, err := templates()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = t.ExecuteTemplate(&b, "fragment", d)
	return b.String(), err
}

// writePage writes a self-contained page: it loads nothing from the network, neither fonts
// nor scripts. Without JavaScript it is complete, with tables and static charts; with
// JavaScript, live charts can be zoomed and show their values. It follows the reader's
// light or dark preference and can be printed.
//
// All text is escaped, and the page's content security policy admits only the scripts
// and styles that this package wrote, by their hashes.
//
// A print of a page with printed has its first charts and no details, and says so in these words.
func writePage(w io.Writer, title, kind, printed string, live []*chart, body document, foot ...string) error {
	data, err := json.Marshal(chartData(live)) // escapes <, > and & as it must inside a script element
	if err != nil {
		return err
	}
	p := newPage(title, kind, live != nil)
	p.Data, p.Body, p.Foot, p.Printed = template.JS(data), body, foot, printed
	return p.write(w, "page")
}

// sourceHash admits one inline script or style (Content Security Policy
// level 3, hash-source).
func sourceHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// PageHead returns the beginning of a page of another package in the style of
// the reports: everything from the doctype to the opened main element and the
// title in it. kind stands beside the name of the program ("self-test"). Both
// are plain text. The page follows the reader's light or dark preference,
// prints, loads nothing, and admits no script and no style but its own.
//
// The style sheet knows: article.verdict (with .valid, .suspect or .bad) for a
// finding, span.status in its h2, p.facts, ul.reasons; p.callout; div.scroll
// around every table; table.figures for numbers flush right (td.suspect,
// td.none, td.valid, td.suspect, td.bad, span.note below a number),
// table.sheet for text, details and summary to fold away, pre, footer.
func PageHead(title, kind string) (string, error) {
	var b strings.Builder
	err := newPage(plain(title), plain(kind), false).write(&b, "head")
	return b.String(), err
}

// PageFoot returns the end of a page that [PageHead] began, with a sentence of
// plain text as its footer.
func PageFoot(text string) string {
	return "</main>\n<footer>\n<p>" + html.EscapeString(plain(text)) + "</p>\n</footer>\n</body>\n</html>\n"
}

// divisible returns text that a browser may break after the signs that join the parts of a
// name.
func divisible(text string) template.HTML {
	return template.HTML(strings.NewReplacer(".", ".<wbr>", "_", "_<wbr>", "-", "-<wbr>", "/", "/<wbr>").Replace(html.EscapeString(text)))
}

// SVG returns the chart for a page; empty if it has nothing to draw.
func (x picture) SVG() template.HTML {
	if x.Draw == nil {
		return ""
	}
	return template.HTML(x.Draw(false)) // Draw escapes all text
}

// PageClass is the table's class, for the template.
func (x *table) PageClass() string {
	if x.Class == "" {
		return "sheet figured"
	}
	return x.Class
}

// Sheet reports whether a table contains words rather than figures.
func (x *table) Sheet() bool { return strings.HasPrefix(x.PageClass(), "sheet") }

// Weightless reports whether the last row is like all others.
func (x *table) Weightless() bool { return strings.HasSuffix(x.Class, "cells") }

// Number reports whether a column of a sheet is flush right.
func (x *table) Number(column int) bool { return x.Sheet() && x.Head[column].Right }

// PageClass returns the cell's CSS class, with that of its style unless the style is faint
// and the cell has its own class.
func (c cell) PageClass(number bool) string {
	class := c.Class
	if c.Style != faint || class == "" {
		class = joinNonEmpty(" ", class, c.Style.class())
	}
	if number {
		class = joinNonEmpty(" ", "number", class)
	}
	return class
}
