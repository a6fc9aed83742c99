package brokers

import (
	"bufio"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Redis is the Redis server: one node, or three, a master and two replicas, with a Sentinel beside each. The
// Sentinels make a replica the master when the master fails.
//
// With three nodes, names in Options.Settings that begin with "sentinel." are settings of the Sentinels about
// the master, such as sentinel.down-after-milliseconds.
func Redis() Product {
	return Product{
		Name:     "redis",
		Summary:  "Redis: publish and subscribe, and streams; three nodes with Sentinels",
		Drivers:  []string{"redis", "redis-streams"},
		Led:      []string{"redis", "redis-streams"},
		Secures:  []string{"redis", "redis-streams"},
		Clusters: []int{1, 3},
		Starts:   1500 * time.Millisecond,
		Variable: "REDIS_SERVER",
		find:     findRedis,
		plan:     planDebian("redis-server"),
		deploy:   deployRedis,
	}
}

func findRedis(ctx context.Context, h Home) (Installation, error) {
	return findProgram(ctx, h, program{
		product: "redis", name: "redis-server", variable: "REDIS_SERVER",
		version: []string{"--version"}, before: "v=", after: " ", // Redis server v=7.0.15 sha=00000000:0 …
	})
}

// redisSmallest is the smallest value, in bytes, that the server accepts for limits of
// its input.
const redisSmallest = 1 << 20

func deployRedis(_ context.Context, in Installation, o *Options) (*deployment, error) {
	if err := refuse(o.Settings, "daemonize", "supervised"); err != nil {
		return nil, err
	}
	isSentinels := func(name, _ string) bool { return strings.HasPrefix(name, sentinelPrefix) }
	own, watching := maps.Clone(o.Settings), maps.Clone(o.Settings)
	maps.DeleteFunc(own, isSentinels)
	maps.DeleteFunc(watching, func(name, value string) bool { return !isSentinels(name, value) })
	if o.Nodes == 1 {
		if len(watching) > 0 {
			return nil, fmt.Errorf("%w %s*: a single node has no Sentinels; use three nodes", ErrSetting, sentinelPrefix)
		}
		ports, err := o.ports(1)
		if err != nil {
			return nil, err
		}
		places, err := o.places(1)
		if err != nil {
			return nil, err
		}
		node, at, err := redisNode(in, o, places[0], "redis", o.Dir, ports[0], own)
		if err != nil {
			return nil, err
		}
		d := &deployment{url: at.scheme + "://" + at.address, info: map[string]string{"config": at.config}, nodes: []process{node}}
		if at.socket != "" {
			d.info["socket"] = at.socket
		}
		return d, nil
	}
	return deployReplicas(in, o, own, watching)
}

// deployReplicas writes a master, its replicas, and as many Sentinels.
func deployReplicas(in Installation, o *Options, own, watching map[string]string) (*deployment, error) {
	if err := refuse(own, "port", "bind", "replicaof", "slaveof", "replica-announce-*", "slave-announce-*", "tls-*"); err != nil {
		return nil, err
	}
	ports, err := o.ports(2 * o.Nodes)
	if err != nil {
		return nil, err
	}
	places, err := o.places(o.Nodes)
	if err != nil {
		return nil, err
	}
	encryption, err := encryptedReplicas(o)
	if err != nil {
		return nil, err
	}
	var servers []string
	d := &deployment{info: map[string]string{}}
	for k, port := range ports[:o.Nodes] {
		servers = append(servers, places[k].at(port))
		settings := redisPeerSettings(o)
		if k > 0 {
			settings["replicaof"] = places[0].ip() + " " + strconv.Itoa(ports[0])
		}
		maps.Copy(settings, encryption.settings)
		maps.Copy(settings, own)
		name := fmt.Sprintf("redis-%d", k+1)
		node, at, err := redisNode(in, o, places[k], name, filepath.Join(o.Dir, name), port, settings)
		if err != nil {
			return nil, err
		}
		d.nodes = append(d.nodes, node)
		d.info["config "+name] = at.config
	}
	asked := sentinelSettings(watching)
	late, addresses, err := sentinels(in, o, places, ports[0], ports[o.Nodes:], asked, encryption)
	if err != nil {
		return nil, err
	}
	d.late = late
	d.url = encryption.scheme + strings.Join(addresses, ",") + "/" + sentinelMaster
	d.settings = map[string]string{}
	for name, value := range asked {
		d.settings[sentinelPrefix+name] = value
	}
	d.roles = sentinelRoles(addresses, servers, encryption.client)
	d.ready = func(ctx context.Context) error { return sentinelsReady(ctx, addresses, encryption.client) }
	return d, nil
}

// redisPeerSettings are those of servers that are copied, or copy others.
func redisPeerSettings(o *Options) map[string]string {
	settings := map[string]string{"repl-diskless-sync-delay": "0"} // else replicas are copied after 5 s
	if o.Password != "" {
		settings["masterauth"] = redisQuote(o.Password)
	}
	if o.User != "" && o.User != "default" {
		settings["masteruser"] = o.User
	}
	return settings
}

// redisLogin is the command by which clients log in; nil: there is no login.
func redisLogin(o *Options) []string {
	switch {
	case o.User != "":
		return []string{"AUTH", o.User, o.Password}
	case o.Password != "":
		return []string{"AUTH", o.Password}
	}
	return nil
}

// redisAt is where a server is found.
type redisAt struct{ scheme, address, socket, config string }

// redisNode writes a server with the settings, which override those that are usual here, into a directory.
func redisNode(in Installation, o *Options, where place, name, dir string, port int, own map[string]string) (node process, at redisAt, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return node, at, err
	}
	data := filepath.Join(dir, "data")
	// The readiness check uses a Unix socket, which needs no certificate. Its path must
	// fit into a socket address.
	socket := filepath.Join(dir, "redis.sock")
	settings, users, err := redisSettings(o, where, port)
	if err != nil {
		return node, at, err
	}
	settings["dir"] = redisQuote(data)
	if len(socket) < 100 {
		settings["unixsocket"], settings["unixsocketperm"] = redisQuote(socket), "700"
	}
	maps.Copy(settings, own)
	// No setting has an empty value: an empty one removes the line.
	maps.DeleteFunc(settings, func(_, value string) bool { return value == "" })
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		if strings.ContainsAny(name+settings[name], "\r\n") {
			return node, at, fmt.Errorf("%w %q: names and values must not contain line breaks", ErrSetting, name)
		}
		fmt.Fprintf(&text, "%s %s\n", name, settings[name])
	}
	for _, user := range users {
		fmt.Fprintf(&text, "user %s\n", user)
	}
	at.config = filepath.Join(dir, "redis.conf")
	if err := os.WriteFile(at.config, []byte(text.String()), 0o600); err != nil {
		return node, at, err
	}
	// Settings may have closed the plain listener, or moved either of them.
	at.scheme, at.address = "redis", settings["port"]
	if encrypted := settings["tls-port"]; encrypted != "" && encrypted != "0" && (at.address == "" || at.address == "0") {
		at.scheme, at.address = "rediss", encrypted
	}
	at.address = net.JoinHostPort(where.ip(), at.address)
	node = process{name: name, place: where, command: []string{in.Path, at.config}, env: o.Home.Environ, dir: data,
		log: filepath.Join(dir, "redis.log")}
	if settings["unixsocket"] != redisQuote(socket) {
		socket = settings["unixsocket"]
	}
	at.socket = socket
	switch {
	case socket != "":
		node.ready = func(ctx context.Context) error { return pingRedis(ctx, "unix", socket, o) }
	case at.scheme == "redis":
		node.ready = func(ctx context.Context) error { return pingRedis(ctx, "tcp", at.address, o) }
	default:
		node.ready = listens(at.address)
	}
	return node, at, nil
}

