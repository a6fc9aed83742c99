package kit

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sixnines/driver"
)

// conn is a link that counts how often it was closed.
type conn struct {
	key    string
	closed atomic.Int32
}

// broker makes and ends links.
type broker struct {
	allow    chan error // an answer to each attempt to connect; nil: at once
	connects atomic.Int32
	made     sync.Map      // of *conn
	closing  time.Duration // how long it takes to close
}

func (b *broker) connect(ctx context.Context, key string) (*conn, error) {
	b.connects.Add(1)
	if b.allow != nil {
		select {
		case err := <-b.allow:
			if err != nil {
				return nil, err
			}
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	c := &conn{key: key}
	b.made.Store(c, nil)
	return c, nil
}

func (b *broker) close(ctx context.Context, c *conn) {
	c.closed.Add(1)
	select {
	case <-time.After(b.closing):
	case <-ctx.Done():
	}
}

func (b *broker) pool() *Pool[string, *conn] { return NewPool("test", b.connect, b.close) }

// check wants of every connection that it was closed so often.
func (b *broker) check(t *testing.T, closed int32) {
	t.Helper()
	b.made.Range(func(c, _ any) bool {
		if n := c.(*conn).closed.Load(); n != closed {
			t.Errorf("a link was closed %d times, want %d", n, closed)
		}
		return true
	})
}

// result is what an Acquire has returned.
type result struct {
	conn *conn
	err  error
}

// acquire calls Acquire and sends on what it returns.
func acquire(ctx context.Context, p *Pool[string, *conn], key string) <-chan result {
	results := make(chan result, 1)
	go func() {
		c, err := p.Acquire(ctx, key)
		results <- result{c, err}
	}()
	synctest.Wait()
	return results
}

func TestUsersOfAKeyShareALink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &broker{allow: make(chan error)}
		p := b.pool()
		first, second := acquire(t.Context(), p, "a"), acquire(t.Context(), p, "a")
		if n := b.connects.Load(); n != 1 {
			t.Fatalf("%d connections are being made for one key", n)
		}
		b.allow <- nil
		one, two := <-first, <-second
		if one.err != nil || two.err != nil || one.conn != two.conn {
			t.Fatalf("%+v and %+v, want the same link", one, two)
		}
		b.allow = nil
		other, err := p.Acquire(t.Context(), "b")
		if err != nil || other == one.conn || other.key != "b" {
			t.Fatalf("another key: %+v, %v", other, err)
		}
		p.Release(t.Context(), "b", other)
		p.Release(t.Context(), "a", one.conn)
		if other.closed.Load() != 1 || one.conn.closed.Load() != 0 {
			t.Error("the first of two users has closed the link, or the only one has not")
		}
		p.Release(t.Context(), "a", two.conn)
		b.check(t, 1)
		if again, err := p.Acquire(t.Context(), "a"); err != nil || again == one.conn {
			t.Errorf("after the last user: %+v, %v, want a link of its own", again, err)
		}
	})
}

func TestWaiterGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &broker{allow: make(chan error)}
		p := b.pool()
		first := acquire(t.Context(), p, "a")
		ctx, cancel := context.WithCancelCause(t.Context())
		second := acquire(ctx, p, "a")
		bored := errors.New("bored")
		cancel(bored)
		if r := <-second; r.conn != nil || !errors.Is(r.err, driver.ErrNotConnected) || !errors.Is(r.err, bored) ||
			!strings.HasPrefix(r.err.Error(), "test: connect: ") {
			t.Errorf("whose context has ended: %+v", r)
		}
		b.allow <- nil
		r := <-first
		if r.err != nil {
			t.Fatal(r.err)
		}
		b.check(t, 0)
		p.Release(t.Context(), "a", r.conn)
		b.check(t, 1) // who gave up is no user
	})
}

func TestFailureIsEverybodys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &broker{allow: make(chan error)}
		p := b.pool()
		waiting := []<-chan result{acquire(t.Context(), p, "a"), acquire(t.Context(), p, "a"), acquire(t.Context(), p, "a")}
		refused := errors.New("refused")
		b.allow <- refused
		for _, w := range waiting {
			if r := <-w; r.conn != nil || r.err != refused {
				t.Errorf("%+v, want the error of connecting", r)
			}
		}
		next := acquire(t.Context(), p, "a")
		b.allow <- nil
		r := <-next
		if r.err != nil {
			t.Fatal("after a failure: ", r.err)
		}
		p.Release(t.Context(), "a", r.conn)
		b.check(t, 1)
	})
}

