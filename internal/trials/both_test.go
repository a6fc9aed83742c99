package trials

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

// sameRound makes all trials of a round a pair.
func sameRound(a, b Trial) bool { return a.Round == b.Round }

// The trials of a round are made at once, each by a broker of its own that serves it from round to round; a round of
// which only one was made is made again.
func TestBothTrialsOfARound(t *testing.T) {
	dir := t.TempDir()
	m := planOf(2, 3)
	m.Trials = nil
	for i, at := range Balanced(3, 5) {
		m.Trials = append(m.Trials, Trial{Cell: at.Cell, Round: at.Round, Seed: 1, File: fmt.Sprintf("%d.jsonl", i+1)})
	}
	s, err := New(dir, m)
	if err != nil {
		t.Fatal(err)
	}
	var log []string // of brokers, which are started and stopped by one goroutine for each side
	var mu sync.Mutex
	var rounds []int
	both := func(second State) func(*[2]Turn) ([2]State, [2]error) {
		return func(turns *[2]Turn) ([2]State, [2]error) {
			if turns[0].Trial.Round != turns[1].Trial.Round || turns[0].Trial.Cell == turns[1].Trial.Cell {
				t.Errorf("%+v and %+v are no pair", turns[0].Trial, turns[1].Trial)
			}
			rounds = append(rounds, turns[0].Trial.Round)
			var sides sync.WaitGroup
			for i := range turns {
				sides.Go(func() {
					_, err := turns[i].Keeper.Get("a", func() (Broker, error) { return &fake{name: fmt.Sprint(i), log: new([]string)}, nil })
					mu.Lock()
					defer mu.Unlock()
					if err != nil {
						t.Error(err)
					}
					log = append(log, fmt.Sprint(i))
					if err := os.WriteFile(turns[i].Path, nil, 0o644); err != nil {
						t.Error(err)
					}
				})
			}
			sides.Wait()
			if second == Made {
				return [2]State{Made, Made}, [2]error{}
			}
			return [2]State{Made, second}, [2]error{nil, errors.New("it ended")}
		}
	}
	made := func(*Turn) (State, error) {
		t.Error("one trial is made alone")
		return Failed, nil
	}
	if err := s.Run(Options{Pair: sameRound, Both: both(Failed), Make: made}); err == nil || len(rounds) != 1 {
		t.Errorf("%v after rounds %v", err, rounds)
	}
	s.Close()
	if s, err = Resume(dir, m); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Run(Options{Pair: sameRound, Both: both(Made), Make: made}); err != nil || !s.Complete() {
		t.Error(err)
	}
	if !slices.Equal(rounds, []int{1, 1, 2, 3}) {
		t.Errorf("rounds %v", rounds)
	}
	after := stored(t, dir)
	for i := 0; i < len(after.Trials); i += 2 {
		if a, b := after.Trials[i], after.Trials[i+1]; a.Broker < 3 || a.Broker+b.Broker != 3+4 {
			t.Errorf("round %d: brokers %d and %d", a.Round, a.Broker, b.Broker)
		}
	}
	if len(after.Brokers) != 4 {
		t.Errorf("%d brokers", len(after.Brokers))
	}
	if made, failed := attemptsOf(after.Trials[0]), attemptsOf(after.Trials[1]); made != "partner" || failed != "failed: it ended" {
		t.Errorf("attempts %q and %q", made, failed)
	}
}

// The failure of one trial is not the other's, which was ready and did not begin. If both fail, each has its own.
func TestAFailureIsOfOneTrialOfARound(t *testing.T) {
	for name, tt := range map[string]struct {
		states [2]State
		errs   [2]error
		want   [2]string // attempts
	}{
		"one cannot begin": {[2]State{Unbegun, Failed}, [2]error{nil, errors.New("no broker")}, [2]string{"", "failed: no broker"}},
		"both":             {[2]State{Failed, Failed}, [2]error{errors.New("one"), errors.New("two")}, [2]string{"failed: one", "failed: two"}},
		"both are stopped": {[2]State{Planned, Planned}, [2]error{}, [2]string{"stopped", "stopped"}},
	} {
		dir := t.TempDir()
		m := planOf(2, 1)
		s, err := New(dir, m)
		if err != nil {
			t.Fatal(err)
		}
		end := make(chan struct{})
		err = s.Run(Options{Ending: end, Pair: sameRound, Both: func(*[2]Turn) ([2]State, [2]error) { close(end); return tt.states, tt.errs }})
		for _, own := range tt.errs {
			if own != nil && !errors.Is(err, own) {
				t.Errorf("%s: %v", name, err)
			}
		}
		s.Close()
		if s, err = Resume(dir, m); err != nil {
			t.Fatal(err)
		}
		s.Close()
		for k, x := range stored(t, dir).Trials {
			if got := attemptsOf(x); got != tt.want[k] || x.State != Planned {
				t.Errorf("%s: %s, attempts %q", name, x.State, got)
			}
		}
	}
}

// attemptsOf has the endings of the attempts at a trial.
func attemptsOf(x Trial) string {
	var all []string
	for _, a := range x.Attempts {
		text := a.Ending
		if a.Error != "" {
			text += ": " + a.Error
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}
