package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"sixnines/internal/hunttest"
	"sixnines/internal/stats"
	"sixnines/result"

	"gonum.org/v1/gonum/stat/distuv"
)

// law is what runs of a side are drawn from, beside their latencies.
type law struct {
	body, tail float64 // factors of all percentiles, and of those from p98 up
	lost       float64 // expected share of messages
	acked      float64 // the same of messages that were acknowledged
	refused    float64
	kept       float64 // of what is due
	fails      float64 // probability that a run is overloaded
	unresolved float64 // that messages that never come reach p99
	invalid    float64
	missing    float64 // that there are too few messages for p99.9
	suspect    float64 // that percentiles from p99 up are suspect
	nothing    float64 // flat out: that a run delivers nothing
}

// runOf draws a run of a law.
func (w *world) runOf(name string, l law, flat bool) *result.Run {
	r := w.run(name, time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC), 0)
	s, d := r.Summary, r.Summary.Histograms[result.DeliveryResponse]
	happens := func(p float64) bool { return w.r.Float64() < p }
	count := func(share float64) int64 {
		if share == 0 {
			return 0
		}
		return int64(distuv.Poisson{Lambda: share * float64(w.messages), Src: w.r}.Rand())
	}
	for p := range d.Figures {
		f := l.body
		if p == "99" || p == "99.9" || p == "99.99" {
			f *= l.tail
		}
		times(d, p, f)
	}
	c := &s.Counters
	c.Expected, c.Acked, c.LostAcked, c.Nacked = w.messages, w.messages, count(l.acked), count(l.refused)
	c.MissingUnknown = count(l.lost)
	c.Missing = c.MissingUnknown + c.LostAcked
	s.Rate.Sent = s.Rate.Asked * l.kept * (1 - 0.001*w.r.Float64())
	if happens(l.unresolved) {
		atLeast(d, "99", "99.9", "99.99")
	}
	if happens(l.missing) {
		d.Figures["99.9"] = result.Figure{Needs: 10 * w.messages}
	}
	if happens(l.suspect) {
		s.Verdict.Limits = []result.Limit{{Metric: result.DeliveryResponse, ValidTo: "95", From: "99"}}
	}
	switch {
	case happens(l.invalid):
		s.Verdict.Status = result.Invalid
	case happens(l.fails):
		s.Verdict.Status = result.Unstable
	}
	if flat {
		r.Header.Mode, r.Header.Rate, s.Rate = result.ModeFlatOut, 0, result.Rate{}
		s.Throughput = &result.Throughput{Received: w.messages, PerSecond: 1, ReceivedPerSecond: 1e9 / float64(d.Figures["50"].Value)}
		if happens(l.nothing) {
			s.Throughput.Received, s.Throughput.ReceivedPerSecond = 0, 0
		}
	}
	return r
}

// huntedSet is a kind of sets that a gate is hunted with.
type huntedSet struct {
	name string
	flat bool
	a, b law
	// worse says that B is worse by more than any effect that is asked for, and that
	// pairs suffice to see it. What is neither equal nor worse is in both sets alike.
	worse bool
}

func plainLaw() law { return law{body: 1, tail: 1, kept: 1} }

func with(change func(*law)) law {
	l := plainLaw()
	change(&l)
	return l
}

