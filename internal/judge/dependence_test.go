package judge

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"sixnines/result"
)

// queueRun is a minute of an M/M/1 queue with a service time of 1 ms.
func queueRun(t *testing.T, load float64, intervals int) *result.Run {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	run := &result.Run{Metrics: map[result.Metric]*result.Merged{}, Header: result.Header{
		ID: "0123456789abcdef", Mode: result.ModeOpen, Rate: 1000 * load, Window: time.Minute, Interval: time.Minute / time.Duration(intervals), Slot: slot}}
	at, free := 0.0, 0.0
	for n := range intervals {
		start, end := int64(n)*int64(run.Header.Interval), int64(n+1)*int64(run.Header.Interval)
		i := newInterval(result.PhaseMeasure, start, end)
		c := &i.v.Counters
		for ; int64(at) < end; at += rng.ExpFloat64() * 1e6 / load {
			free = max(free, at) + rng.ExpFloat64()*1e6
			i.share(result.DeliveryResponse).response(int64(free-at), 0, int64(at))
			c.Scheduled, c.Sent, c.Unknown, c.Expected, c.Received = c.Scheduled+1, c.Sent+1, c.Unknown+1, c.Expected+1, c.Received+1
		}
		if err := run.Add(i.record(t)); err != nil {
			t.Fatal(err)
		}
	}
	return run
}

// oneSample returns the notes that a run is about one sample.
func oneSample(run *result.Run) (found []result.Reason) {
	for _, r := range run.Summary.Verdict.Reasons {
		if r.Code == result.ReasonOneSample {
			found = append(found, r)
		}
	}
	return found
}

// A minute of a queue at nine tenths of its server's rate has three or four
// separate events beyond p99, at half of it dozens; of so few intervals that
// nothing is known nothing is said.
func TestOneSample(t *testing.T) {
	for _, tt := range []struct {
		load       float64
		intervals  int
		percentile result.Percentile // of the note; "": no note
	}{{0.5, 60, ""}, {0.9, 60, "99"}, {0.9, 240, "99"}, {0.9, 19, ""}, {0.999, 60, "50"}} {
		run := queueRun(t, tt.load, tt.intervals)
		run.Summary = Summarise(run, Inputs{})
		found := oneSample(run)
		if tt.percentile == "" {
			if len(found) > 0 || (run.Summary.EffectiveSampleSize == nil) != (tt.intervals < 20) {
				t.Errorf("%g in %d intervals: %v, %+v", tt.load, tt.intervals, found, run.Summary.EffectiveSampleSize)
			}
			continue
		}
		if len(found) != 1 || found[0].Status != result.Valid || found[0].Percentile != tt.percentile || found[0].Metric != result.DeliveryResponse {
			t.Errorf("%g in %d intervals: %v, %+v", tt.load, tt.intervals, found, run.Summary.EffectiveSampleSize)
		}
	}
}

// The effective size can be computed again; results of earlier versions, which do not have it,
// stay valid.
func TestVerifyOneSample(t *testing.T) {
	run := queueRun(t, 0.9, 60)
	run.Summary = Summarise(run, Inputs{})
	if problems := Verify(run, run.Header.Tool); len(problems) > 0 {
		t.Errorf("%v", problems)
	}
	run.Summary.EffectiveSampleSize.P99 *= 2
	if problems := Verify(run, run.Header.Tool); len(problems) != 1 || !strings.HasPrefix(problems[0].Where, "effective.p99") {
		t.Errorf("a change is not noticed: %v", problems)
	}
	run.Summary.EffectiveSampleSize = nil
	run.Summary.Verdict.Reasons = slices.DeleteFunc(run.Summary.Verdict.Reasons, func(r result.Reason) bool { return r.Code == result.ReasonOneSample })
	if problems := Verify(run, run.Header.Tool); len(problems) > 0 {
		t.Errorf("of an earlier version: %v", problems)
	}
}