// Who gives up waiting for an attempt that has failed must not be counted against
// the one that came after.
func TestFailureLeavesNoUsers(t *testing.T) {
	var b broker
	p := b.pool()
	c, err := p.Acquire(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	p.leave(t.Context(), "a", &slot[*conn]{users: 1, err: errors.New("refused")})
	b.check(t, 0)
	p.Release(t.Context(), "a", c)
	b.check(t, 1)
}

// What Close and Drain find being connected is closed by who connects it.
func TestTooLate(t *testing.T) {
	for name, end := range map[string]func(*Pool[string, *conn], context.Context){
		"Close": (*Pool[string, *conn]).Close, "Drain": (*Pool[string, *conn]).Drain,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &broker{allow: make(chan error)}
				p := b.pool()
				first, second := acquire(t.Context(), p, "a"), acquire(t.Context(), p, "a")
				ended := make(chan struct{})
				go func() { defer close(ended); end(p, t.Context()) }()
				synctest.Wait()
				select {
				case <-ended:
					t.Error("it has not waited for what is being connected")
				default:
				}
				b.allow <- nil
				for _, w := range []<-chan result{first, second} {
					if r := <-w; r.conn != nil || !errors.Is(r.err, driver.ErrClosed) || !strings.HasPrefix(r.err.Error(), "test: connect: ") {
						t.Errorf("%+v, want an error that says closed", r)
					}
				}
				<-ended
				synctest.Wait()
				b.check(t, 1)
			})
		})
	}
}

func TestCloseIsOverAtItsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &broker{closing: time.Hour}
		p := b.pool()
		for _, key := range []string{"a", "b", "c"} {
			if _, err := p.Acquire(t.Context(), key); err != nil {
				t.Fatal(err)
			}
		}
		b.allow = make(chan error) // this one never connects
		stuck, stop := context.WithCancel(t.Context())
		waiting := acquire(stuck, p, "d")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		begun := time.Now()
		p.Close(ctx)
		// The clock is the bubble's: nothing but waiting moves it.
		if waited := time.Since(begun); waited != time.Minute {
			t.Errorf("Close has waited %v of a minute", waited)
		}
		b.check(t, 1)
		stop()
		if r := <-waiting; !errors.Is(r.err, context.Canceled) {
			t.Errorf("%+v", r)
		}
	})
}

// Who has no time left to close gracefully closes all the same.
func TestCloseWithoutTime(t *testing.T) {
	var b broker
	p := b.pool()
	for i := range 20 {
		if _, err := p.Acquire(t.Context(), string(rune('a'+i))); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p.Close(ctx)
	b.check(t, 1)
}

func TestCloseClosesAtTheSameTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &broker{closing: time.Minute}
		p := b.pool()
		for _, key := range []string{"a", "b", "c"} {
			if _, err := p.Acquire(t.Context(), key); err != nil {
				t.Fatal(err)
			}
		}
		begun := time.Now()
		p.Close(t.Context())
		if waited := time.Since(begun); waited != time.Minute {
			t.Errorf("three links that take a minute each took %v", waited)
		}
		b.check(t, 1)
	})
}

func TestNothingAfterClose(t *testing.T) {
	var b broker
	p := b.pool()
	c, err := p.Acquire(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	p.Close(t.Context())
	p.Release(t.Context(), "a", c)
	p.Close(t.Context())
	b.check(t, 1)
	if c, err := p.Acquire(t.Context(), "a"); c != nil || !errors.Is(err, driver.ErrClosed) || b.connects.Load() != 1 {
		t.Errorf("%+v, %v after %d connections, want an error without another", c, err, b.connects.Load())
	}
}

func TestDrainLetsConnectAnew(t *testing.T) {
	var b broker
	p := b.pool()
	old, err := p.Acquire(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	p.Drain(t.Context())
	c, err := p.Acquire(t.Context(), "a")
	if err != nil || c == old || old.closed.Load() != 1 {
		t.Fatalf("%+v, %v, want another link than the one that was closed", c, err)
	}
	p.Release(t.Context(), "a", old) // which Drain has taken
	if c.closed.Load() != 0 {
		t.Error("whose link was drained has closed that of somebody else")
	}
	p.Release(t.Context(), "a", c)
	b.check(t, 1)
}

// TestUsersComeAndGo lets many acquire and release few keys while the pool
// drains and at last closes: whatever the order, nobody gets a link that its
// release does not see to, and each is closed once.
func TestUsersComeAndGo(t *testing.T) {
	var b broker
	p := b.pool()
	var users sync.WaitGroup
	for range 8 {
		users.Go(func() {
			for i := range 500 {
				key := string(rune('a' + i%3))
				c, err := p.Acquire(t.Context(), key)
				switch {
				case err == nil && c.key != key:
					t.Errorf("the link of %s for %s", c.key, key)
				case err == nil:
					p.Release(t.Context(), key, c)
				case !errors.Is(err, driver.ErrClosed):
					t.Error(err)
				}
			}
		})
	}
	for range 100 {
		p.Drain(t.Context())
	}
	p.Close(t.Context())
	users.Wait()
	b.check(t, 1)
}
