package judge

import (
	"strings"
	"testing"
	"time"

	"sixnines/result"
	"sixnines/scenario"
)

func decideText(t *testing.T, run *result.Run, text string) Decision {
	t.Helper()
	o, err := scenario.ParseObjective(text)
	if err != nil {
		t.Fatal(err)
	}
	return Decide(run, o)
}

// The limits are on either side of the figures and inside their intervals.
func TestObjectivesAreDecidedByTheBound(t *testing.T) {
	b := newFineTestbed(healthyMessages())
	run := b.run(t)
	run.Summary = Summarise(run, Inputs{})
	d := run.Summary.Histograms[result.DeliveryResponse]
	in := d.Figures["99"].Interval
	low, high := in.Low, in.High
	if low >= high {
		t.Fatalf("an interval without width: %v", in)
	}
	ns := func(v int64) string {
		return scenario.Objective{Subject: "delivery.response", Percent: 99, Op: "<", Limit: float64(v)}.String()
	}
	for text, want := range map[string]Outcome{
		ns(high + 1):                      Met,
		ns(high):                          Undecided,
		ns((low + high) / 2):              Undecided,
		ns(low + 1):                       Undecided,
		ns(low):                           Missed,
		ns(low - 1):                       Missed,
		"delivery.response p99 > 1ns":     Met,
		"delivery.response p99 >= 1h":     Missed,
		"delivery.response p99.9999 < 1h": Undecided, // 20,000 messages
		"delivery.response p97.5 < 1h":    Met,       // no percentile that is published
		"delivery.response max < 1h":      Met,
		"delivery.response max < 1ns":     Missed,
		"publish.response p99 < 1h":       Meaningless,
		"lost == 0":                       Met,
		"lost > 0":                        Missed,
		"rate >= 99.9%":                   Met,
		"worst_second >= 99%":             Met,
		"worst_second > 101%":             Missed,
	} {
		if got := decideText(t, run, text); got.Outcome != want || got.Text == "" {
			t.Errorf("%s: %s (%s), want %s", text, got.Outcome, got.Text, want)
		}
	}
}

// Unresolved messages reach into the tail: the interval has no upper end, and the maximum is
// only a lower bound.
func TestObjectivesHeedTheCensored(t *testing.T) {
	ms := healthyMessages()
	for i := range ms {
		ms[i].missing = i%1000 == 7 // 20 of 20,000
	}
	run := newFineTestbed(ms).run(t)
	run.Summary = Summarise(run, Inputs{})
	for text, want := range map[string]Outcome{
		"lost == 0":                      Missed,
		"lost <= 20":                     Met,
		"delivery.response p50 < 1h":     Met,
		"delivery.response p99.9 < 1h":   Undecided,
		"delivery.response p99.9 > 1ns":  Met,
		"delivery.response p99.9 < 1ns":  Missed,
		"delivery.response max < 1h":     Undecided,
		"delivery.response max < 1s":     Missed,
		"delivery.response max > 1s":     Met,
		"delivery.response max > 1h":     Undecided,
		"delivery.response p99.99 < 1ms": Undecided, // too few messages,
	} {
		if got := decideText(t, run, text); got.Outcome != want {
			t.Errorf("%s: %s (%s), want %s", text, got.Outcome, got.Text, want)
		}
	}
}

// A refused message is slower than any limit and was not answered. That applies to percentiles
// whose whole interval, or only its upper end, refused messages reach, and to the maximum.
func TestObjectivesHeedTheRefused(t *testing.T) {
	run := newFineTestbed(healthyMessages()).run(t)
	x := run.Metrics[result.DeliveryResponse]
	run.Header.Scenario = []byte(`{"target":{"driver":"mem"},"workload":{"timeout":"1s"}}`)
	x.Refused = 200 // of 20,200: 0.99 %
	run.Summary = Summarise(run, Inputs{})
	for text, want := range map[string]Outcome{
		"delivery.response p50 < 1h":   Met,
		"delivery.response p99 < 1h":   Undecided,
		"delivery.response p99 > 1ns":  Met,
		"delivery.response p99.9 < 1h": Missed,
		"delivery.response p99.9 > 1h": Met,
		"delivery.response max < 1h":   Missed,
		"delivery.response max > 1h":   Met,
		"availability > 98%":           Met,
		"availability > 99%":           Undecided,
		"availability > 99.9%":         Missed,
	} {
		if got := decideText(t, run, text); got.Outcome != want {
			t.Errorf("%s: %s (%s), want %s", text, got.Outcome, got.Text, want)
		}
	}
	d := run.Summary.Histograms[result.DeliveryResponse]
	if p99 := d.Figures["99"]; p99.Refused || !p99.Interval.OpenRefused || !p99.Interval.Open || !d.Figures["99.9"].Refused || !d.Figures["99.9"].AtLeast {
		t.Errorf("%+v", d)
	}
	if f := d.Figures["99.9"]; f.Interval != nil || f.Blocks != nil {
		t.Errorf("p99.9 is refused from end to end: %+v", f)
	}
	if s := d.Succeeded; s == nil || s.Count != d.Count || s.MaxRefused || s.Figures["99.9"].Value == 0 {
		t.Errorf("succeeded: %+v", s)
	}
}

