package driver

import (
	"maps"
	"strconv"

	"sixnines/semantics"
)

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
// different things with and without a disk behind it. It holds the EFFECTIVE
// settings. Levels and Client are what programs compare; the strings say in words
// for people what they come to with this broker and these settings, and two of one
// driver differ only where the settings do.
type Semantics struct {
	Levels semantics.Levels
	Client semantics.Client
	Server Server
	// Refusals says how a producer learns that the broker refuses its messages. Empty:
	// answered where the broker acknowledges messages, else silent.
	Refusals Refusals

	Durability     string // "memory", "page cache, synced every 2m0s", …
	Replication    string // "none", "3 replicas, majority", …
	Acknowledgment string // what an acknowledgement proves
	Ordering       string // "per producer and topic", "per partition", …
	Delivery       string // "at most once", "at least once", …
	Batching       string // what the client does between Send and the socket
	Consumption    string // "push", "pull, prefetch 100", …
	Transport      string // "tcp", "tcp, tls", "ipc", …
	Encrypted      bool   // by TLS or what the transport has instead
	// Settings holds further effective settings, server's and client's, by name.
	Settings map[string]string
	// Warnings are what makes the driver's own settings suspect.
	Warnings []string
}

// Server is what a session talks to, as it identifies itself; without a broker, the
// library on both sides. What it does not say is empty.
type Server struct {
	Product  string // "nats-server"
	Version  string
	Protocol string            // "RESP 2"
	Brokers  int               // in the cluster; 0: not known
	More     map[string]string // by name: "cluster", "address", …
}

// Facts returns what is known, by name, as a result's header has it.
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

// Capabilities is what a driver can do, known before any connection: in an [Entry] with
// the default options, and by [Entry.With] with others.
type Capabilities struct {
	Ack          AckKind // what Acks.Done means
	RequestReply bool    // sessions implement RequestReplier
	Groups       bool    // ConsumerSpec.Group is honoured
	FanOut       bool    // several consumers of one topic each get every message
	ConsumerAck  bool    // AckEach and AckEvery are honoured
	Keys         bool    // producers implement KeySender
	Headers      bool    // ProducerSpec.Headers are carried; options may rule them out, which Provision refuses
	OwnsDialing  bool    // the client dials by itself: Target.Dial is not used, or not for producers and consumers
	Brokerless   bool    // peers talk directly; there is no server
	Reconnects   bool    // the client comes back by itself after a broker restart
	Ordered      bool    // one producer's messages of one topic, or of each Message.Partition of it, arrive in order
	Keeps        bool    // the broker stores messages for who is not connected: Topology.Late, Keep and Existing are honoured
	MinSize      int     // smallest payload in bytes the system carries
	TLS          bool
}

// Adjuster is implemented by options structs on whose values it depends what the driver
// can do.
type Adjuster interface {
	// Adjust changes the capabilities of the default options to those of these.
	Adjust(c *Capabilities)
}

// Refusals says how a producer learns that the broker refuses its messages.
type Refusals string

// The ways in which a producer learns it.
const (
	// RefusalsAnswered: the acknowledgement of each message says so.
	RefusalsAnswered Refusals = "answered"
	// RefusalsReported: an event of kind Denied says that messages were refused, or the
	// connection ends for it. Which they were is not told.
	RefusalsReported Refusals = "reported"
	// RefusalsSilent: never. The broker drops what it refuses, or acknowledges it all the
	// same.
	RefusalsSilent Refusals = "silent"
)
