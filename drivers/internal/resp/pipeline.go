package resp

import (
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"sixnines/driver"
)

// Pipeline sends commands over one link without waiting for their replies, which
// one goroutine reads in the order of the commands and turns into Done.
//
// Where each command is to be written at once, that happens on the goroutine
// that sends. Else commands are collected while earlier ones wait for their
// replies: until the buffer is full, somebody flushes, or there are as many of
// them as of those. A command alone is therefore written at once, at least half
// of what a limit on messages in flight allows is out, and nothing is stuck in
// the buffer because such a limit keeps the sender from ever filling it.
//
// Any goroutine may send.
type Pipeline struct {
	*Link
	size  int // of the buffer, in bytes; at most 1: each command is written at once
	watch Watch

	late atomic.Bool // see PipelineOptions.Late; never after the first connection was lost

	// replies guards what follows, where replies are read late; else it is the
	// reading goroutine's.
	replies sync.Mutex
	reader  *Reader // nil: not connected
	replied uint64  // replies taken
	failure error   // of taking them, by whoever did

	// Where replies are read late somebody else looks for them while bit is set in
	// unanswered; nil: nobody.
	unanswered *atomic.Uint64
	bit        uint64
	looked     atomic.Bool // somebody else has looked since the sender last asked

	closed  atomic.Bool
	written atomic.Uint64 // commands that have been written, for the reader
	// answered counts the replies that the reader had when it last had to wait.
	answered atomic.Uint64
	drained  chan struct{} // closed when all is answered and the pipeline closing
	once     sync.Once

	writing sync.Mutex // guards what follows, and the sender's side of pending
	conn    *Conn      // nil: not connected
	buf     []byte
	end     uint64 // bytes ever added to buf
	sent    uint64 // bytes that a connection has taken
	pending *queue

	// Without replies:
	silent bool
	ends   []int // where the messages in buf end
	timer  *time.Timer
	armed  bool
	turn   uint64 // how often the buffer has been written out
	then   uint64 // turn when the timer was armed
}

// Watch sees the replies of a pipeline, on the goroutine that reads them.
type Watch interface {
	// Reply judges a reply that is no error, see Reader.Head; the error that it
	// returns, with a class, is Done's.
	Reply(kind byte, n int64) error
	// Lost is called when the connection has ended, before what is open on it is
	// resolved.
	Lost()
}

// PipelineOptions say how a pipeline writes.
type PipelineOptions struct {
	Buffer int  // bytes that are collected; at most 1: each command is written at once
	Silent bool // the server is told not to reply: Done comes inside Send
	// Late says when a pipeline connects whether replies, which must be lines, may be
	// read late: by whoever calls Producers.Look, by the sender if he finds earlier
	// ones unread, or after 10 ms. No thread is woken for each of them then, while the
	// message is on its way to its subscribers. It needs a connection that can
	// (lateReads); nil: never.
	Late func() bool
}

// holdMost is half the longest time for which messages that are not replied to
// stay in the buffer if nobody flushes. The engine does flush; this is for
// whoever stops sending because of a limit.
const holdMost = 5 * time.Millisecond

// Pipeline connects a pipeline under the name.
func (cl *Client) Pipeline(ctx context.Context, name string, o PipelineOptions, w Watch) (*Pipeline, error) {
	p := &Pipeline{size: o.Buffer, silent: o.Silent, watch: w, pending: newQueue(), drained: make(chan struct{})}
	p.late.Store(o.Late != nil && o.Buffer <= 1 && !o.Silent && o.Late())
	if err := cl.open(ctx, name, func(l *Link) { p.Link = l }, p.serve); err != nil {
		return nil, err
	}
	return p, nil
}

// serve reads replies until the connection is lost, and resolves what is open
// then.
func (p *Pipeline) serve(c *Conn, ready func(error)) error {
	if p.silent {
		if err := silenceReplies(c); err != nil {
			ready(err)
			return err
		}
	}
	p.writing.Lock()
	p.conn = c
	p.writing.Unlock()
	ready(nil)
	var err error
	if from, ok := c.Late(); ok && p.late.Load() {
		err = p.serveLate(from)
	} else {
		r := p.newReader(c)
		for err == nil {
			err = p.take(r)
		}
	}
	p.fall(c, err)
	return err
}

func (p *Pipeline) newReader(src io.Reader) *Reader {
	p.replied = p.answered.Load()
	return NewReader(src, func() { p.rest(p.replied) })
}

