package report

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"sixnines/result"
)

// limitedRun holds up to p99; p99.9 and beyond are suspect, and of the service
// time p99 already.
func limitedRun() *result.Run {
	run := openRun().make()
	run.Summary.Verdict = result.Verdict{Status: result.Valid, ValidTo: "99",
		Limits: []result.Limit{
			{Metric: result.DeliveryResponse, ValidTo: "99", From: "99.9", Why: "36 % own lag"},
			{Metric: result.DeliveryService, ValidTo: "95", From: "99", Why: "0.8 % steal"}},
		Reasons: []result.Reason{{Status: result.Suspect, Code: "own-lag", Metric: result.DeliveryResponse, Percentile: "99.9",
			Text: "36 % of delivery.response p99.9 is the generator's own lag", Brief: "36 % own lag"}}}
	return run
}

// Every output says up to where a run is valid, and what is wrong beyond; tables
// mark the percentiles there.
func TestEveryOutputNamesWhatHolds(t *testing.T) {
	run := limitedRun()
	html := func(w io.Writer) error { return HTML(w, []*result.Run{run}, Options{}) }
	for name, tt := range map[string]struct {
		write func(io.Writer) error
		want  []string
	}{
		"terminal": {func(w io.Writer) error { return Terminal(w, []*result.Run{run}, Options{Full: true}) },
			[]string{"VALID to p99  ", "\n  p99.9 suspect: 36 % own lag\n", "\n  delivery service p99 suspect: 0.8 % steal\n"}},
		"markdown": {func(w io.Writer) error { return writeMarkdown(w, []*result.Run{run}) },
			[]string{"### VALID to p99: ", "- **p99.9 suspect: 36 % own lag**\n", "- **delivery service p99 suspect: 0.8 % steal**\n"}},
		"page": {html, []string{`<span class="status">VALID to p99</span>`, `<p class="limit">p99.9 suspect: 36 % own lag</p>`}},
		"json": {func(w io.Writer) error { return JSON(w, run) },
			[]string{`{"verdict":{"status":"VALID","valid_to":"99","limits":[{"metric":"delivery.response","valid_to":"99","suspect_from":"99.9","why":"36 % own lag"},`}},
		"junit": {func(w io.Writer) error { _, err := w.Write(junitOf(t, nil, run)); return err },
			[]string{"<system-out>VALID to p99&#xA;p99.9 suspect: 36 % own lag&#xA;"}},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := tt.write(&b); err != nil {
				t.Fatal(err)
			}
			for _, want := range tt.want {
				if !strings.Contains(b.String(), want) {
					t.Errorf("%q is not in\n%.3000s", want, b.String())
				}
			}
		})
	}
	var page bytes.Buffer
	if err := html(&page); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(page.String(), "No reason to suspect") {
		t.Error("something does speak against these numbers")
	}
	s := subjectOf(run)
	for _, c := range []struct {
		metric result.Metric
		p      result.Percentile
		marked bool
	}{
		{result.DeliveryResponse, "99", false}, {result.DeliveryResponse, "99.9", true}, {result.DeliveryResponse, "99.99", true},
		{result.DeliveryResponse, "99.95", true}, {result.DeliveryResponse, result.Maximum, true},
		{result.DeliveryService, "95", false}, {result.DeliveryService, "99", true}, {result.LagOwn, "99.9", false},
	} {
		f := s.figureAt(c.metric, c.p)
		if got := strings.HasPrefix(f.text(), "? ") && strings.Contains(f.mark(), "suspect"); f.ok() && got != c.marked {
			t.Errorf("%s p%s: %q, %q", c.metric, c.p, f.text(), f.mark())
		}
	}
	l := &run.Summary.Verdict.Limits[0]
	l.ValidTo, l.From, l.InvalidFrom, l.InvalidWhy = "95", "99", "99.9", "53 % of the tail mostly own lag"
	s = subjectOf(run)
	for p, want := range map[result.Percentile]string{"95": "", "99": "?", "99.9": "✗", result.Maximum: "✗", "99.5": "✗"} {
		f := s.figureAt(result.DeliveryResponse, p)
		if sign, _, _ := strings.Cut(f.text(), " "); f.ok() && (sign == want) != (want != "") || (want == "✗") != strings.Contains(f.mark(), "invalid") {
			t.Errorf("p%s: %q, %q", p, f.text(), f.mark())
		}
	}
	for _, o := range []Options{{Full: true}, {}} {
		if got := terminal(t, o, run); !strings.Contains(got, "p99 suspect: 36 % own lag; p99.9 invalid: 53 % of the tail mostly own lag") && !strings.Contains(got, "p99.9 invalid: 53 % of the tail") {
			t.Errorf("%+v:\n%.900s", o, got)
		}
	}
	l.From = l.InvalidFrom
	if text := limitText(*l, shortWhy); text != "p99.9 invalid: 53 % of the tail mostly own lag" {
		t.Error(text)
	}
	run.Summary.Verdict.Status, run.Summary.Verdict.ValidTo = result.Invalid, ""
	if got := terminal(t, Options{}, run); strings.Contains(got, " suspect: ") || !strings.HasPrefix(got, "INVALID  ") {
		t.Errorf("all of an INVALID run is worse:\n%.500s", got)
	}
}

// Own lag is explained where it alone limits a percentile, as its code says, whatever the words.
func TestOwnLagIsExplained(t *testing.T) {
	const explained = "36 % of it is the generator's own lag"
	for name, tt := range map[string]struct {
		limit   result.Limit
		invalid bool
		want    string
	}{
		"own lag":                 {result.Limit{From: "99", Why: "some", Codes: []result.ReasonCode{result.ReasonOwnLag}}, false, explained},
		"own lag and another":     {result.Limit{From: "99", Why: "36 % own lag, steal", Codes: []result.ReasonCode{result.ReasonOwnLag, result.ReasonSteal}}, false, "36 % own lag, steal"},
		"of an earlier version":   {result.Limit{From: "99", Why: "36 % own lag"}, false, "36 % own lag"},
		"a share nobody knows":    {result.Limit{From: "90", Why: "some", Codes: []result.ReasonCode{result.ReasonOwnLag}}, false, "some"},
		"another metric":          {result.Limit{Metric: result.PublishService, From: "99", Why: "some", Codes: []result.ReasonCode{result.ReasonOwnLag}}, false, "some"},
		"what makes it invalid":   {result.Limit{From: "99", Why: "36 % own lag", InvalidFrom: "99.9", InvalidWhy: "53 % of the tail", InvalidCodes: []result.ReasonCode{result.ReasonSelfInflicted}}, true, "53 % of the tail"},
		"something else entirely": {result.Limit{From: "99", Why: "0.8 % steal", Codes: []result.ReasonCode{result.ReasonSteal}}, false, "0.8 % steal"},
	} {
		if tt.limit.Metric == "" {
			tt.limit.Metric = result.DeliveryResponse
		}
		s := &subject{sum: &result.Summary{Histograms: map[result.Metric]*result.Distribution{result.DeliveryResponse: {Figures: map[result.Percentile]result.Figure{"99": {OwnShare: new(0.36)}}}}}}
		if got := s.whyInFull(tt.limit, tt.invalid); got != tt.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
