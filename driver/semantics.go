package driver

import (
	"maps"
	"strconv"
	"time"

	"sixnines/semantics"
)

// AckKind says what an acknowledgement from the broker to a producer means.
type AckKind string

// The kinds of acknowledgement.
const (
	// AckKindNone: the broker never answers a publish (core NATS, QoS 0,
	// acks 0). Done only returns the buffer, and results have no publish histograms.
	AckKindNone AckKind = "none"
	// AckKindBroker: the broker confirms that it took the message, with the
	// durability that Semantics names.
	AckKindBroker AckKind = "broker"
	// AckKindReply: the acknowledgement is the answer itself (request–response
	// systems). Its latencies are recorded as round trips.
	AckKindReply AckKind = "reply"
)

// Semantics are the delivery guarantees and settings behind a latency figure: the same
// number means different things with and without a disk behind it. It holds the
// EFFECTIVE settings. Programs compare Levels and Client. The strings describe for users
// what these mean with this broker and these settings; two Semantics of one driver
// differ only where the settings differ.
type Semantics struct {
	Levels semantics.Levels
	Client semantics.Client
	Server Server
	// Refusals says how a producer learns that the broker refuses its messages. Empty
	// means answered if the broker acknowledges messages, else silent.
	Refusals Refusals
	// Topic is what the first topic is called at the broker, if not as Entry.Naming has it.
	Topic string
	// Redelivery is after how long the broker delivers again what it had handed out to a consumer
	// whose connection was lost. 0: it does not, or the driver does not say; then Levels.Delivery
	// tells whether it may.
	Redelivery time.Duration

	Durability     string // "memory", "page cache, synced every 2m0s", …
	Replication    string // "none", "3 replicas, majority", …
	Acknowledgment string // what an acknowledgement proves
	Ordering       string // "per producer and topic", "per partition", …
	Delivery       string // "at most once", "at least once", …
	Batching       string // what the client does between Send and the socket
	Consumption    string // "push", "pull, prefetch 100", …
	Transport      string // "tcp", "tcp, tls", "ipc", …
	Encrypted      bool   // by TLS or the transport's own encryption
	// Settings holds further effective settings of server and client, by name.
	Settings map[string]string
	// Warnings say why the driver's own settings are suspect.
	Warnings []string
}

// Server is the server of a session as it identifies itself; without a broker, the
// library on both sides. Fields that it does not state are empty.
type Server struct {
	Product  string // "nats-server"
	Version  string
	Protocol string            // "RESP 2"
	Brokers  int               // number of brokers in the cluster; 0: not known
	More     map[string]string // by name: "cluster", "address", …
}

// Facts returns the known facts by name, as in a result's header.
func (s Server) Facts() map[string]string {
	facts := map[string]string{}
	maps.Copy(facts, s.More)
	if s.Brokers > 0 {
		facts["brokers"] = strconv.Itoa(s.Brokers)
	}
	for name, value := range map[string]string{"product": s.Product, "version": s.Version, "protocol": s.Protocol} {
		if value != "" {
			facts[name] = value
		}
	}
	return facts
}

// Capabilities are what a driver can do. They are known before any connection:
// Entry.Capabilities are those with the default options, and [Entry.With] returns those
// with other options.
type Capabilities struct {
	Ack          AckKind // what Acks.Done means
	RequestReply bool    // sessions implement RequestReplier
	Groups       bool    // ConsumerSpec.Group is honoured
	FanOut       bool    // several consumers of one topic each get every message
	ConsumerAck  bool    // AckEach and AckEvery are honoured
	Keys         bool    // producers implement KeySender
	Headers      bool    // ProducerSpec.Headers are carried; if options exclude them, Provision refuses them
	OwnsDialing  bool    // the client dials by itself: Target.Dial is not used, or not for producers and consumers
	Brokerless   bool    // peers talk directly, without a server
	Reconnects   bool    // the client reconnects by itself after a broker restart
	Ordered      bool    // one producer's messages of one topic, or of each Message.Partition of it, arrive in order
	Keeps        bool    // the broker stores messages for absent consumers: Topology.Late, Keep and Existing are honoured
	ReadsBack    bool    // sessions implement BackReader
	MinSize      int     // smallest payload in bytes the system carries
	TLS          bool

	// Unreplicated is why, of several nodes, only the leader keeps what is sent; the zero value: others keep it too, or
	// that is not known before Provision.
	Unreplicated Lack
	// Unmovable is why leadership cannot be moved to another node as planned.
	Unmovable Lack
}

// Lack is what cannot be with some options. The zero value: it can be.
type Lack struct {
	Why     string // "a classic queue is kept by one node"
	Instead string // which options would do: "set the option queue_type to quorum"
}

// Adjuster is implemented by options structs whose values change the driver's capabilities.
type Adjuster interface {
	// Adjust changes c from the capabilities with the default options to those with the
	// receiver's values.
	Adjust(c *Capabilities)
}

// Refusals says how a producer learns that the broker refuses its messages.
type Refusals string

// The values of Refusals.
const (
	// RefusalsAnswered: the acknowledgement of each message says so.
	RefusalsAnswered Refusals = "answered"
	// RefusalsReported: an event of kind Denied says that messages were refused, or the
	// broker ends the connection. It does not say which messages.
	RefusalsReported Refusals = "reported"
	// RefusalsSilent: never. The broker drops messages that it refuses, or acknowledges
	// them nevertheless.
	RefusalsSilent Refusals = "silent"
)
