package report

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"sixnines/internal/histograms"
	"sixnines/internal/resultfile"
	"sixnines/result"
)

// twoWorkloads writes a result of two workloads: one has 10 messages an interval, and the other
// 1,000, of which 3 are refused.
func twoWorkloads(t *testing.T) *result.Run {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.jsonl")
	w, err := resultfile.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	keep := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	counts := map[string]int64{"events": 10, "traffic": 1000}
	for name := range counts {
		h := openRun().make().Header
		h.Workload = name
		keep(w.Header(h))
	}
	for i := range int64(2) {
		for name, n := range counts {
			h := hdr.New(1, int64(time.Minute), 3)
			for v := range n {
				keep(h.RecordValue(80_000 + v*100))
			}
			encoded, err := histograms.Encode(h)
			keep(err)
			x := &result.MetricInterval{Hist: encoded, Min: h.Min(), Max: h.Max()}
			if name == "traffic" && i == 1 {
				x.Refused = [][2]int64{{3, 3}}
			}
			keep(w.Interval(result.Interval{Workload: name, Phase: result.PhaseMeasure, Start: i * 1e9, End: (i + 1) * 1e9,
				Metrics: map[result.Metric]*result.MetricInterval{result.DeliveryResponse: x}}))
		}
	}
	keep(w.Close())
	run, err := result.Load(path)
	keep(err)
	return run
}

// A histogram log has the workload that was asked for, and says what no histogram shows.
func TestHlogHasOneWorkload(t *testing.T) {
	run := twoWorkloads(t)
	for name, want := range map[string]int64{"events": 10, "traffic": 1000} {
		var b bytes.Buffer
		if err := writeHlog(&b, run.Part(name)); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		if n := strings.Count(text, "StartTimestamp"); n != 1 {
			t.Errorf("%s: %d legends", name, n)
		}
		if refused := strings.Contains(text, "# delivery.response: without 3 refused messages"); refused != (name == "traffic") || !strings.Contains(text, "# the run is ") {
			t.Errorf("%s:\n%.600s", name, text)
		}
		rows := 0
		reader := histograms.NewHlogReader(&b)
		for {
			iv, err := reader.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if rows++; iv.Histogram.TotalCount() != want {
				t.Errorf("%s: a row of %d values, want %d", name, iv.Histogram.TotalCount(), want)
			}
		}
		if rows != 2 {
			t.Errorf("%s: %d rows", name, rows)
		}
	}
}

// So does a percentile distribution.
func TestHgrmSaysWhatItLacks(t *testing.T) {
	run := refusedRun()
	run.Summary.Verdict.Status = result.Unstable
	write := func(m result.Metric) string {
		var b bytes.Buffer
		if err := writeHgrm(&b, run, m); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	response, service := write(result.DeliveryResponse), write(result.DeliveryService)
	for _, want := range []string{"\n# the run is OVERLOADED\n", "\n# its response times depend on", "refused messages, slower than all values here\n"} {
		if !strings.Contains(response, want) {
			t.Errorf("%q is missing in\n%s", want, response[max(0, len(response)-800):])
		}
	}
	if strings.Contains(service, "response times") {
		t.Errorf("a service time is not of the schedule:\n%s", service[max(0, len(service)-800):])
	}
}
