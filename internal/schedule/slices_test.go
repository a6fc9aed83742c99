package schedule

import (
	"testing"
	"time"
)

// In slices a load has the instants of the sum of its slices, moved into these, in the warm-up, the window and after it;
// two loads in turn are never due at the same time.
func TestSlices(t *testing.T) {
	const on, every, window, warmup = 90 * time.Millisecond, 200 * time.Millisecond, 2 * time.Second, 400 * time.Millisecond
	for name, w := range kinds(t, 3) {
		whole, err := New(w, window/every*on, 7)
		if err != nil {
			t.Fatal(err)
		}
		for _, after := range []time.Duration{0, 100 * time.Millisecond} {
			s := &Slices{On: on, Every: every, After: after}
			p, err := InSlices(w, window, 7, s)
			if err != nil {
				t.Fatal(err)
			}
			p = p.WithWarmup(warmup)
			whole := whole.WithWarmup(warmup / every * on)
			if a, b := p.MeanRate()*window.Seconds(), whole.MeanRate()*(window/every*on).Seconds(); a < b*0.999999 || a > b*1.000001 {
				t.Errorf("%s: %v messages in the mean, want %v", name, a, b)
			}
			for _, phase := range []Phase{Before, Window, After} {
				got := drain(t, p.Merge([]int{0, 1, 2}, phase).Next, int64(window+every))
				want := drain(t, whole.Merge([]int{0, 1, 2}, phase).Next, int64(window/every*on+on))
				if len(got) != len(want) {
					t.Fatalf("%s, phase %d: %d messages, want %d", name, phase, len(got), len(want))
				}
				for i := range got {
					in := floorMod(got[i].t, int64(every)) - int64(after)
					if in < 0 || in >= int64(on) || s.own(got[i].t) != want[i].t || got[i].producer != want[i].producer {
						t.Fatalf("%s, phase %d, message %d: %+v, of %+v", name, phase, i, got[i], want[i])
					}
				}
			}
			c, n := p.Producer(1), uint64(0)
			for last := int64(-1); ; n++ {
				at, ok := c.Next()
				if !ok {
					break
				}
				if in := floorMod(at, int64(every)) - int64(after); in < 0 || in >= int64(on) || at < last {
					t.Fatalf("%s: producer 1 is due at %d", name, at)
				}
				last = at
			}
			if n != p.CountProducer(1) {
				t.Errorf("%s: %d messages of producer 1, want %d", name, n, p.CountProducer(1))
			}
		}
	}
	w := kinds(t, 1)["constant"]
	for _, s := range []Slices{{0, 1, 0}, {2, 1, 0}, {1, 2, 2}, {1, 2, -1}, {time.Second, 10 * time.Second, 8 * time.Second}, {1, maxPeriod + 1, 0}} {
		if _, err := InSlices(w, window, 7, &s); err == nil {
			t.Errorf("%+v is accepted", s)
		}
	}
}
