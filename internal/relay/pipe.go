package relay

import (
	"errors"
	"io"
	"net"
	"sync"

	"sixnines/internal/clock"
)

// mostWaiting is how many bytes of one direction of a connection wait at most. Then nothing more is read, and TCP slows the
// sender.
const mostWaiting = 16 << 20

// pipe is one direction of a connection. A goroutine reads and another writes; the reader writes by itself where nothing waits
// and nothing is to wait.
type pipe struct {
	of       *carried
	way      *way
	from, to *net.TCPConn

	mu      sync.Mutex
	more    sync.Cond // waiting or over has changed
	waiting []piece
	bytes   int
	writing bool // the writer has taken a piece that it has not written
	over    bool // the connection is given up
}

func newPipe(of *carried, w *way, from, to *net.TCPConn) *pipe {
	p := &pipe{of: of, way: w, from: from, to: to}
	p.more.L = &p.mu
	return p
}

// read reads until the end, and returns when there is nothing more to read.
func (p *pipe) read() {
	buffer := make([]byte, mostPiece)
	var before piece
	for {
		most, ok := p.way.room(p.of.quit)
		if !ok {
			return
		}
		n, err := p.from.Read(buffer[:most])
		x := piece{data: buffer[:n], err: err}
		atOnce := p.way.enter(&x, clock.Now(), before)
		before = piece{due: x.due, generation: x.generation}
		if atOnce && err == nil && p.idle() {
			if _, err := p.to.Write(x.data); err != nil {
				p.of.abort()
				return
			}
			p.way.left(&x)
			continue
		}
		x.data = append([]byte(nil), x.data...)
		if !p.push(x) || err != nil {
			return
		}
	}
}

// idle reports whether nothing waits to be written. Only the reader adds to it.
func (p *pipe) idle() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.waiting) == 0 && !p.writing
}

// push adds a piece, and waits until there is room for another; false: the connection is given up.
func (p *pipe) push(x piece) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting, p.bytes = append(p.waiting, x), p.bytes+len(x.data)
	p.more.Broadcast()
	for p.bytes > mostWaiting && !p.over {
		p.more.Wait()
	}
	return !p.over
}

// pop takes the first piece when there is one; false: the connection is given up.
func (p *pipe) pop() (x piece, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.writing = false
	for len(p.waiting) == 0 && !p.over {
		p.more.Wait()
	}
	if p.over {
		return piece{}, false
	}
	x, p.waiting = p.waiting[0], p.waiting[1:]
	p.bytes -= len(x.data)
	p.writing = true
	p.more.Broadcast()
	return x, true
}

// write writes each piece when it is due, and passes the end on as it came: a reset as a reset.
func (p *pipe) write() {
	for {
		x, ok := p.pop()
		if !ok || !p.way.await(&x, p.of.quit) {
			return
		}
		if len(x.data) > 0 {
			if _, err := p.to.Write(x.data); err != nil {
				p.of.abort()
				return
			}
			p.way.left(&x)
		}
		switch {
		case errors.Is(x.err, io.EOF):
			_ = p.to.CloseWrite()
			return
		case x.err != nil:
			p.of.abort()
			return
		}
	}
}

// giveUp wakes the goroutines that wait in the pipe.
func (p *pipe) giveUp() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
	p.more.Broadcast()
}

// carried is a connection of a client with the one to its broker.
type carried struct {
	client, broker *net.TCPConn
	pipes          [2]*pipe
	quit           chan struct{} // closed by abort
	aborts         sync.Once
}

// carry carries bytes both ways until both have ended, or quit is closed.
func carry(client, broker *net.TCPConn, to, from *way, quit <-chan struct{}) {
	c := &carried{client: client, broker: broker, quit: make(chan struct{})}
	c.pipes = [2]*pipe{newPipe(c, to, client, broker), newPipe(c, from, broker, client)}
	var running sync.WaitGroup
	for _, p := range c.pipes {
		running.Go(p.read)
		running.Go(p.write)
	}
	done := make(chan struct{})
	go func() {
		select {
		case <-quit:
			c.abort()
		case <-done:
		}
	}()
	running.Wait()
	close(done)
	_ = client.Close()
	_ = broker.Close()
}

// abort ends both connections without a farewell: their other ends see a reset.
func (c *carried) abort() {
	c.aborts.Do(func() {
		close(c.quit)
		for _, p := range c.pipes {
			p.giveUp()
		}
		for _, conn := range []*net.TCPConn{c.client, c.broker} {
			_ = conn.SetLinger(0)
			_ = conn.Close()
		}
	})
}
