package selftest

import (
	"context"
	"fmt"
	"time"

	"sixnines/internal/brokers"
	"sixnines/internal/engine"
	"sixnines/internal/histograms"
	"sixnines/internal/probe"
	"sixnines/internal/report"
	"sixnines/internal/spell"
	"sixnines/result"
	"sixnines/scenario"
)

// String describes the load for users.
func (l Load) String() string {
	return fmt.Sprintf("%s, %s, %s", l.Pattern, l.Rate, l.Size)
}

// floorLoads returns the loads of the floors: b.Load and, in the full form, the same
// load as a round trip and with ten times the rate.
func (b *Bench) floorLoads() []Load {
	loads := []Load{b.Load}
	if b.Short {
		return loads
	}
	more := b.Load
	more.Pattern = scenario.RoundTrip
	faster := b.Load
	faster.Rate = scenario.PerSecond(10 * uint64(b.Load.Rate.Float()))
	for _, l := range []Load{more, faster} {
		if l != b.Load && !l.Rate.IsZero() {
			loads = append(loads, l)
		}
	}
	return loads
}

// noiseFloor measures the latency of this machine, its network stack and the tool:
// the distribution of the null broker, in a process of its own. It stores the floors
// for later runs.
func noiseFloor(ctx context.Context, b *Bench) (*Outcome, error) {
	broker, err := b.Start(ctx, "null", nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = broker.Stop(context.WithoutCancel(ctx)) }() // nothing of it is kept
	var figures []Figure
	chart := report.Picture{Title: "The noise floor", Caption: "Latencies with a broker that does nothing, on this machine.",
		X: report.PictureAxis{Label: "percentile", Scale: report.PicturePercentile}, Y: report.PictureAxis{Label: "latency", Scale: report.PictureDuration}}
	for i, load := range b.floorLoads() {
		window := 6 * time.Second
		switch {
		case b.Short:
			window = 1500 * time.Millisecond
		case i == 0:
			window = 10 * time.Second
		}
		b.Say("%s, for %s", load, spell.Period(window))
		watch, used := startWatch(), brokerCPU(broker)
		run, err := b.floorRun(ctx, broker, load, window)
		disturbed := watch.end(brokerCPU(broker) - used)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", load, err)
		}
		found := floorFigures(load.String(), run)
		floor := FloorOf(run)
		if b.Keep != nil && Conclude("", found...).Verdict == Passed {
			note, err := b.Keep(floor, disturbed)
			if err != nil {
				return nil, err
			}
			found = append(found, Figure{What: load.String() + ": kept for later runs", Found: note, Verdict: Information})
		}
		figures = append(figures, found...)
		if x := run.Metrics[responseOf(run)]; x != nil {
			chart.Lines = append(chart.Lines, curve(load.String(), x))
		}
	}
	o := Conclude("the null broker's distribution, the lowest that any broker can have on this machine; percentiles of later runs that are less than three times as large say as much about the machine as about the broker", figures...)
	o.Charts = []report.Picture{chart}
	return o, nil
}

// brokerCPU returns the processor time that a broker's processes have used. Usage that
// cannot be read counts as zero, and so as other programs'.
func brokerCPU(c *brokers.Cluster) time.Duration {
	var sum time.Duration
	for _, u := range c.Usage() {
		sum += u.UserCPU + u.SysCPU
	}
	return sum
}

// floorRun measures one floor, with a probe beside the load. The difference shows what
// the load's own connections and client add.
func (b *Bench) floorRun(ctx context.Context, broker *brokers.Cluster, load Load, window time.Duration) (*result.Run, error) {
	options := ""
	if load.Pattern == scenario.Publish {
		options = ", options: {ack: broker}" // without acknowledgements publish has no latency
	}
	at := At(broker)
	return b.RunText(ctx, fmt.Sprintf("name: noise-floor\nrecord: {probe: on}\ntarget: {driver: \"null\", url: %q%s}\nphases: {warmup: 500ms, duration: %s, drain: 5s}\nworkload: {pattern: %s, rate: %s, size: %s}",
		broker.URLFor("null"), options, window, load.Pattern, load.Rate, load.Size),
		func(c *engine.Config) {
			at(c)
			if b.Executable != "" {
				c.Probe = []string{b.Executable, probe.Command}
			}
		})
}

