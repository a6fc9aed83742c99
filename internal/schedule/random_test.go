package schedule

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"sixnines/scenario"
)

// Anderson–Darling's statistic of gaps against an exponential distribution of
// known mean; above 3.880 in 1 % of all samples (RFC 2330, appendix).
func andersonDarling(gaps []float64, mean float64) float64 {
	z := make([]float64, len(gaps))
	for i, g := range gaps {
		z[i] = -math.Expm1(-g / mean)
	}
	slices.Sort(z)
	n, sum := float64(len(z)), 0.0
	for i, x := range z {
		k := float64(i + 1)
		sum += (2*k-1)*math.Log(x) + (2*n+1-2*k)*math.Log1p(-x)
	}
	return -n - sum/n
}

func TestPoissonIsPoisson(t *testing.T) {
	const window = 20 * time.Second
	rejected, tests := 0, 0
	for seed := range uint64(5) {
		for _, producers := range []int{1, 7, 100} {
			w := workload(scenario.Rate{Messages: 10000, Per: 3 * time.Second}, producers, scenario.Arrivals{Kind: scenario.Poisson})
			p, err := New(w, window, seed+1)
			if err != nil {
				t.Fatal(err)
			}
			expected, exact := p.Total()
			if exact || expected != 66667 {
				t.Fatalf("%d messages expected, exact %v", expected, exact)
			}
			var all []int
			for i := range producers {
				all = append(all, i)
			}
			events := drain(t, p.Merge(all, Window).Next, endOfTime)
			// 5 sigma of a Poisson count.
			if d := math.Abs(float64(len(events)) - float64(expected)); d > 5*math.Sqrt(float64(expected)) {
				t.Errorf("seed %d, %d producers: %d messages, %d expected", seed, producers, len(events), expected)
			}
			// The superposition's gaps, in samples small enough to be judged.
			for start := 0; start+501 <= len(events); start += 5000 {
				var gaps []float64
				for i := start; i < start+500; i++ {
					gaps = append(gaps, max(0.5, float64(events[i+1].t-events[i].t)))
				}
				tests++
				if andersonDarling(gaps, 3e5) > 3.880 {
					rejected++
				}
			}
			if producers == 7 {
				for i := range producers {
					n := float64(p.CountProducer(i))
					if want := float64(expected) / 7; math.Abs(n-want) > 5*math.Sqrt(want) {
						t.Errorf("producer %d has %v messages of %v", i, n, want)
					}
				}
			}
		}
	}
	// 1 % expected, of some 200: more than 8 have a probability below 0.1 %.
	if rejected > 8 || tests < 150 {
		t.Errorf("%d of %d samples are not exponential at 1 %%", rejected, tests)
	}
}

func TestRescaledFollowsItsRate(t *testing.T) {
	const window = 100 * time.Second
	for _, text := range []string{"step:2000/s@30s,100/s@50s,5000/s@20s,random", "ramp:10/s..4000/s,random", "ramp:4000/s..10/s,random", "sine:100%@40s,random", "sine:30%@7s,random"} {
		a, err := scenario.ParseArrivals(text)
		if err != nil {
			t.Fatal(err)
		}
		even := a
		even.Random = false
		for _, producers := range []int{1, 13} {
			p := mustPlan(t, workload(scenario.PerSecond(2000), producers, a), window)
			q := mustPlan(t, workload(scenario.PerSecond(2000), producers, even), window)
			const slots = 50
			var got, want [slots]float64
			var all []int
			for i := range producers {
				all = append(all, i)
			}
			for _, e := range drain(t, p.Merge(all, Window).Next, endOfTime) {
				got[e.t*slots/int64(window)]++
			}
			for _, e := range drain(t, q.Merge(all, Window).Next, endOfTime) {
				want[e.t*slots/int64(window)]++
			}
			chi := 0.0
			for i := range slots {
				e := max(want[i], 1)
				if math.Abs(got[i]-want[i]) > 6*math.Sqrt(e)+2 {
					t.Errorf("%s, %d producers: slot %d has %v messages, %v expected", text, producers, i, got[i], want[i])
				}
				chi += (got[i] - e) * (got[i] - e) / e
			}
			// χ² with 50 degrees of freedom exceeds 100 with probability 4e−5, and is
			// below 20 with 5e−5.
			if chi > 100 || chi < 20 {
				t.Errorf("%s, %d producers: χ² is %v", text, producers, chi)
			}
		}
	}
}

