package engine

import (
	"context"
	"slices"
	"time"

	"sixnines/result"
)

// paced sends on a schedule, by pacers.
type paced struct{ *sending }

// newPaced returns what sends s on its schedule.
func newPaced(s *sending) paced { return paced{s} }

func (p paced) mode() string { return result.ModeOpen }

// prepare: the warm-up is part of the schedule.
func (p paced) prepare(context.Context) (ahead time.Duration, err error) { return p.Warmup, nil }

// finish: the schedule goes on after the window until the run is over.
func (p paced) finish(aborted bool) bool { return aborted }

// start starts a pacer for all lanes; see mayDivide.
func (p paced) start() {
	p.turn = make([]int, p.Workload.Producers)
	for q := range p.Workload.Producers {
		l := p.lanes[q%len(p.lanes)]
		l.cursor.producers = append(l.cursor.producers, q)
	}
	one := &pacer{sending: p.sending, control: p.Control, budget: p.SpinBudget(), queue: slices.Clone(p.lanes)}
	one.divisible.Store(len(p.lanes) > 1)
	one.sleeper.Ready(p.Control.Life)
	p.pacing.more = p.MostPacers() - 1
	for _, l := range p.lanes {
		l.gap = int64(1e9 / p.Schedule.MeanRate() * float64(p.Workload.Producers) / float64(len(l.cursor.producers)))
		for _, st := range l.streams {
			l.flushes = l.flushes || st.Flusher != nil
		}
	}
	p.startPacer(one)
	p.senders.Go(p.supervise)
}