// huntedSets are all of them. The largest effect that is asked for is 20 %.
func huntedSets() []huntedSet {
	bad := with(func(l *law) { l.lost, l.acked, l.refused, l.fails, l.unresolved = 5e-5, 2e-5, 2e-5, 0.1, 0.05 })
	worse := func(name string, base law, change func(*law)) huntedSet {
		b := base
		change(&b)
		return huntedSet{name, false, base, b, true}
	}
	all := []huntedSet{
		{"equal", false, plainLaw(), plainLaw(), false},
		{"equal, with losses and failures", false, bad, bad, false},
		{"equal, with suspect and missing figures", false, with(func(l *law) { l.suspect, l.missing = 0.2, 0.1 }), with(func(l *law) { l.suspect, l.missing = 0.2, 0.1 }), false},
		{"equal, with much lost", false, with(func(l *law) { l.lost = 0.01 }), with(func(l *law) { l.lost = 0.01 }), false},
		{"equal, flat out, now and then nothing", true, with(func(l *law) { l.nothing = 0.1 }), with(func(l *law) { l.nothing = 0.1 }), false},
		{"equal, INVALID now and then", false, with(func(l *law) { l.invalid = 0.1 }), with(func(l *law) { l.invalid = 0.1 }), false},
		{"flat out slower", true, plainLaw(), with(func(l *law) { l.body = 1.5 }), true},
		{"flat out, nothing in half of the runs", true, plainLaw(), with(func(l *law) { l.nothing = 0.5 }), true},
		{"flat out, nothing more often", true, with(func(l *law) { l.nothing = 0.2 }), with(func(l *law) { l.nothing = 0.8 }), true},
	}
	for _, of := range []struct {
		name string
		base law
	}{{"", plainLaw()}, {", both with losses and failures", bad}, {", both INVALID, suspect and missing", with(func(l *law) { l.invalid, l.suspect, l.missing = 0.05, 0.1, 0.05 })}} {
		all = append(all,
			worse("slower"+of.name, of.base, func(l *law) { l.body = 1.4 }),
			worse("slower tail"+of.name, of.base, func(l *law) { l.tail = 1.5 }),
			worse("loses more"+of.name, of.base, func(l *law) { l.lost += 3e-4 }),
			worse("breaks promises"+of.name, of.base, func(l *law) { l.acked += 2e-4 }),
			worse("refuses"+of.name, of.base, func(l *law) { l.refused += 2e-4 }),
			worse("does not send all"+of.name, of.base, func(l *law) { l.kept = 0.7 }),
			worse("fails"+of.name, of.base, func(l *law) { l.fails += 0.5 }),
			worse("does not come"+of.name, of.base, func(l *law) { l.unresolved += 0.5 }),
			worse("slower, and its slow runs lack p99.9"+of.name, of.base, func(l *law) { l.tail, l.missing = 1.5, 0.5 }),
			worse("slower, and suspect"+of.name, of.base, func(l *law) { l.tail, l.suspect = 1.5, 1 }),
			worse("slower, and INVALID"+of.name, of.base, func(l *law) { l.body, l.invalid = 1.4, 0.3 }),
		)
	}
	return all
}

// Gates are hunted with sets of runs that are drawn from known laws. Equal sides are
// called a regression in at most one set in twenty, B that is worse passes in at most
// one in twenty, and what is undecided never passes.
//
// 2,000 sets in continuous integration, all of SIXNINES_HUNT in a night.
func TestGateHunt(t *testing.T) {
	kinds := huntedSets()
	alarms, passes, right, equal, worse := map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}
	sets := hunttest.Cases(t, 2000, 0)
	for n := range sets {
		r := rand.New(rand.NewPCG(uint64(n), 0x9a7e))
		k := kinds[n%len(kinds)]
		w := &world{r: r, messages: 100_000, between: []float64{0.004, 0.02}[r.IntN(2)], modes: r.IntN(4) == 0}
		pairs := []int{6, 8, 10, 12}[r.IntN(4)]
		o := Options{MinEffect: []float64{0, 0.1, 0.2, 0.2}[r.IntN(4)]}
		if p := [][]result.Percentile{nil, {"50", "99"}, {"50", "99", "99.9"}}[r.IntN(3)]; p != nil && !k.flat {
			o.Percentiles = p
		}
		var a, b []*result.Run
		for i := range pairs {
			w.mood += 0.01 * r.NormFloat64()
			a, b = append(a, w.runOf(fmt.Sprint("a", i), k.a, k.flat)), append(b, w.runOf(fmt.Sprint("b", i), k.b, k.flat))
		}
		c := compared(t, a, b, o)
		g := c.Gate
		if text := unlikeRows(c); text != "" {
			t.Errorf("set %d, %s: %s", n, k.name, text)
		}
		if k.worse {
			worse[k.name]++
			if g.Answer == NotWorse {
				passes[k.name]++
			}
		} else {
			equal[k.name]++
			if g.Answer == Worse {
				alarms[k.name]++
			} else if g.Answer == NotWorse {
				right[k.name]++
			}
		}
		if text := inconsistent(g, a, b, pairs); text != "" {
			t.Errorf("set %d, %s: %s: %+v", n, k.name, text, g)
		}
	}
	check := func(what string, found, of map[string]int) {
		found["all"], of["all"] = sum(found), sum(of)
		for name, n := range of {
			lo, hi, _ := stats.ProportionInterval(int64(found[name]), int64(n), 0.999)
			if found[name] > 0 {
				t.Logf("%s, %s: %d of %d, %.1f to %.1f %%", what, name, found[name], n, 100*lo, 100*hi)
			}
			if lo > 0.05 {
				t.Errorf("%s, %s: %d of %d: more than 5 %%", what, name, found[name], n)
			}
		}
	}
	check("false alarms", alarms, equal)
	check("false passes", passes, worse)
	// A gate that passes nothing would pass nothing that is worse.
	for name, n := range equal {
		t.Logf("passes, %s: %d of %d", name, right[name], n)
	}
	if n := equal["equal"]; 5*right["equal"] < n {
		t.Errorf("%d of %d equal sets pass", right["equal"], n)
	}
}

