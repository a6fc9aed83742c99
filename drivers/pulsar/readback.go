package pulsar

import (
	"cmp"
	"context"
	"fmt"

	"github.com/apache/pulsar-client-go/pulsar"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// holds reports whether the topics of a run have the subscription hold, so that they keep what was
// consumed.
func holds(t driver.Topology) bool {
	return !t.Existing && (t.Late || t.Keep && len(t.Groups) == 0 || t.ReadBack && !t.Keep)
}

// Places implements driver.BackReader: each topic, which keeps what a subscription has not acknowledged,
// and all where there is one that acknowledges nothing.
func (s *session) Places(t driver.Topology) (all []driver.Place, err error) {
	if !s.options.Persistent {
		return nil, fmt.Errorf("pulsar: read back: %w: non-persistent topics keep nothing", driver.ErrUnsupported)
	}
	for _, topic := range t.Topics {
		if err := s.checkName("topic", topic); err != nil {
			return nil, err
		}
		all = append(all, driver.Place{Topic: topic, Log: holds(t)})
	}
	return all, nil
}

// ReadBack implements driver.BackReader by a reader from the earliest message of each partition to what the
// broker says is the latest. Bookies cannot be asked for their copies.
func (s *session) ReadBack(ctx context.Context, p driver.Place, take driver.Take) (driver.Reading, error) {
	found := driver.Reading{Until: driver.ReadToPosition}
	name := s.topic(p.Topic)
	if _, err := s.stats(ctx, p.Topic); err != nil {
		return found, s.Wrap(err, "read %q back", name)
	}
	expires, err := s.expires(ctx, p.Topic)
	if err != nil {
		return found, s.Wrap(err, "ask when messages of %q expire", name)
	}
	found.Removed = expires
	if q, err := s.quorums(ctx, p.Topic); err != nil || q.Write > 1 {
		found.Copy, found.NotAskable = "the broker's choice of bookie", driver.NotAskableNoRequest
	}
	l, err := s.connect(ctx, kit.Key{Role: kit.Control})
	if err != nil {
		return found, err
	}
	defer l.close(context.WithoutCancel(ctx))
	partitions := []string{name}
	for i := range s.options.Partitions {
		if i == 0 {
			partitions = nil
		}
		partitions = append(partitions, fmt.Sprintf("%s-partition-%d", name, i))
	}
	for i, partition := range partitions {
		r, err := call(ctx, l, func() (pulsar.Reader, error) {
			return l.client.CreateReader(pulsar.ReaderOptions{Topic: partition, StartMessageID: pulsar.EarliestMessageID(), StartMessageIDInclusive: true})
		}, pulsar.Reader.Close)
		if err != nil {
			return found, s.Wrap(l.explain(err), "read %q back", partition)
		}
		n, err := readTo(ctx, l, r, func(m pulsar.Message) { take(driver.Kept{Payload: m.Payload(), Partition: i}) })
		found.Messages += n
		_, _ = call(ctx, l, func() (struct{}, error) { r.Close(); return struct{}{}, nil }, func(struct{}) {}) // what takes longer ends without us
		if err != nil {
			return found, s.Wrap(l.explain(err), "read %q back, after %d messages", partition, n)
		}
	}
	return found, nil
}

// readTo reads up to what the broker says is the last message, and returns how many there were. The
// library's HasNext is false where the broker does not answer, too.
func readTo(ctx context.Context, l *link, r pulsar.Reader, take func(pulsar.Message)) (n int64, err error) {
	last, err := call(ctx, l, r.GetLastMessageID, func(pulsar.MessageID) {})
	if err != nil {
		return n, err
	}
	for over := last.EntryID() < 0; !over; {
		m, err := r.Next(ctx)
		if err != nil {
			return n, err
		}
		n++
		take(m)
		id := m.ID()
		over = cmp.Or(cmp.Compare(id.LedgerID(), last.LedgerID()), cmp.Compare(id.EntryID(), last.EntryID()), cmp.Compare(id.BatchIdx(), last.BatchIdx())) >= 0
	}
	return n, nil
}

// expires reports whether the broker removes messages of a topic that have reached an age.
func (s *session) expires(ctx context.Context, topic string) (bool, error) {
	var seconds *int64 // nil: they do not
	err := s.ask(ctx, "GET", s.path(topic, "messageTTL?applied=true"), nil, &seconds)
	return seconds != nil && *seconds > 0, err
}
