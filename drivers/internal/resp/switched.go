package resp

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gomodule/redigo/redis"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// masters are the servers to which connections were made since Sentinels, or servers of a cluster, named them as a master.
// Each has a context that ends when another one is: a server that is frozen or cut off keeps its connections open, and they
// carry nothing.
type masters struct {
	mu  sync.Mutex
	all map[string]master // by address
}

// master is as long as a server is one, as far as others have said.
type master struct {
	ctx context.Context
	end context.CancelCauseFunc
	// awaited says that the server is to get slots of its cluster, and may have none yet: until it has, it is not
	// among those that others name.
	awaited bool
}

// at returns the context of the master at an address, which ends with life at the latest.
func (m *masters) at(life context.Context, address string) context.Context {
	return m.note(life, address, false).ctx
}

// await notes a server that is to get slots.
func (m *masters) await(life context.Context, address string) { m.note(life, address, true) }

// note notes a server that was named, unless it is known already.
func (m *masters) note(life context.Context, address string, awaited bool) master {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.all == nil {
		m.all = map[string]master{}
	}
	named, is := m.all[address]
	if !is {
		named.ctx, named.end = context.WithCancelCause(life)
		named.awaited = awaited
		m.all[address] = named
	}
	return named
}

// only ends all others than the masters at the addresses, because of why. A verb in that stands for the server's own address.
func (m *masters) only(addresses []string, why string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for other, named := range m.all {
		switch is := slices.Contains(addresses, other); {
		case is && named.awaited:
			named.awaited = false
			m.all[other] = named
		case !is && !named.awaited:
			named.end(fmt.Errorf("%w: "+why, driver.ErrNotConnected, other))
			delete(m.all, other)
		}
	}
}

// watchSentinels has each Sentinel tell of a new master, until the session ends. One that is cut off with a former master does
// not know of it, so all are asked.
func (cl *Client) watchSentinels() {
	if cl.master == "" {
		return
	}
	for _, s := range cl.Servers {
		cl.watching.Go(func() {
			for pause := cl.Options.ReconnectWait; cl.Life.Err() == nil; pause = min(2*pause, longestPause) {
				if cl.watch(s) {
					pause = cl.Options.ReconnectWait
				}
				select {
				case <-time.After(pause):
				case <-cl.Life.Done():
				}
			}
		})
	}
}

// longestPause is between two attempts to reach a Sentinel.
const longestPause = time.Second

// watch reads what a Sentinel tells until the connection ends, and reports whether there was one. That it cannot be had is not
// told: who connects asks the Sentinels as well.
func (cl *Client) watch(s kit.Server) (connected bool) {
	how := kit.Connecting{Timeout: cl.Options.ConnectTimeout}
	told, err := kit.Connect(driver.WithRole(cl.Life, kit.Control), cl.Base, []kit.Server{s}, how, func(_ context.Context, raw kit.Conn) (redis.PubSubConn, error) {
		at, err := cl.logInToSentinel(raw)
		if err != nil {
			return redis.PubSubConn{}, err
		}
		c := redis.PubSubConn{Conn: at}
		return c, c.Subscribe("+switch-master")
	})
	if err != nil {
		return false
	}
	defer context.AfterFunc(cl.Life, func() { told.Conn.Close() })()
	defer told.Conn.Close()
	for {
		switch x := told.Receive().(type) {
		case error:
			return true
		case redis.Message: // the name, the former address and port, and the new ones
			if words := strings.Fields(string(x.Data)); len(words) == 5 && words[0] == cl.master {
				cl.masters.only([]string{net.JoinHostPort(words[3], words[4])}, "the Sentinels have made another server the master in place of %s")
			}
		}
	}
}
