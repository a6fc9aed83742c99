package trials

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sixnines/result"
)

// fourCells is a series of three rounds whose cells 0 and 2 are made at the same time, and 1 and 3 alone.
type fourCells struct {
	t     *testing.T
	dir   string
	plan  Manifest
	turns []string                             // what was made, in order, such as "0+2 1" for cells 0 and 2 in round 1
	ends  func(cell, round int) (State, error) // nil: all are made
	kill  string                               // the turn in which the process dies; empty: in none
}

func newFourCells(t *testing.T) *fourCells {
	f := &fourCells{t: t, dir: t.TempDir(), plan: planOf(4, 3)}
	f.plan.Trials, f.plan.Pairs = nil, []Pair{{Cells: [2]int{0, 2}}}
	f.add(Grouped([]int{0, 0, 1, 1}, []int{3, 3, 3, 3}, nil, [][2]int{{0, 2}}, 3), 0)
	return f
}

func (f *fourCells) add(places []Place, round int) {
	for _, at := range places {
		f.plan.Trials = append(f.plan.Trials, Trial{Cell: at.Cell, Round: round + at.Round, Seed: 1, File: fmt.Sprintf("%d-%d.jsonl", at.Cell, round+at.Round)})
	}
}

// evens makes cells 0 and 2 a pair.
func evens(a, b Trial) bool { return a.Cell%2 == 0 && b.Cell%2 == 0 }

func (f *fourCells) make(turn *Turn) (State, error) {
	if f.ends != nil {
		if state, err := f.ends(turn.Trial.Cell, turn.Trial.Round); state != Made {
			return state, err
		}
	}
	return Made, os.WriteFile(turn.Path, []byte(turn.Trial.File), 0o644)
}

// begin notes a turn.
func (f *fourCells) begin(turn string) {
	if f.turns = append(f.turns, turn); turn == f.kill {
		panic("kill -9")
	}
}

// run works on the series, which it begins or resumes, until its end or death.
func (f *fourCells) run(o Options) (err error) {
	f.t.Helper()
	open := New
	if _, err := os.Stat(filepath.Join(f.dir, ManifestName)); err == nil {
		open = Resume
	}
	s, err := open(f.dir, f.plan)
	if err != nil {
		f.t.Fatal(err)
	}
	defer func() {
		recover()
		leave(s)
	}()
	if o.Pair == nil {
		o.Pair = evens
	}
	o.Make = func(turn *Turn) (State, error) {
		f.begin(fmt.Sprint(turn.Trial.Cell, " ", turn.Trial.Round))
		return f.make(turn)
	}
	o.Both = func(turns *[2]Turn) (states [2]State, errs [2]error) {
		a, b := turns[0].Trial, turns[1].Trial
		if a.Cell+b.Cell != 2 || a.Round != b.Round || turns[0].Keeper == turns[1].Keeper || turns[1].Number != turns[0].Number+1 {
			f.t.Errorf("%+v and %+v are no pair", a, b)
		}
		f.begin(fmt.Sprint("0+2 ", a.Round))
		for k := range turns {
			states[k], errs[k] = f.make(&turns[k])
		}
		return states, errs
	}
	return s.Run(o)
}

// trial returns the trial of a cell and a round as the manifest has it.
func (f *fourCells) trial(cell, round int) Trial {
	for _, x := range stored(f.t, f.dir).Trials {
		if x.Cell == cell && x.Round == round {
			return x
		}
	}
	f.t.Fatalf("no trial of cell %d in round %d", cell, round)
	return Trial{}
}

// Two cells of four are made at once in each round, the others alone, and a process that dies in any turn leaves a
// series that goes on with that turn: a pair is made again as a pair, and nothing else is.
func TestPairsAmongSingleCells(t *testing.T) {
	whole := newFourCells(t)
	if err := whole.run(Options{}); err != nil {
		t.Fatal(err)
	}
	sorted := slices.Sorted(slices.Values(whole.turns))
	if got := strings.Join(sorted, ", "); got != "0+2 1, 0+2 2, 0+2 3, 1 1, 1 2, 1 3, 3 1, 3 2, 3 3" {
		t.Fatal(got)
	}
	for i, at := range whole.turns {
		f := newFourCells(t)
		f.kill = at
		f.run(Options{})
		f.kill = ""
		if err := f.run(Options{}); err != nil {
			t.Error(err)
		}
		if want := slices.Concat(whole.turns[:i+1], whole.turns[i:]); !slices.Equal(f.turns, want) {
			t.Errorf("killed in %s: %q, want %q", at, f.turns, want)
		}
		for _, x := range stored(t, f.dir).Trials {
			killed := strings.HasSuffix(at, fmt.Sprint(" ", x.Round)) && strings.Contains(strings.Fields(at)[0], fmt.Sprint(x.Cell))
			if want := map[bool]string{true: result.AttemptKilled}[killed]; x.State != Made || attemptsOf(x) != want {
				t.Errorf("killed in %s: cell %d, round %d is %s after %q", at, x.Cell, x.Round, x.State, attemptsOf(x))
			}
		}
	}
}

