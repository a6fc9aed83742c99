package nanomsg

import (
	"fmt"
	"maps"
	"strconv"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/drivers/internal/mesh"
	"sixnines/semantics"
)

// module is the library's.
const module = "go.nanomsg.org/mangos/v3"

// describe reports the settings in effect.
func (s *session) describe(sem *driver.Semantics, t driver.Topology) {
	o := s.options
	sem.Client = kit.Library("mangos", module)
	if o.direct() {
		sem.Client.Kind = semantics.Direct
	}
	sem.Server = driver.Server{Product: "mangos", Version: kit.LibraryVersion(module), Protocol: "scalability protocols 0"}
	sem.Batching = "none, each message is written on the sender's thread"
	sem.Consumption = "push, delivered on the goroutine that reads"
	maps.Copy(sem.Settings, map[string]string{
		"sockets":    "PUB and SUB, REQ and REP, without queues: protocols of our own on the library's connections",
		"full_queue": "no queue: the sender waits for the connection",
		"keepalive":  "Go's default",
		"reconnect":  o.Reconnect.String(),
		"max_recv":   "none",
	})
	if o.KeepAlive > 0 {
		sem.Settings["keepalive"] = o.KeepAlive.String()
	}
	if s.Pipeline {
		sem.Settings["sockets"] = "PUSH and PULL, without queues: protocols of our own on the library's connections"
		sem.Settings["distribution"] = "in turn, or the next one whose connection is free"
	}
	consumer := mesh.Subscribes
	if s.Pipeline {
		consumer = mesh.Pulls
	}
	if s.queues(consumer, t.Slow) {
		sem.Consumption = "push, by a queue without limit in this process"
		if limit := s.Limit(); limit > 0 {
			sem.Consumption = fmt.Sprintf("push, by a queue of %d messages in this process", limit)
		}
	}
	if !o.direct() {
		sem.Settings["queue"] = strconv.Itoa(o.Queue) + " messages"
		sem.Consumption = "push, by a queue and a goroutine of the library's"
		sem.Batching = "none, each message is written by a goroutine of the library's"
		if s.Pipeline {
			sem.Settings["sockets"] = "the library's PUSH and PULL"
			sem.Settings["full_queue"] = "the sender waits"
			delete(sem.Settings, "distribution")
		} else {
			sem.Settings["sockets"] = "the library's PUB and SUB, raw REQ and REP"
			sem.Settings["full_queue"] = "a publisher drops the message, a subscriber its oldest"
			sem.Warnings = append(sem.Warnings, fmt.Sprintf("publishers and subscribers silently drop messages when a queue of %d is full: what is missing may have been dropped by the library", o.Queue))
		}
	}
	if s.secrets != nil {
		sem.Transport, sem.Encrypted = "tcp, tls", true
		if len(s.secrets.client.Certificates) > 0 {
			sem.Settings["authentication"] = "client certificate"
		}
	}
}
