package amqp10

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"sixnines/driver"
)

// managementAddress is where Artemis takes requests for its management. A request
// names a resource, with an operation and its parameters, or with an attribute.
const managementAddress = "activemq.management"

// createQueue makes a queue that outlives its consumers, unless there is one of that
// name, and its address. It keeps the latest messages, up to that number; -1: all.
func (c *conn) createQueue(ctx context.Context, address, name, routing string, latest int) error {
	config, err := json.Marshal(map[string]any{"name": name, "address": address, "routing-type": routing, "ring-size": latest,
		"durable": true, "auto-create-address": true, "auto-delete": false})
	if err != nil {
		return err
	}
	return c.operate(ctx, "createQueue", string(config), true)
}

// deleteAddress deletes an address, with its queues and their consumers, if there is
// one.
func (c *conn) deleteAddress(ctx context.Context, name string) error {
	if err := c.operate(ctx, "deleteAddress", name, true); !errors.Is(err, driver.ErrNoTopic) {
		return err
	}
	return nil
}

// count returns how many messages a queue has, with those that consumers have not
// accepted yet.
func (c *conn) count(ctx context.Context, queue string) (int64, error) {
	result, err := c.request(ctx, map[string]any{"_AMQ_ResourceName": "queue." + queue, "_AMQ_Attribute": "messageCount"})
	if err != nil {
		return 0, err
	}
	n, ok := result.(float64)
	if !ok {
		return 0, fmt.Errorf("%w: the count of messages is %v", driver.ErrRejected, result)
	}
	return int64(n), nil
}

// exists returns an error, of class ErrNoTopic where it is missing, unless the broker has the resource.
func (c *conn) exists(ctx context.Context, resource, attribute string) error {
	_, err := c.request(ctx, map[string]any{"_AMQ_ResourceName": resource, "_AMQ_Attribute": attribute})
	return err
}

// operate has the broker do something.
func (c *conn) operate(ctx context.Context, operation string, params ...any) error {
	_, err := c.request(ctx, map[string]any{"_AMQ_ResourceName": "broker", "_AMQ_OperationName": operation}, params...)
	return err
}

// request asks for what the properties say, and returns the result.
func (c *conn) request(ctx context.Context, properties map[string]any, params ...any) (any, error) {
	return c.manager.request(ctx, properties, params...)
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
