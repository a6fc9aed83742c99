package resp

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/gomodule/redigo/redis"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// Watch sees the replies to what producers send, on the goroutine that reads them.
type Watch interface {
	// Reply judges a reply that is no error, see Reader.Head; the error that it
	// returns, with a class, is Done's.
	Reply(kind byte, n int64) error
	// Lost is called when a connection has ended, before what is open on it is
	// resolved.
	Lost()
}

// Pipeline sends commands over one connection without waiting for their replies, which
// one goroutine reads in the order of the commands and turns into Done.
//
// Without collecting, each command is written at once by the sending goroutine. With
// collecting, commands are held while earlier ones wait for their replies: until the
// buffer is full, Flush is called, or as many commands are collected as wait for
// replies. So a single command is written at once; with a limit on messages in flight,
// at least half of the limit is written; and nothing stays in the buffer because that
// limit keeps the sender from filling it.
//
// With redigo, commands are sent as redigo describes for pipelining: Send and Flush on the
// sending goroutine, Receive on another. Beyond its buffer of 4 KiB redigo writes before
// Flush. It does not report which commands were unwritten when a connection is lost, so
// all unanswered commands then have an unknown outcome.
//
// In a cluster a pipeline is of one channel or key, which another server may have after a while. Commands
// that are answered with MOVED or ASK were not done, and are sent again to that server, see Pipeline.refer.
//
// It is the wire of a link of producers. Any goroutine may send.
type Pipeline struct {
	client *Client
	life   context.Context      // ends with the link
	conn   atomic.Pointer[Conn] // changes only while writing is held
	redigo redis.Conn           // nil: the driver writes and reads frames itself
	size   int                  // of the buffer, in bytes; at most 1: each command is written at once
	watch  Watch
	emit   func(driver.Event)

	late lateReads // see PipelineOptions.Late; nil: replies are read when they come

	// replies guards the next three fields if replies are read late; else only the
	// reading goroutine uses them.
	replies sync.Mutex
	reader  *Reader // nil: redigo reads, or nothing more can be read
	replied uint64  // replies taken
	failure error   // the error of the reader that failed

	// If replies are read late, other goroutines read them while bit is set in
	// of.unanswered; pipelines with the least waits, the number of the oldest send, first.
	of     *lates
	bit    uint64
	waits  atomic.Uint64
	looked atomic.Bool // another goroutine has looked since the sender last asked
	// A thread is writing to, or reading from, the connection. Each side avoids the other,
	// since both would wait for the kernel's lock of the socket, see letRead.
	sending, reading atomic.Bool
	skipped          atomic.Int32 // looks that skipped this pipeline during the current write

	// In a cluster, for the reading goroutine: hops counts how often commands were sent on to another server since one was
	// answered, and referring says that this is under way.
	hops      int
	referring bool

	leaving atomic.Bool
	left    atomic.Bool   // conn has been closed, and so is one that comes after it
	written atomic.Uint64 // commands that have been written, for the reader
	// answered counts the replies that the reader had when it last had to wait.
	answered atomic.Uint64
	drained  chan struct{} // closed when all commands are answered and the pipeline is leaving
	once     sync.Once

	writing sync.Mutex // guards what follows, and the sender's side of pending
	broken  bool       // nothing more can be written
	buf     []byte
	end     uint64 // bytes ever collected
	sent    uint64 // bytes that the connection, or redigo's Flush, has taken
	pending *queue

	// Without replies:
	silent bool
	ends   []int // where the messages in buf end
	timer  kit.BatchTimer
	ask    atomic.Bool // the next message asks the server for a reply, see askEvery
}

// PipelineOptions say how a pipeline writes.
type PipelineOptions struct {
	Silent bool // the server is asked not to reply: Done comes inside Send
	// Late says, when a pipeline connects, whether replies, which must be lines, may be
	// read late: by the caller of Producers.Look, by the sender if it finds earlier replies
	// unread, or after 50 ms. No thread is then woken for each reply while the message is
	// on its way to its subscribers. It needs a connection with lateReads; nil: never.
	Late func() bool
}

