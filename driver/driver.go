// Package driver is the contract between Sixnines and a message broker.
//
// A driver moves bytes. It never reads a clock, never records a latency and
// never retries without the engine's knowledge: whatever the client library would
// do on its own (retry, buffer while disconnected, drop on a full queue) is
// switched off, made unlimited or reported as an [Event], so that a message that
// the client drops cannot look like one that the broker lost.
//
// The life of a run, as the engine drives it:
//
//	Driver.Open → Session.Provision → Session.Consumer… → Session.Producer…
//	→ Producer.Send … Acks.Done / Deliver … → Producer.Close, Consumer.Close
//	→ Session.Deprovision → Session.Close
//
// An optional interface ([Flusher], [Syncer], [KeySender], [RequestReplier],
// [DepthTeller], [BackReader], [DestinationNamer]) adds methods and is found by type assertion. A driver's statements are
// data: [Capabilities] before a session exists, [Semantics] from Provision on. The
// conformance suite in driver/drivertest checks the clauses written here against a
// real broker, and lists those that it could not check.
package driver

import (
	"context"
	"net"
	"time"
)

// Driver opens sessions with one kind of broker, see [New]. A Driver is stateless and
// safe for concurrent use.
type Driver interface {
	// Open prepares a session with the broker at t. It validates t.Options
	// (wrapping [ErrOption]) and reaches the broker at least once, so that a
	// wrong address or password fails here (wrapping [ErrNotConnected] or
	// [ErrUnauthorized]) within ctx.
	Open(ctx context.Context, t Target) (Session, error)
}

// Target says where the broker is and how to reach it.
type Target struct {
	// URL is the broker's address in the driver's own notation. Several
	// servers are separated by commas where the driver allows them.
	URL string
	// Run names the run: it is part of the name of everything that Provision
	// creates, so that runs do not share anything and leftovers can be recognised.
	// ASCII letters, digits and hyphens only.
	Run string
	// Prefix begins every name that the session makes or uses at the broker: topics, groups,
	// clients, reply addresses. Empty: names of the run begin with [Mark]. [Naming.CheckPrefix]
	// has accepted it.
	Prefix string
	// Given says that the names in Topology and in the specs are names at the broker as they are:
	// of topics and groups of the operator's. The session makes, empties and deletes none of them,
	// and returns an error that wraps ErrNoTopic where it finds out that one is missing. Topics may
	// hold messages of others, and get more at any time; a consumer without a group begins with what
	// comes next, a group where it is. Only for drivers whose Naming.GivenTopic is not empty.
	Given bool
	// Options are the driver's own options, decoded strictly by
	// [DecodeOptions] into the driver's options struct.
	Options map[string]any
	// TLS is nil for a plain connection.
	TLS *TLS
	// Dial makes connections for the driver. A driver whose client library cannot
	// take a dial function declares Capabilities.OwnsDialing instead. Dial is never
	// nil when the engine opens a session. The engine closes connections made through
	// it when a context ends, so that a client that holds a lock in a blocked write
	// releases the lock. The context says whose the connection is, see WithRole.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Batch tells the driver how to configure its client. False (the load is
	// paced) means latency: each message is written at once, on the caller's
	// thread where the client can. True (an unpaced load) means batching. Explicit
	// options override it, and Semantics.Batching says what is in effect.
	Batch bool
	// Notify, if not nil, receives events that are neither acknowledgements
	// nor deliveries. It is safe for concurrent use and does not block.
	Notify func(Event)
	// Wait, if not nil, is for drivers that simulate a delay. It waits until an instant,
	// which must have a monotonic reading, and returns true; it is more precise than Go's
	// timers. It returns false soon after quit is closed. quit may be nil. It is safe for
	// concurrent use.
	Wait func(until time.Time, quit <-chan struct{}) bool
}

// TLS holds the files and names of a TLS connection. Paths are read by the
// driver through [TLS.Config]. Its fields are those of scenario.TLS.
type TLS struct {
	CA                 string // PEM file; empty: the system's roots
	Cert               string // PEM file; empty: no client certificate
	Key                string // PEM file of its key
	KeyPassword        string // empty: the key is not encrypted
	ServerName         string // empty: the host of the URL
	InsecureSkipVerify bool   // the engine records it in the result as a warning
}

