package brokers

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// redisNodes are the servers of a cluster, to be asked about each other.
type redisNodes struct {
	addresses []string // by number
	masters   []int    // by number, the first master of each node; they and their replicas replace each other
	over      *tls.Config
	login     []string // the command; nil: there is no login
}

func (r redisNodes) ask(ctx context.Context, node int, words ...string) ([]string, error) {
	return askRedisAs(ctx, r.addresses[node], r.over, r.login, words...)
}

// ready returns nil if all nodes say that the cluster is whole, agree on its masters, and replicas follow theirs.
func (r redisNodes) ready(ctx context.Context) error {
	agreed := ""
	for k, address := range r.addresses {
		info, err := r.ask(ctx, k, "CLUSTER", "INFO")
		if err != nil {
			return err
		}
		if !redisSays(info, "cluster_state:ok") || !redisSays(info, "cluster_known_nodes:"+strconv.Itoa(len(r.addresses))) {
			return fmt.Errorf("the server at %s does not count the cluster as whole yet", address)
		}
		all, err := r.view(ctx, k)
		if err != nil {
			return err
		}
		slices.SortFunc(all, func(a, b redisView) int { return cmp.Compare(a.node, b.node) })
		says := ""
		for _, v := range all {
			if v.node < 0 || v.down || v.apart {
				return fmt.Errorf("the server at %s does not reach all others yet", address)
			}
			says += fmt.Sprintln(v.node, v.master, v.slots)
		}
		if agreed == "" {
			agreed = says
		}
		if says != agreed {
			return fmt.Errorf("the server at %s knows other masters than the first one", address)
		}
		if role, err := r.ask(ctx, k, "ROLE"); err != nil {
			return err
		} else if role[0] != "master" && (len(role) < 4 || role[3] != "connected") {
			return fmt.Errorf("the replica at %s does not follow its master yet", address)
		}
	}
	return nil
}

// redisSays reports whether an answer of many lines has the line.
func redisSays(answer []string, line string) bool {
	return slices.Contains(strings.Fields(strings.Join(answer, "\n")), line)
}

// redisView is what a server knows of one of the cluster's.
type redisView struct {
	node   int    // its number; -1: not one of ours
	master string // the master's identifier; "-": it is one
	down   bool   // it has failed, as far as the masters agree, or has no address
	apart  bool   // it is not connected
	epoch  int64  // of its slots: the latest claim holds
	slots  []string
}

// view is what a server says of the cluster: https://redis.io/docs/latest/commands/cluster-nodes/.
func (r redisNodes) view(ctx context.Context, node int) (all []redisView, err error) {
	said, err := r.ask(ctx, node, "CLUSTER", "NODES")
	for line := range strings.Lines(strings.Join(said, "\n")) {
		words := strings.Fields(line)
		if len(words) < 8 {
			return nil, fmt.Errorf("%.80q is not a node of a Redis cluster", line)
		}
		address, _, _ := strings.Cut(words[1], "@")
		flags := strings.Split(words[2], ",")
		v := redisView{node: slices.Index(r.addresses, address), master: words[3], apart: words[7] != "connected", slots: words[8:],
			down: slices.Contains(flags, "fail") || slices.Contains(flags, "noaddr")}
		if slices.Contains(flags, "myself") {
			v.node = node
		}
		if v.epoch, err = strconv.ParseInt(words[6], 10, 64); err != nil {
			return nil, fmt.Errorf("%.80q has no epoch", line)
		}
		all = append(all, v)
	}
	return all, err
}

// has reports whether the server has the slot.
func (v redisView) has(slot int) bool {
	return slices.ContainsFunc(v.slots, func(text string) bool {
		from, to, ranges := strings.Cut(text, "-")
		if !ranges {
			to = from
		}
		low, err := strconv.Atoi(from)
		high, err2 := strconv.Atoi(to)
		return err == nil && err2 == nil && low <= slot && slot <= high
	})
}

// placement asks all running nodes who has the slot of a key, since one that was away may not know yet: the latest claim holds.
func (r redisNodes) placement(ctx context.Context, running []int, key string) (Placement, error) {
	answers := make([]Placement, len(running))
	epochs := make([]int64, len(running))
	errs := make([]error, len(running))
	var asking sync.WaitGroup
	for i, k := range running {
		asking.Go(func() { answers[i], epochs[i], errs[i] = r.claim(ctx, k, key) })
	}
	asking.Wait()
	best := -1
	for i := range running {
		if errs[i] == nil && (best < 0 || epochs[i] > epochs[best]) {
			best = i
		}
	}
	if best < 0 {
		return Placement{}, errors.Join(errs...)
	}
	return answers[best], nil
}

// claim is where a node takes the slot of a key to be, and since which epoch.
func (r redisNodes) claim(ctx context.Context, node int, key string) (p Placement, epoch int64, err error) {
	said, err := r.ask(ctx, node, "CLUSTER", "KEYSLOT", key)
	if err != nil {
		return p, 0, err
	}
	slot, err := strconv.Atoi(said[0])
	if err != nil {
		return p, 0, err
	}
	all, err := r.view(ctx, node)
	if err != nil {
		return p, 0, err
	}
	i := slices.IndexFunc(all, func(v redisView) bool { return v.has(slot) })
	switch {
	case i < 0, all[i].down:
		return p, 0, fmt.Errorf("%w: slot %d of %q has no master", ErrNoLeader, slot, key)
	case all[i].node < 0:
		return p, 0, fmt.Errorf("no node is the master of slot %d", slot)
	}
	p.Leader = all[i].node
	for k, master := range r.masters { // a former master does not count as a replica before it is back
		if k != p.Leader && master == r.masters[p.Leader] {
			p.Followers = append(p.Followers, k)
		}
	}
	return p, all[i].epoch, nil
}

func (r redisNodes) roles() roles {
	return roles{
		placement: func(ctx context.Context, running []int, d Destination) (Placement, error) {
			return r.placement(ctx, running, d.Name)
		},
		transfer: func(ctx context.Context, running []int, _ Destination, p Placement) error {
			i := slices.IndexFunc(p.Followers, func(k int) bool { return slices.Contains(running, k) })
			if i < 0 {
				return fmt.Errorf("%w: no replica of the master is running", ErrNoTransfer)
			}
			_, err := r.ask(ctx, p.Followers[i], "CLUSTER", "FAILOVER")
			return err
		},
	}
}
