package nsq

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/nsqio/go-nsq"

	"sixnines/driver"
)

// backChannel is the channel by which a topic without groups is read back: its first one gets all that
// the topic has.
const backChannel = "sixnines-readback"

// Places implements driver.BackReader: the channels of groups, which keep what was not finished. Those of
// consumers on their own go with them.
func (s *session) Places(t driver.Topology) (all []driver.Place, err error) {
	groups := t.Groups
	switch {
	case s.http == "":
		return nil, fmt.Errorf("nsq: read back: %w: without nsqd's HTTP address topics and channels are ephemeral; give option http_url", driver.ErrUnsupported)
	case len(groups) == 0 && t.Consumers > 0:
		return nil, fmt.Errorf("nsq: read back: %w: the channel of a consumer on its own goes with it; set workload.groups to 1", driver.ErrUnsupported)
	case len(groups) == 0 && (t.Keep || t.Existing):
		return nil, fmt.Errorf("nsq: read back: %w: it would move the messages to a channel, and later groups would begin empty; set workload.groups to 1", driver.ErrUnsupported)
	case len(groups) == 0:
		groups = []string{""}
	}
	for _, topic := range t.Topics {
		if _, err := s.topic(topic); err != nil {
			return nil, err
		}
		for _, group := range groups {
			all = append(all, driver.Place{Topic: topic, Group: group})
		}
	}
	return all, nil
}

const (
	// backPause is between two looks at what nsqd counts. It must say twice, so far apart, that it has
	// no more to send: what consumers that have closed had not finished comes back to the channel.
	backPause = 250 * time.Millisecond
	// backDelay is for how long nsqd keeps messages back that have been read, where it sends fewer than
	// there are before one is answered.
	backDelay = 10 * time.Minute
)

// ReadBack implements driver.BackReader by a consumer that finishes nothing, until nsqd has no more to send
// that was not read. If there are more messages than nsqd sends at a time, each is put back for backDelay:
// a later consumer gets them then.
func (s *session) ReadBack(ctx context.Context, p driver.Place, take driver.Take) (driver.Reading, error) {
	none, channel := driver.Reading{}, p.Group
	topic, err := s.topic(p.Topic)
	if err != nil {
		return none, err
	}
	t, err := s.stats(ctx, s.http, topic)
	if err != nil {
		return none, err
	}
	if channel == "" {
		if channel = s.Target.Prefix + backChannel; len(t.Channels) == 0 && t.Depth == 0 {
			return driver.Reading{Until: driver.ReadToCount}, nil
		}
		if err := s.post(ctx, "/channel/create", topic, channel); err != nil {
			return none, wrap(err, "make channel %q of topic %q", channel, topic)
		}
	} else if !t.has(channel) {
		return none, fmt.Errorf("nsq: channel %q of topic %q: %w", channel, topic, driver.ErrNoTopic)
	}
	found := driver.Reading{Until: driver.ReadToCount}
	err = s.talk(ctx, func(w *wire) error {
		for _, c := range []*nsq.Command{nsq.Subscribe(topic, channel), nsq.Ready(s.identity.MaxRdyCount)} {
			if err := w.command(c); err != nil {
				return err
			}
			if c.Params != nil && string(c.Name) == "SUB" {
				if err := w.okay(); err != nil {
					return err
				}
			}
		}
		putBack := t.Depth+t.waiting(channel) > int64(s.identity.MaxRdyCount)
		var read atomic.Int64
		ended := make(chan error, 1)
		held := map[nsq.MessageID]bool{} // written by the reader until ended says that it has returned
		go func() { ended <- w.readBack(putBack, take, &read, held) }()
		tooLong := time.After(backDelay)
		for idle, before := 0, int64(-1); idle < 2; {
			select {
			case err := <-ended:
				return err
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-tooLong: // those that were put back come again
				return fmt.Errorf("%w: it was not read in %v", driver.ErrTimeout, backDelay)
			case <-time.After(backPause):
			}
			now := read.Load()
			at, err := s.stats(ctx, s.http, topic)
			if err != nil {
				return err
			}
			if now == before && at.Depth == 0 && at.waiting(channel) <= now && at.unsent(channel) == 0 {
				idle++
			} else {
				idle = 0
			}
			before = now
		}
		w.raw.SetReadDeadline(time.Unix(1, 0)) // ends the reader
		<-ended
		found.Messages = read.Load()
		return s.giveBack(ctx, w, topic, channel, held)
	})
	return found, wrap(err, "read channel %q of topic %q back", channel, topic)
}

// readBack takes each message that comes, once, until the connection ends. One that is held comes again when
// nsqd's msg-timeout is over.
func (w *wire) readBack(putBack bool, take driver.Take, read *atomic.Int64, held map[nsq.MessageID]bool) error {
	for {
		m, err := w.probed()
		if err != nil {
			return err
		}
		id := nsq.MessageID(m.id)
		if held[id] {
			continue
		}
		take(driver.Kept{Payload: m.body})
		read.Add(1)
		if !putBack {
			held[id] = true
		} else if err := w.command(nsq.Requeue(id, backDelay)); err != nil {
			return err
		}
	}
}

// giveBack puts the messages held back into the channel, and returns when nsqd has them there. Those of a
// connection that only ends are kept back by nsqd until its msg-timeout, a minute by default.
func (s *session) giveBack(ctx context.Context, w *wire, topic, channel string, held map[nsq.MessageID]bool) error {
	if len(held) == 0 {
		return nil
	}
	if err := w.command(nsq.Ready(0)); err != nil {
		return err
	}
	for id := range held {
		if err := w.command(nsq.Requeue(id, 0)); err != nil {
			return err
		}
	}
	for {
		at, err := s.stats(ctx, s.http, topic)
		if err != nil || at.inFlight(channel) == 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(backPause / 10):
		}
	}
}

// has reports whether the topic has the channel.
func (t topicStats) has(channel string) bool {
	return slices.ContainsFunc(t.Channels, func(c channelStats) bool { return c.Name == channel })
}

// waiting returns how many messages of a channel are not finished, and unsent how many of these have not
// been sent to a consumer or put back.
func (t topicStats) waiting(channel string) (n int64) {
	for _, c := range t.Channels {
		if c.Name == channel {
			n = c.Depth + c.InFlight + c.Deferred
		}
	}
	return n
}

func (t topicStats) unsent(channel string) (n int64) {
	for _, c := range t.Channels {
		if c.Name == channel {
			n = c.Depth
		}
	}
	return n
}

func (t topicStats) inFlight(channel string) (n int64) {
	for _, c := range t.Channels {
		if c.Name == channel {
			n = c.InFlight
		}
	}
	return n
}