// take takes one reply.
func (p *Pipeline) take(r *Reader) error {
	kind, n, line, err := r.Reply()
	if err != nil {
		return err
	}
	cmd, ok := p.pending.pop()
	if !ok {
		if kind == Failure {
			return ReplyError(string(line)) // it says why it hangs up
		}
		return fmt.Errorf("%w: a reply that nobody asked for: %q %d %.100s", ErrProtocol, kind, n, line)
	}
	p.replied++
	if kind == Failure {
		cmd.acks.Done(cmd.token, fmt.Errorf("%s: %w", p.client.Driver, ReplyError(string(line))))
	} else {
		cmd.acks.Done(cmd.token, p.watch.Reply(kind, n))
	}
	return nil
}

// silenceReplies tells the server not to reply. It does not reply to that, so it is asked
// first whether it would.
func silenceReplies(c *Conn) error {
	if _, err := c.Do("CLIENT", "REPLY", "ON"); err != nil {
		return fmt.Errorf("switch replies off: %w", explain(err))
	}
	if _, err := c.Write(AppendCommand(nil, "CLIENT", "REPLY", "OFF")); err != nil {
		return explain(err)
	}
	return nil
}

// rest is called when the reader may have to wait. Nobody else may be there to
// write what was collected meanwhile.
func (p *Pipeline) rest(answered uint64) {
	p.answered.Store(answered)
	if p.size > 1 && !p.silent && p.enough(answered) {
		p.writing.Lock()
		if p.enough(answered) {
			p.write()
		}
		p.writing.Unlock()
	}
	if p.Closing() && p.written.Load() == answered {
		p.drain(answered)
	}
}

func (p *Pipeline) drain(answered uint64) {
	p.writing.Lock()
	defer p.writing.Unlock()
	if answered == p.pending.added {
		p.once.Do(func() { close(p.drained) })
	}
}

// fall resolves what was sent over c, which is lost because of cause. What c has
// taken may have been done by the server or not; the rest was not.
func (p *Pipeline) fall(c *Conn, cause error) {
	c.Close() // frees one who writes
	p.watch.Lost()
	p.writing.Lock()
	p.conn = nil
	p.forget()
	sent := p.sent
	p.sent = p.end
	p.answered.Store(p.pending.added)
	p.written.Store(p.pending.added)
	p.writing.Unlock()
	unknown, unsent := p.lose(cause)
	for {
		cmd, ok := p.pending.pop()
		if !ok {
			break
		}
		if cmd.end <= sent {
			cmd.acks.Done(cmd.token, unknown)
		} else {
			cmd.acks.Done(cmd.token, unsent)
		}
	}
	if p.Closing() {
		p.once.Do(func() { close(p.drained) })
	}
}

// Send sends a command with its payload. Errors wrap a class, but do not name the
// driver.
func (p *Pipeline) Send(token uint64, acks driver.Acks, c *Command, payload []byte) error {
	if p.closed.Load() {
		return driver.ErrClosed
	}
	p.writing.Lock()
	if room := len(c.head) + wordRoom + len(payload); len(p.buf) > 0 && len(p.buf)+room > p.size {
		p.write()
	}
	if p.conn == nil {
		p.writing.Unlock()
		return p.Classify(driver.ErrNotConnected)
	}
	before := len(p.buf)
	p.buf = append(p.buf, c.head...)
	p.buf = AppendWord(p.buf, payload)
	p.end += uint64(len(p.buf) - before)
	if p.silent {
		return p.sendSilent(token, acks)
	}
	p.pending.push(command{token, acks, p.end})
	if p.size <= 1 || p.enough(p.answered.Load()) {
		p.write()
	}
	p.writing.Unlock()
	if p.late.Load() {
		p.await()
	}
	return nil
}

// enough reports whether as many commands have been collected as are out and not
// answered.
func (p *Pipeline) enough(answered uint64) bool {
	written := p.written.Load()
	return p.pending.count.Load()-written >= written-answered
}

// sendSilent is the end of Send where no reply will come. It unlocks writing.
func (p *Pipeline) sendSilent(token uint64, acks driver.Acks) error {
	p.ends = append(p.ends, len(p.buf))
	if p.size > 1 && len(p.buf) < p.size {
		if !p.armed {
			p.arm()
		}
	} else if err := p.writeLast(); err != nil {
		p.writing.Unlock()
		return p.Classify(err)
	}
	p.writing.Unlock()
	acks.Done(token, nil)
	return nil
}

