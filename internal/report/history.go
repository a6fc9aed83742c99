package report

import (
	"encoding/json"
	"io"
	"math"
	"slices"
	"strings"

	"sixnines/internal/history"
	"sixnines/internal/spell"
	"sixnines/result"
)

// HistoryTerminal writes the histories of loads as tables, with what changed below each.
func HistoryTerminal(w io.Writer, all []*history.History, opt Options) error {
	p := newPrinter(opt)
	var out document
	for i, h := range all {
		if i > 0 {
			out.add(gap{})
		}
		x := historyTable(h)
		x.Name = historyTitle(h)
		if !opt.Full && len(x.Rows) > mostHistory {
			x.After = append(x.After, "The last "+count(int64(mostHistory))+" of "+count(int64(len(x.Rows)))+" are listed: --full lists all.")
			x.Rows = x.Rows[len(x.Rows)-mostHistory:]
		}
		out.add(x)
	}
	p.document(out)
	return p.write(w)
}

// mostHistory is how many groups a terminal lists, the last ones.
const mostHistory = 20

// HistoryHTML writes the histories of loads as a page, with a chart for each.
func HistoryHTML(w io.Writer, all []*history.History, tool string) error {
	var body document
	var drawn []*chart
	for i, h := range all {
		x := historyTable(h)
		blocks := document{}
		for _, line := range x.After {
			blocks.add(text{Class: "callout", Text: line})
		}
		x.After = nil
		if c := historyChart(h); c.fit() {
			c.Key = "history-" + count(int64(i+1))
			drawn = append(drawn, c)
			blocks.add(livePictures([]*chart{c}))
		}
		blocks.add(x)
		body.add(part{Key: "load-" + count(int64(i+1)), Title: historyTitle(h), Page: true, Blocks: blocks})
	}
	return writePage(w, "History by "+string(all[0].By), "history", "", append([]*chart{}, drawn...), body,
		"Each figure is the median of the runs of its "+string(all[0].By)+". A figure that is refused, a lower bound or of an OVERLOADED run ranks behind every number; runs that are INVALID, SUSPECT as a whole or were ended early are left out. A change is where the ranks before and after differ more than by chance: for a load whose figures do not change, with a probability of at most "+spell.PercentText(history.Significance)+".",
		credits(plain(tool)))
}

// historyTitle names the history of a load.
func historyTitle(h *history.History) string {
	if h.Metric == "" {
		return plain(h.Load) + ", " + history.Throughput
	}
	return plain(h.Load) + ", " + metricName(h.Metric)
}

// historyTable lists the groups, and below them what changed.
func historyTable(h *history.History) *table {
	x := &table{Class: "figures", Head: textCells(string(h.By), "runs")}
	if h.By != history.ByDay && h.By != history.ByRun {
		x.Head = textCells(string(h.By), "first run", "runs")
	}
	for _, f := range h.Figures {
		x.Head = append(x.Head, cell{Text: figureName(f.Name), Right: true})
	}
	changed := map[[2]string]history.Change{}
	for _, f := range h.Figures {
		for _, c := range f.Changes {
			changed[[2]string{c.Since, f.Name}] = c
		}
	}
	for _, g := range h.Groups {
		cells := []string{plain(g.Name)}
		if len(x.Head) > 2+len(h.Figures) {
			cells = append(cells, g.Began.UTC().Format("2006-01-02 15:04"))
		}
		r := x.add(append(cells, count(int64(g.Runs)))...)
		for _, f := range h.Figures {
			c := cell{Text: "n/a", Style: faint}
			if v, ok := g.Values[f.Name]; ok {
				c = cell{Text: historyValue(h, f.Name, v, g.Name)}
			} else if why := figureName(f.Name) + ": " + plain(g.Words[f.Name]); g.Words[f.Name] != "" {
				r.Notes = append(r.Notes, why)
			}
			if d, ok := changed[[2]string{g.Name, f.Name}]; ok {
				if d.Worse {
					c.Style = bad
				}
				r.Notes = append(r.Notes, figureName(f.Name)+" "+ratioText(d)+" from here")
			}
			r.Cells = append(r.Cells, c)
		}
	}
	x.After = HistoryLines(h)
	return x
}

