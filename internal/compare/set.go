package compare

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"sixnines/internal/judge"
	"sixnines/internal/stats"
	"sixnines/result"
)

// ErrInput is wrapped by errors about the runs given to a comparison.
var ErrInput = errors.New("cannot be compared")

// run is a run of a side; unfit says why it cannot be used, empty if it can.
type run struct {
	*result.Run
	unfit  string
	beside []*result.Run // the other workloads of the run
}

// Name returns the path of a run's file, or else its id. A [Pair] names runs so.
func Name(r *result.Run) string {
	if r.Path != "" {
		return r.Path
	}
	return r.Header.ID
}

func (r run) name() string { return Name(r.Run) }

// unfit says why a run's figures must not be compared; it is empty if they may.
func unfit(r *result.Run) string {
	s := r.Summary
	switch {
	case s == nil:
		return "cut short"
	case s.Aborted:
		return "aborted: the run did not wait for messages in flight"
	case s.Verdict.Status == result.Invalid || s.Verdict.Status == result.Unstable:
		return verdictOf(s)
	case s.Verdict.Status != result.Valid && s.Verdict.Status != result.Suspect:
		return "the run has no verdict"
	}
	return ""
}

// verdictOf writes a verdict with its first reason. The run's own report has the advice.
func verdictOf(s *result.Summary) string {
	why := string(s.Verdict.Status)
	for _, reason := range s.Verdict.Reasons {
		if reason.Status == s.Verdict.Status {
			return why + ": " + reason.What()
		}
	}
	return why
}

// Invalid says why a run, or a compared workload of it, is INVALID; it is empty if neither is.
// of is the only workload to compare; empty: all. Background workloads do not count. An ab
// replaces the pair of such a run.
func Invalid(run *result.Run, of string) string {
	for _, part := range run.Parts() {
		w := part.Header.Workload
		if s := part.Summary; s != nil && s.Verdict.Status == result.Invalid && !part.Header.Background && (of == "" || w == "" || w == of) {
			return verdictOf(s)
		}
	}
	return ""
}

// sides orders both sets by time. It returns an error, which wraps [ErrInput], for an empty
// set and for a run that is given twice, which would create false evidence.
func sides(a, b []*result.Run, beside map[*result.Run][]*result.Run) ([2][]run, error) {
	var out [2][]run
	seen := map[string]string{}
	for i, set := range [2][]*result.Run{a, b} {
		if len(set) == 0 {
			return out, fmt.Errorf("set %s has no run: %w", side(i), ErrInput)
		}
		for _, r := range set {
			x := run{r, unfit(r), beside[r]}
			place := x.name() + " in set " + side(i)
			if id := r.Header.ID; id != "" {
				if first, again := seen[id]; again {
					return out, fmt.Errorf("%s and %s are the same run %s; a run cannot be compared with itself or count twice: %w", first, place, id, ErrInput)
				}
				seen[id] = place
			}
			out[i] = append(out[i], x)
		}
		slices.SortStableFunc(out[i], func(x, y run) int {
			return cmp.Or(x.Header.Started.Compare(y.Header.Started), trialIndex(x)-trialIndex(y), strings.Compare(x.name(), y.name()))
		})
	}
	return out, nil
}

func trialIndex(r run) int {
	if t := r.Header.Trial; t != nil {
		return t.Index
	}
	return 0
}

// side is the letter of a set.
func side(i int) string { return string(rune('A' + i)) }

// couple is a pair of runs.
type couple struct {
	number int
	runs   [2]run
}

// fit reports whether both runs can be used.
func (c couple) fit() bool { return c.runs[0].unfit == "" && c.runs[1].unfit == "" }

// couples pairs the runs: those of an ab by the number of their pair, others in order of
// time. Runs that cannot be used are paired as well and left out afterwards with their
// partners: if the others moved up, a set that lost its slow runs would be paired anew to
// its advantage.
func couples(sets [2][]run) (all []couple, left []Left, ab bool) {
	if ab = ofOneAB(sets); ab {
		byPair := map[int]*couple{}
		for i := range sets {
			for _, r := range sets[i] {
				n := r.Header.Trial.Pair
				c := byPair[n]
				if c == nil {
					c = &couple{number: n}
					byPair[n] = c
				}
				c.runs[i] = r
			}
		}
		for _, c := range byPair {
			switch {
			case c.runs[0].Run == nil:
				left = append(left, Left{Side: "B", Run: c.runs[1].name(), Why: fmt.Sprintf("pair %d has no A", c.number)})
			case c.runs[1].Run == nil:
				left = append(left, Left{Side: "A", Run: c.runs[0].name(), Why: fmt.Sprintf("pair %d has no B", c.number)})
			default:
				all = append(all, *c)
			}
		}
		slices.SortFunc(all, func(x, y couple) int { return x.number - y.number })
		slices.SortFunc(left, func(x, y Left) int { return strings.Compare(x.Run, y.Run) })
		return all, left, true
	}
	n := min(len(sets[0]), len(sets[1]))
	for i := range n {
		all = append(all, couple{i + 1, [2]run{sets[0][i], sets[1][i]}})
	}
	for i := range sets {
		for _, r := range sets[i][n:] {
			left = append(left, Left{Side: side(i), Run: r.name(), Why: "no partner: the other set has only " + fmt.Sprint(n)})
		}
	}
	return all, left, false
}

