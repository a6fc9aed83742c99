package report

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"sixnines/result"
)

// refusedRun is openRun of which the slowest tenth was refused.
func refusedRun() *result.Run {
	r := openRun().make()
	d := r.Summary.Histograms[result.DeliveryResponse]
	succeeded := *d
	succeeded.Figures = maps.Clone(d.Figures)
	n := d.Count / 9
	r.Metrics[result.DeliveryResponse].Refused = n
	d.Refusals, d.Succeeded = n, &succeeded
	d.MaxRefused, d.MaxAtLeast = true, true
	d.Update("90", func(f *result.Figure) {
		f.Interval = &result.Bounds{Low: f.Interval.Low, High: f.Interval.High, Open: true, OpenRefused: true}
	})
	for _, p := range []string{"95", "99", "99.9", "99.99"} {
		d.Update(result.Percentile(p), func(f *result.Figure) { f.Refused, f.AtLeast, f.Interval = true, true, nil })
	}
	c := &r.Summary.Counters
	c.Nacked, c.Scheduled, c.Sent = n, c.Scheduled+n, c.Sent+n
	r.Counters = *c
	r.Summary.Availability = &result.Availability{Metric: result.DeliveryResponse, Limit: 5e9, Answered: d.Count, Of: d.Count + n,
		Share: float64(d.Count) / float64(d.Count+n), Low: 0.898, High: 0.901}
	return r
}

// Where refused messages reach a percentile every output says so and gives no
// number, and those that succeeded have figures of their own.
func TestRefusedIsPrinted(t *testing.T) {
	run := refusedRun()
	var terminal, markdown, page, table, object bytes.Buffer
	for _, err := range []error{
		Terminal(&terminal, []*result.Run{run}, Options{Width: 120, Full: true}),
		writeMarkdown(&markdown, []*result.Run{run}),
		HTML(&page, []*result.Run{run}, Options{}),
		writeCSV(&table, []*result.Run{run}),
		JSON(&object, run),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, out := range map[string]string{"terminal": terminal.String(), "Markdown": markdown.String(), "page": page.String()} {
		for _, want := range []string{"refused", "– refused", "refused messages reach it", "ucceeded only", "within 5"} {
			if !strings.Contains(strings.ReplaceAll(strings.ToLower(out), "\n", " "), strings.ToLower(want)) && !(name == "Markdown" && want == "within 5") {
				t.Errorf("the %s does not say %q", name, want)
			}
		}
	}
	d := run.Summary.Histograms[result.DeliveryResponse]
	for _, want := range []string{
		fmt.Sprintf("delivery.response,99,,,,%d,refused", d.Count),
		fmt.Sprintf("delivery.response.succeeded,99,%d,", d.Succeeded.Figures["99"].Value),
	} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("the table has no %q:\n%s", want, table.String())
		}
	}
	for _, want := range []string{`"refusals":`, `"refused":{"95":true,"99":true`, `"succeeded":{`, `"availability":{`} {
		if !strings.Contains(object.String(), want) {
			t.Errorf("the object has no %s", want)
		}
	}
}

// The curve ends where refused messages begin.
func TestCurveEndsAtTheRefused(t *testing.T) {
	run := refusedRun()
	m, d := run.Metrics[result.DeliveryResponse], run.Summary.Histograms[result.DeliveryResponse]
	l := percentileCurve(m, d)
	if last := l.X[len(l.X)-1]; last > 1 || last < 0.9 {
		t.Errorf("a tenth was refused, and the curve ends at 1 − 10^−%.3f", last)
	}
	m.Refused = 0
	if l := percentileCurve(m, d); l.X[len(l.X)-1] < 4 {
		t.Errorf("without it, at 1 − 10^−%.3f", l.X[len(l.X)-1])
	}
}

