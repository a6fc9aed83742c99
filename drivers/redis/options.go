package redis

import (
	"fmt"

	"sixnines/driver"
	"sixnines/drivers/internal/resp"
)

// Options are the options of the driver, see driver.DecodeOptions.
type Options struct {
	Acks      string `option:"acks" enum:"reply,none" doc:"reply: the server answers every publish; none: it does not (CLIENT REPLY OFF), except for one message of a connection in 100 ms, which shows whether it refuses them"`
	Subscribe string `option:"subscribe" enum:"channel,pattern" doc:"channel: SUBSCRIBE, found by name; pattern: PSUBSCRIBE, for which the server compares every publish with every pattern"`
	Sharded   bool   `option:"sharded" doc:"sharded channels (SPUBLISH, SSUBSCRIBE), which a cluster does not send to all of its nodes; Redis 7 or later"`
	Client    string `option:"client" enum:"direct,library" formerly:"receive" aliases:"client=library,redigo=library" doc:"direct: frames of our own, which are neither copied nor allocated; library: through redigo"`
	resp.Options
}

// The values of options that the code asks for.
const (
	none    = "none"    // Acks
	pattern = "pattern" // Subscribe
)

// words returns the server's for the beginning and the end of a subscription.
func (o Options) words() (subscribe, unsubscribe string) {
	switch {
	case o.Sharded:
		return "SSUBSCRIBE", "SUNSUBSCRIBE"
	case o.Subscribe == pattern:
		return "PSUBSCRIBE", "PUNSUBSCRIBE"
	}
	return "SUBSCRIBE", "UNSUBSCRIBE"
}

// publish returns the server's word for that.
func (o Options) publish() string {
	if o.Sharded {
		return "SPUBLISH"
	}
	return "PUBLISH"
}

// DefaultOptions returns the defaults.
func DefaultOptions() Options {
	return Options{Acks: "reply", Subscribe: "channel", Client: resp.Direct, Options: resp.DefaultOptions()}
}

// Validate finds options that contradict each other.
func (o Options) Validate() error {
	switch {
	case o.Acks == none && o.Client != resp.Direct:
		return fmt.Errorf("redis: option \"acks\": %w: redigo has an answer to every command; without answers there is client direct only", driver.ErrOption)
	case o.Sharded && o.Subscribe == pattern:
		return fmt.Errorf("redis: option \"sharded\": %w: sharded channels cannot be subscribed to by pattern", driver.ErrOption)
	}
	return nil
}

// Adjust implements driver.Adjuster.
func (o *Options) Adjust(c *driver.Capabilities) {
	if o.Acks == none {
		c.Ack = driver.AckKindNone
	}
}