// Session is one driver's access to one broker for one run. Its methods may
// be called from several goroutines at a time, but the engine calls Provision before
// and Deprovision after all other methods except Close.
type Session interface {
	// Provision makes the topics and groups of t exist, empty (but see
	// Topology.Existing) and ready for use, and returns the settings in EFFECT, read
	// back from the server where the server reports them.
	Provision(ctx context.Context, t Topology) (Semantics, error)
	// Producer connects a producer. It reports to acks for its whole lifetime.
	Producer(ctx context.Context, s ProducerSpec, acks Acks) (Producer, error)
	// Consumer subscribes. It returns once the subscription is effective as
	// far as the client can know. deliver is called serially per consumer.
	Consumer(ctx context.Context, s ConsumerSpec, deliver Deliver) (Consumer, error)
	// Deprovision removes exactly what this session's Provision created, also where that failed half-way, except with
	// Topology.Keep. It goes on where it cannot remove something, and joins a [Left] for each.
	Deprovision(ctx context.Context) error
	// Close ends all connections of the session, whatever state the broker is
	// in, and returns by ctx's deadline. Closing twice is allowed.
	Close(ctx context.Context) error
}

// Topology is what a run needs at the broker.
type Topology struct {
	Topics    []string // names without the run's prefix, e.g. "t0"; unique
	Groups    []string // names of queue or consumer groups; empty: every consumer on its own
	Producers int      // how many producers will connect
	Consumers int      // how many consumers will connect
	MaxSize   int      // largest payload in bytes; Provision refuses it (ErrTooLarge) if the broker cannot carry it
	Slow      bool     // the consumers are slow, see ConsumerSpec.Slow
	// Late is for drivers with Capabilities.Keeps: consumers connect after messages
	// have been sent, and must get them all. A group keeps the messages sent from
	// Provision on, even while it has no consumers; a consumer without a group begins
	// with the oldest message of the topic. If such consumers would not get all
	// messages, with these options or without a group, Provision returns an error that
	// wraps ErrUnsupported.
	Late bool
	// Keep and Existing are for the same drivers. With Keep, Deprovision leaves the
	// topics and groups, with the messages in them, for a later session of the same
	// Target.Run. A group keeps the messages sent from Provision on, even while it has
	// no consumers. If nothing would be kept without a group, Provision returns an
	// error that wraps ErrUnsupported.
	Keep bool
	// Existing uses the topics that a session with Keep has left: Provision makes no
	// topics, wraps ErrNoTopic if one is missing, and empties nothing. A group continues
	// with the messages that it has not consumed. A consumer without a group begins with
	// the oldest message, or, if only groups have messages, is refused with an error that
	// wraps ErrUnsupported. Without Keep, Deprovision removes what Provision would have
	// created.
	Existing bool
	// ReadBack says that a BackReader will read what is kept when the run is over: without
	// consumers a driver whose topics are logs or queues then keeps all messages, and not
	// the newest ones only.
	ReadBack bool
	// KeySize and Headers are those of all producers, see ProducerSpec. Provision
	// refuses what the broker cannot carry (ErrUnsupported, ErrTooLarge).
	KeySize int
	Headers []Header
}

// Header is a name with a value that a message carries beside its payload: a header,
// property or field in the broker's own terms.
type Header struct{ Name, Value string }

// ProducerSpec describes one producer.
type ProducerSpec struct {
	ID    int    // unique in the session, from 0
	Topic string // one of Topology.Topics
	// Conn numbers the connection to use. Producers of one session with equal
	// Conn share a connection; producers and consumers never do.
	Conn int
	Size int // the largest payload in bytes; all are this large unless sizes vary
	// Limited says that the sender may wait for acknowledgements before it sends
	// more: a closed loop, or a limit on the messages in flight. Otherwise a driver may
	// read acknowledgements up to some milliseconds late, if the connection's time
	// stamps tell when they arrived.
	Limited bool
	// KeySize is the length of messages' keys in bytes; 0: messages have no keys. If it
	// is above 0, which needs Capabilities.Keys, messages are sent only by
	// KeySender.SendKeyed.
	KeySize int
	// Headers are sent with every message, which needs Capabilities.Headers. Names are
	// unique and have 1 to 255 letters, digits, dots, hyphens and underscores; values are
	// not empty and have no control characters.
	Headers []Header
}

// ConsumerSpec describes one consumer.
type ConsumerSpec struct {
	ID     int      // unique in the session, from 0
	Topics []string // what to subscribe to, all of Topology.Topics or some
	Group  string   // one of Topology.Groups; empty: a consumer without a group gets every message
	Conn   int      // numbers the connection among those of consumers, as in ProducerSpec
	// Ack says when the consumer acknowledges to the broker, after Deliver has
	// returned; the zero value leaves it to the driver and its options.
	Ack ConsumerAck
	// Slow says that Deliver may take long: it simulates work. A driver must then
	// call it so that it delays nothing but this consumer.
	Slow bool
}

// ConsumerAck is a consumer's acknowledgement mode towards the broker.
type ConsumerAck struct {
	Mode  AckMode
	Every int // AckEvery: acknowledge after this many messages (all up to it)
}

// AckMode enumerates the modes of ConsumerAck.
type AckMode int

