package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"sixnines/drivers/internal/rabbit"
)

// login is the handshake.
func (c *Conn) login() error {
	if err := c.Send([]byte("AMQP\x00\x00\x09\x01")); err != nil {
		return err
	}
	in, err := c.expect(connectionStart)
	if err != nil {
		return err
	}
	in.Uint16() // version
	c.server = in.table(0)
	mechanisms := string(in.long())
	if in.Bad {
		return fmt.Errorf("%w: connection.start is too short", ErrProtocol)
	}
	mechanism, response := c.config.SASL()
	if !slices.Contains(strings.Split(mechanisms, " "), mechanism) {
		return &Error{Code: 403, Text: fmt.Sprintf("ACCESS_REFUSED - no login by %s, only by %s", mechanism, mechanisms)}
	}
	b := appendMethod(nil, 0, connectionStartOK)
	b = appendTable(b, Table{
		"product": "sixnines", "connection_name": c.config.Name,
		"capabilities": Table{"publisher_confirms": true, "basic.nack": true, "consumer_cancel_notify": true,
			"connection.blocked": true, "authentication_failure_close": true},
	})
	b = appendShort(appendLong(appendShort(b, mechanism), response), "en_US")
	if err := c.Send(endFrame(b, 0)); err != nil {
		return err
	}
	if in, err = c.expect(connectionTune); err != nil {
		return err
	}
	c.chanMax, c.FrameMax = int(in.Uint16()), int(in.Uint32())
	offered := time.Duration(in.Uint16()) * time.Second
	if in.Bad {
		return fmt.Errorf("%w: connection.tune is too short", ErrProtocol)
	}
	c.tune(offered)
	b = appendMethod(nil, 0, connectionTuneOK)
	b = binary.BigEndian.AppendUint16(b, uint16(c.chanMax))
	b = binary.BigEndian.AppendUint32(b, uint32(c.FrameMax))
	b = endFrame(binary.BigEndian.AppendUint16(b, uint16(c.Heartbeat/time.Second)), 0)
	start := len(b)
	b = appendMethod(b, 0, connectionOpen)
	if err := c.Send(endFrame(append(appendShort(b, c.config.VHost), 0, 0), start)); err != nil {
		return err
	}
	_, err = c.expect(connectionOpenOK)
	return err
}

// tune sets the limits from the server's offer; an offer of 0 means no limit.
func (c *Conn) tune(offered time.Duration) {
	if c.chanMax == 0 {
		c.chanMax = 1<<16 - 1
	}
	if c.FrameMax == 0 || c.FrameMax > frameMost {
		c.FrameMax = frameMost
	}
	if c.config.FrameMax > 0 {
		c.FrameMax = min(c.FrameMax, c.config.FrameMax)
	}
	c.FrameMax = max(c.FrameMax, frameLeast)
	c.most = c.FrameMax
	c.AgreeHeartbeat(c.config.Heartbeat, offered)
}

// expect reads until the method comes.
func (c *Conn) expect(want method) (cursor, error) {
	for {
		f, err := c.next()
		if err != nil {
			if !errors.Is(err, ErrProtocol) && want != connectionStart {
				err = fmt.Errorf("%w: %w", rabbit.ErrLogin, err)
			}
			return cursor{}, err
		}
		if f.kind != frameMethod || f.channel != 0 {
			continue
		}
		in := newCursor(f.payload)
		switch m := method(in.Uint32()); m {
		case want:
			return in, nil
		case connectionClose:
			why := &Error{Code: in.Uint16()}
			why.Text = string(in.short())
			return cursor{}, why
		default:
			return cursor{}, fmt.Errorf("%w: method %d.%d comes instead of %d.%d", ErrProtocol, m>>16, m&0xFFFF, want>>16, want&0xFFFF)
		}
	}
}
