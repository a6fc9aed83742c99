package resp

import (
	"context"
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

// Copies asks where a key is. Sentinels know replicas that are away, too; a cluster or a server itself does not tell of them.
func (s *Session) Copies(ctx context.Context, key string) (all Copies, err error) {
	if s.cluster != nil {
		s.cluster.suspect()
		at, err := s.cluster.owner(ctx, key)
		if err != nil {
			return all, err
		}
		all.Master = at.Address
		for _, address := range s.cluster.known.Load().replicas(at.Address) {
			all.Replicas = append(all.Replicas, Replica{Address: address})
		}
		return all, nil
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
