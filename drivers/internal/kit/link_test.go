package kit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sixnines/driver"
)

// phone is a connection of a link.
type phone struct {
	number int
	broken chan error
	ended  error
	left   bool
}

// Serve implements Wire.
func (p *phone) Serve() error { return <-p.broken }

// End implements Wire.
func (p *phone) End(err error) { p.ended = err }

// Leave implements Wire.
func (p *phone) Leave(context.Context) {
	p.left = true
	select {
	case p.broken <- errors.New("left"):
	default:
	}
}

// exchange makes the connections of a link.
type exchange struct {
	mu     sync.Mutex
	made   []*phone
	fails  error // of the next attempts
	events []string
}

func (x *exchange) dial(context.Context) (*phone, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.fails != nil {
		return nil, x.fails
	}
	p := &phone{number: len(x.made), broken: make(chan error, 1)}
	x.made = append(x.made, p)
	return p, nil
}

func (x *exchange) link(t *testing.T) (*Base, *Link[phone, *phone]) {
	t.Helper()
	b, err := NewBase(&Errors{Driver: "test"}, driver.Target{URL: "host", Notify: func(e driver.Event) {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.events = append(x.events, fmt.Sprintf("%v %s", e.Kind, e.Detail))
	}}, "", "", Scheme{Name: "test", Port: "1"})
	if err != nil {
		t.Fatal(err)
	}
	return b, NewLink[phone, *phone](b, LinkConfig[phone]{Name: "line", Dial: x.dial, Wait: time.Second})
}

// member notes the connections that it was set up on.
type member struct{ on []int }

// Attach implements Member.
func (m *member) Attach(_ context.Context, p *phone) error {
	m.on = append(m.on, p.number)
	return nil
}

func TestLinkComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var x exchange
		_, l := x.link(t)
		if err := l.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		var m member
		if err := l.Join(t.Context(), &m); err != nil {
			t.Fatal(err)
		}
		first := l.Live()
		x.fails = fmt.Errorf("test: log in: %w", driver.ErrUnauthorized)
		first.broken <- errors.New("cut")
		time.Sleep(3500 * time.Millisecond) // three attempts, of the bubble's
		synctest.Wait()
		if !errors.Is(first.ended, driver.ErrTimeout) || l.Live() != nil || !errors.Is(l.Absent(), driver.ErrNotConnected) {
			t.Errorf("a lost connection ended with %v, and %v is live", first.ended, l.Live())
		}
		x.mu.Lock()
		x.fails = nil
		x.mu.Unlock()
		time.Sleep(4 * time.Second)
		synctest.Wait()
		if second := l.Live(); second == nil || second.number != 1 || !slices.Equal(m.on, []int{0, 1}) {
			t.Errorf("%+v is live, and the member was set up on %v", second, m.on)
		}
		want := []string{"disconnected line: cut", "error line: reconnect: test: log in: not authorised", "reconnected line"}
		if !slices.Equal(x.events, want) {
			t.Errorf("events %q, want %q", x.events, want)
		}
		last := l.Live()
		if err := l.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if !last.left || !errors.Is(last.ended, driver.ErrClosed) || len(x.events) != len(want) || !errors.Is(l.Absent(), driver.ErrClosed) {
			t.Errorf("closed: %+v, events %q", last, x.events)
		}
	})
}

// A broker that takes each login and hangs up at once is not asked without a pause: of
// connections that are cut as soon as they are there few are made.
func TestLinkThatIsCutAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var x exchange
		b, _ := x.link(t)
		l := NewLink[phone, *phone](b, LinkConfig[phone]{Name: "line", Wait: 50 * time.Millisecond, Dial: func(ctx context.Context) (*phone, error) {
			p, err := x.dial(ctx)
			p.broken <- errors.New("cut")
			return p, err
		}})
		if err := l.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		x.mu.Lock()
		n := len(x.made)
		x.mu.Unlock()
		if n < 100 || n > 130 {
			t.Errorf("%d connections in a minute", n)
		}
		if err := l.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// A connection that is made while the link is being closed, after Close has looked for
// one, has nobody else to end it.
func TestLinkConnectedWhileClosing(t *testing.T) {
	var x exchange
	_, l := x.link(t)
	l.Dial = func(ctx context.Context) (*phone, error) {
		l.Quiet() // as Close does
		return x.dial(ctx)
	}
	if err := l.Start(t.Context()); !errors.Is(err, driver.ErrClosed) {
		t.Error(err)
	}
	if p := x.made[0]; !p.left || !errors.Is(p.ended, driver.ErrClosed) || l.Live() != nil {
		t.Errorf("%+v is live: %v", p, l.Live())
	}
	<-l.Done()
}

