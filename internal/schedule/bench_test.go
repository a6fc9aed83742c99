package schedule

import (
	"testing"
	"time"

	"sixnines/scenario"
)

func benchmarkPlan(b *testing.B, form string, producers int) *Plan {
	b.Helper()
	a, err := scenario.ParseArrivals(form)
	if err != nil {
		b.Fatal(err)
	}
	return mustPlan(b, workload(scenario.Rate{Messages: 20000, Per: 3 * time.Second}, producers, a), maxWindow)
}

var forms = []struct{ name, form string }{
	{"constant", "constant"}, {"poisson", "poisson"}, {"step", "step:1000/s@1h,2000/s@1h"}, {"ramp", "ramp:1000/s..5000/s"},
	{"sine", "sine:50%@10s"}, {"burst", "burst:100@1s"}, {"random-ramp", "ramp:1000/s..5000/s,random"}, {"random-sine", "sine:50%@10s,random"},
}

// Next of one producer among seven.
func BenchmarkCursor(b *testing.B) {
	for _, f := range forms {
		b.Run(f.name, func(b *testing.B) {
			p := benchmarkPlan(b, f.form, 7)
			c := p.Producer(3)
			b.ReportAllocs()
			for b.Loop() {
				if _, ok := c.Next(); !ok {
					c = p.Producer(3)
				}
			}
		})
	}
}

// Next of 700 producers merged, and of those that one of two pacers may have.
func BenchmarkMerged(b *testing.B) {
	for _, f := range forms {
		for _, share := range []struct {
			name  string
			every func(i int) bool
		}{
			{"all", func(int) bool { return true }},
			{"half", func(i int) bool { return i < 350 }},
		} {
			b.Run(f.name+"/"+share.name, func(b *testing.B) {
				p := benchmarkPlan(b, f.form, 700)
				var producers []int
				for i := range 700 {
					if share.every(i) {
						producers = append(producers, i)
					}
				}
				m := p.Merge(producers, Window)
				b.ReportAllocs()
				for b.Loop() {
					if _, _, ok := m.Next(); !ok {
						m = p.Merge(producers, Window)
					}
				}
			})
		}
	}
}
