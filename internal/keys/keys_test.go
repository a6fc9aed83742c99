package keys

import (
	"bytes"
	"math"
	"testing"
)

func TestKeys(t *testing.T) {
	const n = 5000
	for _, tt := range []struct {
		kind      Kind
		different int // of two streams
	}{{Fixed, 2}, {Unique, 2 * n}, {Zipf, 100}} {
		spec := Spec{Kind: tt.kind, Size: 16, Space: 100, Skew: 1.1, Seed: 7}
		count := map[string]int{}
		key, again := make([]byte, spec.Size), make([]byte, spec.Size)
		for stream := range uint32(2) {
			k, other := New(spec, stream), New(spec, stream)
			for i := range uint64(n) {
				k.Put(key, i)
				count[string(key)]++
			}
			// Any message's key is the same whatever was asked for before.
			for _, i := range []uint64{n - 1, 17, 17, 0} {
				k.Put(key, i)
				other.Put(again, i)
				if !bytes.Equal(key, again) {
					t.Errorf("%s: message %d has the keys %q and %q", tt.kind, i, key, again)
				}
			}
		}
		if len(count) != tt.different {
			t.Errorf("%d %s keys, want %d", len(count), tt.kind, tt.different)
		}
		k, i := New(spec, 1), uint64(0)
		if allocs := testing.AllocsPerRun(100, func() { k.Put(key, i); i++ }); allocs != 0 {
			t.Errorf("%s: %v allocations a key", tt.kind, allocs)
		}
	}
}

// Unique keys are, at the ends of their numbers and where they are cut to 11 bytes.
func TestUniqueKeysAtTheEnds(t *testing.T) {
	seen := map[string]bool{}
	for _, stream := range []uint32{0, 1, 1<<24 - 1} {
		k := New(Spec{Kind: Unique, Size: 11}, stream)
		for _, n := range []uint64{0, 1, 1 << 39, 1<<40 - 1} {
			key := make([]byte, 11)
			k.Put(key, n)
			if seen[string(key)] {
				t.Errorf("the key %q of message %d of stream %d is another's, too", key, n, stream)
			}
			seen[string(key)] = true
		}
	}
}

// Ranks come as often as Zipf's law says, in every stream, from whatever seed.
func TestZipfIsZipf(t *testing.T) {
	const draws, space = 200_000, 1000
	for _, skew := range []float64{1.01, 1.1, 2} {
		var total float64
		for r := 1; r <= space; r++ {
			total += math.Pow(float64(r), -skew)
		}
		for seed := range uint64(3) {
			k := New(Spec{Kind: Zipf, Size: 16, Space: space, Skew: skew, Seed: seed}, uint32(seed))
			count := map[string]int{}
			key := make([]byte, 16)
			for i := range uint64(draws) {
				k.Put(key, i)
				count[string(key)]++
			}
			for _, r := range []int{1, 2, 3, 10, 100, space} {
				New(Spec{Kind: Unique, Size: 16}, 0).Put(key, uint64(r-1)) // the rank's digits
				p := math.Pow(float64(r), -skew) / total
				// Five standard deviations of a binomial, and one message.
				if got, want := float64(count[string(key)]), p*draws; math.Abs(got-want) > 1+5*math.Sqrt(want*(1-p)) {
					t.Errorf("skew %v, seed %d: rank %d was drawn %.0f times, want %.0f", skew, seed, r, got, want)
				}
			}
		}
	}
}
