package nsq

import (
	"bytes"
	"compress/flate"
	"context"
	"crypto/tls"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/golang/snappy"
	"github.com/nsqio/go-nsq"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// identity is how nsqd introduces itself, and what it makes of the client's
// wishes. Times are in milliseconds.
type identity struct {
	Version             string `json:"version"`
	MaxRdyCount         int    `json:"max_rdy_count"`
	MsgTimeout          int    `json:"msg_timeout"`
	OutputBufferSize    int    `json:"output_buffer_size"`
	OutputBufferTimeout int    `json:"output_buffer_timeout"`
	SampleRate          int    `json:"sample_rate"`
	TLS                 bool   `json:"tls_v1"`
	Deflate             bool   `json:"deflate"`
	DeflateLevel        int    `json:"deflate_level"`
	Snappy              bool   `json:"snappy"`
	AuthRequired        bool   `json:"auth_required"`
}

// stream is a connection with what has been wrapped around it.
type stream struct {
	raw    net.Conn // closing it waits for nothing
	conn   net.Conn // encrypted, or raw
	out    io.Writer
	flush  func() error // nil: nothing is held back
	source *kit.Reader
	in     *kit.Frames
	idle   func() error // called before bytes are waited for; nil: nothing is
}

func newStream(raw net.Conn) *stream {
	s := &stream{raw: raw, conn: raw, out: raw, source: &kit.Reader{Source: raw}}
	s.in = kit.NewFrames(s.source, frameSize, func() error {
		if s.idle == nil {
			return nil
		}
		return s.idle()
	})
	return s
}

// next returns the next frame's type and its data, which are valid until the next call.
func (s *stream) next() (kind int32, data []byte, err error) {
	frame, err := s.in.Next()
	if err != nil {
		return 0, nil, err
	}
	kind, data = split(frame)
	return kind, data, nil
}

// split takes a frame apart.
func split(frame []byte) (kind int32, data []byte) {
	return int32(binary.BigEndian.Uint32(frame[4:])), frame[8:]
}

// compressed is the connection that commands are written to.
type compressed struct {
	net.Conn
	stream *stream
}

// Write implements net.Conn.
func (c compressed) Write(p []byte) (int, error) {
	n, err := c.stream.out.Write(p)
	if err == nil && c.stream.flush != nil {
		err = c.stream.flush() // some of it may be out
	}
	return n, err
}

// write writes whole commands and holds nothing back.
func (s *stream) write(b []byte) error {
	if _, err := s.out.Write(b); err != nil {
		return err
	}
	if s.flush != nil {
		return s.flush()
	}
	return nil
}

func (s *stream) command(c *nsq.Command) error {
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return err
	}
	return s.write(b.Bytes())
}

// answer returns the data of the next frame, which is not to be an error.
func (s *stream) answer() ([]byte, error) {
	for {
		kind, data, err := s.next()
		switch {
		case err != nil:
			return nil, err
		case kind == nsq.FrameTypeError:
			return nil, refusal(data)
		case kind != nsq.FrameTypeResponse:
			return nil, fmt.Errorf("%w: of type %d instead of an answer", errMalformed, kind)
		case string(data) == heartbeat:
			if err := s.command(nsq.Nop()); err != nil {
				return nil, err
			}
		default:
			return data, nil
		}
	}
}

const (
	heartbeat = "_heartbeat_"
	okay      = "OK"
)

func (s *stream) okay() error {
	data, err := s.answer()
	if err == nil && string(data) != okay {
		err = fmt.Errorf("%w: nsqd says %q instead of %s", errMalformed, data, okay)
	}
	return err
}

// handshake introduces the client and wraps what is agreed upon around raw.
func (s *session) handshake(ctx context.Context, to kit.Conn, name string) (*stream, identity, error) {
	var id identity
	o := s.options
	raw := to.Raw
	c := newStream(raw)
	size, timeout := o.outputBuffer(s.Target.Batch)
	hello, err := nsq.Identify(map[string]any{
		"client_id": name, "hostname": name, "user_agent": "sixnines",
		"feature_negotiation": true,
		"heartbeat_interval":  o.HeartbeatInterval.Milliseconds(),
		"output_buffer_size":  size, "output_buffer_timeout": timeout.Milliseconds(),
		"msg_timeout": o.MsgTimeout.Milliseconds(), "sample_rate": o.SampleRate,
		"tls_v1": s.TLS != nil, "snappy": o.Snappy,
		"deflate": o.Deflate, "deflate_level": o.DeflateLevel,
	})
	if err != nil {
		return nil, id, err
	}
	if err := c.write(nsq.MagicV2); err != nil {
		return nil, id, err
	}
	if err := c.command(hello); err != nil {
		return nil, id, err
	}
	data, err := c.answer()
	if err != nil {
		if errors.Is(err, errMalformed) || errors.Is(err, io.EOF) {
			err = fmt.Errorf("%w: %w; is this nsqd's TCP address?", driver.ErrNotConnected, err)
		}
		return nil, id, err
	}
	if err := json.Unmarshal(data, &id); err != nil {
		return nil, id, fmt.Errorf("%w: nsqd introduces itself with %.40q; is this nsqd?", driver.ErrNotConnected, data)
	}
	for _, wish := range []struct {
		what     string
		got, ask bool
	}{{"encryption: it has no certificate", id.TLS, s.TLS != nil}, {"deflate", id.Deflate, o.Deflate}, {"snappy", id.Snappy, o.Snappy}} {
		if wish.ask && !wish.got {
			return nil, id, fmt.Errorf("%w: nsqd has no %s", driver.ErrUnsupported, wish.what)
		}
	}
	if id.TLS {
		config := s.TLS
		if config.ServerName == "" {
			config = config.Clone()
			config.ServerName = to.To.Host
		}
		secured := tls.Client(raw, config)
		if err := secured.HandshakeContext(ctx); err != nil {
			return nil, id, fmt.Errorf("%w: %w", driver.ErrNotConnected, &driver.HandshakeError{Cause: err})
		}
		c.conn, c.out, c.source.Source = secured, secured, secured
		if err := c.okay(); err != nil {
			return nil, id, fmt.Errorf("%w: tls: %w", driver.ErrNotConnected, err)
		}
	}
	// nsqd does not wait before it goes on compressed.
	in := io.MultiReader(bytes.NewReader(c.in.Rest()), c.conn)
	c.source.Source = in
	switch {
	case id.Deflate:
		w, err := flate.NewWriter(c.conn, id.DeflateLevel)
		if err != nil {
			return nil, id, err
		}
		c.out, c.flush, c.source.Source = w, w.Flush, flate.NewReader(in)
	case id.Snappy:
		w := snappy.NewBufferedWriter(c.conn)
		c.out, c.flush, c.source.Source = w, w.Flush, snappy.NewReader(in)
	}
	if id.Deflate || id.Snappy {
		if err := c.okay(); err != nil {
			return nil, id, err
		}
	}
	if !id.AuthRequired {
		return c, id, nil
	}
	if o.AuthSecret == "" {
		return nil, id, fmt.Errorf("%w: nsqd wants a login; see option auth_secret", driver.ErrUnauthorized)
	}
	auth, err := nsq.Auth(o.AuthSecret)
	if err != nil {
		return nil, id, err
	}
	if err := c.command(auth); err != nil {
		return nil, id, err
	}
	_, err = c.answer()
	return c, id, err
}
