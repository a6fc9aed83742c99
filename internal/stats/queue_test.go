package stats

import (
	"math"
	"testing"
)

// Erlang's formula, which is exact as long as its terms do not cancel:
// P(W ≤ x) = (1−ρ)·Σ_{i≤x} (−ρ(x−i))^i/i!·e^(ρ(x−i)).
func erlangWaits(rho, x float64) float64 {
	sum := 0.0
	for i := 0; float64(i) <= x; i++ {
		z := rho * (x - float64(i))
		factorial, _ := math.Lgamma(float64(i) + 1)
		sum += math.Pow(-z, float64(i)) * math.Exp(z-factorial)
	}
	return (1 - rho) * sum
}

func TestMD1WaitsAsErlangSays(t *testing.T) {
	for _, rho := range []float64{0.1, 0.5, 0.7, 0.9, 0.95} {
		q := newMD1(rho)
		for x := 0.0; x < 12; x += 0.13 {
			if got, want := q.waits(x), erlangWaits(rho, x); math.Abs(got-want) > 1e-9 {
				t.Errorf("ρ = %g: P(W ≤ %g) is %.12f, want %.12f", rho, x, got, want)
			}
		}
		// The mean is Pollaczek and Khinchine's, ρ/(2(1−ρ)), by Simpson's rule
		// between the kinks.
		mean := 0.0
		for k := 0; k == 0 || 1-q.waits(float64(k)) > 1e-12; k++ {
			x, end := float64(k), math.Nextafter(float64(k+1), 0)
			mean += (6 - q.waits(x) - 4*q.waits(x+0.5) - q.waits(end)) / 6
		}
		if want := rho / (2 * (1 - rho)); math.Abs(mean-want) > 2e-4*want {
			t.Errorf("ρ = %g: the mean waiting time is %g, want %g", rho, mean, want)
		}
	}
}

// The tail is an exponential one, however far it goes: e^(−θx), θ being the root
// of ρ(e^θ−1) = θ above 0 (Tijms, A First Course in Stochastic Models, section
// 9.6).
func TestMD1HasAnExponentialTail(t *testing.T) {
	for _, rho := range []float64{0.5, 0.9, 0.95, 0.99} {
		low, high := 1e-9, 10.0
		for range 200 {
			if mid := (low + high) / 2; rho*math.Expm1(mid) < mid {
				low = mid
			} else {
				high = mid
			}
		}
		for _, p := range []float64{0.999, 0.9999, 0.99999} {
			got := MD1Sojourn(rho, 1-(1-p)/10) - MD1Sojourn(rho, p)
			if want := math.Ln10 / low; math.Abs(got-want) > 1e-3*want {
				t.Errorf("ρ = %g: from p%g on a nine takes %g, want %g", rho, 100*p, got, want)
			}
		}
	}
}

func TestSojournQuantiles(t *testing.T) {
	for _, tt := range []struct {
		name      string
		got, want float64
	}{
		{"M/M/1 p50", MM1Sojourn(0.9, 0.5), 6.931471805599453},
		{"M/M/1 p99", MM1Sojourn(0.5, 0.99), 9.210340371976182},
		{"M/D/1, nobody waits", MD1Sojourn(0.3, 0.7), 1},
		{"M/D/1, in the first service time", MD1Sojourn(0.5, 0.6), 1 + math.Log(0.6/0.5)/0.5},
	} {
		if math.Abs(tt.got-tt.want) > 1e-9 {
			t.Errorf("%s: %.12f, want %.12f", tt.name, tt.got, tt.want)
		}
	}
	for _, x := range []float64{MM1Sojourn(1, 0.5), MM1Sojourn(0.5, 1), MD1Sojourn(0, 0.5), MD1Sojourn(0.5, 0), MD1Sojourn(math.NaN(), 0.5)} {
		if !math.IsNaN(x) {
			t.Errorf("there is a quantile of what has none: %g", x)
		}
	}
}

func TestQueueDelay(t *testing.T) {
	for _, c := range []struct{ busy, waited, want float64 }{
		{0, 0, 1},
		{0.6, 0, 1},
		{0.6, 0.2, 2},
		{0.2, 0.2, 4.0 / 3},
		{0, 0.5, 2},    // it hardly serves, and what comes waits half of the time
		{0.5, 0.5, 50}, // it never gets to the end of its queue
		{0.5, 1, 50},
		{0, 1, 100},
		{1, 0, 1}, // at its own limit
		{1, 1, 1},
	} {
		if got := QueueDelay(c.busy, c.waited); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("busy for %g, waiting for %g: %g, want %g", c.busy, c.waited, got, c.want)
		}
	}
}

// With a share of the time for waiting a server is as one whose services take so much longer.
func TestSojournDelay(t *testing.T) {
	for _, c := range []struct{ busy, waited, want float64 }{
		{0, 0, 1},
		{0, 0.5, 2}, // nothing is known of its services
		{0.6, 0, 1},
		{0.2, 0.4, 6},
		{0.25, 0.1, 1.4 * 0.75 / 0.65},
		{0.8, 0.1, 2.25},
		{0.5, 0.5, 100},
		{0.001, 0.9, 100},
		{1, 0, 1},
	} {
		got := SojournDelay(c.busy, c.waited)
		if math.Abs(got-c.want) > 1e-9 {
			t.Errorf("busy for %g, waiting for %g: %g, want %g", c.busy, c.waited, got, c.want)
		}
		if c.busy == 0 || got == 100 {
			continue
		}
		mean := func(service, rho float64) float64 { return service / (1 - rho) }
		if want := mean(c.busy+c.waited, c.busy+c.waited) / mean(c.busy, c.busy); c.busy < 1 && math.Abs(got-want) > 1e-9 {
			t.Errorf("busy for %g, waiting for %g: %g, of M/M/1 %g", c.busy, c.waited, got, want)
		}
	}
}
