package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"sixnines/drivers/internal/rabbit/beat"
)

var errLogin = errors.New("the server closed the connection while logging in")

// login is the handshake.
func (c *Conn) login() error {
	if _, err := c.net.Write([]byte("AMQP\x00\x00\x09\x01")); err != nil {
		return err
	}
	in, err := c.expect(connectionStart)
	if err != nil {
		return err
	}
	in.uint16() // version
	c.server = in.table(0)
	mechanisms := string(in.long())
	if in.bad {
		return fmt.Errorf("%w: connection.start is too short", ErrProtocol)
	}
	mechanism, response := "PLAIN", "\x00"+c.config.User+"\x00"+c.config.Password
	if c.config.External {
		mechanism, response = "EXTERNAL", ""
	}
	if !hasWord(mechanisms, mechanism) {
		return &Error{Code: 403, Text: fmt.Sprintf("ACCESS_REFUSED - no login by %s, only by %s", mechanism, mechanisms)}
	}
	b := appendMethod(nil, 0, connectionStartOK)
	b = appendTable(b, Table{
		"product": "sixnines", "connection_name": c.config.Name,
		"capabilities": Table{"publisher_confirms": true, "basic.nack": true, "consumer_cancel_notify": true,
			"connection.blocked": true, "authentication_failure_close": true},
	})
	b = appendShort(appendLong(appendShort(b, mechanism), response), "en_US")
	if err := c.write(endFrame(b, 0)); err != nil {
		return err
	}
	if in, err = c.expect(connectionTune); err != nil {
		return err
	}
	c.chanMax, c.frameMax = int(in.uint16()), int(in.uint32())
	offered := time.Duration(in.uint16()) * time.Second
	if in.bad {
		return fmt.Errorf("%w: connection.tune is too short", ErrProtocol)
	}
	c.tune(offered)
	b = appendMethod(nil, 0, connectionTuneOK)
	b = binary.BigEndian.AppendUint16(b, uint16(c.chanMax))
	b = binary.BigEndian.AppendUint32(b, uint32(c.frameMax))
	b = endFrame(binary.BigEndian.AppendUint16(b, uint16(c.beat/time.Second)), 0)
	start := len(b)
	b = appendMethod(b, 0, connectionOpen)
	if err := c.write(endFrame(append(appendShort(b, c.config.VHost), 0, 0), start)); err != nil {
		return err
	}
	_, err = c.expect(connectionOpenOK)
	return err
}

// tune settles limits, of which 0 is the server's word for none.
func (c *Conn) tune(offered time.Duration) {
	if c.chanMax == 0 {
		c.chanMax = 1<<16 - 1
	}
	if c.frameMax == 0 || c.frameMax > frameMost {
		c.frameMax = frameMost
	}
	if c.config.FrameMax > 0 {
		c.frameMax = min(c.frameMax, c.config.FrameMax)
	}
	c.frameMax = max(c.frameMax, frameLeast)
	c.in.most = c.frameMax
	c.beat = beat.Agree(c.config.Heartbeat, offered)
}

func (c *Conn) write(b []byte) error {
	_, err := c.net.Write(b)
	return err
}

// expect reads until the method comes.
func (c *Conn) expect(want method) (cursor, error) {
	for {
		f, err := c.in.next()
		if err != nil {
			if !errors.Is(err, ErrProtocol) && want != connectionStart {
				err = fmt.Errorf("%w: %w", errLogin, err)
			}
			return cursor{}, err
		}
		if f.kind != frameMethod || f.channel != 0 {
			continue
		}
		in := cursor{rest: f.payload}
		switch m := method(in.uint32()); m {
		case want:
			return in, nil
		case connectionClose:
			why := &Error{Code: in.uint16()}
			why.Text = string(in.short())
			return cursor{}, why
		default:
			return cursor{}, fmt.Errorf("%w: method %d.%d comes instead of %d.%d", ErrProtocol, m>>16, m&0xFFFF, want>>16, want&0xFFFF)
		}
	}
}

// Refused reports whether err is a server's refusal to log in that it did not
// explain.
func Refused(err error) bool { return errors.Is(err, errLogin) }

func hasWord(words, word string) bool {
	for len(words) > 0 {
		i := 0
		for i < len(words) && words[i] != ' ' {
			i++
		}
		if words[:i] == word {
			return true
		}
		words = words[min(i+1, len(words)):]
	}
	return false
}