// writeLast writes a message whose sender hears of a failure, so that it does
// not count as dropped.
func (p *Pipeline) writeLast() error {
	p.ends = p.ends[:len(p.ends)-1]
	return p.write()
}

// write writes the buffer out. writing is held. After a failure there is no
// connection, and the reader resolves what is open.
func (p *Pipeline) write() error {
	if len(p.buf) == 0 {
		return nil
	}
	if p.conn == nil {
		p.forget()
		return driver.ErrNotConnected
	}
	p.turn++
	p.written.Store(p.pending.added)
	n, err := p.conn.Write(p.buf)
	p.sent += uint64(n)
	if err != nil {
		// Half a command may be out: nothing can follow it.
		p.conn.Close()
		p.conn = nil
		p.drop(n)
		p.buf = p.buf[:0]
		return fmt.Errorf("%w: %w", driver.ErrNotConnected, err)
	}
	p.buf, p.ends = p.buf[:0], p.ends[:0]
	return nil
}

// forget empties the buffer of what can no longer be written.
func (p *Pipeline) forget() {
	p.drop(0)
	p.buf = p.buf[:0]
}

// drop tells of messages that are done and did not end within the first n bytes
// of the buffer.
func (p *Pipeline) drop(n int) {
	dropped := 0
	for _, end := range p.ends {
		if end > n {
			dropped++
		}
	}
	p.ends = p.ends[:0]
	if dropped > 0 {
		p.Emit(driver.Event{Kind: driver.Dropped, Detail: p.Name + ": unwritten when the connection was lost", Count: dropped})
	}
}

// arm starts the timer, which runs on through any number of buffers: one for
// each would have to be stopped and started for each. writing is held.
func (p *Pipeline) arm() {
	p.armed, p.then = true, p.turn
	if p.timer == nil {
		p.timer = time.AfterFunc(holdMost, p.elapsed)
		return
	}
	p.timer.Reset(holdMost)
}

// elapsed writes messages out that have been there since the timer was armed.
func (p *Pipeline) elapsed() {
	p.writing.Lock()
	defer p.writing.Unlock()
	p.armed = false
	switch {
	case len(p.buf) == 0:
	case p.turn != p.then:
		p.arm()
	default:
		_ = p.write() // an event tells of what is lost
	}
}

// Batching reports whether commands are collected.
func (p *Pipeline) Batching() bool { return p.size > 1 }

// Flush writes what has been collected. That it cannot be written is told by
// Done, or where there are no replies by an event.
func (p *Pipeline) Flush() error {
	if p.closed.Load() {
		return driver.ErrClosed
	}
	p.writing.Lock()
	defer p.writing.Unlock()
	return p.Classify(p.write())
}

// trip is the Acks of a Sync.
type trip chan error

// Done implements driver.Acks.
func (t trip) Done(_ uint64, err error) { t <- err }

// await waits for the answer.
func (t trip) await(ctx context.Context) error {
	select {
	case err := <-t:
		return err
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", driver.ErrTimeout, context.Cause(ctx))
	}
}

// Sync waits until the server has read all that was sent before.
func (p *Pipeline) Sync(ctx context.Context) error {
	if p.closed.Load() {
		return driver.ErrClosed
	}
	frame := AppendCommand(nil, "PING")
	if p.silent {
		// Let the server speak for as long as this takes.
		frame = AppendCommand(AppendCommand(nil, "CLIENT", "REPLY", "ON"), "CLIENT", "REPLY", "OFF")
	}
	answer := make(trip, 1)
	go func() { // a write may be stuck
		p.writing.Lock()
		defer p.writing.Unlock()
		if p.conn == nil {
			answer <- p.Classify(driver.ErrNotConnected)
			return
		}
		p.buf = append(p.buf, frame...)
		p.end += uint64(len(frame))
		p.pending.push(command{0, answer, p.end})
		_ = p.write() // fall tells of it
	}()
	return answer.await(ctx)
}

// Close ends the pipeline by ctx's deadline. A server that has not replied to
// everything gets most of the time until then.
func (p *Pipeline) Close(ctx context.Context) error {
	p.closed.Store(true)
	p.Silence()
	go func() { // a write may be stuck
		p.writing.Lock()
		if p.timer != nil {
			p.timer.Stop()
		}
		_ = p.write()
		gone := p.conn == nil
		answered := p.answered.Load()
		p.writing.Unlock()
		if gone {
			p.once.Do(func() { close(p.drained) })
		} else {
			p.drain(answered)
		}
	}()
	return p.finish(ctx, p.drained)
}
