package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"sixnines/result"
)

// refusedRun is openRun of which the slowest tenth was refused.
func refusedRun() *result.Run {
	r := openRun().make()
	d := r.Summary.Histograms[result.DeliveryResponse]
	succeeded := *d
	n := d.Count / 9
	r.Metrics[result.DeliveryResponse].Refused = n
	d.Refusals, d.Succeeded = n, &succeeded
	d.Refused, d.AtLeast, d.OpenRefused, d.Open = map[string]bool{"max": true}, map[string]bool{"max": true}, map[string]bool{"90": true}, map[string]bool{"90": true}
	for _, p := range []string{"95", "99", "99.9", "99.99"} {
		d.Refused[p], d.AtLeast[p] = true, true
		delete(d.Intervals, p)
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
		Terminal(&terminal, []*result.Run{run}, Options{Width: 120}),
		Markdown(&markdown, []*result.Run{run}),
		HTML(&page, []*result.Run{run}, Options{}),
		CSV(&table, []*result.Run{run}),
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
		fmt.Sprintf("delivery.response.succeeded,99,%d,", d.Succeeded.Percentiles["99"]),
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
