package nsq

import (
	"fmt"
	"time"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// Options are the options of the driver, see driver.DecodeOptions.
type Options struct {
	Client              string          `option:"client" enum:"direct,library" doc:"direct: messages go over connections of our own; library: through go-nsq's Producer and Consumer"`
	HTTPURL             string          `option:"http_url" names:"address" parameter:"http" doc:"nsqd's HTTP address, by which topics and channels are made and removed; instead of one in the URL (nsq://host:4150/?http=host:4151); without a scheme https is tried first where connections are encrypted; absent: they are ephemeral"`
	Lookupd             string          `option:"lookupd" names:"address" doc:"HTTP addresses of nsqlookupd, separated by commas, which consumers ask when they subscribe for the nsqds that have a topic (/lookup); absent: they connect to that of the URL"`
	MaxInFlight         int             `option:"max_in_flight" min:"0" max:"1000000" doc:"messages that nsqd may send to a consumer's connection before they are finished (RDY); 0: the most that nsqd allows, or 1 for consumers that take their time"`
	MsgTimeout          time.Duration   `option:"msg_timeout" min:"0s" max:"24h" doc:"how long a consumer may take to finish a message before it comes again, at least 1s; 0: as nsqd is set"`
	OutputBufferSize    int             `option:"output_buffer_size" min:"-1" max:"1048576" doc:"bytes that nsqd collects before it writes to a consumer; -1: none; 0: none where the load is paced, 65536 flat out or with deflate"`
	OutputBufferTimeout time.Duration   `option:"output_buffer_timeout" min:"0s" max:"1m" doc:"how long nsqd collects them at most; 0: 25ms, the least that it allows unless it is set otherwise"`
	SampleRate          int             `option:"sample_rate" min:"0" max:"99" doc:"percentage of a channel's messages that a consumer gets; 0: all"`
	Deflate             bool            `option:"deflate" doc:"compress connections by deflate"`
	DeflateLevel        int             `option:"deflate_level" min:"1" max:"9" doc:"how hard deflate tries"`
	Snappy              bool            `option:"snappy" doc:"compress connections by snappy"`
	AuthSecret          string          `option:"auth_secret" secret:"true" doc:"what to log in with, where nsqd asks an authentication server"`
	HeartbeatInterval   time.Duration   `option:"heartbeat_interval" min:"1s" max:"1m" doc:"how often nsqd and the client check that the other is alive"`
	ClientID            string          `option:"client_id" doc:"name of the connections at nsqd; the run, role and number of each are added"`
	ConnectTimeout      time.Duration   `option:"connect_timeout" min:"1ms" doc:"longest time for nsqd to accept a connection and introduce itself"`
	ReconnectWait       time.Duration   `option:"reconnect_wait" min:"1ms" doc:"pause between attempts to reconnect"`
	WriteBuffer         driver.ByteSize `option:"write_buffer" min:"0" max:"4MiB" doc:"bytes of messages that are collected and sent as one MPUB; 1: each message is a PUB that is written at once, on the sender's thread, or by the library on a goroutine of its own; 0: 1 where the load is paced, 64KiB flat out"`
}

// DefaultOptions returns the defaults.
func DefaultOptions() Options {
	return Options{
		Client:            direct,
		DeflateLevel:      6,
		HeartbeatInterval: 30 * time.Second,
		ClientID:          "sixnines",
		ConnectTimeout:    5 * time.Second,
		ReconnectWait:     50 * time.Millisecond,
	}
}

// The values of option client.
const (
	direct  = "direct"
	library = "library"
)

// outputBuffer returns how much nsqd is asked to collect for a consumer: bytes, and for
// how long. nsqd writes compressed data only after that time, and never without a time.
func (o Options) outputBuffer(batch bool) (int, time.Duration) {
	size := o.OutputBufferSize
	if size == 0 {
		if size = -1; batch || o.Deflate {
			size = kit.BatchBuffer
		}
	}
	if size < 0 {
		return -1, 0
	}
	if o.OutputBufferTimeout == 0 {
		return size, 25 * time.Millisecond
	}
	return size, o.OutputBufferTimeout
}

// Validate finds options that contradict each other.
func (o Options) Validate() error {
	if o.Deflate && o.Snappy {
		return fmt.Errorf("nsq: options deflate and snappy: %w: nsqd compresses by one of them", driver.ErrOption)
	}
	if o.Deflate && o.OutputBufferSize < 0 {
		return fmt.Errorf("nsq: option output_buffer_size: %w: nsqd must collect what it deflates", driver.ErrOption)
	}
	if o.Client == library && (o.ReconnectWait < leastPoll || o.ReconnectWait > mostPoll) {
		return fmt.Errorf("nsq: option reconnect_wait: %w: go-nsq waits for %v to %v", driver.ErrOption, leastPoll, mostPoll)
	}
	return nil
}

// schemes are those of nsqd's URLs.
func schemes() []kit.Scheme {
	return []kit.Scheme{{Name: "nsq", Port: "4150"}, {Name: "nsq+tls", Port: "4150", TLS: true}, {Name: "tcp", Port: "4150"}, {Name: "nsqs", Port: "4150", TLS: true}}
}

// readURL checks what the target's URL says besides the address, and returns nsqd's HTTP
// address in it; empty: none.
func (s *session) readURL() (http string, err error) {
	switch {
	case len(s.Servers) > 1:
		return "", fmt.Errorf("nsq: %w: several servers in the URL: a topic is one nsqd's", driver.ErrUnsupported)
	case s.Address.User != nil:
		return "", fmt.Errorf("nsq: %w: a user in the URL: NSQ has a secret, see option auth_secret", driver.ErrOption)
	}
	for name := range s.Query {
		if name != "http" {
			return "", fmt.Errorf("nsq: %w: parameter %q of the URL: there is only http", driver.ErrOption, name)
		}
	}
	return parseHTTP(s.Query.Get("http"))
}

// parseHTTP completes nsqd's HTTP address. Without a scheme it is one that does not encrypt, until findScheme has asked.
func parseHTTP(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	return failures().WebAddress("http_url", text, "http", "http://host:4151")
}

// library reports whether go-nsq's producers and consumers are used.
func (o *Options) library() bool { return o.Client == library }

// Adjust implements driver.Adjuster: go-nsq takes no dial function.
func (o *Options) Adjust(c *driver.Capabilities) { c.OwnsDialing = o.library() }
