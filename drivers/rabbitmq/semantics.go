package rabbitmq

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/semantics"
)

// semantics reports the settings in effect.
func (s *session) semantics() driver.Semantics {
	o := &s.options
	sem := driver.Semantics{
		Client:         s.client(),
		Refusals:       s.refusals(),
		Acknowledgment: s.acknowledgment(),
		Ordering:       "per producer and topic",
		Batching:       s.batching(),
		Consumption:    s.consumption(),
		Settings:       kit.Settings(o, "queue_type", "exchange", "durable", "mandatory", "immediate", "transaction", "ack_every", "prefetch", "login", "reconnect_wait"),
	}
	maps.Copy(sem.Settings, map[string]string{
		"persistent":   strconv.FormatBool(o.Persistent || o.QueueType != classic),
		"confirms":     strconv.FormatBool(o.Confirms && o.Transaction == 0),
		"channels":     "one for each producer",
		"vhost":        s.Config.VHost,
		"heartbeat":    s.admin.Latest().Heartbeat.String(),
		"frame_max":    driver.ByteSize(s.admin.Latest().FrameMax).String(),
		"write_buffer": driver.ByteSize(s.Config.WriteBuffer).String(),
	})
	sem.Levels.Ordering = semantics.PerTopic
	sem.Levels.Durability, sem.Durability = s.durability()
	sem.Levels.Replication, sem.Replication = s.replication()
	sem.Levels.Delivery, sem.Delivery = s.delivery()
	if o.Channels > 0 {
		sem.Settings["channels"] = fmt.Sprintf("%d, shared by the producers of a connection", o.Channels)
	}
	if args, err := o.queueArguments(); err == nil {
		for _, name := range slices.Sorted(maps.Keys(args)) {
			sem.Settings["queue_"+strings.TrimPrefix(name, "x-")] = fmt.Sprint(args[name])
		}
	}
	sem.Server = kit.Identify("AMQP 0-9-1", s.admin.Latest().Server())
	s.admin.Describe(&sem)
	if !o.Mandatory {
		sem.Warnings = append(sem.Warnings, "mandatory is off: messages that lead to no queue are silently dropped, and confirmed")
	}
	for _, argument := range o.QueueArguments {
		if strings.HasPrefix(argument, "x-max-length") || strings.HasPrefix(argument, "x-message-ttl") || strings.HasPrefix(argument, "x-expires") {
			sem.Warnings = append(sem.Warnings, argument+": the broker may drop messages that it has confirmed")
		}
	}
	return sem
}

func (s *session) durability() (semantics.Durability, string) {
	switch o := &s.options; {
	case o.QueueType == quorum:
		return semantics.Synced, "fsync, before a message is confirmed"
	case o.QueueType == stream:
		return semantics.PageCache, "page cache"
	case o.Durable && o.Persistent:
		return semantics.Synced, "disk, before a message is confirmed"
	}
	return semantics.Memory, "memory"
}

func (s *session) replication() (semantics.Replication, string) {
	o := &s.options
	size := "as many replicas as the broker is set to, at most one a node"
	if o.QuorumGroupSize > 0 {
		size = fmt.Sprintf("%d replicas, at most one a node", o.QuorumGroupSize)
	}
	switch o.QueueType {
	case quorum, stream:
		return semantics.Replication{Level: semantics.NotKnown}, size + ", majority"
	}
	return semantics.Replication{Level: semantics.OneCopy}, "none"
}

func (s *session) acknowledgment() string {
	switch o := &s.options; {
	case o.Transaction > 0:
		return "tx.commit-ok: the queues have taken the transaction's messages"
	case !o.Confirms:
		return "none"
	case o.QueueType != classic:
		return "basic.ack: a majority of replicas has taken the message"
	case o.Durable && o.Persistent:
		return "basic.ack: the queues have the message on disk"
	}
	return "basic.ack: the queues have taken the message"
}

func (s *session) delivery() (semantics.Delivery, string) {
	o := &s.options
	if o.AckEvery == 0 && o.QueueType != stream || !o.confirmed() {
		return semantics.AtMostOnce, "at most once"
	}
	return semantics.AtLeastOnce, "at least once"
}

func (s *session) consumption() string {
	o := &s.options
	every := o.AckEvery
	if o.QueueType == stream && every == 0 {
		every = max(1, o.Prefetch/2)
	}
	switch {
	case every == 0:
		return "push, nothing is acknowledged unless the run says otherwise"
	case o.Prefetch == 0:
		return fmt.Sprintf("push, acknowledged after every %d, without limit", every)
	}
	return fmt.Sprintf("push, acknowledged after every %d, prefetch %d", every, o.Prefetch)
}

// client names what messages go through.
func (s *session) client() semantics.Client {
	if s.options.Client == direct {
		return semantics.Client{Kind: semantics.Direct}
	}
	return kit.Library("amqp091-go", "github.com/rabbitmq/amqp091-go")
}

func (s *session) batching() string {
	if s.options.Client != direct || s.Config.WriteBuffer <= 1 {
		return "none, each message is written on the sender's thread"
	}
	return fmt.Sprintf("up to %s, until flushed, or 5 to 10 ms", driver.ByteSize(s.Config.WriteBuffer))
}