// unlikeRows names a row about which the gate and the table disagree; it is empty if they
// agree.
func unlikeRows(c *Comparison) string {
	answers := map[Outcome]Answer{Slower: Worse, Faster: NotWorse, Same: NotWorse, NotSlower: NotWorse, Undecided: Open}
	rows := []Row{}
	if c.Throughput != nil {
		rows = append(rows, *c.Throughput)
	}
	for _, m := range c.Metrics {
		rows = append(rows, m.Rows...)
	}
	for _, r := range rows {
		if want, there := answers[r.Outcome]; there && len(c.Pairs) >= MinPairs && (r.judged == nil || r.judged.Answer != want) {
			return fmt.Sprintf("p%s is %q, and the gate has %+v", r.Percentile, r.Outcome, r.judged)
		}
	}
	return ""
}

func sum(counts map[string]int) (total int) {
	for _, n := range counts {
		total += n
	}
	return total
}

// inconsistent says how a gate contradicts the runs or itself, whatever was drawn; it is empty
// if it does not.
func inconsistent(g *Gate, a, b []*result.Run, pairs int) string {
	for _, j := range g.Judged {
		if j.Answer != NotWorse && g.Answer == NotWorse {
			return "passes though something is not shown"
		}
	}
	if g.Answer == Worse && len(g.Of(Worse)) == 0 {
		return "fails for nothing"
	}
	if g.Answer != NotWorse {
		return ""
	}
	suspect, onlyB, onlyA := 0, 0, 0
	for i := range pairs {
		bad := func(r *result.Run) bool {
			s := r.Summary
			return s.Verdict.Status == result.Unstable || s.Histograms[result.DeliveryResponse].MaxAtLeast || s.Throughput != nil && s.Throughput.Received == 0
		}
		switch {
		case a[i].Summary.Verdict.Status == result.Invalid || b[i].Summary.Verdict.Status == result.Invalid:
			return "passes though a run is left out"
		case bad(b[i]) && !bad(a[i]):
			onlyB++
		case bad(a[i]) && !bad(b[i]):
			onlyA++
		}
		if len(a[i].Summary.Verdict.Limits)+len(b[i].Summary.Verdict.Limits) > 0 {
			suspect++
		}
	}
	// Enough failures of A to show that it fails more often, or none of B.
	if onlyB > 0 && math.Pow(0.5, float64(onlyA+onlyB)) > (1-Confidence)/2 {
		return "passes though B failed"
	}
	if pairs-suspect < MinPairs && len(g.Of(NotWorse)) > 0 && a[0].Header.Rate > 0 {
		return "passes on suspect figures"
	}
	return ""
}
