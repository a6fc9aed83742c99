package judge

import (
	"fmt"
	"strconv"

	"sixnines/internal/histograms"
	"sixnines/internal/spell"
	"sixnines/internal/stats"
	"sixnines/result"
	"sixnines/scenario"
)

// Sequence is the 95 % interval of a percentile that stays valid whenever it is read and
// for whatever reason the run stops: the wider of the one that assumes independent messages
// ([stats.SequentialRanks], exact) and the one by stretches of the run
// ([stats.SequentialBlocks], approximate). Values are ns.
type Sequence struct {
	until     scenario.Until
	value     int64
	low, high int64 // both 0: no interval
	atLeast   bool  // value is a lower bound
	open      bool  // high is a lower bound
	refused   bool  // the rank is a refused message's
	// lowRefused and openRefused say that the lower or upper end of the interval is a
	// refused message's. If the lower one is, there is no interval.
	lowRefused, openRefused bool

	na string // why the interval by stretches is missing; empty: it exists
}

// SequenceOf computes the interval from a run so far. end is the end of the window, or an
// instant within it, in ns from its start. pending is the number of messages not yet
// resolved: each, with all its deliveries, counts as slower than every resolved one. The
// run needs only the metric that u names, its counters and its header.
func SequenceOf(run *result.Run, u scenario.Until, end, pending int64) Sequence {
	s := Sequence{until: u, na: "nothing was measured"}
	m := result.Metric(u.Metric)
	x := run.Metrics[m]
	if x == nil || count(x) == 0 || end <= 0 {
		return s
	}
	if pending > 0 {
		if c := run.Counters; perGroup(m) && c.Expected > c.Sent && c.Sent > 0 {
			pending = scale(pending, c.Expected, c.Sent, 0)
		}
		x = x.WithPending(pending)
	}
	o, p := newOrder(x), stats.Fraction(u.Percent)
	samples := Samples(m, x, run.Counters)
	rank := stats.Rank(o.n, u.Percent)
	s.value, s.atLeast = o.value(rank)
	s.refused = o.isRefused(rank)
	lo, hi, ok := stats.SequentialRanks(samples, p, confidence)
	if !ok {
		s.na = fmt.Sprintf("the run has %s and needs at least %s", spell.Plural(samples, "message"), spell.Count(stats.MinSequential(p, confidence)))
		return s
	}
	if s.lowRefused, s.openRefused = o.refusedEnds(lo, hi, samples); s.lowRefused {
		s.na = "refused messages reach its lower end"
		return s
	}
	s.low, s.high, s.open = o.interval(lo, hi, samples, s.value)
	low, high, na := blockSequence(run, m, x, p, s, end)
	if s.na = na; na == "" {
		s.low, s.high = max(min(s.low, low), x.Min), max(s.high, min(high, x.Max))
	}
	return s
}

// blockSequence returns the interval by stretches of the run, ns; na says why it is missing.
func blockSequence(run *result.Run, m result.Metric, x *result.Merged, p float64, s Sequence, end int64) (low, high int64, na string) {
	blocks, each := run.Blocks(m)
	if blocks == nil {
		return 0, 0, "the file keeps no intervals of this metric"
	}
	switch {
	case s.openRefused:
		return 0, 0, refusedReach
	case s.open || s.atLeast:
		return 0, 0, unresolvedReach
	}
	b := blockCounts(blocks)
	chunk, na := b.chunk(p, s.value, stats.Autocorrelation(b.shares(histograms.BlockValueOf(s.value))), x.Slots, end, run.Header.Slot)
	if na != "" {
		return 0, 0, na
	}
	// The earliest look with a result has leastBlocks intervals; age is how many times that.
	age := float64(len(b)*each) / leastBlocks
	lo, hi, ok := stats.SequentialBlocks(b, p, confidence, chunk, histograms.BlockValues, censored(x)+refused(x), age)
	if !ok {
		return 0, 0, "the run is too short for its stretches, or unresolved or refused messages reach its interval"
	}
	low, high = blockEdges(false, lo, hi) // blocks of this metric have no coarse part
	return low, high, ""
}

// bounded reports whether the interval exists.
func (s Sequence) bounded() bool { return s.low != 0 || s.high != 0 }

