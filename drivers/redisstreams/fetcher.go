package redisstreams

import (
	"context"
	"time"

	"sixnines/driver"
	"sixnines/drivers/internal/resp"
)

// fetcher fetches and acknowledges for a consumer on one connection, by one client.
type fetcher interface {
	// ack takes an acknowledgement of entries of a stream, which goes out with the
	// next send or fetch. The slice is the consumer's again when it returns.
	ack(stream int, ids []id)
	send() error
	// fetch asks for entries, hands them to the consumer, and returns how many there
	// were. An error ends the connection, unless it is of class ErrNoTopic.
	fetch() (int, error)
}

// block is how long the server waits for entries before it answers that it has none; 0: until there is one. A server of a
// cluster tells nobody that a stream has gone to another one ahead of its slot, except who asks.
func (c *consumer) block() time.Duration {
	if c.session.Clustered() {
		return askAgain
	}
	return 0
}

const askAgain = 500 * time.Millisecond

// fetcher returns that of the client that was asked for.
func (c *consumer) fetcher(conn *resp.Conn) fetcher {
	if c.session.options.Client == resp.Library {
		return newRedigoFetcher(c, conn)
	}
	return newFrames(c, conn)
}

// acknowledge hands over the acknowledgements that are due. What they are for is kept until
// they are answered: the connection may end before.
func (c *consumer) acknowledge() {
	if c.dues < c.every || c.dues == 0 {
		return
	}
	for k := range c.due {
		ids := c.due[k][c.asked[k]:]
		switch {
		case c.every == 1:
			for i := range ids {
				c.from.ack(k, ids[i:i+1])
			}
		case len(ids) > 0:
			c.from.ack(k, ids)
		}
		c.asked[k] += len(ids)
	}
	c.dues = 0
}

// refused deals with an acknowledgement that was refused. An error, of one that is another server's to take, ends the
// connection, see settle.
func (c *consumer) refused(err error) error {
	if _, _, moved := c.session.Redirected(c.conn, err); moved {
		return err
	}
	c.complain(err)
	return nil
}

// settle acknowledges what was delivered and is not known to be acknowledged, at the server that has the streams now, or will: it
// would be given again.
func (c *consumer) settle() {
	for k, ids := range c.due {
		if err := c.confirm(c.link.Life(), k, ids); err != nil {
			return // the next connection begins with it
		}
		c.due[k], c.asked[k] = ids[:0], 0
	}
}

// confirm acknowledges entries of a stream by the session's own connection.
func (c *consumer) confirm(ctx context.Context, stream int, ids []id) error {
	if len(ids) == 0 {
		return nil
	}
	args := []any{c.keys[stream], c.group}
	for _, i := range ids {
		args = append(args, i.append(nil))
	}
	_, err := c.session.Do(ctx, c.keys[stream], "XACK", args...)
	return err
}

// answered forgets what was acknowledged: all answers have come.
func (c *consumer) answered() {
	for k, n := range c.asked {
		if n > 0 {
			c.due[k], c.asked[k] = append(c.due[k][:0], c.due[k][n:]...), 0
		}
	}
}

// complain tells once that the server has refused an acknowledgement.
func (c *consumer) complain(err error) {
	if !c.complained {
		c.complained = true
		c.link.Emit(driver.Event{Kind: driver.AsyncError, Detail: "acknowledge: " + err.Error()})
	}
}

// stream implements sink.
func (c *consumer) stream(key []byte) (int, bool) {
	k, ok := c.numbers[string(key)]
	return k, ok
}

// entry implements sink.
func (c *consumer) entry(k int, i id, payload []byte) {
	if payload != nil && !c.gate.Deliver(driver.Message{Payload: payload, Redelivered: c.fetching == fetchAgain}) {
		return
	}
	if c.alone && i.after(c.newest[k]) { // what is given again is counted once
		c.newest[k] = i
		c.taken[k].Add(1)
	}
	if c.fetching != fetchNew {
		c.last[k] = i
	}
	if c.group == "" || c.noAck {
		return
	}
	c.due[k] = append(c.due[k], i)
	c.dues++
	if c.dues >= c.every && (c.prompt || c.every > 1) {
		c.acknowledge()
		if c.from.send() != nil {
			c.conn.Close() // what reads next finds out
		}
	}
}
