package jetstream

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"

	"sixnines/driver"
	"sixnines/drivers/internal/natswire"
)

// feed is a consumer's part in one stream. The consumer's gate guards the fields below the
// word gate. start sets the others; only one start runs at a time.
type feed struct {
	consumer *consumer
	stream   stream
	acks     js.AckPolicy

	name         string                 // the server's consumer
	known        atomic.Pointer[string] // the same name, for readers that do not wait for the gate
	made         int                    // number of server consumers made, for the names of ordered ones
	inbox        string
	subscription *natswire.Subscription
	stop         func()       // ends the library's reader; nil: no reader
	ended        atomic.Int64 // the turn of a reader that has ended by itself
	complained   bool         // an error was reported since the last successful start
	silent       int          // number of missed heartbeats
	created      time.Time    // when the stream was created, by its server's clock
	stale        atomic.Bool  // the connection was lost, or the server's consumer may be lost

	// gate:
	begun bool   // last is known
	last  uint64 // stream sequence of the last message
	next  uint64 // ordered: number of the next delivery
	gap   bool   // ordered: a delivery was missed
	heard bool   // something was received since watch looked last
	turn  int    // counts subscriptions, or the library's readers

	under  int    // pull: messages requested and not yet received
	refill bool   // pull: the server has ended a request
	text   []byte // pull: the request; of the library's messages, the reply subject; reused

	unacked  int      // AckEvery: deliveries since the last acknowledgement
	held     [][]byte // explicit acknowledgements that are held back, reused
	messages []js.Msg // the same for the library's messages
}

// start subscribes and makes the server's consumer, or continues an existing one. If
// again is set, it may also have to make the feed's stream.
func (f *feed) start(ctx context.Context, again bool) error {
	c := f.consumer
	info, err := f.find(ctx, again)
	if err != nil {
		return err
	}
	if c.library != nil {
		return f.read(ctx, info)
	}
	if f.subscription == nil || c.way == ordered {
		if err := f.subscribe(ctx); err != nil {
			return err
		}
	}
	c.gate.Lock()
	config := f.config()
	f.next, f.gap, f.under = 1, false, 0
	c.gate.Unlock()
	made, err := f.create(ctx, config)
	if err != nil {
		return err
	}
	c.gate.Lock()
	defer c.gate.Unlock()
	f.provided(config.Name, made)
	if c.way == pull {
		return f.request()
	}
	return nil
}

// find returns the feed's stream; if again is set, it may have to be made again.
func (f *feed) find(ctx context.Context, again bool) (js.StreamInfo, error) {
	c := f.consumer
	if !again {
		info, ok, err := c.session.api.streamInfo(ctx, f.stream.name)
		f.created = info.Created
		return info, errors.Join(err, noStream(f.stream, ok))
	}
	info, err := c.session.restore(ctx, f.stream)
	if err != nil {
		return info, err
	}
	c.gate.Lock()
	defer c.gate.Unlock()
	if f.another(info) {
		f.created, f.last = info.Created, 0 // its numbers have begun again
	}
	return info, nil
}

// another reports whether the stream is not the one that the feed began with.
// The gate is held.
func (f *feed) another(info js.StreamInfo) bool {
	return !info.Created.Equal(f.created) || info.State.LastSeq < f.last
}

// provided notes the server's consumer. The gate is held.
func (f *feed) provided(name string, made js.ConsumerInfo) {
	f.name = name
	f.known.Store(&name)
	if !f.begun {
		f.begun, f.last = true, max(f.last, made.Delivered.Stream)
	}
}

func noStream(st stream, ok bool) error {
	if ok {
		return nil
	}
	return fmt.Errorf("%s: consume from stream %s: %w: provision the topic first", product, st.name, driver.ErrNoTopic)
}

// create makes the server's consumer. What is no longer in use gives way.
func (f *feed) create(ctx context.Context, config js.ConsumerConfig) (js.ConsumerInfo, error) {
	s := f.consumer.session
	if f.consumer.isGuest() {
		return s.api.consumerInfo(ctx, f.stream.name, config.Name)
	}
	s.restoring.Lock() // members of a group come together
	defer s.restoring.Unlock()
	info, err := s.api.createConsumer(ctx, f.stream.name, config)
	if s.existing() && unchangeable(err) {
		return info, fmt.Errorf("%w: %w: group %q was made for other acknowledgements; consume with those that it was filled for", err, driver.ErrUnsupported, f.consumer.spec.Group)
	}
	if f.consumer.spec.Group != "" && unchangeable(err) { // the group acknowledges differently from what Provision assumed
		if err := s.api.deleteConsumer(ctx, f.stream.name, config.Name); err != nil {
			return info, err
		}
		info, err = s.api.createConsumer(ctx, f.stream.name, config)
	}
	if err == nil && f.name != "" && f.name != config.Name { // the server would keep it for a while
		_ = s.api.deleteConsumer(ctx, f.stream.name, f.name)
	}
	return info, err
}

