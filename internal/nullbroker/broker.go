package nullbroker

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"

	"sixnines/internal/clock"
)

// Config says what a broker does.
type Config struct {
	Law Law // of the delays
	// Server, if not none, is the law of the service times of a single server that
	// all messages pass one after the other, before they are delayed.
	Server Law
	Seed   uint64
	// Log, if not empty, is the file that takes an entry for every message. One
	// that exists is continued.
	Log string
}

// holds reports whether messages are held back.
func (c Config) holds() bool { return !c.Law.None() || !c.Server.None() }

// welcome describes it to a client.
func (c Config) welcome() Welcome {
	w := Welcome{MaxPayload: MaxPayload, Seed: c.Seed, Law: c.Law.String()}
	if !c.Server.None() {
		w.Server = c.Server.String()
	}
	return w
}

// Broker is a null broker. Its methods are safe for concurrent use.
type Broker struct {
	config Config
	table  *Timetable
	log    *log  // nil: no log
	held   *hold // nil: nothing is ever held
	over   chan struct{}

	mu     sync.Mutex
	closed bool
	topics map[string]*topic
	conns  map[*conn]struct{}
	done   sync.WaitGroup // one for each connection, the log's clock and the holder
}

// topic is a name and its subscribers.
type topic struct {
	name  string
	users int // handles and subscriptions; guarded by Broker.mu

	// What publishers read, without a lock: replaced, never changed.
	subscribers atomic.Pointer[subscribers]
}

// subscribers are the subscribers of a topic.
type subscribers struct {
	plain  []*subscription
	groups []*group
}

type group struct {
	name    string
	members []*subscription
	turn    *atomic.Uint32 // shared by all subscribers of one group
}

type subscription struct {
	number uint32
	group  string
	topic  *topic
	out    *sender
}

// New returns a broker that listens nowhere yet. Whoever gets one must close it.
func New(c Config) (*Broker, error) {
	b := &Broker{config: c, table: NewTimetable(c), topics: map[string]*topic{}, conns: map[*conn]struct{}{}, over: make(chan struct{})}
	if c.Log != "" {
		var err error
		if b.log, err = openLog(c.Log); err != nil {
			return nil, fmt.Errorf("null broker: open its log: %w", err)
		}
		b.done.Go(func() { b.log.tick(b.over) })
	}
	if c.holds() {
		b.held = newHold(b.forward)
		b.done.Go(b.held.run)
	}
	return b, nil
}

// Serve accepts connections until l is closed, which [Broker.Close] does not do.
// It returns the error that ended it, nil if that is the broker's own end.
func (b *Broker) Serve(l net.Listener) error {
	for {
		n, err := l.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return nil
			}
			return fmt.Errorf("null broker: %w", err)
		}
		c := newConn(b, n)
		b.mu.Lock()
		if b.closed {
			b.mu.Unlock()
			n.Close()
			return nil
		}
		b.conns[c] = struct{}{}
		b.done.Add(1)
		b.mu.Unlock()
		go func() {
			defer b.done.Done()
			c.serve()
			b.mu.Lock()
			delete(b.conns, c)
			b.mu.Unlock()
		}()
	}
}

// Close ends all connections, forgets what is held back and completes the log.
// Its error is the log's.
func (b *Broker) Close() error {
	b.mu.Lock()
	again := b.closed
	b.closed = true
	for c := range b.conns {
		c.out.close()
	}
	b.mu.Unlock()
	if again {
		return nil
	}
	close(b.over)
	if b.held != nil {
		b.held.close()
	}
	b.done.Wait()
	if b.log == nil {
		return nil
	}
	if err := b.log.close(); err != nil {
		return fmt.Errorf("null broker: write its log: %w", err)
	}
	return nil
}

// topic returns the topic of that name, with one user more.
func (b *Broker) topic(name []byte) *topic {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.topics[string(name)]
	if t == nil {
		t = &topic{name: string(name)}
		t.subscribers.Store(&subscribers{})
		b.topics[t.name] = t
	}
	t.users++
	return t
}

// release gives a topic back.
func (b *Broker) release(t *topic) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if t.users--; t.users == 0 {
		delete(b.topics, t.name)
	}
}

// subscribe adds s to its topic's subscribers.
func (b *Broker) subscribe(s *subscription) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s.topic.subscribers.Store(s.topic.subscribers.Load().with(s))
}

// unsubscribe removes s and gives its topic back.
func (b *Broker) unsubscribe(s *subscription) {
	b.mu.Lock()
	s.topic.subscribers.Store(s.topic.subscribers.Load().without(s))
	b.mu.Unlock()
	b.release(s.topic)
}

func (a *subscribers) with(s *subscription) *subscribers {
	next := a.without(nil)
	if s.group == "" {
		next.plain = append(next.plain, s)
		return next
	}
	for _, g := range next.groups {
		if g.name == s.group {
			g.members = append(g.members, s)
			return next
		}
	}
	next.groups = append(next.groups, &group{s.group, []*subscription{s}, new(atomic.Uint32)})
	return next
}

// without returns a copy, which shares nothing but the groups' turns.
func (a *subscribers) without(s *subscription) *subscribers {
	keep := func(from []*subscription) (to []*subscription) {
		for _, x := range from {
			if x != s {
				to = append(to, x)
			}
		}
		return to
	}
	next := &subscribers{plain: keep(a.plain)}
	for _, g := range a.groups {
		if members := keep(g.members); len(members) > 0 {
			next.groups = append(next.groups, &group{g.name, members, g.turn})
		}
	}
	return next
}

// message is a message on its way.
type message struct {
	topic   *topic
	tail    []byte
	from    *sender // of the publisher, for the confirmation
	number  uint32
	confirm bool
	entry   Entry
}

// forward puts m into the senders of its subscribers, and the confirmation into the
// publisher's. touched collects the senders to flush.
func (b *Broker) forward(m *message, touched *senders) {
	if b.log != nil {
		m.entry.Forwarded = clock.Now()
		b.log.add(m.entry)
	}
	a := m.topic.subscribers.Load()
	for _, s := range a.plain {
		s.out.message(s.number, m.tail)
		touched.add(s.out)
	}
	for _, g := range a.groups {
		s := g.members[int((g.turn.Add(1)-1)%uint32(len(g.members)))]
		s.out.message(s.number, m.tail)
		touched.add(s.out)
	}
	if m.confirm {
		m.from.ack(m.number)
		touched.add(m.from)
	}
}

// senders is a small set.
type senders []*sender

func (s *senders) add(o *sender) {
	for _, x := range *s {
		if x == o {
			return
		}
	}
	*s = append(*s, o)
}

// flush writes them all, in the order in which they were first added, and
// empties the set.
func (s *senders) flush() {
	for i, o := range *s {
		o.flush()
		(*s)[i] = nil
	}
	*s = (*s)[:0]
}
