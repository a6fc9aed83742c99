package resptest

import (
	"bytes"
	"context"
	"net"
	"sync/atomic"
	"testing"

	"sixnines/driver"
)

// Loading returns a target whose server answers a command times times that it is loading its
// data. The test fails if the server was not asked so often.
func Loading(t *testing.T, target driver.Target, command string, times int32) driver.Target {
	left := new(atomic.Int32)
	left.Store(times)
	t.Cleanup(func() {
		if n := left.Load(); n > 0 {
			t.Errorf("%s was asked for %d times less than %d", command, n, times)
		}
	})
	target.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := new(net.Dialer).DialContext(ctx, network, address)
		return &loading{Conn: c, command: []byte("\r\n" + command + "\r\n"), left: left}, err
	}
	return target
}

// loading is a connection of one that writes a command and then reads its answer.
type loading struct {
	net.Conn
	command []byte
	left    *atomic.Int32
	answer  []byte // to be read next
}

func (c *loading) Write(p []byte) (int, error) {
	if c.left.Load() > 0 && bytes.Contains(p, c.command) {
		c.left.Add(-1)
		c.answer = []byte("-LOADING Redis is loading the dataset in memory\r\n")
		return len(p), nil
	}
	return c.Conn.Write(p)
}

func (c *loading) Read(p []byte) (int, error) {
	if len(c.answer) == 0 {
		return c.Conn.Read(p)
	}
	n := copy(p, c.answer)
	c.answer = c.answer[n:]
	return n, nil
}