func TestStreamsAreIndependent(t *testing.T) {
	const window = 10 * time.Second
	w := workload(scenario.PerSecond(20000), 20, scenario.Arrivals{Kind: scenario.Poisson})
	counts := func(seed uint64, producer int) []float64 {
		p, err := New(w, window, seed)
		if err != nil {
			t.Fatal(err)
		}
		n := make([]float64, 1000)
		c := p.Producer(producer)
		for {
			at, ok := c.Next()
			if !ok {
				return n
			}
			n[at/1e7]++
		}
	}
	correlation := func(a, b []float64) float64 {
		var sa, sb, saa, sbb, sab float64
		for i := range a {
			sa, sb = sa+a[i], sb+b[i]
			saa, sbb, sab = saa+a[i]*a[i], sbb+b[i]*b[i], sab+a[i]*b[i]
		}
		n := float64(len(a))
		return (sab - sa*sb/n) / math.Sqrt((saa-sa*sa/n)*(sbb-sb*sb/n))
	}
	for i := range 19 {
		// The standard error is 1/√1000 = 0.032.
		if r := correlation(counts(1, i), counts(1, i+1)); math.Abs(r) > 0.15 {
			t.Errorf("producers %d and %d correlate by %v", i, i+1, r)
		}
		if r := correlation(counts(uint64(i), 3), counts(uint64(i)+1, 3)); math.Abs(r) > 0.15 {
			t.Errorf("seeds %d and %d correlate by %v", i, i+1, r)
		}
	}
	if r := correlation(counts(5, 5), counts(5, 5)); r < 0.999 {
		t.Errorf("the same seed gives another schedule: %v", r)
	}
	p := mustPlan(t, w, window).WithWarmup(time.Second)
	before, in, after := p.Before(0), p.Producer(0), p.After(0)
	a, _ := before.Next()
	b, _ := in.Next()
	c, _ := after.Next()
	if a+int64(time.Second) == b || b == c-int64(window) {
		t.Error("the phases share a stream")
	}
}

// TestFrozen pins the schedules: a seed means the same in every version.
func TestFrozen(t *testing.T) {
	frozen := map[string]string{
		"constant":                        "0@-999900000 1@-999600000 0@-700200000 0@0 1@300000 0@299700000 1@10000200000 2@10000500000 1@10299900000 ",
		"poisson":                         "2@-999807716 0@-999053435 2@-708651210 1@305103 2@390908 0@310248115 2@10000178955 1@10000227953 1@10288639372 ",
		"step:1000/s@1s,100/3s@9s":        "2@-1000000000 0@-999000000 2@-1000000 0@0 1@1000000 0@999000000 1@10000000000 2@10030000000 1@39970000000 ",
		"ramp:10/s..5000/s":               "2@-1000000000 0@-900000000 0@0 1@46364895 0@1981062021 0@10000000000 1@10000200000 0@10199800000 ",
		"sine:100%@3s":                    "0@-999900000 1@-999600000 0@-700200000 0@0 1@299905 0@240432338 0@10000055066 1@10000215836 0@10160663830 ",
		"burst:2@1ms":                     "1@-1000000000 2@-1000000000 1@-501000000 0@0 1@0 0@499000000 2@10000000000 0@10000000000 2@10499000000 ",
		"step:1000/s@1s,100/3s@9s,random": "2@-999359052 0@-996844782 2@-28837365 1@1017010 2@1303027 0@2024811546 2@10017895589 1@10022795339 1@38863937212 ",
		"ramp:10/s..5000/s,random":        "2@-935905152 0@-684478113 1@46876280 2@54954323 0@2015969008 2@10000119303 1@10000151968 1@10192426248 ",
		"sine:100%@3s,random":             "2@-999807716 0@-999053435 2@-708651210 1@305005 2@390748 0@247516238 2@10000095902 1@10000122159 1@10154681390 ",
	}
	for text, want := range frozen {
		a, err := scenario.ParseArrivals(text)
		if err != nil {
			t.Fatal(err)
		}
		w := workload(scenario.Rate{Messages: 10000, Per: 3 * time.Second}, 3, a)
		p, err := New(w, 10*time.Second, 42)
		if err != nil {
			t.Fatal(err)
		}
		p = p.WithWarmup(time.Second)
		got := ""
		for phase := Before; phase < phases; phase++ {
			m := p.Merge([]int{0, 1, 2}, phase)
			for i := range 1000 {
				at, producer, ok := m.Next()
				if !ok {
					break
				}
				if i < 2 || i == 999 {
					got += fmt.Sprintf("%d@%d ", producer, at)
				}
			}
		}
		if got != want {
			t.Errorf("%q:\n got  %q\n want %q", text, got, want)
		}
	}
}

func TestNextDoesNotAllocate(t *testing.T) {
	for name, w := range kinds(t, 7) {
		p := mustPlan(t, w, maxWindow)
		c := p.Producer(3)
		m := p.Merge([]int{1, 2, 4}, Window)
		all := p.Merge([]int{0, 1, 2, 3, 4, 5, 6}, After)
		if n := testing.AllocsPerRun(100, func() { c.Next(); m.Next(); all.Next() }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
