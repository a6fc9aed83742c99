package pulsar

import (
	"context"
	"fmt"
	"maps"
	"strconv"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/semantics"
)

// login names the way in which connections log in.
func (s *session) login() string {
	if s.token != nil {
		return "token"
	}
	return s.Login()
}

// semantics reports the settings in effect. The broker tells some of them by its
// policies of a topic.
func (s *session) semantics(ctx context.Context) driver.Semantics {
	o := &s.options
	sem := driver.Semantics{
		Levels: semantics.Levels{Durability: semantics.NotKnown, Replication: semantics.Replication{Level: semantics.NotKnown},
			Ordering: semantics.PerTopic, Delivery: semantics.AtLeastOnce},
		Client:         kit.Library("pulsar-client-go", "github.com/apache/pulsar-client-go"),
		Server:         driver.Server{Product: "Apache Pulsar", Version: s.version, Protocol: "Pulsar binary"},
		Durability:     "journals of the bookies, synced as their journalSyncData says",
		Replication:    "as the namespace is set",
		Acknowledgment: "send receipt: the bookies of the ack quorum have the message",
		Ordering:       "per producer and topic",
		Delivery:       "at least once",
		Batching:       "none, each message is a frame",
		Consumption: fmt.Sprintf("push, %d ahead; each is acknowledged, in groups of up to %d or %s",
			o.ReceiverQueue, o.AckGroupSize, o.AckGroupTime),
		Transport: "tcp",
		Settings:  kit.Settings(o, "namespace", "persistent", "partitions", "subscription", "compression", "receiver_queue", "keep_alive", "reconnect_wait"),
	}
	maps.Copy(sem.Settings, map[string]string{
		"max_pending":        strconv.Itoa(s.maxPending()),
		"send_timeout":       "none",
		"reconnect_buffer":   "messages are kept while disconnected, up to max_pending",
		"authentication":     s.login(),
		"topics":             "made by the web service at " + s.web,
		"server_max_message": "unknown",
	})
	if limit := s.limit.Load(); limit > 0 {
		sem.Settings["server_max_message"] = driver.ByteSize(limit).String()
	}
	if o.SendTimeout > 0 {
		sem.Settings["send_timeout"] = o.SendTimeout.String()
	}
	if o.Partitions > 0 {
		sem.Levels.Ordering = semantics.PerPartition
		sem.Ordering = "per producer and partition"
	}
	if o.batches(s.Target.Batch) {
		sem.Batching = fmt.Sprintf("up to %d messages, %s or %s", o.BatchMessages, o.BatchSize, o.BatchDelay)
	}
	if s.TLS != nil {
		sem.Transport, sem.Encrypted = "tcp, tls", true
	}
	if !o.Persistent {
		sem.Levels.Durability, sem.Levels.Replication.Level, sem.Levels.Delivery = semantics.Memory, semantics.OneCopy, semantics.AtMostOnce
		sem.Durability, sem.Replication, sem.Delivery = "memory of the broker", "none", "at most once"
		sem.Acknowledgment = "send receipt: the broker has the message, which it sends to the consumers that are ready for it"
		sem.Consumption = fmt.Sprintf("push, %d ahead; nothing is acknowledged unless the run says so", o.ReceiverQueue)
		sem.Warnings = append(sem.Warnings, "non-persistent: the broker silently drops what a consumer is not ready for")
		return sem
	}
	s.policies(ctx, &sem)
	return sem
}

// policies adds what the broker tells of the first topic. What it does not tell stays
// open: brokers without policies of topics tell nothing.
func (s *session) policies(ctx context.Context, sem *driver.Semantics) {
	s.mu.Lock()
	topics := s.topology.Topics
	s.mu.Unlock()
	if len(topics) == 0 {
		return
	}
	if quorum, err := s.quorums(ctx, topics[0]); err == nil && quorum.Write > 0 {
		sem.Levels.Replication = copies(quorum.Write, quorum.Ack)
		sem.Replication = fmt.Sprintf("%d copies on %d bookies, %d before the receipt", quorum.Write, quorum.Ensemble, quorum.Ack)
	}
	var deduplicates bool
	if s.ask(ctx, "GET", s.path(topics[0], "deduplicationEnabled?applied=true"), nil, &deduplicates) == nil {
		sem.Settings["server_deduplication"] = strconv.FormatBool(deduplicates)
	}
	if !deduplicates {
		sem.Warnings = append(sem.Warnings, "the client sends once more what had no receipt when a connection was lost: the broker may have it twice")
	}
}

// quorums say on how many bookies a topic's messages are.
type quorums struct {
	Ensemble int `json:"bookkeeperEnsemble"`
	Write    int `json:"bookkeeperWriteQuorum"`
	Ack      int `json:"bookkeeperAckQuorum"`
}

// quorums asks for those of a topic.
func (s *session) quorums(ctx context.Context, topic string) (q quorums, err error) {
	err = s.ask(ctx, "GET", s.path(topic, "persistence?applied=true"), nil, &q)
	return q, err
}

// copies returns the replication with a write quorum and an ack quorum.
func copies(write, ack int) semantics.Replication {
	r := semantics.Replication{Level: semantics.Synchronous, Copies: write, Confirmed: ack}
	switch {
	case write == 1:
		r.Level = semantics.OneCopy
	case ack <= 1:
		r.Level = semantics.Asynchronous
	}
	return r
}
