package churn

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"sixnines/driver"
	"sixnines/internal/clock"
	"sixnines/internal/engine/observe"
	"sixnines/internal/engine/plan"
	"sixnines/internal/engine/session"
	"sixnines/internal/recorder"
	"sixnines/internal/schedule"
	"sixnines/internal/transport"
	"sixnines/result"
	"sixnines/scenario"
)

// ownTopic is what connections are for where a run makes topics. size is that of the messages that a producer could send.
const (
	ownTopic = "c0"
	size     = 64
)

// closing is how long a connection may take to close.
const closing = 5 * time.Second

// Churn opens connections beside those of a load. The run's goroutine calls its methods, but for Counted and Report, which are the
// collector's until that has ended, and Resolved, which anyone calls. All may be called on nil: the load opens none.
type Churn struct {
	*plan.Plan
	load      *session.Session
	recording *observe.Recording
	schedule  *schedule.Plan // when connections are due; this process has producer member of it
	member    int

	topic   string // what connections are for; fixed by Open
	session driver.Session
	dialer  *transport.Dialer
	told    [steps]bool // what is recorded: the steps that the driver tells of. Fixed by Open.

	life     context.Context // of connections that are being opened
	cancel   context.CancelFunc
	visits   sync.WaitGroup
	past     atomic.Bool // all that were due in the window are begun, or will not be
	refusals refusals

	notOpened, begun, opened, refused, unanswered, lost atomic.Int64 // of the window, see result.Connections

	// What Counted has reported so far, and its walk through the schedule.
	reported result.Connections
	walk     *schedule.Merged
	next     int64 // when the first connection is due that the walk has not counted
	more     bool  // there is one
}

// New returns what opens the load's connections; nil: its scenario wants none. Errors wrap plan.ErrUsage.
func New(s *session.Session, rec *observe.Recording) (*Churn, error) {
	w := &s.Scenario.Workload.Connections
	if !w.Churn() {
		return nil, nil
	}
	c := &Churn{Plan: s.Plan, load: s, recording: rec}
	shape := &scenario.Workload{Rate: w.Rate, Producers: 1}
	if g := s.Segment; g != nil { // each process opens some of them
		shape.Producers, c.member = g.Of, g.Index
	}
	made, err := schedule.New(shape, s.Length, s.Scenario.Seed)
	if err != nil {
		return nil, fmt.Errorf("%w: connections: %w", plan.ErrUsage, err)
	}
	c.schedule = made.WithWarmup(s.Warmup)
	c.life, c.cancel = context.WithCancel(context.Background())
	return c, nil
}

// Open opens the session, and a first connection, which fails here if all would, and shows which steps the driver tells of. The
// error is the driver's. What was opened is left for Close.
func (c *Churn) Open(ctx context.Context) error {
	if c == nil {
		return nil
	}
	c.dialer = transport.NewDialerVia(false, c.Via)
	t := c.load.Target()
	t.Run, t.Dial, t.Notify, t.Batch = c.Name+"-c", c.dial, c.notify, false
	topology := driver.Topology{Producers: 1, Consumers: 1, MaxSize: size}
	if c.topic = ownTopic; t.Given { // only producers, which send nothing
		c.topic, topology.Consumers = c.Layout.Topics[0], 0
	}
	topology.Topics = []string{c.topic}
	var err error
	if c.session, err = c.Entry.Driver.Open(ctx, t); err != nil {
		return fmt.Errorf("connections: %w", err)
	}
	if _, err := c.session.Provision(ctx, topology); err != nil {
		return fmt.Errorf("connections: %w", err)
	}
	v := &visit{due: clock.Now()}
	defer context.AfterFunc(ctx, c.cancel)()
	k, err := c.open(v, c.Workload.Timeout)
	if err != nil {
		return fmt.Errorf("connections: the first: %w", err)
	}
	for s := range steps {
		c.told[s] = v.at[s].Load() != 0
	}
	return k.Close(ctx)
}

// Dialer returns what makes the connections; nil: none are made.
func (c *Churn) Dialer() *transport.Dialer {
	if c == nil {
		return nil
	}
	return c.dialer
}

// Metrics returns those of the steps that the driver tells of.
func (c *Churn) Metrics() (all []recorder.ID) {
	for s := range steps {
		if c != nil && c.told[s] {
			all = append(all, s.metric())
		}
	}
	return all
}

// Begin begins to open connections, in the warm-up. The window is fixed.
func (c *Churn) Begin() {
	if c != nil {
		c.visits.Go(c.pace)
	}
}

// pace begins each connection when it is due.
func (c *Churn) pace() {
	c.TakeThread()
	defer c.past.Store(true)
	start, n := c.Start.Load(), 0 // the first, of Open, is number 0
	for _, phase := range []schedule.Phase{schedule.Before, schedule.Window, schedule.After} {
		due := c.schedule.Merge([]int{c.member}, phase)
		for {
			offset, _, ok := due.Next()
			if !ok {
				break
			}
			at := start + offset
			if !c.sleepUntil(at) {
				c.leaveOut(phase, offset, due)
				return
			}
			n++
			v := &visit{number: n, due: at}
			counts := phase == schedule.Window && at < c.End.Load()
			if counts {
				c.begun.Add(1)
			}
			c.visits.Go(func() { c.visit(v, counts) })
		}
	}
}

// sleepUntil waits until t, CLOCK_MONOTONIC; false if the run is over.
func (c *Churn) sleepUntil(t int64) bool {
	for now := clock.Now(); now < t; now = clock.Now() {
		if c.Stopped.Load() {
			return false
		}
		if t >= c.End.Load() { // which may have moved
			c.past.Store(true)
		}
		c.SleepHandingOver(min(t, now+slice))
	}
	return !c.Stopped.Load()
}

