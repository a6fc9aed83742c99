package natswire

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// The values of option client, which says who carries messages.
const (
	Direct  = "direct"  // frames of our own, past the library
	Library = "library" // the library, as its users use it
)

// Options say how to connect, see driver.DecodeOptions. They are those of core NATS, and
// a part of JetStream's.
type Options struct {
	WriteBuffer driver.ByteSize `option:"write_buffer" doc:"bytes that are collected before they are written; 1: each message is written at once, on the sender's thread; 0: 1 where the load is paced, 64KiB flat out" min:"0" max:"64MiB"`
	Client      string          `option:"client" enum:"direct,library" formerly:"publish,receive" aliases:"client=library" doc:"direct: over plain TCP, messages go past the client library, over its connections, which costs less; consumers that take their time are left to it all the same; library: nats.go, and for JetStream nats.go/jetstream, publishes and delivers, as most programs have it"`
	kit.UserOptions
	Token             string        `option:"token" doc:"token, instead of a user" secret:"true"`
	NKeySeed          string        `option:"nkey_seed" names:"file" doc:"file with an NKey seed to sign the server's challenge with"`
	Creds             string        `option:"creds" names:"file" doc:"credentials file: a user's JWT and NKey seed"`
	Name              string        `option:"name" doc:"name of the connections at the server; the run, role and number of each are added"`
	InboxPrefix       string        `option:"inbox_prefix" doc:"first part of the subjects that answers come by, and JetStream's deliveries, where permissions ask for one; absent: _INBOX, after the prefix of names if there is one"`
	ConnectTimeout    time.Duration `option:"connect_timeout" doc:"longest time for one server to accept a connection and log in" min:"1ms"`
	PingInterval      time.Duration `option:"ping_interval" doc:"how often the client checks that an idle server is alive" min:"1ms"`
	MaxPingsOut       int           `option:"max_pings_outstanding" doc:"unanswered checks until a connection counts as lost" min:"1"`
	MaxReconnects     int           `option:"max_reconnects" doc:"attempts to reconnect to each server; -1: without end, 0: none" min:"-1"`
	ReconnectWait     time.Duration `option:"reconnect_wait" doc:"pause between attempts to reconnect, when all servers have been tried" min:"1ms"`
	DiscoveredServers bool          `option:"discovered_servers" doc:"after a connection is lost also try servers of the cluster that the URL does not list"`
	TLSFirst          bool          `option:"tls_first" doc:"start TLS before the server has said anything, as it must be configured to expect"`

	// Accounted says that publishers learn what becomes of every message: what a
	// batch loses is no event of its own.
	Accounted bool
}

// Naming is that of subjects, and of what is named after them.
func Naming() driver.Naming {
	return driver.Naming{Separator: ".", Allowed: "._-:/=@", Longest: 100, Parts: true, Apart: true}
}

// Subjects returns what all subjects of runs with a prefix are in, and what answers come by.
// The server knows no beginnings of parts: a prefix that ends within one is not limited.
func Subjects(prefix string) (own, inboxes string) {
	begin := Naming().Begins(prefix)
	if !strings.HasSuffix(begin, ".") {
		return ">", ">"
	}
	if own = begin + ">"; prefix != "" {
		return own, own // see InboxPrefix
	}
	return own, "_INBOX.>"
}

// connectTimeout is longer than nats.go's two seconds: Go gives the first address of a name at least as much, and then nothing is
// left for the others.
const connectTimeout = 5 * time.Second

// DefaultOptions returns the defaults.
func DefaultOptions() Options {
	return Options{
		Client:         Direct,
		Name:           "sixnines",
		ConnectTimeout: connectTimeout,
		PingInterval:   nats.DefaultPingInterval,
		MaxPingsOut:    nats.DefaultMaxPingOut,
		MaxReconnects:  -1,
		ReconnectWait:  50 * time.Millisecond,
	}
}

// authentication returns how connections log in, for people, and what has them do so.
// It reads the files once, so that a wrong path is an error of the option and not of
// the connection.
func (c *Client) authentication() (how string, option nats.Option, err error) {
	o := &c.options
	var given []string
	for _, method := range []struct{ name, value string }{
		{"user", o.User}, {"token", o.Token}, {"nkey_seed", o.NKeySeed}, {"creds", o.Creds},
	} {
		if method.value != "" {
			given = append(given, method.name)
		}
	}
	switch {
	case len(given) > 1:
		return "", nil, fmt.Errorf("%s: options %s: %w: give one way to log in, not several", c.Driver, strings.Join(given, " and "), driver.ErrOption)
	case len(given) > 0 && o.User == "" && c.Address.User != nil:
		return "", nil, c.Option(given[0], "the URL has another way to log in; give one of the two")
	case c.User == "" && c.Secret != "":
		return "", nil, c.NeedsUser()
	case o.Token != "":
		return "token", nats.Token(o.Token), nil
	case o.NKeySeed != "":
		if option, err = nats.NkeyOptionFromSeed(o.NKeySeed); err != nil {
			err = fmt.Errorf("%s: option \"nkey_seed\": %w: %s: %w; it wants a file with a user's seed, which begins with SU", c.Driver, driver.ErrOption, o.NKeySeed, err)
		}
		return "nkey", option, err
	case o.Creds != "":
		if err = checkCreds(o.Creds); err != nil {
			err = fmt.Errorf("%s: option \"creds\": %w: %s: %w; it wants a file with a user's JWT and seed, as nsc writes it", c.Driver, driver.ErrOption, o.Creds, err)
		}
		return "credentials file", nats.UserCredentials(o.Creds), err
	case o.User == "" && c.User != "" && c.Secret == "": // in the URL
		return "token", nats.Token(c.User), nil
	}
	return c.Login(), nats.UserInfo(c.User, c.Secret), nil
}

func checkCreds(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if _, err := nkeys.ParseDecoratedJWT(text); err != nil {
		return err
	}
	pair, err := nkeys.ParseDecoratedUserNKey(text)
	if err != nil {
		return err
	}
	pair.Wipe()
	return nil
}
