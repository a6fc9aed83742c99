package judge

import (
	"strings"
	"testing"
	"time"

	"sixnines/result"
)

func TestBacklog(t *testing.T) {
	level := func(window, drain func(second int) int64) *testbed {
		b := newTestbed(healthyMessages())
		for n, i := range b.intervals {
			switch i.v.Phase {
			case result.PhaseMeasure:
				i.v.InFlight = window(n)
			case result.PhaseDrain:
				i.v.Backlog = drain(n)
			}
		}
		return b
	}
	growing := func(n int) int64 { return int64(n) * 300 }
	tests := []struct {
		name          string
		window, drain func(int) int64
		lost          int64
		want          result.Status
	}{
		{"steady", func(int) int64 { return 500 }, func(int) int64 { return 500 }, 0, result.Valid},
		{"growing by what is lost", growing, func(int) int64 { return growing(seconds - 1) }, growing(seconds - 1), result.Valid},
		{"growing, half of it lost", growing, growing, growing(seconds-1) / 2, result.Unstable},
		{"growing, not returning", growing, growing, 0, result.Unstable},
		{"growing, gone in the drain", growing, func(n int) int64 { return int64(seconds+2-n) * 100 }, 0, result.Valid},
		{"growing, gone no faster than the load", func(n int) int64 { return int64(n) * 200 }, func(n int) int64 { return int64(seconds+2-n) * 100 }, 0, result.Unstable},
		{"falling", func(n int) int64 { return 5000 - growing(n) }, growing, 0, result.Valid},
		{"growing by a trifle", func(n int) int64 { return 5 + int64(n)/2 }, growing, 0, result.Valid},
		{"noise", func(n int) int64 { return int64(n*7919%13) * 100 }, growing, 0, result.Valid},
		{"a stall that is over", func(n int) int64 { return []int64{1, 1, 1, 1, 1, 1, 4000, 2000, 1, 1}[n] }, func(int) int64 { return 1 }, 0, result.Valid},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			// All measured messages are through a second after the window.
			b := level(tt.window, tt.drain)
			last := &b.intervals[len(b.intervals)-1].v.Counters
			last.Scheduled, last.Sent, last.Acked = last.Scheduled+tt.lost, last.Sent+tt.lost, last.Acked+tt.lost
			last.Expected, last.Missing, last.LostAcked = last.Expected+tt.lost, tt.lost, tt.lost
			if v := verdictOf(b.run(t), Inputs{Resolved: (seconds + 1) * 1e9}); v.Status != tt.want {
				t.Errorf("%s, want %s: %+v", v.Status, tt.want, v.Reasons)
			}
		})
	}
}

// If no message comes through any more, it is lost or a process hangs: that is no overload,
// and a lower rate would not help. Messages that come more slowly than they are due are one.
func TestNothingThatComesIsNoOverload(t *testing.T) {
	for name, tt := range map[string]struct {
		missing func(i int) bool
		want    result.Status
	}{
		"nothing at all":         {func(int) bool { return true }, result.Valid},
		"nothing from half on":   {func(i int) bool { return i > seconds*perSecond/2 }, result.Valid},
		"one in ten still comes": {func(i int) bool { return i > seconds*perSecond/2 && i%10 != 0 }, result.Unstable},
	} {
		ms := healthyMessages()
		for i := range ms {
			ms[i].missing = tt.missing(i)
		}
		b := newTestbed(ms)
		left := int64(0)
		for n, i := range b.intervals[:seconds] { // what never comes is in flight
			for k := range perSecond {
				if tt.missing(n*perSecond + k) {
					left++
				}
			}
			i.v.InFlight = left
		}
		for _, i := range b.intervals[seconds : seconds+3] {
			i.v.InFlight = left
		}
		v := verdictOf(b.run(t), Inputs{})
		if note := find(v, "nothing-came"); v.Status != tt.want || (note != nil) != (tt.want == result.Valid) || find(v, "backlog") != nil != (tt.want == result.Unstable) {
			t.Errorf("%s: %s: %+v", name, v, v.Reasons)
		}
	}
}

