package resp

import (
	"context"
	"errors"
	"testing"

	"sixnines/driver"
)

// A server that is to get slots, and has none yet, is not ended because others do not name it. From when it has some it is.
func TestMastersAwaited(t *testing.T) {
	var m masters
	named := m.at(t.Context(), "a:1")
	m.await(t.Context(), "a:1") // it is known already
	m.await(t.Context(), "b:1")
	awaited := m.at(t.Context(), "b:1")
	for _, step := range []struct {
		only               []string
		named, awaitedEnds bool
	}{
		{[]string{"a:1"}, false, false},
		{[]string{"a:1", "b:1"}, false, false},
		{[]string{"a:1"}, false, true},
		{nil, true, true},
	} {
		m.only(step.only, "%s is none")
		if (named.Err() != nil) != step.named || (awaited.Err() != nil) != step.awaitedEnds {
			t.Errorf("only %v: %v, %v", step.only, named.Err(), awaited.Err())
		}
	}
	if why := context.Cause(awaited); !errors.Is(why, driver.ErrNotConnected) {
		t.Error(why)
	}
}
