// Package history follows the figures of one load over many results: by commit, by version of
// the broker, by day or run by run, and says where their level changed.
//
// The unit is the group (a commit, a day): its figure is the median of its runs. Runs of one
// group were made near to each other and share what disturbed them, so they are no independent
// evidence of a change. Results of different loads are never joined.
//
// A figure that failed – refused, a lower bound, of a load that the system did not carry – ranks behind every
// number. A run that is INVALID or suspect as a whole, or was ended early, shows nothing: its group is there without
// a figure, and while one of the latest groups has none, nothing is decided about it.
package history

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"sixnines/internal/spell"
	"sixnines/internal/stats"
	"sixnines/result"
)

// By is what a group of results has in common.
type By string

// The groups.
const (
	ByCommit  By = "commit"  // Header.Revision
	ByVersion By = "version" // of the broker
	ByDay     By = "day"     // UTC
	ByRun     By = "run"
)

// Bys lists the groups.
func Bys() []By { return []By{ByCommit, ByVersion, ByDay, ByRun} }

// Throughput is the name of the figure of loads without a schedule.
const Throughput = "throughput"

// Significance is the probability, at most, that a load whose figures do not change has a change in any
// of them. Confidence is that of the interval of a change.
const (
	Significance = 0.05
	Confidence   = 0.95
)

// ErrInput is wrapped by errors about what was asked.
var ErrInput = errors.New("no history")

// Options say what to follow.
type Options struct {
	By          By
	Metric      result.Metric       // empty: the first response time that a load has, else its first latency
	Percentiles []result.Percentile // of those published; at least one
	MinEffect   float64             // the smallest change that matters, relative
	Since       string              // the first group; empty: all
}

// History is the history of one load.
type History struct {
	Load     string        `json:"load"`             // name, driver and workload
	Metric   result.Metric `json:"metric,omitempty"` // empty: throughput
	By       By            `json:"by"`
	Groups   []Group       `json:"groups"`   // in order of their first runs
	Figures  []Figure      `json:"figures"`  // one for each percentile, or the throughput
	LeftOut  int           `json:"left_out"` // runs that were INVALID, suspect as a whole or ended early
	Beside   int           `json:"beside"`   // runs in no group: another load ran beside them or in turn with them
	Unnamed  int           `json:"unnamed"`  // runs that are in no group: they have no commit or version
	Machines int           `json:"machines"` // different processors: a change may be theirs
}

// Group are the results that have a commit, version or day in common.
type Group struct {
	Name  string    `json:"name"`
	Began time.Time `json:"began"`
	Runs  int       `json:"runs"` // without those that are left out
	// Values are the medians of its runs: ns by percentile, or messages a second. A figure that no run
	// supports is missing.
	Values map[string]Number `json:"values"`
	// Words say of a figure without a number why: why it is missing, or what ranks behind every number.
	Words map[string]string `json:"words,omitempty"`
}

// Figure is one figure over the groups.
type Figure struct {
	Name    string   `json:"name"`   // a percentile as [result.Percentiles] writes it, or [Throughput]
	Groups  int      `json:"groups"` // that have it
	Needs   int      `json:"needs"`  // groups below which no change can be shown
	Changes []Change `json:"changes"`
	// Lacking are those of the latest groups, as many as a level needs, that do not have it.
	Lacking []string `json:"lacking,omitempty"`
}

// Change is a change of level.
type Change struct {
	Since  string `json:"since"`  // the first group of the new level
	After  string `json:"after"`  // the last one of the old level
	Before Number `json:"before"` // the medians of both levels
	Now    Number `json:"now"`
	Ratio  Number `json:"ratio"` // of the levels, and its 95 % interval
	Lo     Number `json:"lo"`
	Hi     Number `json:"hi"`
	// Worse says that the figure became worse by MinEffect or more, shown by the whole interval being
	// on that side of no change, and has not come back since.
	Worse bool `json:"worse"`
}

// Few reports whether the figure has too few groups to show a change.
func (f *Figure) Few() bool { return f.Groups < f.Needs }

// Undecided reports whether a change for the worse may be there and cannot be shown: the groups are too few, or
// one of the latest has no figure.
func (f *Figure) Undecided() bool { return f.Few() || len(f.Lacking) > 0 }

// Of returns the history of each load, in order of the loads' first runs.
func Of(runs []*result.Run, o Options) ([]*History, error) {
	var parts []*result.Run
	for _, r := range runs {
		for _, p := range r.Parts() {
			if !p.Header.Background {
				parts = append(parts, p)
			}
		}
	}
	slices.SortStableFunc(parts, func(a, b *result.Run) int { return a.Header.Started.Compare(b.Header.Started) })
	if o.Since != "" {
		at := slices.IndexFunc(parts, func(r *result.Run) bool { return o.group(&r.Header) == o.Since })
		if at < 0 {
			return nil, fmt.Errorf("%w: no run is of the %s %q", ErrInput, o.By, o.Since)
		}
		parts = parts[at:]
	}
	var order []string
	loads := map[string][]*result.Run{}
	for _, r := range parts {
		key := loadOf(&r.Header)
		if loads[key] == nil {
			order = append(order, key)
		}
		loads[key] = append(loads[key], r)
	}
	var out []*History
	unnamed, beside := 0, 0
	for _, key := range order {
		h := historyOf(loads[key], o)
		unnamed, beside = unnamed+h.Unnamed, beside+h.Beside
		if len(h.Groups) > 0 {
			out = append(out, h)
		}
	}
	if len(out) == 0 && beside > 0 {
		return nil, fmt.Errorf("%w: %s ran beside or in turn with another load, and %d others have no %s", ErrInput, spell.Plural(beside, "run"), unnamed, o.By)
	} else if len(out) == 0 {
		return nil, fmt.Errorf("%w: none of %d runs has a %s", ErrInput, unnamed, o.By)
	}
	return out, nil
}

