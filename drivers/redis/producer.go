package redis

import (
	"context"

	"sixnines/driver"
	"sixnines/drivers/internal/resp"
)

// subscriberWatch implements resp.Watch for the publishes of one connection.
type subscriberWatch struct {
	session *session
	name    string // of the connection
	unheard int    // publishes without subscribers since the last with one; used by the reader only
}

// Reply implements resp.Watch: an integer is the number of subscribers. A publish
// without subscribers is not a failure.
func (a *subscriberWatch) Reply(kind byte, n int64) error {
	if kind == resp.Integer {
		if n == 0 {
			a.unheard++
		} else if a.unheard > 0 {
			a.tell()
		}
	}
	return nil
}

// Lost implements resp.Watch.
func (a *subscriberWatch) Lost() {
	if a.unheard > 0 {
		a.tell()
	}
}

// tell reports consecutive publishes without subscribers in one event. A server of a cluster counts only its own; others
// get what is not sharded, too.
func (a *subscriberWatch) tell() {
	if a.session.awaited.Load() && (a.session.options.Sharded || !a.session.Clustered()) {
		a.session.Target.Notify(driver.Event{Kind: driver.Returned, Detail: a.name + ": published to no subscriber", Count: a.unheard})
	}
	a.unheard = 0
}

// Producer implements driver.Session.
func (s *session) Producer(ctx context.Context, spec driver.ProducerSpec, acks driver.Acks) (driver.Producer, error) {
	channel, err := s.channel(spec.Topic)
	if err != nil {
		return nil, err
	}
	if spec.Limited {
		s.limited.Store(true)
	}
	return s.producers.Add(ctx, spec, channel, resp.NewCommand(s.options.publish(), channel), acks)
}
