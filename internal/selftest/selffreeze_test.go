package selftest

import (
	"testing"
	"time"

	"sixnines/result"
)

// stoppedAt is a run of 3,000 messages, with a pause of both hiccup meters.
func stoppedAt(pause time.Duration, status result.Status, codes ...result.ReasonCode) *result.Run {
	values := make([]int64, 3000)
	for i := range values {
		values[i] = 80_000
	}
	values[7] = int64(700 * time.Millisecond)
	r := timed(result.DeliveryResponse, values)
	r.Summary.Verdict.Status = status
	for _, c := range codes {
		r.Summary.Verdict.Reasons = append(r.Summary.Verdict.Reasons, result.Reason{Status: status, Code: c})
	}
	for _, source := range []result.PauseSource{result.PauseThread, result.PauseGoroutine} {
		r.Pauses = append(r.Pauses, result.Pause{Start: 1e9, End: 1e9 + int64(pause), Source: source})
	}
	return r
}

// tailOf is such a run that is invalid from a percentile on.
func tailOf(percentile string) *result.Run {
	r := stoppedAt(stopLength, result.Valid, "frozen")
	r.Summary.Verdict.Limits = []result.Limit{{Metric: result.DeliveryResponse, From: result.Percentile(percentile), InvalidFrom: result.Percentile(percentile)}}
	r.Summary.Verdict.Reasons[0].Status = result.Invalid
	return r
}

const stopLength = 700 * time.Millisecond

// The trial fails if the result does not report the tool's own pause.
func TestSelfFreezeNotices(t *testing.T) {
	for name, tt := range map[string]struct {
		run  *result.Run
		want string
	}{
		"owned up to":              {stoppedAt(stopLength, result.Invalid, "frozen"), ""},
		"attributed to nobody":     {stoppedAt(stopLength, result.Valid), "reasons"},
		"attributed to the broker": {stoppedAt(stopLength, result.Invalid, "losses"), "reasons"},
		"only suspect":             {stoppedAt(stopLength, result.Suspect, "frozen"), "p99"},
		"its tail":                 {tailOf("99"), ""},
		"another tail":             {tailOf("99.9"), "p99"},
		"a note":                   {stoppedAt(stopLength, result.Valid, "frozen"), "reasons"},
		"seen by half":             {stoppedAt(stopLength/2, result.Invalid, "frozen"), "longest pause"},
		"not seen":                 {stoppedAt(0, result.Invalid, "frozen"), "longest pause"},
	} {
		fails(t, name, judgeSelf(tt.run, stopLength, 3000), tt.want)
	}
}

// The trial fails if the tool takes the broker's pause for its own.
func TestFrozenBrokerIsNotTheTool(t *testing.T) {
	for name, tt := range map[string]struct {
		run  *result.Run
		want string
	}{
		"the broker's":         {stoppedAt(0, result.Valid), ""},
		"suspect for another":  {stoppedAt(0, result.Suspect, "own-lag"), ""},
		"taken for the tool's": {stoppedAt(0, result.Suspect, "frozen"), "attribute"},
		"self-inflicted":       {stoppedAt(0, result.Invalid, "self-inflicted"), "attribute"},
		"the tool was paused":  {stoppedAt(stopLength, result.Valid), "longest pause"},
	} {
		fails(t, name, judgeOther(tt.run, stopLength, 3000), tt.want)
	}
}

// The schedule continues, whichever process was paused.
func TestStopsAreInTheFigures(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*result.Run)
		want   string
	}{
		"good":             {func(*result.Run) {}, ""},
		"schedule stopped": {func(r *result.Run) { r.Counters.Scheduled = 2300 }, "due"},
		"one lost":         {func(r *result.Run) { r.Counters.Received-- }, "arrived"},
		"omitted":          {func(r *result.Run) { r.Summary.Histograms[result.DeliveryResponse].Max = 80_000 }, "longest delivery"},
		"nothing timed":    {func(r *result.Run) { r.Summary.Histograms = nil }, "longest delivery"},
	} {
		r := stoppedAt(0, result.Valid)
		tt.change(r)
		fails(t, name, survived("it", r, stopLength, 3000), tt.want)
	}
}
