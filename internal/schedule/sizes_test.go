package schedule

import (
	"math"
	"slices"
	"testing"

	"sixnines/scenario"
)

func sizesOf(t *testing.T, text string, seed uint64) *Sizes {
	t.Helper()
	s, err := scenario.ParseSizes(text)
	if err != nil {
		t.Fatal(err)
	}
	return NewSizes(s, seed)
}

func TestSizesAreDrawnAsAsked(t *testing.T) {
	const n = 1_000_000
	x := sizesOf(t, "256B:90%,64KiB:9%,32B:1%", 7)
	count := map[int]int{}
	for i := range uint64(n) {
		count[x.Classes()[x.Class(3, i)]]++
	}
	for size, share := range map[int]float64{32: 0.01, 256: 0.9, 64 << 10: 0.09} {
		// Five standard deviations, and half an entry of the table.
		if got, most := float64(count[size])/n, 5*math.Sqrt(share*(1-share)/n)+0.5/sizeEntries; math.Abs(got-share) > most {
			t.Errorf("%d bytes: %v of the messages, want %v ± %v", size, got, share, most)
		}
	}

	x = sizesOf(t, "lognormal:median=1KiB,sigma=1,max=64KiB", 7)
	if c := x.Classes(); len(c) > sizeClasses || !slices.IsSorted(c) || c[len(c)-1] != 64<<10 {
		t.Errorf("%d classes from %d to %d", len(c), c[0], c[len(c)-1])
	}
	drawn := make([]float64, n)
	sum := 0.0
	for i := range drawn {
		drawn[i] = float64(x.Classes()[x.Class(0, uint64(i))])
		sum += drawn[i]
	}
	slices.Sort(drawn)
	for p, want := range map[float64]float64{0.5: 1024, 0.8413: 1024 * math.E, 0.1587: 1024 / math.E, 0.9772: 1024 * math.E * math.E} {
		if got := drawn[int(p*n)]; math.Abs(got/want-1) > 0.015 {
			t.Errorf("quantile %v is %v, want %v", p, got, want)
		}
	}
	if mean := 1024 * math.Exp(0.5); math.Abs(sum/n/mean-1) > 0.01 {
		t.Errorf("the mean of what is drawn is %v, want %v", sum/n, mean)
	}
	s, err := scenario.ParseSizes("lognormal:median=1KiB,sigma=1,max=64KiB")
	if err != nil {
		t.Fatal(err)
	}
	if mean := MeanSize(s); math.Abs(sum/n/mean-1) > 0.01 {
		t.Errorf("the mean of what is drawn is %v, said to be %v", sum/n, mean)
	}
	if mean := MeanSize(scenario.FixedSize(300)); mean != 300 {
		t.Errorf("the mean of 300 bytes is %v", mean)
	}
}

// The sizes of a load depend only on its seed and its scenario.
func TestSizesAreTheSeeds(t *testing.T) {
	const text = "256B:50%,1KiB:50%"
	draw := func(x *Sizes, stream uint32) (all []int) {
		for i := range uint64(1000) {
			all = append(all, x.Class(stream, i))
		}
		return all
	}
	a := draw(sizesOf(t, text, 1), 0)
	if !slices.Equal(a, draw(sizesOf(t, text, 1), 0)) {
		t.Error("the same seed draws other sizes")
	}
	for what, b := range map[string][]int{"another seed": draw(sizesOf(t, text, 2), 0), "another stream": draw(sizesOf(t, text, 1), 1)} {
		same := 0
		for i := range a {
			if a[i] == b[i] {
				same++
			}
		}
		if same < 400 || same > 600 { // half, six standard deviations
			t.Errorf("%s: %d of 1000 sizes are the same", what, same)
		}
	}
	if sizesOf(t, "1KiB", 1) != nil {
		t.Error("one size is drawn")
	}
}

func BenchmarkSizeOfMessage(b *testing.B) {
	s, err := scenario.ParseSizes("lognormal:median=1KiB,sigma=1,max=64KiB")
	if err != nil {
		b.Fatal(err)
	}
	x, n, sum := NewSizes(s, 1), uint64(0), 0
	for b.Loop() {
		sum += x.Classes()[x.Class(0, n)]
		n++
	}
	_ = sum
}
