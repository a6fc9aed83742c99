package nanomsg

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"go.nanomsg.org/mangos/v3"

	"sixnines/driver"
)

// linkKey names a socket that sends. Topics of a pipeline have one each.
type linkKey struct {
	conn  int
	topic string
}

// link is a socket that sends, and is shared by the producers of a connection.
type link struct {
	*node
	key   linkKey
	ready chan struct{} // closed when node or err is set
	err   error
	users int // guarded by the session's mu
	once  sync.Once
}

// acquire returns the link called key, or makes it.
func (s *session) acquire(ctx context.Context, r role, key linkKey, meet string) (*link, error) {
	done, err := s.join("connect")
	if err != nil {
		return nil, err
	}
	defer done()
	s.mu.Lock()
	l, shared := s.links[key]
	if !shared {
		l = &link{key: key, ready: make(chan struct{})}
		s.links[key] = l
	}
	l.users++
	s.mu.Unlock()
	if shared {
		select {
		case <-l.ready:
			return l, l.err
		case <-ctx.Done():
			s.release(l)
			return nil, fmt.Errorf("nanomsg: connect: %w: %w", driver.ErrTimeout, context.Cause(ctx))
		}
	}
	n, err := s.newNode(r, nil)
	if err == nil {
		err = s.add(ctx, n, meet)
	}
	s.mu.Lock()
	if l.node, l.err = n, err; err != nil && s.links[key] == l {
		delete(s.links, key)
	}
	s.mu.Unlock()
	close(l.ready)
	return l, err
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

// close closes the socket, if it came to one.
func (l *link) close() {
	l.once.Do(func() {
		select {
		case <-l.ready:
			if l.err == nil {
				l.node.close()
			}
		default: // still being made, after a close that could not wait
		}
	})
}

// producer implements driver.Producer. What it is given has been copied, and
// written unless the library queues it, so Done comes inside Send.
type producer struct {
	session *session
	link    *link
	topic   string
	head    string // before each payload
	acks    driver.Acks
	closed  atomic.Bool
}

// prefix is what messages of a topic begin with.
func prefix(topic string) string { return topic + "\x00" }

// The keys by which sockets meet.
const meetPublishers = "publish"

func meetPushers(topic string) string    { return "push " + topic }
func meetResponders(topic string) string { return "request " + topic }

// Producer implements driver.Session.
func (s *session) Producer(ctx context.Context, spec driver.ProducerSpec, acks driver.Acks) (driver.Producer, error) {
	if err := checkTopic(spec.Topic); err != nil {
		return nil, err
	}
	p := &producer{session: s, topic: spec.Topic, acks: acks}
	var err error
	if s.driver.pipeline {
		p.link, err = s.acquire(ctx, pushes, linkKey{spec.Conn, spec.Topic}, meetPushers(spec.Topic))
	} else {
		p.head = prefix(spec.Topic)
		p.link, err = s.acquire(ctx, publishes, linkKey{conn: spec.Conn}, meetPublishers)
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Send implements driver.Producer.
func (p *producer) Send(token uint64, payload []byte) error {
	if p.closed.Load() || p.link.isClosed() {
		return fmt.Errorf("nanomsg: send to %q: producer %w", p.topic, driver.ErrClosed)
	}
	m := mangos.NewMessage(len(p.head) + len(payload))
	m.Body = append(append(m.Body, p.head...), payload...)
	return sent(p.link.node, p.acks, p.topic, token, p.link.sock.SendMsg(m))
}

// sent ends a Send with the library's answer. That nobody is there to take a
// message is not the sender's failure, but an answer to it.
func sent(n *node, acks driver.Acks, topic string, token uint64, err error) error {
	switch {
	case err == nil:
		acks.Done(token, nil)
		return nil
	case n.isClosed():
		err = driver.ErrClosed // whatever the dying connection said
	case errors.Is(err, errNoPeers), errors.Is(err, mangos.ErrNoPeers):
		acks.Done(token, fmt.Errorf("nanomsg: send to %q: %w: nobody is there to take it", topic, driver.ErrNotConnected))
		return nil
	default:
		// It may have been written in part, or in full.
		acks.Done(token, fmt.Errorf("nanomsg: send to %q: %w: %w: %w", topic, driver.ErrTimeout, driver.ErrNotConnected, err))
		return nil
	}
	return fmt.Errorf("nanomsg: send to %q: %w", topic, err)
}

// Close implements driver.Producer. The socket closes with its last producer.
func (p *producer) Close(context.Context) error {
	if p.closed.CompareAndSwap(false, true) {
		p.session.release(p.link)
	}
	return nil
}
