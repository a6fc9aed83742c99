package result

import (
	"flag"
	"path/filepath"
	"sixnines/internal/histograms"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the golden files anew")

// The frozen vectors pin version 1 of the format: files that this and every
// later sixnines must read as they are read now. They are small enough to be
// checked by hand. A changed vector is a changed format;
// package resultfile makes them. All but "sealed" are of versions without seals.

func vectorNames() []string { return []string{"whole", "cut-short", "future-fields", "sealed"} }

func vectorPath(name string) string { return filepath.Join("testdata", "v1", name+".jsonl") }

func TestFrozenVectors(t *testing.T) {
	for _, name := range vectorNames() {
		t.Run(name, func(t *testing.T) {
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
			if m.Hist.Count() != 7 || m.Censored.Count() != 1 || m.Min != 1000 || m.Max != 2000 || len(m.Slots) != 16 || m.Slots[15] != 2000 {
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
