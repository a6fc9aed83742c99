package network

import (
	"math"
	"testing"
	"time"

	"sixnines/scenario"
)

// walk has n packets of size bytes come one each gap, and calls see for each.
func walk(c scenario.Conditions, n int, size int64, gap time.Duration, see func(now, due int64, is fate)) Counts {
	s := newSchedule(queueSpec{Conditions: c, Seed: 3})
	for i := range n {
		now := int64(i) * int64(gap)
		due, _, is := s.packet(now, size)
		see(now, due, is)
	}
	return s.counts
}

func TestScheduleDelays(t *testing.T) {
	const delay, jitter = 5 * time.Millisecond, time.Millisecond
	last, sum := int64(0), int64(0)
	const n = 20_000
	walk(scenario.Conditions{Delay: delay, Jitter: jitter}, n, 0, 5*time.Millisecond, func(now, due int64, is fate) {
		late := time.Duration(due - now)
		if is != kept || due < last || late < delay-jitter || late > delay+jitter {
			t.Fatalf("a packet of %d leaves at %d, after %d, %v", now, due, last, is)
		}
		last, sum = due, sum+int64(late)
	})
	// The standard deviation of one is jitter/√3.
	if off := time.Duration(sum/n) - delay; math.Abs(float64(off)) > 5*float64(jitter)/math.Sqrt(3*n) {
		t.Errorf("%v more than %v on average", off, delay)
	}
}

// Packets that come closer together than their delays vary keep their order.
func TestScheduleKeepsOrder(t *testing.T) {
	last := int64(0)
	walk(scenario.Conditions{Delay: 5 * time.Millisecond, Jitter: 5 * time.Millisecond}, 10_000, 0, 10*time.Microsecond, func(_, due int64, _ fate) {
		if due < last {
			t.Fatalf("%d after %d", due, last)
		}
		last = due
	})
}

// A share of packets within five standard deviations.
func TestScheduleShares(t *testing.T) {
	const n, share = 100_000, 0.01
	allowed := 5 * math.Sqrt(n*share*(1-share))
	lost, overtakes := 0, 0
	c := walk(scenario.Conditions{Delay: 5 * time.Millisecond, Loss: share, Reorder: share}, n, 0, time.Millisecond, func(now, due int64, is fate) {
		switch is {
		case dropped:
			lost++
		case overtook:
			overtakes++
			if due != now {
				t.Fatalf("a packet of %d that overtakes leaves at %d", now, due)
			}
		}
	})
	if c.Packets != n || c.Lost != int64(lost) || c.Reordered != int64(overtakes) {
		t.Errorf("counted %+v; %d lost, %d overtook", c, lost, overtakes)
	}
	if math.Abs(float64(lost)-n*share) > allowed || math.Abs(float64(overtakes)-n*share*(1-share)) > allowed {
		t.Errorf("%d lost and %d overtook of %d", lost, overtakes, n)
	}
}

// At twice the rate half the packets leave, one after the other, and the queue is bounded.
func TestScheduleRate(t *testing.T) {
	const size, rate = 1500, 12_000_000 // a packet a millisecond
	last, waited := int64(0), int64(0)
	const n = 20_000
	c := walk(scenario.Conditions{Rate: rate}, n, size, 500*time.Microsecond, func(now, due int64, is fate) {
		if is != kept {
			return
		}
		if last > 0 && due-last != int64(time.Millisecond) {
			t.Fatalf("a packet leaves %v after the one before it", time.Duration(due-last))
		}
		last, waited = due, max(waited, due-now)
	})
	most := int64(backlogBytes) * 8 * int64(time.Second) / rate // more than 100 ms
	if waited > most+2*int64(time.Millisecond) || c.Overflow < n/2-most/int64(time.Millisecond)-2 {
		t.Errorf("%+v, and a packet waited %v", c, time.Duration(waited))
	}
}
