package jetstream

import (
	"context"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"

	"sixnines/driver"
	"sixnines/drivers/internal/natswire"
	"sixnines/semantics"
)

// libraryQueue is how many bytes the library queues for a subscription.
const libraryQueue = nats.DefaultSubPendingBytesLimit

// semantics reports the settings in effect. info is of one of the streams.
func (s *session) semantics(ctx context.Context, t driver.Topology, info js.StreamInfo) driver.Semantics {
	o := s.options
	transport, encrypted := s.Transport()
	sem := driver.Semantics{
		Levels: semantics.Levels{Durability: semantics.Memory, Replication: semantics.Replication{Level: semantics.OneCopy},
			Ordering: semantics.PerTopic, Delivery: semantics.AtLeastOnce},
		Client:         s.Software(),
		Server:         s.Server("jetstream"),
		Refusals:       s.refusals(),
		Durability:     "memory",
		Replication:    "none",
		Acknowledgment: "none",
		Ordering:       "per producer and topic, in the order in which the server stored it",
		Batching:       s.Batching(),
		Transport:      transport,
		Encrypted:      encrypted,
		Settings:       s.Settings(),
		Warnings:       s.Warnings(),
	}
	set := sem.Settings
	if o.Client == natswire.Library {
		sem.Client.Name = "nats.go/jetstream"
		if o.Acknowledge {
			sem.Warnings = append(sem.Warnings, "after a lost connection nats.go may give up acknowledgements of messages sent since")
		}
	}
	if info.Config.Storage == js.FileStorage {
		sync := s.synchronisation(ctx)
		sem.Levels.Durability, sem.Durability = sync.durability(info.Config.PersistMode == js.AsyncPersistMode)
		set["sync_interval"] = sync.interval
		if sync.unknown != "" {
			sem.Warnings = append(sem.Warnings, sync.unknown)
		}
	}
	if n := info.Config.Replicas; n > 1 {
		sem.Levels.Replication = semantics.Replication{Level: semantics.Synchronous, Copies: n, Confirmed: n/2 + 1}
		sem.Replication = fmt.Sprintf("%d replicas, majority", n)
	}
	switch {
	case !o.Acknowledge:
	case info.Config.Replicas > 1:
		sem.Acknowledgment = "a majority of the replicas has the message"
	default:
		sem.Acknowledgment = "the stream's server has stored the message"
	}
	s.consumption(&sem, t)

	c := info.Config
	set["storage"] = o.Storage
	set["replicas"] = strconv.Itoa(c.Replicas)
	set["retention"] = o.Retention
	set["discard"] = o.Discard
	set["max_messages"] = limit(c.MaxMsgs)
	set["max_bytes"] = limit(c.MaxBytes)
	set["max_age"] = c.MaxAge.String()
	set["max_message_size"] = limit(int64(c.MaxMsgSize))
	set["duplicate_window"] = c.Duplicates.String()
	set["message_id"] = strconv.FormatBool(o.MessageID)
	set["compression"] = c.Compression.String()
	set["persist"] = o.Persist
	set["max_in_flight"] = limit(int64(s.inFlight()))
	set["ack_timeout"] = o.AckTimeout.String()
	set["api"] = o.apiPrefix()
	if info.Cluster != nil && info.Cluster.Leader != "" {
		set["stream_leader"] = info.Cluster.Leader
	}
	if c.MaxAge > 0 || c.MaxMsgs > 0 {
		sem.Warnings = append(sem.Warnings, "the stream's limits remove messages that consumers may not have seen")
	}
	return sem
}

// consumption says how messages come to consumers.
func (s *session) consumption(sem *driver.Semantics, t driver.Topology) {
	o, set := s.options, sem.Settings
	spec := driver.ConsumerSpec{Slow: t.Slow}
	if len(t.Groups) > 0 {
		spec.Group = t.Groups[0]
	}
	way, err := s.way(spec)
	if err != nil {
		way = o.Consume
	}
	past := "delivered on the goroutine that reads"
	switch {
	case o.Client == natswire.Library:
		past = "queue in the library"
		if size := int64(o.PullBatch) * int64(t.MaxSize); way == push || size > libraryQueue {
			sem.Warnings = append(sem.Warnings, "nats.go drops deliveries when more than 64 MiB of them wait for a consumer; events tell how many")
		}
	case t.Slow || !s.Direct():
		past = "unlimited queue in the library"
	}
	acks := s.acksOf(spec, way)
	set["consume"] = way
	set["consumer_ack"] = acks.String()
	sem.Delivery = "at least once"
	if acks != js.AckNonePolicy {
		set["ack_wait"] = o.AckWait.String()
		sem.Redelivery = o.AckWait
		set["max_ack_pending"] = strconv.Itoa(s.ackPending(max(1, t.Consumers), 1))
		set["double_ack"] = strconv.FormatBool(o.DoubleAck)
	}
	switch way {
	case ordered:
		sem.Consumption = "push, ordered consumer, " + past
		if o.Client == natswire.Library {
			sem.Consumption = fmt.Sprintf("pull, ordered consumer, %d messages under way, %s", o.PullBatch, past)
		}
		sem.Levels.Delivery = semantics.ExactlyOnce
		sem.Delivery = "exactly once while the stream holds what was missed"
		if o.Consume == "auto" {
			sem.Consumption += "; " + o.groupWay() + ", with consumers that acknowledge"
			sem.Levels.Delivery = semantics.AtLeastOnce
			sem.Delivery += "; at least once, with consumers that acknowledge"
		}
		set["heartbeat"] = o.Heartbeat.String()
		if o.Client == natswire.Direct {
			set["flow_control"] = strconv.FormatBool(o.FlowControl)
		}
	case fetch:
		sem.Consumption = fmt.Sprintf("pull, a batch of %d messages after the other, %s", o.PullBatch, past)
		set["pull_expires"] = o.PullExpires.String()
		set["heartbeat"] = o.Heartbeat.String()
	case pull:
		sem.Consumption = fmt.Sprintf("pull, %d messages under way, asks for more below %d, %s", o.PullBatch, o.pullThreshold(), past)
		set["pull_expires"] = o.PullExpires.String()
		set["heartbeat"] = o.Heartbeat.String()
	default:
		sem.Consumption = "push, " + past
		if acks == js.AckNonePolicy {
			sem.Levels.Delivery = semantics.AtMostOnce
			sem.Delivery = "at most once"
		}
		if spec.Group == "" {
			set["flow_control"] = strconv.FormatBool(o.FlowControl)
		}
	}
}

// limit writes a limit; 0 and -1 mean no limit.
func limit(n int64) string {
	if n <= 0 {
		return "none"
	}
	return strconv.FormatInt(n, 10)
}
