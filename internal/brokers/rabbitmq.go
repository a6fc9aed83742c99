package brokers

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// RabbitMQ is the RabbitMQ server, one node or three, with streams and AMQP 1.0.
//
// Beside lines of rabbitmq.conf, Options.Settings understands "plugins": names,
// separated by commas, of plugins to enable beside rabbitmq_stream and, before 4.0,
// rabbitmq_amqp1_0. With rabbitmq_management among them, which polls the node all the
// time, Cluster.Info says where "management" is. And "policy": the definition, in JSON, of a
// policy for all queues, as {"ha-mode":"all"}, which rabbitmq.conf cannot say.
func RabbitMQ() Product {
	return Product{
		Name:     "rabbitmq",
		Summary:  "RabbitMQ: AMQP 0-9-1 queues, AMQP 1.0, and streams",
		Drivers:  []string{"rabbitmq", "rabbitmq-stream", "amqp10"},
		Led:      []string{"rabbitmq", "rabbitmq-stream"},
		Secures:  []string{"rabbitmq", "rabbitmq-stream", "amqp10"},
		Clusters: []int{1, 3},
		Starts:   8 * time.Second,
		Variable: "RABBITMQ_HOME",
		find:     findRabbitMQ,
		plan:     planDebian("rabbitmq-server"),
		deploy:   deployRabbitMQ,
	}
}

// rabbitLibraries matches the directories of Debian's RabbitMQ. The script that Debian
// has on PATH only changes the user and calls the one there.
const rabbitLibraries = "/usr/lib/rabbitmq/lib/rabbitmq_server-*"

// findRabbitMQ locates the directory that holds sbin and plugins, and requires
// Erlang's erl and epmd.
func findRabbitMQ(_ context.Context, h Home) (Installation, error) {
	var in Installation
	for _, tool := range []string{"erl", "epmd"} {
		if _, ok := h.LookPath(tool); !ok {
			return in, notInstalled(tool + " on PATH, which comes with Erlang")
		}
	}
	if path := h.Getenv("RABBITMQ_HOME"); path != "" {
		in = Installation{Path: path, Origin: "named by RABBITMQ_HOME"}
		if err := checkRabbitHome(path); err != nil {
			return in, fmt.Errorf("%w: RABBITMQ_HOME is %s: %w; it must be the directory that contains sbin/rabbitmq-server", ErrUnusable, path, err)
		}
	} else {
		path, ok := h.LookPath("rabbitmq-server")
		if !ok {
			return in, notInstalled("rabbitmq-server on PATH")
		}
		if resolved, err := filepath.EvalSymlinks(path); err == nil {
			path = resolved
		}
		homes := []string{filepath.Dir(filepath.Dir(path))}
		packaged, err := filepath.Glob(rabbitLibraries)
		if err != nil {
			return in, err
		}
		slices.Reverse(packaged)
		homes = append(homes, packaged...)
		i := slices.IndexFunc(homes, func(home string) bool { return checkRabbitHome(home) == nil })
		if i < 0 {
			return in, fmt.Errorf("%w: %s is on PATH, but not in RabbitMQ's directory, which contains sbin/rabbitmq-server and plugins", ErrUnusable, path)
		}
		in = Installation{Path: homes[i], Origin: "on PATH"}
	}
	plugins, err := filepath.Glob(filepath.Join(in.Path, "plugins", "rabbit-*"))
	if err != nil || len(plugins) == 0 {
		return in, fmt.Errorf("%w: %s (%s) has no readable version: plugins/rabbit-VERSION is missing", ErrUnusable, in.Path, in.Origin)
	}
	in.Version = strings.TrimSuffix(strings.TrimPrefix(filepath.Base(plugins[0]), "rabbit-"), ".ez")
	return in, nil
}

func checkRabbitHome(path string) error {
	for _, file := range []string{"rabbitmq-server", "rabbitmq-env"} {
		if _, err := os.Stat(filepath.Join(path, "sbin", file)); err != nil {
			return err
		}
	}
	return nil
}

// rabbitNode is one node's ports.
type rabbitNode struct {
	name                             string // as Erlang's, without the host
	place                            place
	amqp, stream, distribution, http int
}

// String returns Erlang's name of the node. Where nodes have addresses of their own it is a long
// name, whose host is the address: nothing has to be resolved.
func (n rabbitNode) String() string {
	if n.place == (place{}) {
		return n.name + "@localhost"
	}
	return n.name + "@" + n.place.ip()
}

