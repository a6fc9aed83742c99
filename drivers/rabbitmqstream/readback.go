package rabbitmqstream

import (
	"context"
	"fmt"
	"sync"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/drivers/internal/rabbit"
	"sixnines/drivers/rabbitmqstream/wire"
)

// Places implements driver.BackReader: the stream of each topic, from which only limits remove
// segments.
func (s *session) Places(t driver.Topology) (all []driver.Place, err error) {
	for _, topic := range t.Topics {
		if err := checkName("topic", topic); err != nil {
			return nil, err
		}
		all = append(all, driver.Place{Topic: topic, Log: true})
	}
	return all, nil
}

// ReadBack implements driver.BackReader: the copy of the stream's leader, or the one of the only server
// that the URL names.
func (s *session) ReadBack(ctx context.Context, p driver.Place, take driver.Take) (driver.Reading, error) {
	at, _, err := s.members(ctx, p.Topic)
	if err != nil {
		return driver.Reading{}, err
	}
	name := "leader"
	if len(at.Replicas) == 0 {
		name = ""
	}
	if s.Clustered() {
		return s.readAt(ctx, at.Leader, name, p.Topic, take)
	}
	return s.readAt(ctx, "", name, p.Topic, take)
}

// Replicas implements driver.ReplicaReader: the members that the broker knows to run.
func (s *session) Replicas(ctx context.Context, p driver.Place) (all []driver.Replica, err error) {
	at, asked, err := s.members(ctx, p.Topic)
	if err != nil || len(at.Replicas) == 0 {
		return nil, err
	}
	for _, address := range append([]string{at.Leader}, at.Replicas...) {
		read := at.Leader
		if !s.Clustered() {
			read = asked
		}
		all = append(all, driver.Replica{Name: address, Leader: address == read, Answer: driver.ReplicaContents})
	}
	return all, nil
}

// ReadReplica implements driver.ReplicaReader. A member hands out what it knows that a majority has.
func (s *session) ReadReplica(ctx context.Context, p driver.Place, r driver.Replica, take driver.Take) (driver.Reading, error) {
	return s.readAt(ctx, r.Name, r.Name, p.Topic, take)
}

// members asks where a stream is, and which server says so.
func (s *session) members(ctx context.Context, topic string) (at wire.Placement, asked string, err error) {
	name := s.stream(topic)
	err = s.admin.Do(ctx, func(c *wire.Conn) (err error) {
		asked = c.Advertised()
		if at, err = c.Locate(ctx, name); err == nil && at.Leader == "" {
			err = errNoLeader
		}
		return err
	})
	return at, asked, wrap(err, "locate stream %q", name)
}

// readAt reads the copy of a stream that the server at the address has, or with an empty address one of
// the URL's.
func (s *session) readAt(ctx context.Context, address, copyOf, topic string, take driver.Take) (driver.Reading, error) {
	none, name := driver.Reading{}, s.stream(topic)
	servers := s.From(0)
	if address != "" {
		servers = rabbit.Preferring(address, servers)[:1]
	}
	c, err := rabbit.Connect(ctx, s.Broker, servers, func(_ context.Context, c kit.Conn) (*wire.Conn, error) {
		return wire.Open(c, s.ConfigOf(string(kit.Control)))
	})
	if err != nil {
		return none, wrap(err, "read stream %q back", name)
	}
	defer c.Close(context.WithoutCancel(ctx))
	end, err := c.End(ctx, name)
	if err != nil {
		return none, wrap(err, "ask where stream %q ends", name)
	}
	found := driver.Reading{Until: driver.ReadToPosition, Copy: copyOf}
	if end == 0 {
		return found, nil
	}
	r := &backReader{take: take, end: end, over: make(chan error, 1)}
	in, err := c.Subscribe(ctx, name, wire.First, 0, backCredit, r)
	if err == nil {
		select {
		case err = <-r.over:
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
		if err == nil {
			err = in.Close(ctx)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.end = 0
	found.Messages, found.Removed, found.Dropped = r.read, r.first > 0, int64(r.first) // offsets count messages
	return found, wrap(err, "read stream %q back, after %d messages", name, r.read)
}

// backCredit is how many chunks the server sends ahead.
const backCredit = 10

// backReader is the wire.Subscriber that reads back.
type backReader struct {
	take driver.Take
	over chan error // one value

	mu          sync.Mutex
	end         uint64 // offset behind the last message that is wanted; 0: none are any more
	read        int64
	first, next uint64 // offsets: of the first message, and behind the last one
}

// Deliver implements wire.Subscriber.
func (r *backReader) Deliver(offset uint64, body []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if offset >= r.end {
		return
	}
	if r.read == 0 {
		r.first = offset
	}
	r.read, r.next = r.read+1, offset+1
	r.take(driver.Kept{Payload: body, Position: int64(offset)})
	if r.next == r.end {
		r.end = 0
		r.over <- nil
	}
}

// End implements wire.Subscriber.
func (r *backReader) End(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.end > 0 {
		r.end = 0
		r.over <- fmt.Errorf("%w: the subscription ended: %w", driver.ErrNotConnected, err)
	}
}
