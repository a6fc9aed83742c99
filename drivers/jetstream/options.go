package jetstream

import (
	"fmt"
	"strings"
	"time"

	"sixnines/driver"
	"sixnines/drivers/internal/natswire"
)

// Options are the options of the driver, see driver.DecodeOptions.
type Options struct {
	Storage         string          `option:"storage" enum:"file,memory" doc:"where the server keeps streams; what memory holds is gone when the server is"`
	Replicas        int             `option:"replicas" doc:"servers of a cluster that store each stream; a majority of them stands behind an acknowledgement" min:"1" max:"5"`
	Retention       string          `option:"retention" enum:"limits,interest,workqueue" doc:"when a message leaves its stream: limits: by age, count or size; interest: also when all consumers have acknowledged it; workqueue: when one has"`
	Discard         string          `option:"discard" enum:"old,new" doc:"what a full stream throws away: old messages, or new ones, which are refused"`
	MaxMessages     int64           `option:"max_messages" doc:"messages that a stream holds; 0: no limit" min:"0"`
	MaxBytes        driver.ByteSize `option:"max_bytes" doc:"bytes that all streams of the run hold together, each an equal share; 0: no limit, so that a long run may fill the server"`
	MaxAge          time.Duration   `option:"max_age" doc:"how long a stream keeps a message; 0: for ever" min:"0s"`
	MaxMessageSize  driver.ByteSize `option:"max_message_size" doc:"largest message that a stream takes, headers included; 0: the server's max_payload"`
	Compression     string          `option:"compression" enum:"none,s2" doc:"of the stream's files"`
	Persist         string          `option:"persist" enum:"default,async" doc:"async: the server acknowledges before it has written to a file (servers from 2.12, one replica)"`
	DuplicateWindow time.Duration   `option:"duplicate_window" doc:"how long the server remembers message ids to recognise duplicates by; 0: its own choice" min:"0s"`
	MessageID       bool            `option:"message_id" doc:"send an id with each message, which the server looks up to recognise duplicates"`
	Acknowledge     bool            `option:"acknowledge" doc:"have the server answer every publish; false: nobody learns whether a message was stored"`
	MaxInFlight     int             `option:"max_in_flight" doc:"messages of a producer that may wait for their acknowledgement before Send blocks; 0: an equal share of 8000 of each topic, since a server refuses more than 10000 that it has not stored yet; -1: no limit" min:"-1"`
	AckTimeout      time.Duration   `option:"ack_timeout" doc:"how long to wait for an acknowledgement until its message counts as of unknown fate; with client library a timer for each message; 0: for ever" min:"0s"`
	Consume         string          `option:"consume" enum:"auto,push,pull,fetch,ordered" doc:"push: the server sends to a subject; pull: the consumer asks for more before it has all it asked for; fetch: it asks for a batch after the other (client library); ordered: without acknowledgements, and what is missed is asked for again (not for groups); auto: ordered for consumers of their own where retention is limits and nothing is acknowledged, else push, or pull with client library"`
	PullBatch       int             `option:"pull_batch" doc:"pull: messages that may be under way; fetch: of a batch; also of ordered consumers with client library" min:"1" max:"100000"`
	PullThreshold   int             `option:"pull_threshold" doc:"pull: with fewer under way, ask for more; 0: half of pull_batch" min:"0" max:"100000"`
	PullExpires     time.Duration   `option:"pull_expires" doc:"pull: how long the server keeps a request" min:"1s"`
	Heartbeat       time.Duration   `option:"heartbeat" doc:"ordered, pull and fetch: how often an idle server says that it is there; a consumer that misses three, or two with client library, starts again" min:"100ms" max:"30s"`
	FlowControl     bool            `option:"flow_control" doc:"push and ordered, for consumers of their own: the server waits when the consumer is behind"`
	AckWait         time.Duration   `option:"ack_wait" doc:"how long the server waits for a consumer's acknowledgement until it delivers again" min:"1ms"`
	MaxAckPending   int             `option:"max_ack_pending" doc:"deliveries of a consumer that may wait for acknowledgement; 0: the server's 1000, or as many as consumers need who acknowledge every so many; -1: no limit" min:"-1"`
	DoubleAck       bool            `option:"double_ack" doc:"consumers wait until the server has confirmed an acknowledgement, up to api_timeout; for client library"`
	Domain          string          `option:"domain" doc:"JetStream domain to use, behind a leaf node"`
	APIPrefix       string          `option:"api_prefix" doc:"begins the subjects of the JetStream API, where an account imports it; absent: $JS.API"`
	APITimeout      time.Duration   `option:"api_timeout" doc:"longest time for the server to make or delete a stream or consumer" min:"1ms"`
	Monitoring      string          `option:"monitoring" doc:"address of the server's monitoring, such as http://host:8222, to read from it when files are synchronised; absent: it is not known"`

	WriteBuffer       driver.ByteSize `option:"write_buffer" doc:"bytes that are collected before they are written; 1: each message is written at once, on the sender's thread; 0: 1 where the load is paced, 64KiB flat out" min:"0" max:"64MiB"`
	Client            string          `option:"client" enum:"direct,library" formerly:"publish,receive" aliases:"client=library" doc:"direct: over plain TCP, messages go past the client library, over its connections, which costs less; consumers that take their time are left to it all the same; library: nats.go/jetstream publishes (PublishMsgAsync) and consumes (Consume, ordered consumers, Fetch), as most programs have it"`
	User              string          `option:"user" doc:"user name, with password"`
	Password          string          `option:"password" doc:"password of user" secret:"true"`
	Token             string          `option:"token" doc:"token, instead of a user" secret:"true"`
	NKeySeed          string          `option:"nkey_seed" doc:"file with an NKey seed to sign the server's challenge with"`
	Creds             string          `option:"creds" doc:"credentials file: a user's JWT and NKey seed"`
	Name              string          `option:"name" doc:"name of the connections at the server; the run, role and number of each are added"`
	InboxPrefix       string          `option:"inbox_prefix" doc:"first part of the subjects that answers and deliveries come by, where permissions ask for one; absent: _INBOX"`
	ConnectTimeout    time.Duration   `option:"connect_timeout" doc:"longest time for one server to accept a connection and log in" min:"1ms"`
	PingInterval      time.Duration   `option:"ping_interval" doc:"how often the client checks that an idle server is alive" min:"1ms"`
	MaxPingsOut       int             `option:"max_pings_outstanding" doc:"unanswered checks until a connection counts as lost" min:"1"`
	MaxReconnects     int             `option:"max_reconnects" doc:"attempts to reconnect to each server; -1: without end, 0: none" min:"-1"`
	ReconnectWait     time.Duration   `option:"reconnect_wait" doc:"pause between attempts to reconnect, when all servers have been tried" min:"1ms"`
	DiscoveredServers bool            `option:"discovered_servers" doc:"after a connection is lost also try servers of the cluster that the URL does not list"`
	TLSFirst          bool            `option:"tls_first" doc:"start TLS before the server has said anything, as it must be configured to expect"`
}

