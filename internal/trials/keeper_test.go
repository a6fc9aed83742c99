package trials

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// fake is a broker that notes its end.
type fake struct {
	name  string
	log   *[]string
	ended error
}

func (f *fake) String() string { return f.name }
func (f *fake) Err() error     { return f.ended }
func (f *fake) Stop()          { *f.log = append(*f.log, "-"+f.name) }

// A broker serves trials as long as its key is theirs; a cell that wants one of
// its own gets it, and so does the trial after a failure, a death, or one that
// spoiled it. The manifest says which served which, and why.
func TestKeeper(t *testing.T) {
	dir := t.TempDir()
	m := planOf(1, 11)
	m.Cells = append(m.Cells, Cell{Name: "fresh", Fresh: true})
	m.Trials[8].Cell = 1
	s, err := New(dir, m)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var log []string
	var last *fake
	err = s.Run(Options{Failures: 5, Make: func(turn *Turn) (State, error) {
		key := "a"
		if turn.Number == 3 || turn.Number == 4 {
			key = "b"
		}
		if turn.Number == 11 {
			return Made, nil // needs none
		}
		_, err := turn.Keeper.Get(key, func() (Broker, error) {
			if turn.Number == 7 && last.name == "4" {
				last = &fake{name: "none"}
				return nil, errors.New("does not start")
			}
			last = &fake{name: fmt.Sprint(len(s.Brokers) + 1), log: &log}
			log = append(log, "+"+last.name)
			return last, nil
		})
		if err != nil {
			return Failed, err
		}
		switch turn.Number {
		case 5:
			last.ended = errors.New("died")
		case 6:
			return Failed, errors.New("oh")
		case 10:
			turn.Keeper.Spoil("it was overloaded")
		}
		return Made, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(log, " "); got != "+1 -1 +2 -2 +3 -3 +4 -4 +5 -5 +6 -6" {
		t.Error(got)
	}
	after := stored(t, dir)
	var served, why []string
	for _, x := range after.Trials {
		served = append(served, fmt.Sprint(x.Broker))
	}
	for _, b := range after.Brokers {
		why = append(why, b.Why)
	}
	if got := strings.Join(served, " "); got != "1 1 2 2 3 4 0 5 5 6 0" {
		t.Error(got)
	}
	if got := strings.Join(why, "; "); got != "the first; the one before has other settings; the one before has other settings; the one before ended unexpectedly; a trial failed; the cell has one for each trial" {
		t.Error(got)
	}
}
