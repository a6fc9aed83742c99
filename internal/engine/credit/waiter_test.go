package credit

import (
	"testing"

	"sixnines/internal/engine/stream"
)

// However many late answers come at once, the loop gets the answer that it still waits for.
func TestLateAnswersTakeNoPlaceOfOthers(t *testing.T) {
	const given = 1000
	w := &stream.Waiter{Ready: make(chan stream.Completion, 2)}
	w.Lapsed.Store(given)
	for seq := range uint64(given + 1) {
		w.Complete(seq, 1)
	}
	if n := len(w.Ready); n != 1 {
		t.Fatalf("%d answers are waited for", n)
	}
	if a := <-w.Ready; a.Seq != given {
		t.Errorf("the answer is that to message %d", a.Seq)
	}
}
