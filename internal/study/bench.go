package study

import (
	"fmt"
	"slices"
	"time"

	"sixnines/internal/gofast"
)

// Processors is the axis that says how many processors a system's benchmarks have.
const Processors = "processors"

// Bench is a micro-benchmark that a cell runs instead of a scenario.
type Bench struct {
	gofast.Benchmark
	Processors int
}

// Bench returns the benchmark that the cell runs instead of a scenario; ok is false if it runs
// a scenario.
func (c *Cell) Bench() (b Bench, ok bool) {
	if c.Load.Bench == "" {
		return b, false
	}
	i := slices.IndexFunc(gofast.All(), func(x gofast.Benchmark) bool { return x.Name == c.Load.Bench }) // exists: benches checks it
	return Bench{gofast.All()[i], int(c.System.At[Processors])}, true
}

// Run runs the benchmark, see [gofast.Benchmark.Run].
func (b Bench) Run(d time.Duration) (gofast.Result, error) { return b.Benchmark.Run(b.Processors, d) }

// benches checks the benchmarks of loads and the systems that run them.
func (c *checker) benches() {
	var names []string
	for _, x := range gofast.All() {
		names = append(names, x.Name)
	}
	benches := func(l Load) bool { return l.Bench != "" }
	for i, l := range c.s.Loads {
		if benches(l) {
			c.oneOf(l.Bench, names, "benchmark", "loads", i, "bench")
		}
	}
	const most = 1024
	for i, x := range c.s.Systems {
		runs := slices.ContainsFunc(c.s.Selections, func(s Selection) bool {
			return matches(x.Name, s.Systems) && slices.ContainsFunc(c.s.Loads, func(l Load) bool { return benches(l) && matches(l.Name, s.Loads) })
		})
		if n := x.At[Processors]; runs && (n < 1 || n > most || n != float64(int(n))) {
			c.fail(fmt.Sprintf("%s runs benchmarks on %g processors", x.Name, n), fmt.Sprintf("give it at: {%s: N}, 1 to %d", Processors, most), "systems", i)
		}
	}
}

// readBench reads a figure of a benchmark's result.
func readBench(r *gofast.Result, name string) Figure {
	f := blank(name)
	f.Unfit = few(r)
	switch name {
	case "bench.op":
		f.Value = r.PerOp
	case "bench.p99":
		if f.Value = r.P99; f.Value == 0 {
			f.Missing = "too few operations, or none reported"
		}
	case "bench.allocs":
		f.Value = float64(r.Allocs)
	case "bench.bytes":
		f.Value = float64(r.Bytes)
	default:
		f.Missing = NotMeasured
	}
	return f
}

// few says that the machine has fewer processors than a benchmark asks for; else it is empty.
func few(r *gofast.Result) string {
	if r.CPUs >= r.Processors {
		return ""
	}
	return fmt.Sprintf("%d processors for %d", r.CPUs, r.Processors)
}
