package selftest

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"sixnines/result"
)

func judged(status result.Status, reasons ...result.Reason) *result.Run {
	return &result.Run{Counters: result.Counters{Scheduled: 10, Sent: 10}, Summary: &result.Summary{
		Verdict: result.Verdict{Status: status, Reasons: reasons}, Rate: result.Rate{WorstSecond: 1},
		Histograms: map[result.Metric]*result.Distribution{result.DeliveryResponse: {
			Figures: map[result.Percentile]result.Figure{"50": {Value: 10e6, OwnShare: new(0.01)}, "99": {Value: 15e6, OwnShare: new(0.25)}}}},
	}}
}

// A schedule that was not kept fails the trial, for each way in which it may show.
func TestKeptNotices(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*result.Run)
		want   Verdict
	}{
		"good":         {func(*result.Run) {}, Passed},
		"one not sent": {func(r *result.Run) { r.Counters.Sent-- }, Failed},
		"a bad second": {func(r *result.Run) { r.Summary.Rate.WorstSecond = 0.89 }, Failed},
		"own lag":      {func(r *result.Run) { *r.Summary.Histograms[result.DeliveryResponse].Figures["99"].OwnShare = 0.26 }, Failed},
		"no own lag":   {func(r *result.Run) { delete(r.Summary.Histograms[result.DeliveryResponse].Figures, "50") }, Failed},
		"attributed": {func(r *result.Run) {
			r.Summary.Verdict.Reasons = []result.Reason{{Status: result.Suspect, Code: "frozen"}}
		}, Failed},
		"a note":            {func(r *result.Run) { r.Summary.Verdict.Reasons = []result.Reason{{Status: result.Valid, Code: "rate"}} }, Passed},
		"nothing delivered": {func(r *result.Run) { r.Summary.Histograms = nil }, Failed},
	} {
		r := judged(result.Valid)
		tt.change(r)
		if got := Conclude("", kept(r)...).Verdict; got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

// validTo limits a run's verdict.
func validTo(run *result.Run, percentile string) *result.Run {
	run.Summary.Verdict.ValidTo = result.Percentile(percentile)
	return run
}

// The trial fails if the verdict on a starved run is good, or has another reason.
func TestStarvedNotices(t *testing.T) {
	own := result.Reason{Status: result.Suspect, Code: "own-lag"}
	for name, tt := range map[string]struct {
		run  *result.Run
		want Verdict
	}{
		"suspect":        {judged(result.Suspect, own), Passed},
		"invalid":        {judged(result.Invalid, own, result.Reason{Status: result.Invalid, Code: "frozen"}), Passed},
		"valid":          {judged(result.Valid), Failed},
		"valid to p95":   {validTo(judged(result.Valid, own), "95"), Passed},
		"unstable":       {judged(result.Unstable, own), Failed},
		"of other fault": {judged(result.Suspect, result.Reason{Status: result.Suspect, Code: "client-drops"}), Failed},
	} {
		if got := Conclude("", starved(tt.run)...).Verdict; got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

// Anderson and Darling's test tells a Poisson process from a metronome, and is
// for information only.
func TestGapFigures(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var g gaps
	for range 2000 {
		g.intended = append(g.intended, r.ExpFloat64()*1e6)
		g.sent = append(g.sent, 1e6)
	}
	f := g.figures(time.Millisecond)
	if !strings.Contains(f[0].Found, "more than 5 %") || !strings.Contains(f[1].Found, "less than 1 %") || f[0].Verdict != Information || f[1].Verdict != Information {
		t.Errorf("%+v", f)
	}
	if got := between([]int64{30, 10, 20}); len(got) != 2 || got[0] != 10 || got[1] != 10 {
		t.Errorf("%v", got)
	}
}
