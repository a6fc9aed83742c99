package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"sixnines/drivers/all"
	"sixnines/internal/compare"
	"sixnines/internal/trials"
	"sixnines/result"
	"sixnines/scenario"
)

// An ab replaces the pairs that have an INVALID run, by their verdict alone and no more
// of them than it may; what was set aside is in no figure and said. It goes on where it
// was ended.
func TestABReplaces(t *testing.T) {
	invalid := func(rounds ...int) func(round, cell int) result.Status {
		return func(round, cell int) result.Status {
			switch {
			case slices.Contains(rounds, round) && cell == 1:
				return result.Invalid
			case round == 1:
				return result.Unstable // the system's own doing: not replaced, whoever it is
			}
			return result.Valid
		}
	}
	for name, tt := range map[string]struct {
		replace int
		status  func(round, cell int) result.Status
		endedIn int // trial, from 1; 0: none
		made    int // runs
		aside   []int
		used    int
	}{
		"none":                {-1, invalid(), 0, 12, nil, 5},
		"two":                 {-1, invalid(2, 5), 0, 16, []int{2, 5}, 5},
		"also what replaces":  {-1, invalid(2, 7, 8), 0, 18, []int{2, 7, 8}, 5},
		"as many as may be":   {1, invalid(2, 5), 0, 14, []int{2}, 4},
		"none at all":         {0, invalid(2, 5), 0, 12, nil, 3},
		"none where all are":  {-1, invalid(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), 0, 12, nil, 0},
		"up to the bound":     {-1, invalid(3, 4, 5, 6, 7, 8, 9, 10, 11, 12), 0, 24, []int{3, 4, 5, 6, 7, 8}, 1},
		"ended in the middle": {-1, invalid(2, 5), 7, 16, []int{2, 5}, 5},
		"ended in a new pair": {-1, invalid(2, 5), 14, 16, []int{2, 5}, 5},
	} {
		out := outputOptions{out: t.TempDir()}
		errs := &bytes.Buffer{}
		a := &app{Env: Env{Drivers: all.Set(), Stderr: errs}}
		arms, _, err := a.arms([]string{"mem"}, nil, [2][]scenario.Override{})
		if err != nil {
			t.Fatal(err)
		}
		d, err := (&abRuns{arms: arms, abOptions: abOptions{pairs: 6}}).plan()
		if err != nil {
			t.Fatal(err)
		}
		written := map[string]*result.Run{} // as files would hold them
		var x *abRuns
		for again := 0; again < 2; again++ {
			opened, err := a.begin(out, d)
			if err != nil {
				t.Fatal(name, err)
			}
			out.resume = opened.dir
			x = &abRuns{series: opened, arms: arms, abOptions: abOptions{pairs: 6, replace: tt.replace}, options: compare.Options{MinEffect: 0.05}}
			for i, trial := range x.Trials {
				if trial.State == trials.Made {
					x.keep(i, written[trial.File])
				}
			}
			if err := x.Choose(&result.Design{Kind: result.DesignApart, Reason: result.DesignAsked, Looks: []int{6}}); err != nil {
				t.Fatal(name, err)
			}
			killed := errors.New("killed")
			err = x.Run(trials.Options{More: x.more, Make: func(turn *trials.Turn) (trials.State, error) {
				if turn.Number == tt.endedIn && again == 0 {
					return trials.Planned, killed
				}
				run := fabricated(turn, tt.status(turn.Trial.Round, turn.Trial.Cell))
				if err := os.WriteFile(turn.Path, nil, 0o644); err != nil {
					return trials.Failed, err
				}
				written[turn.Trial.File] = run
				x.keep(turn.Number-1, run)
				return trials.Made, nil
			}})
			x.Close()
			if err != nil && (err != killed || again > 0) {
				t.Fatal(name, err)
			}
			if err == nil {
				break
			}
		}
		var aside []int
		first := map[int]int{}
		for i, trial := range x.Trials {
			if trial.Aside != "" && !slices.Contains(aside, trial.Round) {
				aside = append(aside, trial.Round)
			}
			if trial.Aside != "" && !strings.HasPrefix(trial.Aside, "B INVALID: disturbed") {
				t.Errorf("%s: %q", name, trial.Aside)
			}
			if i%2 == 0 && trial.Round <= 6 {
				first[trial.Cell]++
			}
		}
		// One seed a pair, for both sides; no two pairs have the same.
		seeds, pairs := map[uint64]int{}, map[int]uint64{}
		for _, trial := range x.Trials {
			if seed, ok := pairs[trial.Round]; ok && seed != trial.Seed {
				t.Errorf("%s: pair %d has the seeds %d and %d", name, trial.Round, seed, trial.Seed)
			}
			pairs[trial.Round] = trial.Seed
			seeds[trial.Seed] = trial.Round
		}
		if len(seeds) != len(pairs) {
			t.Errorf("%s: %d seeds for %d pairs", name, len(seeds), len(pairs))
		}
		slices.Sort(aside)
		if len(x.kept) != tt.made || !slices.Equal(aside, tt.aside) || !x.Complete() || first[0] != 3 {
			t.Errorf("%s: %d runs, set aside %v, first %v", name, len(x.kept), aside, first)
		}
		runs := x.sides(false)
		c, err := compare.Workloads(runs[0], runs[1], x.options)
		if err != nil {
			t.Fatal(name, err)
		}
		var said []int
		for _, r := range c[0].Replaced {
			said = append(said, r.Pair)
			if len(r.Why) != 1 || r.Why[0].Side != "B" || !strings.Contains(errs.String(), fmt.Sprintf("pair %d is set aside: B INVALID: disturbed; pair %d replaces it", r.Pair, r.By)) {
				t.Errorf("%s: %+v, said\n%s", name, r, errs)
			}
		}
		if !slices.Equal(said, tt.aside) || len(c[0].Pairs) != tt.used {
			t.Errorf("%s: replaced %v, %d pairs used", name, said, len(c[0].Pairs))
		}
	}
}

