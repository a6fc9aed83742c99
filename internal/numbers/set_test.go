package numbers

import (
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// A set has the numbers that were added, in whichever way, and so has what is read from its text.
func TestSetIsWhatWasAdded(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var s Set
		want := map[uint64]bool{}
		base := r.Uint64N(Most - 1<<20)
		for range r.IntN(6) {
			from := base + uint64(r.IntN(1<<17))
			switch r.IntN(3) {
			case 0:
				s.Add(from)
				want[from] = true
			case 1:
				to := from + uint64(r.IntN(3000))
				s.AddRange(from, to)
				for n := from; n < to; n++ {
					want[n] = true
				}
			default:
				words := make([]uint64, r.IntN(20))
				for i := range words {
					words[i] = []uint64{0, ^uint64(0), r.Uint64()}[r.IntN(3)]
					for b := range 64 {
						if words[i]>>b&1 != 0 {
							want[from+uint64(i*64+b)] = true
						}
					}
				}
				s.AddWords(from, words)
			}
		}
		back, err := Parse(s.Text())
		if err != nil {
			t.Fatal(err)
		}
		all := slices.Sorted(maps.Keys(want))
		for _, x := range []Set{s, back, s.Clone()} {
			if !slices.Equal(slices.Collect(x.All()), all) || x.Len() != int64(len(all)) {
				t.Fatalf("%d numbers, want %d", x.Len(), len(all))
			}
		}
		drop := int64(r.IntN(len(all) + 2))
		if s.DropHighest(drop); !slices.Equal(slices.Collect(s.All()), all[:max(0, int64(len(all))-drop)]) {
			t.Fatalf("without the %d highest of %d there are %d", drop, len(all), s.Len())
		}
	}
}

// Sets are added, subtracted and cut as sets are.
func TestSetAlgebra(t *testing.T) {
	var a, b Set
	a.AddRange(10, 20)
	b.AddRange(15, 30)
	both := a.Both(b)
	union := a.Clone()
	union.Union(b)
	left := a.Clone()
	left.Without(b)
	if both.Len() != 5 || union.Len() != 20 || left.Len() != 5 || left.Has(15) || !left.Has(14) || a.Len() != 10 || b.Within(20, 22).Len() != 2 {
		t.Error(both.Len(), union.Len(), left.Len(), a.Len())
	}
	if n, ok := union.Highest(); n != 29 || !ok {
		t.Error(n, ok)
	}
	if _, ok := (Set{}).Highest(); ok || (Set{}).Text() != "" {
		t.Error("an empty set has numbers")
	}
}

// Ten million messages that come in order take some bytes, and those of one agent among three at random less than a bit
// for each of all.
func TestSizeOfTenMillion(t *testing.T) {
	var s Set
	s.AddRange(1000, 10_001_000)
	if n := len(s.Text()); n > 4000 {
		t.Errorf("in order: %d bytes", n)
	}
	r := rand.New(rand.NewPCG(3, 4))
	var third Set
	words := make([]uint64, 64)
	for from := uint64(0); from < 10_000_000; from += 4096 {
		for i := range words {
			words[i] = r.Uint64() & r.Uint64() // one of four
		}
		third.AddWords(from, words)
	}
	if n := len(third.Text()); n > 10_000_000/8*4/3*11/10 {
		t.Errorf("at random: %d bytes", n)
	}
}

func FuzzParse(f *testing.F) {
	var s Set
	s.AddRange(5, 9000)
	s.Add(1 << 40)
	f.Add(s.Text())
	f.Add("")
	f.Add("AQAAAAAAAAAAAAAAOzAAAAEAAAEAAAAA")
	f.Add("AgAAAAAAAAA0AAAAOzAAAA000000AQA00A00000AADowAAABAAAA000AAA00000000==") // a run past its container's end
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text)
		if err != nil {
			if !errors.Is(err, ErrText) {
				t.Fatal(err)
			}
			return
		}
		n := int64(0)
		last, first := uint64(0), true
		for x := range s.All() {
			if n++; !first && x <= last || x >= Most {
				t.Fatalf("%d after %d", x, last)
			}
			if last, first = x, false; n > 1<<20 {
				break
			}
		}
		again, err := Parse(s.Text())
		if err != nil || again.Len() != s.Len() {
			t.Fatalf("%v, %d and %d", err, again.Len(), s.Len())
		}
	})
}
