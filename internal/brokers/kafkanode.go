package brokers

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// kafkaFraming is the room in a broker's limit of messages for the frame of a batch
// and for keys, bytes.
const kafkaFraming = 4 << 10

// deployKafka writes a cluster of nodes, each broker and controller in one.
//
// Each node has three listeners: for clients, with the encryption and login of o;
// for the other nodes; and for the controllers. The latter two are plain. All are
// on loopback.
func deployKafka(ctx context.Context, in Installation, o *Options) (*deployment, error) {
	if err := refuse(o.Settings, "listeners", "advertised.listeners", "process.roles", "node.id", "broker.id", "controller.quorum.*",
		"controller.listener.names", "inter.broker.listener.name", "zookeeper.connect", "port", "host.name", "advertised.port", "advertised.host.name"); err != nil {
		return nil, err
	}
	machine, own, err := newVirtualMachine("kafka", "libs", in, o)
	if err != nil {
		return nil, err
	}
	features := kafkaFeatures(own)
	if !since(in.Version, 3, 3) {
		if len(features) > 0 {
			return nil, fmt.Errorf("%w %s…: Kafka %s has no such features", ErrSetting, kafkaFeature, in.Version)
		}
		if o.account != nil {
			return nil, fmt.Errorf("version %s %w; 3.3 and later can", in.Version, ErrNotSecured)
		}
		return deployKafkaZooKeeper(machine, in, o, own)
	}
	checkpoint, err := kafkaCheckpoint(ctx, machine, in, o, features)
	if err != nil {
		return nil, err
	}
	ports, err := o.ports(3 * o.Nodes)
	if err != nil {
		return nil, err
	}
	places, err := o.places(o.Nodes)
	if err != nil {
		return nil, err
	}
	var clients, peers, controllers, voters []string
	for i, p := range places {
		clients, peers, controllers = append(clients, p.at(ports[3*i])), append(peers, p.at(ports[3*i+1])), append(controllers, p.at(ports[3*i+2]))
		voters = append(voters, fmt.Sprintf("%d@%s", i+1, controllers[i]))
	}
	d := &deployment{url: strings.Join(clients, ","), info: map[string]string{"internal": peers[0]}, roles: kafkaRoles(peers)}
	cluster := randomUUID()
	for i := range o.Nodes {
		name := fmt.Sprintf("kafka-%d", i+1)
		dir := filepath.Join(o.Dir, name)
		settings := kafkaDefaults(o.Nodes)
		maps.Copy(settings, map[string]string{
			"process.roles":                  "broker,controller",
			"node.id":                        strconv.Itoa(i + 1),
			"controller.quorum.voters":       strings.Join(voters, ","),
			"listeners":                      fmt.Sprintf("CLIENT://%s,PEER://%s,CONTROLLER://%s", clients[i], peers[i], controllers[i]),
			"advertised.listeners":           fmt.Sprintf("CLIENT://%s,PEER://%s", clients[i], peers[i]),
			"inter.broker.listener.name":     "PEER",
			"controller.listener.names":      "CONTROLLER",
			"listener.security.protocol.map": "CLIENT:" + kafkaSecurity(o) + ",PEER:PLAINTEXT,CONTROLLER:PLAINTEXT",
			"log.dirs":                       filepath.Join(dir, "data"),
		})
		if err := kafkaAccess(settings, o, dir); err != nil {
			return nil, err
		}
		kafkaLimits(settings, o)
		maps.Copy(settings, own)
		if err := kafkaStorage(settings["log.dirs"], cluster, i+1, checkpoint); err != nil {
			return nil, err
		}
		config := filepath.Join(dir, "server.properties")
		if err := writeProperties(config, settings); err != nil {
			return nil, err
		}
		d.nodes = append(d.nodes, process{name: name, place: places[i], command: machine.command("kafka.Kafka", config), env: o.Home.Environ, dir: dir,
			log: filepath.Join(dir, "kafka.log"), ready: listens(peers[i])})
	}
	// A port is open before the node knows the others, and before it may be
	// asked to make a topic.
	d.ready = func(ctx context.Context) error {
		for _, peer := range peers {
			if err := kafkaAnswers(ctx, peer, o.Nodes); err != nil {
				return err
			}
		}
		if o.account == nil {
			return nil
		}
		for _, peer := range peers {
			if err := kafkaAllow(ctx, peer, o.account); err != nil {
				return err
			}
		}
		return nil
	}
	return d, nil
}

// kafkaDefaults returns the settings in which a cluster for measurements differs from
// the product's defaults: it replicates to all nodes and starts quickly.
func kafkaDefaults(nodes int) map[string]string {
	replicas, insync := strconv.Itoa(nodes), strconv.Itoa(nodes/2+1)
	return map[string]string{
		"num.partitions":                                   "1",
		"default.replication.factor":                       replicas,
		"min.insync.replicas":                              insync,
		"offsets.topic.replication.factor":                 replicas,
		"offsets.topic.num.partitions":                     "5",
		"transaction.state.log.replication.factor":         replicas,
		"transaction.state.log.num.partitions":             "5",
		"transaction.state.log.min.isr":                    insync,
		"share.coordinator.state.topic.replication.factor": replicas,
		"share.coordinator.state.topic.num.partitions":     "5",
		"share.coordinator.state.topic.min.isr":            insync,
		"group.initial.rebalance.delay.ms":                 "0",
		"auto.create.topics.enable":                        "false", // a misspelt topic is to be an error
	}
}

func kafkaSecurity(o *Options) string {
	security := "PLAINTEXT"
	if o.TLS != nil {
		security = "SSL"
	}
	if o.User != "" || o.Password != "" {
		security = "SASL_" + security
	}
	return security
}

