package nanomsg

import (
	"slices"
	"sync"

	"go.nanomsg.org/mangos/v3"
)

// backlog is what has come for a consumer that takes its time, or by a transport
// that has no buffers. It is safe for concurrent use.
type backlog struct {
	limit int // of messages, after which put waits; 0: none

	mu      sync.Mutex
	changed sync.Cond
	waiting []arrival
	closed  bool
}

// arrival is a message that has been kept.
type arrival struct {
	message *mangos.Message
	body    []byte
	answer  func(reply []byte) error // where the role is to respond
}

func newBacklog(limit int) *backlog {
	b := &backlog{limit: limit}
	b.changed.L = &b.mu
	return b
}

// put adds a message, unless the backlog has been closed.
func (b *backlog) put(a arrival) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.limit > 0 && len(b.waiting) >= b.limit && !b.closed {
		b.changed.Wait()
	}
	if b.closed {
		return false
	}
	b.waiting = append(b.waiting, a)
	b.changed.Broadcast()
	return true
}

// serve hands the messages over, in order, until the backlog is closed.
func (b *backlog) serve(handle func(body []byte, answer func(reply []byte) error)) {
	var now []arrival
	for {
		b.mu.Lock()
		for len(b.waiting) == 0 && !b.closed {
			b.changed.Wait()
		}
		if b.closed {
			b.mu.Unlock()
			return
		}
		now, b.waiting = b.waiting, now[:0]
		b.changed.Broadcast()
		b.mu.Unlock()
		for _, a := range now {
			handle(a.body, a.answer)
			a.message.Free()
		}
		clear(now)
	}
}

// close ends serve, and put.
func (b *backlog) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.changed.Broadcast()
}

// keep makes an arrival of a message that p has read.
func (p *pipe) keep(m *mangos.Message, body []byte) arrival {
	header := slices.Clone(p.header)
	return arrival{m, body, func(reply []byte) error { return p.reply(header, reply) }}
}
