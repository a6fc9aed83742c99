package compare

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"

	"sixnines/result"
)

// severalOf puts runs together that are each a workload of one run.
func severalOf(parts ...[]*result.Run) []*result.Run {
	all := make([]*result.Run, len(parts[0]))
	for i := range all {
		all[i] = &result.Run{Path: parts[0][i].Path}
		for k, of := range parts {
			h := &of[i].Header
			h.ID, h.Workload, h.Background = parts[0][i].Header.ID, []string{"events", "traffic"}[k], k == 1
			all[i].Workloads = append(all[i].Workloads, of[i])
		}
	}
	return all
}

// Each workload is compared by itself, and one in the background is not judged,
// however much slower it is.
func TestWorkloads(t *testing.T) {
	events, eventsB := steady(6, 1, nil)
	traffic, trafficB := steady(6, 3, func(_, _ int, r *result.Run) { r.Header.Rate = 700 })
	all, err := Workloads(severalOf(events, traffic), severalOf(eventsB, trafficB), standard())
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 2 || all[0].Workload != "events" || all[0].Outcome != Same || len(all[0].Differences) != 0 {
		t.Fatalf("%+v", all)
	}
	b := all[1]
	if b.Workload != "traffic" || !b.Background || b.Outcome != Unjudged || b.Metrics[0].Judged || len(b.Regressions) > 0 || b.Ungated != "" {
		t.Errorf("%+v", b)
	}
	if r := b.row("99"); r.Outcome != "" || r.Shift == nil || r.Shift.Ratio < 2.9 {
		t.Errorf("%+v", r)
	}

	// A change of an ab in another workload is reported, and the comparison is no A/A.
	for side, set := range [2][]*result.Run{traffic, trafficB} {
		for i, r := range set {
			r.Header.Rate = float64(700 + side)
			r.Header.Scenario = json.RawMessage(strings.Replace(string(r.Header.Scenario), "1000/s", strconv.Itoa(700+side)+"/s", 1))
			for _, part := range []*result.Run{[2][]*result.Run{events, eventsB}[side][i], r} {
				part.Header.Trial = &result.Trial{Set: "s", Kind: result.TrialAB, Arm: string(rune('A' + side)), Pair: i + 1}
			}
		}
	}
	all, err = Workloads(severalOf(events, traffic), severalOf(eventsB, trafficB), standard())
	if err != nil || all[0].Kind != KindAB || all[0].Outcome != Same || len(all[0].Differences) != 0 || !changes(all[0], "workloads.traffic.rate: 700/s → 701/s") || !changes(all[1], "workloads.traffic.rate: 700/s → 701/s") {
		t.Errorf("%s, %v: %+v, %+v", all[0].Kind, err, all[0].Changes, all[0].Differences)
	}

	// So it is where only the one workload is compared.
	o := standard()
	o.Workload = "events"
	one, err := Workloads(severalOf(events, traffic), severalOf(eventsB, trafficB), o)
	if err != nil || len(one) != 1 || len(one[0].Differences) != 0 || !changes(one[0], "workloads.traffic.rate: 700/s → 701/s") {
		t.Errorf("%v: %+v", err, one)
	}

	// One with what ran alone: that it was alone is a difference.
	alone, _ := steady(6, 1, func(_, _ int, r *result.Run) { r.Header.ID += "x" })
	one, err = Workloads(alone, severalOf(eventsB, trafficB), o)
	if err != nil || len(one) != 1 || one[0].Workload != "events" {
		t.Fatalf("%+v, %v", one, err)
	}
	if d := one[0].Differences; len(d) != 1 || d[0].What != "workloads beside it" || d[0].B != "traffic" || d[0].A != absent {
		t.Errorf("%+v", d)
	}
}

// Sets without a common workload, or whose runs differ in their workloads, are not compared.
func TestWorkloadsThatCannotBeCompared(t *testing.T) {
	a, b := steady(6, 1, nil)
	events, traffic := steady(6, 1, func(_, _ int, r *result.Run) { r.Header.ID += "y" })
	several := severalOf(events, traffic)
	o := standard()
	o.Workload = "other"
	for want, err := range map[string]error{
		"a single, unnamed workload":         errorOf(Workloads(a, several, standard())),
		"another a single, unnamed workload": errorOf(Workloads(append(several[:5:5], b[5]), several, standard())),
		"no workload other":                  errorOf(Workloads(a, several, o)),
		"set B has no run":                   errorOf(Workloads(a, nil, standard())),
	} {
		if !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func errorOf(_ []*Comparison, err error) error { return err }
