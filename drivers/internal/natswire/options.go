package natswire

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"sixnines/driver"
)

// The values of the drivers' option client, which says who carries messages.
const (
	Direct  = "direct"  // frames of our own, past the library
	Library = "library" // the library, as its users use it
)

// Options say how to connect. Drivers have options of the same names and
// document them.
type Options struct {
	WriteBuffer       driver.ByteSize
	Library           bool // messages go by the library
	User, Password    string
	Token             string
	NKeySeed, Creds   string
	Name              string
	InboxPrefix       string
	ConnectTimeout    time.Duration
	PingInterval      time.Duration
	MaxPingsOut       int
	MaxReconnects     int
	ReconnectWait     time.Duration
	DiscoveredServers bool
	TLSFirst          bool
	// Accounted says that publishers learn what becomes of every message: what a
	// batch loses is no event of its own.
	Accounted bool
}

// DefaultOptions returns the defaults.
func DefaultOptions() Options {
	return Options{
		Name:           "sixnines",
		ConnectTimeout: nats.DefaultTimeout,
		PingInterval:   nats.DefaultPingInterval,
		MaxPingsOut:    nats.DefaultMaxPingOut,
		MaxReconnects:  -1,
		ReconnectWait:  50 * time.Millisecond,
	}
}

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
func (o Options) authentication(product string) ([]nats.Option, error) {
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
		return nil, fmt.Errorf("%s: options %s: %w: give one way to log in, not several", product, strings.Join(given, " and "), driver.ErrOption)
	case o.Password != "" && o.User == "":
		return nil, fmt.Errorf("%s: option \"password\": %w: it needs user beside it", product, driver.ErrOption)
	case o.User != "":
		return []nats.Option{nats.UserInfo(o.User, o.Password)}, nil
	case o.Token != "":
		return []nats.Option{nats.Token(o.Token)}, nil
	case o.NKeySeed != "":
		option, err := nats.NkeyOptionFromSeed(o.NKeySeed)
		if err != nil {
			return nil, fmt.Errorf("%s: option \"nkey_seed\": %w: %s: %w; it wants a file with a user's seed, which begins with SU", product, driver.ErrOption, o.NKeySeed, err)
		}
		return []nats.Option{option}, nil
	case o.Creds != "":
		if err := checkCreds(o.Creds); err != nil {
			return nil, fmt.Errorf("%s: option \"creds\": %w: %s: %w; it wants a file with a user's JWT and seed, as nsc writes it", product, driver.ErrOption, o.Creds, err)
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
