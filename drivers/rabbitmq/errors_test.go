package rabbitmq

import (
	"errors"
	"fmt"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"

	"sixnines/drivers/rabbitmq/wire"
)

func TestPasses(t *testing.T) {
	for _, test := range []struct {
		err  error
		want bool
	}{
		{&wire.Error{Code: 541, Text: "INTERNAL_ERROR - Cannot declare a queue 'q' on node 'rabbit@a': timeout"}, true},
		{&wire.Error{Code: 404, Text: "NOT_FOUND - home node 'rabbit@b' of durable queue 'q' in vhost '/' is down or inaccessible"}, true},
		{&wire.Error{Code: 530, Text: "NOT_ALLOWED - vhost '/' is down"}, true},
		{&amqp.Error{Code: 541, Reason: "INTERNAL_ERROR"}, true},
		{&wire.Error{Code: 541, Text: "INTERNAL_ERROR - Feature `transient_nonexcl_queues` is deprecated.\nBy default, this feature is not permitted anymore."}, false},
		{&wire.Error{Code: 404, Text: "NOT_FOUND - no queue 'q' in vhost '/'"}, false},
		{&wire.Error{Code: 530, Text: "NOT_ALLOWED - vhost x not found"}, false},
		{&wire.Error{Code: 406, Text: "PRECONDITION_FAILED - inequivalent arg"}, false},
		{errors.New("EOF"), false},
	} {
		if got := passes(fmt.Errorf("declare: %w", test.err)); got != test.want {
			t.Errorf("%v: %v", test.err, got)
		}
	}
}
