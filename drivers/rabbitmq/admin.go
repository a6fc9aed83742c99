package rabbitmq

import (
	"context"
	"fmt"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/drivers/internal/rabbit"
	"sixnines/drivers/rabbitmq/wire"
)

// admin declares and deletes.
type admin struct{ *rabbit.Admin[*wire.Conn] }

func newAdmin(s *session) admin {
	return admin{rabbit.NewAdmin(s.Broker, func(_ context.Context, c kit.Conn) (*wire.Conn, error) {
		return wire.Open(c, wire.Config{Config: s.ConfigOf(string(kit.Control)), Blocked: func(reason string, on bool) {
			if give := s.blocked.Load(); on && give != nil {
				(*give)(fmt.Errorf("%w: the broker has an alarm and takes no messages: %s", driver.ErrThrottled, reason))
			}
		}})
	})}
}

// do runs f with a channel of its own, one f at a time.
func (a admin) do(ctx context.Context, f func(ch *wire.Channel) error) error {
	return a.Do(ctx, func(conn *wire.Conn) error {
		ch, err := conn.Channel(ctx, silent{})
		if err != nil {
			return err
		}
		if err := f(ch); err != nil {
			if ctx.Err() != nil {
				conn.Kill() // an answer may still come, to another question then
				<-conn.Done()
			}
			return err
		}
		return ch.Close(ctx)
	})
}

// hasQueue reports whether a queue may be at the broker.
func (a admin) hasQueue(ctx context.Context, name string) bool {
	err := a.do(ctx, func(ch *wire.Channel) error {
		_, err := ch.CheckQueue(ctx, name)
		return err
	})
	return protocol().ClassOf(err) != driver.ErrNoTopic
}

// silent is the wire.Handler of channels on which nothing comes but answers.
type silent struct{}

func (silent) Deliver(wire.Delivery)      {}
func (silent) Confirm(uint64, bool, bool) {}
func (silent) Return(wire.Returned)       {}
func (silent) End(error)                  {}
