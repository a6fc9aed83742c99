package rabbitmqstream

import "sync"

// backlog hands messages to a slow consumer on a goroutine of its own, so that
// the one that reads the connection goes on. It has no limit.
type backlog struct {
	consumer *consumer

	mu      sync.Mutex
	more    sync.Cond
	waiting []delivery
	stopped bool
}

// delivery is a copy of one.
type delivery struct {
	part   *part
	offset uint64
	body   []byte
}

func newBacklog(c *consumer) *backlog {
	b := &backlog{consumer: c}
	b.more.L = &b.mu
	go b.run()
	return b
}

func (b *backlog) add(p *part, offset uint64, body []byte) {
	d := delivery{p, offset, append([]byte(nil), body...)}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.stopped {
		b.waiting = append(b.waiting, d)
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
			batch[i].part.deliver(batch[i].offset, batch[i].body, true)
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
