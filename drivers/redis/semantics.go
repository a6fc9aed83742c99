package redis

import (
	"fmt"

	"sixnines/driver"
	"sixnines/drivers/internal/resp"
	"sixnines/semantics"
)

// semantics reports the settings in effect.
func (s *session) semantics(t driver.Topology) driver.Semantics {
	silent := s.options.Acks == none
	sem := s.Semantics("publish", silent)
	sem.Refusals = s.refusals()
	sem.Levels.Durability, sem.Levels.Replication.Level = semantics.NotStored, semantics.OneCopy
	sem.Durability = "none, messages are not stored"
	sem.Replication = "none"
	sem.Acknowledgment = "the server has added the message to the output buffers of its subscribers, however many"
	if s.Clustered() && !s.options.Sharded {
		sem.Acknowledgment += "; the other servers of the cluster get it without being waited for"
	}
	if silent {
		sem.Acknowledgment = "none"
	}
	sem.Delivery = "at most once"
	sem.Consumption = "push, delivered on the goroutine that reads"
	o := sem.Settings
	o["acks"], o["subscribe"] = s.options.Acks, s.options.Subscribe
	o["sharded"] = fmt.Sprint(s.options.Sharded)
	if t.Consumers > 0 && !silent && !s.Clustered() && s.Client.Options.WriteBuffer <= 1 && s.options.Client == resp.Direct {
		o["answers"] = "read by who delivers, and timed by the kernel's receive time stamp without read lag; read when they come in a closed loop, with a limit in flight, over TLS and outside Linux"
	}
	if t.Slow {
		o["consumer_connections"] = "one each, since the consumers take their time"
	}
	if t.Consumers > 0 {
		server := s.Server()
		limit, ok := server.OutputLimit("pubsub")
		switch {
		case !ok && server.Settings[resp.OutputLimits] == "":
			sem.Warnings = append(sem.Warnings, "unknown how far subscribers may be behind before the server cuts them off and throws their messages away")
		case limit.String() != "":
			sem.Warnings = append(sem.Warnings, fmt.Sprintf("the server cuts off a subscriber that is %s, and throws its messages away (%s)", limit, resp.OutputLimits))
		}
	}
	return sem
}
