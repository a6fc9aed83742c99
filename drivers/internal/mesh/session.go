package mesh

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/semantics"
)

// Entry completes what describes a driver. Of a pipeline the consumers of a topic share
// its messages; else each consumer gets all, and requests are answered. Schemes are those that
// Parse gets.
func Entry(e driver.Entry, pipeline bool, schemes []string) driver.Entry {
	e.Schemes = schemes
	e.DefaultURL = "tcp://127.0.0.1:0"
	c := &e.Capabilities
	c.Ack = driver.AckKindNone
	c.OwnsDialing, c.Brokerless, c.Ordered = true, true, true
	c.Groups, c.FanOut, c.RequestReply = pipeline, !pipeline, !pipeline
	return e
}

// Config is what sessions of drivers differ in. S is a socket that sends, R one that
// receives.
type Config[S comparable, R driver.Consumer] struct {
	Driver   string // its name, with which errors begin; its pipeline has -pipeline added
	Pipeline bool   // see Entry
	Bind     string // the option, see Role.Binds
	Unfit    string // bytes that names of topics do not have
	Filters  bool   // a subscriber's socket receives what it has not asked for as well
	// OpenSender connects a socket that publishes, or pushes.
	OpenSender  func(ctx context.Context, l Line) (S, error)
	CloseSender func(S)
	// Receive connects a socket that receives. It is kept, see kit.Base.
	Receive func(ctx context.Context, w Wish) (R, error)
	// Describe completes what is the same for all drivers.
	Describe func(sem *driver.Semantics, t driver.Topology)
}

// Wish is what a socket is to receive.
type Wish struct {
	Role     Role
	Keys     []string // by which it meets others
	Prefixes []string // that a subscriber asks for
	Slow     bool     // see driver.ConsumerSpec
	// Handle is given what comes, or Respond, which returns the reply, nil for none.
	Handle  func(body []byte)
	Respond func(m driver.Message) (reply []byte)
}

// Session implements driver.Session, and driver.RequestReplier but for Requester.
type Session[S comparable, R driver.Consumer] struct {
	*kit.Base
	Config[S, R]
	Room *Room

	senders *kit.Pool[Line, S]
	leave   sync.Once
}

// NewSession returns a session at the address. What it makes before anything else of the
// run is made by opened, see Directory.Enter.
func NewSession[S comparable, R driver.Consumer](d *Directory, t driver.Target, a Address, c Config[S, R], opened func(*Room) error) (*Session[S, R], error) {
	s := &Session[S, R]{Base: kit.NewPlainBase(&kit.Errors{Driver: c.Driver}, t), Config: c}
	s.senders = kit.NewPool(c.Driver, c.OpenSender, func(_ context.Context, socket S) { c.CloseSender(socket) })
	var err error
	if s.Room, err = d.Enter(t.Run, a, opened); err != nil {
		s.Stop()
		return nil, fmt.Errorf("%s: %w", c.Driver, err)
	}
	return s, nil
}

// The most that waits in a queue of a flat-out load which has no other limit: enough
// messages that a sender's pause does not drain it, and no more memory than this.
const (
	mostMessages = 10000
	mostMemory   = 64 << 20
)

// Limit returns how many messages a queue of the session's may hold; 0: any number.
func (s *Session[S, R]) Limit() int {
	if !s.Target.Batch {
		return 0
	}
	return max(16, min(mostMessages, mostMemory/int(max(1, s.Room.largest.Load()))))
}

// checkTopic refuses names that would not end where they end.
func (s *Session[S, R]) checkTopic(topic string) error {
	if topic == "" || strings.ContainsAny(topic, s.Unfit) {
		return s.New(driver.ErrUnsupported, fmt.Sprintf("topic %q", topic), "names are not empty and have none of the bytes %x", s.Unfit)
	}
	return nil
}

// Provision implements driver.Session. Topics need no making.
func (s *Session[S, R]) Provision(_ context.Context, t driver.Topology) (driver.Semantics, error) {
	for _, topic := range t.Topics {
		if err := s.checkTopic(topic); err != nil {
			return driver.Semantics{}, err
		}
	}
	if s.Pipeline {
		if err := checkPushed(t, s.Driver); err != nil {
			return driver.Semantics{}, fmt.Errorf("%s: %w", s.Driver, err)
		}
	}
	s.Room.largest.Store(int64(t.MaxSize)) // the run's other sessions do not learn it
	sem := driver.Semantics{
		Levels: semantics.Levels{Durability: semantics.NotStored, Replication: semantics.Replication{Level: semantics.OneCopy},
			Ordering: semantics.PerTopic, Delivery: semantics.AtMostOnce},
		Durability:     "none, messages are not stored",
		Replication:    "none",
		Acknowledgment: "none",
		Ordering:       "per producer and topic",
		Delivery:       "at most once",
		Transport:      s.Room.Address().Scheme,
		Settings:       map[string]string{"bind": s.Bind, "nodelay": "on, always", "participants": "all in this process"},
	}
	if s.Pipeline && t.Consumers > 1 {
		sem.Levels.Ordering = semantics.PerPartition
		sem.Ordering = "per producer, topic and consumer"
	}
	s.Describe(&sem, t)
	sem.Server.More = map[string]string{"broker": "none"}
	return sem, nil
}

