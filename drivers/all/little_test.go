package all_test

import (
	"math"
	"testing"

	"sixnines/drivers/all"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
	"sixnines/internal/judge"
)

// Redis's answers to publishes are read late on purpose: with sixteen large deliveries for each
// message they lie there for as long as they took to come. They are stamped when they came and
// counted when they are read, and the check of Little's law knows that.
func TestAnswersThatAreReadLate(t *testing.T) {
	if testing.Short() {
		t.Skip("figures, which the race detector blurs")
	}
	e, ok := all.Set().Lookup("redis")
	if !ok {
		t.Fatal("no driver redis")
	}
	c := brokertest.Start(t, "redis", brokers.Options{})
	var off, tolerance float64
	for range 4 { // other programs may take the processor between a stamp and its count
		run := measure(t.Context(), t, config(e, c, parse(t, `
workload: {rate: 500/s, arrivals: poisson, size: 46363B, consumers: 32, producers: 2, topics: 2}
phases: {warmup: 500ms, duration: 3s, drain: 20s}
`)))
		l, ok := judge.Little(run)
		if !ok || run.Series[len(run.Series)-1].Vitals["little.read_late"] <= 0 {
			t.Fatal("nothing was sampled, or nothing read late")
		}
		if off, tolerance = math.Abs(l.Off()), l.Tolerance; off <= tolerance {
			return
		}
	}
	t.Errorf("counting and stamps differ by %.0f %%, %.0f %% are allowed", 100*off, 100*tolerance)
}
