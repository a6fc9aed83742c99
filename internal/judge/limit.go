package judge

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"sixnines/internal/spell"
	"sixnines/internal/stats"
	"sixnines/result"
)

// Thresholds of the generator's own capacity, as shares, 0 to 1.
const (
	// pacerBusy is the busy share of a second above which a pacer is at its limit: in a
	// queue with so busy a server the mean wait is more than twice the service time, and
	// it grows without bound from there (M/M/1: ρ/(1−ρ)). The same holds of the reader of a
	// connection.
	pacerBusy = 0.7
	// readerFull is the busy share of a second from which a backlog may be the reader's: what
	// has time to spare reads as fast as messages come.
	readerFull = 0.9
)

// stretch is a part of the window, from start to end, in ns.
type stretch struct{ start, end int64 }

// amount is a stretch of the window with a sum (or mean) of some quantity over it.
type amount struct {
	stretch
	sum float64
}

// wholeSeconds returns the seconds of the window (or its intervals, if these are longer), each
// with the sum of a quantity over its intervals. A second with an interval whose quantity is
// unknown is left out.
func (e *evidence) wholeSeconds(of func(*result.Point) (float64, bool)) (all []amount) {
	var a amount
	for _, p := range e.measure {
		v, ok := of(p)
		if !ok {
			a = amount{stretch: stretch{p.End, p.End}}
			continue
		}
		if a.end != p.Start {
			a = amount{stretch: stretch{p.Start, p.Start}}
		}
		a.sum, a.end = a.sum+v, p.End
		if float64(a.end-a.start) >= wholeSecond {
			all = append(all, a)
			a = amount{stretch: stretch{p.End, p.End}}
		}
	}
	return all
}

// busySeconds returns the seconds of the window in which a vital, as a share of most, was above a limit,
// and the highest such share.
func (e *evidence) busySeconds(v result.Vital, most, limit float64) (over []stretch, highest float64) {
	for _, a := range e.wholeSeconds(func(p *result.Point) (float64, bool) {
		used, ok := p.Vitals[v]
		return used / most * float64(p.End-p.Start), ok
	}) {
		if share := a.sum / float64(a.end-a.start); share > limit {
			over, highest = append(over, a.stretch), max(highest, share)
		}
	}
	return over, highest
}

// busiest is a part of the generator that was at its limit: the seconds in which it was busy for a share
// above limit, the highest share of any, and what it is.
type busiest struct {
	over        []stretch
	most, limit float64
	who         string
}

// atLimit returns the seconds of the window in which a pacer, or the reader of a connection, was busy for
// more than pacerBusy. It names what was busier.
func (e *evidence) atLimit() busiest {
	b := busiest{who: "sending thread", limit: pacerBusy}
	b.over, b.most = e.busySeconds(result.VitalPacerBusy, 1, pacerBusy)
	over, most := e.busySeconds(result.VitalReaderBusy, 1, pacerBusy)
	b.over = joinStretches(append(b.over, over...))
	if most > b.most {
		b.most, b.who = most, "reader of a connection"
	}
	return b
}

// joinStretches returns what the stretches cover, in order and without overlaps. It changes all.
func joinStretches(all []stretch) []stretch {
	slices.SortFunc(all, func(a, b stretch) int { return cmp.Compare(a.start, b.start) })
	joined := all[:0]
	for _, s := range all {
		if n := len(joined); n > 0 && s.start < joined[n-1].end {
			joined[n-1].end = max(joined[n-1].end, s.end)
			continue
		}
		joined = append(joined, s)
	}
	return joined
}

// within returns the share, 0 to 1, of [from, to] that the stretches cover.
func within(over []stretch, from, to int64) float64 {
	var sum int64
	for _, s := range over {
		sum += max(min(s.end, to)-max(s.start, from), 0)
	}
	return float64(sum) / float64(max(to-from, 1))
}

// dueWithin returns the share, 0 to 1, of the window's messages that were due in the stretches.
// It differs from the share of time if the load is not constant.
func (e *evidence) dueWithin(over []stretch) float64 {
	var due, all float64
	for _, p := range e.measure {
		n := float64(p.Counters.Scheduled)
		due, all = due+n*within(over, p.Start, p.End), all+n
	}
	return due / max(all, 1)
}

// text says that the generator was at its limit in a share of a part of the run.
func (b *busiest) text(share float64, part string) string {
	return fmt.Sprintf("the generator was at its limit: in %s of %s its busiest %s was busy for more than %s of the time, up to %s",
		spell.Share(share), part, b.who, spell.Share(b.limit), spell.Share(b.most))
}

// ByGenerator reports whether a reason lowers the verdict because of the generator or its
// machine: figures that such a reason limits say nothing about the system under test.
func ByGenerator(r result.Reason) bool {
	return r.Status != result.Valid && r.Code.Properties().By.OnGeneratorSide()
}

