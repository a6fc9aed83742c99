package compare

import (
	"fmt"
	"slices"

	"sixnines/result"
)

// Workloads compares sets of runs with several workloads: it returns one comparison for each
// workload that both sets have, in the order of A. Runs with one workload are compared like
// by [Compare]. Intervals and p-values hold for each comparison alone, not for all of them at
// once. A comparison also lists the differences in the other workloads of its runs. Besides
// the errors of Compare it returns one, which wraps [ErrInput], if the runs of a set differ in
// their workloads, or if no workload is in both sets.
func Workloads(a, b []*result.Run, o Options) ([]*Comparison, error) {
	var parts [2]map[string][]*result.Run
	var names [2][]string
	beside := map[*result.Run][]*result.Run{}
	for i, set := range [2][]*result.Run{a, b} {
		parts[i] = map[string][]*result.Run{}
		for _, run := range set {
			own, err := chosen(run, o.Workload, beside)
			if err != nil {
				return nil, fmt.Errorf("compare: set %s: %w", side(i), err)
			}
			var have []string
			for _, x := range own {
				have = append(have, x.name)
				parts[i][x.name] = append(parts[i][x.name], x.run)
			}
			if t := run.Header.Trial; t != nil && t.Control {
				continue // on either side it has the workloads of A
			}
			if names[i] == nil {
				names[i] = have
			} else if !slices.Equal(have, names[i]) {
				return nil, fmt.Errorf("compare: set %s: one run has %s, another %s: %w", side(i), workloadsText(names[i]), workloadsText(have), ErrInput)
			}
		}
	}
	if len(a) == 0 || len(b) == 0 {
		c, err := Compare(a, b, o) // returns the error for an empty set
		return []*Comparison{c}, err
	}
	var all []*Comparison
	for _, name := range names[0] {
		if parts[1][name] == nil {
			continue
		}
		c, err := compareOne(parts[0][name], parts[1][name], o, beside)
		if err != nil && name != "" {
			err = fmt.Errorf("workload %s: %w", name, err)
		}
		if err != nil {
			return nil, err
		}
		own, _ := withoutControls(parts[0][name])
		other, _ := withoutControls(parts[1][name])
		c.neighbours(own, other, beside)
		all = append(all, c)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("compare: A has %s and B has %s, but they share no name; --of NAME chooses one: %w", workloadsText(names[0]), workloadsText(names[1]), ErrInput)
	}
	return all, nil
}

// ofWorkload is a part of a run, and the name by which parts are matched.
type ofWorkload struct {
	name string
	run  *result.Run
}

// chosen returns the parts of a run by the names of their workloads, or only the one that
// workload names, then with an empty name. It sets in beside the other parts of each.
func chosen(run *result.Run, workload string, beside map[*result.Run][]*result.Run) ([]ofWorkload, error) {
	var own []ofWorkload
	for _, part := range run.Parts() {
		beside[part] = slices.DeleteFunc(slices.Clone(run.Parts()), func(o *result.Run) bool { return o == part })
		name := part.Header.Workload
		if workload != "" && name != "" && name != workload {
			continue
		}
		if workload != "" {
			name = ""
		}
		own = append(own, ofWorkload{name, part})
	}
	if len(own) == 0 {
		return nil, fmt.Errorf("%s has no workload %s: %w", run.Path, workload, ErrInput)
	}
	return own, nil
}

func workloadsText(names []string) string {
	if len(names) == 1 && names[0] == "" {
		return "a single, unnamed workload"
	}
	return "the workloads " + all(names)
}

// company lists the other workloads of the run.
func (r run) company() string {
	var names []string
	for _, o := range r.beside {
		names = append(names, o.Header.Workload)
	}
	return all(names)
}

// neighbours adds the differences in the other workloads of the runs, unless the compared
// workload has the same difference; also if only one workload is compared. They never refuse
// a ranking: the same load beside different ones may be what is compared.
func (c *Comparison) neighbours(a, b []*result.Run, beside map[*result.Run][]*result.Run) {
	var names []string
	var others [2]map[string][]run
	for i, set := range [2][]*result.Run{a, b} {
		others[i] = map[string][]run{}
		for _, r := range set {
			for _, o := range beside[r] {
				name := o.Header.Workload
				if i == 0 && others[i][name] == nil {
					names = append(names, name)
				}
				others[i][name] = append(others[i][name], run{Run: o})
			}
		}
	}
	own := append(slices.Clone(c.Differences), c.Follows...)
	for _, name := range names {
		if others[1][name] == nil {
			continue // the attribute "workloads beside it" already has this difference
		}
		for _, d := range differences([2][]run{others[0][name], others[1][name]}) {
			if slices.ContainsFunc(own, func(e Difference) bool { return e.What == d.What && e.A == d.A && e.B == d.B }) {
				continue
			}
			d.What = name + ": " + d.What
			if d.Weight == Decisive {
				d.Weight, d.Why = Large, whyLoad
			}
			switch {
			case d.mixed || !d.from.follows(c.Changes):
				c.Differences = append(c.Differences, d)
			case d.from != asked: // else Changes has it
				c.Follows = append(c.Follows, d)
			}
		}
	}
	gravestFirst(c.Differences)
	gravestFirst(c.Follows)
}

// isBackground reports whether any run has the workload in the background.
func isBackground(sets [2][]run) bool {
	for _, set := range sets {
		if slices.ContainsFunc(set, func(r run) bool { return r.Header.Background }) {
			return true
		}
	}
	return false
}
