package natswire

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"sixnines/driver"
)

// TestKill wants a dialer to end what it has made and what it is making.
func TestKill(t *testing.T) {
	refused := errors.New("refused")
	var next func(ctx context.Context) (net.Conn, error)
	d := NewDialer(t.Context(), func(ctx context.Context, _, _ string) (net.Conn, error) { return next(ctx) }, time.Hour)
	connect := func() (ours net.Conn, server net.Conn) {
		t.Helper()
		near, far := net.Pipe()
		next = func(context.Context) (net.Conn, error) { return near, nil }
		ours, err := d.Dial("tcp", "server")
		if err != nil || d.LastError() != nil {
			t.Fatal(err, d.LastError())
		}
		return ours, far
	}
	ended := func(c net.Conn) bool {
		c.SetReadDeadline(time.Now())
		_, err := c.Read(make([]byte, 1))
		return errors.Is(err, io.EOF)
	}
	_, first := connect()
	second, left := connect()
	d.forget(second)
	next = func(context.Context) (net.Conn, error) { return nil, refused }
	if _, err := d.Dial("tcp", "server"); err != refused || d.LastError() != refused {
		t.Errorf("%v and %v, want the error of dialling", err, d.LastError())
	}

	dialling, failed := make(chan struct{}), make(chan error)
	next = func(ctx context.Context) (net.Conn, error) {
		close(dialling)
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	go func() {
		_, err := d.Dial("tcp", "server")
		failed <- err
	}()
	<-dialling
	d.Kill()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("what was being dialled: %v", err)
	}
	if !ended(first) || ended(left) {
		t.Error("the connections must end, but for that which was forgotten")
	}
	near, late := net.Pipe()
	next = func(context.Context) (net.Conn, error) { return near, nil }
	if c, err := d.Dial("tcp", "server"); c != nil || !errors.Is(err, driver.ErrClosed) || !ended(late) {
		t.Errorf("after the end: %v, %v, want none", c, err)
	}
}
