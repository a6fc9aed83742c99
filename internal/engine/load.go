package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"sixnines/driver"
	"sixnines/internal/clock"
	"sixnines/internal/engine/account"
	"sixnines/internal/engine/actions"
	"sixnines/internal/engine/beside"
	"sixnines/internal/engine/churn"
	"sixnines/internal/engine/observe"
	"sixnines/internal/engine/plan"
	"sixnines/internal/engine/readback"
	"sixnines/internal/engine/receive"
	"sixnines/internal/engine/send"
	"sixnines/internal/engine/session"
	"sixnines/internal/recorder"
	"sixnines/internal/transport"
	"sixnines/result"
	"sixnines/scenario"
)

// load is one workload while it is run. Data goes from one part to the next, and each knows only the
// parts before it: those that follow read what it has. The run's goroutine makes it, and its fields do
// not change once the load has begun to connect.
type load struct {
	*plan.Plan
	session   *session.Session
	recording *observe.Recording
	sending   *send.Sending
	receiving *receive.Receiving
	accounts  *account.Accounts

	sender   sender         // uses sending and receiving
	observer func(Progress) // Config.Observer; nil: no progress is reported
	// provisioned is Config.Provisioned; nil: no action needs the places of the destinations.
	provisioned func(workload string, d driver.DestinationNamer)
	steps       []*actions.Step   // what is to happen in its window
	taps        *observe.Taps     // on the connections that are known; nil before the load begins
	breathe     func()            // gives way between two pieces of the collector's work
	side        *beside.Probe     // the probe beside it
	churn       *churn.Churn      // connections that come and go beside it; nil: none do
	left        []result.Leftover // what could not be removed; the run's goroutine sets it at the end
	lasts       time.Duration     // from its window's start until the windows of all loads are over
}

// newLoad plans the workload of a part.
func newLoad(c *plan.Control, part scenario.Part) (*load, error) {
	p, err := plan.New(c, part)
	if err != nil {
		return nil, err
	}
	s := &session.Session{Plan: p}
	rec := &observe.Recording{Plan: p}
	out := send.NewSending(p, rec)
	in := &receive.Receiving{Plan: p, Session: s, Recording: rec}
	ld := &load{Plan: p, session: s, recording: rec, sending: out, receiving: in, sender: newSender(out, in),
		breathe: func() {}, accounts: &account.Accounts{Plan: p, Session: s, Recording: rec, Sending: out, Receiving: in}}
	out.Came, out.Ended = in.Has, in.Ended
	ld.accounts.Back = readback.New(p, s)
	if ld.churn, err = churn.New(s, rec); err != nil {
		return nil, err
	}
	if u := p.Scenario.Phases.Until; !u.IsZero() {
		ld.accounts.Follower = &account.Follower{Until: u}
	}
	return ld, nil
}

// open connects both sides and provisions.
func (ld *load) open(ctx context.Context) error {
	if err := ld.session.Open(ctx); err != nil {
		return err
	}
	if f := ld.accounts.Follower; f != nil {
		all := ld.metrics()
		i := slices.IndexFunc(all, f.Of)
		if i < 0 {
			return fmt.Errorf("%w: driver %s with these options does not measure %s, so the run cannot wait for its interval", plan.ErrUsage, ld.Entry.Name, f.Until.Metric)
		}
		f.Metric = all[i]
	}
	if d, ok := ld.session.Main.(driver.DestinationNamer); ok && ld.provisioned != nil {
		ld.provisioned(ld.Part.Name, d)
	}
	if err := ld.session.OpenResponders(ctx); err != nil {
		return err
	}
	return ld.churn.Open(ctx)
}

// metrics returns what is recorded.
func (ld *load) metrics() []recorder.ID {
	return slices.Concat(ld.recording.Metrics(), ld.side.Metrics(), ld.churn.Metrics())
}

// resolved reports whether nothing measured is outstanding.
func (ld *load) resolved() bool {
	return ld.accounts.Resolved() && (ld.churn.Resolved() || ld.NeverBegan())
}

