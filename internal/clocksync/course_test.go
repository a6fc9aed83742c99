package clocksync

import (
	"math/rand/v2"
	"testing"
)

// A clock whose rate is changed at once, by up to 500 ppm and once a second, is within the bound at every instant between readings, and the
// bound is far below what the slew alone allows.
func TestCourse(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		var kinks []float64
		for range 12 {
			kinks = append(kinks, (rng.Float64()-0.5)*1e-3)
		}
		shift := rng.Int64N(1e9)
		truth := func(at int64) int64 { // ns since 0; the rate changes at shift + n seconds
			sum := 0.0
			for n, rate := range kinks {
				from, to := int64(n-1)*1e9+shift, int64(n)*1e9+shift
				from = max(from, 0)
				if at > from {
					sum += rate * float64(min(at, to)-from)
				}
			}
			return int64(sum)
		}
		const width = 100
		var c Course
		for at := int64(0); at < 10e9; at += 1e6 + rng.Int64N(100e6) {
			c.Add(Reading{at, truth(at) + rng.Int64N(width) - width/2, width})
		}
		from, to, ok := c.Between()
		if !ok {
			t.Fatal("nothing is known")
		}
		var sum, n int64
		for at := from; at < to; at += 3_333_333 {
			ahead, bound, _, ok := c.At(at)
			wrong := ahead - truth(at)
			if !ok || max(wrong, -wrong) > bound {
				t.Fatalf("at %d it is %d ± %d, and the truth is %d", at, ahead, bound, truth(at))
			}
			sum, n = sum+bound, n+1
		}
		if mean := sum / n; mean > 2000 {
			t.Errorf("the mean bound is %d ns", mean)
		}
	}
}

// A short stretch between long ones: these have the same mean rate, and the rate changes in it all the same.
func TestCourseBesideLongStretches(t *testing.T) {
	truth := func(at int64) int64 { // ± 400 ppm, changed at 1 s, 2.2 s and 3.4 s
		sum, rate, from := int64(0), int64(400), int64(0)
		for _, kink := range []int64{1e9, 2.2e9, 3.4e9, 1e10} {
			sum += rate * (min(max(at, from), kink) - from) / 1e6
			rate, from = -rate, kink
		}
		return sum
	}
	const width = 100
	var c Course
	for _, at := range []int64{0, 2e9, 2.4e9, 4.4e9} {
		c.Add(Reading{at, truth(at), width})
	}
	for at := int64(2e9); at <= 2.4e9; at += 1e7 {
		ahead, bound, _, ok := c.At(at)
		if wrong := ahead - truth(at); !ok || max(wrong, -wrong) > bound {
			t.Fatalf("at %d it is %d ± %d, and the truth is %d", at, ahead, bound, truth(at))
		}
	}
}

func TestCourseIsNotKnown(t *testing.T) {
	var c Course
	c.Add(Reading{At: 5, Ahead: 1})
	c.Add(Reading{10, 1, 2})
	c.Add(Reading{10, 2, 2})
	if _, _, _, ok := c.At(10); ok {
		t.Error("one reading is a course")
	}
	if _, _, _, ok := c.Ahead(20); ok {
		t.Error("one reading foretells")
	}
	c.Add(Reading{1_000_010, 101, 2})
	c.Add(Reading{100_000_010, 10_001, 2})
	if ahead, slope, _, ok := c.Ahead(200_000_010); !ok || ahead != 20_001 || slope != 1e-4 {
		t.Errorf("%d, %g, %v", ahead, slope, ok)
	}
	if ahead, bound, _, ok := c.At(50_000_010); !ok || ahead != 5001 || bound < 25_000 || bound > 25_010 {
		t.Errorf("%d ± %d, %v", ahead, bound, ok)
	}
	for _, at := range []int64{9, 100_000_011} {
		if _, _, _, ok := c.At(at); ok {
			t.Errorf("%d is outside", at)
		}
	}
	if _, _, ok := c.Between(); ok {
		t.Error("no stretch has one on both sides")
	}
}
