package kit

import (
	"errors"
	"fmt"
	"testing"

	"sixnines/driver"
)

func TestNames(t *testing.T) {
	e := &Errors{Driver: "test"}
	for name, ok := range map[string]bool{"t0": true, "a.b-c_D": true, "": false, "a b": false, "a/b": false, "a b c": false, "ü": false, "a\x00b": false, fmt.Sprintf("%0201d", 1): false} {
		if err := e.CheckName("topic", name); (err == nil) != ok || err != nil && !errors.Is(err, driver.ErrUnsupported) {
			t.Errorf("%q: %v", name, err)
		}
	}
}
