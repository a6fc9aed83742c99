package receive

import (
	"testing"
	"testing/synctest"
	"time"

	"sixnines/internal/clock"
	"sixnines/internal/engine/plan"
	"sixnines/internal/engine/window"
)

// The work on a message that comes just after the end of the work on the one before takes as long
// as any other, less the time by which the wake-up was late.
func TestWorkBeginsWithTheMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const takes, between, late = time.Millisecond, 30 * time.Microsecond, 20 * time.Microsecond
		w := work{plan: &plan.Plan{Control: &plan.Control{Life: window.NewLife(still{})}}, takes: takes}
		w.Do(clock.Now())
		for _, by := range []time.Duration{0, late} {
			w.back += int64(by)
			time.Sleep(by + between)
			began := time.Now()
			w.Do(clock.Now())
			if took := time.Since(began); took != takes-by {
				t.Errorf("after a wake-up that was %v late it takes %v, want %v", by, took, takes-by)
			}
		}
	})
}

// still is virtual time in which nobody waits for others.
type still struct{}

func (still) Quiesce(int) {}