// Overloads reports whether an UNSTABLE run shows nothing about the system under test:
// the backlog was the generator's own, or the generator used nearly all processors throughout, so
// that its messages, and a broker on the same machine, waited for them.
func Overloads(v result.Verdict) bool {
	return slices.ContainsFunc(v.Reasons, func(r result.Reason) bool {
		return ByGenerator(r) && (r.Status == result.Unstable || r.Code == result.ReasonCPU && r.Percentile == "")
	})
}

// generatorLimit: in some second the busiest sending thread, or the busiest reader, was above
// pacerBusy, so messages due then waited for the generator. The finding is left out if backlogGrows already reports
// it as the cause of a backlog.
func generatorLimit(e *evidence) []result.Reason {
	b := e.atLimit()
	if len(b.over) == 0 || slices.ContainsFunc(backlogGrows(e), func(r result.Reason) bool { return r.Code == result.ReasonGeneratorLimit }) {
		return nil
	}
	share := within(b.over, 0, e.in.End) * float64(e.in.End) / e.window()
	return e.suspectFrom(max(share, e.dueWithin(b.over)), result.Reason{Code: result.ReasonGeneratorLimit, Found: b.text(share, "the window"), Means: "messages that were due then waited for it"})
}

// generatorBehind is the finding that a backlog growing at the end of the window is the
// generator's own: messages due wait to be sent, while the number in flight at the broker
// does not grow, or what was delivered waits to be read. It is nil if that is not so. x are
// instants, s; flight is the number of messages in flight at each; due is the number of
// messages due between them.
func (e *evidence) generatorBehind(x, flight []float64, due int64) []result.Reason {
	b := busiest{who: "reader of a connection", limit: readerFull}
	from, to := int64(x[0]*1e9), int64(x[len(x)-1]*1e9)
	const part = "the last third of the window"
	r := result.Reason{Status: result.Unstable, Code: result.ReasonGeneratorLimit, Brief: "the generator is at its limit"}
	if b.over, b.most = e.busySeconds(result.VitalReaderBusy, 1, readerFull); within(b.over, from, to) >= 0.5 {
		r.Found = b.text(within(b.over, from, to), part)
		r.Means = "it could not keep up with the deliveries: what came waited to be read, here, in the network and at the broker, and it never caught up; the percentiles depend on the length of the run and say nothing about the broker"
		return single(r)
	}
	b.who, b.limit = "sending thread", pacerBusy
	b.over, b.most = e.busySeconds(result.VitalPacerBusy, 1, pacerBusy)
	share := within(b.over, from, to)
	if share < 0.5 {
		return nil
	}
	line, ok := stats.FitLine(x, flight)
	if !ok {
		return nil
	}
	growth := line.Slope * (x[len(x)-1] - x[0])
	if lo, _ := line.SlopeInterval(confidence); lo > 0 && growth > max(backlogGrowth*float64(due), 1) {
		return nil // the broker falls behind as well
	}
	if share, ok := e.carried(); ok {
		r.Brief += " and sent " + spell.Share(share) + " of the asked rate"
	}
	r.Found = b.text(share, part)
	r.Means = "it could not keep up with the rate: messages waited to be sent and it never caught up, while the number in flight at the broker did not grow; the percentiles depend on the length of the run and say nothing about the broker"
	return single(r)
}

// aboveLimit: the schedule was faster than this machine's generator was ever measured to send
// in time. This is a note: own lag and the use of the sending threads show what happened in
// this run.
func aboveLimit(e *evidence) []result.Reason {
	l := e.run.Header.Limit
	if l == nil || !e.paced() {
		return nil
	}
	known, what := l.Rate, "up to which this machine's generator sent on time"
	if known == 0 {
		known, what = l.Above, "at which this machine's generator did not send on time"
	} else if l.Above == 0 {
		return nil // no rate is known to be too high
	}
	var over []stretch
	due, length := 0.0, 0.0 // messages and s, over all of these
	for _, a := range e.wholeSeconds(func(p *result.Point) (float64, bool) { return float64(p.Counters.Scheduled), true }) {
		seconds := float64(a.end-a.start) / 1e9
		if (a.sum-1)/seconds > known { // one message more at the end of a second is not a higher rate
			over, due, length = append(over, a.stretch), due+a.sum, length+seconds
		}
	}
	if len(over) == 0 {
		return nil
	}
	disturbed := ""
	if l.Disturbed != "" {
		disturbed = ", while " + l.Disturbed
	}
	return note(result.ReasonAboveLimit, fmt.Sprintf(
		"in %s of the window the schedule asked for %s, above the %s %s (%s, %s, a broker that does nothing; measured %s%s; sixnines selftest --only limit measures it again): own lag and how busy the sending threads were show the effect on this run",
		spell.Share(within(over, 0, e.in.End)), spell.Rate(math.Round(due/length)), spell.Rate(math.Round(known)), what, spell.Size(l.Size), spell.Plural(int64(l.Connections), "connection"), l.At.UTC().Format("2006-01-02 15:04 UTC"), disturbed))
}
