package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"sixnines/drivers/internal/rabbit"
)

// login is the handshake.
func (c *Conn) login() error {
	in, err := c.ask(peerProperties, appendMap(nil, map[string]string{"product": "sixnines", "connection_name": c.config.Name}))
	if err != nil {
		return err
	}
	c.server = in.stringMap()
	if in, err = c.ask(saslHandshake, nil); err != nil {
		return err
	}
	var mechanisms []string
	for range in.count(2) {
		mechanisms = append(mechanisms, in.string())
	}
	mechanism, response := c.config.SASL()
	if !slices.Contains(mechanisms, mechanism) {
		return &Error{Code: NoMechanism, Text: fmt.Sprintf("no login by %s, only by %s", mechanism, mechanisms)}
	}
	b := binary.BigEndian.AppendUint32(appendString(nil, mechanism), uint32(len(response)))
	if _, err = c.ask(saslAuthenticate, append(b, response...)); err != nil {
		return err
	}
	if in, err = c.expect(tune); err != nil {
		return err
	}
	c.tune(int(in.Uint32()), time.Duration(in.Uint32())*time.Second)
	b = binary.BigEndian.AppendUint32(begin(nil, tune|answer), uint32(c.FrameMax))
	b = binary.BigEndian.AppendUint32(b, uint32(c.Heartbeat/time.Second))
	if err := c.Send(end(b, 0)); err != nil {
		return err
	}
	if in, err = c.ask(open, appendString(nil, c.config.VHost)); err != nil {
		return err
	}
	at := in.stringMap()
	c.address = net.JoinHostPort(at["advertised_host"], at["advertised_port"])
	return nil
}

// tune sets the limits from the server's offer; an offer of 0 means no limit.
func (c *Conn) tune(frame int, offered time.Duration) {
	c.FrameMax = frame
	if c.config.FrameMax > 0 && (frame == 0 || c.config.FrameMax < frame) {
		c.FrameMax = c.config.FrameMax
	}
	if c.FrameMax == 0 {
		c.FrameMax = frameMost
	}
	c.AgreeHeartbeat(c.config.Heartbeat, offered)
}

// ask sends a command of the handshake and reads its answer.
func (c *Conn) ask(k key, fields []byte) (cursor, error) {
	c.correlation++
	b := binary.BigEndian.AppendUint32(begin(nil, k), c.correlation)
	if err := c.Send(end(append(b, fields...), 0)); err != nil {
		return cursor{}, err
	}
	in, err := c.expect(k | answer)
	if err != nil {
		return in, err
	}
	in.Uint32()
	if code := Code(in.Uint16()); !in.Bad && code != OK {
		return in, &Error{Code: code}
	}
	if in.Bad {
		return in, fmt.Errorf("%w: an answer to command %d is too short", ErrProtocol, k)
	}
	return in, nil
}

// expect reads until the command comes.
func (c *Conn) expect(want key) (cursor, error) {
	for {
		k, in, err := c.next()
		switch {
		case err != nil:
			if !errors.Is(err, ErrProtocol) && want != peerProperties|answer {
				err = fmt.Errorf("%w: %w", rabbit.ErrLogin, err)
			}
			return in, err
		case k == want:
			return in, nil
		case k == heartbeat:
		case k == closing:
			in.Uint32()
			code := Code(in.Uint16())
			return in, &Error{Code: code, Text: in.string()}
		default:
			return in, fmt.Errorf("%w: command %d comes instead of %d", ErrProtocol, k, want)
		}
	}
}
