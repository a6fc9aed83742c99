package gofast

import (
	"os"
	"slices"
	"testing"
	"time"
)

// files are the benchmarks of the machine's own disk.
func files() []Benchmark { return []Benchmark{{"fsync", appendAndSync}} }

// appended is how many bytes are appended at a time.
const appended = 256

// appendAndSync appends to a file and waits until the disk has it, in the directory
// for temporary files, where brokers that are started for a run have theirs. It also
// reports the 99th percentile, where it has one.
func appendAndSync(b *testing.B) {
	f, err := os.CreateTemp("", "sixnines-fsync-")
	if err != nil {
		b.Fatal(err)
	}
	defer os.Remove(f.Name())
	defer f.Close()
	block := make([]byte, appended)
	var took []time.Duration
	for b.Loop() {
		start := time.Now()
		if _, err := f.Write(block); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(start))
	}
	if len(took) < supportsP99 {
		return
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[(len(took)*99+99)/100-1]), p99Metric)
}

// supportsP99 is how many values a 99th percentile takes: ln 0.025 ÷ ln 0.99.
const supportsP99 = 368

// p99Metric is the name under which a benchmark reports a 99th percentile, ns.
const p99Metric = "p99-ns"
