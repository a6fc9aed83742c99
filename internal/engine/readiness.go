package engine

import (
	"context"
	"fmt"
	"time"

	"sixnines/driver"
	"sixnines/internal/clock"
	"sixnines/internal/engine/send"
	"sixnines/internal/engine/window"
	"sixnines/internal/spell"
	"sixnines/result"
)

// awaitReadiness sends to every topic until every delivery group has received a message: only after
// that is a message that does not arrive a loss.
func (ld *load) awaitReadiness(ctx context.Context) error {
	began := clock.Now()
	if ld.tries() {
		if err := ld.try(ctx); err != nil {
			return err
		}
	}
	if ld.Flow.Publishes || ld.Workload.Existing != "" || len(ld.receiving.Late.Consumers) > 0 {
		// A broker that keeps messages loses none here, and a message that is sent now would be kept and
		// come before all others.
		return nil
	}
	for round := 0; ; round++ {
		missing := -1
		for t := range ld.Layout.Topics {
			if ld.receiving.SeenEverywhere(t) {
				continue
			}
			missing = t
			for _, st := range ld.sending.Streams {
				if st.Plan.Topic == t && (round > 0 || !ld.tries()) {
					// Where the client still has all payloads, one of the messages before will do.
					if err := ld.sending.SendReadiness(st); err != nil && err != send.ErrKept {
						return fmt.Errorf("first message to topic %s: %w", ld.Layout.Topics[t], err)
					}
					break
				}
			}
		}
		if missing < 0 {
			break
		}
		// Wait a moment for the round, longer each time, then send again.
		patience := time.Now().Add(min(time.Second, 5*time.Millisecond<<min(round, 8)))
		for time.Now().Before(patience) && !ld.receiving.SeenEverywhere(missing) {
			select {
			case <-ctx.Done():
				return fmt.Errorf("%w: no consumer of topic %s has received a message in %s, and the broker reports no error; check that this user may publish and read there, that no other program consumes from it, and that the broker is not overloaded",
					driver.ErrTimeout, ld.Layout.Topics[missing], spell.Period(time.Duration(clock.Now()-began).Round(time.Millisecond)))
			case <-time.After(200 * time.Microsecond):
			}
			ld.Quiesce(window.OrderRun)
		}
	}
	if !ld.Crosses() { // another process sent it, by a clock that nobody has compared with this one yet
		ld.session.SetupTimes = append(ld.session.SetupTimes, result.SetupTime{Name: "first message", Duration: time.Duration(ld.receiving.FirstTook.Load())})
	}
	ld.session.SetupTimes = append(ld.session.SetupTimes, result.SetupTime{Name: "until every consumer received a message", Duration: time.Duration(ld.receiving.ReadyAt.Load() - began)})
	return nil
}
