package nsq

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nsqio/go-nsq"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// handler is a subscriber by go-nsq's Consumer, which has one connection after the
// other, reads on one goroutine, calls HandleMessage on another and finishes on a
// third.
type handler struct {
	consumer *consumer
	topic    string
	at       daemon
	key      kit.Key
	client   *nsq.Consumer
	gone     func()        // called when each message has an answer, and no more come
	left     chan struct{} // closed by it
	stopping atomic.Bool
	why      atomic.Pointer[string] // what went wrong last with a connection

	mu       sync.Mutex
	held     []*nsq.Message // delivered, and to be finished together
	draining bool           // messages are finished at once: the connection waits for their answers
	refused  kit.Refusals   // of nsqd, in a row
	told     bool           // an event has reported the first
}

// start implements subscriber. go-nsq does not wait for nsqd's answer to the
// subscription. What is sent from now on is in the channel if that is there before.
func (h *handler) start(ctx context.Context) error {
	c := h.consumer
	s := c.session
	if c.alone && h.at.http != "" {
		if err := s.postAt(ctx, h.at.http, "/channel/create", h.topic, c.channel); err != nil {
			return wrap(err, "make channel %q of topic %q", c.channel, h.topic)
		}
	}
	config := s.libraryConfig(h.key)
	config.MaxInFlight = s.readyCount(c.ready)
	client, err := nsq.NewConsumer(h.topic, c.channel, config)
	if err != nil {
		return fmt.Errorf("nsq: go-nsq: %w: %w", driver.ErrOption, err)
	}
	h.client = client
	client.SetLogger(journal(h.hear), nsq.LogLevelInfo)
	client.AddHandler(h)
	return s.await(ctx, func() error { return client.ConnectToNSQD(h.at.server.Address) }, func() { h.leave() })
}

// HandleMessage implements go-nsq's Handler. One goroutine calls it. What it returns
// nil for is finished, unless that is switched off.
func (h *handler) HandleMessage(m *nsq.Message) error {
	c := h.consumer
	if !c.gate.Deliver(driver.Message{Payload: m.Body, Redelivered: m.Attempts > 1}) {
		m.RequeueWithoutBackoff(0) // it goes to somebody else
		return nil
	}
	if c.due > 1 {
		m.DisableAutoResponse()
		h.hold(m)
	}
	return nil
}

// hold finishes a message together with others.
func (h *handler) hold(m *nsq.Message) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.held = append(h.held, m)
	if h.draining || len(h.held) >= h.consumer.due {
		h.finish()
	}
}

// finish finishes what is held. mu is held.
func (h *handler) finish() {
	for _, m := range h.held {
		m.Finish()
	}
	clear(h.held)
	h.held = h.held[:0]
}

// drain finishes what is held, and lets nothing more be held: go-nsq does not end a
// connection, nor make the next, before each of its messages has an answer.
func (h *handler) drain() {
	h.mu.Lock()
	h.draining = true
	h.mu.Unlock()
	go func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.finish()
	}()
}

// hear learns from the log of connections that end.
func (h *handler) hear(text string) {
	if _, why, ok := strings.Cut(text, logBroken); ok {
		h.why.Store(&why)
		return
	}
	if _, said, ok := strings.Cut(text, logRefused); ok {
		h.emit(driver.AsyncError, refusal(said).Error(), refusal(said))
		return
	}
	if _, why, ok := strings.Cut(text, logFailed); ok {
		h.failed(errors.New(why))
		return
	}
	switch {
	case strings.Contains(text, logDelayed):
		h.drain()
	case strings.HasSuffix(text, logClosing) && h.stopping.Load():
		h.gone()
	case strings.HasSuffix(text, logLost):
		h.mu.Lock()
		h.draining = false
		h.mu.Unlock()
		if !h.stopping.Load() {
			go h.again()
		}
	}
}

// failed gives the connection up where nsqd refuses it again and again: go-nsq never
// would. It counts in a row, since each connection that is made forgets what was before.
func (h *handler) failed(why error) {
	err := wrap(why, "connect to %s", h.at.server.Address)
	h.mu.Lock()
	_, again := h.refused.Add(err, 0)
	first := errors.Is(err, driver.ErrUnauthorized) && !h.told
	h.told = h.told || first
	h.mu.Unlock()
	switch {
	case !again && !h.stopping.Load():
		h.emit(driver.GivenUp, err.Error(), err)
		go h.leave()
	case first:
		h.emit(driver.AsyncError, "reconnect: "+err.Error(), err)
	}
}

// again reports that a connection has ended, and when go-nsq has the next.
func (h *handler) again() {
	why := "the connection has ended"
	if w := h.why.Swap(nil); w != nil {
		why = *w
	}
	h.emit(driver.Disconnected, why, nil)
	look := time.NewTicker(h.consumer.session.options.ReconnectWait)
	defer look.Stop()
	for h.client.Stats().Connections == 0 {
		select {
		case <-look.C:
		case <-h.left:
			return
		}
	}
	h.mu.Lock()
	h.refused.Reset()
	h.told = false
	h.mu.Unlock()
	h.emit(driver.Reconnected, "", nil)
}

func (h *handler) emit(kind driver.EventKind, detail string, err error) {
	if !h.stopping.Load() {
		h.consumer.session.emit(kind, h.key, detail, err)
	}
}

// leave implements subscriber. A Consumer that is stopped between two connections
// would crash if messages came by the one that it is making: it asks for none from
// now on.
func (h *handler) leave() <-chan struct{} {
	if h.stopping.CompareAndSwap(false, true) {
		h.drain()
		go func() {
			defer h.gone()
			h.client.ChangeMaxInFlight(0)
			h.client.Stop()
			<-h.client.StopChan
			// What is being made would outlive it. There is usually nothing.
			_ = h.client.DisconnectFromNSQD(h.at.server.Address)
		}()
	}
	return h.left
}

// close implements subscriber. go-nsq ends the connection later; the gate waits for a
// Deliver that runs.
func (h *handler) close(ctx context.Context) error {
	patience := time.NewTimer(closeTimeout)
	defer patience.Stop()
	select {
	case <-h.leave():
	case <-patience.C:
	case <-ctx.Done():
	}
	return nil
}
