// Package plan is what a load is to do, known before anything is connected, and what its run
// shares with it: what was asked for, where events go, and what ends the run early.
package plan

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"sixnines/internal/engine/flow"
	"sixnines/internal/engine/payload"
	"sixnines/internal/engine/window"
	"sixnines/internal/layout"
	"sixnines/internal/schedule"
	"sixnines/result"
	"sixnines/scenario"
)

// Plan is what a load is to do, known before anything is connected: who sends what
// to whom, and when. It does not change, so any goroutine reads it; but for the instants of the window,
// which are atomic. What a load knows of its run is in Control.
type Plan struct {
	*Control
	Part     scenario.Part      // the part of the run's scenario that is this load
	Scenario *scenario.Scenario // the part's, with the whole workload
	Workload *scenario.Workload // what this process runs of it: all, or the share of its segment
	share    layout.Share       // of a segment; else empty

	// Flow is what the load measures, by what its driver acknowledges with these options.
	Flow        flow.Flow
	OwnsDialing bool             // the client makes its connections itself, unseen by the engine
	Layout      *layout.Layout   // who sends to and reads from what
	Schedule    *schedule.Plan   // when messages are due; nil: the load is unpaced, in closed loops or only consumes
	Arrives     *schedule.Plan   // when those are due that other processes send; nil: the process receives what it sends itself
	Sizes       *schedule.Sizes  // sizes of payloads; nil: all are alike
	Material    payload.Material // what bodies are cut from; nil: they are made of no files
	Seed        uint64           // of what is drawn beside the schedule: the scenario's, or of the segment
	Id          uint32           // of the load, in every envelope; random, not 0
	Name        string           // of what the load has at the broker: workload.existing, or made of Id
	Acts        []scenario.Act   // what is to happen in its window
	Interrupted bool             // consumers come late or pause
	ComesLate   bool             // consumers come late
	Length      time.Duration    // of the window as planned
	Warmup      time.Duration

	processors int // as found, before any were added for pacers

	window.Window // of the load, within the run's
}

// longestCounted bounds a window that a number of messages should end.
const longestCounted = time.Hour

// New plans the workload of a part, which the driver can carry: see engine.Check. Errors wrap ErrUsage.
// It belongs to the run's goroutine, and counts the load in Control if it has a schedule.
func New(c *Control, part scenario.Part) (*Plan, error) {
	s := part.Scenario
	w := &s.Workload
	length := s.Phases.Longest()
	if w.Messages > 0 {
		length = longestCounted
	}
	can := c.Entry.With(c.DriverOptions(s.Target))
	p := &Plan{Control: c, Part: part, Scenario: s, Workload: w, Seed: s.Seed, Length: length, Warmup: s.Phases.Warmup,
		Flow: flow.Of(w, can.Ack), OwnsDialing: can.OwnsDialing, processors: Processors()}
	if err := p.layOut(); err != nil {
		return nil, err
	}
	w = p.Workload
	p.Acts, p.Interrupted, p.ComesLate = s.Acts(), s.Interrupted(), s.ComesLate()
	if err := p.planSchedule(); err != nil {
		return nil, err
	}
	p.Sizes = schedule.NewSizes(w.Size, p.Seed)
	var err error
	if p.Material, err = payload.Load(w.Payload); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUsage, err)
	}
	p.Reset()
	for p.Id = p.sharedId(); p.Id == 0; {
		p.Id = rand.Uint32()
	}
	if p.Name = w.Existing; p.Name == "" {
		p.Name = fmt.Sprintf("%08x", p.Id)
	}
	p.nameAll()
	return p, nil
}

// nameAll gives the topics and groups of the layout the names that the driver is told.
func (p *Plan) nameAll() {
	t := &p.Scenario.Target
	named := func(group string) string { return p.Entry.Naming.Group(t.Prefix, group) }
	if given := t.Topics(); len(given) > 0 {
		whole := layout.Of(&p.Scenario.Workload)
		for i, topic := range p.Layout.Topics {
			p.Layout.Topics[i] = given[slices.Index(whole.Topics, topic)]
		}
		if groups := t.Groups(); len(groups) > 0 {
			named = func(group string) string { return groups[max(0, slices.Index(whole.GroupNames, group))] }
		}
	}
	for i, group := range p.Layout.GroupNames {
		p.Layout.GroupNames[i] = named(group)
	}
	for i := range p.Layout.Consumers {
		if c := &p.Layout.Consumers[i]; c.Name != "" {
			c.Name = named(c.Name)
		}
	}
}

