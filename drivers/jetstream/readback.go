package jetstream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
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

// ReadBack implements driver.BackReader, up to the stream's last sequence number, in the copy of the stream's
// leader.
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
	if c := info.Config; found.Removed && c.Retention == js.LimitsPolicy && c.Discard == js.DiscardOld && c.MaxMsgsPerSubject <= 0 && info.State.NumDeleted == 0 {
		found.Dropped = int64(info.State.FirstSeq) - 1
	}
	leader := ""
	if info.Config.Replicas > 1 && info.Cluster != nil {
		found.Copy, leader = "leader", info.Cluster.Leader
	}
	counted := func(payload []byte, seq uint64) {
		found.Messages++
		take(driver.Kept{Payload: payload, Position: int64(seq)})
	}
	if info.Config.Retention != js.LimitsPolicy {
		err = s.readOneByOne(ctx, info, counted) // a consumer would take messages out, or be refused
	} else {
		err = s.readByConsumer(ctx, info, leader, counted)
	}
	if err == nil && leader != "" {
		err = s.stillLeads(ctx, st.name, leader)
	}
	return found, wrap(ofLibrary(err), "read stream %s back, after %d messages", st.name, found.Messages)
}

// stillLeads returns an error if the stream has another leader than when its copy was asked for: that copy may
// have lacked what the new leader has, or had what it lacks.
func (s *session) stillLeads(ctx context.Context, stream, leader string) error {
	now, there, err := s.api.streamInfo(ctx, stream)
	if err == nil && (!there || now.Cluster == nil || now.Cluster.Leader != leader) {
		err = fmt.Errorf("%w: the leader moved away from %s while its copy was read", driver.ErrNotConnected, leader)
	}
	return err
}

// Replicas implements driver.ReplicaReader: the servers that have the stream, as its leader knows them. By
// messages only consumers of a stream with retention limits can tell, which take nothing out.
func (s *session) Replicas(ctx context.Context, p driver.Place) (all []driver.Replica, err error) {
	st, err := s.streamOf(p.Topic)
	if err != nil {
		return nil, err
	}
	info, there, err := s.api.streamInfo(ctx, st.name)
	if err != nil || !there || info.Cluster == nil || len(info.Cluster.Replicas) == 0 {
		return nil, err
	}
	if info.Cluster.Leader != "" {
		all = append(all, driver.Replica{Name: info.Cluster.Leader, Leader: true, Answer: driver.ReplicaContents})
	}
	for _, peer := range info.Cluster.Replicas {
		r := driver.Replica{Name: peer.Name, Answer: driver.ReplicaContents}
		switch {
		case peer.Offline:
			r.Answer, r.NotAskable = driver.ReplicaSilent, driver.NotAskableOffline
		case info.Config.Retention != js.LimitsPolicy:
			r.Answer, r.Lag = driver.ReplicaLag, int64(peer.Lag)
		}
		all = append(all, r)
	}
	return all, nil
}

// ReadReplica implements driver.ReplicaReader.
func (s *session) ReadReplica(ctx context.Context, p driver.Place, r driver.Replica, take driver.Take) (driver.Reading, error) {
	found := driver.Reading{Until: driver.ReadToPosition, Copy: r.Name}
	st, err := s.streamOf(p.Topic)
	if err != nil {
		return found, err
	}
	info, there, err := s.api.streamInfo(ctx, st.name)
	if err == nil && !there {
		err = driver.ErrNoTopic
	}
	if err == nil {
		err = s.readByConsumer(ctx, info, r.Name, func(payload []byte, seq uint64) {
			found.Messages++
			take(driver.Kept{Payload: payload, Position: int64(seq)})
		})
	}
	return found, wrap(ofLibrary(err), "read the copy that %s has of stream %s, after %d messages", r.Name, st.name, found.Messages)
}

// mostPlacings is how many consumers are made until one is at the server that is wanted. JetStream places a
// consumer with one replica at random among the servers that have the stream and run: of five it misses one 64
// times in a row once in 1.6 million.
const mostPlacings = 64

// placingLimit is how long the making of one consumer may take: one that is placed at a server that has just ended is
// answered by nobody.
const placingLimit = 2 * time.Second

// consumerAt makes a consumer that acknowledges nothing and reads the copy of the stream that the named server has,
// since a consumer's leader reads its own; with an empty name it may be any.
func (s *session) consumerAt(ctx context.Context, library js.JetStream, stream, server string) (js.Consumer, error) {
	for range mostPlacings {
		limited, cancel := context.WithTimeout(ctx, placingLimit)
		in, err := library.CreateConsumer(limited, stream, js.ConsumerConfig{AckPolicy: js.AckNonePolicy, DeliverPolicy: js.DeliverAllPolicy,
			MemoryStorage: true, Replicas: 1, InactiveThreshold: time.Minute})
		cancel()
		if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
			continue
		}
		if err != nil {
			return nil, err
		}
		about := in.CachedInfo()
		if server == "" || about.Cluster != nil && about.Cluster.Leader == server {
			return in, nil
		}
		if err := library.DeleteConsumer(ctx, stream, about.Name); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("%w: of %d consumers none was placed at %s", driver.ErrNotConnected, mostPlacings, server)
}

// readBatch is how many messages one request asks for, and readWait how long the server may
// take for them. firstLook is between two requests to a consumer that is not known everywhere.
const (
	firstLook = 20 * time.Millisecond
	readBatch = 500
	readWait  = 5 * time.Second
)

// readByConsumer reads by a consumer of its own, which is at the server, see consumerAt. A gap in what comes
// is an error: reading again is simpler than asking for what is missing.
func (s *session) readByConsumer(ctx context.Context, info js.StreamInfo, server string, take func(payload []byte, seq uint64)) error {
	library, err := s.library(s.Control())
	if err != nil {
		return err
	}
	stream := info.Config.Name
	in, err := s.consumerAt(ctx, library, stream, server)
	if err != nil {
		return err
	}
	defer library.DeleteConsumer(context.WithoutCancel(ctx), stream, in.CachedInfo().Name)
	var read uint64 // messages
	early := kit.Moment()
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
		case errors.Is(err, nats.ErrNoResponders) && read == before && early():
			// Another server has made the consumer, and ours does not know it yet.
			select {
			case <-time.After(firstLook):
			case <-ctx.Done():
			}
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
