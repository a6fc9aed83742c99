package selftest

import (
	"math/rand/v2"
	"testing"
	"time"

	"sixnines/internal/nullbroker"
	"sixnines/result"
)

func mustLaw(t *testing.T, text string) nullbroker.Law {
	t.Helper()
	l, err := nullbroker.ParseLaw(text)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// passed returns messages that were delayed by a law, plus a transport of 20 to 60 µs in
// each direction.
func passed(law nullbroker.Law, seed uint64, n int) map[uint64]*message {
	chance := rand.New(rand.NewPCG(3, 4))
	all := map[uint64]*message{}
	for i := range uint64(n) {
		planned := int64(law.Delay(seed, 0, 0, i))
		m := &message{sent: int64(i) * 333_333, planned: planned, seen: 1, delivered: true}
		m.arrived = m.sent + 20_000 + chance.Int64N(40_000)
		m.left = m.arrived + planned + chance.Int64N(5_000)
		m.received = m.left + 20_000 + chance.Int64N(40_000)
		all[i] = m
	}
	return all
}

// services are the service times as the tool would have them, scaled and shifted.
func services(all map[uint64]*message, factor float64, shift int64) []int64 {
	var values []int64
	for i := range uint64(len(all)) {
		values = append(values, int64(factor*float64(all[i].received-all[i].sent))+shift)
	}
	return values
}

func TestLawsNotice(t *testing.T) {
	const n = 4000
	for _, trial := range []lawTrial{
		{law: "lognormal(median=2ms,sigma=0.5)"}, {law: "bimodal(a=1ms,b=20ms,share=5%)"},
		{law: "rare(delay=200ms,every=1000)", rare: 100 * time.Millisecond},
	} {
		law := mustLaw(t, trial.law)
		for name, tt := range map[string]struct {
			change func(*message) // of the fiftieth message, or nil
			factor float64
			shift  int64
			want   string
		}{
			"right":                   {nil, 1, 0, ""},
			"4 % too large":           {nil, 1.04, 0, "p50"},
			"4 % too small":           {nil, 0.96, 0, "p50"},
			"20 µs more for all":      {nil, 1, 20_000, "p50"},
			"sent after it came":      {func(m *message) { m.sent = m.arrived + 5_000 }, 1, 0, "sent ≤"},
			"received before it left": {func(m *message) { m.received = m.left - 5_000 }, 1, 0, "sent ≤"},
			"left before it came":     {func(m *message) { m.arrived = m.left + 1 }, 1, 0, "sent ≤"},
			"too early":               {func(m *message) { m.planned = m.left - m.arrived + 1 }, 1, 0, "early"},
			"not in the log":          {func(m *message) { m.seen = 0 }, 1, 0, "log"},
			"twice in the log":        {func(m *message) { m.seen = 2 }, 1, 0, "log"},
			"not delivered":           {func(m *message) { m.delivered = false }, 1, 0, "delivered"},
			"delivered twice":         {func(m *message) { m.delivered2 = true }, 1, 0, "delivered"},
		} {
			if tt.shift > 0 && trial.rare == 0 {
				tt.want = "" // too little beside delays of milliseconds
			}
			if tt.factor != 1 && trial.rare > 0 {
				tt.want = "longest" // of what is hardly delayed 4 % are too little
			}
			all := passed(law, 1, n)
			if tt.change != nil {
				tt.change(all[50])
			}
			r := join(all)
			run := timed(result.DeliveryService, services(all, tt.factor, tt.shift))
			fails(t, trial.law+": "+name, append(r.figures(law), judgeLaw(run, law, trial, r)...), tt.want)
		}
	}
}

// The rare law detects a tool that cuts off slow messages.
func TestRareDelaysAreCounted(t *testing.T) {
	trial := lawTrial{law: "rare(delay=200ms,every=1000)", rare: 100 * time.Millisecond}
	law := mustLaw(t, trial.law)
	all := passed(law, 1, 12000)
	values := services(all, 1, 0)
	for i, v := range values {
		if v > 1e8 {
			values[i] = 1e8 / 2
			break // one of them
		}
	}
	fails(t, "one clamped", judgeLaw(timed(result.DeliveryService, values), law, trial, join(all)), "messages slower")
	none := passed(mustLaw(t, "none"), 1, 1000)
	fails(t, "none occurred", judgeLaw(timed(result.DeliveryService, services(none, 1, 0)), law, trial, join(none)), "occurred")
}

// The trial detects delays of another law than the one named.
func TestDelaysOfAnotherLaw(t *testing.T) {
	all := passed(mustLaw(t, "lognormal(median=210us,sigma=0.5)"), 1, 12000)
	fails(t, "median of 210 µs", join(all).figures(mustLaw(t, "lognormal(median=200us,sigma=0.5)")), "max|F̂−F|")
	fails(t, "no messages", join(nil).figures(mustLaw(t, "none")), "max|F̂−F|")
}

// The trial detects reported times that depend on the delay, even if the raw instants do,
// too: here a long delay is reported a tenth too short.
func TestDelaysThatAreHidden(t *testing.T) {
	law := mustLaw(t, "lognormal(median=200us,sigma=0.5)")
	all := passed(law, 1, 12000)
	for _, m := range all {
		m.received -= m.planned / 10
		m.left = min(m.left, m.received-20_000)
	}
	run := timed(result.DeliveryService, services(all, 1, 0))
	fails(t, "hidden", judgeLaw(run, law, lawTrial{}, join(all)), "p99")
}

// The seeds make rare delays occur.
func TestSeedsOfRareLaws(t *testing.T) {
	for _, short := range []bool{false, true} {
		for _, trial := range lawTrials(short) {
			law := mustLaw(t, trial.law)
			seed := trial.seed(law)
			n := 0
			first := uint64(float64(trial.rate) * lawWarmup.Seconds())
			for i := range uint64(float64(trial.rate) * trial.window.Seconds()) {
				if law.Delay(seed, 0, 0, first+i) > trial.rare {
					n++
				}
			}
			if trial.rare > 0 && n < rareAtLeast {
				t.Errorf("%s: seed %d delays %d messages", law, seed, n)
			}
		}
	}
}