// A link that may fail so often to connect again says when it has.
func TestLinkGivesUp(t *testing.T) {
	for most, want := range [][]string{
		{"disconnected line: the server has closed the connection", "given up line: the server has closed the connection"},
		{"disconnected line: the server has closed the connection", "given up line: test: not connected"},
	} {
		synctest.Test(t, func(t *testing.T) {
			var x exchange
			_, l := x.link(t)
			l.GiveUp = func(tried int) bool { return tried >= most }
			if err := l.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			x.fails = fmt.Errorf("test: %w", driver.ErrNotConnected)
			l.Live().broken <- io.EOF
			<-l.Done()
			if !slices.Equal(x.events, want) {
				t.Errorf("after %d attempts: events %q, want %q", most, x.events, want)
			}
			if l.Live() != nil || !errors.Is(l.Absent(), driver.ErrNotConnected) {
				t.Errorf("%v is live, which is %v", l.Live(), l.Absent())
			}
			if err := l.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// A broker that refuses the login, or takes it and hangs up on what comes next, is not
// asked for ever: a few times, with pauses that grow, and what is sent then fails with
// its words.
func TestLinkGivesUpWhatIsRefused(t *testing.T) {
	denied := fmt.Errorf("test: log in: %w: wrong password", driver.ErrUnauthorized)
	for name, login := range map[string]bool{"the login": true, "what comes after it": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var x exchange
				_, l := x.link(t)
				if err := l.Start(t.Context()); err != nil {
					t.Fatal(err)
				}
				var at []time.Time
				dial := l.Dial
				l.Dial = func(ctx context.Context) (*phone, error) {
					at = append(at, time.Now())
					w, err := dial(ctx)
					if err == nil {
						w.broken <- denied
					}
					return w, err
				}
				if login {
					x.fails = denied
				}
				l.Live().broken <- denied
				<-l.Done()
				if n := len(at); n < 3 || n > mostRefusals {
					t.Errorf("%d attempts", n)
				}
				for i := 2; i < len(at); i++ {
					if at[i].Sub(at[i-1]) <= at[i-1].Sub(at[i-2]) {
						t.Errorf("pauses do not grow: %v", at)
					}
				}
				if err := l.Absent(); !errors.Is(err, driver.ErrUnauthorized) || !strings.Contains(err.Error(), "wrong password") {
					t.Errorf("what is sent fails with %v", err)
				}
				if last := x.events[len(x.events)-1]; !strings.HasPrefix(last, "given up line: ") || !strings.Contains(last, "wrong password") {
					t.Errorf("events %q", x.events)
				}
			})
		})
	}
}

// A session that closes ends what is still connecting.
func TestLinkEndsWithItsSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var x exchange
		b, l := x.link(t)
		l.Dial = func(ctx context.Context) (*phone, error) {
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}
		started := make(chan error)
		go func() { started <- l.Start(t.Context()) }()
		synctest.Wait()
		b.Close(t.Context())
		if err := <-started; !errors.Is(err, driver.ErrClosed) {
			t.Error(err)
		}
		<-l.Done()
	})
}

// closer is a part that notes when it was ended.
type closer struct {
	takes time.Duration
	ended int
}

// Shut implements Part.
func (c *closer) Shut(ctx context.Context) error {
	c.ended++
	select {
	case <-time.After(c.takes):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func TestBaseClosesAllAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var x exchange
		b, _ := x.link(t)
		quick, slow, gone := &closer{takes: time.Minute}, &closer{takes: time.Hour}, new(closer)
		for i, p := range []*closer{quick, slow, gone} {
			if n, err := b.Keep(p); err != nil || n != i {
				t.Fatalf("part %d is number %d, %v", i, n, err)
			}
		}
		b.Forget(gone)
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		begun := time.Now()
		also := 0
		err := b.Close(ctx, func(context.Context) { also++ })
		if waited := time.Since(begun); waited != 2*time.Minute || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("closed after %v with %v", waited, err)
		}
		if quick.ended != 1 || slow.ended != 1 || gone.ended != 0 || also != 1 {
			t.Errorf("ended %d, %d, %d and %d times", quick.ended, slow.ended, gone.ended, also)
		}
		if _, err := b.Keep(quick); !errors.Is(err, driver.ErrClosed) {
			t.Errorf("a part of a closed session: %v", err)
		}
		if err := b.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