// Over time the stretches in which messages were refused are marked, once for
// what touches, and the percentiles that they reach have a gap.
func TestRefusalsOverTime(t *testing.T) {
	run := refusedRun()
	run.Header.Slot = 100 * time.Millisecond
	x := run.Metrics[result.DeliveryResponse]
	per := run.Series[3].Metrics[result.DeliveryResponse].Count // messages of a second
	x.RefusedAt = [][2]int64{{30, per / 50}, {31, per / 50}, {35, 1}, {50, 10 * per}, {result.UnknownSlot, 5}}
	heads := func() (out []moment) {
		for _, m := range momentsOf([]*subject{{run: run}}) {
			if m.Refused {
				out = append(out, m)
			}
		}
		return out
	}
	at := heads()
	if len(at) != 3 || at[0].From != 3 || math.Abs(at[0].To-3.2) > 1e-9 || at[2].From != 5 || at[0].Pause || at[0].Mark != "" {
		t.Errorf("marked %+v", at)
	}
	c, err := chartOf([]*result.Run{run}, kindTime)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"p50": "01111011", "p99": "00101011", "max": "00101011"} {
		for _, l := range c.Lines {
			if l.Name != name {
				continue
			}
			for second, drawn := range want[2:] {
				if i := slices.IndexFunc(l.X, func(x float64) bool { return x > float64(second+2) }); math.IsNaN(l.Y[i]) == (drawn == '1') {
					t.Errorf("%s at %.1f s: %v", name, l.X[i], l.Y[i])
				}
			}
		}
	}
	var picture, page, bitmap bytes.Buffer
	for _, err := range []error{
		writeSVG(&picture, []*result.Run{run}, kindTime, Options{}),
		HTML(&page, []*result.Run{run}, Options{}),
		writePNG(&bitmap, []*result.Run{run}, kindTime, Options{}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if n := strings.Count(picture.String(), `class="refused"`); n != 3 {
		t.Errorf("the picture has %d marks", n)
	}
	if !strings.Contains(page.String(), "Marks at the top") || !strings.Contains(page.String(), `"refused":true`) {
		t.Error("the page does not say what the marks are")
	}
	// An old file, or one of a load without a schedule, knows the intervals only.
	x.RefusedAt = [][2]int64{{result.UnknownSlot, x.Refused}}
	run.Series[3].Counters.Nacked, run.Series[4].Counters.Rejected = 3, 1
	if at := heads(); len(at) != 1 || at[0].From != 3 || at[0].To != 5 {
		t.Errorf("by intervals: %+v", at)
	}
	if r := refusals(run, x); math.Abs(r[0].count-0.75*float64(x.Refused)) > 1e-6 {
		t.Errorf("by intervals: %+v of %d", r, x.Refused)
	}
}

// What the broker has refused is on the first screen in its words, however much else is to
// be said there, and with what to do where the run is worth nothing for it.
func TestScreenQuotesTheBroker(t *testing.T) {
	for status, tried := range map[result.Status]bool{result.Valid: false, result.Invalid: true} {
		r := refusedRun()
		v := &r.Summary.Verdict
		v.Status = status
		for i := range 12 {
			v.Reasons = append(v.Reasons, result.Reason{Status: result.Suspect, Code: result.ReasonCode(fmt.Sprint("other-", i)), Text: fmt.Sprint("another reason, number ", i)})
		}
		v.Reasons = append(v.Reasons, result.Reason{Status: status, Code: "all-refused", Found: `7 messages of 7 refused: the server says "NOPERM"`, Means: "nothing was measured", Try: result.ReasonAllRefused.Properties().Try})
		text := screenText(t, Options{Width: 80}, r)
		if !strings.Contains(text, `the server says "NOPERM"`) || strings.Contains(text, "give this user the permission") != tried {
			t.Errorf("%s:\n%s", status, text)
		}
	}
}

// Where nothing acknowledges a publish nobody can say that none was refused.
func TestScreenClaimsNoAcceptance(t *testing.T) {
	r := openRun().make()
	r.Header.Ack, r.Header.Pattern = "none", "publish"
	c := &r.Summary.Counters
	*c = result.Counters{Scheduled: 9, Taken: 9, Sent: 9, Unknown: 9}
	for _, tt := range []struct{ ack, refusals, says string }{
		{"none", "", "not known whether the broker accepted or refused them"}, // of an earlier version
		{"none", result.RefusalsSilent, "not known whether the broker accepted or refused them"},
		{"none", result.RefusalsReported, "no refusal reported, not known which ones the broker accepted"},
		{"broker", result.RefusalsSilent, "none unanswered, not known whether the broker refused any"},
		{"broker", result.RefusalsReported, "none unanswered, no refusal reported"},
		{"broker", "answered", "none refused or unanswered"},
		{"broker", "", "none refused or unanswered"},
	} {
		r.Header.Ack, r.Header.Refusals = tt.ack, tt.refusals
		if text := strings.Join(strings.Fields(screenText(t, Options{Width: 80}, r)), " "); !strings.Contains(text, tt.says) {
			t.Errorf("%s, %s: not %q:\n%s", tt.ack, tt.refusals, tt.says, text)
		}
	}
}
