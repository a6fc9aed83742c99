package brokers

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
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

// sentinelMaster is the name by which Sentinels and clients know the master.
const sentinelMaster = "sixnines"

// sentinelPrefix begins settings of the Sentinels about the master, such as
// sentinel.down-after-milliseconds.
const sentinelPrefix = "sentinel."

// sentinelSettings returns the Sentinels' settings about the master, those of own before the defaults here. A
// master counts as failed after two seconds: the product's default of 30 s would be longer than most runs.
func sentinelSettings(own map[string]string) map[string]string {
	s := map[string]string{"down-after-milliseconds": "2000", "failover-timeout": "10000", "parallel-syncs": "1"}
	for name, value := range own {
		s[strings.TrimPrefix(name, sentinelPrefix)] = value
	}
	return s
}

// sentinels returns a Sentinel beside each server, and their addresses. The first server, at the port master,
// is the master at first; two of three must agree that a master has failed.
func sentinels(in Installation, o *Options, places []place, master int, ports []int, own map[string]string, over encryption) ([]process, []string, error) {
	var all []process
	var addresses []string
	for k, port := range ports {
		name := fmt.Sprintf("sentinel-%d", k+1)
		dir := filepath.Join(o.Dir, name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, nil, err
		}
		var text strings.Builder
		fmt.Fprintf(&text, "bind %s\n%s %d\ndir %s\nsentinel monitor %s %s %d %d\n", places[k].ip(), over.port, port, redisQuote(dir), sentinelMaster, places[0].ip(), master, len(ports)/2+1)
		for _, setting := range slices.Sorted(maps.Keys(over.settings)) {
			fmt.Fprintf(&text, "%s %s\n", setting, over.settings[setting])
		}
		if places[k].node != nil { // as of the servers
			text.WriteString("protected-mode no\n")
		}
		for setting, value := range own {
			if strings.ContainsAny(setting+value, "\r\n") {
				return nil, nil, fmt.Errorf("%w %q: names and values must not contain line breaks", ErrSetting, setting)
			}
			fmt.Fprintf(&text, "sentinel %s %s %s\n", setting, sentinelMaster, value)
		}
		if o.User != "" && o.User != "default" {
			fmt.Fprintf(&text, "sentinel auth-user %s %s\n", sentinelMaster, o.User)
		}
		if o.Password != "" {
			fmt.Fprintf(&text, "sentinel auth-pass %s %s\n", sentinelMaster, redisQuote(o.Password))
		}
		config := filepath.Join(dir, "sentinel.conf") // the Sentinel writes to it
		if err := os.WriteFile(config, []byte(text.String()), 0o600); err != nil {
			return nil, nil, err
		}
		address := places[k].at(port)
		addresses = append(addresses, address)
		all = append(all, process{name: name, place: places[k], command: []string{in.Path, config, "--sentinel"}, env: o.Home.Environ, dir: dir,
			log: filepath.Join(dir, "sentinel.log"), ready: func(ctx context.Context) error {
				_, err := askRedis(ctx, address, over.client, "PING")
				return err
			}})
	}
	return all, addresses, nil
}

// sentinelRoles asks Sentinels for the master of the servers at these addresses: it leads everything.
func sentinelRoles(addresses, servers []string, over *tls.Config) roles {
	each := func(ask func(address string) (Placement, error)) (p Placement, err error) {
		numbers := make([]int, len(addresses))
		for k := range numbers {
			numbers[k] = k
		}
		return firstOf(numbers, func(k int) (Placement, error) { return ask(addresses[k]) })
	}
	return roles{
		placement: func(ctx context.Context, _ []int, _ Destination) (Placement, error) {
			return each(func(address string) (Placement, error) { return sentinelPlacement(ctx, address, servers, over) })
		},
		transfer: func(ctx context.Context, _ []int, _ Destination, _ Placement) error {
			_, err := each(func(address string) (Placement, error) {
				_, err := askRedis(ctx, address, over, "SENTINEL", "FAILOVER", sentinelMaster)
				return Placement{}, err
			})
			return err
		},
	}
}

