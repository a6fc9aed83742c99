package judge

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"sixnines/result"
	"sixnines/scenario"
)

func waitsFor(text string, atMost time.Duration) func(*result.Header) {
	return func(h *result.Header) { h.Until, h.Window = text, atMost }
}

// A run that was planned to last until a percentile is known says how it ended and how exactly
// the percentile is known.
func TestUntil(t *testing.T) {
	flat := func(float64) float64 { return 1 }
	for _, tt := range []struct {
		name    string
		seconds int
		level   func(float64) float64
		until   string
		atMost  time.Duration
		in      Inputs
		ended   string
		narrow  bool
		na      string // why there is no interval by stretches
		text    string
	}{
		{"narrow", 200, flat, "delivery.response p99 ±5%", time.Hour, Inputs{}, result.EndedNarrow, true, "", "ended by --until after 200 s: delivery.response p99 is 1."},
		{"narrow in time", 200, flat, "delivery.response p99 ±60µs", time.Hour, Inputs{}, result.EndedNarrow, true, "", "(±"},
		{"the median", 200, flat, "delivery.response p50 ±2%", time.Hour, Inputs{}, result.EndedNarrow, true, "", "p50 is"},
		{"one that tables do not have", 200, flat, "delivery.response p97 ±5%", time.Hour, Inputs{}, result.EndedNarrow, true, "", "p97 is"},
		{"not any more", 200, flat, "delivery.response p99 ±1%", time.Hour, Inputs{}, result.EndedNarrow, false, "", "widened the interval again"},
		{"the longest", 200, flat, "delivery.response p99 ±1%", 200 * time.Second, Inputs{}, result.EndedAtMost, false, "", "ended by --at-most after 200 s, before it was known that precisely: "},
		{"the longest, and known", 200, flat, "delivery.response p99 ±5%", 200 * time.Second, Inputs{}, result.EndedAtMost, true, "", "ended by --at-most after 200 s: "},
		{"by hand", 200, flat, "delivery.response p99 ±1%", time.Hour, Inputs{Interrupted: true}, result.EndedInterrupted, false, "", "interrupted after 200 s, before"},
		{"killed", 200, flat, "delivery.response p99 ±1%", time.Hour, Inputs{CutShort: true}, result.EndedCutShort, false, "", "cut short after 200 s, before"},
		{"short", 59, flat, "delivery.response p99 ±20%", time.Hour, Inputs{}, result.EndedNarrow, false, "59 intervals and needs at least 60", "as if messages were independent"},
		{"few", 3, flat, "delivery.response p99 ±20%", time.Hour, Inputs{}, result.EndedNarrow, false, "900 messages and needs at least 1,746", "no interval of"},
		{"a drift", 200, func(s float64) float64 { return 1 + s/200 }, "delivery.response p99 ±10%", 200 * time.Second, Inputs{}, result.EndedAtMost, false, "resemble each other", ""},
		{"a level that changes", 200, func(s float64) float64 { return 1 + math.Floor(s/100) }, "delivery.response p50 ±10%", 200 * time.Second, Inputs{}, result.EndedAtMost, false, "", ""},
		{"bursts", 120, func(s float64) float64 {
			if int(s)%17 == 3 && s-math.Floor(s) < 0.4 {
				return 3
			}
			return 1
		}, "delivery.response p99 ±10%", 120 * time.Second, Inputs{}, result.EndedAtMost, false, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			run := courseRun(t, tt.seconds, time.Second, tt.level, waitsFor(tt.until, tt.atMost))
			tt.in.End = int64(tt.seconds) * 1e9
			s := Summarise(run, tt.in)
			u := s.Until
			if u == nil || u.Text != tt.until || u.Ended != tt.ended || u.Narrow != tt.narrow || !strings.Contains(u.Found, tt.text) ||
				tt.na != "" && !strings.Contains(u.Independent, tt.na) {
				t.Fatalf("%+v", u)
			}
			if r := find(s.Verdict, "until"); r == nil || r.Status != result.Valid || !strings.Contains(r.Text, u.Found) {
				t.Errorf("the verdict does not say how it ended: %+v", s.Verdict)
			}
			// In the place of the interval for one length is the one that holds at
			// any; it is the wider.
			d := s.Histograms[result.DeliveryResponse]
			asked, err := scenario.ParseUntil(tt.until)
			if err != nil {
				t.Fatal(err)
			}
			name := result.Percentile(asked.Percentile())
			run.Header.Until = ""
			plain := Summarise(run, tt.in)
			if plain.Until != nil || find(plain.Verdict, "until") != nil {
				t.Errorf("nothing was waited for: %+v", plain.Until)
			}
			fixed := plain.Histograms[result.DeliveryResponse]
			f, published := d.At(name)
			for other, x := range d.All() {
				if (other != name || u.High == 0) && x.Interval != nil && x.Interval.Sequential {
					t.Errorf("p%s is sequential: %+v", other, x)
				}
			}
			if !published || u.High == 0 {
				return
			}
			got, was := f.Interval, fixed.Figures[name].Interval
			if got.Low != u.Low || got.High != u.High || got.Low > was.Low || got.High < was.High || got.High-got.Low <= was.High-was.Low {
				t.Errorf("p%s: %v in the table, %+v; %v for one length", name, got, u, was)
			}
			if f.Blocks != nil || !got.Sequential {
				t.Errorf("blocks %v, interval %+v", f.Blocks, got)
			}
			for _, other := range []result.Percentile{"50", "90", "99"} {
				if x, was := d.Figures[other], fixed.Figures[other]; other != name && !reflect.DeepEqual(x, was) {
					t.Errorf("p%s: %+v; without an until %+v", other, x, was)
				}
			}
		})
	}
}

