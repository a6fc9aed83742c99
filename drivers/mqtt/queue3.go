package mqtt

import (
	"net"
	"strings"
	"sync"
	"sync/atomic"

	paho3 "github.com/eclipse/paho.mqtt.golang"
	packets3 "github.com/eclipse/paho.mqtt.golang/packets"
)

// sent3 is a message that paho.mqtt.golang has taken, with its number in flight.
type sent3 struct {
	token  paho3.Token
	number uint16
}

// queue3 holds what was sent, in its order, until its token is looked at.
type queue3 struct {
	mu    sync.Mutex
	some  sync.Cond // signalled when there is a message
	ended bool      // no more messages come
	sent  []sent3
	taken []sent3 // by next
}

// push adds a message.
func (q *queue3) push(m sent3) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.sent = append(q.sent, m)
	q.some.Signal()
}

// next waits for messages and returns them all, to be used until the next call.
// None: no more will come.
func (q *queue3) next() []sent3 {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.sent) == 0 && !q.ended {
		q.some.Wait()
	}
	clear(q.taken)
	q.sent, q.taken = q.taken[:0], q.sent
	return q.taken
}

// end tells that no more messages come.
func (q *queue3) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended = true
	q.some.Broadcast()
}

// store3 is the store in which the library keeps messages until they are
// acknowledged, with a count of those that have come and want to be.
type store3 struct {
	*paho3.MemoryStore
	arrived atomic.Int64
}

// Put implements the library's Store.
func (s *store3) Put(key string, packet packets3.ControlPacket) {
	if _, message := packet.(*packets3.PublishPacket); message && strings.HasPrefix(key, "i.") {
		s.arrived.Add(1)
	}
	s.MemoryStore.Put(key, packet)
}

// guarded is a connection whose end the library does not learn from it but from
// connection3.end: at an error it would stop to take messages from those who hand
// them over, and let them wait for half a minute. What it writes afterwards is thrown
// away, as what is on its way is when a connection breaks.
type guarded struct {
	net.Conn
	of *connection3
}

// Read implements net.Conn. The library does not report that a connection was closed on
// this side.
func (g guarded) Read(b []byte) (int, error) {
	n, err := g.Conn.Read(b)
	if err != nil {
		g.of.fail(err)
		err = net.ErrClosed
	}
	return n, err
}

// Write implements net.Conn.
func (g guarded) Write(b []byte) (int, error) {
	if _, err := g.Conn.Write(b); err != nil {
		g.of.discards.Store(true)
		g.of.fail(err)
	}
	return len(b), nil
}
