package brokers

import (
	"bufio"
	"context"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
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
		plan: func(context.Context, Home) ([]Step, error) {
			return []Step{debian("redis-server")}, nil
		},
		deploy: deployRedis,
	}
}

func findRedis(ctx context.Context, h Home) (Installation, error) {
	return findProgram(ctx, h, program{
		product: "redis", name: "redis-server", variable: "REDIS_SERVER",
		version: []string{"--version"}, // Redis server v=7.0.15 sha=00000000:0 …
		parse: func(text string) string {
			_, v, _ := strings.Cut(text, "v=")
			v, _, _ = strings.Cut(v, " ")
			return v
		},
	})
}

func deployRedis(_ context.Context, in Installation, o *Options) (*deployment, error) {
	ports, err := o.ports(1)
	if err != nil {
		return nil, err
	}
	// Without encryption the plain listener is the only one, with it the other.
	plain, encrypted := ports[0], 0
	scheme := "redis"
	if o.TLS != nil {
		plain, encrypted, scheme = 0, ports[0], "rediss"
	}
	dir := filepath.Join(o.Dir, "data")
	settings := map[string]string{
		"bind": "127.0.0.1", "port": strconv.Itoa(plain), "dir": dir, "daemonize": "no",
		"save": `""`, "appendonly": "no",
		// A subscriber or a pipeline may be behind by as much as the run's length
		// of messages: what is lost there would look like the network's loss.
		"client-output-buffer-limit": "pubsub 0 0 0",
	}
	if o.TLS != nil {
		settings["tls-port"] = strconv.Itoa(encrypted)
		settings["tls-cert-file"], settings["tls-key-file"] = o.TLS.Cert, o.TLS.Key
		settings["tls-auth-clients"] = "no"
		if o.TLS.CA != "" {
			settings["tls-ca-cert-file"], settings["tls-auth-clients"] = o.TLS.CA, "yes"
		}
	}
	if o.Password != "" {
		if o.User == "" || o.User == "default" {
			settings["requirepass"] = o.Password
		} else {
			settings["user"] = o.User + " on >" + o.Password + " ~* &* +@all"
		}
	}
	maps.Copy(settings, o.Settings)
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		fmt.Fprintf(&text, "%s %s\n", name, settings[name])
	}
	config := filepath.Join(o.Dir, "redis.conf")
	if err := os.WriteFile(config, []byte(text.String()), 0o600); err != nil {
		return nil, err
	}
	address := loopback(ports[0])
	node := process{name: "redis", command: []string{in.Path, config}, env: o.Home.Environ, dir: dir,
		log: filepath.Join(o.Dir, "redis.log"), ready: listens(address)}
	if o.TLS == nil {
		node.ready = func(ctx context.Context) error { return pingRedis(ctx, address) }
	}
	return &deployment{url: scheme + "://" + address, nodes: []process{node}}, nil
}

// pingRedis wants an answer from the server: it listens before it has loaded its
// data. That it wants to be logged in to is one.
func pingRedis(ctx context.Context, address string) error {
	c, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(time.Second)); err != nil {
		return err
	}
	if _, err := c.Write([]byte("PING\r\n")); err != nil {
		return err
	}
	line, err := bufio.NewReader(c).ReadString('\n')
	if err != nil {
		return err
	}
	if line = strings.TrimSpace(line); line != "+PONG" && !strings.HasPrefix(line, "-NOAUTH") {
		return fmt.Errorf("%s", line)
	}
	return nil
}
