package schedule

import (
	"testing"
	"time"

	"sixnines/scenario"
)

// Most is at least the count of the busiest stretch, counted message by message, and at
// most that of a stretch of twice the length.
func TestMostIsTheBusiestStretch(t *testing.T) {
	second := func(n uint64) scenario.Rate { return scenario.Rate{Messages: n, Per: time.Second} }
	for name, a := range map[string]scenario.Arrivals{
		"constant": {Kind: scenario.Constant},
		"poisson":  {Kind: scenario.Poisson},
		"step":     {Kind: scenario.Step, Steps: []scenario.RateStep{{Rate: second(10), For: 3 * time.Second}, {Rate: second(2000), For: time.Second}, {Rate: second(50), For: time.Second}}},
		"ramp":     {Kind: scenario.Ramp, From: second(10), To: second(3000)},
		"sine":     {Kind: scenario.Sine, Amplitude: 0.9, Period: 4 * time.Second},
		"burst":    {Kind: scenario.Burst, Count: 700, Period: 1500 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := New(&scenario.Workload{Loop: scenario.Open, Rate: second(500), Arrivals: a, Producers: 3}, 8*time.Second, 1)
			if err != nil {
				t.Fatal(err)
			}
			var due []int64
			for m := p.Merge([]int{0, 1, 2}, Window); ; {
				at, _, ok := m.Next()
				if !ok {
					break
				}
				due = append(due, at)
			}
			busiest := func(length int64) (most int) {
				from := 0
				for i, at := range due {
					for at-due[from] >= length {
						from++
					}
					most = max(most, i-from+1)
				}
				return most
			}
			for _, length := range []time.Duration{time.Millisecond, 300 * time.Millisecond, time.Second, 5 * time.Second, time.Minute} {
				n := int(p.Most(length))
				if least := busiest(int64(length)); n < least {
					t.Errorf("%v: at most %d, and there are %d", length, n, least)
				}
				if largest := busiest(2*int64(length)) + 1; !p.random && n > largest {
					t.Errorf("%v: at most %d, and twice the length has %d", length, n, largest)
				}
			}
		})
	}
}
