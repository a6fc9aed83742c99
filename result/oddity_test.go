package result

import (
	"sixnines/internal/histograms"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// A count that was read before its extremes has the edges of its bucket in their place,
// which is no contradiction; a minimum above the maximum elsewhere is one.
func TestEdgesStandInForExtremes(t *testing.T) {
	hist := hdrhistogram.New(1, int64(time.Hour), 3)
	if err := hist.RecordValue(1_042_000); err != nil {
		t.Fatal(err)
	}
	encoded, err := histograms.Encode(hist)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		min, max int64
		says     string
	}{
		{1_042_000, 1_042_000, ""},
		{1_042_431, 1_041_920, ""}, // the bucket's end and its beginning
		{1_042_000, 1_041_920, ""}, // the maximum is not there yet
		{1_042_431, 1_042_000, ""}, // nor the minimum
		{1_042_300, 1_042_000, "exceeds the maximum"},
		{1_042_500, 1_042_600, "the lowest bucket ends"},
	} {
		run := &Run{Metrics: map[Metric]*Merged{}}
		for _, r := range []Record{{Header: &Header{ID: "x", Interval: time.Second, Window: time.Second}},
			{Interval: &Interval{Type: "interval", Phase: PhaseMeasure, End: 1e9, Metrics: map[Metric]*MetricInterval{
				DeliveryResponse: {Hist: encoded, Min: tt.min, Max: tt.max}}}}} {
			if err := run.Add(r); err != nil {
				t.Fatal(err)
			}
		}
		var got string
		for _, o := range run.Oddities {
			got += o.Text
		}
		if !strings.Contains(got, tt.says) || (got == "") != (tt.says == "") {
			t.Errorf("%d to %d: %q, want %q", tt.min, tt.max, got, tt.says)
		}
	}
}
