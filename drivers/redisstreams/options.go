package redisstreams

import (
	"context"
	"strconv"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"sixnines/driver"
	"sixnines/drivers/internal/resp"
)

// Options are the options of the driver, see driver.DecodeOptions.
type Options struct {
	MaxLen         int             `option:"maxlen" doc:"entries to which every XADD trims its stream, read or not; 0: streams grow with the run, in the server's memory" min:"0"`
	Trim           string          `option:"trim" enum:"approximate,exact" doc:"approximate: whole nodes of a stream only (MAXLEN ~), which costs little; exact: to the entry (MAXLEN =)"`
	Field          string          `option:"field" doc:"name of the field that holds the payload in an entry"`
	Count          int             `option:"count" doc:"most entries of a stream that a consumer fetches at once" min:"1" max:"1000000"`
	Client         string          `option:"client" enum:"direct,go-redis,redigo" aliases:"library=go-redis" doc:"direct: frames of our own, which are neither copied nor allocated; go-redis, redigo: through the client library of that name"`
	WriteBuffer    driver.ByteSize `option:"write_buffer" doc:"bytes that are collected while earlier XADDs wait for their answers; 1: each is written at once, on the sender's thread; 0: 1 where the load is paced, 64KiB flat out; go-redis has pipelines instead" min:"0" max:"64MiB"`
	User           string          `option:"user" doc:"user name (ACL), with password; absent: the server's default user"`
	Password       string          `option:"password" doc:"password, of user or of the default user" secret:"true"`
	Database       int             `option:"database" doc:"number of the database to select; -1: the URL's, or 0" min:"-1"`
	Name           string          `option:"name" doc:"name of the connections at the server (CLIENT SETNAME); the run, role and number of each are added; empty: they get none"`
	ConnectTimeout time.Duration   `option:"connect_timeout" doc:"longest time to connect and log in" min:"1ms"`
	ReconnectWait  time.Duration   `option:"reconnect_wait" doc:"pause between attempts to reconnect; the first is made at once" min:"1ms"`
	MaxReconnects  int             `option:"max_reconnects" doc:"attempts to reconnect until a connection is given up; -1: without end, 0: none" min:"-1"`
}

// exact is the value of Options.Trim that the code asks for.
const exact = "exact"

// DefaultOptions returns the defaults.
func DefaultOptions() Options {
	return Options{
		Trim:           "approximate",
		Field:          "m",
		Count:          100,
		Client:         resp.Direct,
		Database:       -1,
		Name:           "sixnines",
		ConnectTimeout: 5 * time.Second,
		ReconnectWait:  50 * time.Millisecond,
		MaxReconnects:  -1,
	}
}

func (o Options) config() resp.Config {
	return resp.Config{Driver: "redis-streams", Via: o.Client, WriteBuffer: int(o.WriteBuffer), User: o.User, Password: o.Password, Database: o.Database, Name: o.Name,
		ConnectTimeout: o.ConnectTimeout, ReconnectWait: o.ReconnectWait, MaxReconnects: o.MaxReconnects}
}

// words returns those of the command that adds to the stream: all but the payload,
// which is the value of the last field after the headers.
func (o Options) words(key string, headers []driver.Header) []string {
	words := []string{"XADD", key}
	if o.MaxLen > 0 {
		sign := "~"
		if o.Trim == exact {
			sign = "="
		}
		words = append(words, "MAXLEN", sign, strconv.Itoa(o.MaxLen))
	}
	words = append(words, "*")
	for _, h := range headers {
		words = append(words, h.Name, h.Value)
	}
	return append(words, o.Field)
}

// queue returns what adds to the stream by a pipeline of go-redis.
func (o Options) queue(key string, headers []driver.Header) func(p goredis.Pipeliner, payload []byte) {
	var values []any
	for _, h := range headers {
		values = append(values, h.Name, h.Value)
	}
	values = append(values, o.Field, nil)
	args := &goredis.XAddArgs{Stream: key, MaxLen: int64(o.MaxLen), Approx: o.Trim != exact, Values: values}
	return func(p goredis.Pipeliner, payload []byte) {
		values[len(values)-1] = payload // XAdd copies the values
		p.XAdd(context.Background(), args)
	}
}