// subscribe makes a new inbox, and lets nothing more come by the old one.
func (f *feed) subscribe(ctx context.Context) error {
	c := f.consumer
	f.unsubscribe()
	inbox, group := c.link.Conn().NewInbox(), ""
	switch {
	case c.isGuest() && c.way == push:
		inbox, group = c.shared.DeliverSubject, c.shared.DeliverGroup
	case c.spec.Group != "" && c.way == push:
		inbox, group = c.session.groupSubject(f.stream, c.spec.Group), plain(c.spec.Group)
	}
	c.gate.Lock()
	f.turn++ // what still comes by the one before is not taken
	turn := f.turn
	f.inbox = inbox
	c.gate.Unlock()
	to := &natswire.Receiver{Gate: c.gate,
		Take:   func(_, payload, reply []byte) { f.take(turn, payload, reply) },
		Status: func(m *nats.Msg, status string) { f.status(turn, m, status) }}
	sub, err := c.link.Subscribe(inbox, group, f.stream.subject, c.spec.Slow, to)
	f.subscription = sub
	if err == nil {
		err = c.link.Settled(ctx, inbox)
	}
	if err != nil {
		return wrap(err, "subscribe to deliveries of %s", f.stream.name)
	}
	return nil
}

// unsubscribe lets nothing more come.
func (f *feed) unsubscribe() {
	if f.subscription != nil {
		f.subscription.End()
	}
}

// remove deletes the server's consumer.
func (f *feed) remove(ctx context.Context) error {
	name := f.known.Load()
	if name == nil || !f.consumer.session.api.link.Conn().IsConnected() {
		return nil
	}
	return f.consumer.session.api.deleteConsumer(ctx, f.stream.name, *name)
}

// complains reports whether this is the first failure of several.
func (f *feed) complains() bool {
	first := !f.complained
	f.complained = true
	return first
}

// missable is how many heartbeats in a row may be missed.
const missable = 3

// tend starts the feed again if there is need to. It is called at every
// heartbeat, when the link is back and when the feed asked for it.
func (f *feed) tend(ctx context.Context, beat bool) error {
	c := f.consumer
	c.gate.Lock()
	heard, gap, refill := f.heard, f.gap, f.refill
	f.refill = false
	if beat {
		f.heard = false
	}
	c.gate.Unlock()
	switch {
	case !beat:
	case heard || c.way == push || c.library != nil: // which listens for itself
		f.silent = 0
	default:
		f.silent++
	}
	lost := f.stale.Load() || f.silent >= missable
	switch {
	case lost && c.way == ordered && c.library != nil:
		// The library comes back by itself, but to the same numbers.
		info, err := c.session.restore(ctx, f.stream)
		if err != nil {
			return err
		}
		c.gate.Lock()
		another := f.another(info)
		c.gate.Unlock()
		if another || f.stop == nil {
			break
		}
		f.healthy()
		return nil
	case lost && c.way != ordered:
		// The consumer may have outlived what happened.
		there, err := c.session.api.hasConsumer(ctx, f.stream.name, f.name)
		if err != nil {
			return err
		}
		if !there || c.library != nil && (f.stop == nil || f.ended.Load() == int64(f.turn)) {
			break
		}
		f.healthy()
		if c.way == pull && c.library == nil {
			return f.ask(true)
		}
		return nil
	case refill && !lost:
		return f.ask(false)
	case !lost && !gap:
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, c.session.options.APITimeout)
	defer cancel()
	// Whatever happens from now on is seen the next time.
	f.stale.Store(false)
	if err := f.start(limited, true); err != nil {
		f.stale.Store(true)
		return err
	}
	f.healthy()
	return nil
}

func (f *feed) healthy() {
	f.stale.Store(false)
	f.silent, f.complained = 0, false
}

// ask makes a request of a pull consumer; with anew, what was asked for does not
// count any more.
func (f *feed) ask(anew bool) error {
	f.consumer.gate.Lock()
	defer f.consumer.gate.Unlock()
	if anew {
		f.under = 0
	}
	return f.request()
}

