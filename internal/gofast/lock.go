package gofast

import (
	"sync"
	"testing"
)

// locks are the benchmarks of a mutex with and without defer.
func locks() []Benchmark {
	return []Benchmark{{"mutex-defer", mutexDefer}, {"mutex", mutex}}
}

// guarded is a number behind a mutex. Its methods are not inlined, or there would be
// nothing to defer.
type guarded struct {
	sync.Mutex
	n int
}

//go:noinline
func (g *guarded) addDeferred() {
	g.Lock()
	defer g.Unlock()
	g.n++
}

//go:noinline
func (g *guarded) add() {
	g.Lock()
	g.n++
	g.Unlock()
}

func mutexDefer(b *testing.B) {
	var g guarded
	for b.Loop() {
		g.addDeferred()
	}
}

func mutex(b *testing.B) {
	var g guarded
	for b.Loop() {
		g.add()
	}
}
