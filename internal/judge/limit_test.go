package judge

import (
	"strings"
	"testing"
	"time"

	"sixnines/result"
)

// Seconds in which the sending thread is at its limit lower the verdict according to their share
// of the window; shorter intervals are joined to seconds first.
func TestAGeneratorAtItsLimitIsNotValid(t *testing.T) {
	for _, tt := range []struct {
		name    string
		busy    func(second int) float64
		verdict string
		says    string
	}{
		{"idle", func(int) float64 { return 0.2 }, "VALID", ""},
		{"busy", func(int) float64 { return 0.69 }, "VALID", ""},
		{"always", func(int) float64 { return 0.95 }, "SUSPECT", "in 100 % of the window its busiest sending thread was busy for more than 70 % of the time, up to 95 %"},
		{"a second of ten", func(n int) float64 { return 0.3 + 0.5*float64(n/9) }, "VALID to p75", "in 10 % of the window"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newTestbed(healthyMessages())
			for n, i := range b.intervals[:seconds] {
				i.v.Vitals[result.VitalPacerBusy] = tt.busy(n)
			}
			v := verdictOf(b.run(t), Inputs{})
			inPlainWords(t, v)
			r := find(v, "generator-limit")
			if v.String() != tt.verdict || (r != nil) != (tt.says != "") || r != nil && !strings.Contains(r.Text, tt.says) {
				t.Errorf("%s, want %s: %+v", v, tt.verdict, v.Reasons)
			}
		})
	}
	// Most messages of a load that steps may be due in that second.
	b := newTestbed(healthyMessages())
	for n, i := range b.intervals[:seconds] {
		c := &i.v.Counters
		if n < seconds-1 {
			c.Scheduled, c.Sent, c.Unknown = c.Scheduled/10, c.Sent/10, c.Unknown/10
		} else {
			i.v.Vitals[result.VitalPacerBusy] = 0.9
		}
	}
	if v := verdictOf(b.run(t), Inputs{}); v.Status != result.Suspect || find(v, "generator-limit") == nil {
		t.Errorf("a second with more than half of all messages: %s: %+v", v, v.Reasons)
	}
	e := &evidence{}
	for n, busy := range []float64{0.9, 0.9, 0.4, 0.4, 0.9, 0.9, 0.9, 0.9} { // half seconds
		at := int64(n) * 5e8
		e.measure = append(e.measure, &result.Point{Start: at, End: at + 5e8, Vitals: map[result.Vital]float64{result.VitalPacerBusy: busy}})
	}
	if b := e.atLimit(); len(b.over) != 3 || within(b.over, 0, 4e9) != 0.75 || b.most != 0.9 {
		t.Errorf("%+v", b)
	}
}

// A backlog that grows because the generator cannot send faster is no overload of the broker. A
// backlog that also grows at the broker, or with an idle generator, is.
func TestABacklogOfTheGeneratorsOwn(t *testing.T) {
	for _, tt := range []struct {
		name        string
		busy        float64
		due, flight int64 // growth a second
		code        result.ReasonCode
		says, not   string
	}{
		{"the generator's", 0.98, 400, 0, "generator-limit", "could not keep up with the rate", "overload"},
		{"the broker's", 0.2, 0, 400, "backlog", "overload", "generator"},
		{"blocked by the broker", 0.2, 400, 0, "backlog", "overload", "generator"},
		{"of both", 0.98, 400, 400, "backlog", "overload", "generator"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newTestbed(healthyMessages())
			for n, i := range b.intervals {
				i.v.Vitals[result.VitalPacerBusy] = tt.busy
				i.v.Backlog, i.v.InFlight = tt.due*int64(n), 20+tt.flight*int64(n)
			}
			v := verdictOf(b.run(t), Inputs{Resolved: (seconds + 3) * 1e9})
			r := find(v, tt.code)
			if v.Status != result.Unstable || r == nil || r.Status != result.Unstable || !strings.Contains(r.Text, tt.says) || strings.Contains(r.Text, tt.not) {
				t.Errorf("%s: %+v", v.Status, v.Reasons)
			}
		})
	}
}

