//go:build zeromq && cgo && !windows

package zeromq

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"sixnines/driver"
	"sixnines/drivers/internal/mesh"
)

// atOnce is how many messages one call takes at most. It costs a kilobyte per
// eight.
const atOnce = 64

// receiver is a socket that receives with its goroutine. It implements
// driver.Consumer.
type receiver struct {
	*socket
	session *session
	member  *mesh.Member
	file    *os.File
	raw     syscall.RawConn
	batch   *batch
	// handle gets message i of the batch. It runs on the receiver's goroutine.
	handle func(r *receiver, i int, message []byte)
	closed atomic.Bool
	done   chan struct{} // closed when the goroutine has ended
	once   sync.Once
}

// receive starts a receiver of the kind that meets others by the keys.
func (s *session) receive(ctx context.Context, k kind, keys, subscriptions []string, handle func(r *receiver, i int, message []byte)) (*receiver, error) {
	r := &receiver{session: s, handle: handle, done: make(chan struct{})}
	var err error
	if r.batch, err = newBatch(atOnce); err != nil {
		return nil, fmt.Errorf("zeromq: %w: %w", driver.ErrNotConnected, err)
	}
	sock, m, others, err := s.open(k, keys, func(sock *socket) error {
		r.socket = sock
		if k == subscribes {
			sock.greeting = greeting(s.driver.greetings.Add(1))
			subscriptions = append(subscriptions, sock.greeting)
		}
		for _, prefix := range subscriptions {
			if err := sock.subscribe(prefix); err != nil {
				return err
			}
		}
		var err error
		if r.file, err = sock.descriptor(); err != nil {
			return err
		}
		if r.raw, err = r.file.SyscallConn(); err != nil {
			return err
		}
		sock.wake = r.poke
		return nil
	})
	if err != nil {
		r.batch.free()
		if r.file != nil {
			r.file.Close()
		}
		return nil, err
	}
	r.member = m
	go r.run()
	if !s.keep(r) {
		r.Close(ctx)
		return nil, s.errClosed("receive")
	}
	for _, o := range others {
		sender, peer := o.Socket.(*socket), sock
		if k == requests { // it is the one that sends
			sender, peer = peer, sender
		}
		if err := s.settle(ctx, sender, peer); err != nil {
			r.Close(ctx)
			return nil, err
		}
	}
	return r, nil
}

// poke wakes the receiver's goroutine: a deadline that has passed does.
func (r *receiver) poke() { r.file.SetReadDeadline(time.Unix(1, 0)) }

// run hands messages over until the receiver is closed.
func (r *receiver) run() {
	defer close(r.done)
	for !r.closed.Load() {
		err := r.raw.Read(r.drain)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			// Before looking again: who pokes after this is not missed.
			err = r.file.SetReadDeadline(time.Time{})
		}
		if err != nil {
			r.session.notify(driver.Event{Kind: driver.AsyncError, Detail: "zeromq: receive: " + err.Error()})
			break
		}
	}
	r.socket.close()
	r.batch.free()
	r.file.Close()
}

// drain hands over what there is. It returns false to be called again when there
// is news, and true when the receiver is closed.
func (r *receiver) drain(uintptr) bool {
	for {
		r.mu.Lock()
		r.asleep = false
		if r.closed.Load() {
			r.mu.Unlock()
			return true
		}
		n := r.batch.receive(r.ptr, r.kind == responds)
		if n <= 0 {
			r.asleep = true
			r.mu.Unlock()
			return false
		}
		r.mu.Unlock()
		for i := range int(n) {
			if r.closed.Load() {
				return true
			}
			r.handle(r, i, r.batch.message(i))
		}
	}
}

// shut makes the receiver end.
func (r *receiver) shut() {
	r.once.Do(func() {
		r.closed.Store(true)
		r.session.room.Remove(r.member)
		r.poke()
	})
}

// wait returns when the receiver has ended, or ctx.
func (r *receiver) wait(ctx context.Context) error {
	select {
	case <-r.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("zeromq: close a socket %s: %w: Deliver has not returned: %w", r.kind, driver.ErrTimeout, context.Cause(ctx))
	}
}

// Close implements driver.Consumer.
func (r *receiver) Close(ctx context.Context) error {
	r.shut()
	err := r.wait(ctx)
	r.session.forget(r)
	return err
}
