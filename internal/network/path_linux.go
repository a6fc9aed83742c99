package network

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"slices"
	"time"

	"sixnines/internal/child"
	"sixnines/internal/clock"
	"sixnines/internal/journal"
	"sixnines/internal/relay"
	"sixnines/scenario"
)

// Path is a path before, under, or after its conditions. One goroutine uses it.
type Path struct {
	plan    Plan
	journal *journal.Journal
	relay   *relay.Relay
	losses  []*loss
	lossUse []int // the use of each loss
	queues  *child.Process
	queued  []queued      // what they do
	numbers []uint16      // theirs
	chain   string        // with which the names of our chains begin
	orders  *json.Encoder // to the process of the queues
	answers *bufio.Reader
	rules   []step   // done from Prepare to Close: while no conditions are in effect they change nothing
	steps   []step   // by which conditions begin, in their order
	counts  []Counts // of each use
}

// step is a change of the machine.
type step struct {
	do, undo func() error
	uses     []int          // in the plan, which it puts into effect
	noted    *journal.Entry // nil: what is done ends with this process, or nobody keeps notes
	done     bool           // or done in part
	when     Instant        // when it was last done or undone
}

// timed calls f and keeps when that was.
func (s *step) timed(f func() error) error {
	s.when.Asked = clock.Now()
	err := f()
	s.when.Done = clock.Now()
	return err
}

// note adds how a change is undone to a journal, where there is one. It takes as long as a disk does, so it is done before the
// instant of the change.
func (p *Path) note(u journal.Undoing, do func() error, uses ...int) (s step, err error) {
	s = step{do: do, uses: uses, undo: func() error { _, err := u.Undo(context.Background()); return err }}
	if p.journal != nil {
		s.noted, err = p.journal.Note("network conditions", u)
	}
	return s, err
}

// doAll does what was not done, in order, until one fails.
func doAll(all []step) error {
	for i := range all {
		all[i].done = true
		if err := all[i].timed(all[i].do); err != nil {
			return err
		}
	}
	return nil
}

// undoAll undoes what was done, the latest first. Everything is tried, whatever fails; what fails stays noted.
func undoAll(all []step) (err error) {
	for i := range slices.Backward(all) {
		s := &all[i]
		if !s.done {
			continue
		}
		s.done = false
		if e := s.timed(s.undo); e != nil {
			err, s.noted = errors.Join(err, e), nil
		}
	}
	return err
}

// eraseAll erases the notes of what is undone or was never done.
func eraseAll(all []step) (err error) {
	for i := range all {
		if s := &all[i]; s.noted != nil && !s.done {
			err = errors.Join(err, s.noted.Erase())
		}
	}
	return err
}

// Options say how a plan is carried out.
type Options struct {
	Command []string         // the program that serves the queues, see [Serve]; empty: plans without queues only
	Seed    uint64           // of what is drawn
	Journal *journal.Journal // nil: what a killed process leaves is not undone
	Relay   *relay.Relay     // through which clients connect; nil: plans without a relay only
}

// Prepare gets everything ready, so that little is left to do when the conditions begin. Packets pass as before, but for
// rules that let them pass. The path must be closed.
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
		switch u.Means {
		case TCX:
			err = path.prepareLoss(i, u.Way)
		case Netem, TBF:
			err = path.prepareDiscipline(i, u)
		}
		if err != nil {
			return path, err
		}
	}
	if err := path.startQueues(o); err != nil {
		return path, err
	}
	if p.Has(Relay) { // its conditions end with it, and it with this process
		path.steps = append(path.steps, step{do: path.beginRelayed, undo: path.endRelayed, uses: p.by(Relay)})
	}
	return path, doAll(path.rules)
}

// prepared adds a step.
func (p *Path) prepared(s step, err error) error {
	p.steps = append(p.steps, s)
	return err
}

// prepareLoss prepares the loss of a use. It goes when its descriptor is closed.
func (p *Path) prepareLoss(use int, w Way) error {
	l, err := newLoss(w.In, w.Conditions.Loss)
	if err != nil {
		return err
	}
	p.losses, p.lossUse = append(p.losses, l), append(p.lossUse, use)
	if err := p.prepareSegments(w.Out); err != nil {
		return err
	}
	return p.prepared(step{do: l.attach, undo: l.detach, uses: []int{use}}, nil)
}

// prepareSegments has a device hand on single packets while the conditions are in effect.
func (p *Path) prepareSegments(d Device) error {
	s, err := segmentsOf(d)
	if err != nil {
		return err
	}
	return p.prepared(p.note(&s, func() error { return s.set(1) }))
}

