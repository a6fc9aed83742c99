package model

import (
	"math"
	"slices"
)

// answerToOverload says whether a run is overloaded.
type answerToOverload int

const (
	isNot answerToOverload = iota
	maybe                  // a figure is so near its limit that one reading more may decide
	is
)

// The limits of an overload.
const (
	fewestReadings = 4
	growthMatters  = 0.01 // of what was due in the last third
	cameBack       = 0.5  // of the height at the window's end
	fasterThanLoad = 1.05 // times the rate at which messages were due
	stragglers     = 0.05 // of the height
	near           = 0.03 // relative distance from a limit within which the model does not decide
)

// leastReading is the least distance of two readings, ns, and readingJitter how much earlier
// one may be.
const (
	leastReading  = 100_000_000
	readingJitter = 1_000_000
)

// readings returns the instants of the window at which waiting messages are counted: the ends
// of intervals. With intervals shorter than 100 ms it is the first end in each 100 ms, or one
// up to a millisecond earlier.
func (l *ledger) readings() (all []int64) {
	last := int64(0)
	for _, t := range l.ends() {
		if t == l.end || (t+readingJitter)/leastReading > (last+readingJitter)/leastReading {
			all, last = append(all, t), t
		}
	}
	return all
}

// ends returns the ends of the window's intervals. An interval begins where the previous one
// ends, and no interval crosses the beginning or the end of any load's window.
func (p *play) ends() (all []int64) {
	var edges []int64
	for _, x := range p.plays {
		edges = append(edges, x.from-p.from, x.from+x.end-p.from)
	}
	for t := -p.from; t < p.end; {
		next := t + p.interval
		for _, e := range edges {
			if e > t {
				next = min(next, e)
			}
		}
		if t = next; t > 0 {
			all = append(all, t)
		}
	}
	return all
}

// unstable says whether the system does not carry the load: the backlog grows and does not
// return, or a backlog that the scenario asks for was not gone at the window's end.
func (l *ledger) unstable() answerToOverload {
	if !l.paced() {
		return isNot
	}
	if c := &l.w.Consumer; c.From.IsZero() && c.Pause.For == 0 {
		return l.overload()
	} else if l.stops || c.From.Filled {
		return isNot
	}
	k, third := l.keeps(), l.end-l.end/3
	switch {
	case k.answer == is:
		return is
	case k.sooner > third: // the scenario asks for this backlog
		return k.answer
	case k.gone <= third:
		return l.overload()
	}
	return max(k.answer, min(l.overload(), maybe))
}

// overload says whether the number of messages due or in flight grows over the last third of
// the window and does not return after it.
func (l *ledger) overload() answerToOverload {
	all := l.readings()
	from := l.end - l.end/3
	if n := len(all) - fewestReadings; n >= 0 {
		from = min(from, all[n])
	}
	var x, y []float64
	began := int64(0)
	for _, t := range all {
		if t < from {
			began = t
			continue
		}
		x, y = append(x, float64(t)/1e9), append(y, l.waiting(t))
	}
	if len(x) < fewestReadings {
		return isNot
	}
	due := 0.0
	for _, m := range l.all {
		if m.due >= began && m.due < l.end {
			due++
		}
	}
	slope, low := line(x, y)
	span := x[len(x)-1] - x[0]
	grows := both(above(slope*span, max(growthMatters*due, 1)), above(low, 0))
	if low > -near*math.Abs(slope) && low < near*math.Abs(slope) {
		grows = min(grows, maybe)
		if low <= 0 && slope*span > growthMatters*due*(1-near) {
			grows = maybe
		}
	}
	if grows == isNot {
		return isNot
	}
	// If no message comes through any more, that is a loss and no overload.
	last := l.lastOfFirst()
	if last < from {
		return isNot
	}
	if last < from+2*(all[len(all)-1]-all[max(len(all)-2, 0)]) {
		grows = maybe
	}
	peak := y[len(y)-1]
	if grows = both(grows, above(peak, max(growthMatters*due, 1))); grows == isNot {
		return isNot
	}
	lowest, speed := peak, peak/float64(max(l.through-l.end, 1))
	for t := l.end; t <= l.closed; t += 1_000_000 {
		left := l.waiting(t)
		lowest = min(lowest, left)
		if d := max(t-l.end, 1); left <= stragglers*peak && 2*d <= l.through-l.end {
			speed = max(speed, (peak-left)/float64(d))
		}
	}
	load := due / max(x[len(x)-1]-float64(began)/1e9, 1e-9)
	back := both(above(max(cameBack*peak, y[0]), lowest), above(speed*1e9, fasterThanLoad*load))
	switch {
	case back == is:
		return isNot
	case back == maybe:
		return maybe
	}
	return grows
}

// lastOfFirst returns when the last measured message was delivered, or, without consumers,
// answered.
func (l *ledger) lastOfFirst() (last int64) {
	for i, m := range l.measured {
		f := &l.flights[i]
		last = max(last, f.whole)
		if len(l.layout.groups) == 0 && m.answer == acknowledged && m.at <= l.leaves {
			last = max(last, m.at)
		}
	}
	return last
}

// both combines two conditions that must both hold.
func both(a, b answerToOverload) answerToOverload { return min(a, b) }

// above says whether a is above b; maybe if they are within near of each other.
func above(a, b float64) answerToOverload {
	switch margin := near * max(math.Abs(a), math.Abs(b)); {
	case math.Abs(a-b) <= margin:
		return maybe
	case a > b:
		return is
	}
	return isNot
}

