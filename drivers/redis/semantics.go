package redis

import (
	"fmt"
	"slices"

	"sixnines/driver"
	"sixnines/drivers/internal/resp"
)

// semantics reports the settings in effect.
func (s *session) semantics(t driver.Topology) driver.Semantics {
	server := s.Server()
	sem := driver.Semantics{
		Durability:     "none, messages are not stored",
		Replication:    "none",
		Acknowledgment: "the server has added the message to the output buffers of its subscribers, however many",
		Ordering:       "per producer and topic",
		Delivery:       "at most once",
		Batching:       s.Client.Batching("publish", s.options.Acks == none),
		Consumption:    "push, delivered on the goroutine that reads",
		Transport:      server.Transport,
		Settings:       server.Effective(s.Client),
		Warnings:       slices.Concat(server.Warnings, s.Client.Warnings()),
	}
	if s.options.Acks == none {
		sem.Acknowledgment = "none"
	}
	o := sem.Settings
	o["acks"], o["subscribe"] = s.options.Acks, s.options.Subscribe
	o["sharded"] = fmt.Sprint(s.options.Sharded)
	o["write_buffer"] = driver.ByteSize(s.Client.WriteBuffer).String()
	if t.Consumers > 0 && s.options.Acks != none && s.Client.WriteBuffer <= 1 && s.options.Client == resp.Direct {
		o["answers"] = "read by who delivers, and timed by the kernel's receive time stamp without read lag; read when they come in a closed loop, with a limit in flight, over TLS and outside Linux"
	}
	if t.Slow {
		o["consumer_connections"] = "one each, since the consumers take their time"
	}
	if t.Consumers > 0 {
		limit, ok := server.OutputLimit("pubsub")
		switch {
		case !ok && server.Settings[resp.OutputLimits] == "":
			sem.Warnings = append(sem.Warnings, "unknown how far subscribers may be behind before the server cuts them off and throws their messages away")
		case limit.String() != "":
			sem.Warnings = append(sem.Warnings, fmt.Sprintf("the server cuts off a subscriber that is %s, and throws its messages away (%s)", limit, resp.OutputLimits))
		}
	}
	if s.Client.Unchecked() {
		sem.Warnings = append(sem.Warnings, "the server's certificate is not checked")
	}
	return sem
}
