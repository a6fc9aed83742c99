package engine

import (
	"runtime/metrics"
	"testing"

	"sixnines/drivers/mem"
)

// allocated returns the bytes that the process has allocated so far.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// What an interval leaves behind is next to nothing: garbage is not collected in
// the measured window, and that of an hour must fit into 20 MB.
func TestGarbageOfIntervals(t *testing.T) {
	var readings []uint64
	_, err := Run(t.Context(), Config{Scenario: parse(t, `
target: {driver: mem}
phases: {warmup: 200ms, duration: 4s}
workload: {rate: 200/s}
record: {interval: 100ms}
`), Entry: mem.Entry(), Usage: func() []Usage { // called once an interval
		readings = append(readings, allocated())
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	n := len(readings)
	if n < 10 {
		t.Fatalf("%d intervals", n)
	}
	half := n / 2
	each := (readings[n-2] - readings[half]) / uint64(n-2-half)
	t.Logf("%d bytes an interval", each)
	if each > 4000 {
		t.Errorf("an interval leaves %d bytes", each)
	}
}
