package jetstream

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync/atomic"
	"unsafe"

	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/drivers/internal/natswire"
)

// library returns the library's view of the link's JetStream.
func (s *session) library(l *natswire.Link, more ...js.JetStreamOpt) (js.JetStream, error) {
	j, err := js.NewWithAPIPrefix(l.Conn(), s.options.apiPrefix(), append(more, js.WithDefaultTimeout(s.options.APITimeout))...)
	if err != nil {
		return nil, fmt.Errorf("%s: use the library: %w: %w", product, driver.ErrOption, err)
	}
	return j, nil
}

// ofLibrary gives an error of the library its class, and refusals the form that
// they have in answers of the API.
func ofLibrary(err error) error {
	var word js.JetStreamError
	if !errors.As(err, &word) {
		return err
	}
	if r := word.APIError(); r != nil {
		return &refusal{Code: r.Code, ErrCode: int(r.ErrorCode), Description: r.Description}
	}
	return fmt.Errorf("%w: %w", driver.ErrRejected, err)
}

// async publishes by the library's PublishMsgAsync. The library limits the messages
// that wait for their acknowledgement and, with a timer for each, how long they do;
// its handlers tell what became of each message, once.
type async struct {
	producer *producer
	library  js.JetStream
	options  []js.PublishOpt // for every message: nothing is sent twice
	header   nats.Header
	id       string // what the messages' ids begin with; empty: they have none
	sent     uint64
}

// publication is a message that the library has. Its handlers are given the message
// alone, which is therefore the first field: a pointer to it is one to the publication.
type publication struct {
	message nats.Msg
	token   uint64
	reading kit.Mark    // for its Send, by reading
	unsent  atomic.Bool // Send returns an error
}

// reading is the tag of the one message that a publication's mark is for.
const reading = 1

func publicationOf(m *nats.Msg) *publication { return (*publication)(unsafe.Pointer(m)) }

func newAsync(p *producer, spec driver.ProducerSpec) (*async, error) {
	s := p.session
	a := &async{producer: p, options: []js.PublishOpt{js.WithRetryAttempts(0)}, header: natswire.LibraryHeaders(spec.Headers)}
	if s.options.MessageID {
		a.id = fmt.Sprintf("%s-%d-", s.Target.Run, spec.ID)
	}
	most := s.inFlight()
	if most == 0 {
		most = math.MaxInt
	}
	var err error
	if a.library, err = s.library(p.link, js.WithPublishAsyncMaxPending(most), js.WithPublishAsyncTimeout(s.options.AckTimeout),
		js.WithPublishAsyncAckHandler(a.acknowledged), js.WithPublishAsyncErrHandler(a.failed)); err != nil {
		return nil, err
	}
	return a, nil
}

// send implements driver.Producer's Send.
func (a *async) send(token uint64, payload []byte) error {
	p := a.producer
	if a.id != "" {
		a.sent++
		a.options = append(a.options[:1], js.WithMsgID(a.id+strconv.FormatUint(a.sent, 10)))
	}
	m := &publication{message: nats.Msg{Subject: p.stream.subject, Header: a.header, Data: payload}, token: token}
	m.reading.Begin(reading)
	_, err := a.library.PublishMsgAsync(&m.message, a.options...)
	// At its limit the library waits for a moment and then takes no message.
	for errors.Is(err, js.ErrTooManyStalledMsgs) && !p.closed.Load() && !p.link.Closing() {
		_, err = a.library.PublishMsgAsync(&m.message, a.options...)
	}
	if err != nil {
		m.unsent.Store(true) // before the mark goes: the library may have given it up as well
		m.reading.End(reading)
		return p.sendError(err)
	}
	if lost := m.reading.End(reading); lost != nil {
		p.acks.Done(token, lost)
	}
	return nil
}

// acknowledged is the library's handler of acknowledgements. It runs on the
// goroutine that takes them.
func (a *async) acknowledged(_ js.JetStream, m *nats.Msg, _ *js.PubAck) {
	a.producer.acks.Done(publicationOf(m).token, nil)
}

// failed is the library's handler of messages that are not acknowledged. A message
// that is just being sent is left to Send.
func (a *async) failed(_ js.JetStream, message *nats.Msg, err error) {
	m := publicationOf(message)
	why := a.reason(err)
	if !m.reading.Leave(reading, why) && !m.unsent.Load() {
		a.producer.acks.Done(m.token, why)
	}
}

// reason says why a message is not acknowledged.
func (a *async) reason(err error) error {
	var refused *js.APIError
	switch {
	case errors.As(err, &refused): // on the goroutine that takes answers
		return a.producer.refused(&refusal{Code: refused.Code, ErrCode: int(refused.ErrorCode), Description: refused.Description})
	case errors.Is(err, nats.ErrDisconnected):
		return errLost
	case errors.Is(err, js.ErrAsyncPublishTimeout):
		return errLate
	case errors.Is(err, js.ErrJetStreamPublisherClosed):
		return errUnanswered
	case errors.Is(err, js.ErrNoStreamResponse):
		return errNobody
	}
	return wrap(ofLibrary(err), "send to %q", a.producer.stream.subject)
}

// close resolves what waits for an acknowledgement, unless ctx ends first: the
// library unsubscribes, and may be stuck in a write.
func (a *async) close(ctx context.Context) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		a.library.CleanupPublisher()
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}
