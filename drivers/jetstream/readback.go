package jetstream

import (
	"context"
	"fmt"

	js "github.com/nats-io/nats.go/jetstream"

	"sixnines/driver"
)

// Places implements driver.BackReader: the stream of each topic, from which only limits and
// retention remove messages.
func (s *session) Places(t driver.Topology) (all []driver.Place, err error) {
	if len(t.Groups) == 0 && s.options.Retention == "interest" {
		return nil, fmt.Errorf("%s: read back: %w: with retention interest a stream keeps only what a group waits for", product, driver.ErrUnsupported)
	}
	for _, topic := range t.Topics {
		if _, err := s.streamOf(topic); err != nil {
			return nil, err
		}
		all = append(all, driver.Place{Topic: topic, Log: s.options.Retention == "limits"})
	}
	return all, nil
}

// ReadBack implements driver.BackReader by an ordered consumer of the library's, up to the
// stream's last sequence number. Servers answer from the copy of the stream's leader.
func (s *session) ReadBack(ctx context.Context, p driver.Place, deliver driver.Deliver) (driver.Reading, error) {
	none := driver.Reading{}
	st, err := s.streamOf(p.Topic)
	if err != nil {
		return none, err
	}
	info, there, err := s.api.streamInfo(ctx, st.name)
	switch {
	case err != nil:
		return none, err
	case !there:
		return none, wrap(driver.ErrNoTopic, "read stream %s back", st.name)
	}
	found := driver.Reading{Until: driver.ReadToPosition, Removed: removes(info.Config) && (info.State.FirstSeq > 1 || info.State.NumDeleted > 0)}
	if info.Config.Replicas > 1 {
		found.Copy = "leader"
	}
	if info.State.Msgs == 0 {
		return found, nil
	}
	library, err := s.library(s.Control())
	if err != nil {
		return none, err
	}
	in, err := library.OrderedConsumer(ctx, st.name, js.OrderedConsumerConfig{DeliverPolicy: js.DeliverAllPolicy})
	if err != nil {
		return none, wrap(ofLibrary(err), "read stream %s back", st.name)
	}
	all, err := in.Messages()
	if err != nil {
		return none, wrap(ofLibrary(err), "read stream %s back", st.name)
	}
	defer all.Stop()
	for {
		m, err := all.Next(js.NextContext(ctx))
		if err != nil {
			return none, wrap(ofLibrary(err), "read stream %s back, after %d messages", st.name, found.Messages)
		}
		about, err := m.Metadata()
		if err != nil {
			return none, wrap(err, "read stream %s back", st.name)
		}
		found.Messages++
		deliver(driver.Message{Payload: m.Data()})
		// The last messages may have been removed since.
		if about.Sequence.Stream >= info.State.LastSeq || about.NumPending == 0 {
			return found, nil
		}
	}
}

// removes reports whether a stream with these settings removes messages by itself.
func removes(c js.StreamConfig) bool {
	return c.MaxMsgs > 0 || c.MaxBytes > 0 || c.MaxAge > 0 || c.Retention != js.LimitsPolicy
}
