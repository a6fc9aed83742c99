package compare

import (
	"cmp"

	"sixnines/result"
)

// The guarantees whose level drivers state.
const (
	durability     = "durability"
	replication    = "replication"
	acknowledgment = "acknowledgment"
	ordering       = "ordering"
	delivery       = "delivery guarantee"
)

// Guarantee reports whether the difference is in what a broker promises.
func (d Difference) Guarantee() bool { return d.Why == whyPromise }

// compareGuarantee ranks what two runs promise by the levels that their drivers state:
// -1, 0 or 1 as a promises less than b, as much or more. It is false where one of them
// cannot tell, or is of a file without levels.
func compareGuarantee(name string, a, b *result.Header) (order int, ranked bool) {
	of, to := &a.Semantics.Levels, &b.Semantics.Levels
	switch name {
	case durability:
		return of.Durability.Compare(to.Durability)
	case replication:
		return of.Replication.Compare(to.Replication)
	case ordering:
		return of.Ordering.Compare(to.Ordering)
	case delivery:
		return of.Delivery.Compare(to.Delivery)
	case acknowledgment: // what it proves is what the others say
		return cmp.Compare(confirms(a), confirms(b)), a.Ack != "" && b.Ack != ""
	}
	return 0, false
}

// confirms is 1 if the broker confirms a message to its sender, else 0.
func confirms(h *result.Header) int {
	if h.Ack == "none" {
		return 0
	}
	return 1
}

// weigh decides what unlike words about a guarantee are. Two drivers say the same in
// other words where their levels are equal: then it is another way to the same guarantee.
// One driver's words differ only where its settings do.
func (d *Difference) weigh(a, b *result.Header) {
	d.order, d.ranked = compareGuarantee(d.What, a, b)
	if a.Driver != b.Driver && d.ranked && d.order == 0 {
		d.Weight, d.Why = Large, whyMeans
	}
}

// behindWords is the difference that there may be although both sets say the same of a
// guarantee: their levels are unlike, or one cannot tell its own. Two brokers of one driver
// may still be alike in what nobody can tell; of two drivers it is not to be believed.
func behindWords(a attribute, of, to *result.Header) (Difference, bool) {
	order, ranked := compareGuarantee(a.name, of, to)
	d := Difference{What: a.name, A: a.value, B: a.value, Weight: Decisive, Why: whyPromise, from: a.from, order: order, ranked: ranked}
	if !ranked && of.Driver == to.Driver {
		d.Weight, d.Why = Large, "whether they are alike is not known"
	}
	return d, stated(a.name, of) && stated(a.name, to) && (!ranked || order != 0)
}

// stated reports whether the driver states the level of a guarantee, be it that it is not
// known. Files from before there were levels state none.
func stated(name string, h *result.Header) bool {
	l := &h.Semantics.Levels
	return map[string]bool{
		durability: l.Durability != "", replication: l.Replication.Level != "", ordering: l.Ordering != "", delivery: l.Delivery != "",
	}[name]
}
