package resp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gomodule/redigo/redis"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// cluster knows which server of a cluster has which slot. It asks one of them, first those of the URL, and looks again when
// a connection was lost, when a server says that a slot has moved, and every lookEvery.
type cluster struct {
	client *Client
	// turn is a lock: it holds a token while nobody asks. It guards asked.
	turn      chan struct{}
	asked     *Conn // the connection by which servers were last asked; nil: not yet
	known     atomic.Pointer[view]
	suspected atomic.Int64 // when what is known was last in doubt, in nanoseconds since begun
	begun     time.Time
}

func newCluster(cl *Client) *cluster {
	c := &cluster{client: cl, turn: make(chan struct{}, 1), begun: time.Now()}
	c.turn <- struct{}{}
	return c
}

const (
	// lookEvery is how often a server is asked who is a master. Masters that hang or are cut off keep their connections
	// open, and only the others can tell that they have been replaced.
	lookEvery = 500 * time.Millisecond
	// answersIn is how long a server may take to tell of its cluster, before another one is asked.
	answersIn = time.Second
)

// view is the cluster as a server has described it. It does not change.
type view struct {
	epoch  int64 // of the cluster: a server that was away has an older one than the others
	whole  bool  // the server takes the cluster for whole
	asked  int64 // when it was asked, as of cluster.suspected
	shards []shard
	moved  map[int]string // by slot, where servers have said since that it is
}

// shard is a range of slots with the servers that have them.
type shard struct {
	first, last int
	master      string
	replicas    []string
}

// owner returns the address of the server that has a slot; empty: none has.
func (v *view) owner(slot int) string {
	if address, ok := v.moved[slot]; ok {
		return address
	}
	for _, s := range v.shards {
		if s.first <= slot && slot <= s.last {
			return s.master
		}
	}
	return ""
}

