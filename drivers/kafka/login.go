package kafka

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// logins counts the logins that the broker refuses to one link, whose client would go on
// trying for as long as it lives. Each refusal makes the pause before the next connection
// longer; after some of them no more is made. It is safe for concurrent use.
type logins struct {
	mu      sync.Mutex
	refused kit.Refusals
	next    time.Time // before which no connection is made
	pause   time.Duration
	before  bool // a login has been accepted

	gaveUp atomic.Pointer[error] // why no connection is made any more; nil: they are
}

// loginsOf returns those of the key's links: a transactional producer makes one link after
// another.
func (s *session) loginsOf(key kit.Key) *logins {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.logins == nil {
		s.logins = map[kit.Key]*logins{}
	}
	l := s.logins[key]
	if l == nil {
		l = &logins{}
		s.logins[key] = l
	}
	return l
}

// over returns why no connection is made any more; nil: they are.
func (l *logins) over() error {
	if why := l.gaveUp.Load(); why != nil {
		return *why
	}
	return nil
}

// await waits until a connection may be made. Several that wait are let through one after
// the other, a pause apart.
func (l *logins) await(ctx context.Context) error {
	l.mu.Lock()
	wait := time.Until(l.next)
	if l.pause > 0 {
		l.next = time.Now().Add(max(wait, 0) + l.pause)
	}
	l.mu.Unlock()
	if wait > 0 {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return l.over()
}

// accepted notes that a login was accepted.
func (l *logins) accepted() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refused.Reset()
	l.next, l.pause, l.before = time.Time{}, 0, true
}

// failed notes why the broker refuses a login, and reports whether it is the first in a row
// of one that was accepted before, or the last that is tried.
func (l *logins) failed(why error) (first, last bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over() != nil {
		return false, false
	}
	first = l.before && l.pause == 0
	pause, again := l.refused.Add(why, 0)
	if !again {
		gone := fmt.Errorf("given up: %w", why)
		l.gaveUp.Store(&gone)
		return first, true
	}
	l.pause = pause
	if at := time.Now().Add(pause); at.After(l.next) {
		l.next = at
	}
	return first, false
}

// OnBrokerConnect implements kgo.HookBrokerConnect: err is why the connection could not be
// made, or why the login on it failed.
func (d *dialer) OnBrokerConnect(to kgo.BrokerMetadata, _ time.Duration, _ net.Conn, err error) {
	s := d.session
	address := net.JoinHostPort(to.Host, strconv.Itoa(int(to.Port)))
	if err == nil {
		driver.LoggedIn(d.maker)
		d.logins.accepted()
		d.mu.Lock()
		back := d.lost[address]
		delete(d.lost, address)
		d.mu.Unlock()
		if back {
			d.tell(driver.Reconnected, address)
		}
		return
	}
	// Only what the broker answers is a refusal: one that hangs up may be on its way down.
	var answer *kerr.Error
	if !errors.As(err, &answer) || !errors.Is(classOf(err), driver.ErrUnauthorized) || s.Closed() {
		return
	}
	why := s.connecting(err, "log in at %s", address)
	e := driver.Event{Kind: driver.AsyncError, Detail: d.key.String() + ": " + why.Error(), Err: why}
	switch first, last := d.logins.failed(why); {
	case last:
		e.Kind = driver.GivenUp
		s.Target.Notify(e)
	case first:
		s.Target.Notify(e)
	}
}
