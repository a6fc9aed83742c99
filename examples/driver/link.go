package relay

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"

	"sixnines/driver"
)

// link is one connection, with the goroutine that reads from it.
type link struct {
	conn   net.Conn
	notify func(driver.Event)
	ended  chan struct{} // closed with the reader

	writing sync.Mutex // guards frame and the order of writes
	frame   []byte

	asking  chan struct{} // holds one value while no caller waits for an answer
	answers chan struct{}

	mu            sync.Mutex
	closed        bool
	subscriptions []*consumer // by number
}

func newLink(conn net.Conn, buffer int, notify func(driver.Event)) *link {
	l := &link{conn: conn, notify: notify, ended: make(chan struct{}), asking: make(chan struct{}, 1), answers: make(chan struct{}, 1)}
	l.asking <- struct{}{}
	go l.read(buffer)
	return l
}

const headerSize = 9

// write sends one frame. It allocates only while the buffer grows.
func (l *link) write(op byte, number uint32, head string, body []byte) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	f := append(l.frame[:0], op)
	f = binary.LittleEndian.AppendUint32(f, number)
	f = binary.LittleEndian.AppendUint32(f, uint32(len(head)+len(body)))
	f = append(append(f, head...), body...)
	l.frame = f
	if _, err := l.conn.Write(f); err != nil {
		return l.lost(err)
	}
	return nil
}

// lost gives an error of the connection its class.
func (l *link) lost(err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return fmt.Errorf("%w: %w", driver.ErrClosed, err)
	}
	return fmt.Errorf("%w: %w", driver.ErrNotConnected, err)
}

// ask sends a frame and waits for its answer. If ctx ends first the answers
// are out of step, so the connection is of no more use.
func (l *link) ask(ctx context.Context, op byte, number uint32, head string) error {
	select {
	case <-l.asking:
		defer func() { l.asking <- struct{}{} }()
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", driver.ErrTimeout, ctx.Err())
	}
	stop := context.AfterFunc(ctx, func() { _ = l.conn.Close() }) // ends a blocked write as well
	defer stop()
	if err := l.write(op, number, head, nil); err != nil {
		return err
	}
	select {
	case <-l.answers:
		return nil
	case <-l.ended:
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("%w: %w", driver.ErrTimeout, err)
		}
		return l.lost(io.EOF)
	}
}

// subscribe returns a new subscription's number.
func (l *link) subscribe(c *consumer) uint32 {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.subscriptions = append(l.subscriptions, c)
	return uint32(len(l.subscriptions) - 1)
}

// read is the connection's goroutine: the consumers' Deliver runs on it, one at
// a time, which is more than the contract asks for.
func (l *link) read(buffer int) {
	defer close(l.ended)
	r := bufio.NewReaderSize(l.conn, buffer)
	var header [headerSize]byte
	var body []byte
	for {
		if _, err := io.ReadFull(r, header[:]); err != nil {
			l.end(err)
			return
		}
		number, size := binary.LittleEndian.Uint32(header[1:]), binary.LittleEndian.Uint32(header[5:])
		if size > maxPayload {
			l.end(fmt.Errorf("a frame of %d bytes", size))
			return
		}
		if uint32(cap(body)) < size {
			body = make([]byte, size)
		}
		body = body[:size]
		if _, err := io.ReadFull(r, body); err != nil {
			l.end(err)
			return
		}
		switch header[0] {
		case 'K':
			select {
			case l.answers <- struct{}{}:
			default: // no caller waits
			}
		case 'M':
			l.mu.Lock()
			var c *consumer
			if int(number) < len(l.subscriptions) {
				c = l.subscriptions[number]
			}
			l.mu.Unlock()
			if c != nil {
				c.message(body)
			}
		}
	}
}

// end reports a connection that was lost, not one that was closed.
func (l *link) end(err error) {
	_ = l.conn.Close()
	if lost := l.lost(err); !errors.Is(lost, driver.ErrClosed) && l.notify != nil {
		l.notify(driver.Event{Kind: driver.Disconnected, Detail: err.Error()})
	}
}

// close ends the connection.
func (l *link) close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	_ = l.conn.Close()
}
