package result

import (
	"fmt"
	"slices"
)

// Parts returns the runs that have verdicts, figures and accounts: r itself, or its
// Workloads if the scenario names several.
func (r *Run) Parts() []*Run {
	if len(r.Workloads) > 0 {
		return r.Workloads
	}
	return []*Run{r}
}

// Complete reports whether each part has a summary, so that the run was not killed.
func (r *Run) Complete() bool {
	return !slices.ContainsFunc(r.Parts(), func(p *Run) bool { return p.Summary == nil })
}

// SetPath sets the path of the run and of its parts.
func (r *Run) SetPath(path string) {
	r.Path = path
	for _, p := range r.Workloads {
		p.Path = path
	}
}

// Part returns the part of a workload, nil if there is none.
func (r *Run) Part(workload string) *Run {
	for _, p := range r.Parts() {
		if p.Header.Workload == workload {
			return p
		}
	}
	return nil
}

// addWorkload adds a part with the header of one of several workloads.
func (r *Run) addWorkload(h Header) error {
	if len(r.Workloads) == mostWorkloads {
		return fmt.Errorf("more than %d workloads: %w", mostWorkloads, ErrFormat)
	}
	if r.Part(h.Workload) != nil || h.Workload == "" {
		return fmt.Errorf("two headers of the workload %q: %w", h.Workload, ErrFormat)
	}
	if len(r.Workloads) > 0 && h.ID != r.Header.ID {
		return fmt.Errorf("headers of the runs %q and %q, are these two files in one? %w", r.Header.ID, h.ID, ErrFormat)
	}
	if len(r.Workloads) == 0 {
		r.Header = h
	}
	r.Workloads = append(r.Workloads, &Run{Header: h, Metrics: map[Metric]*Merged{}, Events: append([]Event(nil), r.Events...)})
	return nil
}

// mostWorkloads is the largest number of workloads of a file.
const mostWorkloads = 64

// addPart merges a record into the workload that it names; an event that names no workload
// is added to each.
func (r *Run) addPart(record Record) error {
	name := ""
	switch {
	case record.Interval != nil:
		name = record.Interval.Workload
	case record.Summary != nil:
		name = record.Summary.Workload
	case record.Event != nil:
		r.Events = append(r.Events, *record.Event)
		for _, p := range r.Workloads {
			if e := record.Event; e.Workload == "" || e.Workload == p.Header.Workload {
				p.Events = append(p.Events, e.Since(int64(p.Header.From)))
			}
		}
		return nil
	default:
		return nil
	}
	p := r.Part(name)
	if p == nil {
		return fmt.Errorf("a record of the workload %q, which has no header: %w", name, ErrFormat)
	}
	return p.Add(record)
}
