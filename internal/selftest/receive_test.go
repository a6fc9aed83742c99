package selftest

import (
	"testing"
	"time"

	"sixnines/result"
)

// unreadRun is a run whose medians are as given.
func unreadRun(lag, stage, broker time.Duration, share float64) *result.Run {
	r := timed(result.DeliveryResponse, repeated(20*time.Millisecond))
	for m, v := range map[result.Metric]time.Duration{result.LagReceive: lag, result.StageReceive: stage, result.StageBroker: broker} {
		r.Metrics[m] = timed(m, repeated(v)).Metrics[m]
	}
	r.Summary.Histograms[result.DeliveryResponse].Update("50", func(f *result.Figure) { f.ReceiveShare = &share })
	r.Summary.Verdict.Reasons = []result.Reason{{Status: result.Suspect, Code: "receive-lag"}}
	return r
}

func repeated(v time.Duration) []int64 {
	values := make([]int64, 100)
	for i := range values {
		values[i] = int64(v)
	}
	return values
}

// The trial fails if the receiving side's wait is missing, too short or attributed to the
// broker, or is reported without one.
func TestReceiveLagNotices(t *testing.T) {
	const d, little = 20 * time.Millisecond, 100 * time.Microsecond
	for name, tt := range map[string]struct {
		run  *result.Run
		want string
	}{
		"named":         {unreadRun(d, d, little, 0.9), ""},
		"the broker's":  {unreadRun(d, little, d, 0.9), "stage.receive"},
		"half of it":    {unreadRun(d/2, d, little, 0.9), "lag.receive"},
		"booked twice":  {unreadRun(d, d, d, 0.9), "stage.broker"},
		"no share said": {unreadRun(d, d, little, 0.1), "share"},
	} {
		fails(t, name, judgeUnread(tt.run, d), tt.want)
	}
	lost := unreadRun(d, d, little, 0.9)
	lost.Counters.Received--
	fails(t, "one lost", judgeUnread(lost, d), "arrived")
	quiet := unreadRun(d, d, little, 0.9)
	quiet.Summary.Verdict.Reasons = nil
	fails(t, "the verdict is silent", judgeUnread(quiet, d), "reasons")
	quiet.Summary.Verdict.Reasons = []result.Reason{{Status: result.Suspect, Code: "own-lag"}}
	fails(t, "the sending side is named", judgeUnread(quiet, d), "reasons")
	fails(t, "read at once", judgePrompt(unreadRun(little, little, little, 0), d), "")
	fails(t, "always a lag", judgePrompt(unreadRun(d, d, little, 0), d), "lag.receive")
}
