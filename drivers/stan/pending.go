package stan

import (
	"encoding/binary"
	"encoding/hex"
	"sync"
)

// guid identifies a message to the server, which gives it back with the
// acknowledgement. It names a place in a pending table, and how often that
// place has been taken.
type guid struct{ place, turn uint32 }

const guidSize = 16

func (g guid) appendTo(b []byte) []byte {
	var raw [8]byte
	binary.BigEndian.PutUint32(raw[:], g.place)
	binary.BigEndian.PutUint32(raw[4:], g.turn)
	return hex.AppendEncode(b, raw[:])
}

func parseGUID(text []byte) (g guid, ok bool) {
	var raw [8]byte
	if len(text) != guidSize {
		return g, false
	}
	if _, err := hex.Decode(raw[:], text); err != nil {
		return g, false
	}
	return guid{binary.BigEndian.Uint32(raw[:]), binary.BigEndian.Uint32(raw[4:])}, true
}

// pending holds the messages of one connection that are without an
// acknowledgement. Its methods are safe for concurrent use; Done is called
// without its lock.
type pending struct {
	limit int

	mu      sync.Mutex
	room    *sync.Cond // waits for fewer than limit, or the end
	entries []entry
	free    []uint32
	ended   bool
}

type entry struct {
	producer *producer // nil: the place is free
	token    uint64
	turn     uint32
}

func newPending(limit int) *pending {
	p := &pending{limit: limit}
	p.room = sync.NewCond(&p.mu)
	return p
}

// take finds a place for a message, and blocks while the limit is reached. It
// fails once the connection has ended.
func (p *pending) take(from *producer, token uint64) (guid, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.ended && len(p.entries)-len(p.free) >= p.limit && !from.closed.Load() {
		p.room.Wait()
	}
	if p.ended || from.closed.Load() {
		return guid{}, false
	}
	if len(p.free) == 0 {
		p.free = append(p.free, uint32(len(p.entries)))
		p.entries = append(p.entries, entry{})
	}
	place := p.free[len(p.free)-1]
	p.free = p.free[:len(p.free)-1]
	e := &p.entries[place]
	e.producer, e.token, e.turn = from, token, e.turn+1
	return guid{place, e.turn}, true
}

// remove gives the place up and returns what was in it; nothing if that has
// been resolved already.
func (p *pending) remove(g guid) (from *producer, token uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if int64(g.place) >= int64(len(p.entries)) {
		return nil, 0
	}
	e := &p.entries[g.place]
	if e.turn != g.turn || e.producer == nil {
		return nil, 0
	}
	from, token = e.producer, e.token
	e.producer = nil
	p.free = append(p.free, g.place)
	p.room.Signal()
	return from, token
}

// wake lets blocked takers look again.
func (p *pending) wake() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.room.Broadcast()
}

// end resolves all that is left with err and lets nothing in any more.
func (p *pending) end(err error) {
	p.mu.Lock()
	p.ended = true
	left := p.entries
	p.entries, p.free = nil, nil
	p.room.Broadcast()
	p.mu.Unlock()
	for _, e := range left {
		if e.producer != nil {
			e.producer.done(e.token, err)
		}
	}
}

// acknowledged reads a PubAck and resolves what it is about.
func (p *pending) acknowledged(b []byte) (ok bool) {
	text, refused, ok := parsePubAck(b)
	if !ok {
		return false
	}
	g, ok := parseGUID(text)
	if !ok {
		return false
	}
	from, token := p.remove(g)
	if from == nil {
		return true // the answer came after all had been given up
	}
	var err error
	if len(refused) > 0 {
		err = wrap(refusal(string(refused)), "send to %q", from.channel)
	}
	from.done(token, err)
	return true
}
