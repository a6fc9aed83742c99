package mem

import (
	"math/rand/v2"
	"testing"
)

// Whatever the options, each fault is given out exactly once, none before its
// time, and all by the time that is promised.
func TestPlan(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for round := range 300 {
		o := DefaultOptions()
		o.Begin = beginOpen
		o.Seed = random.Uint64()
		o.After, o.Every = random.Uint64N(100), 1+random.Uint64N(20)
		want, sum := map[fault]int{}, uint64(0)
		for _, c := range []struct {
			n *int
			f fault
		}{
			{&o.Lose, lose}, {&o.Duplicate, duplicate}, {&o.Reorder, reorder}, {&o.Corrupt, corrupt}, {&o.LoseAcked, loseAcked},
			{&o.Nack, nack}, {&o.Misreport, misreport}, {&o.Reject, reject}, {&o.DoubleAck, doubleAck}, {&o.AckLost, ackLost},
		} {
			if *c.n = random.IntN(10); *c.n > 0 {
				want[c.f], sum = *c.n, sum+uint64(*c.n)
			}
		}
		p := newPlan(&o)
		if sum == 0 {
			if p != nil {
				t.Fatal("a plan without faults")
			}
			continue
		}
		got := map[fault]int{}
		for n := range o.After + o.Every*sum {
			f := p.next(true)
			if f != none && n < o.After {
				t.Fatalf("round %d: %s hits message %d, before %d", round, f, n, o.After)
			}
			got[f]++
		}
		delete(got, none)
		for f, n := range want {
			if got[f] != n {
				t.Fatalf("round %d: %d times %s instead of %d", round, got[f], f, n)
			}
		}
		if len(got) != len(want) {
			t.Fatalf("round %d: %v instead of %v", round, got, want)
		}
	}
}

// A message that cannot be hit leaves the fault to the next one that can.
func TestPlanDefers(t *testing.T) {
	o := DefaultOptions()
	o.Begin = beginOpen
	o.After, o.Every, o.Lose = 0, 1, 10
	p, hit := newPlan(&o), 0
	for n := range 20 {
		f := p.next(n%2 == 1)
		if n%2 == 0 && f != none {
			t.Fatalf("message %d cannot be hit, but is by %s", n, f)
		}
		if f == lose {
			hit++
		}
	}
	if hit != 10 {
		t.Errorf("%d messages were hit instead of 10", hit)
	}
}
