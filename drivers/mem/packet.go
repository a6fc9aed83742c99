package mem

import (
	"sync/atomic"
	"time"
)

// packet is a message in queues. Its consumers share it.
type packet struct {
	broker      *Broker
	data        []byte
	redelivered bool
	reply       *consumer // waits for the answer; nil: not a request
	due         time.Time // when it arrives; zero: at once
	since       uint64    // number of connection changes when it was handed on
	refs        atomic.Int32
}

// pack returns a packet with a copy of data and one reference.
func (b *Broker) pack(data []byte) *packet {
	p, ok := b.packets.Get().(*packet)
	if !ok {
		p = &packet{broker: b}
	}
	p.data = append(p.data[:0], data...)
	p.since = b.changes.Load()
	p.refs.Store(1)
	return p
}

// release gives one reference back.
func (p *packet) release() {
	if p.refs.Add(-1) > 0 {
		return
	}
	p.redelivered, p.reply, p.due = false, nil, time.Time{}
	p.broker.packets.Put(p)
}
