package redisstreams

import (
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