// One message that comes long after all others, because the broker gave it to a consumer that
// was lost, does not turn a stall at the window's end into an overload. It does not hide an
// overload either, if the backlog is cleared no faster than the load came.
func TestBacklogWithAStraggler(t *testing.T) {
	for _, tt := range []struct {
		name  string
		peak  int64
		drain [3]int64
		want  result.Status
	}{
		{"cleared at once", 6000, [3]int64{1, 1, 0}, result.Valid},
		{"cleared as fast as the load", 2000, [3]int64{1, 1, 0}, result.Unstable},
		{"more than stragglers left", 6000, [3]int64{400, 300, 0}, result.Unstable},
	} {
		b := newTestbed(healthyMessages())
		for n, i := range b.intervals {
			switch {
			case n == seconds-1:
				i.v.InFlight = tt.peak
			case n == seconds-2:
				i.v.InFlight = tt.peak / 2
			case n >= seconds && n < seconds+3:
				i.v.InFlight = tt.drain[n-seconds]
			}
		}
		b.intervals[seconds-3].v.InFlight = tt.peak / 4
		if v := verdictOf(b.run(t), Inputs{Resolved: (seconds + 3) * 1e9}); v.Status != tt.want {
			t.Errorf("%s: %s, want %s: %+v", tt.name, v.Status, tt.want, v.Reasons)
		}
	}
}

// Lost messages stay in flight but do not count as backlog from the instant at which they were
// due; queued messages beside them do.
func TestBacklogWithoutWhatIsLost(t *testing.T) {
	const slots = 10 // a second

	tests := []struct {
		name   string
		lost   func(second int64) int64 // due in it
		queued func(second int) int64
		want   result.Status
	}{
		{"half of all", func(int64) int64 { return perSecond / 2 }, func(int) int64 { return 50 }, result.Valid},
		{"2 % of all", func(int64) int64 { return perSecond / 50 }, func(int) int64 { return 100 }, result.Valid},
		{"only in the last third", func(s int64) int64 { return max(0, s-6) * 300 }, func(int) int64 { return 100 }, result.Valid},
		{"2 % beside a queue that grows", func(int64) int64 { return perSecond / 50 }, func(n int) int64 { return int64(n) * 200 }, result.Unstable},
		{"at first, then a queue that grows", func(s int64) int64 { return max(0, 3-s) * 500 }, func(n int) int64 { return int64(n) * 200 }, result.Unstable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newTestbed(healthyMessages())
			closing := &b.intervals[len(b.intervals)-1].v
			var lost int64
			for n, i := range b.intervals {
				if i.v.Phase == result.PhaseMeasure {
					if more := tt.lost(int64(n)); more > 0 {
						lost += more
						closing.Lost = append(closing.Lost, [2]int64{int64(n)*slots + 3, more})
					}
				}
				i.v.InFlight = lost + tt.queued(min(n, seconds-1))
			}
			c := &closing.Counters
			c.Scheduled, c.Sent, c.Unknown = lost, lost, lost
			c.Expected, c.Missing, c.MissingUnknown = lost, lost, lost
			if v := verdictOf(b.run(t), Inputs{Resolved: (seconds + 3) * 1e9}); v.Status != tt.want {
				t.Errorf("%s, want %s: %+v", v.Status, tt.want, v.Reasons)
			}
		})
	}
}

// A window of few intervals shows no trend, and does not count as free of overload.
func TestBacklogOfAShortWindow(t *testing.T) {
	for left, want := range map[int64]result.Status{100: result.Valid, 900: result.Suspect} {
		b := newTestbed(healthyMessages())
		kept := b.intervals[:0]
		for n, i := range b.intervals {
			if i.v.Phase != result.PhaseMeasure || n < 3 {
				kept = append(kept, i)
			}
		}
		b.intervals = kept
		b.intervals[2].v.InFlight = left
		v := verdictOf(b.run(t), Inputs{Resolved: 4e9})
		if r := find(v, "backlog"); (r != nil) != (want == result.Suspect) || r != nil && (r.Status != want || !strings.Contains(r.Text, "900 of its ")) {
			t.Errorf("%d left: %+v", left, r)
		}
	}
}

// Lost messages are subtracted evenly over the slot in which they were due, so a reading soon
// after the beginning of a slot is not lower by all of them.
func TestLostIsTakenOffEvenly(t *testing.T) {
	const ms = int64(time.Millisecond)
	r := &result.Run{Lost: [][2]int64{{0, 10}, {2, 20}}}
	r.Header.Slot = 100 * time.Millisecond
	r.Counters = result.Counters{Sent: 1000, Expected: 1000, Missing: 30}
	waiting := (&evidence{run: r}).waiting()
	for _, tt := range []struct {
		at   int64
		want float64
	}{{50 * ms, 95}, {100 * ms, 90}, {200 * ms, 90}, {210 * ms, 88}, {300 * ms, 70}, {999 * ms, 70}} {
		if got := waiting(result.Level{At: tt.at, InFlight: 100}); got != tt.want {
			t.Errorf("%g messages wait after %d ms, want %g", got, tt.at/ms, tt.want)
		}
	}
}
