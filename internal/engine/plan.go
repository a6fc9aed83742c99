package engine

import (
	"fmt"
	"math/rand/v2"
	"sixnines/internal/engine/payload"
	"sync/atomic"
	"time"

	"sixnines/internal/engine/flow"
	"sixnines/internal/integrity"
	"sixnines/internal/schedule"
	"sixnines/result"
	"sixnines/scenario"
)

// plan is what a load is to do, known before anything is connected: who sends what
// to whom, and when. It does not change, but for the instants of the window, which
// the run fixes. What a load knows of its run is in control.
type plan struct {
	*control
	part     scenario.Part
	scenario *scenario.Scenario // the part's, with this workload
	workload *scenario.Workload

	// flow is what the load measures, by what its driver usually acknowledges; when the
	// session is open, by what that acknowledges with these options.
	flow     flow.Flow
	layout   *layout
	schedule *schedule.Plan   // nil unless paced
	sizes    *schedule.Sizes  // nil: all payloads are alike
	material payload.Material // what bodies are cut from; nil: nothing
	id       uint32           // in every envelope
	name     string           // of what is at the broker
	forget   int64            // Config.Forget
	window   time.Duration
	warmup   time.Duration

	processors int // as found, before any were added for pacers

	// start and end of the window, CLOCK_MONOTONIC; far off until known.
	start, end atomic.Int64
}

// never is an instant that does not come.
const never = int64(1) << 62

// longestCounted bounds a window that a number of messages should end.
const longestCounted = time.Hour

// newPlan plans the workload of a part, which the driver can carry: see check.
func newPlan(c *control, part scenario.Part) (*plan, error) {
	s := part.Scenario
	w := &s.Workload
	window := s.Phases.Longest()
	if w.Messages > 0 {
		window = longestCounted
	}
	p := &plan{control: c, part: part, scenario: s, workload: w, layout: layOut(w), window: window, warmup: s.Phases.Warmup, forget: c.config.Forget,
		flow: flow.Of(w, c.config.Entry.Capabilities.Ack), processors: processors()}
	if len(p.layout.streams) > integrity.MaxStreams {
		return nil, fmt.Errorf("%w: %d producers on %d topics are %d streams; %d can be told apart",
			ErrUsage, w.Producers, w.Topics, len(p.layout.streams), integrity.MaxStreams)
	}
	if err := p.planSchedule(); err != nil {
		return nil, err
	}
	p.sizes = schedule.NewSizes(w.Size, s.Seed)
	var err error
	if p.material, err = payload.Load(w.Payload); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUsage, err)
	}
	p.start.Store(never)
	p.end.Store(never)
	for p.id == 0 {
		p.id = rand.Uint32()
	}
	if p.name = w.Existing; p.name == "" {
		p.name = fmt.Sprintf("%08x", p.id)
	}
	return p, nil
}

// planSchedule decides whether there is a schedule, and makes it.
func (p *plan) planSchedule() error {
	if !p.flow.Timed || p.flow.Closed {
		return nil
	}
	s, err := schedule.New(p.workload, p.window, p.scenario.Seed)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUsage, err)
	}
	p.schedule = s.WithWarmup(p.warmup)
	p.pacedLoads++
	return nil
}

// event writes an event of this load's.
func (p *plan) event(e result.Event) {
	e.Workload = p.part.Name
	p.out.event(e)
}

// neverBegan reports whether the run was ended before the load's window.
func (p *plan) neverBegan() bool { return p.end.Load() <= p.start.Load() }

// asked is how many messages a second the schedule has; 0: there is none.
func (p *plan) asked() float64 {
	if p.schedule == nil {
		return 0
	}
	return p.schedule.MeanRate()
}

// laneCount is how many connections the producers have.
func (p *plan) laneCount() int { return min(p.workload.Connections.Producers, p.workload.Producers) }

// pacersEach is how many pacers a load has at most for each processor, and pacersMost in
// all, spare ones apart. More take the processors from each other: on two cores, with
// 20,000/s, p50 with four was 0.6 to 1.0 times what it was with one for each over 8 and 16
// connections (benchmarks/README.md).
const pacersEach, pacersMost = 2, 32

// pacersFor is the most pacers of so many lanes on so many processors.
func pacersFor(lanes, processors int) int {
	return max(1, min(lanes, pacersEach*processors, pacersMost))
}

// mostPacers is how many pacers the load may come to, spare ones apart; it begins with
// one.
func (p *plan) mostPacers() int {
	if p.config.Virtual != nil {
		return 1 // none has too much to do
	}
	if p.config.Pacers > 0 {
		return min(max(p.laneCount(), 1), p.config.Pacers)
	}
	return pacersFor(p.laneCount(), p.processors)
}

// spinBudget is the most that a pacer may spin before a message, in ns. On
// average over the schedule all of them together, with those of other loads, spin for
// less than a half of a processor, and where the broker shares the processors for less than a fifth of these. A sleep ends
// 10 to 30 µs late and costs about as much of the processor, so that little is won by one
// that is no longer. On two cores, at 20,000 and 30,000/s, p50 was 0.6 to 0.9 times what it
// was with a budget of a tenth of one core, and p99 no more; at rates where a sleep is
// long, on a busy machine and on a single core there was no difference
// (benchmarks/README.md).
func (p *plan) spinBudget() int64 {
	if p.config.Virtual != nil {
		return 0
	}
	return int64(min(1e9/p.schedule.MeanRate()*spinShare(p.processors, p.sameHost())/float64(p.pacedLoads), 200_000))
}

// spinShare is how much of one processor the pacers may spin away.
func spinShare(processors int, shared bool) float64 {
	if shared {
		return min(0.5, 0.2*float64(processors))
	}
	return 0.5
}

// lower moves an instant to a sooner one, and reports whether it was later.
func lower(t *atomic.Int64, to int64) bool {
	for was := t.Load(); to < was; was = t.Load() {
		if t.CompareAndSwap(was, to) {
			return true
		}
	}
	return false
}
