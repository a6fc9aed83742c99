package control

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// Under says which server of the system under test is one of the control plane.
type Under struct {
	Address string // HOST:PORT under test
	Server  string // its name
}

func (u *Under) Error() string {
	return fmt.Sprintf("%s, under test, is the server %s of the control plane: each would slow the other down", u.Address, u.Server)
}

// identity is what a NATS server says of itself before anybody logs in.
type identity struct {
	ID      string   `json:"server_id"`
	Name    string   `json:"server_name"`
	Cluster string   `json:"cluster"`
	URLs    []string `json:"connect_urls"`
}

// greets is how long servers may take to greet; mostTargets are the addresses that are asked, all at once.
const (
	greets      = 1500 * time.Millisecond // less than a coordinator waits for the answer to a plan
	mostTargets = 256
)

// Apart returns an error, an [*Under], if an address of the system under test leads to a server of the control plane,
// to which nc is connected, or to its cluster. Addresses that do not greet as a NATS server does within 1.5 s are no part of it.
// targets are URLs or HOST:PORT, several with commas, at most 256.
func Apart(ctx context.Context, nc *nats.Conn, targets string) error {
	var addresses []string
	for text := range strings.SplitSeq(targets, ",") {
		if address := Address(text); address != "" && !slices.Contains(addresses, address) {
			addresses = append(addresses, address)
		}
		if len(addresses) > mostTargets {
			return fmt.Errorf("there are more than %d addresses under test: give some of them", mostTargets)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, greets)
	defer cancel()
	found := make([]*Under, len(addresses))
	var all sync.WaitGroup
	for i, address := range addresses {
		all.Go(func() {
			if other, ok := greeting(ctx, address); ok && controls(nc, other) {
				found[i] = &Under{address, other.Name}
				cancel()
			}
		})
	}
	all.Wait()
	for _, u := range found {
		if u != nil {
			return u
		}
	}
	return nil
}

// controls reports whether a server is one of the control plane. A cluster shares its streams: each of its servers is the
// control plane. Clusters of the same name are one if they list the same servers.
func controls(nc *nats.Conn, other identity) bool {
	return other.ID == nc.ConnectedServerId() || other.Cluster != "" && other.Cluster == nc.ConnectedClusterName() &&
		slices.ContainsFunc(nc.Servers(), func(s string) bool { return slices.Contains(other.URLs, Address(s)) })
}

// Address returns HOST:PORT of a URL or of what is HOST:PORT already; "" if it is neither. A NATS server's port is 4222.
func Address(text string) string {
	text = strings.TrimSpace(text)
	if !strings.Contains(text, "://") {
		if _, _, err := net.SplitHostPort(text); err != nil {
			return ""
		}
		return text
	}
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" {
		return ""
	}
	if u.Port() == "" {
		if u.Scheme != "nats" && u.Scheme != "tls" {
			return ""
		}
		return net.JoinHostPort(u.Hostname(), "4222")
	}
	return u.Host
}

// greeting is what the server at an address says of itself until ctx ends; false if it says nothing, or is not a NATS server.
func greeting(ctx context.Context, address string) (g identity, ok bool) {
	const most = 64 << 10
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return g, false
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	line, err := bufio.NewReaderSize(c, most).ReadSlice('\n')
	if err != nil {
		return g, false
	}
	text, ok := strings.CutPrefix(string(line), "INFO ")
	if !ok || json.Unmarshal([]byte(text), &g) != nil || g.ID == "" {
		return g, false
	}
	return g, true
}
