package rabbitmqstream

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/rabbitmq/rabbitmq-stream-go-client/pkg/amqp"
	"github.com/rabbitmq/rabbitmq-stream-go-client/pkg/stream"

	"sixnines/drivers/rabbitmqstream/wire"
)

// The library's own codes for messages that are not answered, and whose producer
// ends next.
const (
	codeTimeout wire.Code = 62
	codeUnsent  wire.Code = 63
)

// librarySender is a producer of the library's.
type librarySender struct {
	conn       *libraryConnection
	stream     string
	options    *stream.ProducerOptions
	properties map[string]any // of every message; nil: none
	room       int
	to         wire.Publisher

	producer *stream.Producer
	confirms stream.ChannelPublishConfirm
	closed   stream.ChannelClose
	ids      []byte // what is confirmed, of watch
}

func (c *libraryConnection) publish(ctx context.Context, p publication, to wire.Publisher) (sender, error) {
	o := &c.session.options
	s := &librarySender{conn: c, stream: p.stream, to: to,
		room: c.session.admin.Latest().Room() - len(properties(p.headers)),
		options: stream.NewProducerOptions().SetProducerName(p.name).SetClientProvidedName(c.name).
			SetBatchSize(o.libraryBatch()).SetSubEntrySize(o.SubEntrySize).
			SetQueueSize(libraryUnanswered).SetConfirmationTimeOut(libraryPatience)}
	if o.Compression == "gzip" {
		s.options.SetCompression(stream.Compression{}.Gzip())
	}
	for _, h := range p.headers {
		if s.properties == nil {
			s.properties = map[string]any{}
		}
		s.properties[h.Name] = h.Value
	}
	if err := c.join(ctx, s); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *librarySender) open() (err error) {
	if s.producer, err = s.conn.env.NewProducer(s.stream, s.options); err != nil {
		return err
	}
	s.confirms, s.closed = s.producer.NotifyPublishConfirmation(), s.producer.NotifyClose()
	return nil
}

func (s *librarySender) watch() {
	for open := true; open; {
		var statuses []*stream.ConfirmationStatus
		select {
		case statuses, open = <-s.confirms:
			s.settle(statuses)
		case e := <-s.closed: // before the other one is closed
			s.closed = nil
			s.conn.ended(e)
		}
	}
	if s.closed != nil {
		s.conn.ended(<-s.closed)
	}
}

// settle takes outcomes. Their messages have the publishing IDs that they were given,
// whatever the library has sent them under.
func (s *librarySender) settle(statuses []*stream.ConfirmationStatus) {
	s.ids = s.ids[:0]
	for _, status := range statuses {
		if status.IsConfirmed() {
			s.ids = binary.BigEndian.AppendUint64(s.ids, publishingID(status))
			continue
		}
		s.refuse(status)
		// Of an entry that is refused the library tells the first message only.
		for _, other := range status.LinkedMessages() {
			s.refuse(other)
		}
	}
	if len(s.ids) > 0 {
		s.to.Confirm(s.ids)
	}
}

func (s *librarySender) refuse(status *stream.ConfirmationStatus) {
	if code := wire.Code(status.GetErrorCode()); code != codeTimeout && code != codeUnsent {
		s.to.Refuse(publishingID(status), code)
	}
}

func publishingID(status *stream.ConfirmationStatus) uint64 {
	return uint64(status.GetMessage().GetPublishingId())
}

func (s *librarySender) end(why error) { s.to.End(why) }

func (s *librarySender) close() { _ = s.producer.Close() }

// Room implements sender.
func (s *librarySender) Room() int { return s.room }

// Publish implements sender. The library has copied body when it returns.
func (s *librarySender) Publish(id uint64, body []byte) (err error) {
	defer func() {
		// The library closes a channel that Send may be about to write to.
		if p := recover(); p != nil {
			err = fmt.Errorf("the client library: %v", p)
		}
		if err != nil {
			go s.conn.abandon(err)
		}
	}()
	m := amqp.NewMessage(body)
	m.ApplicationProperties = s.properties
	m.SetPublishingId(int64(id))
	return s.producer.Send(m)
}

// Close implements sender.
func (s *librarySender) Close(context.Context) error {
	s.conn.shut(s)
	return nil
}

// libraryReceiver is a consumer of the library's.
type libraryReceiver struct {
	conn    *libraryConnection
	stream  string
	options *stream.ConsumerOptions
	to      wire.Subscriber

	consumer *stream.Consumer
	closed   stream.ChannelClose
}

func (c *libraryConnection) subscribe(ctx context.Context, s subscription, to wire.Subscriber) (receiver, error) {
	from := stream.OffsetSpecification{}.Next()
	switch s.place {
	case wire.First:
		from = from.First()
	case wire.Last:
		from = from.Last()
	case wire.Offset:
		from = from.Offset(int64(s.offset))
	}
	r := &libraryReceiver{conn: c, stream: s.stream, to: to,
		options: stream.NewConsumerOptions().SetConsumerName(s.name).SetManualCommit().SetOffset(from).
			SetInitialCredits(int16(s.credits)).SetClientProvidedName(c.name)}
	if err := c.join(ctx, r); err != nil {
		return nil, err
	}
	return r, nil
}

func (r *libraryReceiver) open() (err error) {
	if r.consumer, err = r.conn.env.NewConsumer(r.stream, r.deliver, r.options); err != nil {
		return err
	}
	r.closed = r.consumer.NotifyClose()
	// The library does not report a connection that was lost before NotifyClose: make a
	// request to find out.
	if _, err = r.consumer.QueryOffset(); err != nil && !errors.Is(err, stream.OffsetNotFoundError) {
		r.close()
		return err
	}
	return nil
}

func (r *libraryReceiver) deliver(from stream.ConsumerContext, m *amqp.Message) {
	r.to.Deliver(uint64(from.Consumer.GetOffset()), m.GetData())
}

func (r *libraryReceiver) watch() { r.conn.ended(<-r.closed) }

func (r *libraryReceiver) end(why error) { r.to.End(why) }

func (r *libraryReceiver) close() { _ = r.consumer.Close() }

// Store implements receiver. The consumer has its name.
func (r *libraryReceiver) Store(_ string, offset uint64, _ bool) error {
	return r.consumer.StoreCustomOffset(int64(offset))
}

// Close implements receiver.
func (r *libraryReceiver) Close(context.Context) error {
	r.conn.shut(r)
	return nil
}
