package readback

import (
	"testing"

	"sixnines/driver"
	"sixnines/internal/engine/stream"
	"sixnines/internal/integrity"
	"sixnines/internal/layout"
	"sixnines/result"
)

// Of what was read and could not be remembered it is not said that it is lost.
func TestForgottenIsNotLost(t *testing.T) {
	const apart, many = 4096, 1<<16 + 8 // more chunks of a ledger than it keeps incomplete
	l := integrity.NewLedger(0)
	for i := range uint64(many) {
		l.Mark(apart * i)
	}
	st := &stream.Stream{Plan: layout.Stream{}, First: 0, Last: apart * many}
	b := &Back{streams: []*stream.Stream{st}}
	b.places = []*place{{group: -1, read: true, Place: driver.Place{Log: true}, ledgers: []*integrity.Ledger{l}, forgotten: forgotten([]*integrity.Ledger{l})}}
	lost := 0
	for i := range uint64(many) {
		switch b.Fate(-1, st, apart*i) {
		case Kept:
		case Unread:
			lost++
		default:
			t.Fatalf("message %d was read", apart*i)
		}
	}
	if b.conclude(nil); lost == 0 || b.found.Outcome != result.ReadBackPartly || b.found.Why == "" || b.found.Whole || b.found.Places[0].Forgotten < int64(lost) {
		t.Errorf("%d forgotten: %+v", lost, b.found)
	}
}
