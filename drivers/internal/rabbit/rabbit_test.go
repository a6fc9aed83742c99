package rabbit

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

var (
	errRefused = errors.New("the server says no")
	errSoon    = errors.New("no leader yet")
)

func testProtocol() *Protocol {
	return &Protocol{
		Errors: kit.Errors{Driver: "rabbit", Class: func(err error) error {
			if errors.Is(err, errRefused) {
				return driver.ErrUnauthorized
			}
			return nil
		}},
		Schemes: []kit.Scheme{{Name: "burrow", Port: "10"}, {Name: "burrow+tls", Port: "11", TLS: true}},
		Hint:    "it is a fox's",
		Passes:  func(err error) bool { return errors.Is(err, errSoon) },
	}
}

// conn is a connection that ends when it is told to.
type conn struct {
	number int
	below  kit.Conn
	end    sync.Once
	done   chan struct{}
}

func (c *conn) Close(context.Context) { c.end.Do(func() { close(c.done) }) }
func (c *conn) Done() <-chan struct{} { return c.done }
func (c *conn) Err() error            { return errors.New("hung up") }
func (c *conn) Below() kit.Conn       { return c.below }

// warren makes connections, and keeps what is told of them.
type warren struct {
	broker *Broker
	errs   []error // for the attempts to come, nil or not

	mu     sync.Mutex
	conns  []*conn
	events []string
}

func newWarren(t *testing.T, url string) *warren {
	w := &warren{}
	target := driver.Target{URL: url, Run: "run",
		Dial: func(context.Context, string, string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			t.Cleanup(func() { ours.Close(); theirs.Close() })
			return ours, nil
		},
		Notify: func(e driver.Event) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.events = append(w.events, fmt.Sprintf("%s %s", e.Kind, e.Detail))
		}}
	var err error
	if w.broker, err = NewBroker(testProtocol(), target, Config{ConnectOptions: kit.ConnectOptions{ConnectTimeout: time.Second, ReconnectWait: 100 * time.Millisecond}}); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *warren) open(_ context.Context, below kit.Conn) (*conn, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.errs) > 0 {
		err := w.errs[0]
		if w.errs = w.errs[1:]; err != nil {
			return nil, err
		}
	}
	c := &conn{number: len(w.conns), below: below, done: make(chan struct{})}
	w.conns = append(w.conns, c)
	return c, nil
}

func (w *warren) link(t *testing.T) *Link[*conn] {
	t.Helper()
	l := NewLink(w.broker, kit.Producer, "link", func(ctx context.Context) (*conn, error) { return Connect(ctx, w.broker, w.broker.Servers, w.open) })
	if err := l.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return l
}

func (w *warren) admin(t *testing.T) *Admin[*conn] {
	t.Helper()
	a := NewAdmin(w.broker, w.open)
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return a
}

// member notes which connections it was set up on, and does something there.
type member struct {
	on []int
	do func(c *conn) error
}

func (m *member) Attach(_ context.Context, w *Wire[*conn]) error {
	m.on = append(m.on, w.Conn.number)
	if m.do != nil {
		return m.do(w.Conn)
	}
	return nil
}

// A broker may take away what it has just given, before all members are set up.
func TestLinkComesBackFromWhatEndsWhileItIsSetUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWarren(t, "burrow://host")
		l := w.link(t)
		m := &member{}
		m.do = func(c *conn) error {
			if c.number == 1 {
				l.Ended(driver.ErrNoTopic)
			}
			return nil
		}
		if err := l.Join(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		w.conns[0].Close(t.Context())
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if c := l.Live(); c == nil || c.Conn.number != 2 || !slices.Equal(m.on, []int{0, 1, 2}) {
			t.Errorf("connection %v; set up on %d", c, m.on)
		}
		if err := l.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestLinkThatEndsIsMadeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWarren(t, "burrow://host")
		l := w.link(t)
		l.Ended(ErrClosed) // by this side: nothing is to be done
		synctest.Wait()
		if len(w.events) > 0 {
			t.Errorf("events %q", w.events)
		}
		l.Ended(driver.ErrNoTopic)
		synctest.Wait()
		want := []string{"error link: no such topic", "disconnected link: hung up", "reconnected link"}
		if !slices.Equal(w.events, want) {
			t.Errorf("events %q", w.events)
		}
		if err := l.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestAdmin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWarren(t, "burrow://one,two")
		w.errs = []error{errors.New("not this protocol"), nil, errRefused, errRefused}
		a := w.admin(t)
		use := func(want int) func(c *conn) error {
			return func(c *conn) error {
				if c.number != want {
					t.Errorf("connection %d instead of %d", c.number, want)
				}
				return nil
			}
		}
		for range 2 {
			if err := a.Do(t.Context(), use(0)); err != nil {
				t.Fatal(err)
			}
		}
		semantics := driver.Semantics{Settings: map[string]string{}}
		a.Describe(&semantics)
		if to := semantics.Settings["connection_server"]; to != "two:10" || semantics.Transport != "tcp" {
			t.Errorf("described as %+v", semantics)
		}
		w.conns[0].Close(t.Context())
		if err := a.Do(t.Context(), use(1)); err != nil || len(w.events) > 0 {
			t.Errorf("with the connection made again: %v, and events %q", err, w.events)
		}
		over, cancel := context.WithCancel(t.Context())
		cancel()
		if err := a.Do(over, use(1)); !errors.Is(err, driver.ErrClosed) {
			t.Errorf("after its context: %v", err)
		}
		if err := a.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if err := a.Do(t.Context(), use(2)); !errors.Is(err, driver.ErrClosed) || len(w.conns) != 2 {
			t.Errorf("after Close: %v", err)
		}
		for _, c := range w.conns {
			<-c.Done()
		}
	})
}

