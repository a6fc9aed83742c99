package judge

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"sixnines/internal/spell/spelltest"
	"sixnines/result"
)

// lateTail makes the generator late by itself for a share of the messages, which
// so become the slowest.
func lateTail(every int) []msg {
	ms := healthyMessages()
	for i := range ms {
		if i%every == every/2 {
			ms[i].own, ms[i].service = 700_000, 60_000
		}
	}
	return ms
}

// The verdict says up to which percentile the first latency is valid, and what is
// wrong from there on.
func TestTheVerdictNamesWhatHolds(t *testing.T) {
	reason := func(m result.Metric, p, brief string) result.Reason {
		return result.Reason{Status: result.Suspect, Code: "some-code", Metric: m, Percentile: result.Percentile(p), Brief: brief}
	}
	const delivery, service = result.DeliveryResponse, result.DeliveryService
	tests := []struct {
		name    string
		reasons []result.Reason
		verdict string
		limits  []result.Limit
	}{
		{"nothing", nil, "VALID", nil},
		{"a tail", []result.Reason{reason(delivery, "99.9", "36 % own lag")}, "VALID to p99",
			[]result.Limit{{Metric: delivery, ValidTo: "99", From: "99.9", Why: "36 % own lag"}}},
		{"a note on a tail", []result.Reason{{Status: result.Valid, Metric: delivery, Percentile: "50"}}, "VALID", nil},
		{"the least of several counts", []result.Reason{reason(delivery, "99.9", ""), reason(delivery, "90", "steal"), reason(delivery, "95", "b")}, "VALID to p75",
			[]result.Limit{{Metric: delivery, ValidTo: "75", From: "90", Why: "steal"}}},
		{"two of the same", []result.Reason{reason(delivery, "99", "a"), reason(delivery, "99", ""), reason(delivery, "99", "a")}, "VALID to p95",
			[]result.Limit{{Metric: delivery, ValidTo: "95", From: "99", Why: "a, some code"}}},
		{"the median", []result.Reason{reason(delivery, "50", "own lag")}, "SUSPECT",
			[]result.Limit{{Metric: delivery, From: "50", Why: "own lag"}}},
		{"beyond what is published", []result.Reason{reason(delivery, "99.99", "")}, "VALID", nil},
		{"another latency", []result.Reason{reason(service, "50", "x"), reason(delivery, "99.9", "y")}, "VALID to p99",
			[]result.Limit{{Metric: delivery, ValidTo: "99", From: "99.9", Why: "y"}, {Metric: service, From: "50", Why: "x"}}},
		{"all latencies", []result.Reason{reason("", "99", "gc")}, "VALID to p95",
			[]result.Limit{{Metric: delivery, ValidTo: "95", From: "99", Why: "gc"}, {Metric: service, ValidTo: "95", From: "99", Why: "gc"}}},
		{"the run as well", []result.Reason{reason("", "99", "gc"), reason("", "", "")}, "SUSPECT",
			[]result.Limit{{Metric: delivery, ValidTo: "95", From: "99", Why: "gc"}, {Metric: service, ValidTo: "95", From: "99", Why: "gc"}}},
		{"what is no latency", []result.Reason{reason(result.LagOwn, "99", "")}, "SUSPECT", nil},
		{"invalid from a percentile on", []result.Reason{{Status: result.Invalid, Metric: delivery, Percentile: "99", Brief: "x"}}, "VALID to p95",
			[]result.Limit{{Metric: delivery, ValidTo: "95", From: "99", Why: "x", InvalidFrom: "99", InvalidWhy: "x"}}},
		{"suspect, then invalid", []result.Reason{{Status: result.Invalid, Metric: delivery, Percentile: "99", Brief: "x"}, reason(delivery, "90", "y")}, "VALID to p75",
			[]result.Limit{{Metric: delivery, ValidTo: "75", From: "90", Why: "y", InvalidFrom: "99", InvalidWhy: "x"}}},
		{"suspect at the median, then invalid", []result.Reason{{Status: result.Invalid, Percentile: "99", Brief: "x"}, reason(delivery, "50", "y")}, "SUSPECT",
			[]result.Limit{{Metric: delivery, From: "50", Why: "y", InvalidFrom: "99", InvalidWhy: "x"}, {Metric: service, ValidTo: "95", From: "99", Why: "x", InvalidFrom: "99", InvalidWhy: "x"}}},
		{"invalid at the median", []result.Reason{{Status: result.Invalid, Metric: delivery, Percentile: "50", Brief: "x"}}, "INVALID",
			[]result.Limit{{Metric: delivery, From: "50", Why: "x", InvalidFrom: "50", InvalidWhy: "x"}}},
		{"another latency invalid at the median", []result.Reason{{Status: result.Invalid, Metric: service, Percentile: "50", Brief: "x"}}, "VALID",
			[]result.Limit{{Metric: service, From: "50", Why: "x", InvalidFrom: "50", InvalidWhy: "x"}}},
		{"invalid as a whole", []result.Reason{{Status: result.Invalid}}, "INVALID", nil},
	}
	run := newTestbed(healthyMessages()).run(t)
	in := Inputs{}.complete(run)
	s := Summarise(run, in)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := newEvidence(run, in, s).verdict(tt.reasons)
			for i := range v.Limits {
				l := &v.Limits[i]
				if len(l.Codes) == 0 || (l.InvalidFrom != "") != (len(l.InvalidCodes) > 0) {
					t.Errorf("without codes: %+v", l)
				}
				l.Codes, l.InvalidCodes = nil, nil // which are in words, too
			}
			if v.String() != tt.verdict || !slices.EqualFunc(v.Limits, tt.limits, func(a, b result.Limit) bool { return reflect.DeepEqual(a, b) }) {
				t.Errorf("%s %+v, want %s %+v", v, v.Limits, tt.verdict, tt.limits)
			}
			if tt.verdict == "VALID to p99" != (v.ValidTo == "99") {
				t.Errorf("valid to %q", v.ValidTo)
			}
		})
	}
}

