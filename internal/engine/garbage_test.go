package engine

import (
	"fmt"
	"runtime/metrics"
	"testing"

	"sixnines/drivers/mem"
	"sixnines/drivers/nats"
)

// allocated returns the bytes that the process has allocated so far.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// An interval makes next to no garbage: it is not collected in
// the measured window, and that of an hour must fit into 20 MB.
func TestGarbageOfIntervals(t *testing.T) {
	judgesFigures(t)
	b := startNATS(t)
	for name, tt := range map[string]struct {
		config Config
		probe  string
		most   uint64
	}{
		// 2,600 of a quiet machine; where it is busy there are fewer intervals to share
		// what a run allocates only once.
		"alone": {Config{Entry: mem.Entry()}, "off", 8000},
		// Its reports come in fewer intervals than there are of ours. To decode a
		// histogram of each left 700,000 bytes.
		"beside a probe": {Config{Entry: nats.Entry(), URL: b.URL, Probe: probeCommand(t)}, "on", 24_000},
	} {
		t.Run(name, func(t *testing.T) {
			var readings []uint64
			tt.config.Scenario = parse(t, fmt.Sprintf(`
phases: {warmup: 200ms, duration: 1500ms}
workload: {rate: 200/s}
record: {interval: 50ms, probe: %s}
`, tt.probe))
			tt.config.Usage = func() []Usage { // called once an interval
				readings = append(readings, allocated())
				return nil
			}
			if _, err := Run(t.Context(), tt.config); err != nil {
				t.Fatal(err)
			}
			n := len(readings)
			if n < 10 {
				t.Fatalf("%d intervals", n)
			}
			half := n / 2
			each := (readings[n-2] - readings[half]) / uint64(n-2-half)
			t.Logf("%d bytes an interval", each)
			if each > tt.most {
				t.Errorf("an interval leaves %d bytes", each)
			}
		})
	}
}
