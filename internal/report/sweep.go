package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"sixnines/internal/sweep"
	"sixnines/result"
)

// Sweep is the outcome of a sweep, with the findings that stand below its table.
type Sweep struct {
	*sweep.Table
	Title    string   // for people: what was swept
	Findings []string // a line each: knees, scalability
	Left     string   // trials that were not made, and why; empty: all were made
}

// SweepTerminal writes the table of a sweep for a terminal. It drops columns from the right
// if the terminal is too narrow.
func SweepTerminal(w io.Writer, s *Sweep, opt Options) error {
	p := newPrinter(opt)
	out := document{s.cells()}
	if x := s.costs(); x != nil {
		out = append(out, x)
	}
	p.document(out)
	return p.write(w)
}

// cells is the table, a row a cell.
func (s *Sweep) cells() *table {
	x := &table{Name: joinNonEmpty(", ", "Sweep: "+plain(s.Title), s.of()), Explain: true, Wrap: wrapWidth, Caption: sweepCaption(s.Table)}
	head := func(align string, names ...string) { x.Head = append(x.Head, columnHeads(align, names...)...) }
	for _, a := range s.Axes {
		head("r", plain(a.Name))
	}
	head("l", "verdict")
	asked := s.Asked()
	for _, text := range asked {
		head("l", plain(text))
	}
	head("r", "achieved")
	for _, p := range sweep.Percentiles() {
		head("r", rowName(p))
	}
	for _, p := range sweep.Percentiles() {
		head("l", rowName(p)+" from – to")
	}
	head("r", "payload", "generator", "broker")
	metrics := s.metrics()
	for i := range s.Rows {
		x.Rows = append(x.Rows, s.row(&s.Rows[i], len(metrics) > 1, asked))
	}
	for _, text := range asked {
		x.After = append(x.After, plain(s.standing(text)))
	}
	for _, f := range s.Findings {
		x.After = append(x.After, plain(f))
	}
	if s.Left != "" {
		x.After = append(x.After, plain(s.Left))
	}
	return x
}

// of names the workload of the table, empty where there is only one.
func (s *Sweep) of() string {
	return workloadOf(&result.Header{Workload: s.Workload, Background: s.Background})
}

// metrics are the latencies of the rows.
func (s *Sweep) metrics() []result.Metric {
	var all []result.Metric
	for _, r := range s.Rows {
		all = appendNew(all, r.Metric)
	}
	return all
}

// sweepCaption says how to read the table.
func sweepCaption(t *sweep.Table) string {
	s := &Sweep{Table: t}
	var names []string
	for _, m := range s.metrics() {
		if m != "" {
			names = append(names, metricName(m))
		}
	}
	text := "Latencies are of " + strings.Join(names, ", or ") + ". "
	if len(names) == 0 {
		text = ""
	}
	text += "Each figure is from the median round; nothing is merged or averaged, and INVALID rounds are left out. "
	if t.Rounds >= 6 {
		text += "From – to is the 95 % interval of the median over rounds; in cells with fewer than six usable rounds, or some without the figure, it spans the intervals within the runs."
	} else {
		text += "From – to spans the intervals within the runs: with fewer than six rounds there is no interval of the median."
	}
	text += " Rounds that are UNSTABLE or refused count as slower than all others. Processor time is per message."
	if t.Workload != "" {
		text += " The processor time of the generator and the broker covers all workloads together."
	}
	if len(t.Asked()) > 0 {
		text += " An objective is met if every round shows it, INVALID and UNSTABLE ones included, and missed if one shows the opposite; otherwise it is undecided or meaningless."
	}
	return text
}

// standing returns the number of cells in which an objective is met, and is not.
func (s *Sweep) standing(text string) string {
	counts, of := map[string]int{}, 0
	for i := range s.Rows {
		if o, ok := s.Rows[i].Objective(text); ok {
			counts[o.Outcome]++
			of++
		}
	}
	found := fmt.Sprintf("%s: met in %d of %s", text, counts["met"], plural(int64(of), "cell"))
	for _, outcome := range []string{"missed", "undecided", "meaningless"} {
		if n := counts[outcome]; n > 0 {
			found += fmt.Sprintf(", %s in %d", outcome, n)
		}
	}
	return found
}

