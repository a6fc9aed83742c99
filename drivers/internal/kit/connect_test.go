package kit

import (
	"context"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"sixnines/driver"
)

// A login that succeeds when its time is over has nobody else to end it.
func TestConnectEndsWhatComesLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var x exchange
		b, _ := x.link(t)
		ours, theirs := net.Pipe()
		defer theirs.Close()
		b.Target.Dial = func(context.Context, string, string) (net.Conn, error) { return ours, nil }
		var made phone
		p, err := Connect(t.Context(), b, b.Servers, Connecting{Timeout: time.Second}, func(ctx context.Context, _ Conn) (*phone, error) {
			<-ctx.Done()
			return &made, nil
		})
		if p != nil || !errors.Is(err, driver.ErrNotConnected) || made.ended == nil {
			t.Errorf("connected to %v, %v; ended with %v", p, err, made.ended)
		}
	})
}

// A server that answers nothing leaves the next one its part of the time, although it may take longer than there is.
func TestConnectPassesOverTheSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var x exchange
		b, _ := x.link(t)
		ours, theirs := net.Pipe()
		defer theirs.Close()
		b.Target.Dial = func(ctx context.Context, _, address string) (net.Conn, error) {
			if address == "up" {
				return ours, nil
			}
			<-ctx.Done()
			return nil, ctx.Err()
		}
		ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second)
		defer cancel()
		p, err := Connect(ctx, b, []Server{{Address: "dropped"}, {Address: "silent"}, {Address: "up"}}, Connecting{Timeout: 10 * time.Second},
			func(context.Context, Conn) (*phone, error) { return new(phone), nil })
		if p == nil || err != nil {
			t.Errorf("connected to %v, %v", p, err)
		}
	})
}

// One server with encryption means that all are to be encrypted.
func TestBaseEncryptsAllServers(t *testing.T) {
	b, err := NewBase(&Errors{Driver: "test"}, driver.Target{URL: "test://a,tests://b"}, "", "",
		Scheme{Name: "test", Port: "1"}, Scheme{Name: "tests", Port: "2", TLS: true})
	if err != nil {
		t.Fatal(err)
	}
	if b.TLS == nil || !b.Servers[0].TLS || !b.Servers[1].TLS {
		t.Errorf("servers %+v", b.Servers)
	}
}

// What is removed at the end may be removed after Close.
func TestBaseApartOutlivesClose(t *testing.T) {
	var x exchange
	b, _ := x.link(t)
	b.Target.Dial = func(context.Context, string, string) (net.Conn, error) {
		ours, _ := net.Pipe()
		return ours, nil
	}
	apart := b.Apart()
	if err := b.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	p, err := Connect(t.Context(), apart, apart.Servers, Connecting{Timeout: time.Minute}, func(context.Context, Conn) (*phone, error) {
		return new(phone), nil
	})
	if p == nil || err != nil {
		t.Errorf("connected to %v, %v", p, err)
	}
}
