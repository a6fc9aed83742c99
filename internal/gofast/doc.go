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
	N int `json:"n"` // operations
	// PerOp is how long one took, ns: the lower quartile of Parts, since what else a machine does only lengthens them.
	PerOp      float64   `json:"ns_op"`
	Parts      []float64 `json:"parts_ns_op"`      // of each part of the run, ns
	P99        float64   `json:"p99_ns,omitempty"` // ns, where the benchmark reports one
	Allocs     int64     `json:"allocs_op"`        // allocations
	Bytes      int64     `json:"bytes_op"`         // bytes allocated
	Processors int       `json:"gomaxprocs"`       // that Go used
	Version    string    `json:"go"`
	CPUs       int       `json:"cpus"` // that the machine has for this process
}

// parts is how many parts a run has, of the same length. Runs of files have one: their percentile needs all operations.
const parts = 10

// All returns the benchmarks, in the order of the article.
func All() []Benchmark {
	return slices.Concat(queues(), locks(), codecs(), calls(), memory(), snapshots(), files())
}

// Run runs a benchmark on the given number of processors, in parts that together take the given time at least. It
// sets GOMAXPROCS and a flag of the package testing while it runs: nothing else of the process may be measured then,
// nor may two run at the same time.
func (b Benchmark) Run(processors int, least time.Duration) (Result, error) {
	testing.Init()
	n := parts
	if slices.ContainsFunc(files(), func(x Benchmark) bool { return x.Name == b.Name }) {
		n = 1
	}
	if err := flag.Set("test.benchtime", max(least/time.Duration(n), 1).String()); err != nil {
		return Result{}, fmt.Errorf("benchmark %s: %w", b.Name, err)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
	out := Result{Processors: processors, Version: runtime.Version(), CPUs: runtime.NumCPU()}
	var allocs, bytes uint64
	for range n {
		r := testing.Benchmark(b.Func)
		if r.N == 0 {
			return Result{}, fmt.Errorf("benchmark %s failed", b.Name)
		}
		out.Parts = append(out.Parts, float64(r.T.Nanoseconds())/float64(r.N))
		out.N, allocs, bytes, out.P99 = out.N+r.N, allocs+r.MemAllocs, bytes+r.MemBytes, r.Extra[p99Metric]
	}
	out.PerOp = lowerQuartile(out.Parts)
	out.Allocs, out.Bytes = int64(allocs/uint64(out.N)), int64(bytes/uint64(out.N))
	return out, nil
}

// lowerQuartile returns the smallest value that a quarter of all are not above. Not the smallest of all: that falls
// with their number.
func lowerQuartile(all []float64) float64 {
	return slices.Sorted(slices.Values(all))[(len(all)+3)/4-1]
}
