package natswire

import (
	"bytes"
	"fmt"
	"sync"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// batch collects the frames of a link's publishers and writes them together, on
// the goroutine whose frame does not fit any more. The client does so too, but
// wakes a goroutine that flushes whenever its buffer was empty, which then
// competes for the lock with the one that sends.
//
// Its frames belong to one connection and are lost with it; an event says how
// many. Any goroutine may use it.
type batch struct {
	link *Link
	size int // of the buffer, in bytes

	mu   sync.Mutex
	conn *dialedConn // the frames are for
	buf  []byte
	hold kit.BatchTimer
}

func newBatch(l *Link, size int) *batch {
	b := &batch{link: l, size: size}
	b.hold = kit.NewBatchTimer(&b.mu, func() { _ = b.write() }) // an event tells of what is lost
	return b
}

// add appends a frame that begins with head, and writes what is there before it
// if it does not fit. An error means that the frame was not added.
func (b *batch) add(head, header, payload []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.link.live.Load()
	if c == nil || c != b.conn || len(b.buf)+frameRoom(head, header, payload) > b.size {
		if err := b.turnTo(c, frameRoom(head, header, payload)); err != nil {
			return err
		}
	}
	b.buf = appendFrame(b.buf, head, header, payload)
	if len(b.buf) > b.size { // too large to be held
		return b.writeLarge()
	}
	b.hold.Hold()
	return nil
}

// turnTo makes room for a frame to be written to c.
func (b *batch) turnTo(c *dialedConn, room int) error {
	if c != b.conn {
		b.lose(0)
		b.conn = c
	}
	if c == nil {
		return driver.ErrNotConnected
	}
	if b.buf == nil {
		b.buf = make([]byte, 0, b.size)
	}
	if len(b.buf)+room > b.size {
		return b.write()
	}
	return nil
}

// writeLarge writes a frame that is larger than the buffer, and has the buffer
// to itself. Its sender hears of a failure, so that it does not count as lost.
func (b *batch) writeLarge() error {
	_, err := b.link.write(b.conn, b.buf)
	b.buf = b.buf[:0]
	return err
}

// write writes the buffer out. mu is held.
func (b *batch) write() error {
	if len(b.buf) == 0 {
		return nil
	}
	n, err := b.link.write(b.conn, b.buf)
	if err != nil {
		b.lose(n)
		return err
	}
	b.buf = b.buf[:0]
	b.hold.Emptied()
	return nil
}

// lose empties the buffer, of which the connection took no more than written
// bytes, and tells of the messages that are lost by it.
func (b *batch) lose(written int) {
	if n := unwritten(b.buf, written); n > 0 && !b.link.accounted {
		b.link.Emit(driver.Event{Kind: driver.Dropped, Detail: b.link.key.String() + ": unwritten when the connection was lost", Count: n})
	}
	b.buf = b.buf[:0]
	b.hold.Emptied()
}

// unwritten counts the frames of buf that do not end within the first bytes of
// it.
func unwritten(buf []byte, written int) (n int) {
	for at := 0; at < len(buf); {
		end := at + bytes.IndexByte(buf[at:], '\n')
		line := buf[at : end-1]
		size, _ := number(line[bytes.LastIndexByte(line, ' ')+1:])
		at = end + 1 + size + 2
		if at > written {
			n++
		}
	}
	return n
}

// flush writes the buffer out.
func (b *batch) flush() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.write()
}

// close writes the buffer out and leaves no connection to add frames for.
func (b *batch) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	_ = b.write() // an event tells of what is lost
	b.link.live.Store(nil)
	b.hold.Stop()
}

// write writes whole frames to c.
func (l *Link) write(c *dialedConn, frames []byte) (int, error) {
	n, err := c.Write(frames)
	if err != nil {
		// Half a frame may be out: nothing can follow it. The client notices
		// the end of the connection and makes another.
		l.live.CompareAndSwap(c, nil)
		c.Close()
		err = fmt.Errorf("%w: %w", driver.ErrNotConnected, err)
	}
	return n, err
}
