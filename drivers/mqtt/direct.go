package mqtt

import (
	"context"
	"sync"
	"time"

	"sixnines/driver"
)

// limits implements connection.
func (w *wire) limits() *greeting { return &w.welcome }

// run implements connection.
func (w *wire) run() error {
	every := w.link.session.options.KeepAlive
	if k := w.welcome.keepAlive; k > 0 {
		every = min(every, time.Duration(k)*time.Second)
	}
	over := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() { w.watch(every, over) })
	err := w.link.read(w)
	w.mu.Lock()
	if w.why != nil {
		err = w.why
	}
	w.mu.Unlock()
	w.raw.Close() // lets go of a write in watch
	close(over)
	watching.Wait()
	return err
}

// send implements publisher. Without acknowledgements the packet has been written
// or copied when it returns, so that Done comes inside it.
func (w *wire) send(p *producer, token uint64, payload []byte) error {
	if p.qos() == 0 {
		if err := w.publish(p, 0, payload); err != nil {
			return err
		}
		p.acks.Done(token, nil)
		return nil
	}
	id, err := w.reserve(p.acks, token)
	if err != nil {
		return err
	}
	if err := w.publish(p, id, payload); err != nil {
		// The end of the wire may have resolved it already.
		if _, ours := w.release(id); ours {
			return err
		}
	}
	return nil
}

// sync implements publisher: the broker answers a ping after it has read what came
// before.
func (w *wire) sync(ctx context.Context, all bool) error {
	answered := make(chan struct{})
	if err := w.ping(answered); err != nil {
		return err
	}
	select {
	case <-answered:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if all {
		if empty := w.empty(); empty != nil {
			select {
			case <-empty:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}
	if w.over() {
		return driver.ErrNotConnected
	}
	return nil
}

// subscribe implements subscriber.
func (w *wire) subscribe(_ context.Context, c *consumer) error {
	if !w.welcome.present {
		c.known = nil
	}
	if err := w.write(appendSubscribe(nil, w.link.v5, subscription, c.qos, c.filters, false)); err != nil {
		return err
	}
	for {
		first, body, err := w.next()
		if err != nil {
			return err
		}
		if first&typeMask != typeSuback {
			if err := w.link.handle(w, first, body); err != nil {
				return err
			}
			continue
		}
		_, codes, err := parseSuback(w.link.v5, body)
		if err != nil {
			return err
		}
		return c.granted(codes)
	}
}

// unsubscribe implements subscriber. The goroutine that reads the answer has
// delivered what came before.
func (w *wire) unsubscribe(c *consumer) bool {
	if !w.last(appendUnsubscribe(nil, w.link.v5, subscription+1, c.filters)) {
		return false
	}
	w.conn.SetWriteDeadline(time.Time{}) // acknowledgements follow
	return true
}
