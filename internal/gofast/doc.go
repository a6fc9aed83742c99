// Package gofast holds the micro-benchmarks of Go that a study repeats: channels and
// rings, locks, codecs, calls, memory and snapshots, as ordinary benchmarks.
//
// They are run by testing.Benchmark inside the study, and by
//
//	go test ./internal/gofast -bench .
//
// The subjects are written here as short as they can be: what is compared is a
// technique, not a library. Codecs are straight-line code as generators write it.
package gofast

import (
	"flag"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"
)

// Benchmark is one of them.
type Benchmark struct {
	Name string // such as "ring"
	Func func(*testing.B)
}

// Result is what one run of a benchmark came to.
type Result struct {
	N          int     `json:"n"`                // operations
	PerOp      float64 `json:"ns_op"`            // ns
	P99        float64 `json:"p99_ns,omitempty"` // ns, where the benchmark reports one
	Allocs     int64   `json:"allocs_op"`        // allocations
	Bytes      int64   `json:"bytes_op"`         // bytes allocated
	Processors int     `json:"gomaxprocs"`       // that Go used
	Version    string  `json:"go"`
	CPUs       int     `json:"cpus"` // that the machine has for this process
}

// All returns the benchmarks, in the order of the article.
func All() []Benchmark {
	return slices.Concat(queues(), locks(), codecs(), calls(), memory(), snapshots(), files())
}

// Run runs a benchmark on the given number of processors until it took the given time. It sets
// GOMAXPROCS and a flag of the package testing while it runs: nothing else of the
// process may be measured then, nor may two run at the same time.
func (b Benchmark) Run(processors int, least time.Duration) (Result, error) {
	testing.Init()
	if err := flag.Set("test.benchtime", least.String()); err != nil {
		return Result{}, fmt.Errorf("benchmark %s: %w", b.Name, err)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
	r := testing.Benchmark(b.Func)
	if r.N == 0 {
		return Result{}, fmt.Errorf("benchmark %s failed", b.Name)
	}
	return Result{N: r.N, PerOp: float64(r.T.Nanoseconds()) / float64(r.N), P99: r.Extra[p99Metric], Allocs: r.AllocsPerOp(), Bytes: r.AllocedBytesPerOp(),
		Processors: processors, Version: runtime.Version(), CPUs: runtime.NumCPU()}, nil
}
