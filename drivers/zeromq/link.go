//go:build zeromq && cgo && !windows

package zeromq

import (
	"context"
	"fmt"
	"sync"
	"time"

	"sixnines/driver"
	"sixnines/drivers/internal/mesh"
)

// linkKey names a socket that sends. Topics of a pipeline have one each.
type linkKey struct {
	conn  int
	topic string
}

// link is a socket that sends, and is shared by the producers of a connection.
type link struct {
	*socket
	session *session
	key     linkKey
	member  *mesh.Member
	users   int // guarded by the session's mu
	once    sync.Once
}

// acquire returns the link called key, or makes it.
func (s *session) acquire(ctx context.Context, k kind, key linkKey, meet string) (*link, error) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, s.errClosed("connect")
	}
	if l := s.links[key]; l != nil {
		l.users++
		s.mu.Unlock()
		return l, nil
	}
	s.mu.Unlock()
	sock, m, others, err := s.open(k, []string{meet}, nil)
	if err != nil {
		return nil, err
	}
	l := &link{socket: sock, session: s, key: key, member: m, users: 1}
	s.mu.Lock()
	same, closed := s.links[key], s.closed
	if same != nil {
		same.users++ // another was quicker
	} else if !closed {
		s.links[key] = l
	}
	s.mu.Unlock()
	if closed {
		l.close()
		return nil, s.errClosed("connect")
	}
	if same != nil {
		l.close()
		return same, nil
	}
	for _, o := range others {
		if err := s.settle(ctx, sock, o.Socket.(*socket)); err != nil {
			s.release(l)
			return nil, err
		}
	}
	return l, nil
}

// release closes the link after its last user.
func (s *session) release(l *link) {
	s.mu.Lock()
	l.users--
	last := l.users == 0
	if last && s.links[l.key] == l {
		delete(s.links, l.key)
	}
	s.mu.Unlock()
	if last {
		l.close()
	}
}

// close takes the socket away from its peers, and closes it.
func (l *link) close() {
	l.once.Do(func() {
		l.session.room.Remove(l.member)
		l.socket.close()
	})
}

// The pauses between attempts to send what does not fit: short, for a reader
// makes room for a hundred messages in this time; it costs a sender that is held
// up anyway.
const (
	firstPause = 20 * time.Microsecond
	lastPause  = time.Millisecond
)

// send sends head and body as one message. It waits while the queue is full,
// until the socket closes. It returns errNobody if nobody is there to take it.
func (l *link) send(head string, body []byte) error {
	pause := firstPause
	for {
		l.mu.Lock()
		if l.ptr == nil {
			l.mu.Unlock()
			return driver.ErrClosed
		}
		rc := send(l.ptr, head, body)
		l.mu.Unlock()
		if rc == 0 {
			return nil
		}
		if !again(rc) {
			return fmt.Errorf("%w: %w", driver.ErrNotConnected, failure(rc))
		}
		if l.kind != publishes && l.member.Peers() == 0 {
			return errNobody{l.key.topic}
		}
		time.Sleep(pause)
		pause = min(2*pause, lastPause)
	}
}

// errNobody says that no consumer is there to take a message of the topic.
type errNobody struct{ topic string }

func (e errNobody) Error() string {
	return fmt.Sprintf("zeromq: send to %q: %v: nobody is there to take it", e.topic, driver.ErrNotConnected)
}

func (e errNobody) Unwrap() error { return driver.ErrNotConnected }