// A run that is not valid shows nothing.
func TestObjectivesOfRunsThatShowNothing(t *testing.T) {
	run := newTestbed(healthyMessages()).run(t)
	if got := decideText(t, run, "lost == 0"); got.Outcome != Meaningless || !strings.Contains(got.Text, "cut short") {
		t.Errorf("cut short: %+v", got)
	}
	run.Summary = Summarise(run, Inputs{})
	run.Summary.Verdict.Status = result.Unstable
	if got := decideText(t, run, "delivery.response p99 < 1h"); got.Outcome != Meaningless {
		t.Errorf("unstable: %+v", got)
	}
	if got := decideText(t, run, "lost == 0"); got.Outcome != Met {
		t.Errorf("unstable: %+v", got)
	}
	run.Summary.Verdict.Status = result.Invalid
	if got := decideText(t, run, "lost == 0"); got.Outcome != Meaningless {
		t.Errorf("invalid: %+v", got)
	}
}

// Everything that an objective may be about is in a result.
func TestObjectivesNameWhatResultsHave(t *testing.T) {
	_, err := scenario.ParseObjective("nothing == 0")
	if err == nil {
		t.Fatal("an objective about nothing")
	}
	_, list, _ := strings.Cut(err.(*scenario.Error).Hint, "there are ")
	var counters int
	for _, name := range strings.Split(list, ", ") {
		name, _, _ = strings.Cut(name, ";")
		if o := (scenario.Objective{Subject: name}); strings.Contains(name, ".") || o.IsRate() || o.IsAvailability() || o.IsTime() {
			continue
		}
		if _, ok := (result.Counters{}).Named(name); !ok {
			t.Errorf("results have no counter %q", name)
		}
		counters++
	}
	if counters < 15 {
		t.Errorf("%d counters in %q", counters, list)
	}
}

// A rate is kept if all messages due were sent, even if their number differs from the schedule's
// mean, as with random arrivals and with a ramp that was ended early.
func TestObjectivesOfRatesGoByWhatWasDue(t *testing.T) {
	for _, tt := range []struct {
		name      string
		due, sent int64 // in each of the ten seconds
		late      int64 // more due in the last one that were not sent
		want      Outcome
	}{
		{"fewer arrivals than on average", 90, 90, 0, Met},
		{"more arrivals than on average", 110, 110, 0, Met},
		{"more, and one as the window ends", 110, 110, 1, Met},
		{"more, and not all sent", 110, 105, 0, Missed},
		{"two of few late", 10, 10, 2, Missed},
	} {
		run := &result.Run{Header: result.Header{Mode: result.ModeOpen, Rate: 100, Window: seconds * 1e9}, Metrics: map[result.Metric]*result.Merged{}}
		for n := range int64(seconds) {
			p := result.Point{Phase: result.PhaseMeasure, Start: n * 1e9, End: (n + 1) * 1e9, Counters: result.Counters{Scheduled: tt.due, Sent: tt.sent}}
			if n == seconds-1 {
				p.Counters.Scheduled += tt.late
			}
			run.Series = append(run.Series, p)
		}
		run.Summary = &result.Summary{Rate: rate(run, Inputs{End: seconds * 1e9})}
		if got := decideText(t, run, "rate >= 99.9%"); got.Outcome != tt.want {
			t.Errorf("%s: %s (%s), want %s", tt.name, got.Outcome, got.Text, tt.want)
		}
	}
}

