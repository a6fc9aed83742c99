package judge

import (
	"slices"
	"strings"
	"testing"

	"sixnines/result"
)

// The verdict notes messages of earlier runs, how many were received, and what stays at the
// broker. A run that only consumes and receives nothing is suspect.
func TestLifetime(t *testing.T) {
	held := func(n int64) []result.Point { return []result.Point{{}, {Depth: &result.Depth{Messages: n}}} }
	for _, tt := range []struct {
		name             string
		header           result.Header
		earlier, missing int64
		series           []result.Point
		want             []string // codes, with the status where it is another than VALID
	}{
		{"an ordinary run", result.Header{Mode: result.ModeOpen}, 0, 0, nil, nil},
		{"fills", result.Header{Mode: result.ModeFlatOut, LeftAs: "00c0ffee"}, 0, 0, nil, []string{"left"}},
		{"drains all", result.Header{Mode: result.ModeConsume, Existing: "00c0ffee"}, 9, 0, held(0), []string{"earlier"}},
		{"leaves some", result.Header{Mode: result.ModeConsume, Existing: "00c0ffee", LeftAs: "00c0ffee"}, 9, 2, held(5), []string{"earlier", "earlier-missing", "drained", "left"}},
		{"cannot tell", result.Header{Mode: result.ModeConsume, Existing: "00c0ffee"}, 9, 0, nil, []string{"earlier", "drained"}},
		{"has nothing", result.Header{Mode: result.ModeConsume, Existing: "00c0ffee"}, 0, 0, held(0), []string{"nothing-came SUSPECT"}},
		{"has nothing but its own", result.Header{Mode: result.ModeOpen, Existing: "00c0ffee"}, 0, 0, nil, []string{"earlier"}},
	} {
		e := &evidence{run: &result.Run{Header: tt.header, Counters: result.Counters{Earlier: tt.earlier, EarlierMissing: tt.missing}, Series: tt.series}}
		var got []string
		for _, r := range lifetime(e) {
			code := string(r.Code)
			if r.Status != result.Valid {
				code += " " + string(r.Status)
			}
			got = append(got, code)
			if r.Code == "drained" && tt.series != nil && !strings.Contains(r.Found, "held 5 messages") {
				t.Errorf("%s: %s", tt.name, r.Found)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
