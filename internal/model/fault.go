package model

import (
	"math/rand/v2"

	"sixnines/drivers/mem"
)

// fault is what mem does to a message, by the name of its option.
type fault string

const (
	unharmed  fault = ""
	lost      fault = "lose"
	doubled   fault = "duplicate"
	held      fault = "reorder"
	damaged   fault = "corrupt"
	lostAcked fault = "lose_acked"
	refused   fault = "nack"
	slandered fault = "misreport"
	rejected  fault = "reject"
	ackedTwo  fault = "double_ack"
	ackedNot  fault = "ack_lost"
	twinned   fault = "damage_twin" // came damaged, and then whole
	cutOff    fault = "disconnect"  // it found its connection lost
)

// placement decides which messages have mem's faults. Only messages of the window and later
// ones count. The first After of them have no fault. Then each Every messages contain one
// fault: Seed decides the order of the faults and the place of each. A message that cannot
// have its fault passes it on to the next one.
type placement struct {
	next   uint64
	places []uint64
	faults []fault
}

// place draws the placement from the stream PCG(Seed, 0): first a shuffle of the faults,
// starting in the order of the options, then a place for each.
func place(o *mem.Options) *placement {
	var p placement
	for _, f := range []struct {
		fault fault
		n     int
	}{
		{lost, o.Lose}, {doubled, o.Duplicate}, {held, o.Reorder}, {damaged, o.Corrupt},
		{lostAcked, o.LoseAcked}, {refused, o.Nack}, {slandered, o.Misreport}, {rejected, o.Reject},
		{ackedTwo, o.DoubleAck}, {ackedNot, o.AckLost}, {twinned, o.DamageTwin},
	} {
		for range f.n {
			p.faults = append(p.faults, f.fault)
		}
	}
	r := rand.New(rand.NewPCG(o.Seed, 0))
	r.Shuffle(len(p.faults), func(i, j int) { p.faults[i], p.faults[j] = p.faults[j], p.faults[i] })
	for i := range p.faults {
		p.places = append(p.places, o.After+uint64(i)*o.Every+r.Uint64N(o.Every))
	}
	return &p
}

// hit returns the fault of the next message; able says whether the message can have one.
func (p *placement) hit(able bool) fault {
	n := p.next
	p.next++
	if !able || len(p.faults) == 0 || p.places[0] > n {
		return unharmed
	}
	f := p.faults[0]
	p.faults, p.places = p.faults[1:], p.places[1:]
	return f
}
