package engine

import (
	"context"
	"sync"
	"time"

	"sixnines/result"
)

// paced sends on a schedule, by pacers.
type paced struct{ *load }

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
		l.gap = int64(1e9 / ld.schedule.MeanRate() * float64(ld.workload.Producers) / float64(len(l.cursor.producers)))
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
