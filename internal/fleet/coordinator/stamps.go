package coordinator

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/nats-io/nats.go"

	"sixnines/internal/clocksync"
	"sixnines/internal/fleet/control"
	"sixnines/internal/fleet/wire"
)

// How long an agent may take to tell what kernels stamped, for which it waits no longer than timePatience twice, and how often one
// that fails is asked again: a path that has let none through yet is taken for closed soon.
const (
	stampsWithin = time.Second
	timePatience = 250 * time.Millisecond
	newTries     = 2
	knownTries   = 8
)

// stamps compares agents' clocks with this one by what kernels stamp. Agents dial out, so what they ask is the machine of the
// control plane; the coordinator asks it as well, unless it has its clock.
type stamps struct {
	socket *clocksync.Socket
	same   bool
}

// newStamps returns nil if the control plane does not tell the time in this way.
func newStamps(nc *nats.Conn) *stamps {
	socket, err := control.DialTime(nc)
	if err != nil {
		return nil
	}
	mine, err := socket.Sight(timePatience)
	if err != nil {
		socket.Close()
		return nil
	}
	// Or a machine was resumed from another one's snapshot.
	same := mine.Clock == control.ClockName() && mine.T3 <= mine.T4 && mine.T1 <= mine.T2
	return &stamps{socket, same}
}

func (s *stamps) close() {
	if s != nil {
		s.socket.Close()
	}
}

// exchange has an agent ask the machine of the control plane for the time, and asks it, too.
func (s *stamps) exchange(ctx context.Context, r *run, m *member) (exchanged, error) {
	var mine clocksync.Sight
	var err error
	if !s.same {
		if mine, err = s.socket.Sight(timePatience); err != nil {
			return exchanged{}, err
		}
	}
	text, err := wire.Encode(r.Version, &wire.Ask{})
	if err != nil {
		return exchanged{}, err
	}
	within, cancel := context.WithTimeout(ctx, stampsWithin)
	defer cancel()
	answer, err := r.Conn.RequestWithContext(within, wire.RequestSubject(m.ID, wire.RequestStamps), text)
	if err != nil {
		return exchanged{}, err
	}
	stamped := &wire.Stamps{}
	if err := wire.Decode(r.Version, answer.Data, stamped); err != nil {
		return exchanged{}, err
	}
	theirs := stamped.Sight()
	if s.same {
		mine = clocksync.Sight{Exchange: theirs.There(), Kernel: true, Clock: control.ClockName()}
	}
	if mine.Clock != theirs.Clock {
		return exchanged{}, errors.New("the control plane has moved to another machine")
	}
	return seen(&mine, &theirs, rawHere()), nil
}

// seen is what two sights of the control plane's clock say of an agent's clock, against that of this process. here is a reading
// of this machine.
func seen(mine, theirs *clocksync.Sight, here clocksync.Reading) exchanged {
	x := exchanged{Exchange: clocksync.Joined(mine.Exchange, theirs.Exchange, twoClocks), raw: true, here: here, there: theirs.Here,
		came: here.At, kernel: mine.Kernel && theirs.Kernel}
	x.there.At += theirs.Here.Ahead - x.Offset() - here.Ahead // known to half of the delay, in which the agent's clocks part by little
	x.there.Width += int64(math.Ceil(twoClocks * float64(x.Delay())))
	return x
}

// asking returns how the agent's clock is asked: by what kernels stamp, as long as that comes, and else by messages. s is nil if it
// does not.
func (r *run) asking(ctx context.Context, s *stamps, m *member) func(number uint32) (exchanged, error) {
	tries := newTries
	return func(number uint32) (exchanged, error) {
		if s != nil && tries > 0 {
			x, err := s.exchange(ctx, r, m)
			switch {
			case err == nil:
				tries = knownTries
				return x, nil
			case errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil: // nothing is heard of it by messages either
				return exchanged{}, err
			}
			tries--
		}
		x, err := exchange(ctx, r.Conn, m.ID, number)
		return x.exchanged(), err
	}
}
