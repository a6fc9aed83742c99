package kit

import (
	"net"
	"sync"
	"sync/atomic"
	"time"

	"sixnines/driver"
)

// Writer writes the frames of one connection: each at once on the sending goroutine, or
// collected until the buffer is full, Flush is called or the batch timer fires. A failed
// write ends the connection, since half a frame may have been written and nothing can
// follow it. Writer is safe for concurrent use.
type Writer struct {
	conn net.Conn
	raw  net.Conn
	size int
	hook WriterHook

	mu      sync.Mutex  // guards the fields below; held during writes, which may block
	ended   bool        // no more writes
	buf     []byte      // collected frames
	replies []byte      // frames of the reader that are not written yet
	owed    int         // number of frames in replies
	waits   atomic.Bool // replies wait until the reader is idle; also read without mu
	timer   BatchTimer
}

// WriterHook holds a protocol's functions for collected frames. They are called with the
// writer locked; any may be nil.
type WriterHook struct {
	// Seal completes what is collected before it is written, such as by a length.
	Seal func(collected []byte) []byte
	// Emptied is called when the buffer is empty again: the first written bytes of
	// collected have been written.
	Emptied func(collected []byte, written int)
	// Failed is called with the first error.
	Failed func(err error)
}

// BatchBuffer is how many bytes are collected for an unpaced load.
const BatchBuffer = 64 << 10

// WriteBuffer returns how many bytes are collected, by the option: 0 is 1 for a paced load,
// so each frame is written at once, and BatchBuffer for an unpaced one.
func WriteBuffer(option driver.ByteSize, batch bool) int {
	switch {
	case option > 0:
		return int(option)
	case batch:
		return BatchBuffer
	}
	return 1
}

// NewWriter returns one for the connection that collects up to size bytes; 1: none.
func NewWriter(c Conn, size int, hook WriterHook) *Writer {
	w := &Writer{conn: c.Conn, raw: c.Raw, size: size, hook: hook}
	w.timer = NewBatchTimer(&w.mu, func() { _ = w.flush() }) // Failed reports the error
	return w
}

// Collects reports whether frames are collected, so that Flush has an effect.
func (w *Writer) Collects() bool { return w.size > 1 }

// Begin locks the writer and returns what a frame of at most room bytes is to be
// appended to. What is collected goes out before if there is no room for it. After an
// error, of class driver.ErrNotConnected, nothing is locked.
func (w *Writer) Begin(room int) ([]byte, error) {
	w.mu.Lock()
	if w.ended {
		w.mu.Unlock()
		return nil, driver.ErrNotConnected
	}
	if len(w.buf) > 0 && len(w.buf)+room > w.size {
		if err := w.flush(); err != nil {
			w.mu.Unlock()
			return nil, err
		}
	}
	return w.buf, nil
}

// Commit takes what Begin returned, with a frame behind it, and unlocks the writer. An
// error says that the frame is not out and never will be.
func (w *Writer) Commit(buf []byte) error {
	defer w.mu.Unlock()
	w.buf = buf
	if len(buf) >= w.size {
		return w.flush()
	}
	w.timer.Hold()
	return nil
}

// Cancel unlocks the writer without a frame.
func (w *Writer) Cancel() { w.mu.Unlock() }

// Collected reports, between Begin and Commit, whether something is collected already.
func (w *Writer) Collected() bool { return len(w.buf) > 0 }

// Flush writes what is collected.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return driver.ErrNotConnected
	}
	return w.flush()
}

// flush writes what is collected. mu is held.
func (w *Writer) flush() error {
	if len(w.buf) == 0 {
		return nil
	}
	if w.hook.Seal != nil {
		w.buf = w.hook.Seal(w.buf)
	}
	n, err := w.write(w.buf)
	if w.hook.Emptied != nil {
		w.hook.Emptied(w.buf, n)
	}
	w.buf = w.buf[:0]
	w.timer.Emptied()
	return err
}

// write writes whole frames. mu is held.
func (w *Writer) write(b []byte) (int, error) {
	n, err := w.conn.Write(b)
	if err != nil {
		w.raw.Close()
		if w.hook.Failed != nil {
			w.hook.Failed(err)
		}
		err = lostError{err}
	}
	return n, err
}

// lostError is an error of the socket: the connection is lost.
type lostError struct{ error }

// Unwrap returns the class and the cause.
func (e lostError) Unwrap() []error { return []error{driver.ErrNotConnected, e.error} }

// Write writes whole frames behind what is collected, at once.
func (w *Writer) Write(frames []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.writeBehind(frames)
}

func (w *Writer) writeBehind(frames []byte) error {
	if w.ended {
		return driver.ErrNotConnected
	}
	if err := w.flush(); err != nil {
		return err
	}
	if err := w.flushReplies(); err != nil {
		return err
	}
	if len(frames) == 0 {
		return nil
	}
	_, err := w.write(frames)
	return err
}

// repliesMost is how many bytes of replies wait for the reader to be idle.
const repliesMost = 4 << 10

// Reply writes one frame of the reader's, such as an acknowledgement, together with
// others: of due > 1, when there are as many; of 1, when the reader is idle, see
// NewFrames and FlushReplies, or there is much to write; of 0, at once.
func (w *Writer) Reply(frame []byte, due int) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.replies = append(w.replies, frame...)
	w.owed++
	w.waits.Store(due == 1)
	if due > 1 && w.owed < due || due == 1 && len(w.replies) < repliesMost {
		return nil
	}
	return w.flushReplies()
}

// FlushReplies writes the replies that wait until the reader is idle. Replies with due > 1
// keep waiting for others.
func (w *Writer) FlushReplies() error {
	// Usually without the lock: a sender may hold it in a blocked write for as long as the
	// server does not read.
	if !w.waits.Load() {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.flushReplies()
}

func (w *Writer) flushReplies() error {
	if len(w.replies) == 0 || w.ended {
		return nil
	}
	_, err := w.write(w.replies)
	w.replies, w.owed = w.replies[:0], 0
	w.waits.Store(false)
	return err
}

// lastMost is how long a server that has stopped reading may hold up the last frames, and lastLook how often Last looks
// whether a write before them has ended.
const (
	lastMost = 200 * time.Millisecond
	lastLook = 100 * time.Microsecond
)

// Last writes frames behind all that waits, unless somebody is stuck in a write, and
// reports whether they are out.
func (w *Writer) Last(frames []byte) bool {
	for end := time.Now().Add(lastMost); !w.mu.TryLock(); time.Sleep(lastLook) {
		if time.Now().After(end) {
			return false
		}
	}
	defer w.mu.Unlock()
	w.raw.SetWriteDeadline(time.Now().Add(lastMost))
	defer w.raw.SetWriteDeadline(time.Time{})
	return w.writeBehind(frames) == nil
}

// Busy reports whether somebody writes just now.
func (w *Writer) Busy() bool {
	if !w.mu.TryLock() {
		return true
	}
	w.mu.Unlock()
	return false
}

// End closes the connection, and returns when no sender reads a payload any more. What
// is collected is lost.
func (w *Writer) End() {
	w.raw.Close()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return
	}
	w.ended = true
	w.timer.Stop()
	if len(w.buf) > 0 && w.hook.Emptied != nil {
		w.hook.Emptied(w.buf, 0)
	}
	w.buf, w.replies = nil, nil
}