// The reader of a connection that is at its limit lowers the verdict as a sending thread does, and a backlog
// that grows behind it is the generator's, though it grows at the broker.
func TestAReaderAtItsLimit(t *testing.T) {
	for _, tt := range []struct {
		name    string
		busy    func(second int) float64
		grows   bool
		verdict string
		code    result.ReasonCode
		says    string
	}{
		{"busy", func(int) float64 { return 0.69 }, false, "VALID", "", ""},
		{"a second of ten", func(n int) float64 { return 0.3 + 0.5*float64(n/9) }, false, "VALID to p75", "generator-limit",
			"in 10 % of the window its busiest reader of a connection was busy for more than 70 % of the time"},
		{"always", func(int) float64 { return 0.95 }, false, "SUSPECT", "generator-limit", "up to 95 %"},
		{"always, with a backlog", func(int) float64 { return 0.97 }, true, "OVERLOADED", "generator-limit", "could not keep up with the deliveries"},
		{"with time to spare, and a backlog", func(int) float64 { return 0.8 }, true, "OVERLOADED", "backlog", "overload"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newTestbed(healthyMessages())
			for n, i := range b.intervals {
				i.v.Vitals[result.VitalReaderBusy] = tt.busy(min(n, seconds-1))
				if tt.grows {
					i.v.InFlight = 20 + 400*int64(n)
				}
			}
			in := Inputs{}
			if tt.grows {
				in.Resolved = (seconds + 3) * 1e9
			}
			v := verdictOf(b.run(t), in)
			inPlainWords(t, v)
			r := find(v, tt.code)
			if v.String() != tt.verdict || (r != nil) != (tt.code != "") || r != nil && !strings.Contains(r.Text, tt.says) {
				t.Errorf("%s: %+v", v, v.Reasons)
			}
		})
	}
	all := []stretch{{4, 6}, {0, 2}, {5, 7}, {2, 3}}
	if got := joinStretches(all); len(got) != 3 || got[2] != (stretch{4, 7}) {
		t.Errorf("%v", got)
	}
}

// Processors are in use in some seconds: what is due then may be the tail of a load that uses
// little of them on average.
func TestProcessorsAreInUseBySeconds(t *testing.T) {
	b := newTestbed(healthyMessages())
	for n, i := range b.intervals[:seconds] {
		if i.v.Vitals[result.VitalProcessCPU] = 0.4; n == 3 {
			i.v.Vitals[result.VitalProcessCPU] = 1.96
		}
	}
	v := verdictOf(b.run(t), Inputs{})
	inPlainWords(t, v)
	if r := find(v, "cpu"); v.String() != "VALID to p75" || r == nil || !strings.Contains(r.Text, "in 10 % of the window the generator used more than 90 % of the 2 processors it may use, up to 98 %") {
		t.Errorf("%s: %+v", v, v.Reasons)
	}
	v.Status = result.Unstable
	if Overloads(v) {
		t.Error("one second without a processor to spare says nothing about a backlog")
	}
}

// A schedule above the machine's measured limit, which the file itself has, is a note and does not
// lower the verdict.
func TestARateAboveTheKeptLimitIsNoted(t *testing.T) {
	at := time.Date(2026, 11, 20, 9, 30, 0, 0, time.UTC)
	for _, tt := range []struct {
		name  string
		limit *result.GeneratorLimit
		mode  string
		says  string
	}{
		{"not known", nil, result.ModeOpen, ""},
		{"below", &result.GeneratorLimit{Rate: perSecond, Above: 1.1 * perSecond}, result.ModeOpen, ""},
		{"above", &result.GeneratorLimit{Rate: perSecond / 2, Above: perSecond, Disturbed: "steal"}, result.ModeOpen,
			"in 100 % of the window the schedule asked for 2,000/s, above the 1,000/s up to which this machine's generator sent on time (256 B, 1 connection, a broker that does nothing; measured 2026-11-20 09:30 UTC, while steal; sixnines selftest --only limit"},
		{"without a schedule", &result.GeneratorLimit{Rate: perSecond / 2, Above: perSecond}, result.ModeFlatOut, ""},
		{"nothing was too high", &result.GeneratorLimit{Rate: perSecond / 2}, result.ModeOpen, ""},
		{"a high one", &result.GeneratorLimit{Rate: 100_000, Above: 110_000}, result.ModeOpen, "the schedule asked for 300,000/s, above the 100,000/s"},
		{"never in time", &result.GeneratorLimit{Above: perSecond / 2}, result.ModeOpen, ", above the 1,000/s at which this machine's generator did not send on time"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newTestbed(healthyMessages())
			if b.header.Mode, b.header.Limit = tt.mode, tt.limit; tt.limit != nil {
				tt.limit.At, tt.limit.Size, tt.limit.Connections = at, 256, 1
			}
			due := int64(perSecond)
			if tt.name == "a high one" {
				due = 300_000
			}
			for _, i := range b.intervals[:seconds] {
				i.v.Counters.Scheduled = due
			}
			v := verdictOf(b.run(t), Inputs{})
			inPlainWords(t, v)
			r := find(v, "above-limit")
			if (r != nil) != (tt.says != "") || r != nil && (r.Status != result.Valid || !strings.Contains(r.Text, tt.says)) {
				t.Errorf("%+v", v.Reasons)
			}
		})
	}
}
