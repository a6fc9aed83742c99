package result

import (
	"encoding/json"
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
