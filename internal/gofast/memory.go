package gofast

import (
	"sync"
	"testing"
)

// memory are the benchmarks of where a value lives.
func memory() []Benchmark {
	return []Benchmark{
		{"heap", onHeap}, {"stack", onStack},
		{"allocate", allocateConcurrently}, {"pool", pooledConcurrently},
	}
}

//go:noinline
func newNumber(v int64) *number { return &number{value: v} }

//go:noinline
func makeNumber(v int64) number { return number{value: v} }

func onHeap(b *testing.B) {
	b.ReportAllocs()
	var sum int64
	for b.Loop() {
		sum += newNumber(sum).value
	}
	keep(sum)
}

func onStack(b *testing.B) {
	b.ReportAllocs()
	var sum int64
	for b.Loop() {
		n := makeNumber(sum)
		sum += n.value
	}
	keep(sum)
}

// large is what is allocated, or taken from a pool.
type large [1024]byte

//go:noinline
func newLarge() *large { return new(large) }

//go:noinline
func touch(l *large) { l[0]++ }

func allocateConcurrently(b *testing.B) {
	b.ReportAllocs()
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			touch(newLarge())
		}
	})
}

func pooledConcurrently(b *testing.B) {
	b.ReportAllocs()
	pool := sync.Pool{New: func() any { return newLarge() }}
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			l := pool.Get().(*large)
			touch(l)
			pool.Put(l)
		}
	})
}
