package report

import (
	"encoding/json"
	"io"
	"math"
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
		"Each figure is the median of the runs of its "+string(all[0].By)+". Runs that are INVALID, OVERLOADED or were ended early are left out. A change is where the ranks before and after differ more than by chance: for a load whose figures do not change, with a probability of at most "+spell.PercentText(history.Significance)+".",
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
			v, ok := g.Values[f.Name]
			c := cell{Text: "n/a", Style: faint}
			if ok {
				c = cell{Text: historyValue(f.Name, v)}
			}
			if d, ok := changed[[2]string{g.Name, f.Name}]; ok {
				if d.Worse {
					c.Style = bad
				}
				r.Notes = append(r.Notes, figureName(f.Name)+" "+change(d.Ratio)+" from here")
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
	var out, short []string
	for _, f := range h.Figures {
		for _, c := range f.Changes {
			line := figureName(f.Name) + " has shifted by " + shiftText(c) + " since " + plain(c.Since) +
				": " + historyValue(f.Name, c.Before) + " until " + plain(c.After) + ", then " + historyValue(f.Name, c.Now)
			if c.Worse {
				line += "; worse"
			}
			out = append(out, line+".")
		}
		if f.Undecided() {
			short = append(short, figureName(f.Name)+" has "+count(int64(f.Groups))+" of "+count(int64(f.Needs)))
		}
	}
	if len(short) > 0 {
		out = append(out, "Too few to show a change: "+strings.Join(short, ", ")+".")
	} else if len(out) == 0 {
		out = append(out, "No change is shown.")
	}
	if h.LeftOut > 0 {
		out = append(out, plural(int64(h.LeftOut), "run")+" left out: INVALID, OVERLOADED or ended early.")
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
	end := func(ratio float64) string {
		return strings.TrimSuffix(strings.TrimPrefix(change(ratio), "+"), " %")
	}
	if math.IsInf(c.Hi, 1) {
		return change(c.Ratio)
	}
	return change(c.Ratio) + " [" + end(c.Lo) + ", " + end(c.Hi) + "]"
}

// figureName is a percentile as people read it, or the throughput.
func figureName(name string) string {
	if name == history.Throughput {
		return name
	}
	return rowName(result.Percentile(name))
}

// historyValue is a value with its unit.
func historyValue(name string, v float64) string {
	if name == history.Throughput {
		return rate(v)
	}
	return durationFloat(v)
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
			if v, ok := g.Values[f.Name]; ok {
				y = c.Y.place(v)
			}
			l.X, l.Y, l.Labels = append(l.X, float64(k+1)), append(l.Y, y), append(l.Labels, plain(g.Name))
			for _, d := range f.Changes {
				if d.Since == g.Name {
					mark := figureName(f.Name) + " " + change(d.Ratio)
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