// Rounding does not put a figure equal to its limit beyond it, and a figure just short of its limit
// is not printed as if it had reached it.
func TestObjectivesOfRates(t *testing.T) {
	for _, tt := range []struct {
		sent, asked float64
		text, found string
		want        Outcome
	}{
		{299.7, 300, "rate >= 99.9%", "it is 99.9 %", Met},
		{2997, 3000, "rate >= 99.9%", "it is 99.9 %", Met},
		{299.7, 300, "rate > 99.9%", "it is 99.9 %", Missed},
		{2.997, 3, "rate == 99.9%", "it is 99.9 %", Met},
		{999_999, 1_000_000, "rate >= 100%", "it is 99.9999 %", Missed},
		{1e10 - 1, 1e10, "rate >= 100%", "it is 99.99999999 %", Missed},
	} {
		run := &result.Run{Summary: &result.Summary{Rate: result.Rate{Sent: tt.sent, Asked: tt.asked}}}
		if got := decideText(t, run, tt.text); got.Outcome != tt.want || got.Text != tt.found {
			t.Errorf("%v of %v: %s: %s (%s), want %s (%s)", tt.sent, tt.asked, tt.text, got.Outcome, got.Text, tt.want, tt.found)
		}
	}
}

// A percentile that is suspect because of the generator's lag is still refused.
func TestRefusedIsNotSuspect(t *testing.T) {
	run := newTestbed(healthyMessages()).run(t)
	run.Metrics[result.DeliveryResponse].Refused = 20_000
	run.Summary = Summarise(run, Inputs{})
	run.Summary.Verdict = result.Verdict{Status: result.Suspect, Reasons: []result.Reason{
		{Status: result.Suspect, Code: "own-lag", Metric: result.DeliveryResponse, Percentile: "50"}}}
	for _, text := range []string{"delivery.response p99 < 1h", "delivery.response max < 1h"} {
		if got := decideText(t, run, text); got.Outcome != Missed {
			t.Errorf("%s: %s (%s)", text, got.Outcome, got.Text)
		}
	}
}

// An objective whose answer could differ in a longer run, or after the drain, is not met.
func TestMetByWhatEndedTooEarly(t *testing.T) {
	for text, s := range map[string]*result.Summary{
		"availability > 99%": {Verdict: result.Verdict{Status: result.Unstable}, Availability: &result.Availability{Answered: 10_000, Of: 10_000, Share: 1, Low: 0.9999, High: 1}},
		"lost_acked == 0":    {Verdict: result.Verdict{Status: result.Suspect}, Interrupted: true, Aborted: true},
	} {
		o, err := scenario.ParseObjective(text)
		if err != nil {
			t.Fatal(err)
		}
		if d := decideObjective(&result.Run{Summary: s, Counters: result.Counters{Missing: 5000}}, s, false, o); d.Outcome != Undecided {
			t.Errorf("%s: %+v", text, d)
		}
	}
}

// An objective is about the whole window: if the window was ended early, nothing is met, and
// only what the rest could not have changed is missed.
func TestObjectivesOfAnInterruptedWindow(t *testing.T) {
	ms := healthyMessages()
	for i := range ms {
		ms[i].missing = i == 1000
	}
	run := newFineTestbed(ms).run(t)
	run.Header.Window = 60 * seconds * time.Second
	run.Header.Scenario = []byte(`{"target":{"driver":"mem"},"workload":{"timeout":"1s"}}`)
	run.Summary = Summarise(run, Inputs{End: int64(seconds * time.Second), Interrupted: true})
	run.Counters.Scheduled, run.Summary.Rate.WorstSecond = 20_000, 0.5
	for text, want := range map[string]Outcome{
		"lost == 0":                   Missed, // one is lost already
		"lost <= 1":                   Undecided,
		"lost == 5":                   Undecided,
		"duplicated >= 10":            Undecided, // not yet
		"lost >= 1":                   Undecided,
		"duplicated == 0":             Undecided,
		"rate >= 99.9%":               Undecided,
		"worst_second >= 40%":         Undecided,
		"worst_second >= 99%":         Missed,
		"availability > 90%":          Undecided,
		"availability > 99.9999%":     Missed,
		"delivery.response p99 < 1h":  Undecided,
		"delivery.response p99 < 1ns": Missed,
		"delivery.response max < 1h":  Undecided,
		"delivery.response max < 1ns": Missed,
		"delivery.response max > 24h": Undecided,
		"publish.response p99 < 1h":   Meaningless,
	} {
		if got := decideText(t, run, text); got.Outcome != want || want == Undecided && !strings.Contains(got.Text, "the window was ended after 10.0 s of") && !strings.Contains(got.Text, "at least") {
			t.Errorf("%s: %s (%s), want %s", text, got.Outcome, got.Text, want)
		}
	}
	for sent, want := range map[float64]Outcome{1999: Undecided, 100: Missed} {
		run.Summary.Rate.Due, run.Summary.Rate.Sent = 2000, sent
		if got := decideText(t, run, "rate >= 99%"); got.Outcome != want {
			t.Errorf("%v/s of 2,000/s: %s (%s), want %s", sent, got.Outcome, got.Text, want)
		}
	}
	// A run that was planned to last until a percentile was known ended by itself.
	run.Summary.Interrupted, run.Summary.Until = false, &result.Until{Ended: result.EndedNarrow}
	if got := decideText(t, run, "duplicated == 0"); got.Outcome != Met {
		t.Errorf("ended by itself: %+v", got)
	}
}

