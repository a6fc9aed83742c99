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
)

// Redis is the Redis server.
func Redis() Product {
	return Product{
		Name:     "redis",
		Summary:  "Redis: publish and subscribe, and streams",
		Drivers:  []string{"redis", "redis-streams"},
		Clusters: []int{1},
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
	ports, err := o.ports(1)
	if err != nil {
		return nil, err
	}
	places, err := o.places(1)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(o.Dir, "data")
	// The readiness check uses a Unix socket, which needs no certificate. Its path must
	// fit into a socket address.
	socket := filepath.Join(o.Dir, "redis.sock")
	settings, users, err := redisSettings(o, places[0], ports[0])
	if err != nil {
		return nil, err
	}
	settings["dir"] = redisQuote(dir)
	if len(socket) < 100 {
		settings["unixsocket"], settings["unixsocketperm"] = redisQuote(socket), "700"
	}
	maps.Copy(settings, o.Settings)
	// No setting has an empty value: an empty one removes the line.
	maps.DeleteFunc(settings, func(_, value string) bool { return value == "" })
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		if strings.ContainsAny(name+settings[name], "\r\n") {
			return nil, fmt.Errorf("%w %q: neither names nor values have several lines", ErrSetting, name)
		}
		fmt.Fprintf(&text, "%s %s\n", name, settings[name])
	}
	for _, user := range users {
		fmt.Fprintf(&text, "user %s\n", user)
	}
	config := filepath.Join(o.Dir, "redis.conf")
	if err := os.WriteFile(config, []byte(text.String()), 0o600); err != nil {
		return nil, err
	}
	// Settings may have closed the plain listener, or moved either of them.
	scheme, port := "redis", settings["port"]
	if encrypted := settings["tls-port"]; encrypted != "" && encrypted != "0" && (port == "" || port == "0") {
		scheme, port = "rediss", encrypted
	}
	address := net.JoinHostPort(places[0].ip(), port)
	node := process{name: "redis", place: places[0], command: []string{in.Path, config}, env: o.Home.Environ, dir: dir,
		log: filepath.Join(o.Dir, "redis.log")}
	d := &deployment{url: scheme + "://" + address, info: map[string]string{"config": config}}
	if settings["unixsocket"] != redisQuote(socket) {
		socket = settings["unixsocket"]
	}
	switch {
	case socket != "":
		d.info["socket"] = socket
		node.ready = func(ctx context.Context) error { return pingRedis(ctx, "unix", socket, o) }
	case scheme == "redis":
		node.ready = func(ctx context.Context) error { return pingRedis(ctx, "tcp", address, o) }
	default:
		node.ready = listens(address)
	}
	d.nodes = []process{node}
	return d, nil
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
		return nil, nil, fmt.Errorf("user %q: names of users have neither spaces nor quotes", o.User)
	default:
		// A client without a login is the user "default", who may do everything unless
		// switched off. The password's hash needs no quoting.
		users = []string{"default off", fmt.Sprintf("%s on #%x ~* &* +@all", o.User, sha256.Sum256([]byte(o.Password)))}
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
	words := []string{"AUTH", o.User, o.Password}
	if o.User == "" {
		words = []string{"AUTH", o.Password}
	}
	commands := [][]string{words, {"PING"}}
	if o.User == "" && o.Password == "" {
		commands = commands[1:]
	}
	answers := bufio.NewReader(c)
	for _, words := range commands {
		command := fmt.Sprintf("*%d\r\n", len(words))
		for _, w := range words {
			command += fmt.Sprintf("$%d\r\n%s\r\n", len(w), w)
		}
		if _, err := io.WriteString(c, command); err != nil {
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
			return fmt.Errorf("%s is answered with %s", words[0], strings.TrimSpace(line))
		}
	}
	return nil
}