// The same from a run's messages: own lag in the slowest five of a thousand.
func TestATailOfOwnLagLimitsTheVerdict(t *testing.T) {
	v := verdictOf(newTestbed(lateTail(200)).run(t), Inputs{})
	l := v.Limit(result.DeliveryResponse)
	if v.String() != "VALID to p99" || l == nil || l.From != "99.9" || !slices.Equal(l.Codes, []result.ReasonCode{result.ReasonOwnLag}) {
		t.Errorf("%s, %+v: %+v", v, l, v.Reasons)
	}
	if v.Limit(result.DeliveryService) != nil {
		t.Errorf("service times hold no own lag: %+v", v.Limits)
	}
}

// A suspect percentile can be shown to be below a limit, if all reasons can only have made it longer,
// but never to be above it.
func TestObjectivesOfSuspectPercentiles(t *testing.T) {
	late := newFineTestbed(lateTail(200)).summed(t)
	because := func(r result.Reason) *result.Run {
		run := newFineTestbed(healthyMessages()).summed(t)
		r.Status = result.Suspect
		run.Summary.Verdict = newEvidence(run, Inputs{}.complete(run), run.Summary).verdict([]result.Reason{r})
		return run
	}
	drifted := because(result.Reason{Code: "steady", Metric: result.DeliveryResponse, Percentile: "99", Brief: "drift"})
	starved := because(result.Reason{Code: "rate", Brief: "60 % sent late"}) // every percentile may be affected
	busy := because(result.Reason{Code: "cpu"})
	crowded := because(result.Reason{Code: "starved"})
	unseen := because(result.Reason{Code: "unseen"})
	limited := because(result.Reason{Code: "generator-limit"})
	for _, tt := range []struct {
		run     *result.Run
		text    string
		outcome Outcome
		says    string
	}{
		{late, "delivery.response p99 < 1s", Met, ""},
		{late, "delivery.response p99 > 1ns", Met, ""},
		{late, "delivery.response p99.6 < 1s", Met, "p99.6 is suspect"}, // not published: what is wrong begins anywhere from p99 on
		{late, "delivery.response p99.6 < 500us", Undecided, "so \"missed\" is not shown"},
		{late, "delivery.response p99.9 < 1s", Met, "p99.9 is suspect"},
		{late, "delivery.response max < 1s", Met, "the maximum is suspect"},
		{late, "delivery.response p99.9 < 1ns", Missed, "decides alone"},
		{late, "delivery.response p99.9 > 1ns", Met, "decides alone"},
		{late, "delivery.response p99.9 > 1s", Missed, "can only have made the latency longer"},
		{late, "delivery.service p99.9 > 1ns", Met, ""},
		{drifted, "delivery.response p95 < 1s", Met, ""},
		{drifted, "delivery.response p99 < 1s", Undecided, "from p99 on: drift"},
		{drifted, "delivery.response p97 < 1s", Undecided, "p97 is suspect (from p99 on: drift)"},
		{starved, "delivery.response p50 < 1s", Undecided, "p50 is suspect, as is the whole run (60 % sent late)"},
		{starved, "delivery.response p50 < 1ns", Undecided, "so \"missed\" is not shown"},
		{starved, "delivery.response max < 1ns", Undecided, "the maximum is suspect"},
		{starved, "lag.own p50 < 1ns", Missed, ""},
		{starved, "lost == 0", Met, ""},
		{busy, "delivery.response p99 < 1s", Met, "which can only have made the latency longer"},
		{busy, "delivery.response p99 < 1ns", Undecided, "so \"missed\" is not shown"},
		{crowded, "delivery.response p99 < 1s", Met, "which can only have made the latency longer"},
		{unseen, "delivery.response p99 < 1s", Met, "which can only have made the latency longer"},
		{limited, "delivery.response p99 < 1s", Met, "met nevertheless"},
		{limited, "delivery.response p99 < 1ns", Undecided, "so \"missed\" is not shown"},
	} {
		d := decideText(t, tt.run, tt.text)
		if d.Outcome != tt.outcome || !strings.Contains(d.Text, tt.says) || tt.says == "" && strings.Contains(d.Text, "suspect") {
			t.Errorf("%s: %s, %q; want %s, %q", tt.text, d.Outcome, d.Text, tt.outcome, tt.says)
		}
	}
}

