package stats

import (
	"maps"
	"math/rand/v2"
	"testing"
)

func TestExpectedIsTheDefinition(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		interval := random.Int64N(1 << (1 + random.IntN(21))) // 0 as well
		v := random.Int64N((interval + 1) * (1 + random.Int64N(3000)))
		width := 1 + random.Int64N(1<<random.IntN(21))
		got, want, calls := map[int64]int64{}, map[int64]int64{}, int64(0)
		floor := func(x int64) int64 { return x / width * width }
		Expected(v, interval, floor, func(x, n int64) {
			calls++
			got[floor(x)] += n
		})
		for x := v - interval; interval > 0 && x >= interval; x -= interval {
			want[floor(x)]++
		}
		if !maps.Equal(got, want) {
			t.Fatalf("%d every %d in buckets of %d: %v, want %v", v, interval, width, got, want)
		}
		if calls > v/width+1 {
			t.Fatalf("%d every %d: %d calls for %d buckets", v, interval, calls, v/width+1)
		}
	}
}
