//go:build zeromq && cgo && !windows

package zeromq

import (
	"context"
	"fmt"
	"time"

	"sixnines/driver"
	"sixnines/drivers/internal/mesh"
)

// link is a socket that sends, and is shared by the producers of a line.
type link struct {
	*socket
	session *session
	member  *mesh.Member
}

// link connects the socket of a line.
func (s *session) link(ctx context.Context, line mesh.Line) (*link, error) {
	r := mesh.Publishes
	if s.Pipeline {
		r = mesh.Pushes
	}
	sock, m, others, err := s.open(r, line.Keys(), nil)
	if err != nil {
		return nil, err
	}
	l := &link{socket: sock, session: s, member: m}
	for _, o := range others {
		if err := s.settle(ctx, sock, o.Socket.(*socket)); err != nil {
			l.close()
			return nil, err
		}
	}
	return l, nil
}

// close takes the socket away from its peers, and closes it.
func (l *link) close() {
	l.session.Room.Remove(l.member)
	l.socket.close()
}

// The pauses between attempts to send what does not fit: short, for a reader
// makes room for a hundred messages in this time; it costs a sender that is held
// up anyway.
const (
	firstPause = 20 * time.Microsecond
	lastPause  = time.Millisecond
)

// send sends head and body as one message. It waits while the queue is full,
// until the socket closes.
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
		if l.role != mesh.Publishes && l.member.Peers() == 0 {
			return mesh.ErrNobody
		}
		time.Sleep(pause)
		pause = min(2*pause, lastPause)
	}
}