// newPipeline returns one over the connection, which reports events by emit. Its life is the link's.
func newPipeline(life context.Context, cl *Client, c *Conn, silent bool, w Watch, emit func(driver.Event)) (*Pipeline, error) {
	p := &Pipeline{client: cl, life: life, size: int(cl.Options.WriteBuffer), silent: silent, watch: w, emit: emit,
		pending: newQueue(), drained: make(chan struct{})}
	p.timer = kit.NewBatchTimer(&p.writing, func() { _ = p.write() }) // an event reports lost commands
	p.pending.keeps = cl.cluster != nil
	p.use(c)
	if !silent {
		return p, nil
	}
	// The server does not reply to that, so it is asked first whether it would.
	p.ask.Store(true)
	_, err := c.Do("CLIENT", "REPLY", "ON")
	if err == nil {
		_, err = c.Write(AppendCommand(nil, "CLIENT", "REPLY", "OFF"))
	}
	if err != nil {
		return nil, fmt.Errorf("switch replies off: %w", Explain(err))
	}
	return p, nil
}

// use has the pipeline write to a connection and read from it.
func (p *Pipeline) use(c *Conn) {
	p.conn.Store(c)
	if p.client.Via == Library {
		p.redigo = c.redis
	} else {
		p.reader = NewReader(c, func() { p.rest(p.replied) })
	}
}

// Serve implements kit.Wire.
func (p *Pipeline) Serve() (err error) {
	if p.late != nil {
		err = p.serveLate()
	}
	for err == nil {
		err = p.take()
	}
	return p.client.Lost(p.conn.Load(), err)
}

// take takes one reply.
func (p *Pipeline) take() error {
	kind, n, line, err := p.reply()
	if err != nil {
		return err
	}
	cmd, ok := p.pending.pop()
	if !ok {
		if kind == Failure {
			return ReplyError(string(line)) // it says why it hangs up
		}
		return fmt.Errorf("%w: a reply without a request: %q %d %.100s", ErrProtocol, kind, n, line)
	}
	p.replied++
	if p.of != nil && kind == Integer && n != p.of.copies.Load() {
		p.of.copies.Store(n)
	}
	if kind == Failure && p.client.cluster != nil {
		if r, referred := p.referral(cmd, line); referred {
			return p.refer(r)
		}
	}
	cmd.acks.Done(cmd.token, p.outcome(kind, n, line))
	return nil
}

// outcome is what a reply says of a command: Done's error.
func (p *Pipeline) outcome(kind byte, n int64, line []byte) error {
	if kind == Failure {
		return fmt.Errorf("%s: %w", p.client.Driver, ReplyError(string(line)))
	}
	p.hops = 0
	return p.watch.Reply(kind, n)
}

// reply reads one reply, see Reader.Reply.
func (p *Pipeline) reply() (kind byte, n int64, line []byte, err error) {
	if p.redigo == nil {
		return p.reader.Reply()
	}
	p.rest(p.replied)
	reply, err := p.redigo.Receive()
	if text, refused := ReplyText(err); refused {
		return Failure, 0, []byte(text), nil
	} else if err != nil {
		return 0, 0, nil, err
	}
	switch reply := reply.(type) {
	case int64:
		return Integer, reply, nil, nil
	case []byte:
		return Bulk, int64(len(reply)), nil, nil
	case string:
		return Status, 0, nil, nil
	case nil:
		return Bulk, -1, nil, nil
	}
	return Array, 0, nil, nil
}

