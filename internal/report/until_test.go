package report

import (
	"bytes"
	"strings"
	"testing"

	"sixnines/result"
)

// How a run ended that went on until something was known, and of which percentile
// the interval holds whenever it did, is in every output.
func TestUntilIsShown(t *testing.T) {
	run := richRun()
	run.Summary.Until = &result.Until{Text: "delivery.response p99 ±5%", Ended: result.EndedNarrow, Value: 5, Low: 4, High: 6, Narrow: true, Found: "ended by --until after 23s"}
	run.Summary.Verdict.Reasons = append(run.Summary.Verdict.Reasons, result.Reason{Status: result.Valid, Code: "until", Text: "ended by --until after 23s"})
	run.Summary.Histograms[result.DeliveryResponse].Figures["99"].Interval.Sequential = true
	for _, f := range subjectOf(run).column(result.DeliveryResponse).Figures {
		note, mark := strings.Contains(strings.Join(f.notes(), " "), "holds no matter when the run ended"), strings.Contains(f.mark(), "sequential")
		if want := f.Percentile == "99"; note != want || mark != want {
			t.Errorf("p%s: %q, %q", f.Percentile, f.notes(), f.mark())
		}
	}
	for name, write := range map[string]func(*bytes.Buffer) error{
		"terminal": func(b *bytes.Buffer) error { return Terminal(b, []*result.Run{run}, Options{Width: 200, Full: true}) },
		"page":     func(b *bytes.Buffer) error { return HTML(b, []*result.Run{run}, Options{}) },
		"JSON":     func(b *bytes.Buffer) error { return JSON(b, run) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), "ended by --until after 23s") {
			t.Errorf("%s does not say how the run ended", name)
		}
		if name == "JSON" && !strings.Contains(b.String(), `"until":{"until":"delivery.response p99 ±5%","ended":"narrow","value":5,"low":4,"high":6,"narrow":true,`) {
			t.Errorf("JSON: %s", &b)
		}
	}
}
