package brokers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"sixnines/internal/spell"
)

// The version of NATS Streaming that is installed: the last.
const (
	stanModule  = "github.com/nats-io/nats-streaming-server"
	stanVersion = "0.25.6"
)

// NATSStreaming is the NATS Streaming server with the NATS server embedded in
// it. Settings are its flags without dashes, such as store: file and file_sync:
// false.
func NATSStreaming() Product {
	return Product{
		Name:     "nats-streaming",
		Diskless: "it keeps messages in memory by default, and its files beside its configuration",
		Summary:  "NATS Streaming (STAN, archived): memory and file store",
		Drivers:  []string{"stan"},
		Secures:  []string{"stan"},
		Clusters: []int{1},
		Starts:   1500 * time.Millisecond,
		Variable: "NATS_STREAMING_SERVER",
		find:     func(ctx context.Context, h Home) (Installation, error) { return findProgram(ctx, h, stan()) },
		plan:     func(_ context.Context, h Home) ([]Step, error) { return planSTAN(h, stanVersion), nil },
		versions: &versions{prefix: stanPrefix, usual: stanVersion, oldest: "0.20.0", find: versionedProgram(stan()), plan: planSTAN},
		deploy:   deploySTAN,
	}
}

const (
	stanPrefix  = "nats-streaming-server-v" // below the home; the version follows
	stanProgram = "nats-streaming-server"
)

func stan() program {
	return program{
		product: "nats-streaming", name: stanProgram, variable: "NATS_STREAMING_SERVER", built: []string{stanPrefix + stanVersion, stanProgram},
		version: []string{"--version"}, before: "nats-streaming-server version ", after: ",", // nats-streaming-server version 0.25.6, nats-server version 2.10.11
	}
}

func planSTAN(h Home, version string) []Step {
	return goInstall(h, "build NATS Streaming "+version+" with Go", stanModule+"@v"+version, stanPrefix+version)
}

func deploySTAN(_ context.Context, in Installation, o *Options) (*deployment, error) {
	if o.MaxMessage < 0 || o.MaxMessage > math.MaxInt32-stanOverhead {
		return nil, fmt.Errorf("messages of up to %s were requested, but it carries at most %s", spell.Size(o.MaxMessage), spell.Size(math.MaxInt32-stanOverhead))
	}
	if err := refuse(o.Settings, "port", "p", "addr", "a", "http_port", "m", "config", "c", "stan_config", "sc", "clustered"); err != nil {
		return nil, err
	}
	ports, err := o.ports(2)
	if err != nil {
		return nil, err
	}
	places, err := o.places(1)
	if err != nil {
		return nil, err
	}
	address, monitoring := places[0].at(ports[0]), "http://"+places[0].at(ports[1])
	config, err := stanConfig(o, address, places[0].at(ports[1]))
	if err != nil {
		return nil, err
	}
	file := filepath.Join(o.Dir, "stan.conf")
	if err := os.WriteFile(file, []byte(config.String()), 0o600); err != nil {
		return nil, err
	}
	settings := map[string]string{
		"store": "memory", "dir": filepath.Join(o.Dir, "store"),
		"max_channels": "0", // the default of 100 is less than some runs have topics
	}
	maps.Copy(settings, o.Settings)
	command := append([]string{in.Path, "--config", file}, flags("--", settings)...)
	node := process{name: "nats-streaming", place: places[0], command: command, env: o.Home.Environ, dir: o.Dir, log: filepath.Join(o.Dir, "stan.log"),
		ready: func(ctx context.Context) error { return runsSTAN(ctx, monitoring) }}
	scheme := "nats"
	if o.TLS != nil || settings["tls"] == "true" || settings["tlscert"] != "" {
		scheme = "tls"
	}
	return &deployment{url: scheme + "://" + address, info: map[string]string{"monitoring": monitoring}, nodes: []process{node}}, nil
}

// stanOverhead is an upper bound of what the protocol adds to a payload, in bytes.
const stanOverhead = 4 << 10

// stanConfig returns the configuration of the embedded NATS server and of the streaming
// server's login to it.
func stanConfig(o *Options, address, monitoring string) (natsSettings, error) {
	c := natsSettings{"listen": strconv.Quote(address), "http": strconv.Quote(monitoring)}
	if o.MaxMessage > 0 {
		c["max_payload"] = strconv.Itoa(o.MaxMessage + stanOverhead)
		// The server refuses to carry more than it may hold for a slow client.
		c["max_pending"] = strconv.FormatInt(max(64<<20, 2*int64(o.MaxMessage+stanOverhead)), 10)
	}
	switch {
	case o.account != nil:
		c["authorization.users"] = natsUsers(o)
		c["streaming.user"], c["streaming.password"] = strconv.Quote(o.User), strconv.Quote(o.Password)
	case o.User != "":
		for name, value := range map[string]string{"user": o.User, "password": o.Password} {
			c["authorization."+name], c["streaming."+name] = strconv.Quote(value), strconv.Quote(value)
		}
	case o.Password != "":
		c["authorization.token"], c["streaming.token"] = strconv.Quote(o.Password), strconv.Quote(o.Password)
	}
	if o.TLS == nil {
		return c, nil
	}
	c["tls.cert_file"], c["tls.key_file"] = strconv.Quote(o.TLS.Cert), strconv.Quote(o.TLS.Key)
	c["tls.timeout"] = "10" // seconds; the default of two is little on a busy machine
	// The streaming server is a client of the NATS server in its own process and need not
	// verify its certificate.
	c["streaming.secure"], c["streaming.tls.skip_verify"] = "true", "true"
	if o.TLS.CA == "" {
		return c, nil
	}
	cert, key, trusted, err := ownCertificate(o.Dir, o.TLS.CA)
	if err != nil {
		return nil, err
	}
	c["tls.ca_file"], c["tls.verify"] = strconv.Quote(trusted), "true"
	c["streaming.tls.client_cert"], c["streaming.tls.client_key"] = strconv.Quote(cert), strconv.Quote(key)
	return c, nil
}

// runsSTAN returns nil if the streaming server has made its last subscription, according
// to the embedded NATS server. Both listen, and report that they run, before that.
func runsSTAN(ctx context.Context, monitoring string) error {
	var known struct {
		Subscriptions []struct{ Subject string } `json:"subscriptions_list"`
	}
	if err := ask(ctx, monitoring+"/subsz?subs=1&limit=1000000", &known); err != nil {
		return err
	}
	for _, sub := range known.Subscriptions {
		if strings.HasPrefix(sub.Subject, "_STAN.discover.") && strings.HasSuffix(sub.Subject, ".pings") {
			return nil
		}
	}
	return errors.New("the streaming server has not subscribed yet")
}
