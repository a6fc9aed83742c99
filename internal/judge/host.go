package judge

import (
	"fmt"

	"sixnines/internal/spell"
	"sixnines/internal/stats"
	"sixnines/result"
)

// Thresholds of disturbances by the machine, as shares, 0 to 1. They follow
// docs/method.md, section 8.1: steal above 0.5 %, any throttling and any swapping in make
// a run suspect; processor use above 70 % is a note.
const (
	stealSuspect    = 0.005
	stealInvalid    = 0.05
	throttleInvalid = 0.01
	cpuNote         = 0.7
	cpuSuspect      = 0.9
	// collecting is the share of the processors' time in Go's collections from which a note
	// says so. The collector is held for the first minute and then runs about once a minute:
	// so much is a heap that is collected again and again.
	collecting = 0.1
)

// suspended: the machine was suspended. Clocks that count only awake time then disagree
// with those that count all time.
func suspended(e *evidence) []result.Reason {
	ns, _ := sum(e.timed, result.VitalHostSuspended)
	if ns <= 0 {
		return nil
	}
	return single(result.Reason{Status: result.Invalid, Code: result.ReasonSuspended, Found: fmt.Sprintf("the machine was suspended for %s during the run", span(int64(ns)))})
}

// throttled: a processor quota paused the generator. Any throttling makes the run
// suspect; above 1 % of the processors' time it makes it invalid where it can affect every
// percentile. The reported time is summed over processors, so it is an upper bound of the
// time of the window that was throttled.
func throttled(e *evidence) []result.Reason {
	periods, _ := sum(e.timed, result.VitalCgroupThrottled)
	ns, _ := sum(e.timed, result.VitalCgroupThrottleTime)
	if periods <= 0 && ns <= 0 {
		return nil
	}
	share := ns / (e.window() * max(e.cores, 1))
	r := result.Reason{Status: result.Suspect, Code: result.ReasonThrottled, Share: min(ns/e.window(), 1), Brief: "throttled for " + span(int64(ns)),
		Found: fmt.Sprintf("a processor quota (cgroup) throttled the generator in %s, for %s in total, %s of its processor time", spell.Plural(int64(periods), "period"), span(int64(ns)), spell.Share(share))}
	switch {
	case ns <= 0: // the system does not report the duration
		r.Brief = ""
		return single(r)
	case share > throttleInvalid:
		return e.invalidIfAll(ns/e.window(), r)
	}
	return e.suspectFrom(ns/e.window(), r)
}

// steal: the hypervisor gave processor time to others. Steal on any processor can delay a
// message, so the sum over all processors counts. Above 5 % steal makes the run invalid
// where it can affect every percentile. Time is stolen only while a processor is in
// demand, and each message needs one, so it counts at least as its share of the time in
// which processors were in demand.
func steal(e *evidence) []result.Reason {
	share, _ := mean(e.measure, result.VitalHostSteal)
	if share <= stealSuspect {
		return nil
	}
	r := result.Reason{Status: result.Suspect, Code: result.ReasonSteal, Brief: spell.Share(share) + " steal",
		Found: fmt.Sprintf("the hypervisor gave %s of the machine's processor time to others (limit %s)", spell.Share(share), spell.Share(stealSuspect))}
	stolen, told := sum(e.measure, result.VitalHostStealTime)
	r.Share = min(stolen*1e9/e.window(), 1)
	switch {
	case !told && share > stealInvalid:
		r.Status = result.Invalid
		return single(r)
	case !told:
		return single(r)
	case share > stealInvalid:
		met := stolen * 1e9 / e.window()
		if busy, ok := mean(e.measure, result.VitalHostBusy); ok {
			met = max(met, share/(share+busy))
		}
		return e.invalidIfAll(met, r)
	}
	return e.suspectFrom(stolen*1e9/e.window(), r)
}

// swap: memory pages were read back from disk during the window or the drain.
func swap(e *evidence) []result.Reason {
	pages, _ := sum(e.timed, result.VitalHostSwapIn)
	if pages <= 0 {
		return nil
	}
	return single(result.Reason{Status: result.Suspect, Code: result.ReasonSwap, Found: spell.Plural(int64(pages), "page") + " swapped in from disk during the run"})
}

// starved: the broker's threads waited so long for this machine's processors that messages
// stayed in the broker several times as long as otherwise, see starvedShare. A load that is
// not paced takes all processors, and the broker then waits by design.
func starved(e *evidence) []result.Reason {
	share := e.starvedShare()
	if !e.paced() || share == 0 {
		return nil
	}
	return e.suspectFrom(e.mostDue(share), result.Reason{Code: result.ReasonStarved, Brief: spell.Share(share) + " without a processor for the broker", Found: fmt.Sprintf(
		"for %s of the window the broker's threads waited so long for this machine's processors that its queues took three times as long, or that messages took four times as long to pass through it",
		spell.Share(share))})
}