// slice is the longest sleep, so that the run's end is noticed.
const slice = 20_000_000

// leaveOut counts the connections of the window that are not opened any more: the one that is due at offset, and those after it.
func (c *Churn) leaveOut(phase schedule.Phase, offset int64, rest *schedule.Merged) {
	end := c.End.Load() - c.Start.Load()
	if phase == schedule.Before {
		rest = c.schedule.Merge([]int{c.member}, schedule.Window)
		offset, _, _ = rest.Next()
	}
	for ok := phase != schedule.After; ok && offset < end; offset, _, ok = rest.Next() {
		c.notOpened.Add(1)
	}
}

// visit opens a connection, keeps it open, and closes it.
func (c *Churn) visit(v *visit, counts bool) {
	v.began = clock.Now()
	k, err := c.open(v, c.Workload.Timeout)
	if counts {
		c.count(v, err)
	}
	if err != nil {
		return
	}
	hold := time.NewTimer(c.Workload.Connections.Hold)
	defer hold.Stop()
	select {
	case <-hold.C:
	case <-c.Stop:
	}
	ctx, cancel := context.WithTimeout(context.Background(), closing)
	defer cancel()
	if err := k.Close(ctx); err != nil {
		c.refusals.add(err, "close a connection")
	}
}

// count records what came of a connection that was due in the window. Steps that a client takes in another order than ours, or
// does not tell of this time, count as taken with the next one.
func (c *Churn) count(v *visit, err error) {
	rec, due, own := c.recording.Rec, v.due-c.Start.Load(), max(0, v.began-v.due)
	given := clock.Now()
	next := int64(0)
	var at [steps]int64
	for s := steps - 1; s >= 0; s-- {
		at[s] = v.at[s].Load()
		if next > 0 && (at[s] == 0 || at[s] > next) {
			at[s] = next
		}
		next = at[s]
	}
	for s := range steps {
		switch id := s.metric(); {
		case !c.told[s]:
		case at[s] > 0:
			rec.Opening(id, at[s]-v.due, own, due)
		case errors.Is(err, errUnanswered):
			rec.Censor(id, due, given-v.due)
		default:
			rec.Refuse(id, due, 1)
		}
	}
	switch {
	case err == nil:
		c.opened.Add(1)
	case errors.Is(err, errUnanswered):
		c.unanswered.Add(1)
		c.refusals.add(err, "open a connection")
	default:
		c.refused.Add(1)
		c.refusals.add(err, "open a connection")
	}
}

// notify is [driver.Target.Notify]. What these connections report is no event of the load's.
func (c *Churn) notify(e driver.Event) {
	now := clock.Now()
	if e.Kind != driver.Disconnected || now < c.Start.Load() || c.Stopped.Load() {
		return
	}
	c.lost.Add(1)
	if e.Err == nil {
		e.Err = fmt.Errorf("%w: %s", driver.ErrNotConnected, e.Detail)
	}
	c.refusals.add(e.Err, "keep a connection")
}

// Resolved reports whether all connections that were due in the window are open, or will not be. It is safe for concurrent use.
func (c *Churn) Resolved() bool {
	if c == nil {
		return true
	}
	return c.past.Load() && c.opened.Load()+c.refused.Load()+c.unanswered.Load() >= c.begun.Load()
}

// Counted returns what was counted since the last call, of what was due by now, CLOCK_MONOTONIC; nil: the load opens none.
func (c *Churn) Counted(now int64) *result.Connections {
	if c == nil {
		return nil
	}
	all := result.Connections{NotOpened: c.notOpened.Load(), Opened: c.opened.Load(), Refused: c.refused.Load(), Unanswered: c.unanswered.Load(), Lost: c.lost.Load()}
	all.Begun = c.begun.Load() // after its parts, which are no more then
	all.Scheduled = c.dueBy(min(max(now, clock.Now()), c.End.Load()) - c.Start.Load())
	delta := all.Minus(c.reported)
	c.reported = all
	return &delta
}

// Behind reports whether anything was counted since Counted was called.
func (c *Churn) Behind() bool {
	return c != nil && (c.begun.Load() != c.reported.Begun || c.opened.Load() != c.reported.Opened || c.lost.Load() != c.reported.Lost ||
		c.refused.Load() != c.reported.Refused || c.unanswered.Load() != c.reported.Unanswered)
}

// dueBy returns how many connections of the window are due before offset, ns from its start. Offsets must ascend.
func (c *Churn) dueBy(offset int64) int64 {
	n := c.reported.Scheduled
	if c.walk == nil {
		c.walk = c.schedule.Merge([]int{c.member}, schedule.Window)
		c.next, _, c.more = c.walk.Next()
	}
	for c.more && c.next < offset {
		n++
		c.next, _, c.more = c.walk.Next()
	}
	return n
}

// Report writes an event for each kind of failure since the last call.
func (c *Churn) Report() {
	if c == nil {
		return
	}
	for _, e := range c.refusals.take() {
		c.Event(e)
	}
}

// Leave closes all connections, and gives up those that are being opened. The run is over.
func (c *Churn) Leave() {
	if c == nil {
		return
	}
	c.cancel()
	c.visits.Wait()
}

// Close removes what Open has provisioned, and ends the session. It joins the driver's errors, and may be called when Open has
// failed.
func (c *Churn) Close() error {
	if c == nil || c.session == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*closing)
	defer cancel()
	err := errors.Join(c.session.Deprovision(ctx), c.session.Close(ctx))
	c.dialer.CloseAll()
	c.session = nil
	return err
}
