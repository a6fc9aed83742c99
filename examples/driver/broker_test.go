package relay_test

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"testing"
)

// broker is the server of package relay's protocol.
type broker struct {
	listener net.Listener
	frozen   sync.RWMutex // held for writing: nobody moves

	mu     sync.Mutex
	conns  map[net.Conn]bool
	topics map[string][]subscription
	served sync.WaitGroup
}

type subscription struct {
	conn   *peer
	number uint32
}

// peer is a connection that several others may write to.
type peer struct {
	net.Conn
	mu sync.Mutex
}

func startBroker(t *testing.T) *broker {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &broker{listener: l, conns: map[net.Conn]bool{}, topics: map[string][]subscription{}}
	b.served.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			b.mu.Lock()
			b.conns[c] = true
			b.mu.Unlock()
			b.served.Go(func() { b.serve(&peer{Conn: c}) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		b.mu.Lock()
		for c := range b.conns {
			_ = c.Close()
		}
		b.mu.Unlock()
		b.served.Wait()
	})
	return b
}

func (b *broker) url() string { return "relay://" + b.listener.Addr().String() }

func (b *broker) serve(p *peer) {
	defer func() {
		_ = p.Close()
		b.mu.Lock()
		delete(b.conns, p.Conn)
		for topic, all := range b.topics {
			var rest []subscription
			for _, s := range all {
				if s.conn != p {
					rest = append(rest, s)
				}
			}
			b.topics[topic] = rest
		}
		b.mu.Unlock()
	}()
	r := bufio.NewReader(p)
	for {
		header := make([]byte, 9)
		if _, err := io.ReadFull(r, header); err != nil {
			return
		}
		number, body := binary.LittleEndian.Uint32(header[1:]), make([]byte, binary.LittleEndian.Uint32(header[5:]))
		if _, err := io.ReadFull(r, body); err != nil {
			return
		}
		b.frozen.RLock()
		switch header[0] {
		case 'P':
			b.mu.Lock()
			to := b.topics[string(body[:number])]
			b.mu.Unlock()
			for _, s := range to {
				s.conn.write('M', s.number, body[number:])
			}
		case 'S':
			b.mu.Lock()
			b.topics[string(body)] = append(b.topics[string(body)], subscription{p, number})
			b.mu.Unlock()
			p.write('K', 0, nil)
		case 'Q':
			p.write('K', 0, nil)
		}
		b.frozen.RUnlock()
	}
}

func (p *peer) write(op byte, number uint32, body []byte) {
	f := binary.LittleEndian.AppendUint32([]byte{op}, number)
	f = append(binary.LittleEndian.AppendUint32(f, uint32(len(body))), body...)
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = p.Conn.Write(f) // who has gone gets nothing
}
