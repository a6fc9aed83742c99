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
	Acknowledge     bool            `option:"acknowledge" doc:"have the server answer every publish; false: whether a message was stored is not known"`
	MaxInFlight     int             `option:"max_in_flight" doc:"messages of a producer that may wait for their acknowledgement before Send blocks; 0: an equal share of 8000 of each topic, since a server refuses more than 10000 that it has not stored yet; -1: no limit" min:"-1"`
	AckTimeout      time.Duration   `option:"ack_timeout" doc:"how long to wait for an acknowledgement until its message counts as of unknown fate; with client library a timer for each message; 0: for ever" min:"0s"`
	Consume         string          `option:"consume" enum:"auto,push,pull,fetch,ordered" doc:"push: the server sends to a subject; pull: the consumer asks for more before it has all it asked for; fetch: it asks for a batch after the other (client library); ordered: without acknowledgements, and what is missed is asked for again (not for groups); auto: ordered for consumers of their own where retention is limits and nothing is acknowledged, else push, or pull with client library"`
	PullBatch       int             `option:"pull_batch" doc:"pull: messages that may be under way; fetch: of a batch; also of ordered consumers with client library" min:"1" max:"100000"`
	PullThreshold   int             `option:"pull_threshold" doc:"pull: with fewer under way, ask for more; 0: half of pull_batch" min:"0" max:"100000"`
	PullExpires     time.Duration   `option:"pull_expires" doc:"pull: how long the server keeps a request" min:"1s"`
	Heartbeat       time.Duration   `option:"heartbeat" doc:"ordered, pull and fetch: how often an idle server says that it is there; a consumer that misses three, or two with client library, starts again" min:"100ms" max:"30s"`
	FlowControl     bool            `option:"flow_control" doc:"push and ordered, for consumers of their own: the server waits when the consumer is behind"`
	AckWait         time.Duration   `option:"ack_wait" doc:"how long the server waits for a consumer's acknowledgement until it delivers again" min:"1ms"`
	MaxAckPending   int             `option:"max_ack_pending" doc:"deliveries of a consumer that may wait for acknowledgement; 0: the server's 1000, or the number that consumers need that acknowledge every n messages; -1: no limit" min:"-1"`
	DoubleAck       bool            `option:"double_ack" doc:"consumers wait until the server has confirmed an acknowledgement, up to api_timeout; for client library"`
	Domain          string          `option:"domain" doc:"JetStream domain to use, behind a leaf node"`
	APIPrefix       string          `option:"api_prefix" doc:"begins the subjects of the JetStream API, where an account imports it; absent: $JS.API"`
	APITimeout      time.Duration   `option:"api_timeout" doc:"longest time for the server to make or delete a stream or consumer" min:"1ms"`
	Monitoring      string          `option:"monitoring" names:"address" doc:"address of the server's monitoring, such as http://host:8222, to read from it when files are synchronised; absent: it is not known"`

	natswire.Options
}

// DefaultOptions returns the defaults.
func DefaultOptions() Options {
	return Options{
		Storage: "file", Replicas: 1, Retention: "limits", Discard: "old", MaxBytes: 1 << 30,
		Compression: "none", Persist: "default", Acknowledge: true, AckTimeout: 30 * time.Second,
		Consume: "auto", PullBatch: 500, PullExpires: 30 * time.Second, Heartbeat: 2 * time.Second,
		FlowControl: true, AckWait: 30 * time.Second, APITimeout: 10 * time.Second,
		Options: natswire.DefaultOptions(),
	}
}

// Validate refuses options that contradict each other.
func (o Options) Validate() error {
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
	if o.Monitoring != "" {
		_, err := o.monitoring()
		return err
	}
	return nil
}

// monitoring is the address of the server's monitoring, without a slash at the end.
func (o *Options) monitoring() (string, error) {
	return natswire.Errors(product).WebAddress("monitoring", o.Monitoring, "", "http://host:8222")
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

// inFlight returns how many messages each of a topic's producers may have unacknowledged;
// 0: no limit.
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

// Adjust implements driver.Adjuster.
func (o *Options) Adjust(c *driver.Capabilities) {
	c.Unreplicated = driver.Lack{}
	if o.Replicas == 1 {
		c.Unreplicated = unreplicated()
	}
	if !o.Acknowledge {
		c.Ack = driver.AckKindNone
	}
}

// unreplicated says why a stream has no followers.
func unreplicated() driver.Lack {
	return driver.Lack{Why: "with replicas: 1 a stream is kept by one server", Instead: "set the option replicas to 3"}
}
