package redisstreams

import (
	"fmt"
	"strconv"

	"sixnines/driver"
	"sixnines/drivers/internal/resp"
)

// acknowledge appends the acknowledgements that are due.
func (c *consumer) acknowledge() {
	if c.dues < c.every || c.dues == 0 {
		return
	}
	for k, ids := range c.due {
		switch {
		case c.every == 1:
			for _, i := range ids {
				c.xack(k, 1)
				c.identifier(i)
			}
		case len(ids) > 0:
			c.xack(k, len(ids))
			for _, i := range ids {
				c.identifier(i)
			}
		}
		c.due[k] = ids[:0]
	}
	c.dues = 0
}

// xack appends the beginning of the command that acknowledges n entries.
func (c *consumer) xack(k, n int) {
	c.out = resp.AppendWords(c.out, 3+n)
	c.word("XACK")
	c.word(c.keys[k])
	c.word(c.group)
	c.outstanding++
}

// request appends the command that fetches.
func (c *consumer) request() {
	o := &c.session.options
	block := c.fetching != fetchAgain // which never waits
	words := 4 + 2*len(c.keys)        // XREAD COUNT n STREAMS …
	if block {
		words += 2
	}
	if c.group == "" {
		c.out = resp.AppendWord(resp.AppendWords(c.out, words), "XREAD")
	} else {
		words += 3
		if c.noAck {
			words++
		}
		c.out = resp.AppendWord(resp.AppendWords(c.out, words), "XREADGROUP")
		c.word("GROUP")
		c.word(c.group)
		c.word(c.name)
	}
	c.word("COUNT")
	c.scratch = strconv.AppendInt(c.scratch[:0], int64(o.Count), 10)
	c.out = resp.AppendWord(c.out, c.scratch)
	if block {
		c.word("BLOCK")
		c.word("0")
	}
	if c.group != "" && c.noAck {
		c.word("NOACK")
	}
	c.word("STREAMS")
	for _, key := range c.keys {
		c.word(key)
	}
	for k := range c.keys {
		if c.fetching == fetchNew {
			c.word(">")
			continue
		}
		c.identifier(c.last[k])
	}
}

func (c *consumer) word(w string) { c.out = resp.AppendWord(c.out, w) }

func (c *consumer) identifier(i id) {
	c.scratch = i.append(c.scratch[:0])
	c.out = resp.AppendWord(c.out, c.scratch)
}

// write writes what has been appended.
func (c *consumer) write() error {
	_, err := c.conn.Write(c.out)
	c.out = c.out[:0]
	return err
}

// settle takes the answers to acknowledgements.
func (c *consumer) settle(answers *resp.Reader) error {
	for ; c.outstanding > 0; c.outstanding-- {
		kind, _, line, err := answers.Reply()
		if err != nil {
			return err
		}
		if kind == resp.Failure && !c.complained {
			c.complained = true
			c.link.Emit(driver.Event{Kind: driver.AsyncError, Detail: fmt.Sprintf("%s: acknowledge: %v", c.name, resp.ReplyError(string(line)))})
		}
	}
	return nil
}

// stream implements sink.
func (c *consumer) stream(key []byte) (int, bool) {
	k, ok := c.numbers[string(key)]
	return k, ok
}

// entry implements sink.
func (c *consumer) entry(k int, i id, payload []byte) {
	if payload != nil && !c.pass(driver.Message{Payload: payload, Redelivered: c.fetching == fetchAgain}) {
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
		if c.write() != nil {
			c.conn.Close() // what reads next finds out
		}
	}
}
