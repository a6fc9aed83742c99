package jetstream

import (
	"context"
	"fmt"
	"time"

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

// ReadBack implements driver.BackReader, up to the stream's last sequence number. Servers
// answer from the copy of the stream's leader.
func (s *session) ReadBack(ctx context.Context, p driver.Place, take driver.Take) (driver.Reading, error) {
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
	read := s.readByConsumer
	if info.Config.Retention != js.LimitsPolicy {
		read = s.readOneByOne // a consumer would take messages out, or be refused
	}
	err = read(ctx, info, func(payload []byte, seq uint64) {
		found.Messages++
		take(driver.Kept{Payload: payload, Position: int64(seq)})
	})
	return found, wrap(ofLibrary(err), "read stream %s back, after %d messages", st.name, found.Messages)
}

// readBatch is how many messages one request asks for, and readWait how long the server may
// take for them.
const (
	readBatch = 500
	readWait  = 5 * time.Second
)

// readByConsumer reads by a consumer of its own that acknowledges nothing. A gap in what comes
// is an error: reading again is simpler than asking for what is missing.
func (s *session) readByConsumer(ctx context.Context, info js.StreamInfo, take func(payload []byte, seq uint64)) error {
	library, err := s.library(s.Control())
	if err != nil {
		return err
	}
	stream := info.Config.Name
	in, err := library.CreateConsumer(ctx, stream, js.ConsumerConfig{AckPolicy: js.AckNonePolicy, DeliverPolicy: js.DeliverAllPolicy,
		MemoryStorage: true, Replicas: 1, InactiveThreshold: time.Minute})
	if err != nil {
		return err
	}
	defer library.DeleteConsumer(context.WithoutCancel(ctx), stream, in.CachedInfo().Name)
	var read uint64 // messages
	for left := in.CachedInfo().NumPending; left > 0; {
		batch, err := in.Fetch(int(min(left, readBatch)), js.FetchMaxWait(readWait))
		if err != nil {
			return err
		}
		before := read
		for m := range batch.Messages() {
			about, err := m.Metadata()
			if err != nil {
				return err
			}
			if read++; about.Sequence.Consumer != read {
				return fmt.Errorf("%w: message %d came as number %d", driver.ErrNotConnected, read, about.Sequence.Consumer)
			}
			take(m.Data(), about.Sequence.Stream)
			// Messages that are stored meanwhile are not asked for, and removed ones do not come.
			if left = about.NumPending; about.Sequence.Stream >= info.State.LastSeq {
				return nil
			}
		}
		switch err := batch.Error(); {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return err
		case read == before:
			return fmt.Errorf("%w: nothing came in %v", driver.ErrTimeout, readWait)
		}
	}
	return nil
}

// readOneByOne asks for each message by its sequence number, which changes nothing.
func (s *session) readOneByOne(ctx context.Context, info js.StreamInfo, take func(payload []byte, seq uint64)) error {
	for next := max(1, info.State.FirstSeq); next <= info.State.LastSeq; {
		q := struct {
			Seq  uint64 `json:"seq"`
			Next string `json:"next_by_subj"` // the first at or after Seq
		}{next, ">"}
		var a struct {
			Message struct {
				Seq  uint64 `json:"seq"`
				Data []byte `json:"data"`
			} `json:"message"`
		}
		if err := s.api.request(ctx, "STREAM.MSG.GET."+info.Config.Name, q, &a); refused(err, codeNoMessage) {
			return nil
		} else if err != nil {
			return err
		}
		if a.Message.Seq > info.State.LastSeq {
			return nil
		}
		take(a.Message.Data, a.Message.Seq)
		next = a.Message.Seq + 1
	}
	return nil
}

// removes reports whether a stream with these settings removes messages by itself.
func removes(c js.StreamConfig) bool {
	return c.MaxMsgs > 0 || c.MaxBytes > 0 || c.MaxAge > 0 || c.Retention != js.LimitsPolicy
}
