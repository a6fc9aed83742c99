package amqp10

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/Azure/go-amqp"

	"sixnines/driver"
)

// replying is a management that answers as RabbitMQ 4.0 does, and notes what it is asked.
type replying struct {
	status string
	body   any
	asked  []string
	sent   []any
}

func (r *replying) ask(_ context.Context, request *amqp.Message) (*amqp.Message, error) {
	r.asked = append(r.asked, *request.Properties.Subject+" "+*request.Properties.To)
	r.sent = append(r.sent, request.Value)
	return &amqp.Message{Properties: &amqp.MessageProperties{Subject: &r.status}, Value: r.body}, nil
}

func TestRequestsToRabbitMQ(t *testing.T) {
	r := &replying{status: "201"}
	b, ctx := rabbit{r}, t.Context()
	if err := errors.Join(b.createTopic(ctx, "a.t0"), b.createQueue(ctx, "a.t0", "a.t0/g 0", -1), b.createQueue(ctx, "", "q", 7),
		b.delete(ctx, thing{anExchange, "a.t0"}), b.delete(ctx, thing{aQueue, "a.t0//sink"})); err != nil {
		t.Fatal(err)
	}
	asked := []string{"PUT /exchanges/a.t0", "PUT /queues/a.t0%2Fg%200", "POST /bindings", "PUT /queues/q", "DELETE /exchanges/a.t0", "DELETE /queues/a.t0%2F%2Fsink"}
	if !reflect.DeepEqual(r.asked, asked) {
		t.Errorf("asked for %q", r.asked)
	}
	none := map[string]any{}
	sent := []any{map[string]any{"type": "fanout", "durable": true}, map[string]any{"durable": true, "arguments": none},
		map[string]any{"source": "a.t0", "destination_queue": "a.t0/g 0", "binding_key": "", "arguments": none},
		map[string]any{"durable": true, "arguments": map[string]any{"x-max-length": int64(7)}}, amqp.Null{}, amqp.Null{}}
	if !reflect.DeepEqual(r.sent, sent) {
		t.Errorf("sent %v", r.sent)
	}
}

func TestRepliesOfRabbitMQ(t *testing.T) {
	for _, tt := range []struct {
		status string
		body   any
		count  int64
		class  error
	}{
		{"200", map[string]any{"message_count": uint64(12)}, 12, nil},
		{"200", map[string]any{}, 0, driver.ErrRejected},
		{"404", "queue 'q' in vhost '/' not found", 0, driver.ErrNoTopic},
		{"409", "inequivalent arg", 0, driver.ErrRejected},
		{"403", "queue limit exceeded", 0, driver.ErrRejected},
	} {
		n, unaccepted, err := rabbit{&replying{status: tt.status, body: tt.body}}.count(t.Context(), "q")
		text, _ := tt.body.(string)
		if n != tt.count || unaccepted || driver.Class(err) != tt.class || err != nil && !strings.Contains(err.Error(), text) {
			t.Errorf("%s %v: %d, %v", tt.status, tt.body, n, err)
		}
	}
}

func TestWhatBrokersAre(t *testing.T) {
	for product, versions := range map[string]map[string][2]bool{ // manageable, plugin
		"RabbitMQ":                {"3.10.8": {false, true}, "4.0.5": {true, false}, "5.0": {true, false}},
		"apache-activemq-artemis": {"2.40.0": {true, false}},
		"qpid":                    {"9": {false, false}},
		"":                        {"": {false, false}},
	} {
		for version, want := range versions {
			i := identity{"product": product, "version": version}
			if got := [2]bool{i.isManageable(), i.isPlugin()}; got != want {
				t.Errorf("%s %s: %v", product, version, got)
			}
		}
	}
}