// loadOf identifies a load: its scenario without what differs between runs of it.
func loadOf(h *result.Header) string {
	var s map[string]any
	d := json.NewDecoder(bytes.NewReader(h.Scenario))
	d.UseNumber()
	if d.Decode(&s) != nil {
		return h.Name + " " + h.Driver + " " + h.Workload
	}
	delete(s, "seed")
	if target, ok := s["target"].(map[string]any); ok {
		delete(target, "url")
	}
	text, _ := json.Marshal(s) // it was decoded from JSON
	return h.Driver + " " + h.Workload + " " + string(text)
}

// group returns the name of a run's group; empty: it has none.
func (o *Options) group(h *result.Header) string {
	switch o.By {
	case ByCommit:
		return h.Revision
	case ByVersion:
		return h.Broker["version"]
	case ByDay:
		return h.Started.UTC().Format(time.DateOnly)
	}
	return h.Started.UTC().Format("2006-01-02T15:04:05Z") + " " + h.ID[:min(4, len(h.ID))]
}

// historyOf is the history of the runs of one load, in order of time.
func historyOf(runs []*result.Run, o Options) *History {
	first := &runs[0].Header
	h := &History{By: o.By, Load: title(first), Groups: []Group{}, Figures: []Figure{}}
	kept := map[string][]*result.Run{}
	machines := map[string]bool{}
	for _, r := range runs {
		name := o.group(&r.Header)
		if name == "" {
			h.Unnamed++
			continue
		}
		if t := r.Header.Trial; t != nil && (t.Beside || t.Control || t.Slices != nil) {
			h.Beside++
			continue
		}
		if _, known := kept[name]; !known {
			h.Groups = append(h.Groups, Group{Name: name, Began: r.Header.Started, Values: map[string]Number{}, Words: map[string]string{}})
			kept[name] = nil
		}
		if unfit(r) != "" {
			h.LeftOut++
		} else {
			machines[machineOf(&r.Header)] = true
		}
		kept[name] = append(kept[name], r)
	}
	h.Machines = len(machines)
	var names []string
	for _, p := range o.Percentiles {
		names = append(names, string(p))
	}
	if first.Mode == result.ModeFlatOut && o.Metric == "" {
		names = []string{Throughput}
	} else if h.Metric = o.Metric; h.Metric == "" {
		h.Metric = mainMetric(runs)
	}
	for i := range h.Groups {
		g := &h.Groups[i]
		for _, r := range kept[g.Name] {
			if unfit(r) == "" {
				g.Runs++
			}
		}
		for _, name := range names {
			g.figure(kept[g.Name], h.Metric, name)
		}
	}
	for _, name := range names {
		h.Figures = append(h.Figures, h.figure(name, Significance/float64(len(names)), o.MinEffect))
	}
	return h
}

// title names a load for people.
func title(h *result.Header) string {
	return strings.Join(slices.DeleteFunc([]string{cmp.Or(h.Name, strings.TrimSpace(h.Driver+" "+h.Pattern)), h.Workload}, func(s string) bool { return s == "" }), " ")
}

// machineOf identifies the kind of machine by its processor.
func machineOf(h *result.Header) string {
	var all []string
	for _, f := range h.Machine {
		if f.Section == "processor" && (f.Name == "model" || f.Name == "cores") {
			all = append(all, f.Value)
		}
	}
	return strings.Join(all, ", ")
}

// mainMetric is the first response time of the runs, else their first latency.
func mainMetric(runs []*result.Run) result.Metric {
	for _, wanted := range []func(result.Metric) bool{result.Metric.IsResponse, func(result.Metric) bool { return true }} {
		for _, m := range result.Metrics() {
			if wanted(m) && slices.ContainsFunc(runs, func(r *result.Run) bool { return r.Summary != nil && r.Summary.Histograms[m] != nil }) {
				return m
			}
		}
	}
	return ""
}

// figure follows one figure over the groups.
func (h *History) figure(name string, alpha, minEffect float64) Figure {
	f := Figure{Name: name, Needs: stats.LeastChanges(alpha), Changes: []Change{}}
	var series []float64
	var groups []string
	for _, g := range h.Groups {
		if v, ok := g.Values[name]; ok {
			series, groups = append(series, float64(v)), append(groups, g.Name)
		}
	}
	f.Groups = len(series)
	for _, g := range h.Groups[max(0, len(h.Groups)-stats.LeastLevel):] {
		if _, ok := g.Values[name]; !ok {
			f.Lacking = append(f.Lacking, g.Name)
		}
	}
	from := 0
	found := stats.Changes(series, alpha, Confidence)
	for i, c := range found {
		to := len(series)
		if i+1 < len(found) {
			to = found[i+1].At
		}
		f.Changes = append(f.Changes, Change{Since: groups[c.At], After: groups[c.At-1], Ratio: Number(c.Ratio), Lo: Number(c.Lo), Hi: Number(c.Hi),
			Before: Number(stats.Median(series[from:c.At])), Now: Number(stats.Median(series[c.At:to]))})
		from = c.At
	}
	for i := range f.Changes {
		c := &f.Changes[i]
		worse, lo := c.worsening(f.Changes[len(f.Changes)-1].Now, name == Throughput)
		c.Worse = lo > 1 && float64(worse) >= 1+minEffect
	}
	return f
}

// worsening returns by which factor the figure is worse at the level now than before the change,
// and the least factor of the change's own interval.
func (c *Change) worsening(now Number, higherIsBetter bool) (factor, least Number) {
	if higherIsBetter {
		return c.Before / now, 1 / c.Hi
	}
	return now / c.Before, c.Lo
}
