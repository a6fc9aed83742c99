package report

import "slices"

// document is the content of a report before it is written: its blocks in order. Markdown
// writes the blocks that are [written], a terminal those that are [shown].
type document []block

// block is a part of a document. A page has a template for each type of them.
type block any

// medium is what a document is written for.
type medium int

const (
	onPage medium = iota
	inMarkdown
	inTerminal
)

// written is a block that can also be written as Markdown.
type written interface{ markdown(m *markdown) }

// shown is a block that can also be shown in a terminal.
type shown interface{ terminal(p *printer) }

// part is a section with its blocks.
type part struct {
	Title  string
	Of     string // the run it is about, where there are several
	Page   bool   // its title is on a page only: elsewhere its tables have names
	Key    string // its anchor
	Class  string // on a page
	Label  string // on a page, of a part without a title, for those who do not see it
	Blocks document
}

// finding is a verdict, its subject, and its basis.
type finding struct {
	Status, Label string
	Text          string // the verdict
	Style         style  // of the status in a terminal
	Key, Class    string
	Blocks        document
}

// folded is content that a reader unfolds.
type folded struct {
	Title  string
	Of     string // the run it is about, where there are several
	Note   string // beside it
	Key    string
	Open   bool // on a page
	Small  bool // its title is no heading
	Blocks document
}

// text is a paragraph: Lead in bold, Text, and Tail in italics.
type text struct {
	Class            string // on a page
	Lead, Text, Tail string
	Quoted, Item     bool // in Markdown
	Bold             bool // in Markdown
	setting
}

// setting is how text is set in a terminal.
type setting struct {
	Margin string // before the first line; those that follow are indented as far
	Style  style
}

// heading is a heading between parts, on a page.
type heading string

// minor is a heading within a finding, on a page.
type minor string

// gap is an empty line in a terminal.
type gap struct{}

// clipped is a line that is cut where a terminal is too narrow for it.
type clipped struct {
	Mark, Text, More string // More is never cut
	MarkStyle, Style style
}

// command is a line for copying from a terminal.
type command string

// say appends a text.
func (d *document) say(margin, words string, s style) {
	*d = append(*d, text{Text: words, setting: setting{margin, s}})
}

// list appends facts.
func (d *document) list(margin string, all []string, s style) {
	*d = append(*d, facts{List: all, setting: setting{margin, s}})
}

// add appends blocks.
func (d *document) add(blocks ...block) { *d = append(*d, blocks...) }

// code is a command or the text of a file, shown verbatim.
type code string

// facts are a line of short facts.
type facts struct {
	Lead string
	List []string
	Code bool // set as code
	// Separator stands between them in a terminal; empty: a dot.
	Separator string
	setting
}

// points is a list of remarks, one line each.
type points []remark

// remark is an entry of a list.
type remark struct {
	Word, Class, Text, Code string
	Style, WordStyle        style // of the text and of the word in a terminal
}

// unmarked returns the entries without their words.
func (x points) unmarked() points {
	out := slices.Clone(x)
	for i := range out {
		out[i].Word = ""
	}
	return out
}

// texts returns the texts of the entries.
func (x points) texts() []string {
	var out []string
	for _, r := range x {
		out = append(out, r.Text)
	}
	return out
}

// notice is a prominent warning.
type notice struct {
	Head, Text string
	Loud       bool // it changes what figures mean
}

// gallery is a list of charts, side by side where they fit.
type gallery []picture

// picture is a chart with its words.
type picture struct {
	Key, Title, Caption string
	Small               bool                    // half as wide as a page
	Live                bool                    // the page's script redraws it
	Draw                func(alone bool) string // returns an SVG element; alone: a separate file; nil: nothing to draw
}

// pictureOf is a fitted chart.
func pictureOf(c *chart, live bool) picture {
	return picture{c.Key, c.Title, c.Caption, c.Small, live, func(alone bool) string { return drawSVG(c, alone) }}
}

// livePictures returns charts that the page's script redraws.
func livePictures(all []*chart) gallery {
	var out gallery
	for _, c := range all {
		out = append(out, pictureOf(c, true))
	}
	return out
}

// keys returns remarks on the figures above.
func keys(texts ...string) document {
	var out document
	for i, t := range texts {
		if i == 0 {
			out.add(gap{})
		}
		out.add(text{Class: "key", Text: t, setting: setting{"  ", faint}})
	}
	return out
}

// named returns the non-nil tables of a list; with several runs each names its run.
func (s *subject) named(all ...*table) document {
	var out document
	for _, x := range all {
		if x != nil {
			x.Of = s.of()
			out = append(out, x)
		}
	}
	return out
}