// kafkaAccess sets encryption and login of the listener for clients. It enables PLAIN
// and SCRAM; only PLAIN has a user until users of SCRAM are created.
func kafkaAccess(settings map[string]string, o *Options, dir string) error {
	if o.TLS != nil {
		pair := filepath.Join(dir, "server.pem")
		var text []byte
		for _, file := range []string{o.TLS.Key, o.TLS.Cert} {
			part, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			text = append(append(text, part...), '\n')
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(pair, text, 0o600); err != nil {
			return err
		}
		settings["listener.name.client.ssl.keystore.type"] = "PEM"
		settings["listener.name.client.ssl.keystore.location"] = pair
		if o.TLS.CA != "" {
			settings["listener.name.client.ssl.truststore.type"] = "PEM"
			settings["listener.name.client.ssl.truststore.location"] = o.TLS.CA
			settings["listener.name.client.ssl.client.auth"] = "required"
		}
	}
	if o.account != nil {
		kafkaAuthorize(settings, o)
	}
	if o.User == "" && o.Password == "" {
		return nil
	}
	if strings.ContainsAny(o.User+o.Password, "\"\\\r\n") || o.User == "" {
		return fmt.Errorf("kafka: the user needs a name, and name and password must not contain quotes or backslashes")
	}
	const prefix = "listener.name.client."
	settings["sasl.enabled.mechanisms"] = "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512"
	settings[prefix+"plain.sasl.jaas.config"] = "org.apache.kafka.common.security.plain.PlainLoginModule required" + kafkaUsers(o) + ";"
	for _, scram := range []string{"scram-sha-256", "scram-sha-512"} {
		settings[prefix+scram+".sasl.jaas.config"] = "org.apache.kafka.common.security.scram.ScramLoginModule required;"
	}
	return nil
}

// kafkaLimits lets messages of o.MaxMessage bytes through, to replicas as well.
func kafkaLimits(settings map[string]string, o *Options) {
	if o.MaxMessage == 0 {
		return
	}
	limit := o.MaxMessage + kafkaFraming
	settings["message.max.bytes"] = strconv.Itoa(limit)
	settings["replica.fetch.max.bytes"] = strconv.Itoa(max(limit, 1<<20))
	settings["socket.request.max.bytes"] = strconv.Itoa(max(limit+kafkaFraming, 100<<20))
}

// kafkaStorage prepares a node's directory as the product's own tool does. The tool
// would take a second or two for each node.
func kafkaStorage(dir, cluster string, node int, checkpoint []byte) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	text := fmt.Sprintf("version=1\ncluster.id=%s\nnode.id=%d\ndirectory.id=%s\n", cluster, node, randomUUID())
	if err := os.WriteFile(filepath.Join(dir, "meta.properties"), []byte(text), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "bootstrap.checkpoint"), checkpoint, 0o644)
}

// randomUUID returns 16 random bytes as Kafka writes them. It avoids a hyphen at the
// beginning, which Kafka may refuse.
func randomUUID() string {
	for {
		var b [16]byte
		rand.Read(b[:]) // never fails
		if s := base64.RawURLEncoding.EncodeToString(b[:]); s[0] != '-' {
			return s
		}
	}
}

// kafkaFeature begins the names of settings that are features of a new cluster, such as
// feature.eligible.leader.replicas.version: the product's tool takes them when it formats a
// directory.
const kafkaFeature = "feature."

// kafkaFeatures takes the features out of settings, and returns them as arguments.
func kafkaFeatures(settings map[string]string) (arguments []string) {
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		if feature, is := strings.CutPrefix(name, kafkaFeature); is {
			arguments = append(arguments, "--feature", feature+"="+settings[name])
			delete(settings, name)
		}
	}
	return arguments
}

// kafkaCheckpoint returns the file that tells a new cluster its features. Without features of
// its own it is the same for all clusters of a version, so the product's tool makes it once, and it is kept
// below the home.
func kafkaCheckpoint(ctx context.Context, vm virtualMachine, in Installation, o *Options, features []string) ([]byte, error) {
	const name = "bootstrap.checkpoint"
	kept := o.Home.Path("kafka-format", in.Version, name)
	if text, err := os.ReadFile(kept); len(features) == 0 && err == nil && len(text) > 0 {
		return text, nil
	}
	dir := filepath.Join(o.Dir, "format")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	config := filepath.Join(o.Dir, "format.properties")
	address := loopback(9) // never connected to
	if err := writeProperties(config, map[string]string{"process.roles": "broker,controller", "node.id": "1",
		"controller.quorum.voters": "1@" + address, "listeners": "CONTROLLER://" + address + ",PEER://" + loopback(10), "controller.listener.names": "CONTROLLER",
		"inter.broker.listener.name": "PEER", "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PEER:PLAINTEXT", "log.dirs": dir}); err != nil {
		return nil, err
	}
	if err := vm.run(ctx, o.Home.Environ, "kafka.tools.StorageTool", append([]string{"format", "-t", randomUUID(), "-c", config}, features...)...); err != nil {
		return nil, fmt.Errorf("format a storage directory: %w", err)
	}
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return nil, err
	}
	// If it cannot be kept, the next start makes it again.
	if len(features) == 0 && os.MkdirAll(filepath.Dir(kept), 0o755) == nil {
		if part := kept + "." + filepath.Base(o.Dir); os.WriteFile(part, text, 0o644) == nil {
			os.Rename(part, kept)
		}
	}
	return text, nil
}

func writeProperties(path string, settings map[string]string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		fmt.Fprintf(&text, "%s=%s\n", name, strings.ReplaceAll(settings[name], `\`, `\\`))
	}
	return os.WriteFile(path, []byte(text.String()), 0o600)
}
