package judge

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"sixnines/internal/vitals"
	"sixnines/result"
)

// broker gives all intervals the shares in which the broker ran and waited for a processor,
// and the machine's processors were busy.
func broker(ran, waited, busy float64) func(*testbed) {
	return func(b *testbed) {
		for _, i := range b.intervals {
			i.v.Vitals[result.VitalBrokerBusy], i.v.Vitals[result.VitalBrokerWait], i.v.Vitals[result.VitalHostBusy] = ran, waited, busy
		}
	}
}

// A long wait of the broker's threads for a processor is mentioned.
func TestBrokerWaited(t *testing.T) {
	const unsaid = "there is no network between them"
	for name, tt := range map[string]struct {
		ran, waited, busy float64
		end               string
	}{
		"idle":                         {0.05, 0.02, 0.9, unsaid},
		"busy, and never waiting":      {0.95, 0, 1, unsaid},
		"as beside a plain program":    {0.55, 0.11, 0.9, unsaid},
		"until a processor has woken":  {0.02, 0.06, 0.2, unsaid},
		"waiting, while it was needed": {0.2, 0.3, 0.85, "the broker's threads ran for 20 % of the time and waited for a processor for 30 %, so messages spent about 4.0 times as long in the broker as they would have without that wait"},
		"never done":                   {0.6, 0.5, 1, "about 73.3 times as long in the broker as they would have without that wait"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newTestbed(healthyMessages())
			b.header.SameHost = true
			broker(tt.ran, tt.waited, tt.busy)(b)
			v := assessed(verdictOf(b.run(t), Inputs{}))
			r := find(v, "same-host")
			if r == nil || r.Status != result.Valid || !strings.HasSuffix(r.Text, tt.end) {
				t.Fatalf("%+v", v.Reasons)
			}
			inPlainWords(t, v)
		})
	}
}

// judged checks the verdict of a run and its reason of a code; without text it has none.
func judged(t *testing.T, b *testbed, want result.Verdict, code result.ReasonCode, text string) {
	t.Helper()
	v := assessed(verdictOf(b.run(t), Inputs{}))
	if v.String() != want.String() {
		t.Errorf("%s, want %s: %+v", v, want, v.Reasons)
	}
	if r := find(v, code); (r != nil) != (text != "") || r != nil && !strings.Contains(r.Text, text) {
		t.Errorf("%+v, want %q", r, text)
	}
	inPlainWords(t, v)
}

// confined lets the generator run on one of four processors.
func confined(b *testbed) {
	b.header.Machine = append(b.header.Machine, result.Fact{Section: "cpu", Name: factOnline, Value: "0-3"},
		result.Fact{Section: "limits", Name: factAllowed, Value: "2"})
}

// A run whose broker waited so long that messages were in it four times as long is suspect from
// the lowest percentile that this share of the window can affect.
func TestBrokerStarvedForSeconds(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*testbed)
		want   result.Verdict
		text   string // "": no such reason
	}{
		"four times":                    {broker(0.2, 0.33, 0.9), result.Verdict{Status: result.Suspect}, "for 100 % of the window"},
		"three times":                   {broker(0.2, 0.24, 0.9), result.Verdict{Status: result.Valid}, ""},
		"four times, processors idle":   {broker(0.02, 0.06, 0.2), result.Verdict{Status: result.Valid}, ""},
		"four times, processors unseen": {broker(0.2, 0.33, 0), result.Verdict{Status: result.Valid}, ""},
		"four times, on one of four processors": {func(b *testbed) {
			broker(0.2, 0.33, 0.2)(b)
			confined(b)
		}, result.Verdict{Status: result.Suspect}, "for 100 % of the window"},
		"four times in one second": {func(b *testbed) {
			broker(0.2, 0.1, 0.9)(b)
			b.intervals[5].v.Vitals[result.VitalBrokerWait] = 0.4
		}, result.Verdict{Status: result.Valid, ValidTo: "75"}, "for 10 % of the window"},
		"four times in the drain": {func(b *testbed) {
			broker(0.2, 0.1, 0.9)(b)
			b.intervals[len(b.intervals)-1].v.Vitals[result.VitalBrokerWait] = 0.4
		}, result.Verdict{Status: result.Valid}, ""},
		"four times, flat out": {func(b *testbed) {
			broker(0.2, 0.33, 0.9)(b)
			b.header.Mode = result.ModeFlatOut
		}, result.Verdict{Status: result.Valid}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := newTestbed(healthyMessages())
			tt.change(b)
			judged(t, b, tt.want, "starved", tt.text)
		})
	}
}

