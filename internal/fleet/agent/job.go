package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"sixnines/internal/clock"
	"sixnines/internal/fleet/wire"
)

// Causes of the end of a run's context.
var (
	errStopped = errors.New("stopped on request")
	errLeaving = errors.New("this agent is being ended")
	errGone    = errors.New("the coordinator is not heard of any more")
	errLimit   = errors.New("the run lasts longer than it may")
)

// hangs is how long a run may go on after it was ended for good.
const hangs = 10 * time.Second

// job is one run on this agent, from the plan until its records are confirmed. It is the [Stage] of its runner.
type job struct {
	agent *agent
	plan  *Plan
	asked *wire.Plan
	spool *spool

	ctx    context.Context // its end ends the window early
	cancel context.CancelCauseFunc
	abort  chan struct{} // closed: the run ends at once

	goOn      map[wire.Point]chan struct{} // closed when the coordinator lets the run go on there
	start     atomic.Int64                 // the common start, clock.Now; 0: it has not been given
	clock     atomic.Pointer[wire.Clock]   // how this clock differs from the run's; nil: they are one
	pulse     atomic.Int64                 // when the coordinator was heard of last, clock.Now
	confirmed chan struct{}                // closed: all records are in the result
	aside     chan struct{}                // closed: what is not confirmed stays in its directory
	done      chan struct{}                // closed: nothing of the job runs any more
	hung      atomic.Bool                  // its runner does not return
	ended     atomic.Bool                  // the stream has all records and how the run ended

	mu     sync.Mutex
	status wire.Status
	closed map[any]bool  // channels that were closed
	peers  map[int]*peer // by pair
	apart  bool          // peers has no more
}

// newJob makes the job of a plan, with a directory and nothing running.
func newJob(a *agent, plan *Plan, asked *wire.Plan) (*job, error) {
	plan.Dir = filepath.Join(a.Dir, asked.Run+"-"+a.hello.ID)
	if err := os.MkdirAll(plan.Dir, 0o700); err != nil {
		return nil, err
	}
	s, err := newSpool(filepath.Join(plan.Dir, "records"))
	if err != nil {
		return nil, err
	}
	j := &job{agent: a, plan: plan, asked: asked, spool: s, abort: make(chan struct{}), goOn: map[wire.Point]chan struct{}{},
		confirmed: make(chan struct{}), aside: make(chan struct{}), done: make(chan struct{}), closed: map[any]bool{}, peers: map[int]*peer{},
		status: wire.Status{ID: a.hello.ID, State: wire.Preparing, Run: asked.Run}}
	for _, p := range wire.Points() {
		j.goOn[p] = make(chan struct{})
	}
	j.ctx, j.cancel = context.WithCancelCause(context.Background())
	j.pulse.Store(clock.Now())
	return j, nil
}

// shut closes a channel of the job, once.
func (j *job) shut(c chan struct{}) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.closed[c] {
		j.closed[c] = true
		close(c)
	}
}

// carryOut carries the job out. It returns when nothing of it runs any more.
func (j *job) carryOut() {
	defer close(j.done)
	defer j.cancel(nil)
	pulses, err := j.agent.conn.Subscribe(wire.PulseSubject(j.asked.Run), func(m *nats.Msg) {
		if wire.Decode(j.agent.Version, m.Data, &wire.Pulse{}) == nil {
			j.pulse.Store(clock.Now())
		}
	})
	if err == nil {
		defer pulses.Unsubscribe()
	}
	over := make(chan struct{})
	var beside sync.WaitGroup
	sending, stopSending := context.WithCancel(context.Background())
	beside.Go(func() { j.tell(over) })
	beside.Go(func() { j.deliver(sending) })

	err = j.run()
	j.part()
	j.end(err)
	// What never started has nothing to deliver.
	kept := j.start.Load() != 0 && j.awaitConfirmation()
	stopSending()
	close(over)
	beside.Wait()
	err = j.spool.close()
	if !kept {
		err = errors.Join(err, os.RemoveAll(j.plan.Dir))
	} else {
		j.agent.say(fmt.Sprintf("run %s: its records stay in %s: they are not known to be in a result", j.asked.Run, j.plan.Dir))
	}
	if err != nil {
		j.agent.say(fmt.Sprintf("run %s: %v", j.asked.Run, err))
	}
}

// run calls the runner, and returns when it has ended or is known to hang.
func (j *job) run() error {
	ended := make(chan error, 1)
	go func() { ended <- j.agent.Runner.Run(j.ctx, j.plan, j) }()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	aborted := int64(0)
	for {
		select {
		case err := <-ended:
			return err
		case <-j.abort:
			j.cancel(errStopped)
			if aborted == 0 {
				aborted = clock.Now()
			}
		default:
		}
		switch now, start := clock.Now(), j.start.Load(); {
		case aborted > 0 && now > aborted+int64(hangs):
			j.hung.Store(true)
			return errors.New("the run does not end")
		case start > 0 && now > start+int64(j.asked.Limit+j.asked.Patience/2): // at the limit itself Reach lets go at Closed
			j.cancel(errLimit)
			j.shut(j.abort)
		}
		select {
		case err := <-ended:
			return err
		case <-tick.C:
		}
	}
}

// end notes how the run ended.
func (j *job) end(err error) {
	cause := context.Cause(j.ctx)
	ending, why := wire.Completed, ""
	switch {
	case errors.Is(cause, errLeaving):
		ending, why = wire.Left, errLeaving.Error()
	case j.hung.Load(), errors.Is(cause, errLimit):
		ending, why = wire.Failed, errLimit.Error()
	case errors.Is(cause, errStopped):
		ending, why = wire.Interrupted, errStopped.Error()
	case err != nil:
		ending, why = wire.Failed, err.Error()
	}
	if err := j.spool.end(); err != nil {
		ending, why = wire.Failed, "its records cannot be kept: "+err.Error()
	}
	j.set(func(s *wire.Status) { s.State, s.Ending, s.Why = wire.Delivering, ending, wire.Line(why) })
}

