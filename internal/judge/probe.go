package judge

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"sixnines/internal/spell"
	"sixnines/result"
	"sixnines/scenario"
)

// Thresholds of the comparison with the probe.
const (
	// probeRatio and probeGap, ns, are the least ratio and difference between a
	// percentile of the load and the probe's, in either direction, to be reported.
	// Two processes on one machine that do the same differ by less.
	probeRatio = 2
	probeGap   = 200_000
	// probeErrors is the least difference between the two, in standard errors of the
	// difference.
	probeErrors = 3
	// probeCover is the part of the window that the probe must have measured.
	probeCover = 0.5
	// probeExplains is the part of a difference from which on a delay measured in the
	// generator explains, or could explain, the difference.
	probeExplains = 0.5
)

// besideProbe: the load's service times and those of the concurrent probe differ. At the
// same time, at the same broker, one process waited and the other did not. If the load
// waited, the wait is in its own connections, queues or client; if the probe waited, it is
// that of a connection that is hardly used.
//
// It is a note, because a broker may serve a loaded connection or topic more slowly than an
// idle one; SUSPECT where the generator itself may have waited. A wait that receive lag
// explains is left to its own gate. The broker sends a message of several consumers to one
// after the other, and the probe's to one: with n consumers that explains n times the
// probe's figure.
func besideProbe(e *evidence) (found []result.Reason) {
	m := e.run.Header.ServiceMetric()
	load, probe := e.summary.Histograms[m], e.summary.Histograms[result.ProbeService]
	measured, _ := sum(e.closing(), result.VitalProbeSpan)
	if load == nil || probe == nil || e.run.Header.Mode == result.ModeFlatOut || measured < probeCover*e.window() {
		return nil
	}
	if f := e.run.Header.Fleet; f != nil && f.Probe != nil {
		if f.Probe.Lost {
			return nil // which of its messages were never answered is not known
		}
		return e.besideAgent(f.Probe, m, load, probe)
	}
	for _, name := range []result.Percentile{result.P50, result.P99} {
		l, p := figureOf(load, name), figureOf(probe, name)
		if !l.known || !p.known || e.probeLost(name) {
			continue
		}
		switch {
		case l.exceeds(p) && l.low <= copies(load)*p.high:
			found = append(found, result.Reason{Status: result.Valid, Code: result.ReasonProbe, Metric: m, Percentile: name, Found: beside(m, name, l, p),
				Means: fmt.Sprintf("each message of this load goes to %d consumers in turn, and each message of the probe to one, which can explain it", copies(load))})
		case l.exceeds(p):
			if r, ok := e.behindLoad(m, name, l, p); ok {
				found = append(found, r)
			}
		case p.exceeds(l):
			found = append(found, result.Reason{Status: result.Valid, Code: result.ReasonProbe, Metric: m, Percentile: name, Found: beside(m, name, l, p),
				Means: "a nearly idle connection is answered later than the connections of this load: its threads, or the broker's, were asleep"})
		}
	}
	return found
}

// besideAgent compares the load with a probe on an agent of its own, which may have another way to the broker. How much the
// two ways differ shows in the fastest message of each, and is taken from the slower one. What is left is a note: it may be the
// load's connections, queues and clients, or that the longer way is busier.
func (e *evidence) besideAgent(agent *result.FleetProbe, m result.Metric, load, probe *result.Distribution) (found []result.Reason) {
	way := load.Min - probe.Min
	for _, name := range []result.Percentile{result.P50, result.P99} {
		l, p := figureOf(load, name), figureOf(probe, name)
		if !l.known || !p.known || e.probeLost(name) {
			continue
		}
		r := result.Reason{Status: result.Valid, Code: result.ReasonProbe, Metric: m, Percentile: name, Found: beside(m, name, l, p) + ", on agent " + agent.Name}
		switch {
		case l.less(max(0, way)).exceeds(p) && l.low <= copies(load)*p.high+max(0, way):
			r.Means = fmt.Sprintf("each message of this load goes to %d consumers in turn, and each message of the probe to one, which can explain it", copies(load))
		case l.less(max(0, way)).exceeds(p):
			r.Means = "the agents of the load have it in their connections, queues or clients, or the broker serves a loaded connection or topic more slowly"
		case p.less(max(0, -way)).exceeds(l):
			r.Means = "a nearly idle connection is answered later than the connections of this load, or that agent's machine or way to the broker is slower"
		default:
			continue
		}
		if apart := max(way, -way); apart > 0 {
			r.Means += fmt.Sprintf("; the fastest messages of the two are %s apart, which is left out", span(apart))
		}
		found = append(found, r)
	}
	return found
}

// copies returns how many consumers get each message of a load, rounded, at least 1.
func copies(d *result.Distribution) int64 {
	return max(1, int64(math.Round(float64(d.Total())/float64(max(d.Samples, 1)))))
}

