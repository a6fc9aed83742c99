package report

import (
	"bytes"
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"

	"sixnines/internal/compare"
)

// CompareHTML writes comparisons, of a workload each, as one self-contained page: what
// [CompareTerminal] says, and for each table of statements a picture of the
// intervals against the change that matters.
func CompareHTML(w io.Writer, all []*compare.Comparison) error {
	t, err := template.New("comparison").Parse(comparePage)
	if err != nil {
		return fmt.Errorf("comparison page: %w", err)
	}
	pages := make([]comparePageData, len(all))
	for i, c := range all {
		pages[i] = comparePageOf(c)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, pages); err != nil {
		return fmt.Errorf("comparison page: %w", err)
	}
	_, err = w.Write(b.Bytes())
	return err
}

// comparePageOf is what the page says of one comparison.
func comparePageOf(c *compare.Comparison) comparePageData {
	page := comparePageData{Title: compareTitle(c), Class: strings.ReplaceAll(string(c.Outcome), " ", "-"), Text: plain(c.Text),
		A: strings.Join(compareSide(c.A), dot), B: strings.Join(compareSide(c.B), dot), How: compareHow(c),
		Regressions: besidesRows(c), Forced: c.Forced, Changes: changesText(c), Replaced: replacedTexts(c)}
	if !strings.Contains(c.Text, c.Guarantees) {
		page.Guarantees = plain(c.Guarantees)
	}
	for _, d := range c.Follows {
		d.What, d.A, d.B = plain(d.What), plain(d.A), plain(d.B)
		page.Follows = append(page.Follows, d)
	}
	for _, d := range c.Differences {
		d.What, d.A, d.B = plain(d.What), plain(d.A), plain(d.B)
		page.Unlike = append(page.Unlike, d)
	}
	for _, l := range c.Left {
		page.Left = append(page.Left, l.Side+" "+plain(l.Run)+": "+plain(l.Why))
	}
	for _, d := range c.Doubts {
		page.Doubts = append(page.Doubts, d.Side+" "+doubtText(d, setNamed(c, d.Side)))
	}
	stated := c.Stated()
	if c.Throughput != nil {
		page.Tables = append(page.Tables, comparePageTable("throughput", "", []compare.Row{*c.Throughput}, c))
	}
	for _, m := range c.Metrics {
		about := ""
		if stated {
			about = compareAbout(m, c)
		}
		page.Tables = append(page.Tables, comparePageTable(metricName(m.Metric), about, m.Rows, c))
	}
	for _, a := range c.Accounts {
		left, right := accountCells(a)
		page.Accounts = append(page.Accounts, [3]string{a.Name, left, right})
	}
	if stated {
		page.Legend = compareLegend(c)
	}
	return page
}

type comparePageData struct {
	Title, Class, Text, A, B, How string
	Regressions                   []string
	Forced                        bool
	Changes, Replaced             []string
	Guarantees                    string
	Follows, Unlike               []compare.Difference
	Left, Doubts                  []string
	Tables                        []compareTable
	Accounts                      [][3]string
	Legend                        []string
}

type compareTable struct {
	Name, About string
	Rows        []compareTableRow
	Stated      bool
	Picture     template.HTML // of numbers and names of ours alone
}

type compareTableRow struct {
	Name, A, RangeA, SpreadA, B, RangeB, SpreadB, Change, By, Interval, Outcome, Class, Notes string
}

func comparePageTable(name, about string, rows []compare.Row, c *compare.Comparison) compareTable {
	t := compareTable{Name: name, About: about, Picture: intervalsPicture(rows, c.MinEffect)}
	for _, r := range rows {
		t.Stated = t.Stated || r.Shift != nil || r.Outcome != ""
		t.Rows = append(t.Rows, compareTableRow{Name: compareRowName(r), A: compareMedian(r, r.A), RangeA: compareRange(r, r.A), SpreadA: between(r.A),
			B: compareMedian(r, r.B), RangeB: compareRange(r, r.B), SpreadB: between(r.B), Change: compareChange(r), By: compareBy(r),
			Interval: compareInterval(r), Outcome: outcomeWord(r.Outcome, c.MinEffect), Class: strings.ReplaceAll(string(r.Outcome), " ", "-"),
			Notes: plain(strings.Join(r.Notes, "; "))})
	}
	return t
}

// intervalsPicture draws the interval of each row on a logarithmic axis of
// ratios, with a band for what does not matter.
func intervalsPicture(rows []compare.Row, least float64) template.HTML {
	const width, left, right, line = 640.0, 90.0, 20.0, 24.0
	reach := math.Log(1+least) * 2
	n := 0
	for _, r := range rows {
		if r.Shift != nil {
			n++
			reach = max(reach, math.Abs(math.Log(r.Shift.Lo)), math.Abs(math.Log(r.Shift.Hi)))
		}
	}
	if n == 0 || !(reach > 0) || math.IsInf(reach, 0) {
		return ""
	}
	reach *= 1.05
	x := func(ratio float64) float64 {
		return left + (width-left-right)*(math.Log(ratio)/reach+1)/2
	}
	var b strings.Builder
	height := line*float64(n) + 30
	fmt.Fprintf(&b, `<svg viewBox="0 0 %.0f %.0f" role="img" aria-label="changes with their intervals">`, width, height)
	fmt.Fprintf(&b, `<rect class="band" x="%.1f" y="0" width="%.1f" height="%.1f"/>`, x(1/(1+least)), x(1+least)-x(1/(1+least)), height-24)
	fmt.Fprintf(&b, `<line class="axis" x1="%.1f" x2="%.1f" y1="0" y2="%.1f"/>`, x(1), x(1), height-24)
	y := line / 2
	for _, r := range rows {
		if r.Shift == nil {
			continue
		}
		fmt.Fprintf(&b, `<text x="%.0f" y="%.1f" text-anchor="end">%s</text>`, left-12, y+4, template.HTMLEscapeString(compareRowName(r)))
		fmt.Fprintf(&b, `<line class="interval %s" x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/><circle class="%s" cx="%.1f" cy="%.1f" r="4"/>`,
			strings.ReplaceAll(string(r.Outcome), " ", "-"), x(r.Shift.Lo), x(r.Shift.Hi), y, y, strings.ReplaceAll(string(r.Outcome), " ", "-"), x(r.Shift.Ratio), y)
		y += line
	}
	for _, at := range []float64{math.Exp(-reach / 1.05), 1, math.Exp(reach / 1.05)} {
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" text-anchor="middle">%s</text>`, x(at), height-8, change(at))
	}
	b.WriteString(`</svg>`)
	return template.HTML(b.String())
}