// starvedShare returns the share, 0 to 1, of the window in which the broker was starved: the
// larger of two measures. One is samples of a tenth of a second, in which messages that wait in
// the broker wait three times as long. The other is whole seconds, which are long enough for a
// mean over all messages, waiting or not: there a message is in the broker four times as long.
func (e *evidence) starvedShare() float64 {
	var looks, seconds int64
	for _, p := range union(e.run.Pauses, result.PauseStarved) {
		looks += max(0, min(p.End, e.in.End)-max(p.Start, 0))
	}
	for _, s := range e.slowedSeconds() {
		seconds += s.end - s.start
	}
	return float64(max(looks, seconds)) / e.window()
}

// slowedFrom is how many times as long messages must be in the broker, because its threads
// waited for processors, for the broker to count as starved in that second. With a plain C
// client on the same two processors the factor was 1.5 to 2.5 (20,000/s over 16 connections),
// and 3.0 and 3.2 where the C client was slow itself. The p50 of Sixnines was 0.9 to 1.5 times
// the C client's at factors of 2.6 to 3.6, and more than three times at 4.4 and above.
const slowedFrom = 4

// slowedSeconds returns the seconds of the window in which the factor was slowedFrom or more.
func (e *evidence) slowedSeconds() (found []stretch) {
	ran, waited, busy := e.shares(result.VitalBrokerBusy, knowsBroker), e.shares(result.VitalBrokerWait, knowsBroker), e.shares(result.VitalHostBusy, knowsBroker)
	for i, a := range ran {
		if e.brokerDelay(a.sum, waited[i].sum, busy[i].sum) >= slowedFrom {
			found = append(found, a.stretch)
		}
	}
	return found
}

// shares returns the means of a vital that is a share, one for each second of the window for which
// at least half is known, or one for the window if it is shorter. Some intervals of 0.1 s have
// no sample of the broker; the next interval then has it.
func (e *evidence) shares(vital result.Vital, known func(*result.Point) bool) (all []amount) {
	var a amount
	var seen float64
	for _, p := range e.measure {
		if a.end != p.Start || a.end == a.start {
			a, seen = amount{stretch: stretch{p.Start, p.Start}}, 0
		}
		a.end = p.End
		if length := float64(p.End - p.Start); known(p) {
			a.sum, seen = a.sum+p.Vitals[vital]*length, seen+length
		}
		length := float64(a.end - a.start)
		if length < min(wholeSecond, e.window()) {
			continue
		}
		if seen >= length/2 {
			a.sum /= seen
			all = append(all, a)
		}
		a = amount{}
	}
	return all
}

// knowsBroker reports whether an interval says how long the broker's threads ran and waited,
// and how busy the machine's processors were.
func knowsBroker(p *result.Point) bool {
	for _, name := range []result.Vital{result.VitalBrokerBusy, result.VitalBrokerWait, result.VitalHostBusy} {
		if _, ok := p.Vitals[name]; !ok {
			return false
		}
	}
	return true
}

// inUse estimates the share, 0 to 1, in use of the processors on which the generator may run, from
// busy, the machine's share. It assumes that everything runs on these processors.
func (e *evidence) inUse(busy float64) float64 { return min(1, busy*e.outside) }

// brokerDelay returns how many times as long messages were in the broker because its threads
// waited for processors, at least 1. ran and waited are shares of the time of its typical
// thread, busy is the share of the machine's processors in use. The result is 1 where more than
// half of the processors were idle: a thread then waits only until a processor wakes up, as it
// would on a machine that the broker has to itself.
func (e *evidence) brokerDelay(ran, waited, busy float64) float64 {
	if e.inUse(busy) < 0.5 {
		return 1
	}
	return stats.SojournDelay(ran, waited)
}

// unseenBusy is the share of processor time in use from which on a broker on the same
// processors, whose threads cannot be watched, may have waited for one. In the runs behind
// slowedFrom the share was 0.64 to 0.83 with the C client. With Sixnines it was 0.76 to 0.86
// where p50 was up to 1.7 times the C client's, and 0.85 to 0.92 where p50 was more than twice
// as long.
const unseenBusy = 0.85

// unseen: the broker shares this machine's processors, they were busy, and whether the broker
// waited for them is unknown, because its processes belong to another user or a container.
func unseen(e *evidence) []result.Reason {
	if !e.run.Header.SameHost || !e.paced() {
		return nil
	}
	why := e.run.Header.NotWatched(result.VitalBrokerWait)
	if why == "" {
		return nil
	}
	var busy int64
	for _, a := range e.shares(result.VitalHostBusy, func(p *result.Point) bool { _, ok := p.Vitals[result.VitalHostBusy]; return ok }) {
		if e.inUse(a.sum) >= unseenBusy {
			busy += a.end - a.start
		}
	}
	if busy == 0 {
		return nil
	}
	share := float64(busy) / e.window()
	return e.suspectFrom(e.mostDue(share), result.Reason{Code: result.ReasonUnseen, Brief: "processors busy, broker not observed", Found: fmt.Sprintf(
		"in %s of the window %s or more of the processors that the generator may use were busy; the broker shares them, and how long its threads waited for one is not known (%s)",
		spell.Share(share), spell.Share(unseenBusy), why)})
}