// width is the distance, ns, from the figure to the farther end of the interval.
func (s Sequence) width() int64 { return max(s.high-s.value, s.value-s.low) }

// Narrow reports whether the percentile is known as exactly as the scenario asks.
func (s Sequence) Narrow() bool {
	return s.bounded() && !s.open && !s.atLeast && s.na == "" && float64(s.width()) <= s.until.Limit(s.value)
}

// Width says how exactly the percentile is known, as text: "±7.3 %", "±120 µs"; it is
// empty if the interval is missing or has no upper end.
func (s Sequence) Width() string {
	switch {
	case !s.bounded() || s.open || s.atLeast || s.na != "":
		return ""
	case s.until.Share > 0:
		return "±" + strconv.FormatFloat(100*float64(s.width())/float64(max(s.value, 1)), 'g', 2, 64) + " %"
	}
	return "±" + span(s.width())
}

// setUntil says how exactly the percentile is known that the run waited for, nil if it
// waited for none. In the summary it replaces the interval that assumes a fixed length
// with the sequential one.
func setUntil(run *result.Run, in Inputs, s *result.Summary) *result.Until {
	if run.Header.Until == "" {
		return nil
	}
	found := &result.Until{Text: run.Header.Until}
	switch {
	case in.CutShort:
		found.Ended = result.EndedCutShort
	case in.Interrupted:
		found.Ended = result.EndedInterrupted
	case in.End >= int64(run.Header.Window):
		found.Ended = result.EndedAtMost
	default:
		found.Ended = result.EndedNarrow
	}
	u, err := scenario.ParseUntil(run.Header.Until)
	if err != nil { // no run is started with it
		found.Found = "cannot be read: " + err.Error()
		return found
	}
	q := SequenceOf(run, u, in.End, 0)
	found.Value, found.Low, found.High, found.Open = q.value, q.low, q.high, q.open
	found.Refused, found.OpenRefused, found.LowRefused = q.refused, q.openRefused, q.lowRefused
	found.Narrow, found.Independent = q.Narrow(), q.na
	found.Found = q.text(found.Ended, in.End)
	if d := s.Histograms[result.Metric(u.Metric)]; d != nil {
		q.replace(d)
	}
	return found
}

// replace puts the interval into a distribution, in place of those that assume a fixed
// length of the run.
func (s Sequence) replace(d *result.Distribution) {
	name := result.Percentile(s.until.Percentile())
	f, ok := d.At(name)
	if !ok {
		return
	}
	f.Interval, f.Blocks, f.BlocksNA = nil, nil, ""
	if s.bounded() {
		f.Interval = &result.Bounds{Low: s.low, High: s.high, Open: s.open, OpenRefused: s.openRefused, Sequential: true}
	}
	d.Figures[name] = f
}

// text is what was found, one line.
func (s Sequence) text(ended string, end int64) string {
	what := fmt.Sprintf("%s p%s", s.until.Metric, s.until.Percentile())
	known := fmt.Sprintf("no interval of %s is known: %s", what, s.na)
	if s.bounded() {
		known = fmt.Sprintf("%s is %s, and with 95 %% confidence %s to %s, whenever the run ended", what, orRefused(s.refused, s.value, s.atLeast), span(s.low), orRefused(s.openRefused, s.high, s.open))
		if w := s.Width(); w != "" {
			known += " (" + w + ")"
		}
		if s.na != "" {
			known += ", as if messages were independent (" + s.na + ")"
		}
	}
	by, but := "ended by --until", "; messages that came later have widened the interval again"
	switch ended {
	case result.EndedAtMost:
		by, but = "ended by --at-most", ", before it was known that precisely"
	case result.EndedInterrupted:
		by, but = "interrupted", ", before it was known that precisely"
	case result.EndedCutShort:
		by, but = "cut short", ", before it was known that precisely"
	}
	if s.Narrow() {
		but = ""
	}
	return by + " after " + span(end) + but + ": " + known
}

// until: how a run ended that was planned to last until a percentile was known.
func until(e *evidence) []result.Reason {
	u := e.summary.Until
	if u == nil {
		return nil
	}
	return single(result.Reason{Status: result.Valid, Code: result.ReasonUntil, Found: "asked for " + u.Text,
		Means: u.Found + ". The intervals of other percentiles assume a length that was fixed in advance"})
}
