package stats

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

func ExampleMeet() {
	// 40 requests a page, 5 pages: who meets one of the slowest hundredth?
	e := Meet(0.01, 40*5)
	fmt.Printf("%.4f, at least %.2f\n", e.Independent, e.Clustered)
	fmt.Printf("p%.6f\n", 100-100*Allowed(0.99, 40*5))
	// Output:
	// 0.8660, at least 0.01
	// p99.994975
}

// TestMeetAgainstExactPowers raises fractions to whole powers without rounding.
func TestMeetAgainstExactPowers(t *testing.T) {
	for _, nines := range []int{1, 2, 3, 4, 6, 9} {
		for _, n := range []int64{1, 2, 7, 200, 3000} {
			scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(nines)), nil)
			p := new(big.Rat).SetFrac(new(big.Int).Sub(scale, big.NewInt(1)), scale)
			power := new(big.Rat).SetFrac(new(big.Int).Exp(p.Num(), big.NewInt(n), nil), new(big.Int).Exp(p.Denom(), big.NewInt(n), nil))
			want, _ := new(big.Rat).Sub(big.NewRat(1, 1), power).Float64()
			worse := math.Pow(10, -float64(nines))
			got := Meet(worse, float64(n))
			if math.Abs(got.Independent-want) > 1e-12*want {
				t.Errorf("%d nines, %d responses: %v, exactly %v", nines, n, got.Independent, want)
			}
			if !(got.Clustered <= got.Independent*(1+1e-12) && got.Independent <= got.Most*(1+1e-12)) {
				t.Errorf("%d nines, %d responses: out of order: %+v", nines, n, got)
			}
			// And back, while the share is not yet rounded to everybody.
			if users := 1 - got.Independent; users > 1e-6 {
				if back := Allowed(users, float64(n)); math.Abs(back-worse) > 1e-6*worse+1e-15 {
					t.Errorf("%d nines, %d responses: allowed %v, want %v", nines, n, back, worse)
				}
			}
		}
	}
}

// TestMeetAgainstUsers lets users draw responses, each by itself or all alike.
func TestMeetAgainstUsers(t *testing.T) {
	const users, responses, worse = 200_000, 40, 0.02
	rng := rand.New(rand.NewPCG(7, 11))
	independent, clustered := 0, 0
	for range users {
		for range responses {
			if rng.Float64() < worse {
				independent++
				break
			}
		}
		if rng.Float64() < worse {
			clustered++
		}
	}
	e := Meet(worse, responses)
	for _, c := range []struct {
		name string
		met  int
		want float64
	}{{"independent", independent, e.Independent}, {"clustered", clustered, e.Clustered}} {
		// Five standard errors: once in two million seeds, and this is one seed.
		if got := float64(c.met) / users; math.Abs(got-c.want) > 5*math.Sqrt(c.want*(1-c.want)/users) {
			t.Errorf("%s: %v of the users met a slow response, want %v", c.name, got, c.want)
		}
	}
}

func TestMeetAtTheEdges(t *testing.T) {
	if e := Meet(0, 5); e != (Encounter{}) {
		t.Errorf("nothing is worse than the maximum: %+v", e)
	}
	if e := Meet(1, 5); e != (Encounter{1, 1, 1}) {
		t.Errorf("everything is worse than nothing: %+v", e)
	}
	for _, c := range [][2]float64{{-0.1, 5}, {1.1, 5}, {0.1, 0.5}, {0.1, math.Inf(1)}, {math.NaN(), 5}, {0.1, math.NaN()}} {
		if e := Meet(c[0], c[1]); !math.IsNaN(e.Independent) {
			t.Errorf("Meet%v = %+v, want NaN", c, e)
		}
	}
	for _, c := range [][2]float64{{0, 5}, {1, 5}, {0.5, 0}, {0.5, math.Inf(1)}, {math.NaN(), 5}} {
		if v := Allowed(c[0], c[1]); !math.IsNaN(v) {
			t.Errorf("Allowed%v = %v, want NaN", c, v)
		}
	}
}