// awaitConfirmation waits until all records are in the result, or nothing will become of that: then it
// reports that they are to be kept.
func (j *job) awaitConfirmation() (kept bool) {
	select {
	case <-j.confirmed:
		return false
	default:
	}
	select {
	case <-j.confirmed:
		return false
	case <-j.aside:
		return true
	}
}

// tell says the status once a second.
func (j *job) tell(over <-chan struct{}) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-over:
			return
		case <-tick.C:
			j.set(func(s *wire.Status) { s.Told = j.news() })
		}
	}
}

// set changes the status and says it. What is not heard is said again a second later, but the exchanges with other agents,
// of which there are more.
func (j *job) set(change func(*wire.Status)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	change(&j.status)
	j.agent.publish(wire.StatusSubject(j.asked.Run, j.agent.hello.ID), &j.status)
	j.status.Told = nil
}

// state returns the status.
func (j *job) state() wire.Status {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.status
}

// orphaned reports whether the coordinator has not been heard of for as long as the plan allows.
func (j *job) orphaned() bool { return clock.Now() > j.pulse.Load()+int64(j.asked.Patience) }

// Reach implements [Stage].
func (j *job) Reach(ctx context.Context, p wire.Point) (start int64, err error) {
	goOn, known := j.goOn[p]
	if !known {
		return 0, fmt.Errorf("there is no point %q in a run", p)
	}
	j.set(func(s *wire.Status) { s.Point = p })
	ended, stopped := ctx.Done(), j.ctx.Done()
	if p == wire.Closed { // others may still use what is there, however this run ended
		ended, stopped = nil, nil
	}
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-goOn:
			if p != wire.Ready {
				return 0, nil
			}
			j.set(func(s *wire.Status) { s.State = wire.Running })
			return j.start.Load(), nil
		case <-ended:
			return 0, context.Cause(ctx)
		case <-stopped:
			return 0, context.Cause(j.ctx)
		case <-j.abort:
			return 0, errStopped
		case <-tick.C:
		}
		switch {
		case p != wire.Closed && j.orphaned():
			return 0, errGone
		case p == wire.Closed && (j.start.Load() == 0 && j.orphaned() || j.start.Load() > 0 && clock.Now() > j.start.Load()+int64(j.asked.Limit)):
			return 0, nil // the others are over, too
		}
	}
}

// Shift implements [Stage].
func (j *job) Shift(now int64) (ahead int64, several bool) {
	if c := j.clock.Load(); c != nil {
		return c.Shift(now), true
	}
	return 0, false
}

// Leads implements [Stage].
func (j *job) Leads(d wire.Destination) { j.set(func(s *wire.Status) { s.Leads = &d }) }

// Began implements [Stage].
func (j *job) Began(late int64) { j.set(func(s *wire.Status) { s.Late = late }) }

// Record implements [Stage].
func (j *job) Record(record []byte) error {
	n, err := j.spool.append(record)
	if err != nil {
		return fmt.Errorf("keep a record: %w", err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.status.Records = uint64(n)
	return nil
}

// Abort implements [Stage].
func (j *job) Abort() <-chan struct{} { return j.abort }

// release lets the run go on at a point.
func (j *job) release(g *wire.Go) *wire.Answer {
	if g.Point == wire.Ready {
		now := clock.Now()
		if most := j.asked.Patience + j.asked.Limit; g.At > now+int64(most) {
			return refuse(wire.RefusedInvalid, fmt.Errorf("a start that is %v ahead; at most %v", time.Duration(g.At-now).Round(time.Second), most))
		}
		if !j.start.CompareAndSwap(0, g.At) && j.start.Load() != g.At {
			return refuse(wire.RefusedInvalid, errors.New("the run has another start"))
		}
	}
	j.shut(j.goOn[g.Point])
	return &wire.Answer{}
}

// stop ends the run on request. What is over already is set aside.
func (j *job) stop(s *wire.Stop) {
	j.cancel(errStopped)
	if s.AtOnce {
		j.shut(j.abort)
	}
	if j.state().State == wire.Delivering {
		j.shut(j.aside)
	}
}

// confirm takes the coordinator's word for that all records are in the result.
func (j *job) confirm(c *wire.Confirm) *wire.Answer {
	s := j.state()
	switch {
	case s.State != wire.Delivering:
		return refuse(wire.RefusedInvalid, errors.New("the run is not over"))
	case s.Records != c.Records:
		return refuse(wire.RefusedInvalid, fmt.Errorf("there are %d records, and %d are confirmed", s.Records, c.Records))
	}
	j.shut(j.confirmed)
	return &wire.Answer{}
}

// leave ends the run because this agent is being ended, and returns when nothing of it runs any more.
func (j *job) leave(within time.Duration) {
	j.cancel(errLeaving)
	deadline := time.NewTimer(within)
	defer deadline.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-j.done:
			return
		case <-deadline.C:
			j.shut(j.abort)
			j.shut(j.aside)
			<-j.done // within hangs
			return
		case <-tick.C:
			// The stream keeps them: whoever collects need not find this agent again.
			if s := j.state(); s.State == wire.Delivering && s.Delivered == s.Records && j.ended.Load() {
				j.shut(j.aside)
			}
		}
	}
}