// A broker that cannot be watched is reported as possibly waiting, if the processors that it
// shares were busy.
func TestBrokerUnseen(t *testing.T) {
	const why = "the process at the other end of the connections cannot be seen"
	for name, tt := range map[string]struct {
		sameHost bool
		unseen   bool
		busy     func(second int) float64
		confined bool
		want     result.Verdict
		text     string // "": no such reason
		earlier  bool   // the fact is of an earlier version's file
	}{
		"busy":                  {true, true, func(int) float64 { return 0.9 }, false, result.Verdict{Status: result.Suspect}, "in 100 % of the window 85 % or more", false},
		"busy at times":         {true, true, func(s int) float64 { return 0.5 + 0.4*float64(s/9) }, false, result.Verdict{Status: result.Valid, ValidTo: "75"}, why, false},
		"not so busy":           {true, true, func(int) float64 { return 0.84 }, false, result.Verdict{Status: result.Valid}, "", false},
		"watched":               {true, false, func(int) float64 { return 0.9 }, false, result.Verdict{Status: result.Valid}, "", false},
		"somewhere else":        {false, true, func(int) float64 { return 0.9 }, false, result.Verdict{Status: result.Valid}, "", false},
		"one of four":           {true, true, func(int) float64 { return 0.22 }, true, result.Verdict{Status: result.Suspect}, "in 100 % of the window 85 % or more", false},
		"of an earlier version": {true, true, func(int) float64 { return 0.9 }, false, result.Verdict{Status: result.Suspect}, "in 100 % of the window 85 % or more", true},
	} {
		t.Run(name, func(t *testing.T) {
			b := newTestbed(healthyMessages())
			b.header.SameHost = tt.sameHost
			if tt.confined {
				confined(b)
			}
			other := result.Fact{Section: "generator", Name: result.FactNotWatched, Value: string(result.VitalHostSwapIn), Note: "no counters"}
			b.header.Machine = append(b.header.Machine, other)
			if tt.unseen {
				other.Value, other.Note = string(result.VitalBrokerWait), why
				if tt.earlier {
					other.Value, other.Note = other.Value+": "+why, ""
				}
				b.header.Machine = append(b.header.Machine, other)
			}
			for s, i := range b.intervals[:seconds] {
				i.v.Vitals[result.VitalHostBusy] = tt.busy(s)
			}
			judged(t, b, tt.want, "unseen", tt.text)
		})
	}
}

// A window of less than a second is judged as a whole, and an interval without a sample of the
// broker does not hide its second.
func TestBrokerStarvedInShortWindows(t *testing.T) {
	const tenth = int64(100e6)
	for _, tt := range []struct {
		name   string
		tenths int64
		wait   float64
		unseen []int64 // intervals
		want   []stretch
	}{
		{"0.4 s", 4, 0.33, nil, []stretch{{0, 4 * tenth}}},
		{"0.4 s, hardly waiting", 4, 0.2, nil, nil},
		{"0.4 s, one interval without", 4, 0.33, []int64{2}, []stretch{{0, 4 * tenth}}},
		{"0.4 s, mostly without", 4, 0.33, []int64{0, 1, 2}, nil},
		{"a second, one interval without", 10, 0.33, []int64{4}, []stretch{{0, 10 * tenth}}},
		{"two seconds, one without", 20, 0.33, []int64{10, 11, 12, 13, 14, 15}, []stretch{{0, 10 * tenth}}},
	} {
		e := &evidence{outside: 1, in: Inputs{End: tt.tenths * tenth}}
		for n := range tt.tenths {
			p := &result.Point{Start: n * tenth, End: (n + 1) * tenth, Vitals: map[result.Vital]float64{result.VitalBrokerBusy: 0.2, result.VitalBrokerWait: tt.wait, result.VitalHostBusy: 0.9}}
			if slices.Contains(tt.unseen, n) {
				delete(p.Vitals, result.VitalBrokerWait)
			}
			e.measure = append(e.measure, p)
		}
		if got := e.slowedSeconds(); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestCountList(t *testing.T) {
	for list, want := range map[string]int{"0": 1, "0-3": 4, "0-1,8,10-11": 5, "": 0, "unknown": 0, "3-1": 0, "0-": 0} {
		if got := countList(list); got != want {
			t.Errorf("%q: %d, want %d", list, got, want)
		}
	}
}

func TestFactsAreNamedAsTheyAreWritten(t *testing.T) {
	names := []string{result.FactProcessors}
	if runtime.GOOS == "linux" {
		names = append(names, factOnline, factAllowed)
	}
	for _, name := range names {
		if !slices.ContainsFunc(vitals.Fingerprint(), func(f vitals.Fact) bool { return f.Name == name }) {
			t.Errorf("no fact is called %q", name)
		}
	}
}
