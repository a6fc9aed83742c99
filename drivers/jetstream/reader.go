package jetstream

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"

	"sixnines/driver"
)

// read has the library consume, by a consumer of the server's that is made or taken
// up. info is the stream. What read before stops.
func (f *feed) read(ctx context.Context, info js.StreamInfo) error {
	c := f.consumer
	if f.stop != nil {
		f.stop()
		f.stop = nil
	}
	c.gate.Lock()
	f.turn++ // what still comes by the reader before is not taken
	turn := f.turn
	c.gate.Unlock()
	if c.way != ordered {
		if err := f.provide(ctx); err != nil {
			return err
		}
	}
	handle := func(m js.Msg) { f.receive(turn, m) }
	trouble := js.ConsumeErrHandler(func(_ js.ConsumeContext, err error) { f.troubled(turn, err) })
	o := c.session.options
	pulls := []js.PullConsumeOpt{js.PullMaxMessages(o.PullBatch), js.PullThresholdMessages(o.pullThreshold()),
		js.PullExpiry(o.PullExpires), js.PullHeartbeat(o.Heartbeat), trouble}
	var running js.ConsumeContext
	var err error
	switch c.way {
	case ordered:
		var in js.Consumer
		if in, err = c.library.OrderedConsumer(ctx, f.stream.name, f.inOrder(info)); err == nil {
			f.known.Store(&in.CachedInfo().Name)
			running, err = in.Consume(handle, pulls...)
		}
	case push:
		var in js.PushConsumer
		if in, err = c.library.PushConsumer(ctx, f.stream.name, f.name); err == nil {
			running, err = in.Consume(handle, trouble)
		}
	default:
		var in js.Consumer
		if in, err = c.library.Consumer(ctx, f.stream.name, f.name); err != nil {
			break
		}
		if c.way == fetch {
			life, stop := context.WithCancel(c.life)
			f.stop = stop
			c.session.work.Go(func() { f.fetch(life, turn, in) })
			return nil
		}
		running, err = in.Consume(handle, pulls...)
	}
	if err != nil {
		return wrap(ofLibrary(err), "consume from %s by the library", f.stream.name)
	}
	// An ordered consumer that is making its server consumer again stops only when that
	// has succeeded or failed; no call waits for it.
	unhook := context.AfterFunc(c.life, running.Stop)
	f.stop = func() {
		if unhook() {
			go running.Stop()
		}
	}
	return nil
}

// provide makes the server's consumer, or finds it.
func (f *feed) provide(ctx context.Context) error {
	c := f.consumer
	c.gate.Lock()
	if f.inbox == "" {
		f.inbox = c.link.Conn().NewInbox() // to be pushed to
	}
	config := f.config()
	c.gate.Unlock()
	made, err := f.create(ctx, config)
	if err != nil {
		return err
	}
	c.gate.Lock()
	defer c.gate.Unlock()
	f.provided(config.Name, made)
	return nil
}

// inOrder is how the library makes an ordered consumer. It begins at a number, and
// not with what comes next: the library may have to make it again before a message
// has come.
func (f *feed) inOrder(info js.StreamInfo) js.OrderedConsumerConfig {
	c := f.consumer
	c.gate.Lock()
	defer c.gate.Unlock()
	if !f.begun {
		f.begun = true
		if !c.session.oldest() {
			f.last = info.State.LastSeq
		}
	}
	var subjects []string
	if c.session.Target.Given {
		subjects = []string{f.stream.subject} // the stream may have more
	}
	return js.OrderedConsumerConfig{FilterSubjects: subjects, DeliverPolicy: js.DeliverByStartSequencePolicy, OptStartSeq: f.last + 1, InactiveThreshold: idleLimit}
}

// receive deals with a message that the library hands over.
func (f *feed) receive(turn int, m js.Msg) {
	c := f.consumer
	c.gate.Lock()
	defer c.gate.Unlock()
	if c.gate.IsShut() || turn != f.turn {
		return
	}
	f.text = append(f.text[:0], m.Reply()...)
	d, ok := parseDelivery(f.text)
	if !ok {
		return
	}
	if c.way == ordered && d.consumer == 1 { // the library has made another one
		name := string(d.name)
		f.known.Store(&name)
	}
	f.begun = true
	f.last = max(f.last, d.stream)
	c.deliver(driver.Message{Payload: m.Data(), Redelivered: d.times > 1})
	f.confirm(m)
}

// confirm acknowledges the message, or notes that it needs an acknowledgement.
func (f *feed) confirm(m js.Msg) {
	switch f.acks {
	case js.AckNonePolicy:
		return
	case js.AckAllPolicy: // the last stands for all
		clear(f.messages)
		f.messages = f.messages[:0]
	}
	f.messages = append(f.messages, m)
	f.unacked++
	if f.unacked >= f.every() {
		f.acknowledgeAll(f.consumer.life)
	}
}

// answer acknowledges a message by the library. What is lost with the connection is
// delivered again.
func (f *feed) answer(ctx context.Context, m js.Msg) {
	if !f.consumer.session.options.DoubleAck {
		_ = m.Ack()
		return
	}
	_ = m.DoubleAck(ctx) // no longer than option api_timeout
}

// troubled is the library's callback for errors. The library may hold its locks.
func (f *feed) troubled(turn int, err error) {
	c := f.consumer
	if c.life.Err() != nil {
		return
	}
	ended := errors.Is(err, js.ErrConsumerDeleted) || errors.Is(err, js.ErrBadRequest)
	if ended {
		f.ended.Store(int64(turn)) // the library stops
	}
	passing := errors.Is(err, js.ErrNoHeartbeat) || errors.Is(err, js.ErrConsumerLeadershipChanged) || errors.Is(err, js.ErrServerShutdown) ||
		errors.Is(err, nats.ErrNoResponders) || errors.Is(err, js.ErrConnectionClosed)
	if !ended && !passing {
		c.link.Emit(driver.Event{Kind: driver.AsyncError, Detail: f.stream.name + ": " + err.Error()})
	}
	f.stale.Store(true) // watch sees what the server still has
	time.AfterFunc(firstPause, c.look)
}

// fetch asks for one batch after the other until ctx ends.
func (f *feed) fetch(ctx context.Context, turn int, in js.Consumer) {
	o := f.consumer.session.options
	pause := firstPause
	for ctx.Err() == nil {
		err := nats.ErrDisconnected // else the library leaves a subscription behind
		if f.consumer.link.Conn().IsConnected() {
			err = f.fetchOne(ctx, turn, in, o)
		}
		if err == nil || ctx.Err() != nil {
			pause = firstPause
			continue
		}
		if !errors.Is(err, nats.ErrDisconnected) {
			f.troubled(turn, err)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
		pause = min(2*pause, lastPause)
	}
}

// fetchOne takes what comes by one request.
func (f *feed) fetchOne(ctx context.Context, turn int, in js.Consumer, o Options) error {
	// The library keeps a tenth of the time for the answer, but no more than a second.
	limited, cancel := context.WithTimeout(ctx, o.PullExpires+min(o.PullExpires/9, time.Second)+fetchSlack)
	defer cancel()
	batch, err := in.Fetch(o.PullBatch, js.FetchContext(limited), js.FetchHeartbeat(o.Heartbeat))
	if err != nil {
		return err
	}
	for m := range batch.Messages() {
		f.receive(turn, m)
	}
	if err := batch.Error(); !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

// fetchSlack is the time that may pass before the library looks how much is left of
// a request's: less than two heartbeats it refuses.
const fetchSlack = 100 * time.Millisecond