// DefaultOptions returns the defaults.
func DefaultOptions() Options {
	w := natswire.DefaultOptions()
	return Options{
		Storage: "file", Replicas: 1, Retention: "limits", Discard: "old", MaxBytes: 1 << 30,
		Compression: "none", Persist: "default", Acknowledge: true, AckTimeout: 30 * time.Second,
		Consume: "auto", PullBatch: 500, PullExpires: 30 * time.Second, Heartbeat: 2 * time.Second,
		FlowControl: true, AckWait: 30 * time.Second, APITimeout: 10 * time.Second,
		Client: natswire.Direct, Name: w.Name, ConnectTimeout: w.ConnectTimeout,
		PingInterval: w.PingInterval, MaxPingsOut: w.MaxPingsOut, MaxReconnects: w.MaxReconnects, ReconnectWait: w.ReconnectWait,
	}
}

// wire returns what the connections are made with.
func (o Options) wire() natswire.Options {
	return natswire.Options{
		WriteBuffer: o.WriteBuffer, Library: o.Client == natswire.Library,
		User: o.User, Password: o.Password, Token: o.Token, NKeySeed: o.NKeySeed, Creds: o.Creds,
		Name: o.Name, InboxPrefix: o.InboxPrefix,
		ConnectTimeout: o.ConnectTimeout, PingInterval: o.PingInterval, MaxPingsOut: o.MaxPingsOut,
		MaxReconnects: o.MaxReconnects, ReconnectWait: o.ReconnectWait,
		DiscoveredServers: o.DiscoveredServers, TLSFirst: o.TLSFirst,
		Accounted: o.Acknowledge,
	}
}

