package mem

import (
	"math/rand/v2"
	"sync"
)

// fault is what happens to a message. Its text is the name of the option that
// asks for it.
type fault string

const (
	none      fault = ""
	lose      fault = "lose"
	duplicate fault = "duplicate"
	reorder   fault = "reorder"
	corrupt   fault = "corrupt"
	loseAcked fault = "lose_acked"
	nack      fault = "nack"
	misreport fault = "misreport"
	reject    fault = "reject"
	doubleAck fault = "double_ack"
	ackLost   fault = "ack_lost"
	withhold  fault = "withhold"
	forget    fault = "forget"

	damageTwin fault = "damage_twin"
)

// count is a number of faults of one kind.
type count struct {
	fault fault
	n     int
}

// plan says which messages of a session are hit by what.
type plan struct {
	mu      sync.Mutex
	ordinal uint64 // of the next message, from the beginning
	rest    []appointment
}

// appointment is a fault for the message with the ordinal, or the first one
// after it that can take it.
type appointment struct {
	ordinal uint64
	fault   fault
}

// newPlan returns nil if there is nothing to do.
func newPlan(o *Options) *plan {
	var p plan
	for _, c := range o.counts() {
		for range c.n {
			p.rest = append(p.rest, appointment{fault: c.fault})
		}
	}
	if len(p.rest) == 0 {
		return nil
	}
	random := rand.New(rand.NewPCG(o.Seed, 0))
	random.Shuffle(len(p.rest), func(i, j int) { p.rest[i], p.rest[j] = p.rest[j], p.rest[i] })
	for i := range p.rest {
		p.rest[i].ordinal = o.After + uint64(i)*o.Every + random.Uint64N(o.Every)
	}
	return &p
}

// next returns the fault that hits the next message. One that cannot take any
// leaves the fault to the message after it.
func (p *plan) next(able bool) fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.ordinal
	p.ordinal++
	if !able || len(p.rest) == 0 || p.rest[0].ordinal > now {
		return none
	}
	f := p.rest[0].fault
	p.rest = p.rest[1:]
	return f
}
