package redis

import (
	"bytes"
	"fmt"

	redigo "github.com/gomodule/redigo/redis"

	"sixnines/driver"
	"sixnines/drivers/internal/resp"
)

// redigoSubscriber implements subscriber by redigo's PubSubConn.
type redigoSubscriber struct{ redigo.PubSubConn }

func newRedigoSubscriber(in *receiver, c *resp.Conn) *redigoSubscriber {
	r := &redigoSubscriber{redigo.PubSubConn{Conn: c.Redigo()}}
	if in.session.options.Sharded {
		r.Conn = unsharded{r.Conn}
	}
	return r
}

// ask does what PubSubConn does, which has no words for sharded channels.
func (r *redigoSubscriber) ask(command, name string) error {
	if err := r.Conn.Send(command, name); err != nil {
		return err
	}
	return r.Conn.Flush()
}

func (r *redigoSubscriber) next(in *receiver) error {
	switch m := r.Receive().(type) {
	case redigo.Message:
		name := m.Channel
		if m.Pattern != "" {
			name = m.Pattern
		}
		for _, g := range (*in.routes.Load())[name] {
			g.Deliver(driver.Message{Payload: m.Data})
		}
	case redigo.Subscription:
		return in.answered(nil)
	case error:
		if text, ok := resp.ReplyText(m); ok {
			return in.answered(resp.ReplyError(text))
		}
		return m
	default:
		return fmt.Errorf("%w: %T where a message should be", resp.ErrProtocol, m)
	}
	return nil
}

// unsharded calls what comes of sharded channels by the names that PubSubConn knows.
type unsharded struct{ redigo.Conn }

// Receive implements redigo.Conn.
func (u unsharded) Receive() (any, error) {
	reply, err := u.Conn.Receive()
	if parts, ok := reply.([]any); ok && len(parts) > 0 {
		if word, ok := parts[0].([]byte); ok {
			parts[0] = bytes.TrimPrefix(word, []byte("s"))
		}
	}
	return reply, err
}
