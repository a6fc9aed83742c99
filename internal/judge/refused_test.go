package judge

import (
	"strings"
	"testing"

	"sixnines/result"
)

// A second half of the run in which most messages were refused is another state.
func TestRefusedAreOfTheState(t *testing.T) {
	b := newTestbed(healthyMessages())
	run := b.run(t)
	m := result.DeliveryResponse
	before := blocksInTime(run, m)
	slots := before[len(before)-1].end / int64(run.Header.Slot)
	x := run.Metrics[m]
	for slot := slots / 2; slot < slots; slot++ {
		x.RefusedAt = append(x.RefusedAt, [2]int64{slot, 10_000})
		x.Refused += 10_000
	}
	after := blocksInTime(run, m)
	addRefused(after, run, m)
	var all int64
	for i := range after {
		n := after[i].Count() - before[i].Count()
		all += n
		half := before[i].end > before[len(before)-1].end/2
		if n > 0 != half {
			t.Errorf("block %d, up to %d, has %d refused messages", i, before[i].end, n)
		}
		if q := after[i].Quantile(0.5); half != (q > x.Max) {
			t.Errorf("block %d: p50 %d, and the largest latency was %d", i, q, x.Max)
		}
	}
	if all != x.Refused {
		t.Errorf("%d of %d refused messages", all, x.Refused)
	}
}

// A tail of refused messages is not attributed to the generator, even if the other messages in
// it were late by the generator.
func TestRefusedTailIsNotSelfInflicted(t *testing.T) {
	ms := healthyMessages()
	for i := range ms {
		if i%1000 == 7 {
			ms[i].own = 30e6
			ms[i].service = 1e6
		}
	}
	run := newTestbed(ms).run(t)
	x := run.Metrics[result.DeliveryResponse]
	x.Refused = 2000 // of 22,000
	if r := find(verdictOf(run, Inputs{}), "self-inflicted"); r != nil {
		t.Errorf("%+v", r)
	}
}

// In a run without latencies no percentile leaves out refused messages: refusals are reported
// but do not make the run suspect.
func TestRefusedWithoutLatenciesIsANote(t *testing.T) {
	run := newTestbed(healthyMessages()).run(t)
	for m := range run.Metrics {
		if m.IsLatency() {
			delete(run.Metrics, m)
		}
	}
	run.Counters.Acked, run.Counters.Nacked, run.Counters.Expected, run.Counters.Received = 0, 0, 0, 0
	run.Counters.Rejected = run.Counters.Sent / 4
	run.Counters.Sent -= run.Counters.Rejected
	run.Counters.Unknown = run.Counters.Sent
	r := find(verdictOf(run, Inputs{}), "refused")
	if r == nil || r.Status != result.Valid {
		t.Errorf("%+v", r)
	}
}

// The reason of refused messages quotes what the broker said to who asked; where a connection
// was missing, what kept it from being made; and no other answer.
func TestRefusalsQuoteTheBroker(t *testing.T) {
	refused := func(class, detail string, n int64) result.Event {
		return result.Event{Kind: result.EventRefused, Class: class, Detail: detail, Count: n}
	}
	login := result.Event{Kind: "error", Class: result.ClassUnauthorized, Detail: "wrong password"}
	for name, tt := range map[string]struct {
		events []result.Event
		want   string
	}{
		"most often":      {[]result.Event{refused("rejected by the broker", "full", 3), refused("throttled", "slow down", 9)}, "slow down (and 1 other answer)"},
		"who asks":        {[]result.Event{refused("rejected by the broker", "full", 9), refused(result.ClassUnauthorized, "NOPERM", 1)}, "NOPERM"},
		"no connection":   {[]result.Event{login, refused(result.ClassNotConnected, "not connected", 9)}, "wrong password"},
		"another reason":  {[]result.Event{login, refused("rejected by the broker", "full", 9)}, "full"},
		"nobody tells":    {nil, ""},
		"repeated events": {[]result.Event{refused("throttled", "slow down", 9), {Kind: result.EventRefused, Detail: "full", Times: 10}}, "full (and 1 other answer)"},
	} {
		run := newTestbed(healthyMessages()).run(t)
		run.Events = tt.events
		if got := (&evidence{run: run}).whyRefused(); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// If the system refused the whole load, that is its answer. If it refused for lack of
// permission, nothing was measured.
func TestAllRefused(t *testing.T) {
	for class, want := range map[string]result.Status{"rejected by the broker": result.Valid, result.ClassUnauthorized: result.Invalid} {
		run := newTestbed(healthyMessages()).run(t)
		c := &run.Counters
		c.Nacked, c.Acked, c.Unknown = c.Sent, 0, 0
		c.Missing, c.Received = c.Expected, 0
		c.MissingNacked, c.LostAcked = c.Expected, 0
		run.Events = []result.Event{{Kind: result.EventRefused, Class: class, Detail: "no", Count: c.Nacked}}
		if r := find(verdictOf(run, Inputs{}), "all-refused"); r == nil || r.Status != want {
			t.Errorf("%s: %+v, want %s", class, r, want)
		}
	}
}

// Messages refused for lack of permission were no load: such a run is not VALID, however many
// messages came through. A refusal for lack of capacity is the system's answer.
func TestRefusedForWhoAsksIsSuspect(t *testing.T) {
	for _, tt := range []struct {
		event result.Event
		code  result.ReasonCode
	}{
		{result.Event{Kind: result.EventRefused, Count: 3}, "refused"},
		{result.Event{Kind: result.EventDenied, Count: 3}, "denied"},
		{result.Event{Kind: result.EventGivenUp}, "given-up"},
		{result.Event{Kind: "error"}, "unauthorised"},
	} {
		for class, want := range map[string]result.Status{result.ClassUnauthorized: result.Suspect, "rejected by the broker": result.Valid} {
			run := newTestbed(healthyMessages()).run(t)
			tt.event.Class, tt.event.Detail = class, "the broker's words"
			run.Events = append(run.Events, tt.event)
			switch tt.event.Kind {
			case result.EventRefused:
				run.Counters.Acked -= 3
				run.Counters.Nacked += 3

			case result.EventDenied:
				run.Counters.Denied = 3
			}
			r := find(verdictOf(run, Inputs{}), tt.code)
			if tt.code == "unauthorised" && want == result.Valid {
				if r != nil {
					t.Errorf("%s, %s: %+v", tt.code, class, r)
				}
				continue
			}
			if r == nil || r.Status != want || !strings.Contains(r.Text, "the broker's words") {
				t.Errorf("%s, %s: %+v, want %s", tt.code, class, r, want)
			}
		}
	}
}
