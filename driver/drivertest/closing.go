package drivertest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"sixnines/driver"
)

func checkCloseTwice(ctx context.Context, h *Harness) error {
	return with(ctx, h, topics("t0"), func(r *rig) error {
		l := newLedger()
		p, err := r.producer(ctx, 0, "t0", h.size(), l)
		if err != nil {
			return err
		}
		c, err := r.consumer(ctx, 0, "", newInbox(), "t0")
		if err != nil {
			return err
		}
		for range 2 {
			if err := errors.Join(p.Close(ctx), c.Close(ctx)); err != nil {
				return fmt.Errorf("close producer and consumer twice: %w", err)
			}
		}
		return r.close() // with closes it again
	})
}

// lingering is how long a check watches for something that must not happen.
const lingering = 100 * time.Millisecond

// ahead is how many messages a sender may be ahead of the receiver.
const ahead = 10_000

// checkConsumerClose closes a consumer in the middle of a stream that another
// consumer continues to receive.
func checkConsumerClose(ctx context.Context, h *Harness) error {
	t := driver.Topology{Topics: []string{"t0"}, Consumers: 2}
	return with(ctx, h, t, func(r *rig) error {
		l, leaver, stayer := newLedger(), newInbox(), newInbox()
		c, err := r.consumer(ctx, 0, "", leaver, "t0")
		if err != nil {
			return err
		}
		if h.can().FanOut {
			if _, err := r.consumer(ctx, 1, "", stayer, "t0"); err != nil {
				return err
			}
		}
		p, err := r.producer(ctx, 0, "t0", h.size(), l)
		if err != nil {
			return err
		}
		stop := make(chan struct{})
		sent := make(chan error, 1)
		var next atomic.Uint64
		go func() {
			for seq := uint64(0); ; seq++ {
				select {
				case <-stop:
					sent <- nil
					return
				default:
				}
				next.Store(seq + 1)
				err := sendMany(l, p, 0, seq, 1, h.size())
				if err == nil && h.can().FanOut { // libraries drop what does not fit into their queues
					err = stayer.wait(ctx, func() bool { return len(stayer.got)+ahead > int(seq) },
						func() string { return "a consumer does not keep up while another one is closed" })
				}
				if err != nil {
					sent <- err
					return
				}
			}
		}()
		seen := leaver.wait(ctx, func() bool { return len(leaver.got) >= 50 }, func() string { return "no messages flow" })
		err = errors.Join(seen, c.Close(ctx))
		leaver.close()
		// The stream goes on for a moment, so that a delivery to the closed consumer
		// shows even if its goroutine had to wait for a processor.
		moment, cancel := context.WithTimeout(ctx, min(h.patience(), lingering))
		defer cancel()
		_ = leaver.wait(moment, func() bool { return len(leaver.faults) > 0 }, func() string { return "" }) // kept tells
		if err == nil && h.can().FanOut {
			// Messages sent from now on still reach the consumer that stays.
			if err = stayer.has(ctx, letter{0, next.Load() + 100}); err != nil {
				err = fmt.Errorf("after another consumer was closed: %w", err)
			}
		}
		close(stop)
		if err := errors.Join(<-sent, err); err != nil {
			return err
		}
		if err := leaver.kept(-1); err != nil {
			return err
		}
		return l.kept()
	})
}

// checkCloseBusy closes a session under producers that send, a consumer that
// receives and others that are still being connected.
func checkCloseBusy(ctx context.Context, h *Harness) error {
	for round := range 5 {
		r, err := openRig(ctx, h, newRun(), round%2 == 1)
		if err != nil {
			return err
		}
		t := driver.Topology{Topics: []string{"t0"}, Producers: 4, Consumers: 2, MaxSize: 1 << 10}
		if _, err := r.session.Provision(ctx, t); err != nil {
			return errors.Join(err, r.close())
		}
		if err := closeBusy(ctx, h, r); err != nil {
			return err
		}
		if h.Leftovers != nil { // Close has ended the connections, so that deprovisioning needs a new session
			again, err := openRig(ctx, h, r.run, false)
			if err != nil {
				return err
			}
			if _, err := again.session.Provision(ctx, t); err == nil {
				again.session.Deprovision(ctx)
			}
			if err := again.close(); err != nil {
				return err
			}
		}
	}
	return nil
}

// flood is how many messages a producer sends before it waits until the session is about
// to close. A broker that takes more messages than it can deliver is still busy with them
// when the next check begins: RabbitMQ's plugin for AMQP 1.0 takes 65,000 from each producer.
const flood = 5000

