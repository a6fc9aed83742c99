package driver

// AckKind says what an acknowledgement from the broker to a producer is.
type AckKind string

// The kinds of acknowledgement.
const (
	// AckKindNone: the broker never answers a publish (core NATS, QoS 0,
	// acks 0). Done only returns the buffer; there are no publish histograms.
	AckKindNone AckKind = "none"
	// AckKindBroker: the broker confirms that it took the message, with the
	// durability that Semantics names.
	AckKindBroker AckKind = "broker"
	// AckKindReply: the acknowledgement is the answer itself (request–response
	// systems): its histograms are the round trip's.
	AckKindReply AckKind = "reply"
)

// Semantics is what a latency figure stands on: the same number means
// different things with and without a disk behind it. All fields are plain
// words for people and for comparison; empty means that the driver cannot
// tell. They hold the EFFECTIVE settings.
type Semantics struct {
	Durability     string `json:"durability"`     // "memory", "page cache", "fsync per message", …
	Replication    string `json:"replication"`    // "none", "3 replicas, majority", …
	Acknowledgment string `json:"acknowledgment"` // what an ack proves, "none" if there is none
	Ordering       string `json:"ordering"`       // "per producer and topic", "per partition", …
	Delivery       string `json:"delivery"`       // "at most once", "at least once", "exactly once"
	Batching       string `json:"batching"`       // what the client does between Send and the socket
	Consumption    string `json:"consumption"`    // "push", "pull, prefetch 100", …
	Transport      string `json:"transport"`      // "tcp", "tcp, tls", "ipc", …
	// Settings holds further effective settings, server's and client's, by name.
	Settings map[string]string `json:"settings,omitempty"`
	// Warnings are what makes the driver's own settings suspect.
	Warnings []string `json:"warnings,omitempty"`
}

// Capabilities is what a driver can do, known before any connection.
type Capabilities struct {
	Ack          AckKind // what Acks.Done means; may depend on options, then the most usual
	AckVaries    bool    // it does depend on options: sessions implement AckReporter
	RequestReply bool    // sessions implement RequestReplier
	Groups       bool    // ConsumerSpec.Group is honoured
	FanOut       bool    // several consumers of one topic each get every message
	ConsumerAck  bool    // AckEach and AckEvery are honoured
	Keys         bool    // producers implement KeySender
	Headers      bool    // ProducerSpec.Headers are carried; options may rule them out, which Provision refuses
	OwnsDialing  bool    // the client dials by itself: Target.Dial is not used; may depend on options, then sessions implement DialReporter
	Brokerless   bool    // peers talk directly; there is no server
	Reconnects   bool    // the client comes back by itself after a broker restart
	Ordered      bool    // one producer's messages of one topic, or of each Message.Partition of it, arrive in order
	Keeps        bool    // the broker stores messages for who is not connected: Topology.Late, Keep and Existing are honoured
	MinSize      int     // smallest payload in bytes the system carries
	TLS          bool
}

// AckReporter is implemented by sessions whose acknowledgement depends on
// their options; it overrides Capabilities.Ack once the session is open.
type AckReporter interface {
	Ack() AckKind
}

// DialReporter is implemented by sessions whose client dials by itself or does not,
// depending on their options; it overrides Capabilities.OwnsDialing once the session
// is open. Connections that such a session makes by Target.Dial all the same are not
// those of producers and consumers.
type DialReporter interface {
	OwnsDialing() bool
}
