package redisstreams

import (
	"strconv"
	"time"

	"sixnines/driver"
	"sixnines/drivers/internal/resp"
)

// Options are the options of the driver, see driver.DecodeOptions.
type Options struct {
	MaxLen         int             `option:"maxlen" doc:"entries to which every XADD trims its stream, read or not; 0: streams grow with the run, in the server's memory" min:"0"`
	Trim           string          `option:"trim" enum:"approximate,exact" doc:"approximate: whole nodes of a stream only (MAXLEN ~), which costs little; exact: to the entry (MAXLEN =)"`
	Field          string          `option:"field" doc:"name of the field that holds the payload in an entry"`
	Count          int             `option:"count" doc:"most entries of a stream that a consumer fetches at once" min:"1" max:"1000000"`
	WriteBuffer    driver.ByteSize `option:"write_buffer" doc:"bytes that are collected while earlier XADDs wait for their answers; 1: each is written at once, on the sender's thread; 0: 1 where the load is paced, 64KiB flat out" min:"0" max:"64MiB"`
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
		Database:       -1,
		Name:           "sixnines",
		ConnectTimeout: 5 * time.Second,
		ReconnectWait:  50 * time.Millisecond,
		MaxReconnects:  -1,
	}
}

func (o Options) config() resp.Config {
	return resp.Config{Driver: "redis-streams", WriteBuffer: int(o.WriteBuffer), User: o.User, Password: o.Password, Database: o.Database, Name: o.Name,
		ConnectTimeout: o.ConnectTimeout, ReconnectWait: o.ReconnectWait, MaxReconnects: o.MaxReconnects}
}

// head returns what a frame that adds to the stream begins with: all but the payload,
// which is the last field after the headers.
func (o Options) head(key string, headers []driver.Header) []byte {
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
	words = append(words, o.Field)
	head := resp.AppendWords(nil, len(words)+1)
	for _, w := range words {
		head = resp.AppendWord(head, w)
	}
	return head
}