// Messages in flight may become slower than all others: with as many of them as lie beyond the
// percentile, it is unknown.
func TestSequenceOfPending(t *testing.T) {
	run := courseRun(t, 200, time.Second, func(float64) float64 { return 1 })
	u, err := scenario.ParseUntil("delivery.response p99 ±20%")
	if err != nil {
		t.Fatal(err)
	}
	none, some, much := SequenceOf(run, u, 200e9, 0), SequenceOf(run, u, 200e9, 50), SequenceOf(run, u, 200e9, 700)
	if !none.Narrow() || !some.Narrow() || some.high < none.high || none.Width() == "" {
		t.Errorf("%+v, with 50 in flight %+v", none, some)
	}
	if much.Narrow() || much.Width() != "" {
		t.Errorf("with 700 of 60,000 in flight: %+v", much)
	}
	// Of a message in flight all deliveries are.
	fanned := courseRun(t, 200, time.Second, func(float64) float64 { return 1 })
	fanned.Counters.Sent /= 20
	if s := SequenceOf(fanned, u, 200e9, 50); s.Width() != "" {
		t.Errorf("with 50 messages to 20 groups of 60,000 deliveries in flight: %+v", s)
	}
	if s := SequenceOf(&result.Run{}, u, 1e9, 0); s.Narrow() || s.Width() != "" {
		t.Errorf("of nothing: %+v", s)
	}
	// SequenceOf does not change the run.
	if again := SequenceOf(run, u, 200e9, 0); again != none {
		t.Errorf("%+v, then %+v", none, again)
	}
}

// verify computes the interval again.
func TestVerifyUntil(t *testing.T) {
	b := newTestbed(healthyMessages())
	b.header.Until = "delivery.response p90 ±20%"
	run := saved(t, b)
	if p := Verify(run, run.Header.Tool); len(p) != 0 {
		t.Fatalf("problems: %v", p)
	}
	if run.Summary.Until == nil || run.Summary.Until.High == 0 || run.Summary.Until.Ended != result.EndedAtMost {
		t.Fatalf("%+v", run.Summary.Until)
	}
	for name, change := range map[string]func(*result.Summary){
		"until.high":   func(s *result.Summary) { s.Until.High++ },
		"until.ended":  func(s *result.Summary) { s.Until.Ended = result.EndedNarrow },
		"until.narrow": func(s *result.Summary) { s.Until.Narrow = !s.Until.Narrow },
		"histograms.delivery.response.sequential.90": func(s *result.Summary) {
			s.Histograms[result.DeliveryResponse].Figures["90"].Interval.Sequential = false
		},
	} {
		run := saved(t, b)
		change(run.Summary)
		if p := Verify(run, run.Header.Tool); len(p) != 1 || p[0].Where != name {
			t.Errorf("%s: %v", name, p)
		}
	}
}

// Drift does not make a percentile known sooner: the interval is never narrow, although that of
// independent messages always is.
func TestUntilIsNotEndedByADrift(t *testing.T) {
	u, err := scenario.ParseUntil("delivery.response p90 ±5%")
	if err != nil {
		t.Fatal(err)
	}
	for name, level := range map[string]func(float64) float64{
		"a drift":            func(s float64) float64 { return 1 + s/150 },
		"levels that wander": func(s float64) float64 { return 1 + 0.4*math.Sin(s/9) },
		"a later level":      func(s float64) float64 { return 1 + math.Floor(s/40)/4 },
	} {
		for seconds := 65; seconds <= 240; seconds = seconds*5/4 + 1 {
			run := courseRun(t, seconds, time.Second, level, waitsFor(u.String(), time.Hour))
			s := SequenceOf(run, u, int64(seconds)*1e9, 0)
			if s.Narrow() {
				t.Errorf("%s, after %d s: %s", name, seconds, s.Width())
			}
			o := newOrder(run.Metrics[result.DeliveryResponse])
			if q := o.quantile(o.n, u.Percent, 0); float64(q.high-q.low) > u.Limit(q.value) {
				t.Errorf("%s, after %d s: the interval of independent messages is %d to %d, this proves nothing", name, seconds, q.low, q.high)
			}
		}
	}
	run := courseRun(t, 150, time.Second, func(float64) float64 { return 1 }, waitsFor(u.String(), time.Hour))
	if s := SequenceOf(run, u, 150e9, 0); !s.Narrow() {
		t.Errorf("steady: %s", s.Width())
	}
}