const comparePage = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sixnines: comparison</title>
<style>
:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 25%, transparent); --bad: #c0392b; --good: #2e8b57; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: .5rem 0 1rem; } th, td { padding: .2rem .8rem .2rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; } small, .about { opacity: .7; }
.slower, .slower-and-faster, .decisive { color: var(--bad); font-weight: 600; } .faster, .no-difference-that-matters { color: var(--good); }
.scroll { overflow-x: auto; }
svg { width: 100%; max-width: 40rem; font-size: 12px; } svg text { fill: currentColor; } .band { fill: currentColor; opacity: .1; }
.axis { stroke: currentColor; opacity: .5; } .interval { stroke: currentColor; stroke-width: 2; } circle { fill: currentColor; }
line.slower { stroke: var(--bad); } circle.slower { fill: var(--bad); } line.faster { stroke: var(--good); } circle.faster { fill: var(--good); }
</style></head><body>
{{range .}}<h1 class="{{.Class}}">{{.Title}}</h1>
<p><strong>{{.Text}}</strong></p>
<ul><li><b>A</b> {{.A}}</li><li><b>B</b> {{.B}}</li><li>{{.How}}</li>
{{- range .Changes}}<li><b>B changes</b> {{.}}</li>{{end}}
{{- if .Guarantees}}<li class="decisive">{{.Guarantees}}</li>{{end}}
{{- if .Forced}}<li class="decisive">Ranked in spite of decisive differences, because --rank-unlike asked for it.</li>{{end}}
{{- range .Regressions}}<li class="slower">regression: {{.}}</li>{{end}}</ul>
{{- if .Follows}}
<h2>Comes with the changes</h2>
<table><tr><th></th><th>A</th><th>B</th></tr>
{{- range .Follows}}<tr><td>{{.What}}</td><td>{{.A}}</td><td>{{.B}}</td></tr>{{end}}</table>
{{- end}}
{{- if .Unlike}}
<h2>Differences</h2>
<div class="scroll"><table><tr><th></th><th>A</th><th>B</th><th>weight</th><th></th></tr>
{{- range .Unlike}}<tr><td>{{.What}}</td><td>{{.A}}</td><td>{{.B}}</td><td class="{{.Weight}}">{{.Weight}}</td><td>{{.Why}}</td></tr>{{end}}</table></div>
{{- else}}<p>No known differences.</p>{{end}}
{{- if .Replaced}}<h2>Replaced</h2><ul>{{range .Replaced}}<li>{{.}}</li>{{end}}</ul>{{end}}
{{- if .Left}}<h2>Left out</h2><ul>{{range .Left}}<li>{{.}}</li>{{end}}</ul>{{end}}
{{- if .Doubts}}<h2>Suspect</h2><ul>{{range .Doubts}}<li>{{.}}</li>{{end}}</ul>{{end}}
{{- range .Tables}}
<h2>{{.Name}}</h2>
{{- if .About}}<p class="about">{{.About}}</p>{{end}}
{{.Picture}}
<div class="scroll"><table><tr><th></th><th class="n">A, median</th><th class="n">runs</th><th class="n">spread</th><th class="n">B, median</th><th class="n">runs</th><th class="n">spread</th>{{if .Stated}}<th class="n">change</th><th class="n">by</th><th>95 % interval</th><th></th>{{end}}<th></th></tr>
{{- $stated := .Stated}}{{range .Rows}}
<tr><th>{{.Name}}</th><td class="n">{{.A}}</td><td class="n"><small>{{.RangeA}}</small></td><td class="n">{{.SpreadA}}</td><td class="n">{{.B}}</td><td class="n"><small>{{.RangeB}}</small></td><td class="n">{{.SpreadB}}</td>{{if $stated}}<td class="n">{{.Change}}</td><td class="n">{{.By}}</td><td>{{.Interval}}</td><td class="{{.Class}}">{{.Outcome}}</td>{{end}}<td><small>{{.Notes}}</small></td></tr>{{end}}</table></div>
{{- end}}
{{- if .Accounts}}<h2>Messages</h2><div class="scroll"><table><tr><th></th><th class="n">A</th><th class="n">B</th></tr>{{range .Accounts}}<tr><td>{{index . 0}}</td><td class="n">{{index . 1}}</td><td class="n">{{index . 2}}</td></tr>{{end}}</table></div>{{end}}
{{- range .Legend}}<p class="about">{{.}}</p>{{end}}
{{end}}</body></html>
`
