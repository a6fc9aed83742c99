package selftest

import (
	"testing"

	"sixnines/result"
)

// The trial fails if a lossy broker is called overloaded, or a slow consumer is not.
func TestLossyNotices(t *testing.T) {
	good := func(status result.Status, codes ...result.ReasonCode) *result.Run {
		r := &result.Run{Counters: result.Counters{Scheduled: 100, Sent: 100, Unknown: 100, Expected: 100, Received: 98, Missing: 2, MissingUnknown: 2, Censored: 2},
			Summary: &result.Summary{Verdict: result.Verdict{Status: status}}}
		for _, c := range codes {
			r.Summary.Verdict.Reasons = append(r.Summary.Verdict.Reasons, result.Reason{Status: status, Code: c})
		}
		return r
	}
	judge := func(r *result.Run) []Figure {
		all := judgeLossy(r, 100)
		for i, f := range all { // there is no file to recompute
			if f.What == "a lossy broker: figures that follow from the file" {
				return append(all[:i:i], all[i+1:]...)
			}
		}
		t.Fatal("nothing is recomputed")
		return nil
	}
	fails(t, "valid", judge(good(result.Valid)), "")
	fails(t, "a busy machine", judge(good(result.Suspect, "own-lag")), "")
	fails(t, "a machine that was paused", judge(good(result.Invalid, "frozen")), "")
	fails(t, "called worthless", judge(good(result.Invalid, "losses")), "verdict")
	fails(t, "overload", judge(good(result.Unstable, "backlog")), "verdict")
	fails(t, "suspected of overload", judge(good(result.Suspect, "backlog")), "reasons")
	one := good(result.Valid)
	one.Counters.Received, one.Counters.Missing, one.Counters.MissingUnknown = 99, 1, 1
	fails(t, "one lost too few", judge(one), "missing")
	fails(t, "overload seen", judgeSlow(good(result.Unstable, "backlog")), "")
	fails(t, "overload not seen", judgeSlow(good(result.Valid)), "verdict")
	fails(t, "another reason", judgeSlow(good(result.Unstable, "steady")), "reasons")
}