// behindLoad is the finding that the load waited and the probe did not; ok is
// false if the receive lag explains it.
func (e *evidence) behindLoad(m result.Metric, name result.Percentile, l, p bounded) (r result.Reason, ok bool) {
	gap := float64(l.value - p.value)
	response := responseOf(m)
	f, _ := e.summary.Histograms[response].At(name)
	if f.Value == 0 {
		response = m
	}
	lag, known := e.receiveLag(m)
	if response.IsResponse() {
		known = known && e.receiveKnown(response, f.Value)
	}
	if f.ReceiveShare != nil && *f.ReceiveShare*float64(f.Value) >= probeExplains*gap {
		return r, false
	}
	own := e.couldBeOwn(gap)
	if !known {
		own = append(own, "the receive lag is not known")
	}
	r = result.Reason{Status: result.Valid, Code: result.ReasonProbe, Metric: response, Percentile: name}
	place := "this load's own connections, queues or client"
	if e.nodes() > 1 {
		place += ", or in nodes that serve it but not the probe"
	}
	of := "it"
	if response != m {
		of = fmt.Sprintf("it and of %s", response)
	}
	r.Found = fmt.Sprintf("%s: %s of %s is spent in %s, not in the broker as a whole", beside(m, name, l, p), span(int64(gap)), of, place)
	if len(own) > 0 {
		r.Status = result.Suspect
		r.Means = "the generator itself may have caused it, because " + strings.Join(own, ", and ")
		r.Try = "run again at a lower rate or with fewer connections, and see whether the difference disappears"
		return r, true
	}
	r.Means = fmt.Sprintf("the generator did not cause it: it read what arrived within %s (p99), and its processors had capacity to spare; a broker may serve a loaded connection or topic more slowly than an idle one, which looks the same as queues in the client library", span(lag))
	return r, true
}

// nodes returns how many nodes the broker is known to have, at least 1: the largest of the
// number started, the number that the driver counted and the number of addresses given. The
// probe's connections and its topic's leader are on one or two of them, the load's may be on
// others.
func (e *evidence) nodes() int {
	h := &e.run.Header
	n := 1
	if h.Deployment != nil {
		n = h.Deployment.Nodes
	}
	if counted, err := strconv.Atoi(h.Broker["brokers"]); err == nil {
		n = max(n, counted)
	}
	if s, err := scenario.FromRecord("header", h.Scenario); err == nil {
		n = max(n, 1+strings.Count(s.Target.URL, ","))
	}
	return n
}

// starvedExplains is the share of the window from which on a starved broker may be the
// reason for which the load waits.
const starvedExplains = 0.1

// couldBeOwn lists what was measured in the generator and its machine that could cause a wait
// of gap, ns.
func (e *evidence) couldBeOwn(gap float64) (why []string) {
	if over, most := e.busySeconds(result.VitalProcessCPU, max(e.cores, 1), cpuNote); e.cores > 0 && len(over) > 0 {
		why = append(why, fmt.Sprintf("in a second it used %s of its %.0f processors", spell.Share(most), e.cores))
	}
	if b := e.atLimit(); len(b.over) > 0 {
		why = append(why, fmt.Sprintf("its busiest %s was busy for %s of a second", b.who, spell.Share(b.most)))
	}
	if worst, ok := highest(e.measure, result.VitalGoLatencyP99); ok && worst >= probeExplains*gap {
		why = append(why, fmt.Sprintf("in the worst interval one goroutine in a hundred waited %s or more for a processor", span(int64(worst))))
	}
	if share := e.starvedShare(); share >= starvedExplains {
		why = append(why, fmt.Sprintf("the broker lacked a processor of this machine for %s of the window", spell.Share(share)))
	}
	return why
}

// receiveLag returns the p99, ns, of the receive lag that is part of the service time m, or its
// maximum if p99 is not published; known is false if it was not measured of at least half of the
// messages.
func (e *evidence) receiveLag(m result.Metric) (p99 int64, known bool) {
	lag := result.LagReceive
	if m == result.PublishService || e.run.Header.Pattern == "publish" {
		lag = result.LagReceiveAck
	}
	d := e.summary.Histograms[lag]
	if d == nil || d.Count == 0 || 2*d.Count < count(e.run.Metrics[m]) {
		return 0, false
	}
	if p99, ok := d.At("99"); ok {
		return p99.Value, true
	}
	return d.Max, true
}

// probeLost reports whether enough of the probe's messages were never resolved to reach the
// percentile.
func (e *evidence) probeLost(name result.Percentile) bool {
	points := e.closing()
	sent, _ := sum(points, result.VitalProbeSent)
	missing, _ := sum(points, result.VitalProbeMissing)
	return missing > 0 && missing >= (1-percentOf(name)/100)*sent
}

// closing returns the closing record.
func (e *evidence) closing() (points []*result.Point) {
	for i := range e.run.Series {
		if p := &e.run.Series[i]; p.Phase == result.PhaseClosing {
			points = append(points, p)
		}
	}
	return points
}

// responseOf is the response metric that service time m belongs to.
func responseOf(m result.Metric) result.Metric {
	for _, r := range result.Metrics() {
		if r.Service() == m {
			return r
		}
	}
	return m
}

// beside states both figures.
func beside(m result.Metric, name result.Percentile, l, p bounded) string {
	return fmt.Sprintf("%s p%s is %s, but %s (95 %%: %s to %s) for a probe of the same broker at the same time",
		m, name, span(l.value), span(p.value), span(p.low), span(p.high))
}

// bounded is a percentile with its 95 % interval, ns: the union of the interval by messages and
// the one by stretches of the run, if that exists.
type bounded struct {
	value, low, high int64
	known            bool
}

func figureOf(d *result.Distribution, name result.Percentile) bounded {
	f, ok := d.At(name)
	if !ok || f.Interval == nil || f.Interval.Open {
		return bounded{}
	}
	low, high := f.Widest()
	return bounded{f.Value, low, high, true}
}

// less returns the figure of messages that took so much less, ns.
func (a bounded) less(ns int64) bounded {
	a.value, a.low, a.high = a.value-ns, a.low-ns, a.high-ns
	return a
}

// exceeds reports whether a is above b by more than probeRatio, probeGap and chance.
func (a bounded) exceeds(b bounded) bool {
	const z = 1.959964 // standard errors that a 95 % interval extends to either side
	gap := float64(a.value - b.value)
	chance := math.Hypot(float64(a.value-a.low), float64(b.high-b.value)) / z
	return a.value > probeRatio*b.value && gap > max(probeGap, probeErrors*chance) && a.low > b.high
}
