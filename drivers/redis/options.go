package redis

import (
	"time"

	"sixnines/driver"
	"sixnines/drivers/internal/resp"
)

// Options are the options of the driver, see driver.DecodeOptions.
type Options struct {
	Acks           string          `option:"acks" enum:"reply,none" doc:"reply: the server answers every publish; none: it is told not to (CLIENT REPLY OFF), and nobody learns what it refuses"`
	Subscribe      string          `option:"subscribe" enum:"channel,pattern" doc:"channel: SUBSCRIBE, found by name; pattern: PSUBSCRIBE, for which the server compares every publish with every pattern"`
	Sharded        bool            `option:"sharded" doc:"sharded channels (SPUBLISH, SSUBSCRIBE), which a cluster does not send to all of its nodes; Redis 7 or later"`
	Client         string          `option:"client" enum:"direct,go-redis,redigo" formerly:"receive" aliases:"client=redigo,library=go-redis" doc:"direct: frames of our own, which are neither copied nor allocated; go-redis, redigo: through the client library of that name"`
	WriteBuffer    driver.ByteSize `option:"write_buffer" doc:"bytes that are collected while earlier publishes wait for their answers; 1: each is written at once, on the sender's thread; 0: 1 where the load is paced, 64KiB flat out; go-redis has pipelines instead" min:"0" max:"64MiB"`
	User           string          `option:"user" doc:"user name (ACL), with password; absent: the server's default user"`
	Password       string          `option:"password" doc:"password, of user or of the default user" secret:"true"`
	Database       int             `option:"database" doc:"number of the database to select, which channels do not depend on; -1: the URL's, or 0" min:"-1"`
	Name           string          `option:"name" doc:"name of the connections at the server (CLIENT SETNAME); the run, role and number of each are added; empty: they get none"`
	ConnectTimeout time.Duration   `option:"connect_timeout" doc:"longest time to connect and log in" min:"1ms"`
	ReconnectWait  time.Duration   `option:"reconnect_wait" doc:"pause between attempts to reconnect; the first is made at once" min:"1ms"`
	MaxReconnects  int             `option:"max_reconnects" doc:"attempts to reconnect until a connection is given up; -1: without end, 0: none" min:"-1"`
}

// The values of options that the code asks for.
const (
	none    = "none"    // Acks
	pattern = "pattern" // Subscribe
)

// DefaultOptions returns the defaults.
func DefaultOptions() Options {
	return Options{
		Acks:           "reply",
		Subscribe:      "channel",
		Client:         resp.Direct,
		Database:       -1,
		Name:           "sixnines",
		ConnectTimeout: 5 * time.Second,
		ReconnectWait:  50 * time.Millisecond,
		MaxReconnects:  -1,
	}
}

func (o Options) config() resp.Config {
	return resp.Config{Driver: "redis", Via: o.Client, WriteBuffer: int(o.WriteBuffer), User: o.User, Password: o.Password, Database: o.Database, Name: o.Name,
		ConnectTimeout: o.ConnectTimeout, ReconnectWait: o.ReconnectWait, MaxReconnects: o.MaxReconnects}
}
