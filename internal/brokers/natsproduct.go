package brokers

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"sixnines/internal/spell"
)

// natsVariable names another nats-server than the one that is built in.
const natsVariable = "NATS_SERVER"

// NATS is the NATS server with JetStream and its MQTT listener. It is part of
// this program: [Home.Self] runs it, unless NATS_SERVER names another.
func NATS() Product {
	return Product{
		Name:     "nats",
		Summary:  "NATS: core, JetStream and MQTT; built in",
		Drivers:  []string{"nats", "jetstream", "mqtt"},
		Led:      []string{"jetstream"},
		Secures:  []string{"nats", "jetstream"},
		Clusters: []int{1, 3, 5},
		Starts:   1500 * time.Millisecond,
		Variable: natsVariable,
		find:     findNATS,
		plan: func(context.Context, Home) ([]Step, error) {
			return nil, errors.New("the server is built in; nothing needs to be installed")
		},
		// Before 2.2 there was no MQTT, nor JetStream.
		versions: &versions{prefix: "nats-server-", usual: server.VERSION, oldest: "2.2.0", find: versionedProgram(natsServer()),
			plan: func(h Home, version string) []Step {
				return goInstall(h, "build nats-server "+version+" with Go", "github.com/nats-io/nats-server/v2@v"+version, "nats-server-"+version)
			}},
		deploy: deployNATS,
	}
}

func natsServer() program {
	return program{
		product: "nats", name: "nats-server", variable: natsVariable,
		version: []string{"--version"}, before: "nats-server: v", after: "\n", // nats-server: v2.15.2
	}
}

func findNATS(ctx context.Context, h Home) (Installation, error) {
	if h.Getenv(natsVariable) != "" {
		return findProgram(ctx, h, natsServer())
	}
	if len(h.Self) == 0 {
		return Installation{}, fmt.Errorf("the server is built in, but this program cannot start itself as one; set %s to a nats-server", natsVariable)
	}
	return Installation{Version: server.VERSION, Path: h.Self[0], Origin: builtIn}, nil
}

// natsNode is where one server of a cluster listens.
type natsNode struct {
	name                        string
	place                       place
	client, monitor, mqtt, peer int // ports
}

func deployNATS(_ context.Context, in Installation, o *Options) (*deployment, error) {
	if o.MaxMessage < 0 || o.MaxMessage > math.MaxInt32 {
		return nil, fmt.Errorf("messages of up to %s were requested, but it carries at most %s", spell.Size(o.MaxMessage), spell.Size(math.MaxInt32))
	}
	if err := refuse(o.Settings, "listen", "port", "host", "net", "http", "http_port", "https", "https_port", "server_name", "cluster.listen", "cluster.host", "cluster.port", "cluster.routes"); err != nil {
		return nil, err
	}
	count := max(1, o.Nodes)
	const each = 4
	ports, err := o.ports(each * count)
	if err != nil {
		return nil, err
	}
	places, err := o.places(count)
	if err != nil {
		return nil, err
	}
	nodes := make([]natsNode, count)
	for i := range nodes {
		p := ports[each*i:]
		nodes[i] = natsNode{fmt.Sprintf("nats-%d", i+1), places[i], p[0], p[1], p[2], p[3]}
	}
	d := &deployment{urls: map[string]string{}, info: map[string]string{}}
	var clients []string
	for i, n := range nodes {
		c := natsConfig(o, nodes, i)
		if err := c.overlay(o.Settings); err != nil {
			return nil, err
		}
		p := natsProcess(in, o, n)
		if err := os.WriteFile(p.command[len(p.command)-1], []byte(c.String()), 0o600); err != nil {
			return nil, err
		}
		if o.Detach && in.Origin == builtIn {
			p.command = append(p.command, "-detach")
		}
		address := n.place.at(n.client)
		p.ready = func(ctx context.Context) error { return greetedByNATS(ctx, address, c.jetstream()) }
		if c["tls.handshake_first"] != "" {
			p.ready = listens(address) // it says nothing before
		}
		d.nodes = append(d.nodes, p)
		scheme := "nats"
		if c["tls.cert_file"] != "" {
			scheme = "tls"
		}
		clients = append(clients, scheme+"://"+address)
		d.info["monitoring "+n.name] = "http://" + n.place.at(n.monitor)
		if i > 0 {
			continue
		}
		d.info["monitoring"] = "http://" + n.place.at(n.monitor)
		if port := c.mqtt(); port != 0 {
			d.urls["mqtt"] = map[bool]string{false: "mqtt", true: "mqtts"}[c["mqtt.tls.cert_file"] != ""] + "://" + n.place.at(port)
		}
		if count > 1 && c.jetstream() {
			d.ready = func(ctx context.Context) error { return agreed(ctx, nodes) }
		}
	}
	d.roles = natsRoles(nodes, o)
	d.url = strings.Join(clients, ",")
	return d, nil
}

