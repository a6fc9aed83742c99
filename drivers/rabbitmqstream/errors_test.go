package rabbitmqstream

import (
	"errors"
	"fmt"
	"testing"

	"sixnines/drivers/rabbitmqstream/wire"
)

func TestPasses(t *testing.T) {
	for _, test := range []struct {
		err  error
		want bool
	}{
		{&wire.Error{Code: wire.NotAvailable}, true},
		{&wire.Error{Code: wire.InternalError}, true},
		{errNoLeader, true},
		{&wire.Error{Code: wire.NoStream}, false},
		{&wire.Error{Code: wire.PreconditionFailed}, false},
		{errors.New("EOF"), false},
	} {
		if got := passes(fmt.Errorf("create: %w", test.err)); got != test.want {
			t.Errorf("%v: %v", test.err, got)
		}
	}
}
