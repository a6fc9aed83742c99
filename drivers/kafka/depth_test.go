package kafka_test

import (
	"errors"
	"testing"

	"sixnines/driver"
)

// Only a group that commits is behind by what it has not consumed.
func TestDepthOfAGroupThatCommitsNothing(t *testing.T) {
	s := fakeSession(t, nil)
	provision(t, s, driver.Topology{Topics: []string{"t0"}, Groups: []string{"g0"}})
	for mode, unknown := range map[driver.AckMode]bool{driver.AckNone: true, driver.AckEach: false, driver.AckDefault: false} {
		spec := driver.ConsumerSpec{Group: "g0", Ack: driver.ConsumerAck{Mode: mode}}
		if _, err := s.(driver.DepthTeller).Depth(t.Context(), "t0", spec); errors.Is(err, driver.ErrUnsupported) != unknown || !unknown && err != nil {
			t.Errorf("mode %v: %v", mode, err)
		}
	}
}