// Deprovision implements driver.Session. There is nothing that could be left.
func (s *Session[S, R]) Deprovision(context.Context) error { return nil }

// check refuses what a consumer cannot have.
func (s *Session[S, R]) check(spec driver.ConsumerSpec) error {
	for _, topic := range spec.Topics {
		if err := s.checkTopic(topic); err != nil {
			return err
		}
	}
	switch {
	case spec.Ack.Mode != driver.AckDefault && spec.Ack.Mode != driver.AckNone:
		return s.New(driver.ErrUnsupported, "acknowledge", "consumers acknowledge nothing")
	case s.Closed():
		return s.Wrap(driver.ErrClosed, "receive")
	}
	return nil
}

// Consumer implements driver.Session.
func (s *Session[S, R]) Consumer(ctx context.Context, spec driver.ConsumerSpec, deliver driver.Deliver) (driver.Consumer, error) {
	if err := s.check(spec); err != nil {
		return nil, err
	}
	w := Wish{Role: Pulls, Keys: pushed(spec.Topics...), Slow: spec.Slow}
	if s.Pipeline {
		w.Handle = func(body []byte) { deliver(driver.Message{Payload: body}) }
		return s.receive(ctx, w)
	}
	if spec.Group != "" {
		return nil, s.New(driver.ErrUnsupported, fmt.Sprintf("group %q", spec.Group), "every subscriber gets every message; driver %s-pipeline shares them", s.Driver)
	}
	w.Role, w.Keys = Subscribes, published()
	wanted := map[string]bool{}
	for _, topic := range spec.Topics {
		w.Prefixes = append(w.Prefixes, prefix(topic))
		wanted[topic] = true
	}
	w.Handle = func(body []byte) {
		// Always there, or the subscription would not have matched.
		i := bytes.IndexByte(body, 0)
		deliver(driver.Message{Payload: body[i+1:]})
	}
	if s.Filters {
		w.Handle = func(body []byte) {
			if i := bytes.IndexByte(body, 0); i > 0 && wanted[string(body[:i])] {
				deliver(driver.Message{Payload: body[i+1:]})
			}
		}
	}
	return s.receive(ctx, w)
}

// receive makes no interface of no receiver.
func (s *Session[S, R]) receive(ctx context.Context, w Wish) (driver.Consumer, error) {
	r, err := s.Receive(ctx, w)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Responder implements driver.RequestReplier. It answers on the goroutine that has
// received the request.
func (s *Session[S, R]) Responder(ctx context.Context, spec driver.ConsumerSpec, respond func(driver.Message) []byte) (driver.Consumer, error) {
	if err := cmp.Or(s.checkRequests(), s.check(spec)); err != nil {
		return nil, err
	}
	return s.receive(ctx, Wish{Role: Responds, Keys: requested(spec.Topics...), Slow: spec.Slow, Respond: respond})
}

// Request connects a socket for requests, by which the replies come too.
func (s *Session[S, R]) Request(ctx context.Context, spec driver.ProducerSpec, acks driver.Acks, replies driver.Deliver) (r R, to Sending, err error) {
	if err := cmp.Or(s.checkRequests(), s.check(driver.ConsumerSpec{Topics: []string{spec.Topic}})); err != nil {
		return r, to, err
	}
	r, err = s.Receive(ctx, Wish{Role: Requests, Keys: requested(spec.Topic), Handle: func(body []byte) { replies(driver.Message{Payload: body}) }})
	return r, Sending{s.Errors, spec.Topic, acks}, err
}

func (s *Session[S, R]) checkRequests() error {
	if s.Pipeline {
		return s.New(driver.ErrUnsupported, "request", "a pipeline answers nothing; driver %s does", s.Driver)
	}
	return nil
}

// Disband closes the session. The last one of the run calls closed, see Room.Leave.
func (s *Session[S, R]) Disband(ctx context.Context, closed func()) error {
	err := s.Base.Close(ctx, s.senders.Close)
	s.leave.Do(func() { s.Room.Leave(closed) })
	return err
}