func closeBusy(ctx context.Context, h *Harness, r *rig) error {
	l, got := newLedger(), newInbox()
	if _, err := r.consumer(ctx, 0, "", got, "t0"); err != nil {
		return errors.Join(err, r.close())
	}
	closing, begin := context.WithCancel(ctx)
	defer begin()
	var busy sync.WaitGroup
	for id := range 3 {
		p, err := r.producer(ctx, id, "t0", h.size(), l)
		if err != nil {
			return errors.Join(err, r.close())
		}
		busy.Go(func() {
			for seq := uint64(0); ; seq++ {
				if seq == flood {
					<-closing.Done()
				}
				if err := l.send(p, tokenOf(uint32(id), seq), letter{uint32(id), seq}.write(h.size())); err != nil {
					return // Close has reached it
				}
				if err := flush(p); err != nil {
					return
				}
			}
		})
	}
	busy.Go(func() { // succeeds before Close, or gets an error
		r.session.Producer(ctx, driver.ProducerSpec{ID: 3, Conn: 3, Topic: "t0", Size: h.size()}, l)
	})
	errs := []error{got.wait(ctx, func() bool { return len(got.got) >= 100 }, func() string { return "no messages flow" })}
	var before int
	l.update(func() { before = len(l.entries) })
	begin()
	// Close finds them sending, or within a Send that blocks.
	soon, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	_ = l.wait(soon, func() bool { return len(l.entries) >= before+3 }, func() string { return "" })
	cancel()
	errs = append(errs, r.close())
	ended := make(chan struct{})
	go func() {
		busy.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
		errs = append(errs, errors.New("a producer still sends, or hangs in Send, after its session has closed"))
	}
	return errors.Join(append(errs, l.kept(), got.kept(-1))...)
}

// checkCloseFrozen is the only check that asserts a time, which the contract demands: a
// Close with a deadline of one second returns within one and a half times what a plain
// timer of one second takes on this machine at the time. It may be late twice, since a machine may be busy
// with something else; one that waits for the broker or for another time is late each time.
func checkCloseFrozen(ctx context.Context, h *Harness) (err error) {
	for range 3 {
		if err = closeFrozen(ctx, h); !errors.Is(err, errClosedLate) {
			break
		}
	}
	return err
}

var errClosedLate = errors.New("closed late")

func closeFrozen(ctx context.Context, h *Harness) error {
	r, err := openRig(ctx, h, newRun(), false)
	if err != nil {
		return err
	}
	t := topics("t0")
	t.Producers, t.Consumers, t.MaxSize = 1, 1, h.maxPayload()
	if _, err := r.session.Provision(ctx, t); err != nil {
		return errors.Join(err, r.close())
	}
	l, got := newLedger(), newInbox()
	if _, err := r.consumer(ctx, 0, "", got, "t0"); err != nil {
		return errors.Join(err, r.close())
	}
	size := min(64<<10, h.maxPayload())
	p, err := r.producer(ctx, 0, "t0", size, l)
	if err != nil {
		return errors.Join(err, r.close())
	}
	h.Freeze()
	thaw := sync.OnceFunc(h.Thaw)
	defer thaw()

	// Send until it blocks, fails or has taken more than any buffer should.
	var sent watch
	var count int
	over := false
	sender := make(chan struct{})
	go func() {
		defer close(sender)
		const most = 256 << 20
		for seq := 0; seq*size < most; seq++ {
			if l.send(p, tokenOf(0, uint64(seq)), letter{0, uint64(seq)}.write(size)) != nil || flush(p) != nil {
				break
			}
			sent.update(func() { count++ })
		}
		sent.update(func() { over = true })
	}()
	stuck := func(before int) bool {
		still, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
		defer cancel()
		return sent.wait(still, func() bool { return count > before || over }, func() string { return "" }) != nil
	}
	for last := -1; ; {
		sent.mu.Lock()
		now, done := count, over
		sent.mu.Unlock()
		if done || now == last && stuck(now) {
			break
		}
		last = now
		if ctx.Err() != nil {
			return errors.New("a Send neither blocks nor ends with the broker frozen")
		}
		runtime.Gosched()
	}

	closing, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	reference := make(chan time.Duration, 1)
	start := time.Now()
	go func() {
		<-closing.Done()
		reference <- time.Since(start)
	}()
	returned := make(chan time.Duration, 1)
	go func() {
		r.session.Close(closing) // may report that it was not orderly
		returned <- time.Since(start)
	}()
	second := <-reference
	var took time.Duration
	select {
	case took = <-returned:
	case <-time.After(h.patience()):
		return errors.New("session Close hangs with the broker frozen")
	}
	if took > second*3/2 {
		return fmt.Errorf("%w: session Close with a deadline of one second took %v with the broker frozen (a bare timer took %v)", errClosedLate, took, second)
	}
	select {
	case <-sender:
	case <-ctx.Done():
		return errors.New("a Send hangs though its session has closed")
	}
	thaw()
	return l.kept()
}
