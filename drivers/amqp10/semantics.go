package amqp10

import (
	"crypto/tls"
	"fmt"
	"maps"
	"strings"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/semantics"
)

// semantics reports the settings in effect.
func (s *session) semantics() driver.Semantics {
	o := &s.options
	routing := "multicast"
	if s.isAnycast() {
		routing = anycast
	}
	transport, server, encrypted := "tcp", s.Servers[0].Address, false
	if c := s.control.Live(); c != nil {
		if server = c.below.RemoteAddr().String(); c.below.TLS != nil {
			encrypted = true
			transport += ", " + strings.ToLower(tls.VersionName(c.below.TLS.Version))
		}
	}
	sem := driver.Semantics{
		Levels: semantics.Levels{Durability: semantics.Memory, Replication: semantics.Replication{Level: semantics.NotKnown},
			Ordering: semantics.PerTopic, Delivery: semantics.AtLeastOnce},
		Client:         kit.Library("go-amqp", "github.com/Azure/go-amqp"),
		Server:         kit.Identify("AMQP 1.0", s.server),
		Refusals:       s.refusals(),
		Durability:     "memory",
		Replication:    "none that the driver asks for",
		Acknowledgment: "accepted: the broker has taken the message",
		Ordering:       "per producer and topic",
		Delivery:       "at least once",
		Batching:       "none, the library writes each message by itself, on a goroutine of the connection",
		Consumption:    fmt.Sprintf("push, %d messages ahead, each is accepted", o.Credit),
		Transport:      transport,
		Encrypted:      encrypted,
		Settings:       kit.Settings(o, "settled", "durable", "credit", "ack_every", "login", "idle_timeout", "frame_max", "reconnect_wait"),
	}
	maps.Copy(sem.Settings, map[string]string{
		"outcomes":          "waited for in the order of sending",
		"routing":           routing,
		"reconnect_buffer":  "none, sends fail while disconnected",
		"connection_server": server,
	})
	if o.Durable {
		sem.Levels.Durability = semantics.Synced
		sem.Durability = "disk, before a message is accepted"
		sem.Acknowledgment += ", and has it on disk"
	}
	switch {
	case o.AckEvery == 0:
		sem.Consumption = fmt.Sprintf("push, %d messages ahead, sent settled unless the run says otherwise", o.Credit)
	case o.AckEvery > 1:
		sem.Consumption = fmt.Sprintf("push, %d messages ahead, accepted after every %d", o.Credit, o.AckEvery)
	}
	if o.Settled || o.AckEvery == 0 {
		sem.Levels.Delivery = semantics.AtMostOnce
		sem.Delivery = "at most once"
	}
	if o.Settled {
		sem.Acknowledgment = "none"
	}
	switch {
	case o.Address != "":
		sem.Settings["address"] = o.Address
		sem.Levels.Durability = semantics.NotKnown
		sem.Durability = "the broker's, of what is at the address"
	case s.plugin && s.isAnycast():
		sem.Warnings = append(sem.Warnings, "RabbitMQ 3 deletes nothing by AMQP 1.0: queues whose names begin with "+s.name("")+" stay when the run is over")
	case s.plugin:
		sem.Warnings = append(sem.Warnings, "RabbitMQ 3 deletes nothing by AMQP 1.0: each consumer leaves a queue behind, bound to amq.topic, until the broker is started again")
	}
	return sem
}