// An objective on the percentile that was waited for is decided by the interval
// that holds whenever the run ended; of a limit between its end and that of the
// other interval nothing is shown.
func TestObjectiveOfWhatWasWaitedFor(t *testing.T) {
	level := func(float64) float64 { return 1 }
	in := Inputs{End: 200e9}
	run := courseRun(t, 200, time.Second, level, waitsFor("delivery.response p97 ±5%", time.Hour))
	run.Summary = Summarise(run, in)
	u := run.Summary.Until
	fixed := courseRun(t, 200, time.Second, level)
	fixed.Summary = Summarise(fixed, in)
	for limit, want := range map[int64]Outcome{u.High + 1: Met, u.High - 1: Undecided, u.Low - 1: Missed} {
		o, err := scenario.ParseObjective("delivery.response p97 < " + time.Duration(limit).String())
		if err != nil {
			t.Fatal(err)
		}
		if d := Decide(run, o); d.Outcome != want || !strings.Contains(d.Text, "whenever the run ended") {
			t.Errorf("%v: %+v", o, d)
		}
		if d := Decide(fixed, o); want == Undecided && d.Outcome != Met {
			t.Errorf("of a fixed length, %v: %+v: this proves nothing", o, d)
		}
	}
	short := courseRun(t, 1, time.Second, level, waitsFor("delivery.response p97 ±5%", time.Hour))
	short.Summary = Summarise(short, Inputs{End: 1e9})
	o, err := scenario.ParseObjective("delivery.response p97 < 1h")
	if err != nil {
		t.Fatal(err)
	}
	if d := Decide(short, o); d.Outcome != Undecided || !strings.Contains(d.Text, "300 messages and needs at least") {
		t.Errorf("of 300 messages: %+v", d)
	}
}

// A refused message is slower than any latency: where refusals reach the interval
// that was waited for, it says so, and is not narrow.
func TestUntilOfRefusals(t *testing.T) {
	for _, tt := range []struct {
		refused           int64
		value, high, low  bool // are refused
		narrow            bool
		outcome, opposite Outcome // of p99 < 1h, and of p99 > 1h
	}{
		{0, false, false, false, true, Met, Missed},
		{60, false, false, false, true, Met, Missed},
		{590, false, true, false, false, Undecided, Undecided},
		{640, true, true, false, false, Undecided, Undecided},
		{2000, true, true, true, false, Missed, Met},
	} {
		run := courseRun(t, 200, time.Second, func(float64) float64 { return 1 }, waitsFor("delivery.response p99 ±50%", time.Hour))
		run.Metrics[result.DeliveryResponse].Refused = tt.refused
		run.Summary = Summarise(run, Inputs{End: 200e9})
		u, d := run.Summary.Until, run.Summary.Histograms[result.DeliveryResponse]
		if u.Refused != tt.value || u.OpenRefused != tt.high && !tt.low || u.LowRefused != tt.low || u.Narrow != tt.narrow || u.Open != (tt.high && !tt.low) {
			t.Errorf("%d refused: %+v", tt.refused, u)
		}
		in := d.Figures["99"].Interval
		if (in == nil) != tt.low || in != nil && (in.Low != u.Low || in.High != u.High || in.OpenRefused != tt.high) || tt.low && u.High != 0 {
			t.Errorf("%d refused: %v, %+v", tt.refused, in, u)
		}
		if (tt.value || tt.high) != strings.Contains(u.Found, "refused") {
			t.Errorf("%d refused: %s", tt.refused, u.Found)
		}
		for text, want := range map[string]Outcome{"delivery.response p99 < 1h": tt.outcome, "delivery.response p99 > 1h": tt.opposite} {
			o, err := scenario.ParseObjective(text)
			if err != nil {
				t.Fatal(err)
			}
			if d := Decide(run, o); d.Outcome != want {
				t.Errorf("%d refused: %+v, want %s", tt.refused, d, want)
			}
		}
	}
}