// sentinelPlacement asks a Sentinel for the master.
func sentinelPlacement(ctx context.Context, address string, servers []string, over *tls.Config) (Placement, error) {
	said, err := askRedis(ctx, address, over, "SENTINEL", "GET-MASTER-ADDR-BY-NAME", sentinelMaster)
	if err != nil {
		return Placement{}, err
	}
	if len(said) != 2 {
		return Placement{}, fmt.Errorf("%w: the Sentinel at %s reports no master", ErrNoLeader, address)
	}
	master := net.JoinHostPort(said[0], said[1])
	leader := slices.Index(servers, master)
	if leader < 0 {
		return Placement{}, fmt.Errorf("the Sentinel at %s reports the master %s, which is not one of the nodes", address, master)
	}
	p := Placement{Leader: leader}
	for k := range servers {
		if k != leader {
			p.Followers = append(p.Followers, k)
		}
	}
	return p, nil
}

// sentinelsReady returns nil if the Sentinel knows all of its peers and all replicas, and all of these follow
// the master.
func sentinelsReady(ctx context.Context, addresses []string, over *tls.Config) error {
	for _, address := range addresses {
		said, err := askRedis(ctx, address, over, "SENTINEL", "MASTER", sentinelMaster)
		if err != nil {
			return err
		}
		facts := map[string]string{}
		for k := 0; k+1 < len(said); k += 2 {
			facts[said[k]] = said[k+1]
		}
		others := strconv.Itoa(len(addresses) - 1)
		if facts["num-slaves"] != others || facts["num-other-sentinels"] != others || facts["flags"] != "master" {
			return fmt.Errorf("the Sentinel at %s reports %s replicas and %s other Sentinels of %s, and a master that is %q",
				address, facts["num-slaves"], facts["num-other-sentinels"], others, facts["flags"])
		}
	}
	return nil
}

// askRedis sends a command to a server without login, encrypted if over is not nil, and returns the texts of
// its answer.
func askRedis(ctx context.Context, address string, over *tls.Config, words ...string) ([]string, error) {
	return askRedisAs(ctx, address, over, nil, words...)
}

// askRedisAs logs in by a command before it asks; nil: there is no login.
func askRedisAs(ctx context.Context, address string, over *tls.Config, login []string, words ...string) ([]string, error) {
	c, err := dial(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if over != nil {
		c = tls.Client(c, over)
	}
	answers := bufio.NewReader(c)
	if login != nil {
		if _, err := io.WriteString(c, redisCommand(login)); err != nil {
			return nil, err
		}
		if _, err := redisAnswer(answers); err != nil {
			return nil, err
		}
	}
	if _, err := io.WriteString(c, redisCommand(words)); err != nil {
		return nil, err
	}
	return redisAnswer(answers)
}

// redisCommand writes a command as RESP.
func redisCommand(words []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(words))
	for _, w := range words {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(w), w)
	}
	return b.String()
}

// redisMost is the most that is read of one answer: texts, and bytes of a text.
const redisMost = 1 << 16

// redisAnswer reads an answer: a line, a text, or an array of these. Nulls are left out.
func redisAnswer(r *bufio.Reader) ([]string, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return nil, err
	}
	line = strings.TrimRight(line, "\r\n")
	if line == "" {
		return nil, errors.New("an empty line is not a Redis reply")
	}
	kind, rest := line[0], line[1:]
	switch kind {
	case '+', ':':
		return []string{rest}, nil
	case '-':
		return nil, errors.New(rest)
	}
	n, err := strconv.Atoi(rest)
	if err != nil || n > redisMost || kind != '$' && kind != '*' {
		return nil, fmt.Errorf("%.80q is not a Redis reply", line)
	}
	if n < 0 {
		return nil, nil
	}
	if kind == '$' {
		text := make([]byte, n+2)
		if _, err := io.ReadFull(r, text); err != nil {
			return nil, err
		}
		return []string{string(text[:n])}, nil
	}
	var all []string
	for range n {
		more, err := redisAnswer(r)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	return all, nil
}
