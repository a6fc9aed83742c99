package rabbitmqstream

import (
	"errors"
	"testing"

	"sixnines/driver"
)

// Who begins with the last chunk has a place from its first message on: asking again
// is of use.
func TestDepthIsNotKnownYet(t *testing.T) {
	s, err := newSession(driver.Target{URL: "host", Run: "r"}, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	s.consumers[0] = &consumer{parts: []*part{{stream: s.stream("t0")}}}
	if _, err := s.Depth(t.Context(), "t0", driver.ConsumerSpec{}); err == nil || errors.Is(err, driver.ErrUnsupported) {
		t.Errorf("before the first message: %v", err)
	}
}
