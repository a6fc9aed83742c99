package rabbitmqstream

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"sixnines/driver"
	"sixnines/drivers/internal/rabbit"
	"sixnines/drivers/rabbitmqstream/wire"
)

// Options are the options of the driver, see driver.DecodeOptions.
type Options struct {
	Client        string          `option:"client" enum:"direct,library" doc:"direct: messages go over connections of our own, which costs less; library: through the client library rabbitmq-stream-go-client"`
	MaxLength     driver.ByteSize `option:"max_length" doc:"size of a stream beyond which the broker drops its oldest segments; 0: none" min:"0"`
	MaxAge        string          `option:"max_age" doc:"age beyond which the broker drops segments, as 1h or 7D; empty: none"`
	SegmentSize   driver.ByteSize `option:"segment_size" doc:"size of a stream's segments; 0: the broker's" min:"0" max:"3GB"`
	Replicas      int             `option:"replicas" doc:"nodes that a stream has replicas on; 0: as the broker is set" min:"0" max:"99"`
	SubEntrySize  int             `option:"sub_entry_size" doc:"messages in one entry, which the broker takes and confirms as one, or fewer where nothing more is due; 1: each is an entry" min:"1" max:"65535"`
	Compression   string          `option:"compression" enum:"none,gzip" doc:"of entries with several messages"`
	Deduplication bool            `option:"deduplication" doc:"producers have names, by which the broker remembers what it has got from them"`
	Offset        string          `option:"offset" enum:"next,first,last" doc:"where consumers begin: at what is written from now on, at the first message, or at the last chunk"`
	Credit        int             `option:"credit" doc:"chunks that the broker sends ahead of a consumer" min:"1" max:"65535"`
	StoreEvery    int             `option:"store_every" doc:"consumers store their offset after this many messages, unless the run says otherwise; 0: never" min:"0" max:"1000000"`
	FrameMax      driver.ByteSize `option:"frame_max" doc:"largest frame to agree on with the broker; 0: what it offers" min:"0" max:"64MiB"`
	rabbit.Options
}

const (
	direct  = "direct"
	library = "library"
)

// DefaultOptions returns the defaults.
func DefaultOptions() Options {
	return Options{
		Client:       direct,
		SubEntrySize: 1,
		Compression:  "none",
		Offset:       "next",
		Credit:       10,
		Options:      rabbit.DefaultOptions(),
	}
}

// Validate finds options that contradict each other.
func (o *Options) Validate() error {
	wrong := protocol().Option
	switch {
	case o.Compression != "none" && o.SubEntrySize <= 1:
		return wrong("compression", "it is of entries with several messages; set sub_entry_size")
	case o.MaxAge != "" && strings.Trim(o.MaxAge, "0123456789") == o.MaxAge:
		return wrong("max_age", "want a number with one of the units Y, M, D, h, m, s, as 12h")
	case o.Client != library:
	case o.Heartbeat < libraryHeartbeat:
		return wrong("heartbeat", "the client library wants "+libraryHeartbeat.String()+" or more")
	case o.SubEntrySize > libraryEntry:
		return wrong("sub_entry_size", "the client library takes up to "+strconv.Itoa(libraryEntry))
	case o.Credit > math.MaxInt16:
		return wrong("credit", "the client library takes up to "+strconv.Itoa(math.MaxInt16))
	}
	return nil
}

// streamArguments returns what streams are created with.
func (o *Options) streamArguments() map[string]string {
	args := map[string]string{}
	if o.MaxLength > 0 {
		args["max-length-bytes"] = strconv.FormatInt(int64(o.MaxLength), 10)
	}
	if o.MaxAge != "" {
		args["max-age"] = o.MaxAge
	}
	if o.SegmentSize > 0 {
		args["stream-max-segment-size-bytes"] = strconv.FormatInt(int64(o.SegmentSize), 10)
	}
	if o.Replicas > 0 {
		args["initial-cluster-size"] = strconv.Itoa(o.Replicas)
	}
	return args
}

// entries says how messages are put together.
func (o *Options) entries() wire.Entries {
	e := wire.Entries{Size: o.SubEntrySize}
	if o.Compression == "gzip" {
		e.Compression = wire.Gzip
	}
	return e
}

// place returns where a consumer begins.
func (o *Options) place() uint16 {
	switch o.Offset {
	case "first":
		return wire.First
	case "last":
		return wire.Last
	}
	return wire.Next
}

// checkName refuses names that streams cannot have.
func checkName(what, name string) error {
	if name == "" || len(name) > 100 || strings.ContainsAny(name, "\x00\r\n") {
		return fmt.Errorf("rabbitmq-stream: %s %q: %w: names have 1 to 100 bytes, and no line ends", what, name, driver.ErrUnsupported)
	}
	return nil
}

// Adjust implements driver.Adjuster: the library takes no dial function.
func (o *Options) Adjust(c *driver.Capabilities) {
	c.OwnsDialing = o.Client == library
	if o.Replicas == 1 {
		c.Unreplicated = driver.Lack{Why: "with replicas: 1 a stream is kept by one node", Instead: "set the option replicas to 3"}
	}
}
