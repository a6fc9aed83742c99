package resp

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/gomodule/redigo/redis"

	"sixnines/drivers/internal/kit"
)

// Copies are the servers that have what the session's server has.
type Copies struct {
	Master   string    // its address
	Replicas []Replica // by their addresses
}

// Replica is a server that copies a master.
type Replica struct {
	Address string
	Away    bool // Sentinels do not reach it
}

// Copies asks where a key is. Sentinels and servers of a cluster know replicas that are away, too; a server itself does not.
func (s *Session) Copies(ctx context.Context, key string) (all Copies, err error) {
	if s.cluster != nil {
		return s.clusterCopies(ctx, key)
	}
	if s.master == "" {
		info, err := s.Control.Info(ctx)
		if err != nil {
			return all, err
		}
		all.Master = s.Servers[0].Address
		for i := 0; ; i++ {
			line, ok := info["slave"+strconv.Itoa(i)]
			if !ok {
				return all, nil
			}
			words := map[string]string{}
			for word := range strings.SplitSeq(line, ",") {
				name, value, _ := strings.Cut(word, "=")
				words[name] = value
			}
			all.Replicas = append(all.Replicas, Replica{Address: net.JoinHostPort(words["ip"], words["port"])})
		}
	}
	master, err := s.askSentinels(ctx)
	if err != nil {
		return all, err
	}
	all.Master = master.Address
	all.Replicas, err = sentinel(ctx, s.Client, func(c redis.Conn) (found []Replica, err error) {
		reply, err := redis.Values(c.Do("SENTINEL", "REPLICAS", s.master))
		for _, x := range reply {
			words, err := redis.StringMap(x, nil)
			if err != nil {
				return nil, err
			}
			if at := net.JoinHostPort(words["ip"], words["port"]); at != all.Master { // which they take some time to notice
				flags := strings.Split(words["flags"], ",")
				found = append(found, Replica{at, slices.Contains(flags, "s_down") || slices.Contains(flags, "disconnected")})
			}
		}
		return found, Explain(err)
	})
	return all, err
}

// clusterCopies asks the master of a key for its replicas: https://redis.io/docs/latest/commands/cluster-nodes/.
func (s *Session) clusterCopies(ctx context.Context, key string) (all Copies, err error) {
	s.cluster.suspect()
	at, err := s.cluster.owner(ctx, key)
	if err != nil {
		return all, err
	}
	all.Master = at.Address
	c, err := s.controlAt(at.Address)
	if err != nil {
		return all, err
	}
	text, err := redis.String(c.Do(ctx, "CLUSTER", "NODES"))
	if err != nil {
		return all, err
	}
	all.Replicas, err = replicasIn(text, at.Address)
	return all, err
}

// replicasIn returns the replicas of the server that has said this of its cluster.
func replicasIn(text, from string) (all []Replica, err error) {
	own := ""
	byMaster := map[string][]Replica{}
	for line := range strings.Lines(text) {
		words := strings.Fields(line) // the identifier, the address, flags, the master's identifier, …
		if len(words) < 8 {
			return nil, fmt.Errorf("%w: %.80q is not a server of a cluster", ErrProtocol, line)
		}
		flags := strings.Split(words[2], ",")
		if slices.Contains(flags, "myself") {
			own = words[0]
		}
		address, _, _ := strings.Cut(words[1], "@") // and the port of the cluster's bus, and a name
		i := strings.LastIndexByte(address, ':')
		if i < 0 || !slices.Contains(flags, "slave") {
			continue
		}
		byMaster[words[3]] = append(byMaster[words[3]], Replica{addressOf(address[:i], address[i+1:], from),
			slices.Contains(flags, "fail") || slices.Contains(flags, "fail?") || words[7] != "connected"})
	}
	return byMaster[own], nil
}

// At connects to one of the Copies. To end what it does early, close it.
func (s *Session) At(ctx context.Context, address string) (c *Conn, err error) {
	err = s.Await(ctx, "connect to "+address, func() error {
		c, err = connectTo(ctx, s.Client, []kit.Server{s.serverAt(address)}, string(kit.Control), func(c *Conn) (*Conn, error) {
			if s.cluster == nil {
				return c, nil
			}
			_, err := c.Do("READONLY") // else a replica refers to its master
			return c, Explain(err)
		})
		return err
	})
	return c, err
}
