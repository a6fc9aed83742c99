package scenario

import "testing"

// No more than all can be answered: an objective that asks for it is a mistake.
func TestAvailabilityIsAtMostAll(t *testing.T) {
	for _, s := range []string{"availability > 101%", "availability >= 100.1%", "availability > 100%"} {
		if o, err := ParseObjective(s); err == nil {
			t.Errorf("%s is read as %s", s, o)
		}
	}
	for _, s := range []string{"availability >= 100%", "availability > 99.99%"} {
		if _, err := ParseObjective(s); err != nil {
			t.Errorf("%s: %v", s, err)
		}
	}
}