// natsProcess runs the server with a configuration file, the last argument.
func natsProcess(in Installation, o *Options, n natsNode) process {
	command := []string{in.Path}
	if in.Origin == builtIn {
		command = append([]string(nil), o.Home.Self...)
	}
	return process{name: n.name, place: n.place, command: append(command, "-c", filepath.Join(o.Dir, n.name+".conf")),
		env: o.Home.Environ, dir: filepath.Join(o.Dir, n.name), log: filepath.Join(o.Dir, n.name+".log")}
}

// natsConfig is the configuration of one server of those that nodes lists.
func natsConfig(o *Options, nodes []natsNode, which int) natsSettings {
	n := nodes[which]
	c := natsSettings{
		"server_name":         strconv.Quote(n.name),
		"listen":              strconv.Quote(n.place.at(n.client)),
		"http":                strconv.Quote(n.place.at(n.monitor)),
		"jetstream.store_dir": strconv.Quote(filepath.Join(o.Dir, n.name, "store")),
		"mqtt.host":           strconv.Quote(n.place.ip()),
		"mqtt.port":           strconv.Itoa(n.mqtt),
	}
	if o.MaxMessage > 0 {
		c["max_payload"] = strconv.Itoa(o.MaxMessage)
		// The server refuses to carry more than it may hold for a slow client.
		c["max_pending"] = strconv.FormatInt(max(server.MAX_PENDING_SIZE, 2*int64(o.MaxMessage)), 10)
	}
	switch {
	case o.account != nil:
		c["authorization.users"] = natsUsers(o)
	case o.User != "":
		c["authorization.user"], c["authorization.password"] = strconv.Quote(o.User), strconv.Quote(o.Password)
	case o.Password != "":
		c["authorization.token"] = strconv.Quote(o.Password)
	}
	if o.TLS != nil {
		for _, block := range []string{"tls.", "mqtt.tls."} {
			c[block+"cert_file"], c[block+"key_file"] = strconv.Quote(o.TLS.Cert), strconv.Quote(o.TLS.Key)
			c[block+"timeout"] = "10" // seconds; the default of two is little on a busy machine
			if o.TLS.CA != "" {
				c[block+"ca_file"], c[block+"verify"] = strconv.Quote(o.TLS.CA), "true"
			}
		}
	}
	if len(nodes) > 1 {
		var routes []string
		for _, peer := range nodes {
			routes = append(routes, strconv.Quote("nats-route://"+peer.place.at(peer.peer)))
		}
		c["cluster.name"] = `"sixnines"`
		c["cluster.listen"] = strconv.Quote(n.place.at(n.peer))
		c["cluster.routes"] = "[" + strings.Join(routes, ", ") + "]"
	}
	return c
}

// greetedByNATS returns nil if the server sends its greeting, and the greeting says that
// JetStream runs, if jetstream is set.
func greetedByNATS(ctx context.Context, address string, jetstream bool) error {
	c, err := dial(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer c.Close()
	line, err := bufio.NewReader(c).ReadString('\n')
	if err != nil {
		return err
	}
	text, ok := strings.CutPrefix(line, "INFO ")
	if !ok {
		return fmt.Errorf("%s greeted with %.80q, unlike a NATS server", address, line)
	}
	var info struct {
		JetStream bool `json:"jetstream"`
	}
	if err := json.Unmarshal([]byte(text), &info); err != nil {
		return fmt.Errorf("%s greets with %.80q: %w", address, line, err)
	}
	if jetstream && !info.JetStream {
		return fmt.Errorf("%s has no JetStream", address)
	}
	return nil
}
