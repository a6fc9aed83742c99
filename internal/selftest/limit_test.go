package selftest

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"sixnines/result"
)

// The search ends within a tenth of the true limit.
func TestSearchFindsTheLimit(t *testing.T) {
	for _, truth := range []float64{10_000, 12_345, 99_000, 160_001, 2_000_000} {
		tries := 0
		rate, above := search(func(r float64) bool { tries++; return r <= truth }, func() bool { return false })
		if rate > truth || above <= truth || above > limitExact*rate || tries > 14 {
			t.Errorf("%.0f lies between %.0f and %.0f after %d tries", truth, rate, above, tries)
		}
	}
	if rate, above := search(func(float64) bool { return false }, func() bool { return false }); rate != 0 || above != limitFirst {
		t.Errorf("nothing is in time: %.0f, %.0f", rate, above)
	}
	if rate, above := search(func(float64) bool { return true }, func() bool { return false }); rate != limitMost || above != 0 {
		t.Errorf("everything is in time: %.0f, %.0f", rate, above)
	}
	tries := 0
	if rate, above := search(func(float64) bool { tries++; return true }, func() bool { return tries == 2 }); rate != 2*limitFirst || above != 0 {
		t.Errorf("out of time: %.0f, %.0f", rate, above)
	}
}

func TestLimitForPeople(t *testing.T) {
	for want, l := range map[string]Limit{
		"80,000/s at 256 B over 1 connection":            {256, 1, 80_000, 88_000},
		"80,000 to 160,000/s at 256 B over 1 connection": {256, 1, 80_000, 160_000},
		"at least 80,000/s at 256 B over 8 connections":  {256, 8, 80_000, 0},
		"less than 10,000/s at 256 B over 1 connection":  {256, 1, 0, 10_000},
	} {
		if got := l.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestBehind(t *testing.T) {
	good := func() *result.Run {
		r := timed(result.LagOwn, repeated(limitLag/2))
		r.Summary.Rate = result.Rate{Asked: 1000, Sent: 1000, WorstSecond: 1}
		r.Series = []result.Point{{Phase: result.PhaseMeasure, End: 1e9, Vitals: map[result.Vital]float64{"pacer.busy": limitBusy}}}
		return r
	}
	for name, tt := range map[string]struct {
		change func(*result.Run)
		want   bool
	}{
		"in time":         {func(*result.Run) {}, false},
		"not all sent":    {func(r *result.Run) { r.Summary.Rate.Sent = 998 }, true},
		"a bad second":    {func(r *result.Run) { r.Summary.Rate.WorstSecond = 0.89 }, true},
		"no time left":    {func(r *result.Run) { r.Series[0].Vitals["pacer.busy"] = 0.71 }, true},
		"busy beforehand": {func(r *result.Run) { r.Series[0].Phase, r.Series[0].Vitals["pacer.busy"] = result.PhaseDrain, 1 }, false},
		"late": {func(r *result.Run) {
			r.Metrics[result.LagOwn] = timed(result.LagOwn, repeated(2*limitLag)).Metrics[result.LagOwn]
		}, true},
	} {
		r := good()
		tt.change(r)
		if why := behind(r); (why != "") != tt.want {
			t.Errorf("%s: %q", name, why)
		}
	}
}

// Find returns limits of this machine that are not too old; disturbed ones do not replace
// undisturbed ones.
func TestLimitStore(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	here, other := MachineKey{CPU: "a"}, MachineKey{CPU: "b"}
	s := LimitStore{filepath.Join(t.TempDir(), "sub", LimitFile)}
	keep := func(m MachineKey, at time.Time, rate float64, disturbed string) bool {
		t.Helper()
		kept, err := s.Keep(KeptLimits{m, at, disturbed, []Limit{{Size: 256, Connections: 1, Rate: rate}}})
		if err != nil {
			t.Fatal(err)
		}
		return kept
	}
	found := func(m MachineKey, at time.Time) float64 {
		t.Helper()
		k, err := s.Find(m, at)
		if err != nil {
			t.Fatal(err)
		}
		if k == nil {
			return 0
		}
		return k.Limits[0].Rate
	}
	if got := found(here, now); got != 0 {
		t.Errorf("an empty store has %v", got)
	}
	keep(other, now, 7, "")
	keep(here, now.Add(-time.Hour), 1, "")
	if keep(here, now, 2, "others") || found(here, now) != 1 {
		t.Error("a disturbed measurement took an undisturbed one's place")
	}
	keep(here, now, 3, "")
	if got := found(here, now); got != 3 || found(other, now) != 7 {
		t.Errorf("found %v", got)
	}
	if got := found(here, now.Add(FloorMaxAge+1)); got != 0 {
		t.Errorf("too old, and found: %v", got)
	}
	if !keep(here, now.Add(FloorMaxAge+1), 4, "others") {
		t.Error("one that is not believed any more stayed")
	}
	text, err := os.ReadFile(s.Path)
	if err == nil {
		err = os.WriteFile(s.Path, append([]byte("{}\nrubbish\n"), text...), 0o644)
	}
	if err != nil || found(other, now) != 7 {
		t.Errorf("after damage: %v", err)
	}
}

// A load gets the limit of payloads of at most twice its size, with about as many
// connections.
func TestLimitForALoad(t *testing.T) {
	k := &KeptLimits{Disturbed: "steal", Limits: []Limit{
		{Size: 256, Connections: 1, Rate: 1, Above: 5}, {Size: 256, Connections: 8, Rate: 2}, {Size: 4096, Connections: 1, Rate: 3},
	}}
	for _, tt := range []struct {
		size        int64
		connections int
		want        float64 // 0: none
	}{
		{256, 1, 1}, {128, 1, 1}, {127, 1, 0}, {256, 2, 1}, {256, 3, 0}, {256, 4, 2}, {1 << 20, 16, 2}, {256, 17, 0},
		{1024, 1, 1}, {2047, 1, 1}, {2048, 1, 3}, {65536, 2, 3}, {256, 0, 0},
	} {
		l := k.For(tt.size, tt.connections)
		if (l != nil) != (tt.want != 0) || l != nil && (l.Rate != tt.want || l.Disturbed != "steal") {
			t.Errorf("%d B over %d: %+v, want %v", tt.size, tt.connections, l, tt.want)
		}
	}
	if l := k.For(256, 1); l.Size != 256 || l.Connections != 1 || l.Above != 5 {
		t.Errorf("%+v", l)
	}
}
