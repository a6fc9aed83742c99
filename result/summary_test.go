package result

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// What has no values has no least one, and one of 0 ns is written.
func TestEmptyDistributionsHaveNoMinimum(t *testing.T) {
	for _, tt := range []struct {
		d    Distribution
		want string
	}{
		{Distribution{Censored: 3, Max: 5}, `{"count":0,"censored":3,"max":5,`},
		{Distribution{Count: 2, Max: 5}, `{"count":2,"min":0,"max":5,"mean":0,"stddev":0,`},
	} {
		text, err := json.Marshal(map[Metric]*Distribution{LagOwn: &tt.d})
		if err != nil || !strings.Contains(string(text), tt.want) || strings.Count(string(text), `"min"`) != int(min(tt.d.Count, 1)) {
			t.Errorf("%s, %v; want %s", text, err, tt.want)
		}
		var again map[Metric]*Distribution
		if err := json.Unmarshal(text, &again); err != nil || again[LagOwn].Count != tt.d.Count || again[LagOwn].Max != tt.d.Max {
			t.Errorf("read back: %+v, %v", again[LagOwn], err)
		}
	}
}

// A figure is worth the worse of its metric's limit and of what concerns the whole run.
func TestVerdictOf(t *testing.T) {
	limited := []Limit{{Metric: DeliveryResponse, ValidTo: "99", From: "99.9", InvalidFrom: "99.99"}}
	for _, tt := range []struct {
		name   string
		v      Verdict
		p50    Status
		p999   Status
		others Status // of the service time's p50
	}{
		{"valid", Verdict{Status: Valid, Reasons: []Reason{{Status: Valid}}}, Valid, Valid, Valid},
		{"limited", Verdict{Status: Valid, Limits: limited}, Valid, Suspect, Valid},
		{"suspect as a whole", Verdict{Status: Suspect, Reasons: []Reason{{Status: Suspect}}}, Suspect, Suspect, Suspect},
		{"the latency is suspect", Verdict{Status: Suspect, Reasons: []Reason{{Status: Suspect, Metric: DeliveryResponse}}}, Suspect, Suspect, Valid},
		{"from a percentile on", Verdict{Status: Valid, Limits: limited, Reasons: []Reason{{Status: Suspect, Metric: DeliveryResponse, Percentile: "99.9"}}}, Valid, Suspect, Valid},
		{"limited, and INVALID as a whole", Verdict{Status: Invalid, Limits: limited, Reasons: []Reason{{Status: Suspect}, {Status: Invalid}}}, Invalid, Invalid, Invalid},
		{"overloaded", Verdict{Status: Unstable, Reasons: []Reason{{Status: Unstable}}}, Valid, Valid, Valid},
	} {
		got := []Status{tt.v.Of(DeliveryResponse, P50), tt.v.Of(DeliveryResponse, P999), tt.v.Of(DeliveryService, P50)}
		if want := []Status{tt.p50, tt.p999, tt.others}; !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", tt.name, got, want)
		}
		if got := tt.v.Of(DeliveryResponse, P9999); len(tt.v.Limits) > 0 && got != Invalid {
			t.Errorf("%s: p99.99 is %s", tt.name, got)
		}
	}
}
