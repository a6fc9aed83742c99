package network

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"sixnines/internal/child"
	"sixnines/internal/clock"
	"sixnines/internal/journal"
	"sixnines/internal/relay"
	"sixnines/scenario"
)

// Path is a path that is to be given conditions, has them, or had them. One goroutine uses it.
type Path struct {
	plan    Plan
	journal *journal.Journal
	relay   *relay.Relay
	losses  []*loss
	lossUse []int // the use of each loss
	queues  *child.Process
	answers *bufio.Reader
	rules   []rules
	undo    []func() error // of what was done, in its order
	counts  []Counts       // of each use
}

// Options say how a plan is carried out.
type Options struct {
	Command []string         // the program that serves the queues, see [Serve]; empty: plans without queues only
	Seed    uint64           // of what is drawn
	Journal *journal.Journal // nil: nobody undoes what a killed process left
	Relay   *relay.Relay     // through which clients connect; nil: plans without a relay only
}

// Prepare gets everything ready that changes nothing yet. The path must be closed.
func (p Plan) Prepare(o Options) (path *Path, err error) {
	path = &Path{plan: p, journal: o.Journal, relay: o.Relay, counts: make([]Counts, len(p.Uses))}
	defer func() {
		if err != nil {
			err = errors.Join(err, path.Close())
		}
	}()
	if p.Has(Relay) && o.Relay == nil {
		return path, errors.New("network: clients do not connect through a relay")
	}
	for i, u := range p.Uses {
		if u.Means != TCX {
			continue
		}
		l, err := newLoss(u.Way.In, u.Way.Conditions.Loss)
		if err != nil {
			return path, err
		}
		path.losses, path.lossUse = append(path.losses, l), append(path.lossUse, i)
	}
	return path, path.startQueues(o)
}

// queued is a queue of the plan: what it does to the packets of a way that arrive in one namespace.
type queued struct {
	use  int // in the plan
	way  Way
	spec queueSpec
}

// queued lists the queues of the plan. Packets to another machine are not held here: TCP allows a connection only a
// millisecond's worth of data in its own machine (TCP small queues), so that a delay there would slow the
// sender. Their delay is added to that of the packets that come back, which a round trip cannot tell apart.
func (p Plan) queued(seed uint64) (all []queued) {
	for i, u := range p.Uses {
		if u.Means != NFQueue {
			continue
		}
		for _, namespace := range arrivals(u.Way) {
			all = append(all, queued{i, u.Way, queueSpec{Namespace: namespace, Conditions: u.Way.Conditions, Seed: seed + uint64(len(all))}})
		}
	}
	for i := range all {
		q := &all[i]
		if !q.way.Leaves || q.spec.Conditions.Delay == 0 {
			continue
		}
		held := scenario.Conditions{Delay: q.spec.Conditions.Delay, Jitter: q.spec.Conditions.Jitter}
		q.spec.Conditions.Delay, q.spec.Conditions.Jitter = 0, 0
		back := slices.IndexFunc(all, func(o queued) bool { return !o.way.Leaves && slices.Equal(o.way.From, q.way.To) })
		if back >= 0 {
			all[back].spec.Back = held
			continue
		}
		way := q.way
		way.From, way.To, way.Leaves = q.way.To, q.way.From, false
		all = append(all, queued{q.use, way, queueSpec{Namespace: q.spec.Namespace, Back: held, Seed: seed + uint64(len(all))}})
	}
	return slices.DeleteFunc(all, func(q queued) bool { return q.spec.Conditions.IsZero() && q.spec.Back.IsZero() })
}

// arrivals are the namespaces in which the packets of a way are received.
func arrivals(w Way) []string {
	if len(w.Arrive) == 0 {
		return []string{""}
	}
	return w.Arrive
}

// startQueues starts the process of the queues and writes the rules for them.
func (p *Path) startQueues(o Options) error {
	all := p.plan.queued(o.Seed)
	if len(all) == 0 {
		return nil
	}
	if len(o.Command) == 0 {
		return errors.New("network: the path of this program is not known, and the queues are a process of it")
	}
	specs := make([]queueSpec, len(all))
	for i, q := range all {
		specs[i] = q.spec
	}
	process, err := child.Start(child.Options{Command: o.Command})
	if err != nil {
		return fmt.Errorf("network: start the process of the queues: %w", err)
	}
	p.queues, p.answers = process, bufio.NewReader(process.Out)
	if err := json.NewEncoder(process.In).Encode(specs); err != nil {
		return fmt.Errorf("network: the process of the queues: %w", err)
	}
	var numbers opened
	if err := p.answer(&numbers); err != nil {
		return err
	}
	// A name of its own: the chain of another run must not be meant.
	name := fmt.Sprintf("%s-%08x", journal.Mark, rand.Uint32())
	for i, q := range all {
		p.rules = append(p.rules, rulesOf(q.way, q.spec.Namespace, fmt.Sprintf("%s-%d", name, i), numbers.Queues[i])...)
	}
	return nil
}

// answer reads an answer of the process of the queues.
func (p *Path) answer(to any) error {
	line, err := p.answers.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("network: the process of the queues ended: %s", p.queues.Why())
	}
	return json.Unmarshal(line, to)
}

