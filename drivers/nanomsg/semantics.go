package nanomsg

import (
	"fmt"
	"strconv"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// module is the library's.
const module = "go.nanomsg.org/mangos/v3"

// ServerInfo implements driver.ServerInfo. There is no server: it is the library
// on both sides.
func (s *session) ServerInfo() map[string]string {
	return map[string]string{"product": "mangos", "version": kit.LibraryVersion(module), "protocol": "scalability protocols 0", "broker": "none"}
}

func (s *session) semantics(t driver.Topology) driver.Semantics {
	o := s.options
	sem := driver.Semantics{
		Durability:     "none, messages are not stored",
		Replication:    "none",
		Acknowledgment: "none",
		Ordering:       "per producer and topic",
		Delivery:       "at most once",
		Batching:       "none, each message is written on the sender's thread",
		Consumption:    "push, delivered on the goroutine that reads",
		Transport:      s.room.Address().Scheme,
		Settings: map[string]string{
			"client":       "mangos " + kit.LibraryVersion(module),
			"sockets":      "PUB and SUB, REQ and REP, without queues: protocols of our own on the library's connections",
			"bind":         o.Bind,
			"full_queue":   "there is none; the sender waits for the connection",
			"nodelay":      "on, always",
			"keepalive":    "Go's default",
			"reconnect":    o.Reconnect.String(),
			"max_recv":     "none",
			"participants": "all in this process",
		},
	}
	if o.KeepAlive > 0 {
		sem.Settings["keepalive"] = o.KeepAlive.String()
	}
	if s.driver.pipeline {
		sem.Settings["sockets"] = "PUSH and PULL, without queues: protocols of our own on the library's connections"
		sem.Settings["distribution"] = "in turn, or the next one whose connection is free"
		if t.Consumers > 1 {
			sem.Ordering = "per producer, topic and consumer"
		}
	}
	consumer := subscribes
	if s.driver.pipeline {
		consumer = pulls
	}
	if s.queues(consumer, t.Slow) {
		sem.Consumption = "push, by a queue without limit in this process"
		if limit := s.limit(); limit > 0 {
			sem.Consumption = fmt.Sprintf("push, by a queue of %d messages in this process", limit)
		}
	}
	if !o.direct() {
		sem.Settings["queue"] = strconv.Itoa(o.Queue) + " messages"
		sem.Consumption = "push, by a queue and a goroutine of the library's"
		sem.Batching = "none, each message is written by a goroutine of the library's"
		if s.driver.pipeline {
			sem.Settings["sockets"] = "the library's PUSH and PULL"
			sem.Settings["full_queue"] = "the sender waits"
			delete(sem.Settings, "distribution")
		} else {
			sem.Settings["sockets"] = "the library's PUB and SUB, raw REQ and REP"
			sem.Settings["full_queue"] = "a publisher drops the message, a subscriber its oldest"
			sem.Warnings = append(sem.Warnings, fmt.Sprintf("publishers and subscribers drop messages when a queue of %d is full, and tell nobody: what is missing may have been dropped by the library", o.Queue))
		}
	}
	if s.secrets != nil {
		sem.Transport = "tcp, tls"
		if s.secrets.client.InsecureSkipVerify {
			sem.Warnings = append(sem.Warnings, "the other side's certificate is not checked")
		}
		if len(s.secrets.client.Certificates) > 0 {
			sem.Settings["authentication"] = "client certificate"
		}
	}
	return sem
}
