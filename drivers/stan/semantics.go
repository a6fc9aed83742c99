package stan

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	client "github.com/nats-io/stan.go"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/semantics"
)

// describe is what the session talks to, as the NATS server and the monitoring say.
func (s *session) describe(told server) driver.Server {
	below := s.wire.Server("nats")
	d := driver.Server{Product: "nats-streaming-server", Protocol: "nats streaming", More: map[string]string{
		"cluster": s.options.ClusterID, "nats_version": below.Version, "address": below.More["address"],
	}}
	if told.known {
		d.Version = told.Version
		d.More["id"], d.More["state"], d.More["go"] = told.ID, told.State, told.Go
		if told.Role != "" {
			d.More["role"] = told.Role
		}
	}
	return d
}

// semantics reports the settings in effect, as far as the server tells.
func (s *session) semantics(told server) driver.Semantics {
	o := s.options
	transport, encrypted := s.wire.Transport()
	sem := driver.Semantics{
		Levels: semantics.Levels{Durability: semantics.NotKnown, Replication: semantics.Replication{Level: semantics.NotKnown},
			Ordering: semantics.PerTopic, Delivery: semantics.AtMostOnce},
		Client:         semantics.Client{Kind: semantics.Library, Name: "stan.go", Version: client.Version},
		Server:         s.describe(told),
		Durability:     "not known: option http_url was not given to ask the server's monitoring",
		Replication:    "not known, as durability",
		Acknowledgment: "the server's store has taken the message",
		Redelivery:     o.AckWait,
		Ordering:       "per producer and topic; what is delivered again comes later",
		Delivery:       "at least once while connected; a group whose members were all away begins with new messages",
		Batching:       s.wire.Batching(),
		Consumption:    fmt.Sprintf("push, up to %d messages ahead of acknowledgements; each acknowledged after it was delivered, unless the scenario says every n", o.MaxInflight),
		Transport:      transport,
		Encrypted:      encrypted,
		Settings:       kit.Settings(&o, "max_pub_acks_inflight", "ack_timeout", "max_inflight", "ack_wait", "durable", "cluster_id", "ping_interval", "max_pings_outstanding"),
		Warnings:       append(s.wire.Warnings(), fmt.Sprintf("stan.go drops an acknowledgement that comes after %v (ack_timeout), so that its message counts as unknown, and what it cannot read", o.AckTimeout)),
	}
	sem.Settings["wire"] = "nats.go " + nats.Version
	if o.Durable {
		sem.Levels.Delivery = semantics.AtLeastOnce
		sem.Delivery = "at least once"
	}
	wire := s.wire.Settings()
	for _, name := range []string{"write_buffer", "max_payload", "servers", "reconnect_wait", "reconnect_buffer", "pending_limits", "authentication"} {
		sem.Settings[name] = wire[name]
	}
	if told.known {
		told.store.describe(&sem, told.State == "CLUSTERED")
	}
	return sem
}

// describe adds what the monitoring tells.
func (st store) describe(sem *driver.Semantics, clustered bool) {
	l := st.Limits
	sem.Settings["store"] = strings.ToLower(st.Type)
	for name, n := range map[string]int64{"max_channels": l.Channels, "max_msgs": l.Messages, "max_bytes": l.Bytes, "max_age": l.Age, "max_inactivity": l.Inactivity} {
		switch {
		case n <= 0:
			sem.Settings[name] = "none"
		case name == "max_age" || name == "max_inactivity":
			sem.Settings[name] = time.Duration(n).String()
		default:
			sem.Settings[name] = strconv.FormatInt(n, 10)
		}
	}
	sem.Replication, sem.Levels.Replication.Level = "none", semantics.OneCopy
	if clustered {
		sem.Levels.Replication.Level = semantics.Synchronous
		sem.Replication = "clustered, majority"
	}
	switch kind := strings.TrimPrefix(sem.Settings["store"], "raft_"); {
	case kind == "memory":
		sem.Levels.Durability = semantics.Memory
		sem.Durability = "memory"
	case kind == "file":
		sem.Durability = "file store; flushed before it is acknowledged, and synced unless the server was started with file_sync off, which it does not tell"
	default:
		sem.Durability = kind + " store"
	}
	if l.Messages > 0 || l.Bytes > 0 || l.Age > 0 {
		sem.Warnings = append(sem.Warnings, fmt.Sprintf("a channel holds up to %s messages, %s bytes, %s of age, and discards the oldest beyond, whether consumed or not",
			sem.Settings["max_msgs"], sem.Settings["max_bytes"], sem.Settings["max_age"]))
	}
}
