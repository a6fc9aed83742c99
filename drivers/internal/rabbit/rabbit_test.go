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
)

var (
	errRefused = errors.New("the server says no")
	errForeign = errors.New("not this protocol")
	errSoon    = errors.New("no leader yet")
)

func testProtocol() *Protocol {
	return &Protocol{
		Driver:    "rabbit",
		Plain:     Scheme{"burrow", "10"},
		Encrypted: Scheme{"burrow+tls", "11"},
		Foreign:   errForeign,
		IfForeign: "it is a fox's",
		Class: func(err error) error {
			if errors.Is(err, errRefused) {
				return driver.ErrUnauthorized
			}
			return nil
		},
		Passes: func(err error) bool { return errors.Is(err, errSoon) },
	}
}

// conn is a connection that ends when it is told to.
type conn struct {
	number int
	end    sync.Once
	done   chan struct{}
}

func (c *conn) Close(context.Context) { c.end.Do(func() { close(c.done) }) }
func (c *conn) Done() <-chan struct{} { return c.done }
func (c *conn) Err() error            { return errors.New("hung up") }

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
	dial := func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		t.Cleanup(func() { ours.Close(); theirs.Close() })
		return ours, nil
	}
	var err error
	if w.broker, err = NewBroker(testProtocol(), driver.Target{URL: url, Dial: dial}, Login{}, time.Second); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *warren) open(context.Context, net.Conn) (*conn, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.errs) > 0 {
		err := w.errs[0]
		if w.errs = w.errs[1:]; err != nil {
			return nil, err
		}
	}
	c := &conn{number: len(w.conns), done: make(chan struct{})}
	w.conns = append(w.conns, c)
	return c, nil
}

func (w *warren) link(t *testing.T, restore func(context.Context) error) *Link[*conn] {
	t.Helper()
	l := NewLink(t.Context(), w.broker, LinkConfig[*conn]{
		Name: "link", ReconnectWait: time.Second, Restore: restore,
		Notify: func(e driver.Event) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.events = append(w.events, fmt.Sprintf("%s %s", e.Kind, e.Detail))
		},
		Dial: func(ctx context.Context) (*conn, error) { return Connect(ctx, w.broker, w.broker.From(0), w.open) },
	})
	if err := l.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	return l
}

// member notes which connections it was set up on, and does something there.
type member struct {
	on []int
	do func(c *conn) error
}

func (m *member) Attach(_ context.Context, c *conn) error {
	m.on = append(m.on, c.number)
	if m.do != nil {
		return m.do(c)
	}
	return nil
}

func TestLinkComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, restored := newWarren(t, "burrow://host"), 0
		l := w.link(t, func(context.Context) error {
			if restored++; restored == 1 {
				return driver.ErrRejected
			}
			return nil
		})
		stays, leaves := &member{}, &member{}
		for _, m := range []*member{stays, leaves} {
			if err := l.Join(t.Context(), m); err != nil {
				t.Fatal(err)
			}
		}
		l.Leave(leaves)
		synctest.Wait()
		// Three attempts fail for want of a login, a fourth to restore.
		w.errs = []error{errRefused, errRefused, errors.New("nobody is there")}
		w.conns[0].Close(t.Context())
		synctest.Wait()
		if c, ok := l.Current(); ok || l.Absent() != driver.ErrNotConnected {
			t.Errorf("while it is away: connection %d, %v", c.number, l.Absent())
		}
		if err := l.Join(t.Context(), leaves); !errors.Is(err, driver.ErrNotConnected) {
			t.Errorf("join while it is away: %v", err)
		}
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if c, ok := l.Current(); !ok || c.number != 2 {
			t.Errorf("connection %d, %v after %v", c.number, ok, w.events)
		}
		if !slices.Equal(stays.on, []int{0, 2}) || !slices.Equal(leaves.on, []int{0}) {
			t.Errorf("set up on connections %d, and who left on %d", stays.on, leaves.on)
		}
		want := []string{"disconnected link: hung up", "error link: reconnect: rabbit: log in", "error link: reconnect: rejected", "reconnected link"}
		if !slices.EqualFunc(w.events, want, strings.HasPrefix) {
			t.Errorf("events %q", w.events)
		}
		select {
		case <-w.conns[1].Done():
		default:
			t.Error("a connection on which nothing was set up is left open")
		}
		l.Close(t.Context())
		if n := len(w.events); n != len(want) {
			t.Errorf("closing it is told of: %q", w.events)
		}
		if l.Absent() != driver.ErrClosed || l.Life().Err() == nil {
			t.Error("it is not closed")
		}
	})
}

