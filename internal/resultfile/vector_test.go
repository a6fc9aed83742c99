package resultfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"sixnines/internal/histograms"
	"sixnines/result"
)

var update = flag.Bool("update", false, "write the golden files anew")

// vectorPath is where a frozen file is that package result reads, see its TestFrozenVectors.
func vectorPath(name string) string {
	return filepath.Join("..", "..", "result", "testdata", "v1", name+".jsonl")
}

// encoded returns the values as a result file holds them.
func encoded(t *testing.T, values ...int64) string {
	t.Helper()
	h := hdrhistogram.New(1, 10e9, 3)
	for _, v := range values {
		if err := h.RecordValue(v); err != nil {
			t.Fatal(err)
		}
	}
	s, err := histograms.Encode(h)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// -update adds vectors and changes none: a changed vector is a changed format.
func TestVectorsExist(t *testing.T) {
	for _, name := range []string{"whole", "cut-short", "future-fields", "sealed"} {
		_, err := os.Stat(vectorPath(name))
		if *update && errors.Is(err, fs.ErrNotExist) {
			err = os.WriteFile(vectorPath(name), vector(t, name), 0o644)
		}
		if err != nil {
			t.Error(err)
		}
	}
}

// vector makes the content of a vector.
func vector(t *testing.T, name string) []byte {
	path := filepath.Join(t.TempDir(), "r.jsonl")
	w, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(w.Header(result.Header{
		ID: "00112233445566ff", Name: "vector", Started: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC),
		Tool: result.Tool{Name: "sixnines", Version: "0.1.0", Go: "go1.26"}, Scenario: json.RawMessage(`{"seed":1}`),
		Mode: result.ModeOpen, Pattern: "deliver", Driver: "mem", Ack: "broker",
		Semantics: result.Semantics{Durability: "memory"}, Clock: result.Clock{Source: "CLOCK_MONOTONIC", Domain: "d", Bracket: 90, ReadNs: 26.5},
		Machine: []result.Fact{{Section: "cpu", Name: "cores", Value: "2"}}, SetupTimes: []result.SetupTime{{Name: "connect", Duration: 1e6}},
		Rate: 4, Size: 64, Window: 2 * time.Second, Interval: time.Second, Slot: 100 * time.Millisecond,
	}))
	// Four messages a second for two seconds, one microsecond each; the last
	// is acknowledged but never arrives.
	must(w.Interval(result.Interval{
		Phase: result.PhaseMeasure, Start: 0, End: 1e9,
		Metrics: map[result.Metric]*result.MetricInterval{
			result.DeliveryResponse: {Hist: encoded(t, 1000, 1000, 1000, 1250), Min: 1000, Max: 1250,
				Slots: [][2]int64{{0, 1000}, {2, 1000}, {5, 1000}, {7, 1250}},
				Own: []result.OwnBand{
					{Band: histograms.BandOf(1000), Count: 3, Own: 300, Total: 3000},
					{Band: histograms.BandOf(1250), Count: 1, Own: 700, Total: 1250, Majority: 1}}},
			result.LagOwn: {Hist: encoded(t, 100, 100, 100, 700), Min: 100, Max: 700},
		},
		Counters: result.Counters{Scheduled: 4, Acked: 4, Sent: 4, Expected: 4, Received: 4, BytesSent: 256, BytesRecv: 256},
		Vitals:   map[result.Vital]float64{"process.cpu": 0.25},
		Pauses:   []result.Pause{{Start: 5e8, End: 5e8 + 11e6, Source: "hiccup"}},
	}))
	must(w.Event(result.Event{At: 12e8, Kind: "disconnected", Detail: "EOF", Count: 1}))
	if name != "cut-short" {
		must(w.Interval(result.Interval{
			Phase: result.PhaseMeasure, Start: 1e9, End: 2e9,
			Metrics: map[result.Metric]*result.MetricInterval{
				result.DeliveryResponse: {Hist: encoded(t, 1000, 1000, 2000), Min: 1000, Max: 2000,
					Slots: [][2]int64{{10, 1000}, {12, 1000}, {15, 2000}},
					Own:   []result.OwnBand{{Band: histograms.BandOf(1000), Count: 2, Own: 200, Total: 2000}, {Band: histograms.BandOf(2000), Count: 1, Own: 100, Total: 2000}}},
				result.LagOwn: {Hist: encoded(t, 100, 100, 100, 100), Min: 100, Max: 100},
			},
			Counters: result.Counters{Scheduled: 4, Acked: 4, Sent: 4, Expected: 3, Received: 3, BytesSent: 256, BytesRecv: 192},
			InFlight: 1,
		}))
		must(w.Interval(result.Interval{
			Phase: result.PhaseClosing, Start: 3e9, End: 3e9,
			Metrics:  map[result.Metric]*result.MetricInterval{result.DeliveryResponse: {Hist: encoded(t), Censored: encoded(t, 250e6)}},
			Counters: result.Counters{Expected: 1, Missing: 1, LostAcked: 1, Censored: 1},
		}))
		must(w.Summary(result.Summary{Verdict: result.Verdict{Status: result.Suspect, Reasons: []result.Reason{{Status: result.Suspect, Code: "own-lag", Text: "t", Metric: result.DeliveryResponse, Percentile: "50"}}},
			Counters:   result.Counters{Scheduled: 8, Acked: 8, Sent: 8, Expected: 8, Received: 7, Missing: 1, LostAcked: 1, Censored: 1, BytesSent: 512, BytesRecv: 448},
			Rate:       result.Rate{Asked: 4, Sent: 4, WorstSecond: 1},
			Histograms: map[result.Metric]*result.Distribution{result.DeliveryResponse: {Count: 7, Censored: 1, Min: 1000, Max: 2000, Samples: 8}},
			End:        2e9, Resolved: 3e9}))
	}
	must(w.Close())
	b, err := os.ReadFile(path)
	must(err)
	switch name {
	case "cut-short":
		b = append(b, `{"type":"interval","phase":"measure","start":1000000000,"end":2000`...)
	case "future-fields":
		b = bytes.Replace(b, []byte(`"phase"`), []byte(`"moon":"full","phase"`), 1)
		b = append(b, `{"type":"epilogue","text":"all is well"}`+"\n"...)
	}
	return b
}

// What is written today is what was frozen, but for the compressed bytes of
// the histograms, which may change with the Go version, and their digests.
func TestWriterWritesTheFrozenFormat(t *testing.T) {
	frozen, err := os.ReadFile(vectorPath("sealed"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := withoutHistograms(t, vector(t, "sealed")), withoutHistograms(t, frozen); got != want {
		t.Errorf("written:\n%s\nfrozen:\n%s", got, want)
	}
}

func withoutHistograms(t *testing.T, b []byte) string {
	var out bytes.Buffer
	for reader := result.NewReader(bytes.NewReader(b)); ; {
		r, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		line := r.Raw
		if r.Interval != nil {
			for _, m := range r.Interval.Metrics {
				line = bytes.Replace(line, []byte(`"`+m.Hist+`"`), []byte(`"H"`), 1)
				if m.Censored != "" {
					line = bytes.Replace(line, []byte(`"`+m.Censored+`"`), []byte(`"H"`), 1)
				}
			}
		}
		out.Write(append(line, '\n'))
	}
	return regexp.MustCompile(`"(sha256|crc32c)":"[0-9a-f]*"`).ReplaceAllString(out.String(), `"$1":"D"`)
}
