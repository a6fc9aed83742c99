// Package beside runs the probe beside a load: a process that sends few messages of its own to the same
// broker.
package beside

import (
	"fmt"
	"time"

	"sixnines/internal/clock"
	"sixnines/internal/engine/flow"
	"sixnines/internal/engine/observe"
	"sixnines/internal/engine/plan"
	"sixnines/internal/engine/session"
	"sixnines/internal/probe"
	"sixnines/internal/recorder"
	"sixnines/internal/spell"
	"sixnines/result"
	"sixnines/scenario"
)

const (
	// probePatience is how long the load waits for a probe that the scenario does not ask for.
	// One that takes longer to connect joins in the warm-up.
	probePatience = 100 * time.Millisecond
	// probeAsked is how long it waits for one that was asked for.
	probeAsked = 5 * time.Second
	// probeEnd is how long a probe may take to end, and probeAborted if the run was
	// ended at once: the probe then ends by itself.
	probeEnd     = 10 * time.Second
	probeAborted = time.Second
)

// Probe is what the run has to do with the probe beside its load. Its methods
// belong to the run's goroutine, but for Collect, which belongs to the
// collector until that has finished.
type Probe struct {
	plan      *plan.Plan
	session   *session.Session
	recording *observe.Recording

	Wanted  bool           // the scenario has a probe
	process *probe.Process // nil: no probe runs
	// leftOut says why no probe runs, though one is wanted; empty: it does, or it is not wanted.
	leftOut string

	// What Collect has taken from the reports so far.
	last     probe.Report // the newest
	span     int64        // ns of the window that reports cover
	sent     int64        // messages
	resolved int64
	reported bool // the header or an event says why it reports no more
}

// Start starts the process of the probe, if the scenario wants one; leftOut says why it could not.
// The process connects later, when the load has: see Begin.
func Start(s *session.Session, rec *observe.Recording, command []string) *Probe {
	p := &Probe{plan: s.Plan, session: s, recording: rec, Wanted: s.Scenario.Probed(s.Rate())}
	e := &s.Entry
	switch {
	case !p.Wanted:
	case len(command) == 0:
		p.leftOut = "this program cannot start a probe process; only the command sixnines can"
	case e.Capabilities.Brokerless:
		p.leftOut = "driver " + e.Name + " has no broker that the load and the probe could share"
	case e.InProcess:
		p.leftOut = "the broker of driver " + e.Name + " runs in the same process as the load"
	case s.Scenario.Target.Topic != "":
		p.leftOut = "the load uses topics that exist, and the probe would need one of its own"
	case s.Via != nil:
		p.leftOut = "its connections would not pass through the relay that gives the path its conditions"
	case s.Warmup == 0 && s.Scenario.Record.Probe == scenario.ProbeAuto:
		p.leftOut = "without a warm-up the probe would connect during the window; with --probe=on the run waits for it"
	default:
		var err error
		if p.process, err = probe.Start(command); err != nil {
			p.leftOut = err.Error()
		}
	}
	return p
}

// Begin has the probe connect, after the load has, and waits for it: probePatience, or probeAsked.
func (p *Probe) Begin() {
	if p.process == nil {
		return
	}
	if p.plan.Flow.Closes == flow.Never {
		p.End(false)
		p.process, p.leftOut = nil, "the broker acknowledges nothing that the probe could time"
		return
	}
	if err := p.process.Begin(probe.Scenario(p.plan.Scenario, p.plan.Entry, p.plan.Url, p.plan.Options)); err != nil && p.process.Failure() == "" {
		p.leftOut = err.Error()
	}
	patience := probePatience
	if p.plan.Scenario.Record.Probe == scenario.ProbeOn {
		patience = probeAsked
	}
	p.process.Await(patience)
}

// Fact is what the header says of the probe.
func (p *Probe) Fact() (value, note string) {
	if p.process != nil && p.leftOut == "" {
		p.leftOut = p.process.Failure()
	}
	if p.leftOut != "" {
		p.reported = true
		return "left out", p.leftOut
	}
	return fmt.Sprintf("%s of %s beside the load", spell.Rate(float64(probe.Rate)), p.plan.Workload.Size), "one producer and one consumer in a separate process, on a separate topic of the same broker"
}

// Collect takes what the probe has reported. Intervals wholly within the window are recorded; the
// probe's share of a processor goes to to.
func (p *Probe) Collect(to map[result.Vital]float64) {
	if p.process == nil {
		return
	}
	start, end := p.plan.Start.Load(), p.plan.End.Load()
	for _, x := range p.process.Take() {
		p.sent += x.Sent
		p.resolved += x.Resolved
		if length := x.To - p.last.To; p.last.To > 0 && length > 0 {
			to[result.VitalProbeCPU] = float64(x.CPU-p.last.CPU) / float64(length)
		}
		p.last = x
		if x.From < start || x.To > end {
			continue
		}
		p.span += x.To - x.From
		for _, v := range x.Values {
			p.recording.Rec.Probe(v)
		}
	}
	if why := p.process.Failure(); why != "" {
		p.reportEnd(why)
	}
}

// reportEnd writes an event, once, that says why the probe reports no more.
func (p *Probe) reportEnd(why string) {
	if !p.reported {
		p.reported = true
		p.plan.Event(result.Event{At: clock.Now(), Kind: result.EventProbe, Detail: "the probe ended before the load: " + why})
	}
}

// Unread reports whether a report of the probe waits to be collected.
func (p *Probe) Unread() bool { return p.process != nil && p.process.Waiting() }

// Stop tells the probe to end, without waiting.
func (p *Probe) Stop() {
	if p.process != nil {
		p.process.Stop()
	}
}

// End waits until the probe has ended.
func (p *Probe) End(aborted bool) {
	if p.process == nil {
		return
	}
	if aborted {
		p.process.Wait(probeAborted, false)
		return
	}
	p.process.Wait(probeEnd, true)
}

// Close adds to the closing record's vitals what is known of the probe at the end.
func (p *Probe) Close(to map[result.Vital]float64) {
	if p.process == nil || p.span == 0 {
		return
	}
	to[result.VitalProbeSpan] = float64(p.span)
	to[result.VitalProbeSent] = float64(p.sent)
	to[result.VitalProbeMissing] = float64(max(0, p.sent-p.resolved))
}

// Metrics returns those of a probe beside the load; nil: no probe runs.
func (p *Probe) Metrics() []recorder.ID {
	if p == nil || p.process == nil {
		return nil
	}
	return []recorder.ID{recorder.ProbeService}
}