// layOut lays out the workload, or what the process's segment has of it: the topics then keep the names
// that they have in the whole.
func (p *Plan) layOut() (err error) {
	g := p.Segment
	if p.Scenario.Fleet.Divided() && p.Role() == "" {
		return fmt.Errorf("%w: the scenario gives the agents of a fleet roles, and this process has none; run it on a fleet, or leave fleet out", ErrUsage)
	}
	if g == nil {
		p.Layout = layout.Of(p.Workload)
		return nil
	}
	if g.Role != "" {
		return p.layOutRole()
	}
	if p.share, p.Workload, err = layout.Divide(p.Workload, g.Index, g.Of); err != nil {
		return fmt.Errorf("%w: %w", ErrUsage, err)
	}
	p.Layout = layout.Of(p.Workload)
	names := layout.Of(&p.Scenario.Workload).Topics
	for i, t := range p.share.Topics {
		p.Layout.Topics[i] = names[t]
	}
	// What is drawn by the numbers of streams must not be the same in each segment.
	p.Seed = rand.New(rand.NewPCG(p.Scenario.Seed, uint64(g.Index))).Uint64()
	return nil
}

// ProducerNumber returns the number in the scenario's workload of a producer of this process's layout.
func (p *Plan) ProducerNumber(i int) int {
	if p.Segment == nil || p.Flow.Listens {
		return i
	}
	return p.share.Producers[i]
}

// ConsumerNumber returns the number in the scenario's workload of a consumer of this process; of −1, which
// is none, −1.
func (p *Plan) ConsumerNumber(i int) int {
	if p.Segment == nil || i < 0 {
		return i
	}
	return p.share.Consumers[i]
}

// planSchedule decides whether there is a schedule, and makes it.
func (p *Plan) planSchedule() error {
	if !p.Flow.Timed || p.Flow.Closed {
		return nil
	}
	s, err := schedule.InSlices(&p.Scenario.Workload, p.Length, p.Scenario.Seed, p.Slices)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUsage, err)
	}
	if p.Flow.Listens {
		p.Arrives = s
		return nil
	}
	if p.Segment != nil {
		s = s.Of(p.share.Producers)
	}
	p.Schedule = s.WithWarmup(p.Warmup)
	p.pacedLoads++
	return nil
}

// Event writes an event of this load. It is safe for concurrent use.
func (p *Plan) Event(e result.Event) {
	e.Workload = p.Part.Name
	p.Control.event(e)
}

// Rate is how many messages a second the schedule has; 0 without a schedule.
func (p *Plan) Rate() float64 {
	if p.Schedule == nil {
		return 0
	}
	return p.Schedule.MeanRate()
}

// LaneCount is how many connections the producers have.
func (p *Plan) LaneCount() int { return min(p.Workload.Connections.Producers, p.Workload.Producers) }

// pacersEach bounds the pacers of a load for each processor, and pacersMost in all, spare ones
// apart. More take the processors from each other: on two cores, with
// 20,000/s, p50 with four was 0.6 to 1.0 times what it was with one for each over 8 and 16
// connections (benchmarks/README.md).
const pacersEach, pacersMost = 2, 32

// pacersFor is the largest number of pacers for a number of lanes and processors.
func pacersFor(lanes, processors int) int {
	return max(1, min(lanes, pacersEach*processors, pacersMost))
}

// MostPacers is how many pacers the load may come to, spare ones apart; it begins with
// one.
func (p *Plan) MostPacers() int {
	if p.Virtual != nil {
		return 1 // in virtual time no pacer has too much to do
	}
	if p.Threads > 0 {
		return min(max(p.LaneCount(), 1), p.Threads)
	}
	return pacersFor(p.LaneCount(), p.processors)
}

// SpinBudget is the most that a pacer may spin before a message, in ns. The load has a schedule. On
// average over the schedule all of them together, with those of other loads, spin for
// less than a half of a processor, and where the broker shares the processors for less than a fifth of these. A sleep ends
// 10 to 30 µs late and costs about as much of the processor, so that little is won by one
// that is no longer. On two cores, at 20,000 and 30,000/s, p50 was 0.6 to 0.9 times what it
// was with a budget of a tenth of one core, and p99 no more; at rates where a sleep is
// long, on a busy machine and on a single core there was no difference
// (benchmarks/README.md).
func (p *Plan) SpinBudget() int64 {
	if p.Virtual != nil {
		return 0
	}
	return int64(min(1e9/p.Schedule.MeanRate()*spinShare(p.processors, p.SameHost())/float64(p.pacedLoads), 200_000))
}

// spinShare is how much of one processor the pacers may spin away.
func spinShare(processors int, shared bool) float64 {
	if shared {
		return min(0.5, 0.2*float64(processors))
	}
	return 0.5
}
