package natswiretest

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"sync/atomic"
	"testing"
)

// LockOut returns a dial function for driver.Target, and what has every server take no more
// logins from then on.
func LockOut(t testing.TB) (dial func(ctx context.Context, network, address string) (net.Conn, error), lock func()) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go refuse(c)
		}
	}()
	var locked atomic.Bool
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if locked.Load() {
			address = l.Addr().String()
		}
		return new(net.Dialer).DialContext(ctx, network, address)
	}, func() { locked.Store(true) }
}

// refuse does what a server does with a client whose password is wrong.
func refuse(c net.Conn) {
	defer c.Close()
	fmt.Fprintf(c, "INFO {\"server_id\":\"strict\",\"version\":\"2.11.0\",\"max_payload\":1048576,\"auth_required\":true}\r\n")
	if _, err := bufio.NewReader(c).ReadString('\n'); err == nil { // CONNECT
		fmt.Fprintf(c, "-ERR 'Authorization Violation'\r\n")
	}
}
