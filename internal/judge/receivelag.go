package judge

import (
	"fmt"

	"sixnines/internal/spell"
	"sixnines/result"
)

// Thresholds of the generator's lag in receiving, alone and together with its own lag.
const (
	// receiveLagSuspect: above this share of receive lag (the time for which arrived bytes
	// were unread in this machine), a percentile describes this machine more than the
	// broker. Waking a thread that waits for bytes takes 4 to 18 µs on an idle machine,
	// which is 20 to 46 % of the median of a fast broker: a lower threshold would fail
	// every program that waits for bytes, in C too.
	receiveLagSuspect = 0.5
	// lagSuspect: above this share of own and receive lag together, a percentile is the
	// generator's more than the system's.
	lagSuspect = 0.5
	// wakeUps is the lag, ns, up to which more than lagSuspect is a note. A plain C program
	// has 20 to 30 % of the median of a fast broker in sending and 20 to 46 % in receiving,
	// because a thread is woken for each: 40 to 76 % together, of 60 to 100 µs. Nobody
	// measures such a broker with less, so SUSPECT would say nothing there. Lag beyond that
	// comes from a generator that is busy.
	wakeUps = 100_000
)

// receiveLag: more than receiveLagSuspect of a published response percentile is the time from
// the arrival of bytes in this machine until they were read. Where that time is not known of
// most messages around a percentile, but of some of the metric, a note says so.
func receiveLag(e *evidence) (found []result.Reason) {
	for _, m := range e.responses() {
		d := e.summary.Histograms[m]
		for name, f := range d.All() {
			if f.ReceiveShare == nil || *f.ReceiveShare <= receiveLagSuspect {
				continue
			}
			v, share := f.Value, *f.ReceiveShare
			found = append(found, because(result.Reason{
				Status: result.Suspect, Code: result.ReasonReceiveLag, Metric: m, Percentile: name, Brief: spell.Share(share) + " receive lag",
				Found: fmt.Sprintf("%s of %s p%s (%s), about %s, is receive lag: the time between arrival on this machine and being read (limit %s)",
					spell.Share(share), m, name, span(v), span(int64(share*float64(v))), spell.Share(receiveLagSuspect)),
			}, e.causeAt(m, v)))
		}
		found = append(found, e.receiveUnknown(m, d)...)
	}
	return found
}

// receiveUnknown is the note that the receive lag is known of some messages of a metric, and not of
// most around a percentile.
func (e *evidence) receiveUnknown(m result.Metric, d *result.Distribution) []result.Reason {
	x := e.run.Metrics[m]
	if x == nil {
		return nil
	}
	all := x.OwnOfAll()
	if all.Unknown >= all.Count {
		return nil // the header says that it is not known
	}
	for name, f := range d.All() {
		if e.receiveKnown(m, f.Value) {
			continue
		}
		return single(result.Reason{Status: result.Valid, Code: result.ReasonReceiveLag, Metric: m, Percentile: name,
			Found: fmt.Sprintf("the receive lag is known for %s of %s, and for less than half of what is around %s p%s (%s)",
				spell.Share(float64(all.Count-all.Unknown)/float64(all.Count)), spell.Plural(all.Count, timed(m)), m, name, span(f.Value)),
			Means: "its share of that percentile is not known; connections that were made during the run, or that several producers or consumers share, may not be followed"})
	}
	return nil
}

// receiveKnown reports whether the receive lag is known of at least half of the messages around the
// value v, ns, of a response metric.
func (e *evidence) receiveKnown(m result.Metric, v int64) bool {
	x := e.run.Metrics[m]
	if x == nil {
		return false
	}
	s, ok := sharesAround(x.Own, v)
	return !ok || s.known
}

// generatorShare: own and receive lag together are more than lagSuspect of a published response
// percentile, and each alone is within its limit. It is a note where both are no more than what
// waking two threads takes, else SUSPECT. The lowest such percentile of either kind is
// reported; from one on that a lag alone makes suspect nothing is added.
func generatorShare(e *evidence) (found []result.Reason) {
	for _, m := range e.responses() {
		noted := false
		for name, f := range e.summary.Histograms[m].All() {
			if f.OwnShare == nil || f.ReceiveShare == nil {
				continue
			}
			own, received := *f.OwnShare, *f.ReceiveShare
			if own > ownLagSuspect || received > receiveLagSuspect {
				break
			}
			lag := int64((own + received) * float64(f.Value))
			longer := lag > wakeUps
			if own+received <= lagSuspect || noted && !longer {
				continue
			}
			share := spell.Share(own + received)
			r := result.Reason{Status: result.Valid, Code: result.ReasonGeneratorShare, Metric: m, Percentile: name, Brief: share + " own and receive lag",
				Found: fmt.Sprintf("%s of %s p%s (%s), about %s, is the generator's: %s own lag and %s receive lag, each within its limit",
					share, m, name, span(f.Value), span(lag), spell.Share(own), spell.Share(received)),
				Means: "less than half of the figure is the system's, and less than half of a difference between two systems shows in it"}
			if longer {
				r.Status = result.Suspect
				found = append(found, because(r, e.causeAt(m, f.Value)))
				break
			}
			r.Means += "; a plain program that sleeps and waits for bytes has as much"
			found, noted = append(found, r), true
		}
	}
	return found
}
