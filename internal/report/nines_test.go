package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"sixnines/result"
)

func TestFigureAtKeepsTheRulesOfSummaries(t *testing.T) {
	run := openRun().make()
	s, m := subjectOf(run), result.DeliveryResponse
	d := run.Summary.Histograms[m]
	if f := s.figureAt(m, "99.9"); f.Value != d.Figures["99.9"].Value || f.Interval == nil {
		t.Errorf("a published percentile is %+v, the summary says %d", f, d.Figures["99.9"].Value)
	}
	// Between two published ones lies what is between them, and a neighbour so
	// near that no rank is between is the same.
	between := s.figureAt(m, "99.5").Value
	if between < d.Figures["99"].Value || between > d.Figures["99.9"].Value {
		t.Errorf("p99.5 is %d, between %d and %d", between, d.Figures["99"].Value, d.Figures["99.9"].Value)
	}
	if f := s.figureAt(m, "99.900001"); f.Value < d.Figures["99.9"].Value || f.Value > d.Figures["99.99"].Value {
		t.Errorf("p99.900001 is %d, p99.9 %d", f.Value, d.Figures["99.9"].Value)
	}
	if f := s.figureAt(m, "99.99999"); f.Needs != 36_888_793 || f.ok() {
		t.Errorf("of 200,000 messages p99.99999 is %s", f.text())
	}
	if f := s.figureAt(m, "99.995"); !f.Few {
		t.Errorf("p99.995 of 200,000 messages rests on ten, and is not marked: %+v", f)
	}
	run.Summary.Verdict.Status = result.Unstable
	if f := s.figureAt(m, "99.5"); f.ok() {
		t.Errorf("a percentile of an overloaded run is %s", f.text())
	}
	if f := s.figureAt(result.RoundTripResponse, "99"); f.ok() {
		t.Errorf("a latency that was not measured is %s", f.text())
	}
}

func TestFigureAtAmongTheCensored(t *testing.T) {
	s := openRun()
	s.lost = 100 // of 200,000: above p99.95
	run := s.make()
	censored := run.Metrics[result.DeliveryResponse]
	censored.Censored = run.Metrics[result.DeliveryService].Hist // any that is there: only its size matters here
	if f := subjectOf(run).figureAt(result.DeliveryResponse, "99.7"); !f.AtLeast || !strings.HasPrefix(f.text(), "≥") {
		t.Errorf("a percentile among the unresolved is %s, want a lower bound", f.text())
	}
	if f := subjectOf(run).figureAt(result.DeliveryResponse, "33"); f.AtLeast {
		t.Errorf("a percentile below the unresolved is %s", f.text())
	}
}

func TestPercentileAbove(t *testing.T) {
	for _, c := range []struct {
		worse float64
		want  result.Percentile
	}{{0.01, "99"}, {0.1, "90"}, {0.5, "50"}, {0.00005025, "99.995"}, {0.0000996, "99.9901"}, {0.001, "99.9"}, {1e-6, "99.9999"}, {1.99e-9, "99.99999981"}, {1.005e-20, "99.999999999999999999"}} {
		if got := percentileAbove(c.worse); got != c.want {
			t.Errorf("leaving out at most %v: p%s, want p%s", c.worse, got, c.want)
		}
		if left := worseThan(c.want); left > c.worse*(1+1e-9) {
			t.Errorf("p%s leaves out %v, more than %v", c.want, left, c.worse)
		}
	}
}

func TestUserShare(t *testing.T) {
	for share, want := range map[float64]string{0: "none", 1: ">99.99 %", 0.99995: ">99.99 %", 0.9949: "99.49 %", 0.866: "87 %", 0.0198: "2 %", 0.0123: "1.2 %", 0.00002: "0.002 %", 0.5: "50 %"} {
		if got := userShare(share); got != want {
			t.Errorf("%v is %q, want %q", share, got, want)
		}
	}
}

func TestNinesOfARun(t *testing.T) {
	run := openRun().make()
	var b bytes.Buffer
	a := UserModel{Requests: 40, Pages: 5, Users: 0.99}
	if err := Nines(&b, a, []result.Percentile{"99", "99.9"}, run, Options{Width: 90}); err != nil {
		t.Fatal(err)
	}
	golden(t, "nines.txt", b.Bytes())
	b.Reset()
	if err := NinesJSON(&b, a, []result.Percentile{"99"}, run); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Percentiles []struct {
			Measured struct{ Value int64 }
		}
		Needed struct{ Percentile, Clustered string }
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Percentiles[0].Measured.Value != run.Summary.Histograms[result.DeliveryResponse].Figures["99"].Value || got.Needed.Percentile != "99.995" || got.Needed.Clustered != "99" {
		t.Errorf("%s", b.String())
	}
	// Where the next message waited for the last nobody knows what users feel.
	if x, line := peopleTable(subjectOf(closedRun().make())), peopleLine(subjectOf(closedRun().make())); x != nil || line != "" {
		t.Error("a closed loop says what users meet")
	}
}
