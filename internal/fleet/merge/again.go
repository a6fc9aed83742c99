package merge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"sixnines/result"
	"sixnines/scenario"
)

// Again merges the results of agents again, and returns in what the records of a merged result differ from that: nothing
// but its summary, which follows from its records, and its random name may. The error is that the agents' results
// cannot be merged, or not be read.
func Again(path string, sources []Source) (differences []string, err error) {
	was, err := records(path)
	if err != nil {
		return nil, err
	}
	whole, err := wholeOf(was)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "sixnines-merge-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "again.jsonl")
	if _, err := Files(file, sources, whole); err != nil {
		return nil, err
	}
	is, err := records(file)
	if err != nil {
		return nil, err
	}
	agents, err := records(sources[0].Path)
	if err != nil {
		return nil, err
	}
	for i := range whole.Scenarios { // Files has found as many headers in each
		if what := elsewhere(whole.Scenarios[i], agents[i].Header.Scenario); what != "" {
			differences = append(differences, what)
		}
	}
	for i := range max(len(was), len(is)) {
		switch {
		case i >= len(is):
			return append(differences, fmt.Sprintf("%d records more than the agents' results yield", len(was)-len(is))), nil
		case i >= len(was):
			return append(differences, fmt.Sprintf("%d records fewer than the agents' results yield", len(is)-len(was))), nil
		case !bytes.Equal(was[i].Raw, is[i].Raw):
			differences = append(differences, fmt.Sprintf("record %d, %s, is not what the agents' results yield", i+1, kindOf(&was[i])))
		}
	}
	return differences, nil
}

// wholeOf is what the headers of a merged result say that no agent knows. Their scenarios are those of the agents, but for
// where the broker is and the network of the whole run.
func wholeOf(all []result.Record) (w Whole, err error) {
	own := map[string][]scenario.Act{} // by workload
	for _, r := range all {
		if h := r.Header; h != nil {
			w.Tool, w.Revision, w.Trial, w.Managed, w.Deployment, w.Network = h.Tool, h.Revision, h.Trial, h.Managed, h.Deployment, h.Network
			w.Scenarios = append(w.Scenarios, h.Scenario)
			w.Clocks, w.Starts = clocksOf(h.Fleet)
			s, err := scenario.FromRecord("header", h.Scenario)
			if err != nil {
				return w, err
			}
			s.Normalise()
			own[h.Workload] = s.Acts()
		}
		if e := r.Event; e != nil && e.Kind == result.EventNetwork {
			w.Events = append(w.Events, *e)
		} else if e != nil && e.Action != nil {
			if n, acts := e.Action.Number, own[e.Workload]; n > 0 && n <= len(acts) && acts[n-1].Properties().Run {
				w.Events = append(w.Events, *e)
			}
		}
	}
	if len(w.Scenarios) == 0 {
		return w, result.ErrFormat
	}
	return w, nil
}

// clocksOf returns how the agents' clocks were followed, nil if they have one, and when their windows began, by their names.
func clocksOf(f *result.Fleet) (clocks map[string]*result.AgentClock, starts map[string]*result.AgentStart) {
	if f == nil {
		return nil, nil
	}
	starts = map[string]*result.AgentStart{}
	for i := range f.Agents {
		a := &f.Agents[i]
		if a.Start != nil {
			starts[a.Name] = a.Start
		}
		if a.Clock == nil {
			continue
		}
		if clocks == nil {
			clocks = map[string]*result.AgentClock{}
		}
		clocks[a.Name] = a.Clock
	}
	return clocks, starts
}

// elsewhere returns what two scenarios differ in beside where the broker is and the network of the whole run, which no agent
// has; empty: in nothing.
func elsewhere(a, b json.RawMessage) string {
	var texts [2][]byte
	for i, text := range []json.RawMessage{a, b} {
		s, err := scenario.FromRecord("header", text)
		if err != nil {
			return err.Error()
		}
		s.Normalise()
		s.Description, s.Target, s.Network = "", scenario.Target{Driver: s.Target.Driver}, nil
		if texts[i], err = s.MarshalJSON(); err != nil {
			return err.Error()
		}
	}
	if !bytes.Equal(texts[0], texts[1]) {
		return "its scenario is not the agents'"
	}
	return ""
}

// records reads all records of a result but the summaries. What is random in them is taken out.
func records(path string) (all []result.Record, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := result.NewReader(f)
	for {
		record, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, fmt.Errorf("%s: %w", path, err)
		case record.Summary != nil:
			continue
		case record.Header != nil:
			h := *record.Header
			h.ID = ""
			if record.Raw, err = json.Marshal(h); err != nil {
				return nil, err
			}
		default:
			record.Raw = bytes.Clone(record.Raw)
		}
		all = append(all, record)
	}
}

// kindOf says what a record is.
func kindOf(r *result.Record) string {
	switch {
	case r.Header != nil:
		return "a header"
	case r.Interval != nil && r.Interval.Phase == result.PhaseClosing:
		return "what is known at the end"
	case r.Interval != nil:
		return "an interval"
	case r.Event != nil:
		return "an event"
	}
	return "of an unknown kind"
}