// processors: the generator used most of the processors that it may use in some seconds: a load that
// steps, or a burst, may have its tail there and use little on average. In an unpaced or
// consume run that is a note: the generator may be the limit there.
func processors(e *evidence) []result.Reason {
	used, ok := mean(e.measure, result.VitalProcessCPU)
	if !ok || e.cores == 0 {
		return nil
	}
	share := used / e.cores
	r := result.Reason{Status: result.Valid, Code: result.ReasonCPU, Found: fmt.Sprintf("the generator used %s of the %.0f processors it may use", spell.Share(share), e.cores)}
	over, most := e.busySeconds(result.VitalProcessCPU, e.cores, cpuSuspect)
	switch flatOut := e.run.Header.Mode == result.ModeFlatOut || e.run.Header.Mode == result.ModeConsume; {
	case flatOut && share > cpuNote:
		r.Means = "the throughput may be the generator's limit, not the broker's"
	case flatOut:
		return nil
	case len(over) > 0:
		part := within(over, 0, e.in.End) * float64(e.in.End) / e.window()
		r.Found = fmt.Sprintf("in %s of the window the generator used more than %s of the %.0f processors it may use, up to %s", spell.Share(part), spell.Share(cpuSuspect), e.cores, spell.Share(most))
		r.Means = "messages that were due then waited for it"
		return e.suspectFrom(max(part, e.dueWithin(over)), r)
	case share > cpuSuspect: // of a window shorter than a second
		r.Status, r.Means = result.Suspect, "messages waited for it"
	case share > cpuNote:
		r.Means = "near its limit the generator's own lag grows"
	default:
		return nil
	}
	return single(r)
}

// collector: Go's garbage collector paused the generator for at least 1 % of the window,
// or, as a note, one of its pauses was longer than the response p99, or it took a tenth of
// the processors without a pause.
func collector(e *evidence) []result.Reason {
	all, _ := sum(e.measure, result.VitalGoGCPauseTotal)
	longest, _ := highest(e.measure, result.VitalGoGCPauseMax)
	share := all / e.window()
	if share >= 0.01 {
		return e.suspectFrom(share, result.Reason{Code: result.ReasonGC, Share: e.collected(all), Brief: spell.Share(share) + " garbage collection",
			Found: fmt.Sprintf("garbage collection paused the generator for %s, %s of the window", span(int64(all)), spell.Share(share))})
	}
	if m, p99, ok := e.firstP99(); ok && longest > float64(p99) {
		return note(result.ReasonGC, fmt.Sprintf("the longest pause for garbage collection, %s, exceeds %s p99 (%s); such pauses took %s of the window", span(int64(longest)), m, span(p99), spell.Share(share)))
	}
	used, _ := sum(e.measure, result.VitalGoCPUGC)
	if of, ok := sum(e.measure, result.VitalGoCPUTotal); ok && of > 0 && used/of >= collecting {
		return note(result.ReasonGC, fmt.Sprintf("garbage collection took %s of the processors that the generator may use; what it takes besides its pauses is in own and receive lag", spell.Share(used/of)))
	}
	return nil
}

// collected returns of how much of the window garbage collection took at most, 0 to 1: its pauses, or all its time on
// processors, since each may be the one that is waited for. It is 0 where only the pauses are known.
func (e *evidence) collected(pauses float64) float64 {
	seconds, ok := sum(e.measure, result.VitalGoCPUGC)
	if !ok {
		return 0
	}
	return min(max(pauses, seconds*1e9)/e.window(), 1)
}

// scheduler: goroutines waited for a processor about as long as messages took. This is a
// note, because the effect on messages is in their own lag.
func scheduler(e *evidence) []result.Reason {
	worst := lasting(e.measure, result.VitalGoLatencyP99)
	m, p99, ok := e.firstP99()
	if !ok || worst <= float64(p99)/2 {
		return nil
	}
	return note(result.ReasonScheduler, fmt.Sprintf("for a second in total, or in the worst interval, one goroutine in a hundred waited %s or more for a processor; %s p99 is %s, and deliveries may have been time-stamped that late", span(int64(worst)), m, span(p99)))
}

// firstP99 returns the p99, ns, of the first response metric that has one.
func (e *evidence) firstP99() (m result.Metric, p99 int64, ok bool) {
	for _, m := range e.responses() {
		if p99, ok := e.summary.Histograms[m].At("99"); ok {
			return m, p99.Value, true
		}
	}
	return "", 0, false
}
