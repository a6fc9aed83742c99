package rabbitmq

import (
	"sync"

	"sixnines/drivers/rabbitmq/wire"
)

// backlog hands messages to a slow consumer on a goroutine of its own, so that
// the one that reads the connection goes on. It has no limit: what the broker
// may send ahead is the broker's to say, see Options.Prefetch.
type backlog struct {
	consumer *consumer

	mu      sync.Mutex
	more    sync.Cond
	waiting []delivery
	stopped bool
}

// delivery is a copy of one.
type delivery struct {
	in *intake
	wire.Delivery
}

func newBacklog(c *consumer) *backlog {
	b := &backlog{consumer: c}
	b.more.L = &b.mu
	go b.run()
	return b
}

func (b *backlog) add(in *intake, d wire.Delivery) {
	// One allocation for both copies.
	all := append(append(make([]byte, 0, len(d.Body)+len(d.Properties)), d.Body...), d.Properties...)
	d.Body, d.Properties = all[:len(d.Body):len(d.Body)], all[len(d.Body):]
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.stopped {
		b.waiting = append(b.waiting, delivery{in, d})
		b.more.Signal()
	}
}

func (b *backlog) run() {
	var batch []delivery
	for {
		b.mu.Lock()
		for len(b.waiting) == 0 && !b.stopped {
			b.more.Wait()
		}
		if b.stopped {
			b.mu.Unlock()
			return
		}
		batch, b.waiting = b.waiting, batch[:0]
		b.mu.Unlock()
		for i := range batch {
			if b.consumer.closed.Load() {
				break
			}
			batch[i].in.deliver(batch[i].Delivery, true)
			batch[i] = delivery{}
		}
		clear(batch)
	}
}

func (b *backlog) stop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stopped = true
	b.more.Signal()
}