// The modes of ConsumerAck.
const (
	// AckDefault: the driver's default, which Semantics names.
	AckDefault AckMode = iota
	// AckNone: the consumer acknowledges nothing. The broker removes a message when
	// it has handed it out, or keeps it, consumed or not.
	AckNone
	// AckEach: acknowledge every message.
	AckEach
	// AckEvery: acknowledge after every n messages, all up to the last one; the
	// consumer acknowledges the rest when it closes.
	AckEvery
)

// Acks receives the outcome of sends.
type Acks interface {
	// Done reports that the broker acknowledged (err nil) or refused the message
	// sent with token, or that it was lost, and that its payload is no longer needed.
	// For every Send that returned nil, Done is called exactly once; it may be called
	// inside Send, on any goroutine, and out of order. With
	// Capabilities.Ack == AckKindNone it only says "the buffer is reusable".
	//
	// Done never blocks and does not allocate.
	Done(token uint64, err error)
}

// Deliver receives a message. It is called serially per consumer; m.Payload is
// valid until it returns.
type Deliver func(m Message)

// Message is a message as a consumer receives it.
type Message struct {
	Payload []byte
	// Redelivered is the broker's own mark on a message that it has delivered
	// before.
	Redelivered bool
	// Partition numbers, from 0, the ordered part of the topic that the message came
	// from, if the broker splits topics: the engine expects order only within one
	// part. Keep it small: the engine allocates a table of this size.
	Partition int
}

// Producer sends messages of one topic.
type Producer interface {
	// Send hands payload to the client. It is asynchronous where the client
	// allows that, and may block when the client's buffers are full. The payload is
	// borrowed until Acks.Done(token, …). An error means that the message was not
	// sent and that no Done will follow. Send is called by one goroutine at a time.
	Send(token uint64, payload []byte) error
	// Close releases the producer. Sends still unresolved are resolved with
	// ErrClosed or stay unresolved. Neither is a refusal: their outcome is unknown.
	// Close returns by ctx's deadline.
	Close(ctx context.Context) error
}

// Consumer is a subscription. No Deliver runs after Close has returned.
type Consumer interface {
	Close(ctx context.Context) error
}

// Flusher is implemented by producers whose client buffers writes. Flush is
// called when no more messages are due now; it makes no round trip to the broker.
type Flusher interface {
	Flush() error
}

// Syncer is implemented by producers that can make a round trip to the broker which
// proves that the broker has read all messages sent before. Events of kind Denied
// about these messages come before Sync returns.
type Syncer interface {
	Sync(ctx context.Context) error
}

// KeySender is implemented by producers of brokers whose messages have keys. Such a
// broker may choose the ordered part of a topic by key: equal keys give equal
// Message.Partition. A header or property called key is not a key.
type KeySender interface {
	// SendKeyed is Send for a message with a key, which is borrowed like the payload.
	SendKeyed(token uint64, payload, key []byte) error
}

// WindowWatcher is implemented by producers that need to know when the measured
// window begins: test doubles that inject faults into it. WindowBegins is called
// by the goroutine that sends, before the first measured message.
type WindowWatcher interface {
	WindowBegins()
}

// RequestReplier is implemented by sessions that can do request–reply.
type RequestReplier interface {
	// Requester connects a producer whose messages carry the broker's reply
	// address; replies arrive at deliver, serially.
	Requester(ctx context.Context, s ProducerSpec, acks Acks, replies Deliver) (Producer, error)
	// Responder subscribes and answers every request with what respond returns
	// for it. The reply may alias the request's payload. A nil reply means no
	// answer.
	Responder(ctx context.Context, s ConsumerSpec, respond func(m Message) (reply []byte)) (Consumer, error)
}

// Event is something that happened to a session, beside its messages.
type Event struct {
	Kind   EventKind
	Detail string // what happened to whom; empty: Err says it
	// Err, if not nil, is the error that the event is about, with a class. An error of
	// class ErrUnauthorized ends the run if it comes before the window; within the
	// window the verdict quotes the event.
	Err   error
	Count int // the number of messages of a Dropped, Returned or Denied event; 0 for other kinds
}

// EventKind enumerates events.
type EventKind int

// The kinds of Event.
const (
	Disconnected EventKind = iota + 1 // a connection was lost
	Reconnected                       // a lost connection was made again
	Dropped                           // the client threw messages away
	AsyncError                        // the client reported an error that belongs to no message
	Returned                          // the broker returned messages that it could not route
	Denied                            // the broker refused messages, as Err says, but not which: Done does not report the refusal
	GivenUp                           // a connection was lost and is not made again; Err says why, and sends on it fail with Err
)

// String returns the name used in result files.
func (k EventKind) String() string {
	switch k {
	case Disconnected:
		return "disconnected"
	case Reconnected:
		return "reconnected"
	case Dropped:
		return "dropped"
	case AsyncError:
		return "error"
	case Returned:
		return "returned"
	case Denied:
		return "denied"
	case GivenUp:
		return "given up"
	}
	return "unknown"
}