// masters returns the addresses of all servers that have slots, in order.
func (v *view) masters() (all []string) {
	for _, s := range v.shards {
		all = append(all, s.master)
	}
	for _, address := range v.moved {
		all = append(all, address)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// replicas returns those of the server with an address.
func (v *view) replicas(master string) []string {
	i := slices.IndexFunc(v.shards, func(s shard) bool { return s.master == master })
	if i < 0 {
		return nil
	}
	return slices.Sorted(slices.Values(v.shards[i].replicas))
}

// suspect has the next connection ask again who has what.
func (c *cluster) suspect() { c.suspected.Store(int64(time.Since(c.begun))) }

// note keeps what a server has said of a slot until the next look.
func (c *cluster) note(r redirection) {
	for {
		before := c.known.Load()
		if before == nil || before.owner(r.slot) == r.address {
			return
		}
		after := *before
		after.moved = maps.Clone(before.moved)
		if after.moved == nil {
			after.moved = map[int]string{}
		}
		after.moved[r.slot] = r.address
		if c.known.CompareAndSwap(before, &after) {
			return
		}
	}
}

// view returns what is known, and asks first where that is in doubt.
func (c *cluster) view(ctx context.Context) (*view, error) {
	if v := c.known.Load(); v != nil && v.asked >= c.suspected.Load() {
		return v, nil
	}
	return c.look(ctx)
}

// owner returns the server that has the slot of a key or channel.
func (c *cluster) owner(ctx context.Context, key string) (kit.Server, error) {
	v, err := c.view(ctx)
	if err != nil {
		return kit.Server{}, err
	}
	slot := slotOf(key)
	at := v.owner(slot)
	if at == "" {
		c.suspect()
		return kit.Server{}, fmt.Errorf("%s: %w: no server of the cluster has slot %d, which is that of %q", c.client.Driver, driver.ErrNotConnected, slot, key)
	}
	return c.client.serverAt(at), nil
}

// servers are those that may be asked: masters first, and those of the URL last.
func (c *cluster) servers() (all []kit.Server) {
	add := func(s kit.Server) {
		if !slices.ContainsFunc(all, func(other kit.Server) bool { return other.Address == s.Address }) {
			all = append(all, s)
		}
	}
	if v := c.known.Load(); v != nil {
		for _, at := range v.masters() {
			add(c.client.serverAt(at))
		}
		for _, s := range v.shards {
			for _, at := range s.replicas {
				add(c.client.serverAt(at))
			}
		}
	}
	for _, s := range c.client.Servers {
		add(s)
	}
	return all
}

// look asks servers, one after the other, until one takes the cluster for whole and knows it as well as those before. If none
// does, the best answer counts.
func (c *cluster) look(ctx context.Context) (*view, error) {
	wanted := c.suspected.Load()
	select {
	case <-c.turn:
		defer func() { c.turn <- struct{}{} }()
	case <-ctx.Done():
		return nil, ended(ctx)
	}
	known := c.known.Load()
	if known != nil && known.asked > wanted { // somebody else has asked meanwhile
		return known, nil
	}
	var best *view
	var errs []error
	try := func(v *view, err error) (done bool) {
		switch {
		case err != nil:
			errs = append(errs, err)
		case known != nil && v.epoch < known.epoch:
			errs = append(errs, fmt.Errorf("%w: a server of the cluster does not know its latest masters", driver.ErrNotConnected))
		case best == nil || v.epoch > best.epoch || v.epoch == best.epoch && v.whole && !best.whole:
			best = v
		}
		return best != nil && best.whole
	}
	found := c.asked != nil && try(c.ask(ctx, c.asked))
	for _, s := range c.servers() {
		if found || ctx.Err() != nil {
			break
		}
		c.leave()
		how := kit.Connecting{Timeout: min(answersIn, c.client.Options.ConnectTimeout), Hint: serverHint}
		var err error
		if c.asked, err = connectIn(driver.WithRole(ctx, kit.Control), c.client, []kit.Server{s}, string(kit.Control), how, alone); err != nil {
			c.asked = nil
			try(nil, err)
			continue
		}
		found = try(c.ask(ctx, c.asked))
	}
	if best == nil && ctx.Err() != nil {
		return nil, ended(ctx)
	}
	if best == nil {
		return nil, errors.Join(errs...)
	}
	c.known.Store(best)
	c.client.masters.only(best.masters(), "the cluster has made another server the master in place of %s")
	return best, nil
}

// leave closes the connection by which servers were last asked.
func (c *cluster) leave() {
	if c.asked != nil {
		c.asked.Close()
		c.asked = nil
	}
}

// ask asks a server about its cluster: https://redis.io/docs/latest/commands/cluster-slots/, cluster-info.
func (c *cluster) ask(ctx context.Context, conn *Conn) (*view, error) {
	ctx, cancel := context.WithTimeout(ctx, answersIn)
	defer cancel()
	used := conn
	defer context.AfterFunc(ctx, func() { used.Close() })()
	v := &view{asked: int64(time.Since(c.begun))}
	text, err := redis.String(conn.Do("CLUSTER", "INFO"))
	if err != nil {
		return nil, c.client.Wrap(Explain(err), "ask %s about its cluster", conn.To.Address)
	}
	for line := range strings.Lines(text) {
		switch name, value, _ := strings.Cut(strings.TrimSpace(line), ":"); name {
		case "cluster_state":
			v.whole = value == "ok"
		case "cluster_current_epoch":
			v.epoch, _ = strconv.ParseInt(value, 10, 64) // 0, which is not known, if it is no number
		}
	}
	all, err := redis.Values(conn.Do("CLUSTER", "SLOTS"))
	if err != nil {
		return nil, c.client.Wrap(Explain(err), "ask %s for its slots", conn.To.Address)
	}
	for _, reply := range all {
		s, err := shardOf(reply, conn.To.Address)
		if err != nil {
			return nil, c.client.Wrap(err, "ask %s for its slots", conn.To.Address)
		}
		v.shards = append(v.shards, s)
	}
	slices.SortFunc(v.shards, func(a, b shard) int { return cmp.Compare(a.first, b.first) })
	return v, nil
}

// shardOf reads one of the answers to CLUSTER SLOTS: the first and the last slot, the master, and its replicas. Of a server
// there are its host, its port, and more.
func shardOf(reply any, from string) (s shard, err error) {
	parts, err := redis.Values(reply, nil)
	if err != nil || len(parts) < 3 {
		return s, fmt.Errorf("%w: a range of slots of %d parts", ErrProtocol, len(parts))
	}
	first, err1 := redis.Int(parts[0], nil)
	last, err2 := redis.Int(parts[1], nil)
	if err := errors.Join(err1, err2); err != nil || first < 0 || last >= slots || first > last {
		return s, fmt.Errorf("%w: slots from %d to %d", ErrProtocol, first, last)
	}
	s.first, s.last = first, last
	for i, part := range parts[2:] {
		about, err := redis.Values(part, nil)
		if err != nil || len(about) < 2 {
			return s, fmt.Errorf("%w: a server of a cluster without its port", ErrProtocol)
		}
		host, _ := about[0].([]byte) // null: that of the server which was asked
		port, err := redis.Int(about[1], nil)
		if err != nil {
			return s, fmt.Errorf("%w: a server of a cluster without its port", ErrProtocol)
		}
		at := addressOf(string(host), strconv.Itoa(port), from)
		if i == 0 {
			s.master = at
		} else {
			s.replicas = append(s.replicas, at)
		}
	}
	return s, nil
}

// watchCluster looks now and then who is a master, until the session ends.
func (cl *Client) watchCluster() {
	if cl.cluster == nil {
		return
	}
	cl.watching.Go(func() {
		tick := time.NewTicker(lookEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				cl.cluster.suspect()
				_, _ = cl.cluster.look(cl.Life) // who connects asks again, and is told the error
			case <-cl.Life.Done():
				<-cl.cluster.turn
				cl.cluster.leave()
				cl.cluster.turn <- struct{}{}
				return
			}
		}
	})
}