// HistoryLines says what changed in the history of a load, a sentence each, and what is to be known
// about it.
func HistoryLines(h *history.History) []string {
	var out, short, lacking []string
	for _, f := range h.Figures {
		for _, c := range f.Changes {
			line := figureName(f.Name) + " has shifted by " + shiftText(c)
			if !hasNumbers(c.Ratio) {
				line = figureName(f.Name) + " has " + ratioText(c)
			}
			line += " since " + plain(c.Since) + ": " + historyValue(h, f.Name, c.Before, c.After) + " until " + plain(c.After) + ", then " + historyValue(h, f.Name, c.Now, c.Since)
			if c.Worse {
				line += "; worse"
			}
			out = append(out, line+".")
		}
		if f.Few() {
			short = append(short, figureName(f.Name)+" has "+count(int64(f.Groups))+" of "+count(int64(f.Needs)))
		}
		if len(f.Lacking) > 0 {
			lacking = append(lacking, figureName(f.Name)+" of "+plain(strings.Join(f.Lacking, ", ")))
		}
	}
	if len(short) > 0 {
		out = append(out, "Too few to show a change: "+strings.Join(short, ", ")+".")
	}
	if len(lacking) > 0 {
		out = append(out, "Not decided, since the latest have no figure: "+strings.Join(lacking, "; ")+".")
	}
	if len(out) == 0 {
		out = append(out, "No change is shown.")
	}
	if h.LeftOut > 0 {
		out = append(out, plural(int64(h.LeftOut), "run")+" left out: INVALID, SUSPECT as a whole or ended early.")
	}
	if h.Beside > 0 {
		out = append(out, plural(int64(h.Beside), "run")+" of comparisons left out: another load ran beside them or in turn with them.")
	}
	if h.Unnamed > 0 {
		out = append(out, plural(int64(h.Unnamed), "run")+" left out: without a "+string(h.By)+".")
	}
	if h.Machines > 1 {
		out = append(out, "The runs are of "+count(int64(h.Machines))+" kinds of processors: a change may be theirs.")
	}
	return out
}

// shiftText is a change with its interval: "+12 % [8, 17]".
func shiftText(c history.Change) string {
	end := func(ratio history.Number) string {
		return strings.TrimSuffix(strings.TrimPrefix(change(float64(ratio)), "+"), " %")
	}
	if !hasNumbers(c.Lo) || !hasNumbers(c.Hi) {
		return change(float64(c.Ratio))
	}
	return change(float64(c.Ratio)) + " [" + end(c.Lo) + ", " + end(c.Hi) + "]"
}

// hasNumbers reports whether a ratio is of two figures that are numbers.
func hasNumbers(ratio history.Number) bool { return ratio > 0 && !math.IsInf(float64(ratio), 1) }

// ratioText is the size of a change in few words.
func ratioText(c history.Change) string {
	switch {
	case hasNumbers(c.Ratio):
		return change(float64(c.Ratio))
	case c.Worse:
		return "no number any more"
	}
	return "no number before or after"
}

// figureName is a percentile as people read it, or the throughput.
func figureName(name string) string {
	if name == history.Throughput {
		return name
	}
	return rowName(result.Percentile(name))
}

// historyValue is a value with its unit.
// historyValue writes a figure. One that ranks behind every number has the word of a group, or is said to have
// failed where that group has a number.
func historyValue(h *history.History, name string, v history.Number, group string) string {
	if v.Beyond(name) {
		at := slices.IndexFunc(h.Groups, func(g history.Group) bool { return g.Name == group })
		if at >= 0 && h.Groups[at].Words[name] != "" {
			return plain(h.Groups[at].Words[name])
		}
		return "failed"
	}
	if name == history.Throughput {
		return rate(float64(v))
	}
	return durationFloat(float64(v))
}

// historyChart draws the figures over the groups, with a mark at each change.
func historyChart(h *history.History) *chart {
	c := &chart{Title: "Over time", X: axis{Scale: countScale, Label: string(h.By) + ", from the first"}, Y: axis{Scale: durationScale, Label: "latency"},
		Caption: "Each point is the median of the runs of its " + string(h.By) + "; marks are changes of level."}
	if h.Metric == "" {
		c.Y = axis{Scale: rateScale, Label: "messages a second"}
	}
	for i, f := range h.Figures {
		l := line{Name: figureName(f.Name), Colour: i, Dots: true}
		for k, g := range h.Groups {
			y := math.NaN()
			if v, ok := g.Values[f.Name]; ok && !v.Beyond(f.Name) {
				y = c.Y.place(float64(v))
			}
			l.X, l.Y, l.Labels = append(l.X, float64(k+1)), append(l.Y, y), append(l.Labels, plain(g.Name))
			for _, d := range f.Changes {
				if d.Since == g.Name {
					mark := figureName(f.Name) + " " + ratioText(d)
					c.Moments = append(c.Moments, moment{From: float64(k+1) - 0.5, To: float64(k+1) - 0.5, Label: mark, Mark: mark})
				}
			}
		}
		c.add(l)
	}
	return c
}

// HistoryJSON writes the histories of loads as one object.
func HistoryJSON(w io.Writer, all []*history.History) error {
	return json.NewEncoder(w).Encode(struct {
		Loads []*history.History `json:"loads"`
	}{all})
}
