package stan

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	client "github.com/nats-io/stan.go"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/drivers/internal/natswire"
)

// Places implements driver.BackReader: the channel of each topic, from which only the server's limits
// remove messages.
func (s *session) Places(t driver.Topology) (all []driver.Place, err error) {
	for _, topic := range t.Topics {
		if err := natswire.CheckName(product, "topic", topic); err != nil {
			return nil, err
		}
		all = append(all, driver.Place{Topic: topic, Log: true})
	}
	return all, nil
}

// backSilence is for how long no message may come until a channel counts as read, where the monitoring
// does not tell its end or the server has dropped the last messages meanwhile.
const backSilence = 2 * time.Second

// ReadBack implements driver.BackReader by a subscription that no server remembers, up to the sequence
// number that the monitoring tells. Without it the end of a channel, and whether it exists, cannot be known.
func (s *session) ReadBack(ctx context.Context, p driver.Place, take driver.Take) (driver.Reading, error) {
	none, channel := driver.Reading{}, s.channel(p.Topic)
	var state channelState
	err := s.ask(ctx, "channelsz", channel, &state)
	named := err == nil
	if err != nil && !errors.Is(err, driver.ErrUnsupported) {
		return none, err
	}
	found := driver.Reading{Until: driver.ReadToPosition}
	if about, err := s.readServer(ctx); err == nil && about.State == "CLUSTERED" {
		found.Copy, found.NotAskable = "leader", driver.NotAskableLeaderOnly
	}
	if named && state.Last == 0 {
		return found, nil
	}
	lost := make(chan error, 1)
	sc, err := s.register(s.wire.Control().Conn(), s.clientID(kit.Key{Role: kit.Control}), s.options.ConnectTimeout, func(_ client.Conn, err error) {
		select {
		case lost <- err:
		default:
		}
	})
	if err != nil {
		return none, err
	}
	defer sc.Close() // an error leaves it to the server to notice
	var once sync.Once
	var read atomic.Int64
	var first atomic.Uint64 // sequence number of the first message; 0: none has come
	ended := make(chan struct{})
	sub, err := sc.Subscribe(channel, func(m *client.Msg) { // called by one goroutine
		if named && m.Sequence > state.Last {
			return
		}
		first.CompareAndSwap(0, m.Sequence)
		take(driver.Kept{Payload: m.Data, Position: int64(m.Sequence)})
		read.Add(1)
		_ = m.Ack() // else the server sends max_inflight at most
		if named && m.Sequence == state.Last {
			once.Do(func() { close(ended) })
		}
	}, client.DeliverAllAvailable(), client.SetManualAckMode(), client.MaxInflight(s.options.MaxInflight), client.AckWait(s.options.AckWait))
	if err != nil {
		return none, wrap(permission(s.wire.Control().Conn(), err), "read channel %q back", channel)
	}
	quiet := time.NewTicker(backSilence)
	defer quiet.Stop()
	for before := int64(-1); err == nil; {
		select {
		case <-ended: // everything up to state.Last was read
		case <-ctx.Done():
			err = context.Cause(ctx)
		case why := <-lost:
			err = errors.Join(driver.ErrNotConnected, why)
		case <-quiet.C:
			now := read.Load()
			if before != now {
				before = now
				continue
			}
			found.Until = driver.ReadToSilence
		}
		break
	}
	if err == nil {
		err = sub.Unsubscribe()
	}
	found.Messages = read.Load()
	if oldest := first.Load(); oldest > 1 {
		found.Removed, found.Dropped = true, int64(oldest)-1
	} else if oldest == 0 && state.Last > 0 {
		found.Removed, found.Dropped = true, int64(state.Last)
	}
	return found, wrap(err, "read channel %q back, after %d messages", channel, found.Messages)
}
