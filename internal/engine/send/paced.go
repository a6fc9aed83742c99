package send

import (
	"context"
	"slices"
	"time"

	"sixnines/result"
)

// paced sends on a schedule, by pacers.
type paced struct{ *Sending }

// NewPaced returns what sends s on its schedule.
func NewPaced(s *Sending) paced { return paced{s} }

// Mode is that of result.Header.Mode.
func (p paced) Mode() string { return result.ModeOpen }

// Prepare: the warm-up is part of the schedule.
func (p paced) Prepare(context.Context) (ahead time.Duration, err error) { return p.Warmup, nil }

// Finish: the schedule goes on after the window until the run is over.
func (p paced) Finish(aborted bool) bool { return aborted }

// Start starts one pacer for all lanes, which may divide itself (mayDivide), and the supervisor. It
// sets what pacers only read before it starts them.
func (p paced) Start() {
	p.turn = make([]int, p.Workload.Producers)
	for q := range p.Workload.Producers {
		l := p.Lanes[q%len(p.Lanes)]
		l.cursor.producers = append(l.cursor.producers, q)
	}
	one := &Pacer{sending: p.Sending, control: p.Control, budget: p.SpinBudget(), queue: slices.Clone(p.Lanes)}
	one.divisible.Store(len(p.Lanes) > 1)
	one.sleeper.Ready(p.Control.Life)
	p.Pacing.more = p.MostPacers() - 1
	for _, l := range p.Lanes {
		l.gap = int64(1e9 / p.Schedule.MeanRate() * float64(p.Workload.Producers) / float64(len(l.cursor.producers)))
		for _, st := range l.Streams {
			l.flushes = l.flushes || st.Flusher != nil
		}
	}
	p.startPacer(one)
	p.Senders.Go(p.supervise)
}