// FloorOf takes a noise floor from a run of the null broker: every percentile that
// its sample supports, of the metrics in which a broker takes part. The generator's
// own delays are left out: they have no floor.
func FloorOf(run *result.Run) result.Floor {
	h := &run.Header
	f := result.Floor{ID: h.ID, At: h.Started, Tool: h.Tool, Pattern: h.Pattern, Rate: h.Rate, Size: h.Size,
		Percentiles: map[result.Metric]map[result.Percentile]int64{}}
	for m, d := range run.Summary.Histograms {
		if m.OfGenerator() || m == result.LagBlocked || m == result.ProbeService { // a fast broker has none of the one, and the other is another load's
			continue
		}
		figures := map[result.Percentile]int64{}
		for p, x := range d.All() {
			if !x.AtLeast {
				figures[p] = x.Value
			}
		}
		if len(figures) > 0 {
			f.Percentiles[m] = figures
		}
	}
	return f
}

// responseOf returns the first response metric that the run has.
func responseOf(run *result.Run) result.Metric {
	for _, m := range result.Metrics() {
		if m.IsResponse() && run.Summary.Histograms[m] != nil {
			return m
		}
	}
	return result.DeliveryResponse
}

// floorFigures judges a run that a floor is taken from: it must be complete, and its
// verdict neither INVALID nor UNSTABLE. It may be SUSPECT: a floor mostly consists of
// the generator's own lag.
func floorFigures(name string, run *result.Run) []Figure {
	c := run.Counters
	m := responseOf(run)
	figures := []Figure{
		Exactly(name+": messages not sent, refused, missing or damaged", 0, c.NotSent+c.Rejected+c.Nacked+c.Missing+c.Corrupted),
	}
	status := Figure{What: name + ": the verdict on the run", Expected: "not INVALID, not UNSTABLE", Found: string(run.Summary.Verdict.Status), Verdict: Passed}
	if s := run.Summary.Verdict.Status; s == result.Invalid || s == result.Unstable {
		status.Verdict = Failed
	}
	figures = append(figures, status)
	d := run.Summary.Histograms[m]
	if !d.Published() {
		return append(figures, Exactly(name+": percentiles", "some", "none"))
	}
	figures = append(figures, percentilesFigure(name, m, d))
	for _, m := range []result.Metric{run.Header.ServiceMetric(), result.ProbeService} {
		if d := run.Summary.Histograms[m]; d != nil {
			figures = append(figures, percentilesFigure(name, m, d))
		}
	}
	return figures
}

// percentilesFigure lists a metric's percentiles.
func percentilesFigure(name string, m result.Metric, d *result.Distribution) Figure {
	text := ""
	for p, x := range d.All() {
		text += fmt.Sprintf("p%s %s, ", p, Time(time.Duration(x.Value)))
	}
	return Figure{What: name + ": " + string(m), Found: text + "max " + Time(time.Duration(d.Max)), Verdict: Information}
}

// curve is a metric's percentiles as a line.
func curve(name string, x *result.Merged) report.PictureLine {
	index := histograms.RanksOf(x.Hist)
	l := report.PictureLine{Name: name}
	for _, p := range result.Percentiles() {
		at, ok := p.Number()
		if !ok || float64(index.Count())*(1-at/100) < 1 {
			continue // there is no message beyond it
		}
		l.X, l.Y = append(l.X, at), append(l.Y, float64(max(1, min(index.Percentile(at), x.Max))))
	}
	return l
}
