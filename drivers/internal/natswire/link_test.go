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

// TestKill wants a link to end the connection that it has and the one that it is making.
func TestKill(t *testing.T) {
	refused := errors.New("refused")
	var next func(ctx context.Context) (net.Conn, error)
	l, _ := linkTo(&sink{}, 1)
	l.client.options.ConnectTimeout = time.Hour
	l.client.Target.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) { return next(ctx) }
	next = func(context.Context) (net.Conn, error) { return nil, refused }
	if _, err := l.Dial("tcp", "server"); err != refused || l.dialled != refused {
		t.Errorf("%v and %v, want the error of dialling", err, l.dialled)
	}
	near, far := net.Pipe()
	next = func(context.Context) (net.Conn, error) { return near, nil }
	if _, err := l.Dial("tcp", "server"); err != nil || l.dialled != nil {
		t.Fatal(err, l.dialled)
	}

	dialling, failed := make(chan struct{}), make(chan error)
	next = func(ctx context.Context) (net.Conn, error) {
		close(dialling)
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	go func() {
		_, err := l.Dial("tcp", "server")
		failed <- err
	}()
	<-dialling
	l.kill()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("what was being dialled: %v", err)
	}
	ended := func(c net.Conn) bool {
		c.SetReadDeadline(time.Now())
		_, err := c.Read(make([]byte, 1))
		return errors.Is(err, io.EOF)
	}
	if !ended(far) {
		t.Error("the connection has not ended")
	}
	near, far = net.Pipe()
	next = func(context.Context) (net.Conn, error) { return near, nil }
	if c, err := l.Dial("tcp", "server"); c != nil || !errors.Is(err, driver.ErrClosed) || !ended(far) {
		t.Errorf("after the end: %v, %v, want none", c, err)
	}
}
