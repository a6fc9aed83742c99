package sessiontest

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sixnines/driver"
)

// Forbidden checks what becomes of the first message of a user who may not publish: its
// Done, Send, or an event says so in the server's words, with the class, no later than a
// round trip after it where there is one.
func Forbidden(t *testing.T, d driver.Driver, target driver.Target, words ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Patience)
	defer cancel()
	var events Events
	if target.Notify = events.Notify; target.Run == "" {
		target.Run = "test"
	}
	var said []error
	s, err := d.Open(ctx, target)
	if err == nil {
		defer s.Close(context.WithoutCancel(ctx))
		_, err = s.Provision(ctx, driver.Topology{Topics: []string{"t0"}, Producers: 1, MaxSize: 64})
	}
	var p driver.Producer
	var acks Counter
	if err == nil {
		p, err = s.Producer(ctx, driver.ProducerSpec{Topic: "t0", Size: 64}, &acks)
	}
	if err == nil {
		err = p.Send(1, make([]byte, 64))
	}
	if err == nil {
		if f, ok := p.(driver.Flusher); ok {
			err = f.Flush()
		}
	}
	if y, ok := p.(driver.Syncer); ok && err == nil {
		err = y.Sync(ctx)
	}
	heard := func() bool {
		said = append([]error{err}, acks.Failed()...)
		for _, e := range events.All() {
			said = append(said, e.Err)
		}
		for _, err := range said {
			if refusedFor(err, words) {
				return true
			}
		}
		return false
	}
	if !heard() && !comes(heard) {
		t.Errorf("said %v, and not %q", said, words)
	}
}

// refusedFor reports whether err is a refusal in these words.
func refusedFor(err error, words []string) bool {
	if !errors.Is(err, driver.ErrUnauthorized) {
		return false
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			return false
		}
	}
	return true
}

// mostLogins is how often a connection may log in again after the server has begun to
// refuse it, together with the first time.
const mostLogins = 6

// LockedOut checks what becomes of a session whose login the server takes no more: lock
// changes the password, and its connections are cut. It logs in a few times for each
// connection, says why it gives up, and refuses what is sent after that.
func LockedOut(t *testing.T, d driver.Driver, target driver.Target, lock func(), words ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Patience)
	defer cancel()
	var events Events
	var locked atomic.Bool
	var dials atomic.Int64
	if target.Notify = events.Notify; target.Run == "" {
		target.Run = "test"
	}
	dial := target.Dial
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	var made sync.Map
	target.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		switch {
		case err == nil && locked.Load():
			dials.Add(1)
		case err == nil:
			made.Store(c, true)
		}
		return c, err
	}
	s, err := d.Open(ctx, target)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(context.WithoutCancel(ctx))
	if _, err := s.Provision(ctx, driver.Topology{Topics: []string{"t0"}, Producers: 1, Consumers: 1, MaxSize: 64}); err != nil {
		t.Fatal(err)
	}
	var acks, got Counter
	if _, err := s.Consumer(ctx, driver.ConsumerSpec{Topics: []string{"t0"}}, got.Deliver); err != nil {
		t.Fatal(err)
	}
	p, err := s.Producer(ctx, driver.ProducerSpec{Topic: "t0", Size: 64}, &acks)
	if err != nil {
		t.Fatal(err)
	}
	lock()
	locked.Store(true)
	for c := range made.Range {
		c.(net.Conn).Close()
	}
	token := uint64(0)
	send := func() {
		token++
		err = p.Send(token, make([]byte, 64))
	}
	// Some clients connect again when there is something to send.
	Until(t, "both connections to be given up", func() bool {
		send()
		time.Sleep(time.Millisecond)
		given, _ := events.Count(driver.GivenUp)
		return given >= 2
	})
	for _, e := range events.All() {
		if e.Kind == driver.GivenUp && !refusedFor(e.Err, words) {
			t.Errorf("given up because of %v, which is not %q", e.Err, words)
		}
	}
	if !comes(func() bool { // once the producer's connection is among them
		send()
		return refusedFor(err, words) || slices.ContainsFunc(acks.Failed(), func(err error) bool { return refusedFor(err, words) })
	}) {
		t.Errorf("what is sent after that fails with %v, %v", err, acks.Failed())
	}
	time.Sleep(300 * time.Millisecond) // longer than the usual pause between attempts
	const connections = 3              // producer's, consumer's, and one for all else
	if n := dials.Load(); n > connections*mostLogins {
		t.Errorf("%d logins", n)
	}
}
