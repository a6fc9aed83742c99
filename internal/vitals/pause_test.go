package vitals

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sixnines/result"
)

func thread(start, end int64) Pause    { return Pause{start, end, result.PauseThread} }
func goroutine(start, end int64) Pause { return Pause{start, end, result.PauseGoroutine} }
func process(start, end int64) Pause   { return Pause{start, end, result.PauseProcess} }

func TestFreezes(t *testing.T) {
	for _, c := range []struct {
		name   string
		pauses []Pause
		want   []Pause
	}{
		{"nothing", nil, nil},
		{"one meter alone", []Pause{thread(0, 100), thread(200, 300)}, nil},
		{"one after the other", []Pause{thread(0, 100), goroutine(100, 200)}, nil},
		{"together", []Pause{goroutine(12, 102), thread(10, 100)}, []Pause{process(12, 100)}},
		{"a long one over two short ones", []Pause{goroutine(0, 100), thread(60, 70), thread(10, 20)}, []Pause{process(10, 20), process(60, 70)}},
		{"pauses that meet are one", []Pause{goroutine(0, 100), thread(50, 80), thread(10, 50), thread(20, 30)}, []Pause{process(10, 80)}},
		{"an empty one is none", []Pause{goroutine(0, 100), thread(50, 50), thread(70, 60)}, nil},
		{"its own results do not count", []Pause{process(0, 100), thread(0, 100)}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := slices.Clone(c.pauses)
			if diff := cmp.Diff(c.want, Freezes(c.pauses)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(before, c.pauses); diff != "" {
				t.Errorf("the argument was changed:\n%s", diff)
			}
		})
	}
}

// At every instant: frozen if and only if both meters are paused.
func TestFreezesInstantByInstant(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	const end = 60
	for range 2000 {
		var pauses []Pause
		var paused [2][end]bool
		for range random.IntN(12) {
			which := random.IntN(2)
			p := Pause{Source: []result.PauseSource{result.PauseThread, result.PauseGoroutine}[which], Start: random.Int64N(end)}
			p.End = p.Start + random.Int64N(end-p.Start+1)
			for i := p.Start; i < p.End; i++ {
				paused[which][i] = true
			}
			pauses = append(pauses, p)
		}
		var frozen [end]bool
		last := int64(-1)
		for _, f := range Freezes(pauses) {
			if f.Start < last || f.Start >= f.End || f.Source != result.PauseProcess {
				t.Fatalf("%v: freeze %v after %d", pauses, f, last)
			}
			for last = f.Start; last < f.End; last++ {
				frozen[last] = true
			}
		}
		for i := range end {
			if both := paused[0][i] && paused[1][i]; frozen[i] != both {
				t.Fatalf("%v: at %d frozen is %v, want %v", pauses, i, frozen[i], both)
			}
		}
	}
}

func TestFullListKeepsTheLongest(t *testing.T) {
	l := newPauseList(3)
	for _, length := range []int64{5, 900, 7, 6, 8, 1, 10} {
		l.add(thread(1000-length, 1000))
	}
	want := []Pause{thread(100, 1000), thread(990, 1000), thread(992, 1000)}
	if diff := cmp.Diff(want, l.list()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if added, dropped := l.totals(); added != 7 || dropped != 4 {
		t.Errorf("%d added, %d dropped; want 7, 4", added, dropped)
	}
}
