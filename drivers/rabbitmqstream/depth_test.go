package rabbitmqstream

import (
	"errors"
	"testing"

	"sixnines/driver"
)

// Who begins with the last chunk has a place from its first message on: asking again
// is of use.
func TestDepthIsNotKnownYet(t *testing.T) {
	s := &session{consumers: map[*consumer]struct{}{}}
	s.consumers[&consumer{parts: []*part{{stream: s.stream("t0")}}}] = struct{}{}
	if _, err := s.Depth(t.Context(), "t0", driver.ConsumerSpec{}); err == nil || errors.Is(err, driver.ErrUnsupported) {
		t.Errorf("before the first message: %v", err)
	}
}