// A run that sent nothing shows nothing.
func TestObjectivesOfNothing(t *testing.T) {
	run := &result.Run{Header: result.Header{Mode: result.ModeOpen, Rate: 1, Window: time.Second}, Metrics: map[result.Metric]*result.Merged{},
		Summary: &result.Summary{Rate: result.Rate{Asked: 1, WorstSecond: 1}}}
	for text, want := range map[string]Outcome{
		"lost == 0": Undecided, "nacked == 0": Undecided, "reordered >= 1": Missed,
		"rate >= 99.9%": Meaningless, "worst_second >= 99%": Meaningless, "availability > 99%": Meaningless, "delivery.response p99 < 1s": Meaningless,
	} {
		if got := decideText(t, run, text); got.Outcome != want {
			t.Errorf("%s: %s (%s), want %s", text, got.Outcome, got.Text, want)
		}
	}
}

// A count of 0 shows nothing where nothing was observed that could have been counted.
func TestObjectivesOnCountsOfNothing(t *testing.T) {
	rejected := result.Counters{Scheduled: 100, Taken: 100, Rejected: 100}
	silent := result.Counters{Scheduled: 100, Sent: 100, Acked: 100, Expected: 100, Missing: 100, Undelivered: 100}
	earlier := result.Counters{Scheduled: 100, Sent: 100, Acked: 100, Earlier: 5, EarlierMissing: 2}
	for _, tt := range []struct {
		text     string
		counters result.Counters
		want     Outcome
		says     string
	}{
		{"lost == 0", rejected, Undecided, "no message was to be received"},
		{"lost_acked == 0", rejected, Undecided, "nothing was acknowledged"},
		{"nacked == 0", rejected, Undecided, "nothing was sent"},
		{"rejected == 0", rejected, Missed, "100"},
		{"not_sent == 0", rejected, Met, "0"},
		{"duplicated == 0", silent, Undecided, "no message of this run was received"},
		{"reordered < 5", silent, Undecided, "no message of this run was received"},
		{"corrupted == 0", silent, Undecided, "nothing was received"},
		{"nacked == 0", silent, Met, "0"},
		{"lost_acked == 0", silent, Undecided, "for 100 messages it is not known"},
		{"lost_acked == 50", silent, Undecided, "for 100 messages it is not known"},
		{"lost_acked <= 100", silent, Met, "0"},
		{"lost_acked > 100", silent, Missed, "0"},
		{"corrupted == 0", earlier, Met, "0"},
		{"duplicated == 0", earlier, Undecided, "no message of this run was received"},
		{"earlier_duplicated == 0", earlier, Met, "0"},
		{"earlier_missing == 0", silent, Undecided, "nothing that an earlier run had sent was received"},
	} {
		run := &result.Run{Counters: tt.counters, Summary: &result.Summary{Verdict: result.Verdict{Status: result.Valid}}}
		if got := decideText(t, run, tt.text); got.Outcome != tt.want || !strings.Contains(got.Text, tt.says) {
			t.Errorf("%+v, %s: %s (%s), want %s, %q", tt.counters, tt.text, got.Outcome, got.Text, tt.want, tt.says)
		}
	}
}

