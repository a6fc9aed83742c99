package fleetrun

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"sixnines/internal/clock"
	"sixnines/internal/engine/prober"
	"sixnines/internal/fleet/agent"
	"sixnines/internal/fleet/wire"
	"sixnines/internal/histograms"
	"sixnines/internal/probe"
	"sixnines/internal/resultfile"
	"sixnines/result"
	"sixnines/scenario"
)

// observer is an agent that has no part in the load: it runs the probe in this process, and records what that measures in the
// load's window. Its fields are those of the prober's goroutine, which calls report.
type observer struct {
	stage  agent.Stage
	part   scenario.Part // that the probe is beside
	header result.Header // what is known before the start
	file   string
	stop   context.CancelCauseFunc // ends the probe

	writer     *resultfile.Writer // nil: the run has no start yet
	ends       *time.Timer        // ends the probe with the window
	start, end int64              // of the window, clock.Now
	closing    result.Closing
	span       int64 // ns of the window that intervals cover
	sent       int64 // messages, from the beginning to the end
	resolved   int64
	failed     error // the first error of writing, or that there is no start
}

// observed is the workload that a probe is beside: the first that counts.
func observed(s *scenario.Scenario) scenario.Part {
	parts := s.Parts()
	for _, p := range parts {
		if !p.Background {
			return p
		}
	}
	return parts[0]
}

// observe runs the probe beside the load of the other agents.
func (r *Runner) observe(ctx context.Context, p *agent.Plan, s agent.Stage, segment *result.Segment, file string) error {
	part := observed(p.Scenario)
	redacted := part.Scenario.Redacted(p.Entry.Secret)
	redacted.Target.Driver = p.Entry.Name
	text, err := redacted.MarshalJSON()
	if err != nil {
		return fmt.Errorf("encode the scenario: %w", err)
	}
	beside := probe.Scenario(part.Scenario, p.Entry, part.Scenario.Target.URL, nil)
	o := &observer{stage: s, part: part, file: file, header: result.Header{ID: fmt.Sprintf("%016x", rand.Uint64()), Tool: r.Tool, Segment: segment,
		Name: part.Scenario.Name, Workload: part.Name, From: part.From, Driver: p.Entry.Name, Pattern: string(part.Scenario.Workload.Pattern),
		Scenario: text, Interval: beside.Record.Interval, Window: part.Scenario.Phases.Longest()}}
	// The load connects first: the probe is not to be what keeps a broker busy then.
	if _, err := s.Reach(ctx, wire.Connected); err != nil {
		return err
	}
	ctx, o.stop = context.WithCancelCause(ctx)
	defer o.stop(nil)
	over := make(chan struct{})
	defer close(over)
	go func() {
		select {
		case <-s.Abort():
			o.stop(context.Canceled)
		case <-over:
		}
	}()
	err = prober.Run(ctx, beside, p.Entry, func(x probe.Report) { o.report(ctx, &x) })
	return errors.Join(o.failed, err, o.close())
}

// report takes a report of the prober. The first has it wait for the start.
func (o *observer) report(ctx context.Context, x *probe.Report) {
	switch {
	case o.failed != nil:
	case o.writer == nil:
		o.failed = o.begin(ctx)
	default:
		o.failed = o.interval(x)
	}
	if o.failed != nil {
		o.stop(o.failed)
	}
}

// begin awaits the start, and writes the header.
func (o *observer) begin(ctx context.Context) error {
	start, err := o.stage.Reach(ctx, wire.Ready)
	if err != nil {
		return err
	}
	o.stage.Began(0)
	o.start = start + int64(o.part.From)
	o.end = o.start + int64(o.header.Window)
	o.header.Started = clock.Wall().Add(time.Duration(o.start - clock.Now()))
	o.header.Clock = result.Clock{Source: "CLOCK_MONOTONIC", Domain: clock.Domain(), Bracket: clock.Bracket(), Start: o.start}
	if o.writer, err = resultfile.Create(o.file); err != nil {
		return err
	}
	o.ends = time.AfterFunc(time.Duration(o.end-clock.Now()), func() { o.stop(nil) })
	return o.writer.Header(o.header)
}

// interval writes an interval of the prober, if it is wholly in the window.
func (o *observer) interval(x *probe.Report) error {
	o.sent, o.resolved = o.sent+x.Sent, o.resolved+x.Resolved
	if x.From < o.start || x.To > o.end {
		return nil
	}
	v := result.Interval{Workload: o.header.Workload, Phase: result.PhaseMeasure, Start: x.From - o.start, End: x.To - o.start}
	if len(x.Values) > 0 {
		s := o.part.Scenario
		h := result.NewHistogram(1, int64(s.Phases.Longest()+s.Phases.Drain+time.Minute), s.Record.Digits)
		_, highest, _ := h.Layout()
		m := &result.MetricInterval{Min: x.Values[0], Max: x.Values[0]}
		for _, value := range x.Values {
			value = min(max(value, 0), highest)
			_ = h.Record(value, 1) // in range: cannot fail
			m.Min, m.Max = min(m.Min, value), max(m.Max, value)
		}
		var err error
		if m.Hist, err = histograms.Encode(histograms.Of(h)); err != nil {
			return err
		}
		v.Metrics = map[result.Metric]*result.MetricInterval{result.ProbeService: m}
	}
	o.span += x.To - x.From
	o.closing.Intervals++
	return o.writer.Interval(v)
}

// close writes the closing record. Without a start there is no file.
func (o *observer) close() error {
	if o.writer == nil {
		return nil
	}
	o.ends.Stop()
	o.closing.End = min(max(0, clock.Now()-o.start), int64(o.header.Window))
	o.closing.Interrupted = o.closing.End < int64(o.header.Window)
	o.closing.GivenUp = max(0, clock.Now()-o.start)
	return errors.Join(o.writer.Interval(result.Interval{Workload: o.header.Workload, Phase: result.PhaseClosing, Start: o.closing.GivenUp, End: o.closing.GivenUp, Closing: &o.closing,
		Vitals: map[result.Vital]float64{result.VitalProbeSpan: float64(o.span), result.VitalProbeSent: float64(o.sent), result.VitalProbeMissing: float64(max(0, o.sent-o.resolved))}}),
		o.writer.Close())
}
