package engine

import (
	"context"
	"fmt"
	"sync"
	"time"

	"sixnines/internal/schedule"
	"sixnines/result"
)

// paced sends on a schedule, by pacers.
type paced struct{ *load }

// planSchedule makes the load's schedule.
func (ld *load) planSchedule() error {
	p, err := schedule.New(ld.workload, ld.window, ld.scenario.Seed)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUsage, err)
	}
	ld.plan = p.WithWarmup(ld.warmup)
	ld.pacedLoads++
	return nil
}

func (p paced) mode() string { return result.ModeOpen }

// prepare: the warm-up is part of the schedule.
func (p paced) prepare(context.Context) (ahead time.Duration, err error) { return p.warmup, nil }

// finish: the schedule goes on behind the window until the run is over.
func (p paced) finish(aborted bool) bool { return aborted }

// pacing is a load's pacers; the zero value has none.
type pacing struct {
	mu  sync.Mutex
	all []*pacer
}

// list returns the pacers so far.
func (p *pacing) list() []*pacer {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all[:len(p.all):len(p.all)]
}

// start divides the lanes among pacers.
func (p paced) start() {
	ld := p.load
	ld.turn = make([]int, ld.workload.Producers)
	for q := range ld.workload.Producers {
		l := ld.lanes[q%len(ld.lanes)]
		l.cursor.producers = append(l.cursor.producers, q)
	}
	pacers := make([]*pacer, ld.pacerCount())
	for i := range pacers {
		pacers[i] = &pacer{load: ld, control: ld.control, budget: ld.spinBudget()}
	}
	for i, l := range ld.lanes {
		l.gap = int64(1e9 / ld.plan.MeanRate() * float64(ld.workload.Producers) / float64(len(l.cursor.producers)))
		for _, st := range l.streams {
			l.flushes = l.flushes || st.flusher != nil
		}
		p := pacers[i%len(pacers)]
		p.queue = append(p.queue, l)
	}
	for _, p := range pacers {
		p.divisible.Store(len(p.queue) > 1)
		ld.startPacer(p)
	}
	ld.senders.Go(ld.supervise)
}

func (ld *load) startPacer(p *pacer) {
	ld.pacing.mu.Lock()
	ld.pacing.all = append(ld.pacing.all, p)
	ld.pacing.mu.Unlock()
	ld.senders.Go(p.pace)
}

// ownPacers is up to how many lanes each has a pacer of its own. A connection then
// waits for no other's send, and there is nothing to hand over: with 8 connections
// at 20,000/s on two cores p99 was 79 to 99 µs, where one pacer for all had 94 to
// 567 µs; with a processor hog beside it 178 to 183 µs against 487 to 1,314 µs.
const ownPacers = 32

// pacerCount is the number of pacers. Beyond ownPacers lanes share them.
func (ld *load) pacerCount() int {
	most := ld.config.Pacers
	if most <= 0 {
		most = ownPacers
	}
	return min(max(len(ld.lanes), 1), most)
}

// spinBudget is the most that a pacer may spin away before a message, so that
// all of them together, those of other loads as well, spin for less than a tenth of a processor where the broker
// shares them, and for less than a half where it does not.
func (ld *load) spinBudget() int64 {
	if ld.config.quiet != nil {
		return 0
	}
	share := 0.5
	if ld.sameHost() {
		share = 0.1
	}
	return int64(min(1e9/ld.plan.MeanRate()*share/float64(ld.pacedLoads), 200_000))
}
