package brokers

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// RedisCluster is Redis Cluster: one master, three, or three with a replica each, which the other masters make a master
// when its own has failed.
func RedisCluster() Product {
	p := Redis()
	p.Name, p.Summary = "redis-cluster", "Redis Cluster: slots on three masters, of which six nodes make one replica each"
	p.Clusters, p.deploy = []int{1, 3, 6}, deployRedisCluster
	return p
}

const (
	redisSlots   = 1 << 14 // that a cluster divides among its masters
	redisMasters = 3       // among the nodes, at most; those after them are their replicas, in turn
)

func deployRedisCluster(_ context.Context, in Installation, o *Options) (*deployment, error) {
	if major, err := strconv.Atoi(strings.Split(in.Version, ".")[0]); err != nil || major < 7 {
		return nil, fmt.Errorf("%s is version %s, but before 7.0 the port of a cluster's bus cannot be chosen; install a later one", in.Path, in.Version)
	}
	if err := refuse(o.Settings, "daemonize", "supervised", "port", "bind", "replicaof", "slaveof", "tls-*", "cluster-enabled", "cluster-config-file",
		"cluster-port", "cluster-announce-*"); err != nil {
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
	own := redisPeerSettings(o)
	own["cluster-enabled"], own["cluster-allow-replica-migration"] = "yes", "no"
	own["cluster-node-timeout"] = "2000" // the product's default of 15 s would be longer than most runs
	asked := redisNodes{login: redisLogin(o)}
	if o.TLS != nil {
		over, err := encryptedReplicas(o)
		if err != nil {
			return nil, err
		}
		asked.over = over.client
		maps.Copy(own, over.settings)
		own["tls-cluster"] = "yes"
	}
	maps.Copy(own, o.Settings)
	members := redisMembers(places, ports)
	d := &deployment{info: map[string]string{}, settings: map[string]string{"cluster-node-timeout": own["cluster-node-timeout"]}}
	shards := since(in.Version, 7, 2) // 7.0 takes the rest of an address for the name of a host
	scheme := ""
	for k, m := range members {
		dir := filepath.Join(o.Dir, m.name)
		settings := maps.Clone(own)
		settings["cluster-port"] = strconv.Itoa(m.bus)
		// A server keeps in this file what it knows of the others. One that finds such a file need not be introduced to them.
		known := filepath.Join(dir, "nodes.conf")
		settings["cluster-config-file"] = redisQuote(known)
		node, at, err := redisNode(in, o, places[k], m.name, dir, m.port, settings)
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(known, []byte(redisNodesFile(members, k, shards)), 0o600); err != nil {
			return nil, err
		}
		scheme = at.scheme
		asked.addresses, asked.masters = append(asked.addresses, at.address), append(asked.masters, m.master)
		d.nodes = append(d.nodes, node)
		d.info["config "+m.name] = at.config
	}
	d.url = scheme + "+cluster://" + strings.Join(asked.addresses, ",")
	d.ready = asked.ready
	d.roles = asked.roles()
	return d, nil
}

// redisMember is a node of a cluster, as the others know it.
type redisMember struct {
	name, id, ip string
	shard        string // the identifier of a master and its replicas
	port, bus    int
	master       int // its number; its own: it is one
}

// redisMembers numbers the masters first. The ports of the bus come after those for clients.
func redisMembers(places []place, ports []int) (all []redisMember) {
	masters := min(len(places), redisMasters)
	for k, at := range places {
		m := redisMember{name: fmt.Sprintf("redis-%d", k+1), id: redisID(), ip: at.ip(), shard: redisID(),
			port: ports[k], bus: ports[len(places)+k], master: k % masters}
		if m.master != k {
			m.shard = all[m.master].shard
		}
		all = append(all, m)
	}
	return all
}

// redisID makes an identifier as a cluster has them.
func redisID() string {
	var id [20]byte
	rand.Read(id[:])
	return hex.EncodeToString(id[:])
}

// redisNodesFile is what the node with the number knows of the cluster, in the format of CLUSTER NODES, from 7.2 on with shards:
// a Valkey that does not know them ends with the first message to a sharded channel.
func redisNodesFile(all []redisMember, own int, shards bool) string {
	var b strings.Builder
	masters := min(len(all), redisMasters)
	for k, m := range all {
		flags, master := "master", "-"
		if m.master != k {
			flags, master = "slave", all[m.master].id
		}
		if k == own {
			flags = "myself," + flags
		}
		more := ""
		if shards {
			more = ",,shard-id=" + m.shard
		}
		fmt.Fprintf(&b, "%s %s:%d@%d%s %s %s 0 0 %d connected", m.id, m.ip, m.port, m.bus, more, flags, master, m.master+1)
		if m.master == k {
			fmt.Fprintf(&b, " %d-%d", redisSlots*k/masters, redisSlots*(k+1)/masters-1)
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "vars currentEpoch %d lastVoteEpoch 0\n", masters)
	return b.String()
}
