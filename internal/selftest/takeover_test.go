package selftest

import (
	"testing"
	"time"

	"sixnines/result"
)

// The trial fails if late takeovers take longer, if there are none, or if their wait is
// called blocked.
func TestTakeoverNotices(t *testing.T) {
	ms := func(v ...int) (all []time.Duration) {
		for _, v := range v {
			all = append(all, time.Duration(v)*time.Millisecond)
		}
		return all
	}
	run := func(blocked int, takeovers int64) *result.Run {
		values := make([]int64, blocked)
		for i := range values {
			values[i] = int64(takeoverStall) / 2
		}
		r := timed(result.LagBlocked, values)
		r.Counters.Acked, r.Counters.Takeovers = r.Counters.Scheduled, takeovers
		return r
	}
	const due = 6 * takeoverRate / takeoverConns * 50 / 1000 * 3 / 4
	for name, tt := range map[string]struct {
		run         *result.Run
		early, late []time.Duration
		want        string
	}{
		"good":                  {run(due, 6), ms(3, 4, 3), ms(8, 7, 40), ""},
		"a walk from the start": {run(due, 6), ms(3, 4, 3), ms(10, 35, 11), "the others waited"},
		"no handover":           {run(due, 5), ms(3, 4, 3), ms(3, 3, 3), "taken over"},
		"called blocked":        {run(due*2, 6), ms(3, 4, 3), ms(3, 3, 3), "called blocked"},
		"called own lag":        {run(0, 6), ms(3, 4, 3), ms(3, 3, 3), "called blocked"},
	} {
		fails(t, name, judgeTakeover(tt.run, tt.early, tt.late), tt.want)
	}
	lost := run(due, 6)
	lost.Counters.Acked--
	fails(t, "one lost", judgeTakeover(lost, ms(3, 3, 3), ms(3, 3, 3)), "sent and acknowledged")
}