// take deals with a message of the stream. The gate is held.
func (f *feed) take(turn int, payload, reply []byte) {
	c := f.consumer
	d, ok := parseDelivery(reply)
	if !ok || turn != f.turn {
		return
	}
	f.heard = true
	if c.way == ordered {
		if d.consumer != f.next {
			f.missed()
			return
		}
		f.next++
	}
	f.begun = true
	f.last = max(f.last, d.stream)
	c.deliver(driver.Message{Payload: payload, Redelivered: d.times > 1})
	f.acknowledge(reply)
	if c.way == pull {
		f.under--
		if f.under < c.session.options.pullThreshold() {
			_ = f.request() // watch looks after it
		}
	}
}

// missed asks for a new start. The gate is held.
func (f *feed) missed() {
	if !f.gap {
		f.gap = true
		f.consumer.look()
	}
}

// acknowledge acknowledges the message that came with reply, or notes that it
// is to be. What is lost with the connection is delivered again.
func (f *feed) acknowledge(reply []byte) {
	if f.acks == js.AckNonePolicy {
		return
	}
	every := f.every()
	if every == 1 {
		_ = f.consumer.out.Answer(reply, nil)
		return
	}
	i := f.unacked
	if f.acks == js.AckAllPolicy {
		i = 0 // the last stands for all
	}
	if i == len(f.held) {
		f.held = append(f.held, nil)
	}
	f.held[i] = append(f.held[i][:0], reply...)
	f.unacked++
	if f.unacked >= every {
		f.acknowledgeAll(f.consumer.life)
	}
}

// every is after how many messages to acknowledge.
func (f *feed) every() int {
	if f.consumer.spec.Ack.Mode == driver.AckEvery {
		return f.consumer.spec.Ack.Every
	}
	return 1
}

// acknowledgeAll acknowledges what is held back, and waits no longer than ctx for
// answers.
func (f *feed) acknowledgeAll(ctx context.Context) {
	n := f.unacked
	if f.acks == js.AckAllPolicy {
		n = min(n, 1)
	}
	for _, reply := range f.held[:min(n, len(f.held))] {
		_ = f.consumer.out.Answer(reply, nil)
	}
	for _, m := range f.messages {
		f.answer(ctx, m)
	}
	clear(f.messages)
	f.messages = f.messages[:0]
	f.unacked = 0
}

// request asks for as many messages as may be under way. The gate is held.
func (f *feed) request() error {
	o := f.consumer.session.options
	more := o.PullBatch - f.under
	if more <= 0 {
		return nil
	}
	f.text = append(f.text[:0], `{"batch":`...)
	f.text = strconv.AppendInt(f.text, int64(more), 10)
	f.text = append(f.text, `,"expires":`...)
	f.text = strconv.AppendInt(f.text, int64(o.PullExpires), 10)
	f.text = append(f.text, `,"idle_heartbeat":`...)
	f.text = strconv.AppendInt(f.text, int64(o.Heartbeat), 10)
	f.text = append(f.text, '}')
	out := f.consumer.out
	out.Address(o.apiPrefix()+"CONSUMER.MSG.NEXT."+f.stream.name+"."+f.name, f.inbox)
	err := out.Publish(f.text)
	if err == nil {
		err = f.consumer.link.FlushBatch()
	}
	if err != nil {
		return wrap(err, "ask for messages of %s", f.stream.name)
	}
	f.under = o.PullBatch
	return nil
}

// status deals with what the server says beside messages.
func (f *feed) status(turn int, m *nats.Msg, status string) {
	c := f.consumer
	if status == "100" {
		// Flow control asks whether all that went before has been dealt with.
		to := m.Reply
		if to == "" {
			to = m.Header.Get("Nats-Consumer-Stalled")
		}
		if to != "" {
			_ = c.link.Conn().Publish(to, nil) // a heartbeat will ask again
		}
	}
	c.gate.Lock()
	defer c.gate.Unlock()
	if c.gate.IsShut() || turn != f.turn {
		return
	}
	f.heard = true
	switch {
	case status == "100" && c.way == ordered:
		if last, err := strconv.ParseUint(m.Header.Get("Nats-Last-Consumer"), 10, 64); err == nil && last >= f.next {
			f.missed()
		}
	case status != "100" && c.way == pull:
		left, err := strconv.Atoi(m.Header.Get("Nats-Pending-Messages"))
		if err != nil {
			left = f.under // a request ended without the number of its pending messages
		}
		f.under = max(0, f.under-left)
		f.refill = true
		if status == "408" || status == "404" {
			c.look()
			return
		}
		f.stale.Store(true) // what else ends a request may have ended the consumer
		time.AfterFunc(firstPause, c.look)
	case status != "100":
		c.link.Emit(driver.Event{Kind: driver.AsyncError, Detail: fmt.Sprintf("%s: %s %s", f.stream.name, status, m.Header.Get("Description"))})
	}
}