// Where one of a pair fails, or loses its file, both are made again; the others stay.
func TestHalfOfAPair(t *testing.T) {
	f := newFourCells(t)
	oh := errors.New("oh")
	f.ends = func(cell, round int) (State, error) {
		if cell == 2 && round == 2 {
			return Failed, oh
		}
		return Made, nil
	}
	if err := f.run(Options{Failures: 5}); err != nil || len(f.turns) != 9 || f.trial(2, 2).State != Failed || f.trial(0, 2).State != Made {
		t.Fatalf("%v: %q", err, f.turns)
	}
	if err := os.Remove(filepath.Join(f.dir, f.trial(0, 3).File)); err != nil {
		t.Fatal(err)
	}
	f.turns, f.ends = nil, nil
	// What is wanted now does not matter: a half is no result.
	if err := f.run(Options{Wanted: func(x Trial) bool { return x.Cell%2 == 1 }}); err != nil || f.turns != nil {
		t.Errorf("%v: %q", err, f.turns)
	}
	for _, x := range []Trial{f.trial(0, 2), f.trial(2, 2), f.trial(0, 3), f.trial(2, 3)} {
		if _, err := os.Stat(filepath.Join(f.dir, x.File)); x.State != Planned || err == nil {
			t.Errorf("cell %d, round %d is %s, and its file is there: %v", x.Cell, x.Round, x.State, err == nil)
		}
	}
	if err := f.run(Options{}); err != nil || strings.Join(f.turns, ", ") != "0+2 2, 0+2 3" {
		t.Errorf("%v: %q", err, f.turns)
	}
	for of, want := range map[[2]int]string{{0, 2}: result.AttemptPartner, {2, 2}: "failed: oh", {0, 3}: result.AttemptLost, {2, 3}: result.AttemptPartner, {0, 1}: "", {1, 2}: ""} {
		if got := attemptsOf(f.trial(of[0], of[1])); got != want {
			t.Errorf("cell %d, round %d: attempts %q, want %q", of[0], of[1], got, want)
		}
	}
}

// Rounds that are added are made as pairs, too. Cells that are no pair any more, since one was refused, are made alone.
func TestMorePairs(t *testing.T) {
	f := newFourCells(t)
	more := func() []Trial {
		if len(f.plan.Trials) > 12 {
			return nil
		}
		f.add(Grouped([]int{0, 0, 1, 1}, []int{1, 0, 1, 1}, nil, [][2]int{{0, 2}}, 5), 3)
		return f.plan.Trials[12:]
	}
	if err := f.run(Options{More: more}); err != nil || len(f.turns) != 9+2 || !slices.Contains(f.turns[9:], "0+2 4") || !slices.Contains(f.turns[9:], "3 4") {
		t.Errorf("%v: %q", err, f.turns)
	}
	f = newFourCells(t)
	apart := false
	f.ends = func(cell, _ int) (State, error) {
		if cell == 2 {
			apart = true
			return Refused, errors.New("not this one")
		}
		return Made, nil
	}
	if err := f.run(Options{Pair: func(a, b Trial) bool { return !apart && evens(a, b) }}); err != nil {
		t.Error(err)
	}
	got := strings.Join(slices.Sorted(slices.Values(f.turns)), ", ")
	if got != "0 2, 0 3, 0+2 1, 1 1, 1 2, 1 3, 2 2, 2 3, 3 1, 3 2, 3 3" || f.trial(0, 1).State != Made || f.trial(2, 1).State != Refused {
		t.Error(got)
	}
}

// The keeper of a cell of a pair is the same whoever is first. While another trial is made alone, the second broker does
// not run.
func TestKeepersOfPairs(t *testing.T) {
	f := newFourCells(t)
	s, err := New(f.dir, f.plan)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	running := map[string]int{} // by cell
	keepers := map[int]map[*Keeper]bool{0: {}, 2: {}, 1: {}, 3: {}}
	get := func(turn *Turn) {
		cell := turn.Trial.Cell
		keepers[cell][turn.Keeper] = true
		if _, err := turn.Keeper.Get(fmt.Sprint(cell/2), func() (Broker, error) {
			running[fmt.Sprint(cell/2)]++
			return counted{fmt.Sprint(cell / 2), running}, nil
		}); err != nil {
			t.Error(err)
		}
	}
	all := func() (n int) {
		for _, k := range running {
			n += k
		}
		return n
	}
	err = s.Run(Options{Pair: evens,
		Make: func(turn *Turn) (State, error) {
			if get(turn); all() != 1 {
				t.Errorf("%v run beside cell %d", running, turn.Trial.Cell)
			}
			return Made, nil
		},
		Both: func(turns *[2]Turn) ([2]State, [2]error) {
			get(&turns[0])
			if get(&turns[1]); running["0"] != 1 || running["1"] != 1 {
				t.Errorf("%v run", running)
			}
			return [2]State{Made, Made}, [2]error{}
		}})
	if err != nil || all() != 0 || len(keepers[0]) != 1 || len(keepers[2]) != 1 {
		t.Errorf("%v, %v run, %v", err, running, keepers)
	}
}

// counted is a broker that notes its end.
type counted struct {
	name    string
	running map[string]int
}

func (c counted) String() string { return c.name }
func (c counted) Err() error     { return nil }
func (c counted) Stop()          { c.running[c.name]-- }

// What is left of a series with pairs is foreseen by what each turn takes: two at once as one.
func TestForesightOfPairs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFourCells(t)
		s, err := New(f.dir, f.plan)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		var left []time.Duration
		last := 0
		err = s.Run(Options{Pair: evens,
			Make: func(*Turn) (State, error) { time.Sleep(1500 * time.Millisecond); return Made, nil },
			Both: func(*[2]Turn) ([2]State, [2]error) {
				time.Sleep(1500 * time.Millisecond)
				return [2]State{Made, Made}, [2]error{}
			},
			Progress: func(p Progress) { left, last = append(left, p.Left), p.Done },
		})
		for i, d := range left {
			if want := time.Duration(9-1-i) * 1500 * time.Millisecond; d != want {
				t.Errorf("after turn %d: %v left, want %v", i+1, d, want)
			}
		}
		if err != nil || len(left) != 9 || last != 12 {
			t.Errorf("%v, %d turns, %d trials", err, len(left), last)
		}
	})
}
