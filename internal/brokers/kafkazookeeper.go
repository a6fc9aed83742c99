package brokers

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"strconv"
	"strings"
)

// deployKafkaZooKeeper writes a cluster of a version that keeps its state in
// ZooKeeper, which runs beside it from the same jars. Such clusters are for tests of
// the old protocol: they have neither encryption nor login here.
func deployKafkaZooKeeper(vm virtualMachine, in Installation, o *Options, own map[string]string) (*deployment, error) {
	if o.TLS != nil || o.User != "" || o.Password != "" {
		return nil, fmt.Errorf("kafka %s: encryption and login need version 3.3 or later", in.Version)
	}
	ports, err := o.ports(o.Nodes + 1)
	if err != nil {
		return nil, err
	}
	places, err := o.places(o.Nodes + 1)
	if err != nil {
		return nil, err
	}
	brokers, home := ports[:o.Nodes], places[o.Nodes]
	keeper := home.at(ports[o.Nodes])
	dir := filepath.Join(o.Dir, "zookeeper")
	config := filepath.Join(dir, "zookeeper.properties")
	if err := writeProperties(config, map[string]string{"dataDir": filepath.Join(dir, "data"), "clientPort": strconv.Itoa(ports[o.Nodes]),
		"clientPortAddress": home.ip(), "maxClientCnxns": "0", "tickTime": "500", "admin.enableServer": "false"}); err != nil {
		return nil, err
	}
	small := vm
	small.heap = "64m"
	d := &deployment{info: map[string]string{"zookeeper": keeper},
		helpers: []process{{name: "zookeeper", place: home, command: small.command("org.apache.zookeeper.server.quorum.QuorumPeerMain", config),
			env: o.Home.Environ, dir: dir, log: filepath.Join(dir, "zookeeper.log"), ready: listens(keeper)}}}
	// Before 0.9 a broker knows only the brokers that lead a partition, at first none.
	known, all := 1, o.Nodes
	if !since(in.Version, 0, 9) {
		known, all = 0, 0
	}
	var urls []string
	for i, port := range brokers {
		address := places[i].at(port)
		urls = append(urls, address)
		name := fmt.Sprintf("kafka-%d", i+1)
		dir := filepath.Join(o.Dir, name)
		settings := kafkaDefaults(o.Nodes)
		maps.Copy(settings, map[string]string{
			"broker.id": strconv.Itoa(i + 1), "zookeeper.connect": keeper, "log.dirs": filepath.Join(dir, "data"),
			// A killed broker counts as alive until this time has passed.
			"zookeeper.session.timeout.ms": "2000",
			// Before 0.10.1 topics cannot be created without it.
			"auto.create.topics.enable": "true",
		})
		if since(in.Version, 0, 9) {
			settings["listeners"] = "PLAINTEXT://" + address
		} else {
			settings["host.name"], settings["port"] = places[i].ip(), strconv.Itoa(port)
		}
		kafkaLimits(settings, o)
		maps.Copy(settings, own)
		file := filepath.Join(dir, "server.properties")
		if err := writeProperties(file, settings); err != nil {
			return nil, err
		}
		d.nodes = append(d.nodes, process{name: name, place: places[i], command: vm.command("kafka.Kafka", file), env: o.Home.Environ, dir: dir,
			log: filepath.Join(dir, "kafka.log"), again: stillRegistered,
			ready: func(ctx context.Context) error { return kafkaAnswers(ctx, address, known) }})
	}
	d.url = strings.Join(urls, ",")
	d.ready = func(ctx context.Context) error {
		for _, address := range urls {
			if err := kafkaAnswers(ctx, address, all); err != nil {
				return err
			}
		}
		return nil
	}
	return d, nil
}

// stillRegistered reports whether a broker did not start because ZooKeeper still has the
// session of its killed predecessor. From 0.9 on a broker gives up in that case; older ones
// wait.
func stillRegistered(err error) bool {
	return strings.Contains(err.Error(), "already registered") || strings.Contains(err.Error(), "NodeExists")
}
