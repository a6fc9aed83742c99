package engine

import (
	"strings"
	"testing"

	"sixnines/drivers/mem"
	"sixnines/result"
)

// What is read back of a load without a schedule, which ends with its last message, belongs to the window as
// much as that of others.
func TestReadBackWithoutSchedule(t *testing.T) {
	for _, load := range []string{
		strings.Replace(keptLoad("{rate: max, messages: 500, pattern: publish, producers: 2}", "lose_acked: 7, after: 100, every: 9"), "duration: 1s, ", "", 1),
		keptLoad("{loop: closed, pattern: publish, producers: 2}", "ack_delay: 1ms, lose_acked: 7, after: 100, every: 9"),
	} {
		r := measureReally(t, load, mem.Entry())
		b, n := r.ReadBack, r.Counters
		if b == nil || b.Outcome != result.ReadBackDone || n.Acked == 0 || b.LostAcked != 7 || b.Kept != n.Acked-7 {
			t.Errorf("%s: %d acknowledged: %+v", load, n.Acked, b)
		}
	}
}
