package cli

import (
	"testing"

	"sixnines/drivers/redisstreams"
	"sixnines/scenario"
)

// A scenario with a drawn timeline is as one in which the same timeline was written: where it can lose
// messages, what the broker keeps is read back.
func TestDrawnActionsHaveTheirDefaults(t *testing.T) {
	e := redisstreams.Entry()
	for seed := uint64(1); seed <= 5; seed++ {
		s, err := scenario.Parse("x.yaml", []byte("target: {driver: redis-streams}\nphases: {duration: 60s}\n"))
		if err != nil {
			t.Fatal(err)
		}
		s.Normalise()
		if err := drawActions(s, e, seed); err != nil {
			t.Fatal(err)
		}
		text, err := s.Encode()
		if err != nil {
			t.Fatal(err)
		}
		written, err := scenario.Parse("y.yaml", text)
		if err != nil {
			t.Fatal(err)
		}
		if written.Normalise(); s.Phases != written.Phases || s.CanLose() && s.Phases.ReadBack == 0 {
			t.Errorf("seed %d: drawn %+v, written %+v", seed, s.Phases, written.Phases)
		}
	}
}
