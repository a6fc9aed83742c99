package sweep

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"sixnines/internal/judge"
	"sixnines/result"
	"sixnines/scenario"
)

func TestObserve(t *testing.T) {
	fast := "delivery.response p99 < 1s"
	because := func(status result.Status, code result.ReasonCode) result.Verdict {
		v := result.Verdict{Status: status, Reasons: []result.Reason{{Status: status, Code: code, Text: "because of " + string(code)}}}
		if status == result.Suspect {
			v.Limits = []result.Limit{{Metric: result.DeliveryResponse, From: "99", Why: string(code)}}
		}
		return v
	}
	for _, tt := range []struct {
		name      string
		objective string
		change    func(*result.Run)
		outcome   judge.Outcome
		limit     Limit
		found     string
	}{
		{"fast", fast, nil, judge.Met, "", "it is"},
		{"slow", "delivery.response p99 < 1us", nil, judge.Missed, Latency, "p99 < 1µs is missed"},
		{"near", "", nil, judge.Undecided, "", "is undecided"},
		{"overload", fast, func(r *result.Run) { r.Summary.Verdict = because(result.Unstable, "backlog") }, judge.Missed, Backlog, "UNSTABLE: because of backlog"},
		{"the generator's overload", fast, func(r *result.Run) { r.Summary.Verdict = because(result.Unstable, "generator-limit") }, judge.Undecided, Generator, "UNSTABLE"},
		{"an overload of all processors", fast, func(r *result.Run) {
			r.Summary.Verdict = because(result.Unstable, "backlog")
			r.Summary.Verdict.Reasons = append(r.Summary.Verdict.Reasons, result.Reason{Status: result.Suspect, Code: "cpu"})
		}, judge.Undecided, Generator, "UNSTABLE: because of backlog"},
		{"an overload of busy processors", fast, func(r *result.Run) {
			r.Summary.Verdict = because(result.Unstable, "backlog")
			r.Summary.Verdict.Reasons = append(r.Summary.Verdict.Reasons, result.Reason{Status: result.Valid, Code: "cpu"})
		}, judge.Missed, Backlog, "UNSTABLE: because of backlog"},
		{"invalid", fast, func(r *result.Run) { r.Summary.Verdict = because(result.Invalid, "frozen") }, judge.Undecided, Generator, "INVALID: because of frozen"},
		{"suspect and fast", fast, func(r *result.Run) { r.Summary.Verdict = because(result.Suspect, "own-lag") }, judge.Met, "", "can only have made the latency longer"},
		{"suspect and slow", "delivery.response p99 < 1us", func(r *result.Run) { r.Summary.Verdict = because(result.Suspect, "own-lag") }, judge.Undecided, Generator, `so "missed" is not shown`},
		{"suspect by the system", "delivery.response p99 < 1us", func(r *result.Run) { r.Summary.Verdict = because(result.Suspect, "steady") }, judge.Undecided, "", "is suspect"},
		{"suspect altogether and slow", "delivery.response p99 < 1us", func(r *result.Run) {
			r.Summary.Verdict = because(result.Suspect, "generator-limit")
			r.Summary.Verdict.Limits = nil
		}, judge.Undecided, Generator, "p99 is suspect, as is the whole run (generator at its limit)"},
		{"suspect altogether and fast", fast, func(r *result.Run) {
			r.Summary.Verdict = because(result.Suspect, "generator-limit")
			r.Summary.Verdict.Limits = nil
		}, judge.Met, "", "met nevertheless"},
		{"blocked", fast, func(r *result.Run) { r.Summary.Rate = result.Rate{Asked: 100, Sent: 99} }, judge.Missed, Backlog, "99.00 % of the messages due was sent"},
		{"refused by the client", fast, func(r *result.Run) {
			r.Summary.Rate = result.Rate{Asked: 100, Sent: 99}
			r.Counters.Scheduled, r.Counters.Rejected = 1000, 10
			r.Summary.Verdict = because(result.Suspect, "own-lag")
		}, judge.Missed, Refusals, "99.00 % of the messages due was sent: the client refused 10 messages"},
		{"late", fast, func(r *result.Run) {
			r.Summary.Rate = result.Rate{Asked: 100, Sent: 99}
			r.Summary.Verdict = because(result.Suspect, "rate")
		}, judge.Undecided, Generator, "99.00 % of the messages due was sent: because of rate"},
		{"all sent", fast, func(r *result.Run) { r.Summary.Rate = result.Rate{Asked: 100, Sent: 99.9} }, judge.Met, "", ""},
		{"lost", fast, func(r *result.Run) { r.Counters.LostAcked = 3 }, judge.Missed, Loss, "3 acknowledged messages lost"},
		{"perhaps lost", fast, func(r *result.Run) { r.Counters.Expected, r.Counters.Undelivered = 500, 3 }, judge.Undecided, "", "it is not known of 3 acknowledged messages whether they are lost: they were acknowledged and had not been delivered"},
		{"perhaps lost, and slow", "delivery.response p99 < 1us", func(r *result.Run) { r.Counters.Expected, r.Counters.Undelivered = 500, 3 }, judge.Missed, Latency, "p99 < 1µs is missed"},
		{"kept", fast, func(r *result.Run) {
			r.Counters.Expected, r.Counters.Undelivered = 500, 3
			r.ReadBack = &result.ReadBack{Outcome: result.ReadBackDone, Kept: 3}
		}, judge.Met, "", "it is"},
		{"without consumers", fast, func(r *result.Run) { r.Counters.Acked = 500 }, judge.Met, "", "it is"},
		{"refused", "nacked == 0", func(r *result.Run) { r.Counters.Nacked = 2 }, judge.Missed, Refusals, "the count is 2"},
		{"redelivered", "redelivered == 0", func(r *result.Run) { r.Counters.Redelivered = 2 }, judge.Missed, Count, "the count is 2"},
		{"cut short", fast, func(r *result.Run) { r.Summary = nil }, judge.Undecided, "", "cut short"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := &virtual{t: t, rng: rand.New(rand.NewPCG(1, 3))}
			run := v.run(500, 1)
			text := tt.objective
			if text == "" { // what it is, in nanoseconds
				p99 := run.Metrics[result.DeliveryResponse].Hist.Percentile(99)
				text = "delivery.response p99 < " + time.Duration(p99).String()
			}
			o, err := scenario.ParseObjective(text)
			if err != nil {
				t.Fatal(err)
			}
			if tt.change != nil {
				tt.change(run)
			}
			got, err := Observe(run, []scenario.Objective{o})
			if err != nil || got.Outcome != tt.outcome || got.Limit != tt.limit || !strings.Contains(got.Found, tt.found) {
				t.Errorf("%v: %+v; want %s by %q: %s", err, got, tt.outcome, tt.limit, tt.found)
			}
		})
	}
	o, err := scenario.ParseObjective("publish.response p99 < 1ms")
	if err != nil {
		t.Fatal(err)
	}
	v := &virtual{t: t, rng: rand.New(rand.NewPCG(1, 3))}
	if _, err := Observe(v.run(500, 1), []scenario.Objective{o}); err == nil || !strings.Contains(err.Error(), "did not measure publish.response") {
		t.Errorf("an objective of what is not measured: %v", err)
	}
}

// Workloads hold together if each does, and a trial in which the generator was the
// limit of one shows nothing.
func TestTogether(t *testing.T) {
	met, missed := Observation{judge.Met, "", "a", nil}, Observation{judge.Missed, Latency, "b", nil}
	undecided, generator := Observation{judge.Undecided, "", "c", nil}, Observation{judge.Undecided, Generator, "d", nil}
	for _, tt := range []struct {
		all  []Observation
		want Observation
	}{
		{[]Observation{met}, met},
		{[]Observation{met, met}, Observation{judge.Met, "", "a; a", nil}},
		{[]Observation{met, undecided}, undecided},
		{[]Observation{undecided, missed, met}, missed},
		{[]Observation{missed, generator, undecided}, generator},
	} {
		if got := Together(tt.all); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%v: %v, want %v", tt.all, got, tt.want)
		}
	}
}
