package nsq

import (
	"bytes"
	"compress/flate"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/golang/snappy"
	"github.com/nsqio/go-nsq"

	"sixnines/driver"
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
	raw   net.Conn // closing it waits for nothing
	conn  net.Conn // encrypted, or raw
	out   io.Writer
	flush func() error // nil: nothing is held back
	in    frames
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
		kind, data, err := s.in.next()
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
func (l *link) handshake(ctx context.Context, raw net.Conn) (*stream, identity, error) {
	var id identity
	o := l.session.options
	s := &stream{raw: raw, conn: raw, out: raw, in: frames{src: raw}}
	size, timeout := o.outputBuffer(l.session.target.Batch)
	hello, err := nsq.Identify(map[string]any{
		"client_id": l.name, "hostname": l.name, "user_agent": "sixnines",
		"feature_negotiation": true,
		"heartbeat_interval":  o.HeartbeatInterval.Milliseconds(),
		"output_buffer_size":  size, "output_buffer_timeout": timeout.Milliseconds(),
		"msg_timeout": o.MsgTimeout.Milliseconds(), "sample_rate": o.SampleRate,
		"tls_v1": l.session.tls != nil, "snappy": o.Snappy,
		"deflate": o.Deflate, "deflate_level": o.DeflateLevel,
	})
	if err != nil {
		return nil, id, err
	}
	if err := s.write(nsq.MagicV2); err != nil {
		return nil, id, err
	}
	if err := s.command(hello); err != nil {
		return nil, id, err
	}
	data, err := s.answer()
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
	}{{"encryption: it has no certificate", id.TLS, l.session.tls != nil}, {"deflate", id.Deflate, o.Deflate}, {"snappy", id.Snappy, o.Snappy}} {
		if wish.ask && !wish.got {
			return nil, id, fmt.Errorf("%w: nsqd has no %s", driver.ErrUnsupported, wish.what)
		}
	}
	if id.TLS {
		secured := tls.Client(raw, l.session.tls)
		if err := secured.HandshakeContext(ctx); err != nil {
			return nil, id, fmt.Errorf("%w: tls: %w", driver.ErrNotConnected, err)
		}
		s.conn, s.out, s.in.src = secured, secured, secured
		if err := s.okay(); err != nil {
			return nil, id, fmt.Errorf("%w: tls: %w", driver.ErrNotConnected, err)
		}
	}
	// nsqd does not wait before it goes on compressed.
	in := io.MultiReader(bytes.NewReader(s.in.rest()), s.conn)
	s.in.src = in
	switch {
	case id.Deflate:
		w, err := flate.NewWriter(s.conn, id.DeflateLevel)
		if err != nil {
			return nil, id, err
		}
		s.out, s.flush, s.in.src = w, w.Flush, flate.NewReader(in)
	case id.Snappy:
		w := snappy.NewBufferedWriter(s.conn)
		s.out, s.flush, s.in.src = w, w.Flush, snappy.NewReader(in)
	}
	if id.Deflate || id.Snappy {
		if err := s.okay(); err != nil {
			return nil, id, err
		}
	}
	if !id.AuthRequired {
		return s, id, nil
	}
	if o.AuthSecret == "" {
		return nil, id, fmt.Errorf("%w: nsqd wants a login; see option auth_secret", driver.ErrUnauthorized)
	}
	auth, err := nsq.Auth(o.AuthSecret)
	if err != nil {
		return nil, id, err
	}
	if err := s.command(auth); err != nil {
		return nil, id, err
	}
	_, err = s.answer()
	return s, id, err
}