// A broker may take away what it has just given, before all members are set up.
func TestLinkComesBackFromWhatEndsWhileItIsSetUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWarren(t, "burrow://host")
		l := w.link(t, nil)
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
		if c, ok := l.Current(); !ok || c.number != 2 || !slices.Equal(m.on, []int{0, 1, 2}) {
			t.Errorf("connection %d, %v; set up on %d", c.number, ok, m.on)
		}
		l.Close(t.Context())
	})
}

func TestLinkThatEndsIsMadeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWarren(t, "burrow://host")
		l := w.link(t, nil)
		l.Ended(driver.ErrClosed) // by this side: nothing is to be done
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
		l.Close(t.Context())
	})
}

func TestLinkClosesWhileItConnects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWarren(t, "burrow://host")
		l := w.link(t, nil)
		w.errs = slices.Repeat([]error{errRefused}, 100)
		w.conns[0].Close(t.Context())
		time.Sleep(3 * time.Second)
		l.Close(t.Context())
		synctest.Wait()
		if left := len(w.errs); left < 90 || left == 100 {
			t.Errorf("%d attempts were made in 3 s, at one a second", 100-left)
		}
	})
}

func TestAdmin(t *testing.T) {
	w := newWarren(t, "burrow://one,two")
	a := NewAdmin(w.broker, w.open)
	w.errs = []error{errForeign, nil, errRefused}
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
	if to := a.Latest().To.Address; to != "two:10" {
		t.Errorf("connected to %s", to)
	}
	w.conns[0].Close(t.Context())
	if err := a.Do(t.Context(), use(1)); !errors.Is(err, driver.ErrUnauthorized) || !strings.Contains(err.Error(), "one:10") {
		t.Errorf("a refused login is not the last word: %v", err)
	}
	if err := a.Do(t.Context(), use(1)); err != nil {
		t.Error(err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := a.Do(over, use(1)); !errors.Is(err, driver.ErrClosed) {
		t.Errorf("after its context: %v", err)
	}
	a.Close(t.Context())
	if err := a.Do(t.Context(), use(2)); !errors.Is(err, driver.ErrClosed) || len(w.conns) != 3 {
		t.Errorf("after Close: %v", err)
	}
	for _, c := range w.conns {
		<-c.Done()
	}
}

// That a connection is lost is known a moment later than that it is of no use.
func TestAdminFindsItsConnectionLost(t *testing.T) {
	w := newWarren(t, "burrow://host")
	a := NewAdmin(w.broker, w.open)
	if err := a.Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		err  error
		on   []int // connections that were tried
	}{
		{"an answer", fmt.Errorf("%w: %w", driver.ErrNotConnected, errRefused), []int{0}},
		{"lost", net.ErrClosed, []int{0, 1}},
		{"lost, and told by its class", fmt.Errorf("%w: %w", driver.ErrNotConnected, net.ErrClosed), []int{1, 2}},
	} {
		var on []int
		err := a.Do(t.Context(), func(c *conn) error {
			on = append(on, c.number)
			return tt.err
		})
		if err != tt.err || !slices.Equal(on, tt.on) {
			t.Errorf("%s: %v after connections %d", tt.name, err, on)
		}
	}
	a.Close(t.Context())
}

func TestBroker(t *testing.T) {
	for _, tt := range []struct {
		url   string
		given Login
		want  string // addresses and login; or an error
	}{
		{"burrow://host", Login{}, "host:10 guest guest /"},
		{"host", Login{}, "host:10 guest guest /"},
		{"burrow+tls://host", Login{}, "host:11+tls guest guest /"},
		{"burrow://one:1, two:2 ,[::1]", Login{}, "one:1 two:2 [::1]:10 guest guest /"},
		{"burrow+tls://one,burrow://two", Login{}, "one:11+tls two:10+tls guest guest /"},
		{"burrow://ada:lovelace@host/deep", Login{}, "host:10 ada lovelace deep"},
		{"burrow://ada:lovelace@host/deep", Login{User: "lord", Password: "byron", VHost: "v"}, "host:10 lord byron v"},
		{"fox://host", Login{}, `rabbit: bad option: scheme "fox": want burrow or burrow+tls`},
		{"burrow://", Login{}, `rabbit: bad option: no host in URL "burrow:"; want one such as burrow://host:10`},
		{"burrow://ada:secret@%zz", Login{}, `rabbit: bad option: the URL cannot be read: invalid URL escape "%zz"; want one such as burrow://host:10`},
		{"burrow://host", Login{Password: "x"}, `rabbit: option "password": bad option: it needs user beside it`},
		{"burrow+tls://host", Login{External: true}, `rabbit: option "login": bad option: external wants tls.cert and tls.key`},
	} {
		var got string
		b, err := NewBroker(testProtocol(), driver.Target{URL: tt.url}, tt.given, time.Second)
		if err != nil {
			got = strings.Replace(err.Error(), driver.ErrOption.Error(), "bad option", 1)
		} else {
			for _, s := range b.From(0) {
				got += s.Address
				if s.TLS {
					got += "+tls"
				}
				got += " "
			}
			got += b.Login.User + " " + b.Login.Password + " " + b.Login.VHost
		}
		if got != tt.want {
			t.Errorf("%s with %+v: %s, want %s", tt.url, tt.given, got, tt.want)
		}
	}
}

func TestOrderOfServers(t *testing.T) {
	w := newWarren(t, "burrow://a,b,c")
	addresses := func(servers []Server) (all []string) {
		for _, s := range servers {
			all = append(all, s.Address)
		}
		return all
	}
	if got := addresses(w.broker.From(7)); !slices.Equal(got, []string{"b:10", "c:10", "a:10"}) {
		t.Errorf("from the 7th: %s", got)
	}
	preferring := Preferring("d:1", w.broker.From(2))
	if got := addresses(preferring); !slices.Equal(got, []string{"d:1", "c:10", "a:10", "b:10"}) || preferring[0].Host != "d" {
		t.Errorf("preferring d: %+v", preferring)
	}
	if got := addresses(w.broker.From(0)); !slices.Equal(got, []string{"a:10", "b:10", "c:10"}) {
		t.Errorf("all: %s", got)
	}
}

func TestGate(t *testing.T) {
	calls, running, leave := 0, make(chan struct{}), make(chan struct{})
	g := NewGate(testProtocol(), func(driver.Message) {
		calls++
		close(running)
		<-leave
	})
	go g.Deliver(driver.Message{})
	<-running
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := g.Shut(over); !errors.Is(err, driver.ErrTimeout) {
		t.Errorf("shut while a call runs: %v", err)
	}
	close(leave)
	if err := g.Shut(t.Context()); err != nil {
		t.Error(err)
	}
	g.Deliver(driver.Message{})
	if calls != 1 {
		t.Errorf("%d calls", calls)
	}
}

func TestBacklog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []int
		b := NewBacklog(func(n int) {
			time.Sleep(time.Second)
			got = append(got, n)
		})
		for n := range 5 {
			b.Add(n)
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if !slices.Equal(got, []int{0, 1, 2, 3, 4}) {
			t.Errorf("handed over %d", got)
		}
		b.Add(5) // is taken up at once
		synctest.Wait()
		b.Add(6)
		b.Stop()
		b.Add(7)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if len(got) != 6 {
			t.Errorf("handed over %d, with two after Stop", got)
		}
	})
}

func TestWindow(t *testing.T) {
	w := NewWindow[int](7)
	for n := 7; n < 2000; n++ {
		if got := w.Push(n); got != uint64(n) {
			t.Fatalf("message %d has number %d", n, got)
		}
		if n%3 == 0 {
			w.First++ // so that the ring goes round before it grows
		}
	}
	w.Pop()
	if w.Next != 1999 || w.Push(-1) != 1999 || *w.At(1999) != -1 {
		t.Errorf("next is %d", w.Next)
	}
	for number := w.First; number < 1999; number++ {
		if got := *w.At(number); got != int(number) {
			t.Fatalf("number %d is message %d", number, got)
		}
	}
}