// redisSettings returns the lines of the configuration and, since there may be
// several of these, the values of the lines called user.
func redisSettings(o *Options, at place, port int) (settings map[string]string, users []string, err error) {
	settings = map[string]string{
		"bind": at.ip(), "port": strconv.Itoa(port), "daemonize": "no",
		"save": `""`, "appendonly": "no",
		// A subscriber may be behind by all messages of a run. Beyond this limit the
		// server would disconnect it, and messages would seem lost in the network.
		"client-output-buffer-limit": "pubsub 0 0 0",
	}
	if at.node != nil { // clients are at another address, and nothing outside of this machine leads here
		settings["protected-mode"] = "no"
	}
	if o.TLS != nil || o.Settings["tls-cert-file"] != "" {
		// The plain listener is closed.
		settings["port"], settings["tls-port"] = "0", strconv.Itoa(port)
		settings["tls-auth-clients"] = "no"
	}
	if o.TLS != nil {
		settings["tls-cert-file"], settings["tls-key-file"] = redisQuote(o.TLS.Cert), redisQuote(o.TLS.Key)
		if o.TLS.CA != "" {
			settings["tls-ca-cert-file"], settings["tls-auth-clients"] = redisQuote(o.TLS.CA), "yes"
		}
	}
	if n := o.MaxMessage; n > 0 {
		settings["proto-max-bulk-len"] = strconv.Itoa(max(redisSmallest, n))
		// A command is a little more than its message.
		settings["client-query-buffer-limit"] = strconv.Itoa(max(1<<30, n+redisSmallest))
	}
	switch {
	case o.User == "" && o.Password == "":
	case o.User == "" || o.User == "default":
		settings["requirepass"] = redisQuote(o.Password)
	case strings.ContainsFunc(o.User, func(r rune) bool { return r <= ' ' || r == '"' || r == '\'' || r > '~' }):
		return nil, nil, fmt.Errorf("user %q: user names must not contain spaces or quotes", o.User)
	default:
		// A client without a login is the user "default", who may do everything unless
		// switched off. The password's hash needs no quoting.
		users = []string{"default off", fmt.Sprintf("%s on #%x ~* &* +@all", o.User, sha256.Sum256([]byte(o.Password)))}
	}
	if a := o.account; a != nil {
		line := fmt.Sprintf("%s reset on #%x", a.user, sha256.Sum256([]byte(a.password)))
		for _, right := range []string{"keys", "channels", "commands"} {
			line = strings.Join(append([]string{line}, a.of(right)...), " ")
		}
		users = append(users, line)
	}
	return settings, users, nil
}

