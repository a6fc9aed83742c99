package send

import (
	"slices"
	"testing"
	"time"

	"sixnines/internal/clock"
)

// One pacer has too much to do if it has no rest, is far behind, or has long sends that often meet.
func TestTooMuch(t *testing.T) {
	const ms, us = int64(time.Millisecond), int64(time.Microsecond)
	for name, tt := range map[string]struct {
		effort
		want bool
	}{
		"idle":                     {effort{}, false},
		"short sends":              {effort{busy: 50 * ms, sends: 2500}, false},
		"short sends, no rest":     {effort{busy: 71 * ms, sends: 7100}, true},
		"no processor":             {effort{busy: 30 * ms, late: 2501 * ms, sends: 2500}, true},
		"some wait for one":        {effort{busy: 30 * ms, late: 2499 * ms, sends: 2500}, false},
		"long sends":               {effort{busy: 11 * ms, sends: 11 * ms / (40 * us)}, true},
		"long sends, but few":      {effort{busy: 9 * ms, sends: 9 * ms / (40 * us)}, false},
		"sends that wait at times": {effort{busy: 45 * ms, sends: 2000}, false},
	} {
		if got := tt.tooMuch(100 * ms); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A pacer that has too much to do at two looks in a row gives half of its lanes away, where they are
// in their schedules, as long as more pacers are allowed.
func TestPacerDivides(t *testing.T) {
	ld := lanesRun(t, "{rate: 50000/s, arrivals: poisson, pattern: publish, producers: 7, size: 64B}")
	ld.Stopped.Store(true) // the other pacers' threads end at once
	ld.sending.Pacing.more = 2
	p := &Pacer{sending: ld.sending, control: ld.Control, queue: slices.Clone(ld.sending.Lanes)}
	var want []int64
	for _, l := range ld.sending.Lanes {
		want = append(want, l.cursor.intended)
	}
	now := clock.Now()
	look := func(busy float64) int { // of the time since the last look
		p.slept += int64((1 - busy) * float64(divideEvery))
		p.sends += 5000
		now += int64(divideEvery)
		p.mayDivide(now)
		return len(p.queue)
	}
	for n, step := range []struct {
		busy float64
		left int
	}{
		{1, 7}, {1, 7}, // the first look has nothing to compare with
		{1, 4}, {1, 4}, {0.5, 4}, {1, 4}, {0.5, 4}, // half stay, and a single look says nothing
		{1, 4}, {1, 2}, {1, 2}, {1, 2}, {1, 2}, // no more may be
	} {
		if left := look(step.busy); left != step.left {
			t.Fatalf("%d lanes are left after look %d, want %d", left, n, step.left)
		}
	}
	ld.sending.Senders.Wait()
	all := slices.Clone(p.queue)
	for _, other := range ld.sending.Pacing.List() {
		all = append(all, other.queue...)
		for _, l := range other.queue {
			if l.Credits.Free.Waiter.Load() != &other.sleeper {
				t.Error("a place of a lane that was given away is told to another pacer")
			}
		}
	}
	if n := len(ld.sending.Pacing.List()); n != 2 || len(all) != 7 {
		t.Fatalf("%d more pacers, %d lanes in all", n, len(all))
	}
	for i, l := range ld.sending.Lanes {
		if !slices.Contains(all, l) || l.cursor.intended != want[i] {
			t.Errorf("lane %d has no pacer, or is elsewhere in its schedule", i)
		}
	}
}
