package redis

import "sixnines/drivers/internal/resp"

// Options are the options of the driver, see driver.DecodeOptions.
type Options struct {
	Acks      string `option:"acks" enum:"reply,none" doc:"reply: the server answers every publish; none: it is told not to (CLIENT REPLY OFF), and nobody learns what it refuses"`
	Subscribe string `option:"subscribe" enum:"channel,pattern" doc:"channel: SUBSCRIBE, found by name; pattern: PSUBSCRIBE, for which the server compares every publish with every pattern"`
	Sharded   bool   `option:"sharded" doc:"sharded channels (SPUBLISH, SSUBSCRIBE), which a cluster does not send to all of its nodes; Redis 7 or later"`
	Client    string `option:"client" enum:"direct,go-redis,redigo" formerly:"receive" aliases:"client=redigo,library=go-redis" doc:"direct: frames of our own, which are neither copied nor allocated; go-redis, redigo: through the client library of that name"`
	resp.Options
}

// The values of options that the code asks for.
const (
	none    = "none"    // Acks
	pattern = "pattern" // Subscribe
)

// DefaultOptions returns the defaults.
func DefaultOptions() Options {
	return Options{Acks: "reply", Subscribe: "channel", Client: resp.Direct, Options: resp.DefaultOptions()}
}
