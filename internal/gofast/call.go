package gofast

import (
	"math/rand/v2"
	"sort"
	"testing"
)

// calls are the benchmarks of calls: of a type's method and through an interface, and
// of what is passed.
func calls() []Benchmark {
	return []Benchmark{
		{"method", methodCall}, {"interface", interfaceCall},
		{"sort-structs", sortStructs}, {"sort-interfaces", sortInterfaces},
		{"by-reference", byReference}, {"by-value", byValue},
	}
}

// number is a thing that can be asked for its value.
type number struct {
	value int64
	_     [11]int64 // 96 bytes, as the article's
}

// get is inlined where the type is known.
func (n *number) get() int64 { return n.value }

type getter interface{ get() int64 }

func methodCall(b *testing.B) {
	n := &number{value: 1}
	var sum int64
	for b.Loop() {
		sum += n.get()
	}
	keep(sum)
}

func interfaceCall(b *testing.B) {
	numbers := []getter{&number{value: 1}, other{2}} // two types, so that the call is made through the table
	var sum int64
	i := 0
	for b.Loop() {
		sum += numbers[i&1].get()
		i++
	}
	keep(sum)
}

type other struct{ value int64 }

func (o other) get() int64 { return o.value }

// sorted is how many things are sorted.
const sorted = 1_000_000

func sortStructs(b *testing.B) {
	from := make([]other, sorted)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range from {
		from[i] = other{random.Int64()}
	}
	all := make([]other, sorted)
	for b.Loop() {
		b.StopTimer()
		copy(all, from)
		b.StartTimer()
		sort.Sort(byValues(all))
	}
}

// byValues and byGetter are sorted by the same algorithm, as the package sort did before
// there were type parameters: they differ in their elements alone.
type byValues []other

func (s byValues) Len() int           { return len(s) }
func (s byValues) Less(i, j int) bool { return s[i].get() < s[j].get() }
func (s byValues) Swap(i, j int)      { s[i], s[j] = s[j], s[i] }

type byGetter []getter

func (s byGetter) Len() int           { return len(s) }
func (s byGetter) Less(i, j int) bool { return s[i].get() < s[j].get() }
func (s byGetter) Swap(i, j int)      { s[i], s[j] = s[j], s[i] }

func sortInterfaces(b *testing.B) {
	from := make([]getter, sorted)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range from {
		from[i] = other{random.Int64()}
	}
	all := make([]getter, sorted)
	for b.Loop() {
		b.StopTimer()
		copy(all, from)
		b.StartTimer()
		sort.Sort(byGetter(all))
	}
}

//go:noinline
func lookAt(n *number) int64 { return n.value }

//go:noinline
func lookAtCopy(n number) int64 { return n.value }

func byReference(b *testing.B) {
	n := number{value: 1}
	var sum int64
	for b.Loop() {
		sum += lookAt(&n)
	}
	keep(sum)
}

func byValue(b *testing.B) {
	n := number{value: 1}
	var sum int64
	for b.Loop() {
		sum += lookAtCopy(n)
	}
	keep(sum)
}

// keep uses a value, so that what made it is not optimised away.
//
//go:noinline
func keep(int64) {}
