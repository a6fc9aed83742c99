package nanomsg

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"go.nanomsg.org/mangos/v3"

	"sixnines/drivers/internal/mesh"
)

// nameOf is the protocol of a role.
func nameOf(r mesh.Role) string {
	return [...]string{"PUB", "SUB", "PUSH", "PULL", "REQ", "REP"}[r]
}

func infoOf(r mesh.Role) mangos.ProtocolInfo {
	numbers := [...]uint16{mangos.ProtoPub, mangos.ProtoSub, mangos.ProtoPush, mangos.ProtoPull, mangos.ProtoReq, mangos.ProtoRep}
	return mangos.ProtocolInfo{Self: numbers[r], Peer: numbers[r.Peer()], SelfName: strings.ToLower(nameOf(r)), PeerName: strings.ToLower(nameOf(r.Peer()))}
}

// wire is a protocol without queues, a mangos.ProtocolBase: what is sent is
// written by who sends it, and what comes is handled by who has read it.
type wire struct {
	role  mesh.Role
	take  taker                   // nil: nothing is expected
	pipes atomic.Pointer[[]*pipe] // replaced, never changed
	turn  atomic.Uint32           // of the pipes, for those that take turns

	mu     sync.Mutex // guards pipes' replacement, and closed
	closed bool
}

// taker is given each message that p has read, with what follows the protocol's
// own header. Each connection calls it on a goroutine of its own. It returns
// whether it keeps the message, to free it later.
type taker func(p *pipe, m *mangos.Message, body []byte) (keeps bool)

// pipe is a connection.
type pipe struct {
	mangos.ProtocolPipe
	sending sync.Mutex
	header  []byte // of the request at hand
	answer  func(reply []byte) error
}

var errNoPeers = errors.New("no peers")

func newWire(r mesh.Role, take taker) *wire {
	w := &wire{role: r, take: take}
	w.pipes.Store(&[]*pipe{})
	return w
}

// Info implements mangos.ProtocolBase.
func (w *wire) Info() mangos.ProtocolInfo { return infoOf(w.role) }

// AddPipe implements mangos.ProtocolBase.
func (w *wire) AddPipe(pp mangos.ProtocolPipe) error {
	p := &pipe{ProtocolPipe: pp}
	p.answer = func(reply []byte) error { return p.reply(p.header, reply) }
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return mangos.ErrClosed
	}
	pp.SetPrivate(p)
	now := append(slices.Clone(*w.pipes.Load()), p)
	w.pipes.Store(&now)
	go w.read(p)
	return nil
}

// RemovePipe implements mangos.ProtocolBase.
func (w *wire) RemovePipe(pp mangos.ProtocolPipe) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := slices.DeleteFunc(slices.Clone(*w.pipes.Load()), func(p *pipe) bool { return p.ProtocolPipe == pp })
	w.pipes.Store(&now)
}

// read handles what comes until the pipe closes. Those that only send read as
// well, or they would not notice that it has closed.
func (w *wire) read(p *pipe) {
	defer p.Close()
	for {
		m := p.RecvMsg()
		if m == nil {
			return
		}
		if body, ok := w.strip(p, m.Body); !ok || w.take == nil || !w.take(p, m, body) {
			m.Free()
		}
	}
}

// lastOfHeader marks, in four bytes, the last part of a request's header: its
// number. Those before it say by which devices it came.
const lastOfHeader = 0x80

// strip takes the header from a request or reply.
func (w *wire) strip(p *pipe, body []byte) ([]byte, bool) {
	if w.role != mesh.Requests && w.role != mesh.Responds {
		return body, true
	}
	for end := 4; end <= len(body); end += 4 {
		if body[end-4]&lastOfHeader != 0 {
			p.header = append(p.header[:0], body[:end]...)
			return body[end:], true
		}
	}
	return nil, false
}

// send writes m, which is no longer the caller's.
func (p *pipe) send(m *mangos.Message) error {
	p.sending.Lock()
	err := p.SendMsg(m)
	p.sending.Unlock()
	if err != nil {
		m.Free()
	}
	return err
}

// reply answers the request with the header.
func (p *pipe) reply(header, reply []byte) error {
	m := mangos.NewMessage(len(reply))
	m.Header = append(m.Header, header...)
	m.Body = append(m.Body, reply...)
	return p.send(m)
}

// SendMsg implements mangos.ProtocolBase. It waits while the connection takes no
// more, and is safe for concurrent use.
func (w *wire) SendMsg(m *mangos.Message) error {
	pipes := *w.pipes.Load()
	if w.role == mesh.Publishes {
		// A message for a subscriber that has gone does not count as lost.
		for _, p := range pipes {
			m.Clone()
			_ = p.send(m)
		}
		m.Free()
		return nil
	}
	turn := w.turn.Add(1)
	if w.role == mesh.Requests {
		m.Header = binary.BigEndian.AppendUint32(m.Header, turn|lastOfHeader<<24)
	}
	if len(pipes) == 0 {
		return errNoPeers
	}
	// The next one that is not just being written to, or else the next one.
	next := pipes[turn%uint32(len(pipes))]
	for i := range pipes {
		p := pipes[(int(turn)+i)%len(pipes)]
		if p.sending.TryLock() {
			next = p
			err := p.SendMsg(m)
			p.sending.Unlock()
			return err
		}
	}
	next.sending.Lock()
	defer next.sending.Unlock()
	return next.SendMsg(m)
}

// RecvMsg implements mangos.ProtocolBase.
func (w *wire) RecvMsg() (*mangos.Message, error) { return nil, mangos.ErrProtoOp }

// GetOption implements mangos.ProtocolBase.
func (w *wire) GetOption(name string) (any, error) {
	if name == mangos.OptionRaw {
		return true, nil
	}
	return nil, mangos.ErrBadOption
}

// SetOption implements mangos.ProtocolBase.
func (w *wire) SetOption(string, any) error { return mangos.ErrBadOption }

// OpenContext implements mangos.ProtocolBase.
func (w *wire) OpenContext() (mangos.ProtocolContext, error) { return nil, mangos.ErrProtoOp }

// Close implements mangos.ProtocolBase. The library closes the pipes.
func (w *wire) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return mangos.ErrClosed
	}
	w.closed = true
	return nil
}
