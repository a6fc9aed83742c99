package vitals

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sixnines/result"
)

// script is a watcher whose looks are given by the test.
type script struct {
	looks [][]Pause
	err   error
	ended bool
}

func (s *script) look(_ int64, out []Pause) ([]Pause, error) {
	if len(s.looks) == 0 {
		return out, s.err
	}
	out, s.looks = append(out, s.looks[0]...), s.looks[1:]
	return out, nil
}

func (s *script) close() { s.ended = true }

// scripted makes a watch of one source.
func scripted(source result.PauseSource, s *script) (w *watch, missed *[]string) {
	missed = &[]string{}
	w = newWatch(newPauseList(100), newPauseList(100),
		[]watcherOpener{{source, quickLook, func(int64) (watcher, error) { return s, nil }}}, 0,
		func(source result.PauseSource, err error) { *missed = append(*missed, string(source)+": "+err.Error()) })
	return w, missed
}

// at is an instant in looks.
func at(looks int64) int64 { return looks * quickLook }

func looks(from, to int64) Pause { return Pause{Start: at(from), End: at(to)} }

func named(source result.PauseSource, pauses ...Pause) []Pause {
	for i := range pauses {
		pauses[i].Source = source
	}
	return pauses
}

func TestStretchesThatMeetAreOne(t *testing.T) {
	s := &script{looks: [][]Pause{{looks(0, 1)}, {looks(1, 2)}, nil, {looks(3, 4)}, {looks(2, 5)}, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil}}
	w, _ := scripted(result.PauseSteal, s)
	for i := int64(1); i <= 4; i++ {
		w.look(at(i))
	}
	if diff := cmp.Diff(named(result.PauseSteal, looks(3, 4)), w.going(nil)); diff != "" {
		t.Errorf("going on (-want +got)\n%s", diff)
	}
	for i := int64(5); i <= 14; i++ {
		w.look(at(i))
	}
	if diff := cmp.Diff(named(result.PauseSteal, looks(0, 2), looks(2, 5)), w.pauses.list()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got := w.going(nil); got != nil {
		t.Errorf("%v goes on", got)
	}
}

// A call of NewPauses splits a stretch that goes on; no part is returned twice or lost.
func TestFlushSplitsStretches(t *testing.T) {
	s := &script{}
	for i := range int64(100) {
		s.looks = append(s.looks, []Pause{looks(i, i+1)})
	}
	w, _ := scripted(result.PauseThrottled, s)
	random := rand.New(rand.NewPCG(1, 2))
	var told []Pause
	for i := int64(1); i <= 100; i++ {
		w.look(at(i))
		if random.IntN(7) == 0 {
			w.flush(at(i)) // the last look is recent, so flush takes no new one
			told = w.pauses.unreported(told)
		}
	}
	w.flush(at(100))
	told = w.pauses.unreported(told)
	if len(told) < 5 {
		t.Fatalf("only %d stretches", len(told))
	}
	for i, p := range told {
		var before int64
		if i > 0 {
			before = told[i-1].End
		}
		if p.Start != before || p.End <= p.Start {
			t.Errorf("stretch %d is %v after %d", i, p, before)
		}
	}
	if last := told[len(told)-1].End; last != at(100) {
		t.Errorf("told up to %d of %d", last, at(100))
	}
}

func TestFlushLooksFirst(t *testing.T) {
	w, _ := scripted(result.PauseSwap, &script{looks: [][]Pause{{looks(0, 1)}}})
	w.flush(at(1))
	if diff := cmp.Diff(named(result.PauseSwap, looks(0, 1)), w.pauses.unreported(nil)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestWatcherThatFailsIsMissing(t *testing.T) {
	s := &script{looks: [][]Pause{{looks(0, 1)}}, err: errors.New("gone")}
	w, missed := scripted(result.PauseSwap, s)
	for i := int64(1); i <= 4; i++ {
		w.look(at(i))
	}
	if diff := cmp.Diff([]string{"swap: gone"}, *missed); diff != "" || !s.ended {
		t.Errorf("ended %v (-want +got)\n%s", s.ended, diff)
	}
	if diff := cmp.Diff(named(result.PauseSwap, looks(0, 1)), w.pauses.list()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// The idle process is in the generator's control groups: a gap of both that a quota causes
// says nothing about the machine.
func TestIdleGapsOfAQuotaAreNone(t *testing.T) {
	for _, c := range []struct {
		name      string
		throttled [][]Pause
		gap       Pause
		kept      bool
	}{
		{"no quota", nil, looks(2, 4), true},
		{"known at once", [][]Pause{nil, nil, nil, nil, {looks(2, 5)}}, looks(2, 4), false},
		{"known a look later", [][]Pause{nil, nil, nil, nil, nil, {looks(3, 6)}}, looks(2, 4), false},
		{"a small part of it", [][]Pause{nil, nil, nil, nil, {looks(4, 5)}}, looks(0, 5), true},
		{"many parts of it", [][]Pause{nil, {looks(-8, -7)}, {looks(-6, -5)}, {looks(-4, -3)}, {looks(-2, 2)}, {looks(3, 4)}}, looks(-8, 4), false},
		{"two parts of it", [][]Pause{nil, {looks(0, 2)}, nil, nil, {looks(4, 5)}}, looks(0, 5), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, _ := scripted(result.PauseThrottled, &script{looks: c.throttled})
			for i := int64(1); i <= 4; i++ {
				w.look(at(i))
			}
			c.gap.Source = result.PauseIdle
			w.idleGap(c.gap)
			for i := int64(5); i <= 8; i++ {
				w.look(at(i))
			}
			if kept := len(w.gaps.list()) == 1; kept != c.kept {
				t.Errorf("kept %v, want %v", kept, c.kept)
			}
		})
	}
}

func TestFullListForgetsWhatWasToldFirst(t *testing.T) {
	l := newPauseList(2)
	l.add(thread(0, 1000))
	l.add(thread(0, 500))
	l.unreported(nil)
	l.add(thread(0, 10))
	l.add(thread(0, 20))
	if diff := cmp.Diff([]Pause{thread(0, 20), thread(0, 10)}, l.unreported(nil)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	l.add(thread(0, 5))
	if got := l.unreported(nil); len(got) != 1 {
		t.Errorf("%v", got)
	}
	if got := l.unreported(nil); got != nil {
		t.Errorf("%v is told twice", got)
	}
}

// BenchmarkLook measures a look at all counters, the slow ones at their own rate. Times 50
// looks a second it is the share of a core.
func BenchmarkLook(b *testing.B) {
	list := newPauseList(4096)
	w := newWatch(list, list, watcherOpeners(), 0, func(source result.PauseSource, err error) { b.Logf("%s: %v", source, err) })
	defer w.close()
	b.ReportAllocs()
	now := int64(1)
	for b.Loop() {
		now += quickLook
		w.look(now)
	}
}

func TestStretch(t *testing.T) {
	for _, c := range []struct {
		name                  string
		from, to, grown, want int64 // looks
	}{
		{"an ordinary look", 9, 10, 0, 9},
		{"a late one", 8, 10, 0, 8},
		{"a stop of the process, and a little growth", 2, 20, 1, 18},
		{"growth all the time", 2, 20, 17, 3},
		{"more growth than time, of several processors", 2, 20, 40, 2},
	} {
		if got := stretch(at(c.from), at(c.to), at(c.grown), quickLook); got != looks(c.want, c.to) {
			t.Errorf("%s: from look %d", c.name, got.Start/quickLook)
		}
	}
}

// Pauses returns the pauses so far, in order of their start: the gaps of the
// meters beyond the threshold, and the stretches in which a counter grew, with
// touching ones joined. A pause that has not ended is included up to now, and is
// longer in the next call. Of more than Options.MaxPauses gaps (or stretches) the
// longest are kept, and those not yet returned by [Monitor.NewPauses] before
// others; the number dropped is a value of the samples and the second result of
// [Monitor.PauseCount].
func (m *Monitor) Pauses() []Pause {
	list := m.gaps(append(m.pauses.list(), m.stretches.list()...))
	list = m.watch.going(list)
	sortByStart(list)
	return list
}

// going appends the open stretches.
func (w *watch) going(out []Pause) []Pause {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, x := range w.list {
		if x.open != (Pause{}) {
			out = append(out, x.open)
		}
	}
	return out
}