// waiting returns how many measured messages were due or in flight at an instant: those not
// sent yet, plus the unacknowledged or the undelivered ones, whichever are more. Messages
// known to be lost are subtracted evenly over the 100 ms in which they were due, and refused
// or given-up ones from the instant at which that happened.
func (l *ledger) waiting(t int64) float64 {
	var unsentYet, unanswered, undelivered, lost float64
	for i, m := range l.measured {
		switch {
		case m.due >= t:
			continue
		case m.answer == unsent || m.sent > t:
			unsentYet++
			continue
		case m.answer == atOnce:
			continue
		}
		f := &l.flights[i]
		if f.answered > t {
			unanswered++
		}
		if f.fan > 0 {
			for _, at := range f.came {
				if at > t && f.ended > t {
					undelivered += 1 / f.fan
				}
			}
		}
	}
	for i, m := range l.measured {
		if f := &l.flights[i]; f.lost > 0 {
			slot := m.due / slotLength * slotLength
			lost += f.lost / max(f.fan, 1) * min(1, max(0, float64(t-slot)/slotLength))
		}
	}
	return max(unsentYet+max(unanswered, undelivered)-lost, 0)
}

// flight says when a message was no longer in flight.
type flight struct {
	fan      float64
	answered int64   // when the broker had answered, 0 without acknowledgements
	ended    int64   // when it was refused or given up, which ends it for all groups
	came     []int64 // when each group got it, damaged or not
	whole    int64   // when the last group got it undamaged: for a latency, damaged ones never came
	lost     float64 // number of groups that certainly lost it
}

// follow computes the flight of each measured message.
func (l *ledger) follow() {
	for _, m := range l.all {
		if m.due < 0 || m.due >= l.end {
			continue
		}
		f := flight{ended: never}
		if l.acknowledges() {
			f.answered = m.at
			if m.answer == nacked || m.answer == gaveUp {
				f.ended = m.at
			}
		}
		topic := l.layout.streams[m.stream].topic
		for g := range l.layout.groups {
			if !l.layout.groups[g].has(topic) {
				continue
			}
			f.fan++
			at := int64(never)
			if r := l.had(m, g, false); r != nil {
				at = r.at
			}
			f.came = append(f.came, at)
			gone := at == never && (m.number < l.newest[m.stream*len(l.layout.groups)+g] && !l.stillComing(g) || l.silent(m.stream, g) && l.quiet(g))
			if gone && f.ended == never && (m.answer == acknowledged || m.answer == handedOver) {
				f.lost++
			}
			if r := l.had(m, g, true); r != nil {
				f.whole = max(f.whole, r.at)
			}
		}
		l.through = max(l.through, f.whole)
		if l.acknowledges() && m.answer == acknowledged && m.at <= l.leaves {
			l.through = max(l.through, m.at)
		}
		l.measured, l.flights = append(l.measured, m), append(l.flights, f)
	}
}

// line fits a line by least squares: its slope, and the lower end of the 95 % interval of
// that by Student's t.
func line(x, y []float64) (slope, low float64) {
	n := float64(len(x))
	var mx, my, sxx, sxy float64
	for i := range x {
		mx, my = mx+x[i]/n, my+y[i]/n
	}
	for i := range x {
		sxx += (x[i] - mx) * (x[i] - mx)
		sxy += (x[i] - mx) * (y[i] - my)
	}
	slope = sxy / sxx
	rest := 0.0
	for i := range x {
		d := y[i] - my - slope*(x[i]-mx)
		rest += d * d
	}
	return slope, slope - student(n-2)*math.Sqrt(rest/(n-2)/sxx)
}

// student is the 97.5th percentile of Student's t, found by integrating its density.
func student(degrees float64) float64 {
	a, _ := math.Lgamma((degrees + 1) / 2)
	b, _ := math.Lgamma(degrees / 2)
	scale := math.Exp(a-b) / math.Sqrt(degrees*math.Pi)
	sum := 0.0
	const step = 0.001
	for t := 0.0; ; t += step {
		if sum >= 0.475 {
			return t
		}
		mid := t + step/2
		sum += step * scale * math.Pow(1+mid*mid/degrees, -(degrees+1)/2)
	}
}

// statuses returns the statuses that the verdict may have.
func (l *ledger) statuses() []string {
	if end := int64(l.w.Consumer.Pause.At + l.w.Consumer.Pause.For); l.at.Interrupted > 0 && l.w.Consumer.Pause.For > 0 && end >= l.end {
		return []string{"SUSPECT"} // the run does not show whether consumers keep up
	}
	switch l.unstable() {
	case is:
		return []string{"UNSTABLE"}
	case maybe:
		return []string{"UNSTABLE", "VALID", "SUSPECT"}
	}
	if l.closedLoop() && l.out.OwnLag {
		return nil // own lag may be the larger part of a latency
	}
	if l.short() {
		return []string{"VALID"}
	}
	return []string{"VALID", "SUSPECT"}
}

// short reports whether a run has too few messages for its steadiness to be assessed, and no
// other reason to be suspect.
func (l *ledger) short() bool {
	const stretches, each = 20, 24
	most := int64(0)
	for name, x := range l.out.Latencies {
		if !slices.Contains([]string{"lag.own", "lag.blocked"}, name) {
			most = max(most, int64(len(x.Values))+x.Refused)
		}
	}
	return most < stretches*each && l.out.Counters["not_sent"] == 0 && len(l.readings()) > fewestReadings
}