// ofOneAB reports whether all runs are of the same ab, each side is one arm, and no side has
// two runs with the same pair number.
func ofOneAB(sets [2][]run) bool {
	set := ""
	for i := range sets {
		arm := ""
		taken := map[int]bool{}
		for _, r := range sets[i] {
			t := r.Header.Trial
			if t == nil || t.Kind != result.TrialAB || t.Pair < 1 || taken[t.Pair] {
				return false
			}
			if set == "" {
				set = t.Set
			}
			if arm == "" {
				arm = t.Arm
			}
			if t.Set != set || t.Arm != arm {
				return false
			}
			taken[t.Pair] = true
		}
		if i == 1 && len(sets[0]) > 0 && sets[0][0].Header.Trial.Arm == arm {
			return false
		}
	}
	return true
}

// replaced removes the pairs of an ab that were measured again, whichever workload was
// INVALID, so that all workloads are compared with the same pairs.
func replaced(all []couple) (rest []couple, out []Replaced) {
	by := map[int]int{}
	for _, c := range all {
		for _, r := range c.runs {
			if t := r.Header.Trial; t.Replaces > 0 {
				by[t.Replaces] = t.Pair
			}
		}
	}
	for _, c := range all {
		if by[c.number] == 0 {
			rest = append(rest, c)
			continue
		}
		x := Replaced{Pair: c.number, By: by[c.number]}
		for i, r := range c.runs {
			for _, part := range append([]*result.Run{r.Run}, r.beside...) {
				if part.Summary != nil && part.Summary.Verdict.Status == result.Invalid && !part.Header.Background {
					x.Why = append(x.Why, Left{Side: side(i), Run: r.name(), Why: verdictOf(part.Summary)})
					break
				}
			}
		}
		out = append(out, x)
	}
	return rest, out
}

// remade returns the pairs with a run that was made again.
func remade(all []couple) (out []Replaced) {
	for _, c := range all {
		x := Replaced{Pair: c.number, By: c.number}
		for i, r := range c.runs {
			if t := r.Header.Trial; t != nil && len(t.Attempts) > 0 {
				failed := slices.ContainsFunc(t.Attempts, func(a result.Attempt) bool { return a.Ending != result.AttemptPartner })
				x.Why = append(x.Why, Left{Side: side(i), Run: r.name(), Why: judge.Again(t.Attempts), Partner: !failed, Chosen: judge.Chosen(t.Attempts)})
				x.Control = t.Control
			}
		}
		if len(x.Why) > 0 {
			out = append(out, x)
		}
	}
	return out
}

// fitOnes returns the pairs that can be used, and the runs of all other pairs.
func fitOnes(all []couple) (fit []couple, left []Left) {
	for _, c := range all {
		if c.fit() {
			fit = append(fit, c)
			continue
		}
		for i, r := range c.runs {
			l := Left{Side: side(i), Run: r.name(), Why: r.unfit, Overloaded: unstable(r)}
			if l.Partner = l.Why == ""; l.Partner {
				l.Why = fmt.Sprintf("its partner in pair %d cannot be used", c.number)
			}
			left = append(left, l)
		}
	}
	return fit, left
}

// setOf describes one side.
func setOf(i int, runs []run, used int) Set {
	s := Set{Runs: len(runs), Used: used}
	var labels []string
	for _, r := range runs {
		if l := labelOf(&r.Header); !slices.Contains(labels, l) {
			labels = append(labels, l)
		}
		if at := r.Header.Started; s.From.IsZero() || at.Before(s.From) {
			s.From = at
		}
		if at := r.Header.Started; at.After(s.To) {
			s.To = at
		}
	}
	s.Label = labels[0]
	if n := len(labels); n > 1 {
		s.Label += fmt.Sprintf(" and %d others", n-1)
	}
	return s
}

// labelOf returns a run's name, or else its driver and pattern.
func labelOf(h *result.Header) string {
	if h.Name != "" {
		return h.Name
	}
	if l := strings.TrimSpace(h.Driver + " " + h.Pattern); l != "" {
		return l
	}
	return "unnamed"
}

// figuresOf summarises one figure over runs; within has the relative half widths of the runs'
// intervals, as far as they are known.
func figuresOf(values, within []float64) Figures {
	f := Figures{Runs: len(values)}
	if len(values) == 0 {
		return f
	}
	f.Median, f.Min, f.Max = stats.Median(values), slices.Min(values), slices.Max(values)
	if len(within) > 0 {
		f.Within = stats.Median(within)
	}
	if f.Min <= 0 {
		return f
	}
	var sum, sq float64
	for _, v := range values {
		sum += math.Log(v)
	}
	if f.Mean = math.Exp(sum / float64(len(values))); len(values) < 2 {
		return f
	}
	for _, v := range values {
		d := math.Log(v) - sum/float64(len(values))
		sq += d * d
	}
	f.Between = math.Expm1(math.Sqrt(sq / float64(len(values)-1)))
	return f
}
