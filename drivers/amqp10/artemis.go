package amqp10

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/Azure/go-amqp"

	"sixnines/driver"
)

// managementAddress is where Artemis takes requests for its management. A request
// names a resource, with an operation and its parameters, or with an attribute.
const managementAddress = "activemq.management"

// artemis is ActiveMQ Artemis.
type artemis struct{ *manager }

// artemisPair has replies come to an address of the run's own: one that the broker names could not be allowed to an account that
// may use the run's names only.
func artemisPair(prefix string) pair {
	p := pair{requests: managementAddress, receiver: &amqp.ReceiverOptions{SourceCapabilities: []string{"queue"}}}
	p.replies = prefix + rand.Text()[:8]
	p.replyTo = p.replies
	body, _ := json.Marshal([]any{p.replies, true}) // of a string and a bool
	// The request has no reply address, since the address of replies is what it deletes. If that fails, the broker deletes the
	// address itself when it has been unused for a while.
	p.farewell = &amqp.Message{Value: string(body),
		ApplicationProperties: map[string]any{"_AMQ_ResourceName": "broker", "_AMQ_OperationName": "deleteAddress"}}
	return p
}

// createTopic implements broker.
func (a artemis) createTopic(ctx context.Context, name string) error {
	return a.operate(ctx, "createAddress", name, "MULTICAST")
}

// createQueue implements broker.
func (a artemis) createQueue(ctx context.Context, address, name string, latest int) error {
	routing := "MULTICAST"
	if address == "" {
		address, routing = name, "ANYCAST"
	}
	config, err := json.Marshal(map[string]any{"name": name, "address": address, "routing-type": routing, "ring-size": latest,
		"durable": true, "auto-create-address": true, "auto-delete": false})
	if err != nil {
		return err
	}
	return a.operate(ctx, "createQueue", string(config), true)
}

// delete implements broker: an address with its queues and their consumers, or a queue with its.
func (a artemis) delete(ctx context.Context, t thing) error {
	operation := "deleteAddress"
	if t.what == aQueue {
		operation = "destroyQueue"
	}
	if err := a.operate(ctx, operation, t.name, true); !errors.Is(err, driver.ErrNoTopic) {
		return err
	}
	return nil
}

// count implements broker.
func (a artemis) count(ctx context.Context, queue string) (int64, bool, error) {
	result, err := a.request(ctx, map[string]any{"_AMQ_ResourceName": "queue." + queue, "_AMQ_Attribute": "messageCount"})
	if err != nil {
		return 0, false, err
	}
	n, ok := result.(float64)
	if !ok {
		return 0, false, fmt.Errorf("%w: the count of messages is %v", driver.ErrRejected, result)
	}
	return int64(n), true, nil
}

// exists returns an error, of class ErrNoTopic where it is missing, unless the broker has the resource.
func (a artemis) exists(ctx context.Context, resource, attribute string) error {
	_, err := a.request(ctx, map[string]any{"_AMQ_ResourceName": resource, "_AMQ_Attribute": attribute})
	return err
}

// addresses lists all of the broker's.
func (a artemis) addresses(ctx context.Context) (all []string, err error) {
	result, err := a.request(ctx, map[string]any{"_AMQ_ResourceName": "broker", "_AMQ_OperationName": "getAddressNames"})
	names, _ := result.([]any)
	for _, name := range names {
		if text, ok := name.(string); ok {
			all = append(all, text)
		}
	}
	return all, err
}

// operate has the broker do something.
func (a artemis) operate(ctx context.Context, operation string, params ...any) error {
	_, err := a.request(ctx, map[string]any{"_AMQ_ResourceName": "broker", "_AMQ_OperationName": operation}, params...)
	return err
}

// request asks for what the properties say, and returns the result.
func (a artemis) request(ctx context.Context, properties map[string]any, params ...any) (any, error) {
	if params == nil {
		params = []any{}
	}
	body, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	reply, err := a.ask(ctx, &amqp.Message{ApplicationProperties: properties, Value: string(body)})
	if err != nil {
		return nil, err
	}
	return resultOf(reply)
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

// refusal is the error of an answer that consists of words.
func refusal(words string) error {
	class := driver.ErrRejected
	switch lower := strings.ToLower(words); {
	case strings.Contains(lower, "not exist"), strings.Contains(lower, "retrieving attribute"): // of what there is not
		class = driver.ErrNoTopic
	case strings.Contains(lower, "permission"):
		class = driver.ErrForbidden
	}
	return fmt.Errorf("%w: %s", class, words)
}