// check refuses options that contradict each other.
func (o Options) check() error {
	refuse := func(option, why string) error {
		return fmt.Errorf("%s: %w", product, &driver.OptionError{Option: option, Cause: why})
	}
	switch {
	case o.Domain != "" && o.APIPrefix != "":
		return refuse("api_prefix", "it takes the place of domain; give one of the two")
	case strings.ContainsAny(o.Domain, ". *>\t\r\n"):
		return refuse("domain", "a domain is one word without dots, wildcards and spaces")
	case strings.ContainsAny(o.APIPrefix, "*> \t\r\n") || strings.HasSuffix(o.APIPrefix, "."):
		return refuse("api_prefix", "want the beginning of a subject, such as $JS.hub.API, without a dot at its end")
	case o.PullThreshold > o.PullBatch:
		return refuse("pull_threshold", "it is above pull_batch")
	case 2*o.Heartbeat > o.PullExpires:
		return refuse("heartbeat", "it is above half of pull_expires, which the server does not take")
	case o.Client == natswire.Library && o.Heartbeat < libraryBeat:
		return refuse("heartbeat", "the library takes no less than 500ms")
	case o.Client == natswire.Direct && o.Consume == fetch:
		return refuse("consume", "fetch is what client library does; direct has pull, which with pull_threshold 1 asks for a batch after the other")
	case o.Client == natswire.Direct && o.DoubleAck:
		return refuse("double_ack", "it is what client library does")
	case o.Consume == "ordered" && o.Retention != "limits":
		return refuse("consume", "ordered consumers acknowledge nothing, so that streams with retention "+o.Retention+" cannot have them")
	case o.Persist == "async" && (o.Storage != "file" || o.Replicas > 1):
		return refuse("persist", "async wants storage file and one replica")
	case o.Discard == "new" && o.MaxMessages == 0 && o.MaxBytes == 0:
		return refuse("discard", "without max_messages and max_bytes a stream is never full")
	case o.MessageID && !o.Acknowledge:
		return refuse("message_id", "it is for acknowledged messages")
	case o.DuplicateWindow > 0 && o.MaxAge > 0 && o.DuplicateWindow > o.MaxAge:
		return refuse("duplicate_window", "it is above max_age")
	}
	return nil
}

// libraryBeat is the shortest heartbeat that the library takes.
const libraryBeat = 500 * time.Millisecond

// groupWay says how members of a group get their messages, and others who
// acknowledge.
func (o Options) groupWay() string {
	switch {
	case o.Consume != "auto":
		return o.Consume
	case o.Client == natswire.Library:
		return pull
	}
	return push
}

// apiPrefix begins the subjects of the API.
func (o Options) apiPrefix() string {
	switch {
	case o.APIPrefix != "":
		return o.APIPrefix + "."
	case o.Domain != "":
		return "$JS." + o.Domain + ".API."
	}
	return "$JS.API."
}

// inboxPrefix begins the subjects of answers and deliveries.
func (o Options) inboxPrefix() string {
	if o.InboxPrefix != "" {
		return o.InboxPrefix
	}
	return "_INBOX"
}

// inFlight returns how many messages of one of so many producers of a topic may
// wait for their acknowledgement; 0: no limit.
func (o Options) inFlight(producers int) int {
	const all = 8000
	switch {
	case o.MaxInFlight < 0:
		return 0
	case o.MaxInFlight > 0:
		return o.MaxInFlight
	}
	return max(1, all/max(1, producers))
}

// pullThreshold is with how many messages under way to ask for more.
func (o Options) pullThreshold() int {
	if o.PullThreshold > 0 {
		return o.PullThreshold
	}
	return (o.PullBatch + 1) / 2
}
