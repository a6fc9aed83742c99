package fleetrun

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"time"

	"sixnines/internal/clock"
	"sixnines/internal/engine"
	"sixnines/internal/fleet/agent"
	"sixnines/internal/fleet/wire"
	"sixnines/internal/probe"
	"sixnines/internal/schedule"
	"sixnines/internal/secret"
	"sixnines/result"
	"sixnines/scenario"
)

// Runner carries out an agent's plans by the engine. It implements [agent.Runner].
type Runner struct {
	Tool result.Tool
	// Idle is [engine.Config].Idle.
	Idle []string
}

// resultName is the name of an agent's own result in the directory of its plan.
const resultName = "result.jsonl"

// Load implements [agent.Runner].
func (r *Runner) Load(p *agent.Plan) (agent.Load, error) {
	if err := errors.Join(Check(p.Scenario), engine.Check(p.Scenario, p.Entry)); err != nil {
		return agent.Load{}, err
	}
	l := agent.Load{Size: int64(p.Scenario.Heaviest())}
	if g, err := segmentOf(p.Segment); err != nil {
		return agent.Load{}, err
	} else if g.Role == result.RoleProbe {
		l.Rate, l.Connections = probe.Rate, 2
		return l, nil
	}
	for _, part := range p.Scenario.Parts() {
		rate, err := rateOf(part.Scenario, p.Segment)
		if err != nil {
			return agent.Load{}, ofWorkload(part.Name, err)
		}
		open, err := connectionsOf(&part.Scenario.Workload, p.Segment)
		if err != nil {
			return agent.Load{}, ofWorkload(part.Name, err)
		}
		l.Rate, l.Connections = l.Rate+rate, l.Connections+open
	}
	return l, nil
}

// connectionsOf is how many connections a segment of a workload has at a time at most.
func connectionsOf(w *scenario.Workload, g wire.Segment) (int64, error) {
	segment, err := segmentOf(g)
	if err != nil {
		return 0, err
	}
	_, local, err := shareOf(w, segment)
	if err != nil {
		return 0, err
	}
	c := local.Connections
	open := int64(0)
	if local.Producers > 0 {
		open += int64(c.Producers)
	}
	if local.Consumers > 0 {
		open += int64(c.Consumers)
	}
	if !c.Rate.IsZero() {
		open += int64(math.Ceil(c.Rate.Float() * c.Hold.Seconds()))
	}
	return open, nil
}

// rateOf is the most messages a second that a segment of a scenario with one workload sends; +Inf: as fast as possible.
func rateOf(s *scenario.Scenario, g wire.Segment) (float64, error) {
	w := s.Workload
	segment, err := segmentOf(g)
	if err != nil {
		return 0, err
	}
	share, local, err := shareOf(&w, segment)
	switch {
	case err != nil:
		return 0, err
	case segment.Role == result.RoleConsumers:
		return 0, nil
	case w.Loop == scenario.Closed && w.Think > 0:
		return float64(local.Producers*local.Outstanding) / w.Think.Seconds(), nil
	case w.Loop == scenario.Closed || w.Rate.IsMax():
		return math.Inf(1), nil
	}
	plan, err := schedule.New(&w, s.Phases.Longest(), s.Seed)
	if err != nil {
		return 0, err
	}
	part := float64(len(share.Producers)) / float64(w.Producers)
	if k := w.Arrivals.Kind; k == scenario.Constant || k == scenario.Poisson { // how far chance exceeds it in a second is no part of it
		return plan.MeanRate() * part, nil
	}
	half := min(time.Second, s.Phases.Longest()) / 2
	return float64(plan.Most(half)) / (2 * half).Seconds() * part, nil // which bounds what any two halves have
}

func ofWorkload(name string, err error) error {
	if name == "" {
		return err
	}
	return fmt.Errorf("workload %s: %w", name, err)
}

// Run implements [agent.Runner].
func (r *Runner) Run(ctx context.Context, p *agent.Plan, s agent.Stage) error {
	file := filepath.Join(p.Dir, resultName)
	over, sent := make(chan struct{}), make(chan error, 1)
	go func() { sent <- follow(file, over, s.Record) }()
	segment, err := segmentOf(p.Segment)
	switch {
	case err != nil:
	case segment.Role == result.RoleProbe:
		err = r.observe(ctx, p, s, &segment, file)
	default:
		leads := &leading{}
		config := engine.Config{Scenario: p.Scenario, Entry: p.Entry, File: file, Tool: r.Tool, Idle: r.Idle,
			Segment: &segment, Doer: elsewhere, Peers: peersOf(p, &segment, s), Start: starts(s, leads), Abort: s.Abort()}
		if slices.ContainsFunc(p.Scenario.Acts(), func(a scenario.Act) bool { return a.Led() }) {
			config.Provisioned = leads.provisioned
		}
		_, err = engine.Run(ctx, config)
	}
	close(over)
	if err = errors.Join(err, <-sent); err == nil {
		return nil
	}
	// Why it ended goes to the coordinator in clear, and clients quote addresses.
	return errors.New(secret.Conceal(err.Error(), p.Scenario.Secrets(p.Entry.Secret)))
}

// starts returns what the engine asks for the start of its window: the common one, or as soon after it as this
// process can. Before that it says of what the broker has leaders.
func starts(s agent.Stage, leads *leading) func(ctx context.Context, earliest int64) (int64, error) {
	return func(ctx context.Context, earliest int64) (int64, error) {
		ahead := earliest - clock.Now()
		if d := leads.first(); d != nil {
			s.Leads(*d)
		}
		common, err := s.Reach(ctx, wire.Ready)
		if err != nil {
			return 0, err
		}
		start := max(common, clock.Now()+ahead)
		s.Began(start - common)
		return start, nil
	}
}