// Begin puts the conditions into effect, and returns when that was done, CLOCK_MONOTONIC ns. If it fails, End
// undoes what was done.
func (p *Path) Begin() (happened int64, err error) {
	for i, l := range p.losses {
		s, err := segmentsOf(p.plan.Uses[p.lossUse[i]].Way.Out)
		if err != nil {
			return 0, err
		}
		if err := p.do(&s, func() error { return s.set(1) }); err != nil {
			return 0, err
		}
		p.undo = append(p.undo, l.detach)
		if err := l.attach(); err != nil {
			return 0, err
		}
	}
	for _, u := range p.plan.Uses {
		if u.Means != Netem && u.Means != TBF {
			continue
		}
		d := discipline{u.Way.Out}
		if err := p.do(&d, func() error { return d.add(u.Means, u.Way.Conditions) }); err != nil {
			return 0, err
		}
	}
	for _, r := range p.rules {
		if err := p.do(&r, r.add); err != nil {
			return 0, err
		}
	}
	if p.plan.Has(Relay) {
		return p.beginRelayed()
	}
	return clock.Now(), nil
}

// beginRelayed gives the relay the conditions of its ways. They end with the relay, which ends with this process, so nothing
// is noted.
func (p *Path) beginRelayed() (happened int64, err error) {
	var to, from relay.Conditions
	for _, u := range p.plan.Uses {
		if u.Means == Relay {
			c := u.Way.Conditions
			*relayed(u.Way, &to, &from) = relay.Conditions{Delay: c.Delay, Jitter: c.Jitter, Rate: int64(c.Rate)}
		}
	}
	p.undo = append(p.undo, p.endRelayed)
	done, err := p.relay.Condition(to, from)
	return done.At, err
}

// endRelayed takes the conditions away, and notes what was counted.
func (p *Path) endRelayed() error {
	done, err := p.relay.Condition(relay.Conditions{}, relay.Conditions{})
	for i, u := range p.plan.Uses {
		if u.Means != Relay {
			continue
		}
		c := relayed(u.Way, &done.To, &done.From)
		p.counts[i] = Counts{Packets: c.Pieces, Bytes: c.Bytes, Busy: c.Busy, LateMost: c.LateMost}
		if c.Waited > 0 {
			p.counts[i].Late = c.Late / time.Duration(c.Waited)
		}
	}
	return err
}

// relayed returns what is of the direction of a way.
func relayed[T any](w Way, to, from *T) *T {
	if w.Back {
		return from
	}
	return to
}

// do notes how an act is undone, does it, and keeps how it is undone.
func (p *Path) do(u journal.Undoing, act func() error) error {
	undo := func() error { _, err := u.Undo(context.Background()); return err }
	if p.journal != nil {
		entry, err := p.journal.Note("network conditions", u)
		if err != nil {
			return err
		}
		undo = func() error { return entry.Undo(context.Background()) }
	}
	p.undo = append(p.undo, undo)
	return act()
}

// End takes the conditions away, the latest first, and returns when, CLOCK_MONOTONIC ns. Everything is tried, whatever fails. It
// may be called again.
func (p *Path) End() (happened int64, err error) {
	for i, u := range p.plan.Uses {
		if len(p.undo) > 0 && (u.Means == Netem || u.Means == TBF) {
			if c, e := (discipline{u.Way.Out}).counted(); e == nil {
				p.counts[i] = c
			}
		}
	}
	for _, undo := range slices.Backward(p.undo) {
		err = errors.Join(err, undo())
	}
	p.undo = nil
	happened = clock.Now()
	for i, l := range p.losses {
		c, e := l.count()
		p.counts[p.lossUse[i]], err = c, errors.Join(err, e)
	}
	return happened, err
}

// lastWords is how long the process of the queues may take to end.
const lastWords = 5 * time.Second

// Close ends everything, the conditions too.
func (p *Path) Close() error {
	_, err := p.End()
	for _, l := range p.losses {
		err = errors.Join(err, l.close())
	}
	p.losses, p.lossUse = nil, nil
	if p.queues == nil {
		return err
	}
	_ = p.queues.In.Close()
	late := time.AfterFunc(lastWords, p.queues.Kill)
	defer late.Stop()
	var counts []Counts
	if e := p.answer(&counts); e != nil {
		err = errors.Join(err, e)
	}
	for i, q := range p.plan.queued(0) {
		if i < len(counts) {
			p.counts[q.use] = sum(p.counts[q.use], counts[i])
		}
	}
	<-p.queues.Ended()
	_ = p.queues.Out.Close()
	p.queues = nil
	return err
}

// sum adds what two queues of one use counted.
func sum(a, b Counts) Counts {
	if a == (Counts{}) {
		return b
	}
	a.Packets, a.Lost, a.Reordered, a.Overflow = a.Packets+b.Packets, a.Lost+b.Lost, a.Reordered+b.Reordered, a.Overflow+b.Overflow
	a.Bytes, a.Busy, a.Late, a.LateMost = a.Bytes+b.Bytes, a.Busy+b.Busy, max(a.Late, b.Late), max(a.LateMost, b.LateMost)
	return a
}

// Counts returns what each use of the plan counted, in its order. The path must be closed.
func (p *Path) Counts() []Counts { return p.counts }
