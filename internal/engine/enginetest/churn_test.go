package enginetest_test

import (
	"fmt"
	"testing"
	"time"

	"sixnines/drivers/mem"
	"sixnines/internal/engine/enginetest"
	"sixnines/result"
)

// Connections are opened on their schedule whatever the broker does, each is timed from when it was due, and each is in one account.
func TestConnectionsComeAndGo(t *testing.T) {
	t.Parallel()
	freeze := []enginetest.Action{{At: 490 * time.Millisecond, Do: (*mem.Broker).Freeze}, {At: 890 * time.Millisecond, Do: (*mem.Broker).Thaw}}
	for _, tt := range []struct {
		name        string
		load        enginetest.Load
		connections string // beside the rate of 50/s
		timeout     string
		want        result.Connections
		most        time.Duration // the slowest subscription
	}{
		{name: "all are opened", want: result.Connections{Scheduled: 100, Begun: 100, Opened: 100}},
		{name: "as producers", connections: ", as: producer", want: result.Connections{Scheduled: 100, Begun: 100, Opened: 100}},
		{name: "a broker that stops does not slow the schedule", load: enginetest.Load{Actions: freeze},
			want: result.Connections{Scheduled: 100, Begun: 100, Opened: 100}, most: 400 * time.Millisecond},
		// Those due from 500 to 780 ms are given up before the broker goes on. None is due, or given up, as it stops or goes on.
		{name: "what is not answered is given up", load: enginetest.Load{Actions: freeze}, timeout: ", timeout: 100ms",
			want: result.Connections{Scheduled: 100, Begun: 100, Opened: 85, Unanswered: 15}, most: 100 * time.Millisecond},
		{name: "a segment opens its share", load: enginetest.Load{Segment: &result.Segment{Index: 1, Of: 2}},
			want: result.Connections{Scheduled: 50, Begun: 50, Opened: 50}},
		{name: "an interrupted window", load: enginetest.Load{Interrupt: 990 * time.Millisecond}, // it ends at 1010 ms
			want: result.Connections{Scheduled: 51, Begun: 51, Opened: 51}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.load.Scenario = fmt.Sprintf(`
phases: {warmup: 200ms, duration: 2s}
target: {driver: mem}
workload: {rate: 100/s, topics: 2, producers: 2, consumers: 2, connections: {rate: 50/s, hold: 300ms%s}%s}
`, tt.connections, tt.timeout)
			r := enginetest.Verified(t, tt.load)
			got := r.Summary.Connections
			if got == nil || *got != tt.want {
				t.Fatalf("connections %+v, want %+v", got, tt.want)
			}
			d := r.Summary.Histograms[result.ConnectionSubscribe]
			if tt.connections != "" {
				d = r.Summary.Histograms[result.ConnectionLogin]
			}
			if d == nil || d.Count != tt.want.Opened || d.Censored != tt.want.Unanswered || d.Max > int64(tt.most) {
				t.Errorf("opening %+v", d)
			}
			if c := r.Counters; c.Missing+c.Duplicated+c.Foreign+c.Violations != 0 {
				t.Errorf("the load's messages met the connections: %+v", c)
			}
		})
	}
}
