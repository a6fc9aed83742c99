//go:build zeromq && cgo && !windows

package zeromq

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/drivers/internal/mesh"
)

// atOnce is how many messages one call takes at most. It costs a kilobyte per
// eight.
const atOnce = 64

// receiver is a socket that receives with its goroutine. It implements
// driver.Consumer and kit.Part.
type receiver struct {
	*socket
	session *session
	wish    mesh.Wish // what comes is handled on the receiver's goroutine
	member  *mesh.Member
	file    *os.File
	raw     syscall.RawConn
	batch   *batch
	closed  atomic.Bool
	done    chan struct{} // closed when the goroutine has ended
}

// receive starts a receiver.
func (s *session) receive(ctx context.Context, w mesh.Wish) (*receiver, error) {
	r := &receiver{session: s, wish: w, done: make(chan struct{})}
	var err error
	if r.batch, err = newBatch(atOnce); err != nil {
		return nil, fmt.Errorf("zeromq: %w: %w", driver.ErrNotConnected, err)
	}
	sock, m, others, err := s.open(w.Role, w.Keys, r.prepare)
	if err != nil {
		r.batch.free()
		if r.file != nil {
			r.file.Close()
		}
		return nil, err
	}
	r.member = m
	go r.run()
	_, err = s.Keep(r)
	for i := 0; i < len(others) && err == nil; i++ {
		sender, peer := others[i].Socket.(*socket), sock
		if w.Role == mesh.Requests { // it is the one that sends
			sender, peer = peer, sender
		}
		err = s.settle(ctx, sender, peer)
	}
	if err != nil {
		r.Close(ctx)
		return nil, err
	}
	return r, nil
}

// prepare subscribes, and gets hold of what tells of news.
func (r *receiver) prepare(sock *socket) error {
	r.socket = sock
	prefixes := r.wish.Prefixes
	if sock.role == mesh.Subscribes {
		sock.greeting = greeting(r.session.greetings.Add(1))
		prefixes = append(prefixes, sock.greeting)
	}
	for _, prefix := range prefixes {
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
			r.session.Target.Notify(driver.Event{Kind: driver.AsyncError, Detail: "zeromq: receive: " + err.Error()})
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
		n := r.batch.receive(r.ptr, r.role == mesh.Responds)
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
			if r.wish.Respond == nil {
				r.wish.Handle(r.batch.message(i))
			} else if reply := r.wish.Respond(driver.Message{Payload: r.batch.message(i)}); reply != nil {
				r.answer(i, reply)
			}
		}
	}
}

// Shut implements kit.Part.
func (r *receiver) Shut(ctx context.Context) error {
	if r.closed.CompareAndSwap(false, true) {
		r.session.Room.Remove(r.member)
		r.poke()
	}
	return r.session.Wrap(kit.Wait(ctx, r.done), "close a socket %s", kindOf(r.role))
}

// Close implements driver.Consumer.
func (r *receiver) Close(ctx context.Context) error {
	r.session.Forget(r)
	return r.Shut(ctx)
}