// That a connection is lost is known a moment later than that it is of no use.
func TestAdminFindsItsConnectionLost(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error
		on   []int // connections that were tried
	}{
		{"an answer", fmt.Errorf("%w: %w", driver.ErrNotConnected, errRefused), []int{0}},
		{"lost", net.ErrClosed, []int{0, 1}},
		{"lost, and told by its class", fmt.Errorf("%w: %w", driver.ErrNotConnected, net.ErrClosed), []int{0, 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWarren(t, "burrow://host")
				a := w.admin(t)
				var on []int
				err := a.Do(t.Context(), func(c *conn) error {
					on = append(on, c.number)
					if c.number > 0 {
						return nil
					}
					c.Close(t.Context())
					return tt.err
				})
				if (err == nil) != (len(tt.on) > 1) || !slices.Equal(on, tt.on) {
					t.Errorf("%v after connections %d", err, on)
				}
				a.Close(t.Context())
			})
		})
	}
}

// TestPassingErrors wants what a broker cannot do yet done when it can.
func TestPassingErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWarren(t, "burrow://host")
		w.errs = slices.Repeat([]error{errSoon}, 20)
		a := w.admin(t)
		failures := 20
		if err := a.Do(t.Context(), func(c *conn) error {
			if failures--; failures >= 0 {
				c.Close(t.Context())
				return errSoon
			}
			return nil
		}); err != nil {
			t.Errorf("do: %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := a.Do(ctx, func(*conn) error { return errSoon })
		if driver.Class(err) != driver.ErrTimeout || !errors.Is(err, errSoon) || !strings.HasPrefix(err.Error(), "rabbit: ") {
			t.Errorf("for ever: %v", err)
		}
		a.Close(t.Context())
	})
}

func TestBroker(t *testing.T) {
	for _, tt := range []struct {
		url   string
		given Config
		want  string // addresses and login; or an error
	}{
		{"burrow://host", Config{}, "host:10 guest guest /"},
		{"host", Config{}, "host:10 guest guest /"},
		{"burrow+tls://host", Config{}, "host:11+tls guest guest /"},
		{"burrow://one:1, two:2 ,[::1]", Config{}, "one:1 two:2 [::1]:10 guest guest /"},
		{"burrow+tls://one,burrow://two", Config{}, "one:11+tls two:10+tls guest guest /"},
		{"burrow://ada:lovelace@host/deep", Config{}, "host:10 ada lovelace deep"},
		{"burrow://ada:lovelace@host/deep", Config{User: "lord", Password: "byron", VHost: "v"}, "host:10 lord byron v"},
		{"burrow://ada@host", Config{}, "host:10 ada  /"},
		{"burrow://host", Config{Password: "x"}, `rabbit: option "password": bad option: it needs user beside it, or in the URL`},
		{"burrow://ada@host", Config{Password: "x"}, "host:10 ada x /"},
		{"burrow+tls://host", Config{External: true}, `rabbit: option "login": bad option: external wants tls.cert and tls.key`},
	} {
		var got string
		b, err := NewBroker(testProtocol(), driver.Target{URL: tt.url}, tt.given)
		if err != nil {
			got = strings.Replace(err.Error(), driver.ErrOption.Error(), "bad option", 1)
		} else {
			for _, s := range b.Servers {
				got += s.Address
				if s.TLS {
					got += "+tls"
				}
				got += " "
			}
			got += b.Config.User + " " + b.Config.Password + " " + b.Config.VHost
		}
		if got != tt.want {
			t.Errorf("%s with %+v: %s, want %s", tt.url, tt.given, got, tt.want)
		}
	}
}

func TestLogin(t *testing.T) {
	w := newWarren(t, "burrow://host")
	w.errs = []error{errRefused, fmt.Errorf("%w: EOF", ErrLogin)}
	for range 2 {
		_, err := Connect(t.Context(), w.broker, w.broker.Servers, w.open)
		if driver.Class(err) != driver.ErrUnauthorized || !strings.Contains(err.Error(), "check user") || !strings.Contains(err.Error(), "host:10") {
			t.Error(err)
		}
	}
	c := w.broker.ConfigOf("role")
	if mechanism, response := c.SASL(); mechanism != "PLAIN" || response != "\x00guest\x00guest" || c.Name != " run role" {
		t.Errorf("%s, %q as %q", mechanism, response, c.Name)
	}
}

func TestOrderOfServers(t *testing.T) {
	w := newWarren(t, "burrow://a,b,c")
	preferring := Preferring("d:1", w.broker.From(2))
	var all []string
	for _, s := range preferring {
		all = append(all, s.Address)
	}
	if !slices.Equal(all, []string{"d:1", "c:10", "a:10", "b:10"}) || preferring[0].Host != "d" {
		t.Errorf("preferring d: %+v", preferring)
	}
}
