package nats

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"sixnines/driver"
)

// Options are the options of the driver, see driver.DecodeOptions.
type Options struct {
	WriteBuffer       driver.ByteSize `option:"write_buffer" doc:"bytes that are collected before they are written; 1: each message is written at once, on the sender's thread; 0: 1 where the load is paced, 64KiB flat out" min:"0" max:"64MiB"`
	Publish           string          `option:"publish" enum:"direct,client" doc:"direct: over plain TCP, write messages to the client's connection without the client's help, which costs less; client: always by the client"`
	Receive           string          `option:"receive" enum:"direct,client" doc:"direct: over plain TCP, hand messages over where they are read from the client's connection, without the client's help, which costs less; consumers that take their time are left to the client all the same; client: always by the client"`
	User              string          `option:"user" doc:"user name, with password"`
	Password          string          `option:"password" doc:"password of user" secret:"true"`
	Token             string          `option:"token" doc:"token, instead of a user" secret:"true"`
	NKeySeed          string          `option:"nkey_seed" doc:"file with an NKey seed to sign the server's challenge with"`
	Creds             string          `option:"creds" doc:"credentials file: a user's JWT and NKey seed"`
	Name              string          `option:"name" doc:"name of the connections at the server; the run, role and number of each are added"`
	InboxPrefix       string          `option:"inbox_prefix" doc:"first part of reply subjects, where permissions ask for one; absent: _INBOX"`
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
	return Options{
		Publish:        direct,
		Receive:        direct,
		Name:           "sixnines",
		ConnectTimeout: nats.DefaultTimeout,
		PingInterval:   nats.DefaultPingInterval,
		MaxPingsOut:    nats.DefaultMaxPingOut,
		MaxReconnects:  -1,
		ReconnectWait:  50 * time.Millisecond,
	}
}

// direct is the value of Options.Publish and Options.Receive that goes past the
// client.
const direct = "direct"

const batchBuffer = 64 << 10

// writeBuffer returns the size of the write buffer in bytes.
func (o Options) writeBuffer(batch bool) int {
	switch {
	case o.WriteBuffer > 0:
		return int(o.WriteBuffer)
	case batch:
		return batchBuffer
	}
	return 1
}

// authentication returns what a client needs to log in. It reads the files
// once, so that a wrong path is an error of the option and not of the
// connection.
func (o Options) authentication() ([]nats.Option, error) {
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
		return nil, fmt.Errorf("nats: options %s: %w: give one way to log in, not several", strings.Join(given, " and "), driver.ErrOption)
	case o.Password != "" && o.User == "":
		return nil, fmt.Errorf("nats: option \"password\": %w: it needs user beside it", driver.ErrOption)
	case o.User != "":
		return []nats.Option{nats.UserInfo(o.User, o.Password)}, nil
	case o.Token != "":
		return []nats.Option{nats.Token(o.Token)}, nil
	case o.NKeySeed != "":
		option, err := nats.NkeyOptionFromSeed(o.NKeySeed)
		if err != nil {
			return nil, fmt.Errorf("nats: option \"nkey_seed\": %w: %s: %w; it wants a file with a user's seed, which begins with SU", driver.ErrOption, o.NKeySeed, err)
		}
		return []nats.Option{option}, nil
	case o.Creds != "":
		if err := checkCreds(o.Creds); err != nil {
			return nil, fmt.Errorf("nats: option \"creds\": %w: %s: %w; it wants a file with a user's JWT and seed, as nsc writes it", driver.ErrOption, o.Creds, err)
		}
		return []nats.Option{nats.UserCredentials(o.Creds)}, nil
	}
	return nil, nil
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

// parseServers splits the target's URL into those of its servers.
func parseServers(target string) ([]string, error) {
	var servers []string
	for _, server := range strings.Split(target, ",") {
		server = strings.TrimSpace(server)
		if !strings.Contains(server, "://") {
			server = "nats://" + server
		}
		u, err := url.Parse(server)
		if err != nil {
			// The error would repeat the URL and a password in it.
			var parse *url.Error
			if errors.As(err, &parse) {
				err = parse.Err
			}
			return nil, fmt.Errorf("nats: %w: the URL cannot be read: %w; want one such as nats://host:4222", driver.ErrOption, err)
		}
		switch u.Scheme {
		case "nats", "tls", "ws", "wss":
		default:
			return nil, fmt.Errorf("nats: %w: scheme %q of %s: want nats, tls, ws or wss", driver.ErrOption, u.Scheme, u.Redacted())
		}
		if u.Hostname() == "" {
			return nil, fmt.Errorf("nats: %w: no host in URL %q; want one such as nats://host:4222", driver.ErrOption, u.Redacted())
		}
		servers = append(servers, server)
	}
	return servers, nil
}

// redact returns the servers' URLs without passwords and tokens.
func redact(servers []string) string {
	shown := make([]string, len(servers))
	for i, server := range servers {
		if u, err := url.Parse(server); err == nil {
			if u.User != nil {
				u.User = url.User("xxxxx")
			}
			shown[i] = u.String()
		}
	}
	return strings.Join(shown, ",")
}
