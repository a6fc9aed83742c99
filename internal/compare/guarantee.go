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

// Guarantee reports whether the difference is one of delivery guarantees.
func (d Difference) Guarantee() bool { return d.Why == whyPromise }

// compareGuarantee ranks a guarantee of two runs by the levels that their drivers state: -1,
// 0 or 1 if a promises less than b, the same or more. ranked is false if one driver does not
// know its level, or if a file has no levels.
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
	case acknowledgment: // the other guarantees say what an acknowledgement proves
		return cmp.Compare(confirms(a), confirms(b)), a.Ack != "" && b.Ack != ""
	}
	return 0, false
}

// confirms is 1 if the broker acknowledges a message to its sender, else 0.
func confirms(h *result.Header) int {
	if h.Ack == "none" {
		return 0
	}
	return 1
}

// weigh sets the weight of a guarantee that the two sets describe in different words. If two
// drivers state the same level, the difference is only another way to the same guarantee.
// One driver's words differ only if its settings do, so that stays decisive.
func (d *Difference) weigh(a, b *result.Header) {
	d.order, d.ranked = compareGuarantee(d.What, a, b)
	if a.Driver != b.Driver && d.ranked && d.order == 0 {
		d.Weight, d.Why = Large, whyMeans
	}
}

// behindWords returns the difference in a guarantee that both sets describe in the same words:
// their levels differ, or one level is unknown. may is false if neither is so. An unknown
// level is a large difference between brokers of one driver, and a decisive one between two
// drivers.
func behindWords(a attribute, of, to *result.Header) (Difference, bool) {
	order, ranked := compareGuarantee(a.name, of, to)
	d := Difference{What: a.name, A: a.value, B: a.value, Weight: Decisive, Why: whyPromise, from: a.from, order: order, ranked: ranked}
	if !ranked && of.Driver == to.Driver {
		d.Weight, d.Why = Large, "it is not known whether they are the same"
	}
	return d, stated(a.name, of) && stated(a.name, to) && (!ranked || order != 0)
}

// stated reports whether the driver states a level of a guarantee, even if that is "unknown".
// Files of versions without levels state none.
func stated(name string, h *result.Header) bool {
	l := &h.Semantics.Levels
	return map[string]bool{
		durability: l.Durability != "", replication: l.Replication.Level != "", ordering: l.Ordering != "", delivery: l.Delivery != "",
	}[name]
}
