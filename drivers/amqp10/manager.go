package amqp10

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"

	"github.com/Azure/go-amqp"

	"sixnines/driver"
)

// manager asks Artemis' management over one session of a connection, one request at a time. A session for each request took
// most of a run's set-up. Replies come to an address of the run's own: one that the broker names could not be allowed to an
// account that may use the run's names only.
type manager struct {
	conn    *conn
	replyTo string

	turn chan struct{} // held by who asks

	// Guarded by turn. session is nil until somebody asks, and after something went wrong.
	session  *amqp.Session
	replies  *amqp.Receiver
	requests *amqp.Sender
	asked    uint64 // the number of the latest request
}

func newManager(c *conn, replyTo string) *manager {
	return &manager{conn: c, replyTo: replyTo + rand.Text()[:8], turn: make(chan struct{}, 1)}
}

// request asks for what the properties say, and returns the result.
func (m *manager) request(ctx context.Context, properties map[string]any, params ...any) (any, error) {
	if params == nil {
		params = []any{}
	}
	body, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	select {
	case m.turn <- struct{}{}:
		defer func() { <-m.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	reply, err := m.exchange(ctx, &amqp.Message{ApplicationProperties: properties, Value: string(body)})
	if err != nil {
		m.drop()
		return nil, err
	}
	return resultOf(reply)
}

// exchange sends a request and waits for its reply.
func (m *manager) exchange(ctx context.Context, request *amqp.Message) (*amqp.Message, error) {
	if err := m.begin(ctx); err != nil {
		return nil, err
	}
	m.asked++
	request.Properties = &amqp.MessageProperties{ReplyTo: &m.replyTo, CorrelationID: m.asked}
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
	if m.session, err = m.conn.NewSession(ctx, nil); err != nil {
		return err
	}
	if m.replies, err = m.session.NewReceiver(ctx, m.replyTo, &amqp.ReceiverOptions{SourceCapabilities: []string{"queue"}}); err != nil {
		return err
	}
	m.requests, err = m.session.NewSender(ctx, managementAddress, nil)
	return err
}

// end deletes the address of replies. Somebody may ask again.
func (m *manager) end(ctx context.Context) {
	select {
	case m.turn <- struct{}{}:
		defer func() { <-m.turn }()
	case <-ctx.Done():
		return
	}
	if m.requests != nil {
		body, _ := json.Marshal([]any{m.replyTo, true}) // of a string and a bool
		// The request has no reply address, since the address of replies is what it deletes. If that fails, the broker
		// deletes the address itself when it has been unused for a while.
		_ = m.requests.Send(ctx, &amqp.Message{Value: string(body),
			ApplicationProperties: map[string]any{"_AMQ_ResourceName": "broker", "_AMQ_OperationName": "deleteAddress"}}, nil)
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

// resultOf returns what a reply holds.
func resultOf(reply *amqp.Message) (any, error) {
	results := []any{nil} // an answer without results has no body
	text, _ := reply.Value.(string)
	if err := json.Unmarshal([]byte(text), &results); text != "" && (err != nil || len(results) == 0) {
		return nil, fmt.Errorf("%w: the answer is %q", driver.ErrRejected, text)
	}
	if done, _ := reply.ApplicationProperties["_AMQ_OperationSucceeded"].(bool); !done {
		return nil, refusal(fmt.Sprint(results[0]))
	}
	return results[0], nil
}
