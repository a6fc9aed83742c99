package report

import (
	"bytes"
	"fmt"
	"html"
	"html/template"
	"io"
	"slices"
	"strings"
)

// SweepHTML writes a sweep as one self-contained page: its charts and what
// [SweepTerminal] says, of several workloads those of each.
func SweepHTML(w io.Writer, sweeps ...*Sweep) error {
	t, err := template.New("sweep").Parse(sweepPage)
	if err != nil {
		return fmt.Errorf("sweep page: %w", err)
	}
	head, err := PageHead("Sweep: "+sweeps[0].Title, "sweep")
	if err != nil {
		return err
	}
	var parts []sweepPart
	for _, s := range sweeps {
		parts = append(parts, s.part())
	}
	var b bytes.Buffer
	b.WriteString(head)
	if err := t.Execute(&b, parts); err != nil {
		return fmt.Errorf("sweep page: %w", err)
	}
	b.WriteString(PageFoot("Runs are never merged; each has its result file beside this page."))
	_, err = w.Write(b.Bytes())
	return err
}

// sweepPart is the page's part of a table.
type sweepPart struct {
	Of       string // the workload, where there are several
	Caption  string
	Findings []string
	Pictures []sweepPicture
	Heads    []template.HTML
	Rows     []sweepPageRow
}

func (s *Sweep) part() sweepPart {
	x := s.section()
	p := sweepPart{Of: s.of(), Caption: x.Caption, Findings: x.After}
	for _, h := range append(slices.Clone(x.Heads), "remark") {
		p.Heads = append(p.Heads, divisible(h))
	}
	for _, c := range sweepCharts(s.Table) {
		c.Key = words("-", plain(s.Workload), c.Key)
		p.Pictures = append(p.Pictures, sweepPicture{Title: c.Title, Caption: c.Caption, SVG: template.HTML(drawSVG(c, false))}) // which escapes what it is given
	}
	maps, why := sweepHeat(s.Table)
	for _, h := range maps {
		h.Key = words("-", plain(s.Workload), h.Key)
		p.Pictures = append(p.Pictures, sweepPicture{Title: h.Title, Caption: h.Caption, SVG: template.HTML(drawHeat(h)), Small: h.small()}) // so does this
	}
	if why != "" {
		p.Findings = append(slices.Clone(p.Findings), why)
	}
	for _, r := range x.Rows {
		row := sweepPageRow{Note: r.Note}
		for i, c := range r.Cells {
			row.Cells = append(row.Cells, [2]string{c, x.styleOf(r, i).class()})
		}
		p.Rows = append(p.Rows, row)
	}
	return p
}

// divisible is text that may go on in another line behind the signs that join the
// parts of a name.
func divisible(text string) template.HTML {
	return template.HTML(strings.NewReplacer(".", ".<wbr>", "_", "_<wbr>", "-", "-<wbr>", "/", "/<wbr>").Replace(html.EscapeString(text)))
}

type sweepPicture struct {
	Title, Caption string
	SVG            template.HTML
	Small          bool // half as wide
}

type sweepPageRow struct {
	Cells [][2]string // text and class
	Note  string
}

// The hidden row takes the weight that the style gives to the last one, which is
// the maximum elsewhere.
const sweepPage = `{{range .}}{{if .Of}}<h2>{{.Of}}</h2>
{{end}}{{range .Findings}}<p class="callout">{{.}}</p>
{{end}}<div class="charts">
{{range .Pictures}}<figure class="picture{{if .Small}} small{{end}}"><h2>{{.Title}}</h2><div class="drawn">{{.SVG}}</div><figcaption>{{.Caption}}</figcaption></figure>
{{end}}</div>
<section><h2>Cells</h2>
<p>{{.Caption}}</p>
<div class="scroll"><table class="figures cells"><thead><tr>{{range .Heads}}<th>{{.}}</th>{{end}}</tr></thead><tbody>
{{range .Rows}}<tr>{{range $i, $c := .Cells}}{{if eq $i 0}}<th>{{index $c 0}}</th>{{else}}<td class="{{index $c 1}}">{{index $c 0}}</td>{{end}}{{end}}<td>{{.Note}}</td></tr>
{{end}}<tr hidden><td></td></tr></tbody></table></div>
</section>
{{end}}`