// row is a cell's row; unlike tells whether rows have different latencies, asked are
// the objectives.
func (s *Sweep) row(r *sweep.Row, unlike bool, asked []string) row {
	var out row
	add := func(text string, s style) { out.Cells = append(out.Cells, cell{Text: text, Style: s}) }
	for _, c := range r.Cell {
		add(plain(c.Text()), normal)
	}
	add(sweepVerdict(r))
	for _, text := range asked {
		o, ok := r.Objective(text)
		if !ok {
			add("–", normal)
			continue
		}
		add(plain(o.Outcome), objectiveStyle(o.Outcome))
	}
	add(sweepNumber(r.Achieved, rate), normal)
	for _, p := range sweep.Percentiles() {
		add(sweepFigure(r.Latency[p]), normal)
	}
	for _, p := range sweep.Percentiles() {
		add(sweepInterval(r.Latency[p]), normal)
	}
	add(sweepNumber(r.Bytes, func(v float64) string { return size(int64(v)) + "/s" }), normal)
	add(messageTime(r.GeneratorCPU), normal)
	add(messageTime(r.BrokerCPU), normal)
	var notes []string
	if r.Semantics != "" {
		notes = append(notes, "different guarantees: "+plain(r.Semantics))
	}
	if unlike && r.Metric != "" {
		notes = append(notes, metricName(r.Metric))
	}
	if len(r.Runs) < s.Rounds {
		notes = append(notes, fmt.Sprintf("%d of %d rounds", len(r.Runs), s.Rounds))
	}
	for _, p := range sweep.Percentiles() {
		if x := r.Latency[p]; x.OK() && x.Runs < r.Achieved.Runs {
			notes = append(notes, fmt.Sprintf("%s of %d rounds", rowName(p), x.Runs))
		}
	}
	out.noted(strings.Join(notes, "; "))
	return out
}

// sweepVerdict returns the worst verdict of a row's runs, with the number of runs that have
// it unless all have it.
func sweepVerdict(r *sweep.Row) (string, style) {
	return worstOf(len(r.Runs), r.Count)
}

// sweepNumber is a figure that is no latency as a cell.
func sweepNumber(s sweep.Spread, text func(float64) string) string {
	if !s.OK() {
		return "–"
	}
	return text(s.Value)
}

// sweepFigure is a latency as a cell.
func sweepFigure(s sweep.Spread) string {
	switch {
	case s.OK():
		sign := ""
		if mark := sweepMark(s); mark != "" {
			sign = mark + " "
		}
		return sign + durationFloat(s.Value)
	case s.Missing == sweep.MissingUnsupported:
		return "n/a (too few)"
	case s.Missing == "" || s.Missing == sweep.MissingNone:
		return "–"
	}
	return "n/a (" + plain(s.Missing) + ")"
}

// sweepMark qualifies a latency that has a number: "?" if it is suspect in most runs, "≥" if it is a lower bound.
func sweepMark(s sweep.Spread) string {
	switch {
	case s.Questionable() && s.AtLeast:
		return "? ≥"
	case s.Questionable():
		return "?"
	case s.AtLeast:
		return "≥"
	}
	return ""
}

// sweepInterval is where a latency lies over the rounds, as a cell.
func sweepInterval(s sweep.Spread) string {
	switch {
	case !s.OK():
		return ""
	case s.Above != "":
		return durationFloat(s.Low) + " – " + plain(s.Above)
	case s.Open:
		return durationFloat(s.Low) + " – ≥ " + durationFloat(s.High)
	case s.Low == s.High:
		return ""
	}
	return durationFloat(s.Low) + " – " + durationFloat(s.High)
}

// messageTime is processor time a message as a cell.
func messageTime(s sweep.Spread) string {
	if !s.OK() {
		return "–"
	}
	return durationFloat(s.Value * 1e9)
}

// known is a number as a field, empty where there is no figure.
func known(s sweep.Spread, v float64) string {
	if !s.OK() {
		return ""
	}
	return decimal(v)
}