// A file is not held to what its load cannot have, as a scenario is not.
func TestObjectivesThatALoadCannotHave(t *testing.T) {
	counters := result.Counters{Scheduled: 100, Sent: 100, Acked: 100}
	for _, tt := range []struct {
		name, scenario, pattern, text string
		want                          Outcome
	}{
		{"no consumers", `{"target":{"driver":"mem"},"workload":{"loop":"open","rate":"10/s","pattern":"publish"}}`, "publish", "duplicated == 0", Meaningless},
		{"no consumers, not read back", `{"target":{"driver":"mem"},"workload":{"loop":"open","rate":"10/s","pattern":"publish"}}`, "publish", "lost_acked == 0", Meaningless},
		{"no consumers, read back", `{"target":{"driver":"mem"},"workload":{"loop":"open","rate":"10/s","pattern":"publish"},"phases":{"read_back":"1m"}}`, "publish", "lost_acked == 0", Met},
		{"the sending agent of a fleet", `{"target":{"driver":"mem"},"workload":{"loop":"open","rate":"10/s","pattern":"deliver"}}`, "publish", "lost == 0", Meaningless},
		{"what is counted of every load", `{"target":{"driver":"mem"},"workload":{"loop":"open","rate":"10/s","pattern":"publish"}}`, "publish", "nacked == 0", Met},
	} {
		run := &result.Run{Header: result.Header{Scenario: []byte(tt.scenario), Pattern: tt.pattern}, Counters: counters,
			ReadBack: &result.ReadBack{Outcome: result.ReadBackDone, Whole: true, InLog: 100}, Summary: &result.Summary{Verdict: result.Verdict{Status: result.Valid}}}
		if got := decideText(t, run, tt.text); got.Outcome != tt.want {
			t.Errorf("%s: %s: %s (%s), want %s", tt.name, tt.text, got.Outcome, got.Text, tt.want)
		}
	}
}

// What an agent that was lost may have observed decides nothing in either direction.
func TestObjectivesWithoutAnAgent(t *testing.T) {
	run := &result.Run{
		Header:   result.Header{Fleet: &result.Fleet{Agents: []result.Agent{{Name: "kept", End: 1e9}, {Name: "gone", Lost: true}}}},
		Counters: result.Counters{Scheduled: 100, Sent: 100, Acked: 100, Expected: 100, Received: 60, Missing: 40, LostAcked: 3, Undelivered: 37, Duplicated: 2},
		Closing:  &result.Closing{End: 1e9, Unobserved: 30},
		Summary:  &result.Summary{End: 1e9, Verdict: result.Verdict{Status: result.Suspect}},
	}
	for text, want := range map[string]Outcome{
		"lost == 0": Missed, "lost <= 9": Missed, "lost <= 20": Undecided, "lost <= 40": Undecided, "lost > 40": Undecided,
		"lost_acked == 0": Missed, "lost_acked <= 3": Undecided, "lost_acked <= 40": Undecided,
		"duplicated == 0": Missed, "duplicated <= 2": Undecided, "duplicated == 5": Undecided, "duplicated >= 3": Undecided,
		"reordered == 0": Undecided, "nacked == 0": Undecided,
	} {
		if got := decideText(t, run, text); got.Outcome != want || want == Undecided && !strings.Contains(got.Text, "gone") && !strings.HasPrefix(text, "lost_acked") {
			t.Errorf("%s: %s (%s), want %s", text, got.Outcome, got.Text, want)
		}
	}
	run.Closing.Unobserved = 0
	if got := decideText(t, run, "lost <= 9"); got.Outcome != Undecided {
		t.Errorf("an agent that receives what it sends: %s (%s)", got.Outcome, got.Text)
	}
}

// A message that was given up before its timeout counts neither as answered nor as failed.
func TestAvailabilityOfWhatHadNoTime(t *testing.T) {
	ms := healthyMessages()
	for i := range ms {
		ms[i].missing = i%10 == 0 // given up after 5 s
	}
	for timeout, want := range map[string]Outcome{"6s": Undecided, "5s": Missed, "1s": Missed} {
		run := newFineTestbed(ms).run(t)
		run.Header.Scenario = []byte(`{"target":{"driver":"mem"},"workload":{"timeout":"` + timeout + `"}}`)
		run.Summary = Summarise(run, Inputs{})
		if got := decideText(t, run, "availability >= 95%"); got.Outcome != want || (want == Undecided) != strings.Contains(got.Text, "2,000 messages could not be observed") {
			t.Errorf("%s: %s (%s), want %s", timeout, got.Outcome, got.Text, want)
		}
		if got := decideText(t, run, "availability >= 85%"); got.Outcome != Met {
			t.Errorf("%s: %s (%s)", timeout, got.Outcome, got.Text)
		}
	}
}

