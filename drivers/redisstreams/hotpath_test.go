package redisstreams_test

import (
	"sync/atomic"
	"testing"

	"sixnines/driver"
	"sixnines/internal/brokers"
)

// tally counts without a lock, and tells when it has come to its goal.
type tally struct {
	n, goal atomic.Int64
	reached chan struct{}
}

func newTally() *tally { return &tally{reached: make(chan struct{}, 1)} }

func (a *tally) Done(uint64, error)     { a.add() }
func (a *tally) deliver(driver.Message) { a.add() }

func (a *tally) add() {
	if a.n.Add(1) == a.goal.Load() {
		a.reached <- struct{}{}
	}
}

// TestMessagesDoNotAllocate counts allocations of sender, of the reader of
// answers and of the consumer, which acknowledges, together.
func TestMessagesDoNotAllocate(t *testing.T) {
	c := start(t, brokers.Options{})
	for name, batch := range map[string]bool{"paced": false, "batch": true} {
		for _, group := range []string{"", "g0"} {
			s := openTarget(t, driver.Target{URL: c.URL, Batch: batch})
			provision(t, s, "g0")
			acks, got := newTally(), newTally()
			join(t, s, driver.ConsumerSpec{Group: group}, got.deliver)
			p := producerOf(t, s, acks)
			payload := make([]byte, 256)
			round := func() {
				acks.goal.Add(100)
				got.goal.Add(100)
				for range 100 {
					if err := p.Send(1, payload); err != nil {
						t.Fatal(err)
					}
				}
				if f, ok := p.(driver.Flusher); ok {
					if err := f.Flush(); err != nil {
						t.Fatal(err)
					}
				}
				<-acks.reached
				<-got.reached
			}
			for range 30 { // until buffers have grown
				round()
			}
			if n := testing.AllocsPerRun(50, round); n > 3 { // of the runtime's own
				t.Errorf("%s, group %q: %v allocations for each 100 messages", name, group, n)
			}
			if err := s.Deprovision(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
}
