package amqp10

import (
	"context"

	"github.com/Azure/go-amqp"
)

// manager asks a broker's management over one session of a connection, one request at a time. A session for each request took
// most of a run's set-up.
type manager struct {
	conn *conn
	pair pair

	turn chan struct{} // held by who asks

	// Guarded by turn. session is nil until somebody asks, and after something went wrong.
	session  *amqp.Session
	replies  *amqp.Receiver
	requests *amqp.Sender
	asked    uint64 // the number of the latest request
}

// asker asks a management, as manager does.
type asker interface {
	ask(ctx context.Context, request *amqp.Message) (*amqp.Message, error)
}

// pair is how the two links to a management are attached.
type pair struct {
	requests, replies string // the addresses that they are attached to
	replyTo           string // what requests say
	sender            *amqp.SenderOptions
	receiver          *amqp.ReceiverOptions
	farewell          *amqp.Message // sent before the links end; nil: none
}

func newManager(c *conn, p pair) *manager {
	return &manager{conn: c, pair: p, turn: make(chan struct{}, 1)}
}

// ask sends a request and returns its reply. The properties of the request get what leads the reply here.
func (m *manager) ask(ctx context.Context, request *amqp.Message) (*amqp.Message, error) {
	select {
	case m.turn <- struct{}{}:
		defer func() { <-m.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	reply, err := m.exchange(ctx, request)
	if err != nil {
		m.drop()
	}
	return reply, err
}

// exchange sends a request and waits for its reply.
func (m *manager) exchange(ctx context.Context, request *amqp.Message) (*amqp.Message, error) {
	if err := m.begin(ctx); err != nil {
		return nil, err
	}
	m.asked++
	if request.Properties == nil {
		request.Properties = &amqp.MessageProperties{}
	}
	// Artemis answers with the correlation ID of the request, RabbitMQ with its message ID.
	request.Properties.ReplyTo, request.Properties.MessageID, request.Properties.CorrelationID = &m.pair.replyTo, m.asked, m.asked
	if err := m.requests.Send(ctx, request, nil); err != nil {
		return nil, err
	}
	for {
		reply, err := m.replies.Receive(ctx, nil)
		if err == nil {
			err = m.replies.AcceptMessage(ctx, reply)
		}
		if err != nil {
			return nil, err
		}
		if reply.Properties != nil && reply.Properties.CorrelationID == m.asked {
			return reply, nil
		} // else it is of a request that was given up
	}
}

// begin attaches, unless that is done.
func (m *manager) begin(ctx context.Context) (err error) {
	if m.session != nil {
		return nil
	}
	if m.session, err = m.conn.begin(ctx); err != nil {
		return err
	}
	if m.replies, err = m.session.NewReceiver(ctx, m.pair.replies, m.pair.receiver); err != nil {
		return err
	}
	m.requests, err = m.session.NewSender(ctx, m.pair.requests, m.pair.sender)
	return err
}

// end ends the session. Somebody may ask again.
func (m *manager) end(ctx context.Context) {
	select {
	case m.turn <- struct{}{}:
		defer func() { <-m.turn }()
	case <-ctx.Done():
		return
	}
	if m.requests != nil && m.pair.farewell != nil {
		_ = m.requests.Send(ctx, m.pair.farewell, nil) // what it asks for happens later by itself
	}
	m.drop()
}

// drop ends the session without waiting for it.
func (m *manager) drop() {
	if m.session != nil {
		m.conn.leave(m.session)
	}
	m.session, m.replies, m.requests = nil, nil, nil
}
