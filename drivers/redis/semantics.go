package redis

import (
	"fmt"

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
		Batching:       s.batching(),
		Consumption:    "push, delivered on the goroutine that reads",
		Transport:      server.Transport,
		Settings:       server.Effective(s.Client),
		Warnings:       server.Warnings,
	}
	if s.options.Acks == none {
		sem.Acknowledgment = "none"
	}
	o := sem.Settings
	o["acks"], o["subscribe"], o["receive"] = s.options.Acks, s.options.Subscribe, s.options.Receive
	o["sharded"] = fmt.Sprint(s.options.Sharded)
	o["write_buffer"] = driver.ByteSize(s.Client.WriteBuffer).String()
	if t.Consumers > 0 && s.options.Acks != none && s.Client.WriteBuffer <= 1 {
		o["answers"] = "read by who delivers, and timed by the kernel's receive time stamp without read lag; read when they come in a closed loop, with a limit in flight, over TLS and outside Linux"
	}
	if t.Slow {
		o["consumer_connections"] = "one each, since the consumers take their time"
	}
	if s.options.Receive != direct {
		o["client"] = "redigo 1.9.3; publishes by frames of our own"
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

func (s *session) batching() string {
	switch {
	case s.Client.WriteBuffer <= 1:
		return "none, each publish is written on the sender's thread"
	case s.options.Acks == none:
		return fmt.Sprintf("up to %s, until flushed, or 5 to 10 ms", driver.ByteSize(s.Client.WriteBuffer))
	}
	return fmt.Sprintf("up to %s, until flushed, or as many as are out without an answer", driver.ByteSize(s.Client.WriteBuffer))
}
