package network

import (
	"math/rand/v2"
	"time"

	"sixnines/scenario"
)

const (
	// backlogTime and backlogBytes bound the queue of a rate: the larger of the two.
	backlogTime  = 100 * time.Millisecond
	backlogBytes = 256 << 10
)

// schedule decides when each packet of a way is to leave. It is used by one goroutine.
type schedule struct {
	conditions scenario.Conditions
	back       scenario.Conditions
	random     *rand.Rand
	free       int64 // when the line of the rate has sent what it has
	last       int64 // when the last packet that kept its place leaves
	counts     Counts
}

func newSchedule(s queueSpec) *schedule {
	return &schedule{conditions: s.Conditions, back: s.Back, random: rand.New(rand.NewPCG(s.Seed, 37))}
}

// fate is what happens to a packet.
type fate byte

const (
	kept     fate = iota // it leaves when it is due, after those before it
	overtook             // it leaves at once, before those that wait
	dropped
)

// packet decides about a packet of size bytes that comes at now, CLOCK_MONOTONIC ns: when it leaves if it is
// kept, and whether it waits for those before it since the rate is the limit. Instants of kept packets never decrease.
func (s *schedule) packet(now, size int64) (due int64, limited bool, is fate) {
	c := &s.counts
	c.Packets++
	if s.draw(s.conditions.Loss) {
		c.Lost++
		return 0, false, dropped
	}
	due = now
	if r := int64(s.conditions.Rate); r > 0 {
		takes := size * 8 * int64(time.Second) / r
		most := max(int64(backlogTime), backlogBytes*8*int64(time.Second)/r)
		switch waiting := s.free - now; {
		case waiting > most:
			c.Overflow++
			return 0, false, dropped
		case waiting > 0:
			s.free += takes
			limited = true
		default:
			s.free = now + takes
		}
		due = s.free
	}
	if s.draw(s.conditions.Reorder) && due < s.last {
		c.Reordered++
		return due, limited, overtook
	}
	due += int64(s.delay(s.conditions) + s.delay(s.back))
	s.last = max(s.last, due)
	return s.last, limited, kept
}

func (s *schedule) draw(p scenario.Share) bool { return p > 0 && s.random.Float64() < float64(p) }

// delay draws a delay, evenly between delay − jitter and delay + jitter.
func (s *schedule) delay(c scenario.Conditions) time.Duration {
	if c.Jitter <= 0 {
		return c.Delay
	}
	return c.Delay + time.Duration(s.random.Int64N(2*int64(c.Jitter)+1)) - c.Jitter
}
