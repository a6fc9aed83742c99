package report

import (
	"bytes"
	"fmt"
	"html"
	"math"
	"strings"
	"testing"
	"time"

	"sixnines/internal/history"
	"sixnines/result"
)

// changedHistory is the history of a load that became slower at the third commit of five.
func changedHistory() *history.History {
	h := &history.History{Load: "orders", Metric: result.DeliveryResponse, By: history.ByCommit, LeftOut: 1, Beside: 4, Unnamed: 2, Machines: 2}
	failed := history.Number(math.Inf(1))
	for i, p99 := range []float64{250e3, 254e3, 280e3, 284e3, 282e3} {
		h.Groups = append(h.Groups, history.Group{Name: fmt.Sprintf("c%d", i), Began: time.Date(2026, 11, i+1, 9, 30, 0, 0, time.UTC), Runs: 2,
			Values: map[string]history.Number{"50": 80e3, "99": history.Number(p99)}, Words: map[string]string{}})
	}
	delete(h.Groups[1].Values, "50")
	h.Groups[1].Words["50"] = "INVALID"
	h.Figures = []history.Figure{{Name: "50", Groups: 4, Needs: 9, Changes: []history.Change{}, Lacking: []string{"c4"}}, {Name: "99", Groups: 12, Needs: 9, Changes: []history.Change{
		{Since: "c2", After: "c1", Before: 252e3, Now: 282e3, Ratio: 1.119, Lo: 1.08, Hi: 1.17, Worse: true}}},
		{Name: "max", Groups: 12, Needs: 9, Changes: []history.Change{{Since: "c3", After: "c2", Before: 2e6, Now: failed, Ratio: failed, Lo: failed, Hi: failed, Worse: true}}}}
	for i := range h.Groups {
		if h.Groups[i].Values["max"] = 2e6; i >= 3 {
			h.Groups[i].Values["max"], h.Groups[i].Words["max"] = failed, "refused"
		}
	}
	return h
}

// historyPage is the page of two loads.
func historyPage(t *testing.T) string {
	t.Helper()
	flat := &history.History{Load: "<flat> out", By: history.ByDay, Groups: []history.Group{
		{Name: "2026-11-01", Runs: 1, Values: map[string]history.Number{history.Throughput: 2e5}}, {Name: "2026-11-02", Runs: 1, Values: map[string]history.Number{history.Throughput: 2.1e5}}},
		Figures: []history.Figure{{Name: history.Throughput, Groups: 9, Needs: 8}}}
	var b bytes.Buffer
	if err := HistoryHTML(&b, []*history.History{changedHistory(), flat}, "sixnines test"); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestHistoryIsShown in a terminal and on a page: the table, what changed, and what limits it.
func TestHistoryIsShown(t *testing.T) {
	var b bytes.Buffer
	if err := HistoryTerminal(&b, []*history.History{changedHistory()}, Options{Width: 120}); err != nil {
		t.Fatal(err)
	}
	page := historyPage(t)
	screen, said := b.String(), html.UnescapeString(page)
	for _, want := range []string{
		"p99 has shifted by +12 % [8.0, 17] since c2: 252 µs until c1, then 282 µs; worse.",
		"Too few to show a change: p50 has 4 of 9.",
		"1 run left out: INVALID, SUSPECT as a whole or ended early.", "2 runs left out: without a commit.",
		"The runs are of 2 kinds of processors: a change may be theirs.",
		"4 runs of comparisons left out: another load ran beside them or in turn with them.",
		"Not decided, since the latest have no figure: p50 of c4.",
		"max has no number any more since c3: 2.00 ms until c2, then refused; worse.",
	} {
		if !strings.Contains(screen, want) {
			t.Errorf("the screen lacks %q:\n%s", want, screen)
		}
		if !strings.Contains(said, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, want := range []string{"c0", "2026-11-01 09:30", "p99 +12 % from here", "n/a", "p50: INVALID", "max no number any more from here"} {
		if !strings.Contains(screen, want) {
			t.Errorf("the screen lacks %q:\n%s", want, screen)
		}
	}
	if !strings.Contains(page, "No change is shown.") || strings.Contains(page, "<flat>") {
		t.Error("the page does not say that nothing changed, or has a load's name unescaped")
	}
}
