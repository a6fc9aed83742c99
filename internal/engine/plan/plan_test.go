package plan

import "testing"

// A load may come to one pacer for each of a few connections. Many connections share two for each
// processor, 32 at most.
func TestPacersFor(t *testing.T) {
	for _, tt := range []struct{ lanes, processors, want int }{
		{0, 2, 1}, {1, 2, 1}, {4, 2, 4}, {5, 2, 4}, {700, 2, 4}, {3, 1, 2}, {8, 8, 8}, {700, 64, 32},
	} {
		if got := pacersFor(tt.lanes, tt.processors); got != tt.want {
			t.Errorf("%d lanes on %d processors: %d pacers, want %d", tt.lanes, tt.processors, got, tt.want)
		}
	}
}

// Pacers take at most a fifth of the processors that they share with a broker, and never
// more than half of one.
func TestSpinShare(t *testing.T) {
	for _, tt := range []struct {
		processors int
		shared     bool
		want       float64
	}{{1, true, 0.2}, {2, true, 0.4}, {3, true, 0.5}, {64, true, 0.5}, {1, false, 0.5}, {8, false, 0.5}} {
		if got := spinShare(tt.processors, tt.shared); got != tt.want {
			t.Errorf("%d processors, shared %t: %v of one, want %v", tt.processors, tt.shared, got, tt.want)
		}
	}
}
