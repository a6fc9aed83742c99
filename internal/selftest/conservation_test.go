package selftest

import (
	"testing"

	"sixnines/result"
)

// One message in a wrong account fails the trial.
func TestConservationNotices(t *testing.T) {
	want := map[string]int64{"scheduled": 10, "sent": 10, "unknown": 10, "expected": 10, "received": 8, "missing": 2, "missing_unknown": 2}
	good := result.Counters{Scheduled: 10, Sent: 10, Unknown: 10, Expected: 10, Received: 8, Missing: 2, MissingUnknown: 2}
	for name, change := range map[string]func(*result.Counters){
		"":                         func(*result.Counters) {},
		"one more received":        func(c *result.Counters) { c.Received, c.Missing = 9, 1 },
		"one counted twice":        func(c *result.Counters) { c.Duplicated = 1 },
		"one that nobody sent":     func(c *result.Counters) { c.Foreign = 1 },
		"accounts that stay open":  func(c *result.Counters) { c.Scheduled = 11 },
		"an account below zero":    func(c *result.Counters) { c.LateReplies = -1 },
		"a broken promise unheard": func(c *result.Counters) { c.LostAcked = 1 },
	} {
		c := good
		change(&c)
		figures := conserved("", &result.Run{Counters: c, Summary: &result.Summary{}}, want)
		figures = figures[:len(figures)-1] // there is no file to recompute
		if got, want := Conclude("", figures...).Verdict, map[bool]Verdict{true: Passed, false: Failed}[name == ""]; got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
}
