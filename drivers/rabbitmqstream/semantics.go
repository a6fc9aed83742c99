package rabbitmqstream

import (
	"fmt"
	"maps"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/semantics"
)

// semantics reports the settings in effect.
func (s *session) semantics() driver.Semantics {
	o := &s.options
	replicas := "as many replicas as the broker is set to, at most one a node, majority"
	if o.Replicas > 0 {
		replicas = fmt.Sprintf("%d replicas, at most one a node, majority", o.Replicas)
	}
	sem := driver.Semantics{
		Levels: semantics.Levels{Durability: semantics.PageCache, Replication: semantics.Replication{Level: semantics.NotKnown},
			Ordering: semantics.PerTopic, Delivery: semantics.AtLeastOnce},
		Client:         semantics.Client{Kind: semantics.Direct},
		Durability:     "page cache",
		Replication:    replicas,
		Acknowledgment: "publish confirm: a majority of replicas has taken the message",
		Ordering:       "per producer and topic",
		Delivery:       "at least once, from the stored or last offset on",
		Batching:       s.batching(),
		Consumption:    s.consumption(),
		Settings:       kit.Settings(o, "sub_entry_size", "compression", "deduplication", "offset", "credit", "store_every", "login", "reconnect_wait"),
	}
	maps.Copy(sem.Settings, map[string]string{
		"vhost":          s.Config.VHost,
		"heartbeat":      s.admin.Latest().Heartbeat.String(),
		"frame_max":      driver.ByteSize(s.admin.Latest().FrameMax).String(),
		"write_buffer":   driver.ByteSize(s.Config.WriteBuffer).String(),
		"message_format": "AMQP 1.0, one data section",
	})
	if o.Client == library {
		s.librarySemantics(&sem)
	}
	for name, value := range o.streamArguments() {
		sem.Settings["stream_"+name] = value
	}
	sem.Server = kit.Identify("RabbitMQ stream", s.admin.Latest().Server())
	s.admin.Describe(&sem)
	if o.SubEntrySize > 1 && s.Config.WriteBuffer <= 1 && o.Client == direct {
		sem.Warnings = append(sem.Warnings, "sub_entry_size has no effect where each message is written at once; set write_buffer")
	}
	if o.MaxLength > 0 || o.MaxAge != "" {
		sem.Warnings = append(sem.Warnings, "max_length or max_age: the broker drops messages that it has confirmed, whether they were consumed or not")
	} else {
		sem.Warnings = append(sem.Warnings, "streams keep what was consumed: the run needs disk for all of its messages, until it is over")
	}
	return sem
}

func (s *session) batching() string {
	text := fmt.Sprintf("up to %s, until flushed, or 5 to 10 ms", driver.ByteSize(s.Config.WriteBuffer))
	switch {
	case s.options.Client == library:
		text = fmt.Sprintf("what is queued, up to %d messages, on a goroutine of the client library", s.options.libraryBatch())
	case s.Config.WriteBuffer <= 1:
		return "none, each message is written on the sender's thread"
	}
	if n := s.options.SubEntrySize; n > 1 {
		text += fmt.Sprintf("; entries of up to %d messages", n)
	}
	return text
}

func (s *session) consumption() string {
	text := fmt.Sprintf("push, %d chunks ahead", s.options.Credit)
	if n := s.options.StoreEvery; n > 0 {
		return text + fmt.Sprintf(", offset stored after every %d", n)
	}
	return text + ", no offset is stored unless the run says otherwise"
}