// Pairs with A on both sides are replaced as well, and no more of them than there are: where A beside A is always INVALID,
// an ab still ends.
func TestABReplacesItsControl(t *testing.T) {
	for replace, want := range map[int]int{-1: 12 + 12 + 12, 2: 12 + 12 + 4, 0: 12 + 12} {
		a := &app{Env: Env{Drivers: all.Set(), Stderr: &bytes.Buffer{}}}
		arms, _, err := a.arms([]string{"mem"}, nil, [2][]scenario.Override{})
		if err != nil {
			t.Fatal(err)
		}
		d, err := (&abRuns{arms: arms, abOptions: abOptions{pairs: 6}}).plan()
		if err != nil {
			t.Fatal(err)
		}
		opened, err := a.begin(outputOptions{out: t.TempDir()}, d)
		if err != nil {
			t.Fatal(err)
		}
		x := &abRuns{series: opened, arms: arms, abOptions: abOptions{pairs: 6, replace: replace}, options: compare.Options{MinEffect: 0.05}}
		if err := x.Choose(&result.Design{Kind: result.DesignApart, Reason: result.DesignAsked, Looks: []int{6}, Controls: 6}); err != nil {
			t.Fatal(err)
		}
		made := 0
		err = x.Run(trials.Options{More: x.more, Make: func(turn *trials.Turn) (trials.State, error) {
			if made++; made > 100 {
				return trials.Failed, errors.New("it goes on")
			}
			status := result.Valid
			if x.isControl(turn.Trial.Round) {
				status = result.Invalid
			}
			x.keep(turn.Number-1, fabricated(turn, status))
			return trials.Made, nil
		}})
		x.Close()
		if err != nil || made != want {
			t.Errorf("--replace %d: %d runs, want %d: %v", replace, made, want, err)
		}
	}
}

// fabricated is a run of a trial with a verdict.
func fabricated(turn *trials.Turn, status result.Status) *result.Run {
	d := &result.Distribution{Count: 1e5, Samples: 1e5, Max: 1e6, Figures: map[result.Percentile]result.Figure{"50": {Value: int64(1000 + turn.Number)}}}
	v := result.Verdict{Status: status}
	if status != result.Valid {
		v.Reasons = []result.Reason{{Status: status, Code: "x", Found: "disturbed", Try: "try again"}}
	}
	return &result.Run{Path: turn.Trial.File, Header: result.Header{ID: fmt.Sprint(turn.Number, turn.Trial.File), Mode: result.ModeOpen, Rate: 1000,
		Trial: &result.Trial{Set: "set", Kind: result.TrialAB, Arm: string(rune('A' + turn.Trial.Cell)), Pair: turn.Trial.Round, Replaces: turn.Trial.Replaces, Index: turn.Number}},
		Summary: &result.Summary{Verdict: v, Histograms: map[result.Metric]*result.Distribution{result.DeliveryResponse: d}}}
}
