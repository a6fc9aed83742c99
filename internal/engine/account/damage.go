package account

import (
	"cmp"
	"slices"

	"sixnines/internal/engine/receive"
	"sixnines/internal/engine/stream"
	"sixnines/internal/integrity"
)

// damage finds what the deliveries are that came damaged, see [judge.SettleDamaged].
type damage struct {
	known, copies int64
	claims        []receive.Claim // of the stream and group at hand, in order
}

// of goes on with a stream and group. A delivery whose message is in the ledger may be a copy, or its number may be
// damaged. Where a schedule says when each message was due, that instant is in its envelope too, and the two would not
// be damaged alike.
func (d *damage) of(a *Accounts, claims []receive.Claim, st *stream.Stream, ledger *integrity.Ledger, intended func(*stream.Stream, uint64, int64) int64) {
	d.claims = claims
	for _, c := range claims {
		switch {
		case c.Number < st.First || c.Number >= st.Last: // it was not sent in the window
		case !ledger.Has(c.Number):
			d.copies += c.Deliveries - 1
		case a.Schedule != nil && c.Intended == intended(st, c.Number, a.End.Load()):
			d.copies += c.Deliveries
		}
	}
}

// came reports whether a message that did not come whole came damaged, and counts it.
func (d *damage) came(number uint64) bool {
	_, found := slices.BinarySearchFunc(d.claims, number, func(c receive.Claim, n uint64) int { return cmp.Compare(c.Number, n) })
	if found {
		d.known++
	}
	return found
}