// leave closes producers and consumers. Leftovers are reported, not fatal: the measurement is done.
func (ld *load) leave() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	ld.session.Measured = true
	ld.churn.Leave()
	var errs []error
	for _, st := range ld.sending.Streams {
		errs = append(errs, st.Producer.Close(ctx))
	}
	ld.consumeRest()
	for _, c := range ld.receiving.Clients {
		errs = append(errs, c.Close(ctx))
	}
	return errors.Join(errs...)
}

// restPatience is how long consumers may take for what the run has sent outside of the window to topics that are
// not its own: what they do not receive stays there for others.
const restPatience = 2 * time.Second

// consumeRest waits until consumers have received all that was sent to topics of the operator's, and notes
// what may be left there.
func (ld *load) consumeRest() {
	if ld.Scenario.Target.Topic == "" || ld.Flow.Replies || ld.Crosses() || !ld.Entry.Capabilities.Keeps {
		return
	}
	waits := len(ld.receiving.Groups) > 0
	for limit := time.Now().Add(restPatience); ; time.Sleep(5 * time.Millisecond) {
		if ld.accounts.Unconsumed = ld.accounts.CountUnconsumed(); ld.accounts.Unconsumed == 0 || !waits || time.Now().After(limit) {
			return
		}
	}
}

// startStages taps the connections that are known, and has messages followed if
// all are. It needs no lock: other goroutines read Tap and Stamps only for messages from the window's
// start on, and no such message has been sent yet. Connections that replace them are tapped as they are made.
func (ld *load) startStages() {
	s := &ld.recording.Stages
	d := ld.session.Dialers[0]
	if s.Why == "" && d.Mark() != s.Attributed {
		ld.recording.RefuseStages("the driver opens more connections during the run")
	}
	taps := observe.NewTaps()
	ld.taps = taps
	for _, l := range ld.sending.Lanes {
		l.Tap = taps.On(l.Conn)
	}
	for _, c := range ld.receiving.Consumers {
		c.Tap = taps.On(c.Conn)
	}
	for _, d := range ld.session.Dialers {
		d.OnDial(taps.Replace)
	}
	if s.Why != "" {
		return
	}
	for _, st := range ld.sending.Streams {
		st.Stamps = make([]observe.Stamp, observe.StagePlaces)
	}
	d.OnDial(func(c *transport.Conn) {
		taps.Replace(c)
		if taps.Lost() || c.Role == driver.RoleControl {
			return // it replaces one that was lost, and its messages are not divided into stages; or it carries none
		}
		if !s.Off.Swap(true) {
			ld.Event(result.Event{At: clock.Now(), Kind: result.EventStages, Detail: "the driver opened another connection: stage times end here"})
		}
	})
}

// readerBusy returns the share of the time since the last look in which the busiest reader of a
// connection worked; not ok where it is not known, and where consumers take their time by plan.
func (ld *load) readerBusy(now int64) (share float64, ok bool) {
	share, ok = ld.taps.Busiest(now)
	return share, ok && ld.Workload.Consumer.Work == 0
}

// receiveFact says for the header on how many connections the receive lag is known, and why not on all.
func (ld *load) receiveFact() (value, note string) {
	known, all := 0, 0
	count := func(c *transport.Conn) {
		all++
		if c != nil && c.Stamped() {
			known++
		}
	}
	for _, c := range ld.receiving.Consumers {
		count(c.Conn)
	}
	if ld.Flow.Acked {
		for _, l := range ld.sending.Lanes {
			count(l.Conn)
		}
	}
	switch {
	case !ld.Flow.Timed:
		return "not measured", "rate: max has no schedule"
	case all == 0:
		return "not measured", "no answers or deliveries"
	case known == 0 && ld.Interrupted:
		return "not measured", "consumers connect late or pause, and received data waits for them"
	case known == 0 && ld.OwnsDialing:
		return "not known", "driver " + ld.Entry.Name + " opens its connections itself"
	case known == 0:
		return "not known", "no connection belongs to a single producer or consumer, or the system provides no receive time stamps"
	case known < all:
		return fmt.Sprintf("known for %d of %d producers' and consumers' connections", known, all), "by the kernel's receive time stamps"
	}
	return "known", "by the kernel's receive time stamps"
}