func deployRabbitMQ(_ context.Context, in Installation, o *Options) (*deployment, error) {
	if err := refuse(o.Settings, "listeners.tcp*", "stream.listeners.tcp*", "cluster_formation.peer_discovery_backend", "cluster_formation.classic_config.*"); err != nil {
		return nil, err
	}
	settings := maps.Clone(o.Settings)
	plugins := []string{"rabbitmq_stream"}
	if !since(in.Version, 4, 0) { // from 4.0 on AMQP 1.0 is built in
		plugins = append(plugins, "rabbitmq_amqp1_0")
	}
	for plugin := range strings.SplitSeq(settings["plugins"], ",") {
		if plugin = strings.TrimSpace(plugin); plugin != "" && !slices.Contains(plugins, plugin) {
			plugins = append(plugins, plugin)
		}
	}
	if o.TLS != nil && o.TLS.CA != "" {
		plugins = append(plugins, "rabbitmq_auth_mechanism_ssl")
	}
	policy := settings["policy"]
	if policy != "" && !json.Valid([]byte(policy)) {
		return nil, fmt.Errorf("%w policy: %q is not JSON; give the definition of a policy, such as {\"ha-mode\":\"all\"}", ErrSetting, policy)
	}
	delete(settings, "plugins")
	delete(settings, "policy")
	managed := slices.Contains(plugins, "rabbitmq_management")

	ports, err := o.ports(1 + 4*o.Nodes)
	if err != nil {
		return nil, err
	}
	places, err := o.places(o.Nodes)
	if err != nil {
		return nil, err
	}
	epmdPort := ports[len(ports)-1]
	var nodes []rabbitNode
	for k := range o.Nodes {
		p := ports[4*k:]
		nodes = append(nodes, rabbitNode{"rabbit-" + strconv.Itoa(k+1), places[k], p[0], p[1], p[2], p[3]})
	}

	home := filepath.Join(o.Dir, "home")
	if err := os.MkdirAll(home, 0o755); err != nil {
		return nil, err
	}
	// A process that knows the cookie can run code in the nodes; each cluster has a new one.
	if err := os.WriteFile(filepath.Join(home, ".erlang.cookie"), []byte(rabbitCookie()), 0o400); err != nil {
		return nil, err
	}
	enabled := filepath.Join(o.Dir, "enabled_plugins")
	if err := os.WriteFile(enabled, []byte("["+strings.Join(plugins, ",")+"].\n"), 0o644); err != nil {
		return nil, err
	}
	env := rabbitEnviron(o.Home.Environ, "HOME="+home, "ERL_EPMD_PORT="+strconv.Itoa(epmdPort))
	if o.network != nil {
		env = append(env, "RABBITMQ_USE_LONGNAME=true")
	}

	epmd, ok := o.Home.LookPath("epmd")
	if !ok {
		return nil, notInstalled("epmd on PATH")
	}
	d := &deployment{urls: map[string]string{}, info: map[string]string{}}
	// Nodes ask for each other at the epmd of the other's address.
	for k, at := range places {
		name := "epmd"
		if k > 0 {
			if at == places[0] {
				break
			}
			name += "-" + strconv.Itoa(k+1)
		}
		d.helpers = append(d.helpers, process{name: name, place: at, command: []string{epmd, "-port", strconv.Itoa(epmdPort), "-address", at.ip()},
			env: append(slices.Clip(env), "ERL_EPMD_ADDRESS="+at.ip()), dir: home, log: filepath.Join(o.Dir, name+".log"), ready: listens(at.at(epmdPort))})
	}

	amqp, stream := "amqp", "rabbitmq-stream"
	if o.TLS != nil {
		amqp, stream = "amqps", "rabbitmq-stream+tls"
	}
	var urls, streams, managements []string
	for _, n := range nodes {
		dir := filepath.Join(o.Dir, n.name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
		config := filepath.Join(dir, "rabbitmq.conf")
		if err := os.WriteFile(config, []byte(rabbitConfig(n, nodes, o, settings, managed)), 0o600); err != nil {
			return nil, err
		}
		log := filepath.Join(dir, "rabbitmq.log")
		d.nodes = append(d.nodes, process{
			name: n.name, place: n.place,
			// With input allowed the script becomes the Erlang machine instead of
			// waiting for it, so that signals hit the broker; -noinput then keeps
			// it from reading commands.
			command: []string{filepath.Join(in.Path, "sbin", "rabbitmq-server")},
			env: append(slices.Clip(env), "ERL_EPMD_ADDRESS="+n.place.ip(), "RABBITMQ_ALLOW_INPUT=1", "RABBITMQ_SERVER_START_ARGS=-noinput",
				"RABBITMQ_NODENAME="+n.String(), "RABBITMQ_DIST_PORT="+strconv.Itoa(n.distribution),
				"RABBITMQ_CONF_ENV_FILE="+filepath.Join(dir, "none"),
				"RABBITMQ_CONFIG_FILE="+config,
				"RABBITMQ_ADVANCED_CONFIG_FILE="+filepath.Join(dir, "none.config"),
				"RABBITMQ_ENABLED_PLUGINS_FILE="+enabled,
				"RABBITMQ_MNESIA_BASE="+filepath.Join(dir, "data"),
				"RABBITMQ_GENERATED_CONFIG_DIR="+filepath.Join(dir, "config"),
				"RABBITMQ_SCHEMA_DIR="+filepath.Join(dir, "schema"),
				"RABBITMQ_PID_FILE="+filepath.Join(dir, "pid"),
				"RABBITMQ_LOG_BASE="+dir, "RABBITMQ_LOGS=-",
				// 0: no crash dump, which would be large and in the working directory.
				"ERL_CRASH_DUMP_SECONDS=0"),
			dir: dir, log: log,
			ready: func(ctx context.Context) error { return rabbitReady(ctx, n, o) },
		})
		urls = append(urls, amqp+"://"+n.place.at(n.amqp))
		streams = append(streams, stream+"://"+n.place.at(n.stream))
		managements = append(managements, "http://"+n.place.at(n.http))
	}
	d.roles = rabbitRoles(nodes, o.Home, env)
	d.url = strings.Join(urls, ",")
	d.urls["rabbitmq-stream"] = strings.Join(streams, ",")
	d.info["stream"] = d.urls["rabbitmq-stream"]
	d.info["epmd"] = places[0].at(epmdPort)
	d.info["home"] = home
	if managed {
		d.info["management"] = strings.Join(managements, ",")
	}
	if len(nodes) > 1 || policy != "" || o.account != nil {
		d.ready = func(ctx context.Context) error {
			if err := rabbitsTogether(o.Dir, nodes); err != nil {
				return err
			}
			if policy != "" {
				said, err := erlang(ctx, o.Home, env, nodes[0], fmt.Sprintf(rabbitPolicy, erlangBinary(policy)))
				if err == nil && said != "set" {
					err = fmt.Errorf("%w policy: %s", ErrSetting, said)
				}
				if err != nil {
					return err
				}
			}
			if o.account == nil {
				return nil
			}
			_, err := erlang(ctx, o.Home, env, nodes[0], rabbitUser(o.account))
			return err
		}
	}
	return d, nil
}

// rabbitEnviron returns the environment without variables that configure RabbitMQ
// or Erlang, and with those in add.
func rabbitEnviron(environ []string, add ...string) []string {
	var env []string
	for _, v := range environ {
		name, _, _ := strings.Cut(v, "=")
		if name != "HOME" && !strings.HasPrefix(name, "RABBITMQ_") && !strings.HasPrefix(name, "ERL_") && name != "NOTIFY_SOCKET" {
			env = append(env, v)
		}
	}
	return append(env, add...)
}

const (
	rabbitMessage = 1 << 20  // least size of a message that fits a stream, bytes; the default limits the frame to that
	rabbitFraming = 64 << 10 // more than a frame adds to a message, bytes
)

// rabbitConfig returns a node's rabbitmq.conf.
func rabbitConfig(n rabbitNode, all []rabbitNode, o *Options, settings map[string]string, managed bool) string {
	c := map[string]string{
		"distribution.listener.interface": n.place.ip(),
		"stream.advertised_host":          n.place.ip(),
		"stream.advertised_port":          strconv.Itoa(n.stream),
		"stream.advertised_tls_host":      n.place.ip(),
		"stream.advertised_tls_port":      strconv.Itoa(n.stream),
		"stream.frame_max":                strconv.Itoa(max(o.MaxMessage, rabbitMessage) + rabbitFraming),
		"log.console":                     "true",
		"log.console.level":               "info",
	}
	if o.network != nil { // else the user guest, whom every client is by default, may log in from loopback alone
		c["loopback_users"] = "none"
	}
	if o.TLS == nil {
		c["listeners.tcp.1"] = n.place.at(n.amqp)
		c["stream.listeners.tcp.1"] = n.place.at(n.stream)
	} else {
		c["listeners.tcp"], c["stream.listeners.tcp"] = "none", "none"
		c["listeners.ssl.1"] = n.place.at(n.amqp)
		c["stream.listeners.ssl.1"] = n.place.at(n.stream)
		c["ssl_options.certfile"], c["ssl_options.keyfile"] = o.TLS.Cert, o.TLS.Key
		c["ssl_options.verify"], c["ssl_options.fail_if_no_peer_cert"] = "verify_none", "false"
		if o.TLS.CA != "" {
			c["ssl_options.cacertfile"] = o.TLS.CA
			c["ssl_options.verify"], c["ssl_options.fail_if_no_peer_cert"] = "verify_peer", "true"
			c["ssl_cert_login_from"] = "common_name"
			c["auth_mechanisms.1"], c["auth_mechanisms.2"], c["auth_mechanisms.3"] = "PLAIN", "AMQPLAIN", "EXTERNAL"
		}
	}
	if o.User != "" {
		c["default_user"], c["default_pass"] = o.User, o.Password
	}
	if o.MaxMessage > 0 {
		c["max_message_size"] = strconv.Itoa(o.MaxMessage)
	}
	if managed {
		c["management.tcp.ip"], c["management.tcp.port"] = n.place.ip(), strconv.Itoa(n.http)
	}
	if len(all) > 1 {
		c["cluster_formation.peer_discovery_backend"] = "classic_config"
		for k, peer := range all {
			c["cluster_formation.classic_config.nodes."+strconv.Itoa(k+1)] = peer.String()
		}
	}
	maps.Copy(c, settings)
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(c)) {
		fmt.Fprintf(&text, "%s = %s\n", name, c[name])
	}
	return text.String()
}
