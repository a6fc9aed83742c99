package jetstream

import (
	"fmt"
	"strings"

	js "github.com/nats-io/nats.go/jetstream"

	"sixnines/driver"
	"sixnines/drivers/internal/natswire"
)

// stream is where a topic is stored.
type stream struct {
	topic, subject, name string
}

// streamOf returns the stream of a topic of the run.
func (s *session) streamOf(topic string) (stream, error) {
	if s.Target.Given {
		s.mu.Lock()
		defer s.mu.Unlock()
		st, ok := s.given[topic]
		if !ok {
			return st, fmt.Errorf("%s: topic %q: %w: it was not provisioned", product, topic, driver.ErrNoTopic)
		}
		return st, nil
	}
	if err := natswire.CheckName(product, "topic", topic); err != nil {
		return stream{}, err
	}
	t := s.Target
	t.Prefix = flat(t.Prefix)
	return stream{topic: topic, subject: s.Subject(topic), name: streamNaming().Name(t, plain(topic))}, nil
}

// streamNaming is that of streams, whose names have no parts.
func streamNaming() driver.Naming { return driver.Naming{Separator: "-"} }

// flat is a prefix in the name of a stream.
func flat(prefix string) string { return strings.NewReplacer(".", "-", "/", "-").Replace(prefix) }

// Destinations implements driver.DestinationNamer.
func (s *session) Destinations() (all []driver.Destination) {
	s.mu.Lock()
	topics := s.topology.Topics
	s.mu.Unlock()
	for _, topic := range topics {
		if st, err := s.streamOf(topic); err == nil { // Provision has checked the names
			all = append(all, driver.Destination{Topic: topic, Name: st.name})
		}
	}
	return all
}

// plain makes a name that streams and consumers may have, for which dots and
// slashes are not allowed, and another one of every other name.
func plain(name string) string {
	return strings.NewReplacer("_", "__", ".", "_d", "/", "_s", `\`, "_b").Replace(name)
}

// description marks streams that runs make.
const description = "made by sixnines for a run"

// config is how the stream is made, one of count of the run.
func (s stream) config(o Options, count int) js.StreamConfig {
	c := js.StreamConfig{
		Name:        s.name,
		Description: description,
		Subjects:    []string{s.subject},
		Replicas:    o.Replicas,
		MaxMsgs:     -1,
		MaxBytes:    -1,
		MaxAge:      o.MaxAge,
		MaxMsgSize:  -1,
		Duplicates:  o.DuplicateWindow,
		NoAck:       !o.Acknowledge,
		Storage:     js.FileStorage,
		Retention:   js.LimitsPolicy,
		Discard:     js.DiscardOld,
	}
	if o.Storage == "memory" {
		c.Storage = js.MemoryStorage
	}
	switch o.Retention {
	case "interest":
		c.Retention = js.InterestPolicy
	case "workqueue":
		c.Retention = js.WorkQueuePolicy
	}
	if o.Discard == "new" {
		c.Discard = js.DiscardNew
	}
	if o.MaxMessages > 0 {
		c.MaxMsgs = o.MaxMessages
	}
	if o.MaxBytes > 0 {
		c.MaxBytes = max(1, int64(o.MaxBytes)/int64(max(1, count)))
	}
	if o.MaxMessageSize > 0 {
		c.MaxMsgSize = int32(min(int64(o.MaxMessageSize), 1<<31-1))
	}
	if o.Compression == "s2" {
		c.Compression = js.S2Compression
	}
	if o.Persist == "async" {
		c.PersistMode = js.AsyncPersistMode
	}
	return c
}