// A percentile without an interval by stretches is still missed if so many messages lie beyond
// the limit that dependence cannot explain it.
func TestObjectivesWithoutStretches(t *testing.T) {
	run := newTestbed(healthyMessages()).summed(t) // ten intervals
	for text, want := range map[string]Outcome{
		"delivery.response p99 < 50us": Missed,
		"delivery.response p99 > 50us": Met,
		"delivery.response p99 < 1s":   Undecided,
		"delivery.response p99 > 1s":   Undecided,
		"delivery.response p50 < 50us": Undecided,
	} {
		if got := decideText(t, run, text); got.Outcome != want || !strings.Contains(got.Text, "by stretches of the run: n/a, the run has 10 intervals") ||
			!strings.Contains(got.Text, "by messages") || got.Brief == "" || strings.Contains(got.Brief, "stretches") || len(got.Brief) > 120 {
			t.Errorf("%s: %s (%s; %s), want %s", text, got.Outcome, got.Text, got.Brief, want)
		}
	}
}

// Availability is decided as the percentile that it is about: messages of one pause are one event, and what is suspect of the
// percentile decides nothing. Refusals decide whatever is suspect.
func TestAvailabilityIsDecidedAsAPercentile(t *testing.T) {
	missing := func(gone func(i int) bool) []msg {
		ms := healthyMessages() // 20,000 in ten seconds
		for i := range ms {
			ms[i].missing = gone(i)
		}
		return ms
	}
	suspect := func(run *result.Run) {
		run.Summary.Verdict = result.Verdict{Status: result.Suspect, Reasons: []result.Reason{{Status: result.Suspect, Code: result.ReasonAgentLost, Found: "an agent was lost"}}}
	}
	longer := func(run *result.Run) {
		run.Summary.Verdict = result.Verdict{Status: result.Suspect, Reasons: []result.Reason{{Status: result.Suspect, Code: result.ReasonOwnLag, Metric: result.DeliveryResponse, Found: "lag"}}}
	}
	none := func(*result.Run) {}
	for _, tt := range []struct {
		name    string
		ms      []msg
		refused int64
		change  func(*result.Run)
		text    string
		want    Outcome
	}{
		{"0.5 % all over", missing(func(i int) bool { return i%200 == 7 }), 0, none, "availability >= 99%", Met},
		{"0.5 % in one pause", missing(func(i int) bool { return i >= 9000 && i < 9100 }), 0, none, "availability >= 99%", Undecided},
		{"2 % in one pause", missing(func(i int) bool { return i >= 9000 && i < 9400 }), 0, none, "availability >= 99%", Undecided},
		{"2 % all over", missing(func(i int) bool { return i%50 == 7 }), 0, none, "availability >= 99%", Missed},
		{"all answered", missing(func(int) bool { return false }), 0, none, "availability >= 99%", Met},
		{"all answered, of another load", missing(func(int) bool { return false }), 0, suspect, "availability >= 99%", Undecided},
		{"all answered, in spite of lag", missing(func(int) bool { return false }), 0, longer, "availability >= 99%", Met},
		{"missed, of another load", missing(func(i int) bool { return i%50 == 7 }), 0, suspect, "availability >= 99%", Undecided},
		{"refused, of another load", missing(func(int) bool { return false }), 2000, suspect, "availability >= 99%", Missed},
	} {
		run := newFineTestbed(tt.ms).run(t)
		run.Header.Scenario = []byte(`{"target":{"driver":"mem"},"workload":{"timeout":"1s"}}`)
		x := run.Metrics[result.DeliveryResponse]
		for n := int64(0); n < tt.refused; n += 20 {
			x.RefusedAt, x.Refused = append(x.RefusedAt, [2]int64{n / 20, 20}), x.Refused+20
		}
		run.Summary = Summarise(run, Inputs{})
		tt.change(run)
		if got := decideText(t, run, tt.text); got.Outcome != tt.want {
			t.Errorf("%s: %s (%s), want %s", tt.name, got.Outcome, got.Text, tt.want)
		}
	}
}

// Failures are known by slots, which may be longer than a stretch of the run: they are no bursts for that.
func TestAvailabilityOfShortStretches(t *testing.T) {
	run := newTestbedOf(healthyMessages(), 10*time.Millisecond).run(t)
	run.Header.Scenario = []byte(`{"target":{"driver":"mem"},"workload":{"timeout":"1s"}}`)
	x := run.Metrics[result.DeliveryResponse]
	for n := range int64(100) { // of 300 in each slot
		x.RefusedAt, x.Refused = append(x.RefusedAt, [2]int64{n, 100}), x.Refused+100
	}
	run.Summary = Summarise(run, Inputs{})
	if got := decideText(t, run, "availability > 66%"); got.Outcome != Met {
		t.Errorf("%s (%s)", got.Outcome, got.Text)
	}
}