// rest is called when the reader may have to wait. It writes collected commands, since no
// sender may be active to do so.
func (p *Pipeline) rest(answered uint64) {
	p.answered.Store(answered)
	if p.referring { // which holds writing
		return
	}
	if p.size > 1 && !p.silent && p.enough(answered) {
		p.writing.Lock()
		if p.enough(answered) {
			_ = p.write() // Serve finds out
		}
		p.writing.Unlock()
	}
	if p.leaving.Load() && p.written.Load() == answered {
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

// End implements kit.Wire. What the connection has taken may have been done by the
// server or not; the rest was not.
func (p *Pipeline) End(err error) {
	p.conn.Load().Close() // frees one who writes
	p.replies.Lock()
	p.reader = nil
	p.replies.Unlock()
	p.watch.Lost()
	p.writing.Lock()
	p.broken = true
	p.timer.Stop()
	p.drop(0)
	sent := p.sent
	if p.redigo != nil {
		sent = p.end
	}
	p.writing.Unlock()
	unsent := p.client.unsent(err)
	for cmd, ok := p.pending.pop(); ok; cmd, ok = p.pending.pop() {
		if cmd.end <= sent {
			cmd.acks.Done(cmd.token, err)
		} else {
			cmd.acks.Done(cmd.token, unsent)
		}
	}
	p.once.Do(func() { close(p.drained) })
}

// Send sends a command with its payload. Errors wrap a class, but do not name the driver.
func (p *Pipeline) Send(token uint64, acks driver.Acks, c *Command, payload []byte) error {
	if p.leaving.Load() {
		return driver.ErrClosed
	}
	p.writing.Lock()
	if room := len(c.head) + wordRoom + len(payload); p.end > p.sent && int(p.end-p.sent)+room > p.size {
		_ = p.write() // Done reports a failure
	}
	if p.silent {
		return p.sendSilent(token, acks, c, payload)
	}
	if err := p.collect(c, payload); err != nil {
		p.writing.Unlock()
		return err
	}
	p.pending.pushKept(command{token, acks, p.end}, kept{c, payload})
	if p.size <= 1 || p.enough(p.answered.Load()) {
		_ = p.write() // Serve finds out
	}
	p.writing.Unlock()
	if p.late != nil {
		p.await()
	}
	return nil
}

// collect appends a command to the unwritten bytes. The caller holds writing.
func (p *Pipeline) collect(c *Command, payload []byte) error {
	switch {
	case p.broken:
		return driver.ErrNotConnected
	case p.redigo == nil:
		before := len(p.buf)
		p.buf = append(p.buf, c.head...)
		if c.args != nil {
			p.buf = AppendWord(p.buf, payload)
		}
		p.end += uint64(len(p.buf) - before)
		return nil
	}
	if err := p.redigo.Send(c.name, c.with(payload)...); err != nil {
		// The end of the command is not out, so the server does not do it.
		p.broken = true
		return fmt.Errorf("%w: %w", driver.ErrNotConnected, err)
	}
	p.end += uint64(len(c.head) + wordRoom + len(payload))
	return nil
}

// enough reports whether as many commands have been collected as are out and not
// answered.
func (p *Pipeline) enough(answered uint64) bool {
	written := p.written.Load()
	return p.pending.count.Load()-written >= written-answered
}

// write writes what is collected. writing is held. After a failure nothing can follow,
// and End resolves what is open.
func (p *Pipeline) write() error {
	if p.end == p.sent || p.broken {
		return nil
	}
	p.timer.Emptied()
	p.written.Store(p.pending.added)
	if p.redigo != nil {
		p.sent = p.end
		if err := p.redigo.Flush(); err != nil {
			p.broken = true
			return fmt.Errorf("%w: %w", driver.ErrNotConnected, err)
		}
		return nil
	}
	if p.late != nil {
		p.sending.Store(true)
		p.letRead()
	}
	conn := p.conn.Load()
	n, err := conn.Write(p.buf)
	if p.late != nil {
		p.sending.Store(false)
		p.skipped.Store(0)
	}
	p.sent += uint64(n)
	if err != nil {
		// Half a command may be out.
		conn.Close()
		p.broken = true
		p.drop(n)
		return fmt.Errorf("%w: %w", driver.ErrNotConnected, err)
	}
	p.buf, p.ends = p.buf[:0], p.ends[:0]
	return nil
}

// drop forgets what is collected, and tells of messages that are done and did not end
// within its first n bytes. writing is held.
func (p *Pipeline) drop(n int) {
	dropped := 0
	for _, end := range p.ends {
		if end > n {
			dropped++
		}
	}
	p.buf, p.ends = nil, nil
	if dropped > 0 {
		p.emit(driver.Event{Kind: driver.Dropped, Detail: "unwritten when the connection was lost", Count: dropped})
	}
}

// Flush writes the collected commands. Commands that cannot be written are reported by Done,
// or, without replies, by an event.
func (p *Pipeline) Flush() error {
	p.writing.Lock()
	defer p.writing.Unlock()
	if p.broken {
		return driver.ErrNotConnected
	}
	return p.write()
}

// trip is the Acks of a Sync.
type trip chan error

// Done implements driver.Acks.
func (t trip) Done(_ uint64, err error) { t <- err }

// Sync waits until the server has read all that was sent before.
func (p *Pipeline) Sync(ctx context.Context) error {
	answer := make(trip, 1)
	go func() { // a write may be stuck
		p.writing.Lock()
		defer p.writing.Unlock()
		if err := p.collect(question(p.silent), nil); err != nil {
			answer <- err
			return
		}
		p.pending.push(command{0, answer, p.end})
		_ = p.write() // End tells of it
	}()
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
		return ended(ctx)
	}
}

// Leave implements kit.Wire. It lets the server reply to everything.
func (p *Pipeline) Leave(ctx context.Context) {
	p.leaving.Store(true)
	go func() { // a write may be stuck
		p.writing.Lock()
		_ = p.write()
		answered := p.answered.Load()
		p.writing.Unlock()
		p.drain(answered)
	}()
	select {
	case <-p.drained:
	case <-ctx.Done():
	}
	p.left.Store(true)
	p.conn.Load().Close()
}