// SweepCSV writes a sweep, a line a cell, of several workloads the table of each, with
// the columns
//
//	workload, where there are several, the axes by their names, runs, valid, suspect, unstable, invalid, metric, asked_per_s,
//	achieved_per_s, achieved_low, achieved_high, bytes_per_s, generator_cpu_ns, broker_cpu_ns,
//	p50_ns, p50_low_ns, p50_high_ns, p50_mark, and these of p99 and p99.9, semantics,
//	the objectives by their texts
//
// An axis has plain numbers where all of its values are of one kind: messages a second,
// bytes, seconds or the number itself; otherwise it has the values as they were written.
// bytes are of payload, cpu is for each message. A mark is at-least, suspect,
// high-at-least (only the interval's upper end is a lower bound), unstable-above or
// refused-above (such a run is where the interval ends, which has no upper end then), or
// why there is no figure: unstable, refused, unsupported, invalid, none. semantics is empty unless the runs of a cell differ in it, which are
// lines of their own then. An objective is met, missed, undecided or meaningless, or
// empty where it was not asked for.
func SweepCSV(w io.Writer, tables ...*sweep.Table) error {
	c := csv.NewWriter(w)
	var head, asked []string
	if tables[0].Workload != "" {
		head = append(head, "workload")
	}
	for _, a := range tables[0].Axes {
		head = append(head, a.Name)
	}
	head = append(head, "runs", "valid", "suspect", "unstable", "invalid", "metric", "asked_per_s", "achieved_per_s", "achieved_low", "achieved_high",
		"bytes_per_s", "generator_cpu_ns", "broker_cpu_ns")
	for _, p := range sweep.Percentiles() {
		name := rowName(p)
		head = append(head, name+"_ns", name+"_low_ns", name+"_high_ns", name+"_mark")
	}
	for _, t := range tables {
		asked = appendNew(asked, t.Asked()...)
	}
	_ = c.Write(append(append(head, "semantics"), asked...)) // kept by the writer until Error
	for _, t := range tables {
		sweepLines(c, t, asked)
	}
	c.Flush()
	return c.Error()
}

// sweepLines writes the lines of a table; asked are the objectives of all.
func sweepLines(c *csv.Writer, t *sweep.Table, asked []string) {
	numbers := make([]map[string]float64, len(t.Axes))
	for i, a := range t.Axes {
		numbers[i] = a.ByValue()
	}
	for _, r := range t.Rows {
		var line []string
		if t.Workload != "" {
			line = append(line, t.Workload)
		}
		for i, x := range r.Cell {
			if n, ok := numbers[i][x.Value]; ok {
				line = append(line, decimal(n))
			} else {
				line = append(line, x.Value)
			}
		}
		line = append(line, strconv.Itoa(len(r.Runs)))
		for _, status := range []result.Status{result.Valid, result.Suspect, result.Unstable, result.Invalid} {
			line = append(line, strconv.Itoa(r.Count(status)))
		}
		line = append(line, string(r.Metric), decimal(r.Asked), known(r.Achieved, r.Achieved.Value), known(r.Achieved, r.Achieved.Low), known(r.Achieved, r.Achieved.High),
			known(r.Bytes, r.Bytes.Value), known(r.GeneratorCPU, r.GeneratorCPU.Value*1e9), known(r.BrokerCPU, r.BrokerCPU.Value*1e9))
		for _, p := range sweep.Percentiles() {
			s := r.Latency[p]
			switch {
			case !s.OK():
				line = append(line, "", "", "", s.Missing)
			default:
				var marks []string
				if s.AtLeast {
					marks = append(marks, "at-least")
				}
				if s.Questionable() {
					marks = append(marks, "suspect")
				}
				if s.Open && !s.AtLeast {
					marks = append(marks, "high-at-least")
				}
				high := decimal(s.High)
				if s.Above != "" {
					high, marks = "", append(marks, s.Above+"-above")
				}
				line = append(line, decimal(s.Value), decimal(s.Low), high, strings.Join(marks, "+"))
			}
		}
		line = append(line, r.Semantics)
		for _, text := range asked {
			o, _ := r.Objective(text)
			line = append(line, o.Outcome)
		}
		_ = c.Write(line)
	}
}
