package natswire

import (
	"context"
	"errors"
	"strings"

	"github.com/nats-io/nats.go"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// Receiver is who gets the messages of subscriptions, by whichever way they come.
type Receiver struct {
	// Gate is held during Take, which is not called once it is shut.
	Gate *kit.Gate
	// Take gets a message. Its arguments are valid until it returns; reply is empty where
	// the sender wants no answer.
	Take func(subject, payload, reply []byte)
	// Status, if not nil, gets what the server says with a status instead of a message.
	// The gate is not held.
	Status func(m *nats.Msg, status string)
}

func (r *Receiver) deliver(subject, payload, reply []byte) {
	r.Gate.Lock()
	defer r.Gate.Unlock()
	if !r.Gate.IsShut() {
		r.Take(subject, payload, reply)
	}
}

// Subscription is one of nats.go's, by its number.
type Subscription struct {
	*nats.Subscription
	link *Link
	sid  int
}

// Subscribe subscribes for r. What can be goes past the library, unless r takes long,
// which would hold up others of the connection and in the end the server. Messages come
// with the subject of their own that carries says, which may end in ".*"; empty: with the
// subscription's.
func (l *Link) Subscribe(subject, group, carries string, slow bool, r *Receiver) (*Subscription, error) {
	l.subscribing.Lock()
	defer l.subscribing.Unlock()
	if carries == "" {
		carries = subject
	}
	s := &Subscription{link: l, sid: l.subscribed + 1}
	if l.direct && !slow {
		l.routes.set(s.sid, &route{routeOf(carries), r}) // before the first message can come
	}
	var err error
	if s.Subscription, err = l.nc.QueueSubscribe(subject, group, l.handler(r)); err != nil {
		l.routes.set(s.sid, nil)
		return nil, err
	}
	l.subscribed = s.sid
	return s, s.SetPendingLimits(-1, -1)
}

// handler returns what nats.go calls with the messages that it gets to see: all, or
// those with a status.
func (l *Link) handler(r *Receiver) nats.MsgHandler {
	var words []byte // reused: nats.go has a goroutine for each subscription
	return func(m *nats.Msg) {
		if r.Status != nil && len(m.Data) == 0 {
			if status := m.Header.Get("Status"); status != "" {
				r.Status(m, status)
				return
			}
		}
		n := len(m.Subject)
		words = append(append(words[:0], m.Subject...), m.Reply...)
		r.deliver(words[:n], m.Data, words[n:])
		l.Rest()
	}
}

// Settled waits until the server has the subscriptions to the subjects, or has refused
// one of them.
func (l *Link) Settled(ctx context.Context, subjects ...string) error {
	if err := l.Flush(ctx); err != nil {
		return err
	}
	// The server reports a refusal before it answers the flush, but does not
	// say to which connection's user: the text names the subject.
	last := l.nc.LastError()
	if errors.Is(last, nats.ErrMaxSubscriptionsExceeded) {
		return last
	}
	if errors.Is(last, nats.ErrPermissionViolation) {
		for _, subject := range subjects {
			if strings.Contains(last.Error(), `"`+subject+`"`) {
				return last
			}
		}
	}
	return nil
}

// End ends the subscription. It takes nats.go's lock, which may be stuck.
func (s *Subscription) End() {
	s.link.routes.set(s.sid, nil)
	s.link.reportDropped(s.Subscription)
	_ = s.Unsubscribe() // an error means that it is gone already
}

// reportDropped tells of messages for sub that nats.go has thrown away since the last
// report.
func (l *Link) reportDropped(sub *nats.Subscription) {
	total, err := sub.Dropped()
	if err != nil {
		return
	}
	l.mu.Lock()
	fresh := total - l.dropped[sub]
	l.dropped[sub] = total
	l.mu.Unlock()
	if fresh > 0 {
		l.Emit(driver.Event{Kind: driver.Dropped, Detail: sub.Subject, Count: fresh})
	}
}
