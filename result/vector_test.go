package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sixnines/internal/histograms"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the golden files anew")

// The frozen vectors pin version 1 of the format: files that this and every
// later sixnines must read as they are read now. They are small enough to be
// checked by hand. -update adds vectors and changes none: a changed vector is a
// changed format. All but "sealed" are of versions without seals.

func vectorNames() []string { return []string{"whole", "cut-short", "future-fields", "sealed"} }

func vectorPath(name string) string { return filepath.Join("testdata", "v1", name+".jsonl") }

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
	must(w.Header(Header{
		ID: "00112233445566ff", Name: "vector", Started: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC),
		Tool: Tool{Name: "sixnines", Version: "0.1.0", Go: "go1.26"}, Scenario: json.RawMessage(`{"seed":1}`),
		Mode: ModeOpen, Pattern: "deliver", Driver: "mem", Ack: "broker",
		Semantics: Semantics{Durability: "memory"}, Clock: Clock{Source: "CLOCK_MONOTONIC", Domain: "d", Bracket: 90, ReadNs: 26.5},
		Machine: []Fact{{Section: "cpu", Name: "cores", Value: "2"}}, SetupTimes: []SetupTime{{Name: "connect", Duration: 1e6}},
		Rate: 4, Size: 64, Window: 2 * time.Second, Interval: time.Second, Slot: 100 * time.Millisecond,
	}))
	// Four messages a second for two seconds, one microsecond each; the last
	// is acknowledged but never arrives.
	must(w.Interval(Interval{
		Phase: PhaseMeasure, Start: 0, End: 1e9,
		Metrics: map[Metric]*MetricInterval{
			DeliveryResponse: {Hist: encoded(t, 1000, 1000, 1000, 1250), Min: 1000, Max: 1250,
				Slots: [][2]int64{{0, 1000}, {2, 1000}, {5, 1000}, {7, 1250}},
				Own: []OwnBand{
					{Band: histograms.BandOf(1000), Count: 3, Own: 300, Total: 3000},
					{Band: histograms.BandOf(1250), Count: 1, Own: 700, Total: 1250, Majority: 1}}},
			LagOwn: {Hist: encoded(t, 100, 100, 100, 700), Min: 100, Max: 700},
		},
		Counters: Counters{Scheduled: 4, Acked: 4, Sent: 4, Expected: 4, Received: 4, BytesSent: 256, BytesRecv: 256},
		Vitals:   map[Vital]float64{"process.cpu": 0.25},
		Pauses:   []Pause{{Start: 5e8, End: 5e8 + 11e6, Source: "hiccup"}},
	}))
	must(w.Event(Event{At: 12e8, Kind: "disconnected", Detail: "EOF", Count: 1}))
	if name != "cut-short" {
		must(w.Interval(Interval{
			Phase: PhaseMeasure, Start: 1e9, End: 2e9,
			Metrics: map[Metric]*MetricInterval{
				DeliveryResponse: {Hist: encoded(t, 1000, 1000, 2000), Min: 1000, Max: 2000,
					Slots: [][2]int64{{10, 1000}, {12, 1000}, {15, 2000}},
					Own:   []OwnBand{{Band: histograms.BandOf(1000), Count: 2, Own: 200, Total: 2000}, {Band: histograms.BandOf(2000), Count: 1, Own: 100, Total: 2000}}},
				LagOwn: {Hist: encoded(t, 100, 100, 100, 100), Min: 100, Max: 100},
			},
			Counters: Counters{Scheduled: 4, Acked: 4, Sent: 4, Expected: 3, Received: 3, BytesSent: 256, BytesRecv: 192},
			InFlight: 1,
		}))
		must(w.Interval(Interval{
			Phase: PhaseClosing, Start: 3e9, End: 3e9,
			Metrics:  map[Metric]*MetricInterval{DeliveryResponse: {Hist: encoded(t), Censored: encoded(t, 250e6)}},
			Counters: Counters{Expected: 1, Missing: 1, LostAcked: 1, Censored: 1},
		}))
		must(w.Summary(Summary{Verdict: Verdict{Status: Suspect, Reasons: []Reason{{Status: Suspect, Code: "own-lag", Text: "t", Metric: DeliveryResponse, Percentile: "50"}}},
			Counters:   Counters{Scheduled: 8, Acked: 8, Sent: 8, Expected: 8, Received: 7, Missing: 1, LostAcked: 1, Censored: 1, BytesSent: 512, BytesRecv: 448},
			Rate:       Rate{Asked: 4, Sent: 4, WorstSecond: 1},
			Histograms: map[Metric]*Distribution{DeliveryResponse: {Count: 7, Censored: 1, Min: 1000, Max: 2000, Samples: 8}},
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

func TestFrozenVectors(t *testing.T) {
	for _, name := range vectorNames() {
		t.Run(name, func(t *testing.T) {
			if _, err := os.Stat(vectorPath(name)); *update && errors.Is(err, fs.ErrNotExist) {
				if err := os.MkdirAll(filepath.Dir(vectorPath(name)), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(vectorPath(name), vector(t, name), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			run, err := Load(vectorPath(name))
			if err != nil {
				t.Fatal(err)
			}
			if run.Header.ID != "00112233445566ff" || run.Header.Window != 2*time.Second || string(run.Header.Scenario) != `{"seed":1}` {
				t.Errorf("header %+v", run.Header)
			}
			if len(run.Events) != 1 || run.Events[0] != (Event{Type: "event", At: 12e8, Kind: "disconnected", Detail: "EOF", Count: 1}) {
				t.Errorf("events %+v", run.Events)
			}
			if len(run.Pauses) != 1 || run.Pauses[0] != (Pause{5e8, 5e8 + 11e6, "hiccup"}) {
				t.Errorf("pauses %+v", run.Pauses)
			}
			if v := run.Series[0].Vitals["process.cpu"]; v != 0.25 {
				t.Errorf("vital %v", v)
			}
			first := PointMetric{Count: 4, Min: 1000, P50: 1000, P90: 1250, P99: 1250, P999: 1250, Max: 1250}
			if got := run.Series[0].Metrics[DeliveryResponse]; got != first {
				t.Errorf("first second %+v, want %+v", got, first)
			}
			if name == "cut-short" {
				if run.Summary != nil || run.Damaged == "" || len(run.Series) != 1 || run.Counters.Sent != 4 {
					t.Errorf("cut short: summary %v, damage %q, %d points", run.Summary, run.Damaged, len(run.Series))
				}
				return
			}
			m := run.Metrics[DeliveryResponse]
			if m.Hist.TotalCount() != 7 || m.Censored.TotalCount() != 1 || m.Min != 1000 || m.Max != 2000 || len(m.Slots) != 16 || m.Slots[15] != 2000 {
				t.Errorf("merged %+v", m)
			}
			if b := m.Own[histograms.BandOf(1000)]; b.Count != 5 || b.Own != 500 || b.Total != 5000 {
				t.Errorf("own lag %+v", b)
			}
			want := Counters{Scheduled: 8, Acked: 8, Sent: 8, Expected: 8, Received: 7, Missing: 1, LostAcked: 1, Censored: 1, BytesSent: 512, BytesRecv: 448}
			if run.Counters != want || run.Summary == nil || run.Summary.Counters != want || run.Damaged != "" {
				t.Errorf("counters %+v, summary %+v, damage %q", run.Counters, run.Summary, run.Damaged)
			}
			if s := run.Summary; name == "sealed" && (s.Seal == nil || *s.Seal != *run.Counted) || name != "sealed" && (s.Seal != nil || run.Counted != nil) {
				t.Errorf("the seal %+v, by the lines %+v", s.Seal, run.Counted)
			}
			if s := run.Summary; s.Verdict.Status != Suspect || s.End != 2e9 || s.Resolved != 3e9 || s.Histograms[DeliveryResponse].Samples != 8 {
				t.Errorf("summary %+v", s)
			}
		})
	}
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
	records, _, err := readAll(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	for _, r := range records {
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
