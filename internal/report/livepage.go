package report

import (
	"encoding/json"
	"io"
	"slices"
	"strings"

	"sixnines/result"
)

// LiveRuns are the runs of a command that is still making them, as a page shows them.
type LiveRuns struct {
	Doing string      // what the command does now, such as "run 3 of 20: B, round 2"; may be empty
	Run   *result.Run // the run under way, as far as it is recorded; nil: none, or nothing is recorded yet
	Made  []LiveRow   // the runs that are over, in their order
	Final *result.Run // a run that is over and no part of a series: the page is its report; nil: none
	Over  bool        // the command has ended, and nothing follows
}

// LiveRow is a run that is over, in the table of such runs.
type LiveRow struct {
	about string
	cards [][]card   // of each workload
	made  []*subject // with their titles, summaries and, as labels, verdicts
}

// mostLiveRows is how many of the runs that are over a page lists, the last ones.
const mostLiveRows = 50

// NewLiveRow returns the row of a run that is over. It keeps the run's key figures alone.
func NewLiveRow(about string, run *result.Run) LiveRow {
	x := LiveRow{about: plain(about)}
	prepared, _ := subjects(run.Parts()) // a run has at least one part
	for _, s := range prepared {
		x.cards = append(x.cards, cardsOf(s))
		x.made = append(x.made, &subject{title: s.title, sum: s.sum, cut: s.cut, label: s.status()})
	}
	return x
}

// liveUpdate is what the page's script reads.
type liveUpdate struct {
	Now      string      `json:"now"`      // the text above the pictures
	Pictures string      `json:"pictures"` // their frames
	Keys     string      `json:"keys"`     // which pictures these are: the frames are kept while they are the same
	Charts   []dataChart `json:"charts"`
	Over     bool        `json:"over"`
}

// LivePage writes the page of runs under way, titled with the command. Its script reads
// updates of [LiveUpdate] from the address "events", as server-sent events.
func LivePage(w io.Writer, command, tool string) error {
	p := newPage(plain(command), "live report", true)
	p.Policy += "; connect-src 'self'"
	p.Data, p.Events = "[]", "events"
	p.Body = document{awaited{}}
	p.Foot = []string{"The figures of a run under way cover what is recorded so far, with the marks that they would have if it ended now. It has a verdict when it is over.", strings.Replace(credits(tool), "This file loads", "This page receives the figures from the command and loads", 1)}
	return p.write(w, "page")
}

// awaited is where updates go.
type awaited struct{}

// LiveUpdate returns an update of the page as JSON, in one line. The figures and charts are
// computed as for a report of the same records, see [HTML].
func LiveUpdate(x LiveRuns) ([]byte, error) {
	u := liveUpdate{Over: x.Over}
	var now, pictures document
	if doing := plain(x.Doing); doing != "" {
		now.add(text{Class: "doing", Lead: doing})
	}
	switch {
	case x.Final != nil:
		prepared, err := subjects(x.Final.Parts())
		if err != nil {
			return nil, err
		}
		drawn := charts(prepared)
		now = append(now, runsDocument(prepared, drawn, Options{}, onPage)...)
		u.Charts = chartData(drawn)
	case x.Run != nil:
		prepared, err := subjects(x.Run.Parts())
		if err != nil {
			return nil, err
		}
		now.add(text{Class: "facts", Text: howFar(prepared[0].run)})
		if slices.ContainsFunc(prepared, func(s *subject) bool { return s.sum.Rate.Sent > 0 || s.sum.Counters.Received > 0 }) {
			now.add(part{Label: "Key figures", Blocks: document{withoutVerdict(keyFigures(prepared))}})
		}
		drawn := charts(prepared)
		all := livePictures(drawn)
		for i := range all {
			all[i].Draw = nil // the script draws them
		}
		pictures.add(part{Label: "Pictures", Blocks: document{all}})
		u.Charts = chartData(drawn)
	}
	if t := liveTable(x.Made); t != nil && x.Final == nil {
		now.add(part{Key: "made", Title: "Runs that are over", Page: true, Blocks: document{t}})
	}
	var keys []string
	for _, c := range u.Charts {
		keys = append(keys, c.Key)
	}
	u.Keys = strings.Join(keys, " ")
	var err error
	if u.Now, err = fragment(now); err != nil {
		return nil, err
	}
	if u.Pictures, err = fragment(pictures); err != nil {
		return nil, err
	}
	return json.Marshal(u)
}

// howFar says how far a run has come, by its last record.
func howFar(r *result.Run) string {
	if len(r.Series) == 0 {
		return "Warm-up"
	}
	last := r.Series[len(r.Series)-1]
	window := int64(r.Header.Window)
	switch {
	case last.End < 0 || last.Phase != result.PhaseMeasure && last.End <= window:
		return "Warm-up: not recorded"
	case last.End > window || last.Phase != result.PhaseMeasure:
		return "The measured window is over: waiting for the last messages"
	}
	return duration(last.End) + " of " + duration(window)
}

// withoutVerdict removes the column of verdicts from a table of runs that have none yet.
func withoutVerdict(x block) block {
	t, ok := x.(*table)
	if !ok {
		return x
	}
	t.Head = slices.Delete(t.Head, 1, 2)
	for i := range t.Rows {
		t.Rows[i].Cells = slices.Delete(t.Rows[i].Cells, 1, 2)
	}
	return t
}

// liveTable is the table of the runs that are over; nil without any.
func liveTable(all []LiveRow) *table {
	if len(all) == 0 {
		return nil
	}
	x := &table{Class: "figures keys", Head: textCells("run", "verdict")}
	if n := len(all) - mostLiveRows; n > 0 {
		x.After = []string{"And " + plural(int64(n), "run") + " before these."}
		all = all[n:]
	}
	var keys []string
	for _, r := range all {
		for _, cards := range r.cards {
			for _, c := range cards {
				keys = appendNew(keys, c.Key)
			}
		}
	}
	x.Head = append(x.Head, textCells(keys...)...)
	for _, r := range slices.Backward(all) {
		for i, s := range r.made {
			name := r.about
			if name == "" || len(r.made) > 1 {
				name = joinNonEmpty(" ", name, s.title)
			}
			row := x.add(append([]string{name, s.label}, make([]string, len(keys))...)...)
			row.Cells[1].Class = statusClass(s.sum.Verdict.Status)
			for _, c := range r.cards[i] {
				row.Cells[2+slices.Index(keys, c.Key)] = c.cell
			}
		}
	}
	return x
}
