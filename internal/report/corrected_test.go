package report

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"sixnines/internal/judge"
	"sixnines/result"
)

// synchronousRun is stalledRun, said to be of producers that wait for each answer.
func synchronousRun() *result.Run {
	run := stalledRun().make()
	run.Header.Synchronous = &result.Synchronous{Metric: result.DeliveryService, Interval: 2e6, Mean: true}
	run.Summary = judge.Summarise(run, judge.InputsOf(run))
	return run
}

// A service time that is corrected as others do stands behind the others in every
// output, says what it is, and changes nothing else.
func TestCorrectedIsMarkedAndNotJudged(t *testing.T) {
	const mark = "corrected (as others do: expected interval 2.00 ms, the mean)"
	run := synchronousRun()
	plain := stalledRun().make()
	plain.Summary = judge.Summarise(plain, judge.InputsOf(plain))
	if !reflect.DeepEqual(run.Summary.Verdict, plain.Summary.Verdict) {
		t.Errorf("the verdict differs: %+v, %+v", run.Summary.Verdict, plain.Summary.Verdict)
	}
	for name, runs := range map[string][]*result.Run{"alone": {run}, "two": {run, plain}} {
		for _, format := range []string{"terminal", "markdown", "html"} {
			f, err := FormatOf(format)
			if err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			if err := f.Write(&b, runs, Options{Width: 200, Full: true}); err != nil {
				t.Fatal(err)
			}
			if text := strings.Join(strings.Fields(b.String()), " "); !strings.Contains(text, mark) || !strings.Contains(text, "not judged") {
				t.Errorf("%s, %s: %s", format, name, text)
			}
		}
	}
	var b bytes.Buffer
	if err := writeCSV(&b, []*result.Run{run, plain}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), ",delivery.service.corrected,99,"); n != 1 {
		t.Errorf("%d lines of p99: %s", n, b.String())
	}
	s := subjectOf(run)
	if m := s.measuredMetric(); m != result.DeliveryResponse {
		t.Errorf("%s is what the run is about", m)
	}
	c := percentilesChart([]*subject{s}, kinds()[0])
	if last := c.Lines[len(c.Lines)-1]; len(c.Lines) != 3 || last.Name != mark || len(last.X) == 0 {
		t.Errorf("%d curves, the last is %q", len(c.Lines), last.Name)
	}
}