// redisQuote makes one word of a configuration's line.
func redisQuote(word string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range []byte(word) {
		if c < ' ' || c > '~' || c == '"' || c == '\\' {
			fmt.Fprintf(&b, `\x%02x`, c)
			continue
		}
		b.WriteByte(c)
	}
	return b.String() + `"`
}

// pingRedis returns nil if the server answers PING. It listens before it has loaded
// its data, and tells logged-in clients so.
func pingRedis(ctx context.Context, network, address string, o *Options) error {
	c, err := dial(ctx, network, address)
	if err != nil {
		return err
	}
	defer c.Close()
	commands := [][]string{{"PING"}}
	if login := redisLogin(o); login != nil {
		commands = [][]string{login, {"PING"}}
	}
	answers := bufio.NewReader(c)
	for _, words := range commands {
		if _, err := io.WriteString(c, redisCommand(words)); err != nil {
			return err
		}
		line, err := answers.ReadString('\n')
		if err != nil {
			return err
		}
		if strings.HasPrefix(line, "-NOAUTH") && o.Password == "" {
			return nil // a login that only Options.Settings knows
		}
		if !strings.HasPrefix(line, "+") {
			return fmt.Errorf("the answer to %s is %s", words[0], strings.TrimSpace(line))
		}
	}
	return nil
}
