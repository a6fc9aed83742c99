package amqp10

import (
	"context"
	"fmt"
	"net/url"

	"github.com/Azure/go-amqp"

	"sixnines/driver"
)

// rabbit is RabbitMQ from 4.0 on. Its management takes requests that are like those of HTTP: a method, a path and a body, and
// answers with a status. A right that the account lacks ends the session.
type rabbit struct{ asker }

// rabbitManagement is where it takes them, and answers.
const rabbitManagement = "/management"

// rabbitPair is of two links with one name that belong together.
func rabbitPair() pair {
	const name, me = "management", "$me"
	paired := map[string]any{"paired": true}
	return pair{requests: rabbitManagement, replies: rabbitManagement, replyTo: me,
		sender: &amqp.SenderOptions{Name: name, SourceAddress: me, Properties: paired, SettlementMode: amqp.SenderSettleModeSettled.Ptr()},
		// The library grants credit again while the next request is on its way, and RabbitMQ wants some to be there.
		receiver: &amqp.ReceiverOptions{Name: name, Credit: 100, TargetAddress: me, Properties: paired, RequestedSenderSettleMode: amqp.SenderSettleModeSettled.Ptr()}}
}

// request asks for what the method says of the path, and returns the result. A body of amqp.Null{} stands for none.
func (r rabbit) request(ctx context.Context, method, path string, body any) (map[string]any, error) {
	reply, err := r.ask(ctx, &amqp.Message{Properties: &amqp.MessageProperties{To: &path, Subject: &method}, Value: body})
	if err != nil {
		return nil, err
	}
	status := ""
	if reply.Properties.Subject != nil {
		status = *reply.Properties.Subject
	}
	class := driver.ErrRejected
	switch status {
	case "200", "201", "204":
		result, _ := reply.Value.(map[string]any)
		return result, nil
	case "404":
		class = driver.ErrNoTopic
	}
	return nil, fmt.Errorf("%w: %s %s: %s %v", class, method, path, status, reply.Value)
}

// createTopic implements broker: an exchange that gives each queue every message.
func (r rabbit) createTopic(ctx context.Context, name string) error {
	_, err := r.request(ctx, "PUT", exchangePath(name), map[string]any{"type": "fanout", "durable": true})
	return err
}

// createQueue implements broker.
func (r rabbit) createQueue(ctx context.Context, topic, name string, latest int) error {
	arguments := map[string]any{}
	if latest >= 0 {
		arguments["x-max-length"] = int64(latest)
	}
	_, err := r.request(ctx, "PUT", queuePath(name), map[string]any{"durable": true, "arguments": arguments})
	if err != nil || topic == "" {
		return err
	}
	_, err = r.request(ctx, "POST", "/bindings", map[string]any{"source": topic, "destination_queue": name, "binding_key": "", "arguments": map[string]any{}})
	return err
}

// delete implements broker.
func (r rabbit) delete(ctx context.Context, t thing) error {
	path := queuePath(t.name)
	if t.what == anExchange {
		path = exchangePath(t.name)
	}
	_, err := r.request(ctx, "DELETE", path, amqp.Null{})
	return err
}

// count implements broker.
func (r rabbit) count(ctx context.Context, queue string) (int64, bool, error) {
	result, err := r.request(ctx, "GET", queuePath(queue), amqp.Null{})
	if err != nil {
		return 0, false, err
	}
	n, ok := result["message_count"].(uint64)
	if !ok {
		return 0, false, fmt.Errorf("%w: the count of messages is %v", driver.ErrRejected, result["message_count"])
	}
	return int64(n), false, nil
}

// queuePath and exchangePath are what the management calls things, and the addresses of messages for them.
func queuePath(name string) string    { return "/queues/" + url.PathEscape(name) }
func exchangePath(name string) string { return "/exchanges/" + url.PathEscape(name) }