// prepareDiscipline prepares a discipline of a use. At the end of the conditions it passes packets, and it is taken out when none
// waits in it.
func (p *Path) prepareDiscipline(use int, u Use) error {
	d, c := &discipline{u.Way.Out}, u.Way.Conditions
	out, err := p.note(d, func() error { return nil })
	out.undo = func() error {
		err := d.drain(c.Delay)
		_, undone := d.Undo(context.Background())
		return errors.Join(unlessGone(err), undone)
	}
	if p.rules = append(p.rules, out); err != nil {
		return err
	}
	if c.Reorder > 0 {
		if err := p.prepareSegments(u.Way.Out); err != nil {
			return err
		}
	}
	return p.prepared(step{do: func() error { return d.add(u.Means, c) }, undo: func() error {
		// What comes in the moment after that is counted, too.
		if err := d.pass(u.Means, c); err != nil {
			return unlessGone(err)
		}
		s, err := d.statistics()
		if s != nil {
			p.counts[use] = counted(u.Means, s)
		}
		return unlessGone(err)
	}, uses: []int{use}}, nil)
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
		return errors.New("network: the path of this program is not known, so the process of the queues cannot be started")
	}
	specs := make([]queueSpec, len(all))
	for i, q := range all {
		specs[i] = q.spec
	}
	process, err := child.Start(child.Options{Command: o.Command})
	if err != nil {
		return fmt.Errorf("network: start the process of the queues: %w", err)
	}
	p.queues, p.orders, p.answers = process, json.NewEncoder(process.In), bufio.NewReader(process.Out)
	if err := p.orders.Encode(specs); err != nil {
		return fmt.Errorf("network: the process of the queues: %w", err)
	}
	var numbers opened
	if err := p.answer(&numbers); err != nil {
		return err
	}
	// A name of its own: the chain of another run must not be meant. It says whose it is to those who look at the rules.
	p.queued, p.numbers, p.chain = all, numbers.Queues, fmt.Sprintf("%s-%d-%04x", journal.Mark, os.Getpid(), rand.Uint32N(1<<16))
	for i, q := range all {
		if err := p.noteRules(i, q.way); err != nil {
			return err
		}
	}
	return p.prepared(step{do: func() error { return p.hold(true) }, undo: func() error { return p.hold(false) }, uses: p.plan.by(NFQueue)}, nil)
}

// noteRules adds the rules that queue the packets of a way in a queue, which are still to be done.
func (p *Path) noteRules(queue int, w Way) error {
	for _, r := range rulesOf(w, p.queued[queue].spec.Namespace, fmt.Sprintf("%s-%d", p.chain, len(p.rules)), p.numbers[queue]) {
		s, err := p.note(&r, r.add)
		if p.rules = append(p.rules, s); err != nil {
			return err
		}
	}
	return nil
}

// Follow has the conditions that queues give hold for further addresses of brokers.
func (p *Path) Follow(more []netip.AddrPort) error {
	before := len(p.rules)
	for i, q := range p.queued {
		w := q.way
		if len(w.From) > 0 {
			w.From = more
		} else {
			w.To = more
		}
		if err := p.noteRules(i, w); err != nil {
			return err
		}
	}
	return doAll(p.rules[before:])
}

// hold has packets wait in the queues, or pass them.
func (p *Path) hold(is bool) error {
	var done obeyed
	if err := p.orders.Encode(order{Hold: is}); err != nil {
		return fmt.Errorf("network: the process of the queues: %w", err)
	}
	if err := p.answer(&done); err != nil {
		return err
	}
	if done.Error != "" {
		return fmt.Errorf("network: the process of the queues: %s", done.Error)
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
	err = doAll(p.steps)
	return clock.Now(), err
}

// beginRelayed gives the relay the conditions of its ways.
func (p *Path) beginRelayed() error {
	var to, from relay.Conditions
	for _, u := range p.plan.Uses {
		if u.Means == Relay {
			c := u.Way.Conditions
			*relayed(u.Way, &to, &from) = relay.Conditions{Delay: c.Delay, Jitter: c.Jitter, Rate: int64(c.Rate)}
		}
	}
	_, err := p.relay.Condition(to, from)
	return err
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

// End takes the conditions away, the latest first, and returns when, CLOCK_MONOTONIC ns. Everything is tried, whatever fails. It
// may be called again.
func (p *Path) End() (happened int64, err error) {
	err = undoAll(p.steps)
	happened = clock.Now()
	err = errors.Join(err, eraseAll(p.steps))
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
	err = errors.Join(err, undoAll(p.rules), eraseAll(p.rules))
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
	for i, q := range p.queued {
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

// Instants returns when each use of the plan was put into effect or taken away, whichever was the latest, in its order.
func (p *Path) Instants() []Instant {
	all := make([]Instant, len(p.plan.Uses))
	for _, s := range p.steps {
		for _, i := range s.uses {
			all[i] = s.when
		}
	}
	return all
}

// Counts returns what each use of the plan counted, in its order. The path must be closed.
func (p *Path) Counts() []Counts { return p.counts }
