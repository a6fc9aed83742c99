package cli

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// Both runs begin at the later of the instants at which they could, the second one later by what was asked for; if
// one cannot begin, the other one does not wait for it, and one that is stopped stops waiting.
func TestRunsOfAPairBeginTogether(t *testing.T) {
	type answer struct {
		at  int64
		err error
	}
	begin := func(ctx context.Context, m *meeting, earliest int64, later time.Duration) chan answer {
		out := make(chan answer, 1)
		go func() {
			at, err := m.start(later)(ctx, earliest)
			out <- answer{at, err}
		}()
		return out
	}
	synctest.Test(t, func(t *testing.T) {
		m := newMeeting()
		a := begin(t.Context(), m, 100, 0)
		synctest.Wait()
		select {
		case x := <-a:
			t.Fatalf("it does not wait: %+v", x)
		default:
		}
		b := begin(t.Context(), m, 70, 9)
		if x := <-a; x != (answer{100, nil}) {
			t.Errorf("first: %+v", x)
		}
		if x := <-b; x != (answer{109, nil}) {
			t.Errorf("second: %+v", x)
		}
		m.leave() // the runs end
		m.leave()
	})
	synctest.Test(t, func(t *testing.T) {
		m := newMeeting()
		a := begin(t.Context(), m, 100, 0)
		m.leave()
		if x := <-a; !errors.Is(x.err, errPartner) {
			t.Errorf("without a partner: %+v", x)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		m := newMeeting()
		ctx, cancel := context.WithCancel(t.Context())
		a := begin(ctx, m, 100, 0)
		cancel()
		if x := <-a; !errors.Is(x.err, context.Canceled) {
			t.Errorf("stopped: %+v", x)
		}
	})
}
