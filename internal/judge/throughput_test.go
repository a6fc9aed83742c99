package judge

import (
	"testing"

	"sixnines/result"
)

// A rate needs a hundred messages that were sent, whatever happened to them: if none of a
// hundred or more came through, the rate is zero.
func TestARateTakesAHundredMessages(t *testing.T) {
	for _, tt := range []struct{ sent, received, needs int64 }{
		{0, 0, result.LeastThroughput}, {1, 1, result.LeastThroughput}, {99, 99, result.LeastThroughput}, {100, 100, 0}, {20_000, 0, 0},
	} {
		f := unpacedLoad{c: result.Counters{Scheduled: tt.sent, Sent: tt.sent, Expected: tt.sent, Received: tt.received, Earlier: tt.sent},
			closing: &result.Closing{End: 1e9, Received: 1e9, EarlierTo: 1e9}, consumers: true}
		for name, got := range map[string]*result.Throughput{"flat out": f.through(), "filled": f.filled(), "drained": f.drained()} {
			if got.Needs != tt.needs {
				t.Errorf("%s, %d sent and %d received: needs %d, want %d", name, tt.sent, tt.received, got.Needs, tt.needs)
			}
		}
	}
}
