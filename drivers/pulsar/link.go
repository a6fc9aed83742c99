package pulsar

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/apache/pulsar-client-go/pulsar"
	"github.com/apache/pulsar-client-go/pulsar/auth"
	"github.com/prometheus/client_golang/prometheus"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// link is a client of its own, which has one connection to each broker.
type link struct {
	session *session
	key     kit.Key
	client  pulsar.Client
	refused chan error // gets why no server can be reached, once

	// Held for reading while the client is handed a message: it panics when it is
	// closed meanwhile.
	mu       sync.RWMutex
	closed   bool
	calls    sync.WaitGroup // of the client
	failures int
	reason   error // of the latest
	// logins counts those that the broker has refused in a row, hold is how long to wait
	// before the next, and gaveUp why none follows; nil: one does.
	logins kit.Refusals
	hold   time.Duration
	gaveUp error
	// denials are of those that it lets in, by topic.
	denials map[string]*denial
}

// connect makes a link. Its client connects when it is used.
func (s *session) connect(_ context.Context, key kit.Key) (*link, error) {
	o := &s.options
	l := &link{session: s, key: key, refused: make(chan error, 1)}
	url, login := "pulsar://", auth.NewAuthDisabled()
	if s.TLS != nil {
		url = "pulsar+ssl://"
	}
	if s.token != nil { // it is asked for each login
		login = auth.NewAuthenticationTokenFromSupplier(func() (string, error) { return s.token(l.session.Life) })
	}
	c := pulsar.ClientOptions{
		URL:                   url + s.Address.String(),
		ConnectionTimeout:     o.ConnectTimeout,
		OperationTimeout:      o.OperationTimeout,
		KeepAliveInterval:     o.KeepAlive,
		TLSConfig:             s.TLS,
		Authentication:        door{login, l},
		Logger:                newJournal(l),
		MetricsCardinality:    pulsar.MetricsCardinalityNone,
		MetricsRegisterer:     prometheus.NewRegistry(), // not the process's
		ConnectionMaxIdleTime: -1,
		MemoryLimitBytes:      -1,
		Description:           s.Target.Prefix + o.Name + " " + s.Target.Run + " " + key.String(),
	}
	if key.Role == kit.Control { // its time, and that of a login, is one to connect
		c.OperationTimeout, c.KeepAliveInterval = o.ConnectTimeout, o.ConnectTimeout
	}
	var err error
	if l.client, err = pulsar.NewClient(c); err != nil {
		return nil, s.Wrap(err, "make a client of %s", &s.Address)
	}
	return l, nil
}

// refuse records that a server cannot be reached, or refuses the login. The client retries
// for as long as it lives; after some refused logins it gets no more credentials.
func (l *link) refuse(why error) (gaveUp bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reason = why
	if l.failures++; l.failures == len(l.session.Servers) {
		l.refused <- why
	}
	if l.gaveUp != nil {
		return false
	}
	pause, again := l.logins.Add(why, 0)
	if l.hold = pause; !again {
		l.gaveUp, l.hold = why, 0
	}
	return !again
}

// admitted notes that a login was accepted, and a producer or consumer of the topic.
func (l *link) admitted(topic string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.logins.Reset()
	l.hold = 0
	delete(l.denials, whole(topic))
}

// explain returns err, or why the client could not connect.
func (l *link) explain(err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil && l.reason != nil && strings.Contains(err.Error(), connectionError) {
		return l.reason
	}
	return err
}

// begin lets close wait for a call of the client, unless the link is closed.
func (l *link) begin() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.calls.Add(1)
	}
	return !l.closed
}

// call does what the client does without a context, and returns when ctx ends. What
// comes of it after that is undone.
func call[T any](ctx context.Context, l *link, do func() (T, error), undo func(T)) (T, error) {
	type result struct {
		value T
		err   error
	}
	var none T
	if !l.begin() {
		return none, fmt.Errorf("connection %w", driver.ErrClosed)
	}
	done := make(chan result)
	go func() {
		defer l.calls.Done()
		value, err := do()
		select {
		case done <- result{value, err}:
		case <-ctx.Done():
			if err == nil {
				undo(value)
			}
		}
	}()
	select {
	case r := <-done:
		return r.value, l.explain(r.err)
	case <-ctx.Done():
		return none, fmt.Errorf("%w: %w", driver.ErrNotConnected, context.Cause(ctx))
	}
}

// door is how connections of a link log in. The client may begin one while it is
// closed, and would keep it: a link that is closed lets none in. Nor does one whose logins
// were refused too often.
type door struct {
	auth.Provider
	link *link
}

// GetData implements auth.Provider.
func (d door) GetData() ([]byte, error) {
	l := d.link
	l.mu.RLock()
	hold := l.hold
	l.mu.RUnlock()
	if hold > 0 {
		select {
		case <-time.After(hold):
		case <-l.session.Life.Done():
		}
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	switch {
	case l.closed:
		return nil, driver.ErrClosed
	case l.gaveUp != nil:
		return nil, l.gaveUp
	}
	return d.Provider.GetData()
}

// close ends the client with its producers and consumers, by ctx's deadline. What the
// client is still doing then ends without us.
func (l *link) close(ctx context.Context) {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		l.calls.Wait()
		l.client.Close()
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	}
}
