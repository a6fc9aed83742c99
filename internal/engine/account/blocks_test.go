package account

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// The mean is right within its own standard error, however the path goes, and
// however often blocks were joined.
func TestBlocksEstimateAnyPath(t *testing.T) {
	if testing.Short() {
		t.Skip("figures, which the race detector would only blur")
	}
	paths := map[string]func(x float64) float64{
		"steady":   func(x float64) float64 { return 40 },
		"growing":  func(x float64) float64 { return 100 * x },
		"a stall":  func(x float64) float64 { return 1000 * max(0, 0.2-math.Abs(x-0.5)) },
		"periodic": func(x float64) float64 { return 10 + 5*math.Sin(50*math.Pi*x) },
	}
	const span = int64(20 * time.Second)
	for name, path := range paths {
		truth := 0.0
		for i := range 100_000 {
			truth += path((float64(i)+0.5)/100_000) / 100_000
		}
		beyond, trials := 0, 400
		for seed := range trials {
			rng := rand.New(rand.NewPCG(uint64(seed), 1))
			b := blocks{width: int64(16e9 / sampleRate)}
			for at := int64(0); at < span; at += int64(rng.ExpFloat64() * 1e9 / sampleRate) {
				b.add(at, path(float64(at)/float64(span)))
			}
			if mean, deviation, _ := b.estimate(span); math.Abs(mean-truth) > 3*deviation+1e-9*truth {
				beyond++
			}
		}
		// Three standard errors are exceeded by 0.27 % of normal variables; of
		// 400 trials by more than 6 with a probability of 1e-4.
		if beyond > 6 {
			t.Errorf("%s: %d of %d are beyond three standard errors", name, beyond, trials)
		}
	}
}

// A look that takes the processor of one side lets the other go on: if times in flight are as
// short as a look takes, the check finds nothing; if they are long, it finds everything.
func TestLittlesLawLeavesRoomForItsOwnLooks(t *testing.T) {
	w := &sampler{span: 5e9, lateness: 500 * 12_000, wakes: 500}
	const n = 1e6
	tolerance := func(mean float64) float64 {
		inFlight := n * mean / float64(w.span)
		return w.tolerance(inFlight, 0, n, mean, 0, 2500, 30)
	}
	if got := tolerance(14_000); got < 10.0/14 { // as was measured
		t.Errorf("14 µs in flight, woken 12 µs late: %.2f", got)
	}
	if got := tolerance(20e6); got != leastTolerance {
		t.Errorf("20 ms in flight: %.4f", got)
	}
	// Of thousands of faultless runs some are beyond three standard errors, and none beyond four.
	if got := w.tolerance(4000, 400, n, 20e6, 0, 2500, 30); got != 0.4 {
		t.Errorf("a standard error of a tenth: %.4f", got)
	}
}