// If the level changes from interval to interval, the exact interval is much too narrow: limits
// within the interval by stretches are undecided. With too few stretches the answer says so.
func TestObjectivesHeedWhatMessagesHaveInCommon(t *testing.T) {
	wandering := func(intervals int) *result.Run {
		b := newTestbed(nil)
		b.header.Window, b.header.Interval = time.Duration(intervals)*time.Second, time.Second
		b.intervals = nil
		for n := range int64(intervals) {
			i := newInterval(result.PhaseMeasure, n*1e9, (n+1)*1e9)
			level := 100_000 + 10_000*(n*7919%13)
			for k := range int64(200) {
				due := n*1e9 + k*5e6
				i.share(result.DeliveryResponse).response(level+k*37%200*500, 0, due)
			}
			i.v.Counters.Scheduled, i.v.Counters.Sent, i.v.Counters.Unknown = 200, 200, 200
			i.v.Counters.Expected, i.v.Counters.Received = 200, 200
			b.intervals = append(b.intervals, i)
		}
		return b.summed(t)
	}
	for _, p := range []string{"50", "90", "95", "99"} {
		run := wandering(130)
		in := run.Summary.Histograms[result.DeliveryResponse].Figures[result.Percentile(p)].Interval
		limit := time.Duration(in.High + (in.High-in.Low)/4)
		d := decideText(t, run, "delivery.response p"+p+" < "+limit.String())
		if d.Outcome != Undecided || !strings.Contains(d.Text, "by stretches of the run") || strings.Contains(d.Text, "independent") {
			t.Errorf("p%s: %s (%s)", p, d.Outcome, d.Text)
		}
		if d := decideText(t, run, "delivery.response p"+p+" < 1s"); d.Outcome != Met {
			t.Errorf("p%s: %s (%s)", p, d.Outcome, d.Text)
		}
	}
	d := decideText(t, wandering(30), "delivery.response p95 < 1s")
	if d.Outcome != Undecided || !strings.Contains(d.Text, ", as if they were independent, which decides nothing; by stretches of the run: n/a, the run has 30 intervals") {
		t.Errorf("30 intervals: %s (%s)", d.Outcome, d.Text)
	}
}

// inPlainWords checks what a verdict says to its readers.
func inPlainWords(t *testing.T, v result.Verdict) {
	t.Helper()
	for _, r := range v.Reasons {
		for _, found := range slices.Concat(spelltest.Words(r.Text+" "+r.Brief), spelltest.Numbers(r.Text+" "+r.Brief)) {
			t.Errorf("%s: %s", r.Code, found)
		}
		if !strings.Contains(r.What(), string(r.Metric)) {
			t.Errorf("%s is about %s, and does not say so: %s", r.Code, r.Metric, r.What())
		}
	}
}
