package engine

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"time"

	"sixnines/driver"
	"sixnines/internal/engine/actions"
	"sixnines/internal/engine/output"
	"sixnines/internal/engine/plan"
	"sixnines/internal/engine/process"
	"sixnines/internal/engine/send"
	"sixnines/internal/engine/watch"
	"sixnines/internal/engine/window"
	"sixnines/internal/schedule"
	"sixnines/internal/transport"
	"sixnines/result"
	"sixnines/scenario"
)

// run is what the loads of a run share: the phases, the window, the collector, the watch of the
// machine, and the output. The goroutine that calls execute, the run's goroutine, writes its fields. It
// sets those that the collector reads before it starts that.
type run struct {
	*plan.Control
	config   Config
	out      *output.Output // made before anything is connected; safe for concurrent use
	breath   breath         // the collector's; when that has ended, the run's goroutine's
	scenario *scenario.Scenario
	loads    []*load // in the scenario's order; fixed
	acts     *actions.Executor
	runActs  []scenario.Act  // what is to happen to what all loads use
	steps    []*actions.Step // of these, in their order
	fullID   string          // in the result

	window.Window               // of the run; each load has its own within it
	length        time.Duration // of it as planned

	watch  *watch.Watch
	held   *process.Collector // of garbage; nil in virtual time
	readNs float64            // ns that a reading of the clock takes

	interrupted bool // the window was ended on request
	early       bool // the run was ended before the window began
}

func newRun(c Config) (*run, error) {
	c.Scenario = carriedOut(&c)
	r := &run{config: c, scenario: c.Scenario}
	r.Control = plan.NewControl(settingsOf(c), c.Virtual, func(e result.Event) { r.out.Event(e) })
	r.Via = c.Via
	r.acts = actions.New(r.Life)
	if c.Scenario.Network != nil && c.Path == nil {
		return nil, fmt.Errorf("%w: only the command sixnines can set network conditions, not this program: leave network out", plan.ErrUsage)
	}
	for _, p := range c.Scenario.Parts() {
		if err := check(p.Scenario, c.Entry); err != nil {
			return nil, ofWorkload(p.Name, err)
		}
		ld, err := newLoad(r.Control, p)
		if err != nil {
			return nil, ofWorkload(p.Name, err)
		}
		if err := ld.planActs(c.Doer); err != nil {
			return nil, ofWorkload(p.Name, err)
		}
		ld.observer, ld.breathe, ld.provisioned = c.Observer, r.breath.take, c.Provisioned
		r.loads = append(r.loads, ld)
		r.length = max(r.length, ld.Part.From+ld.Length)
	}
	if err := r.planRunActs(); err != nil {
		return nil, err
	}
	for _, ld := range r.loads {
		ld.lasts = r.length - ld.Part.From
	}
	r.Reset()
	r.fullID = fmt.Sprintf("%08x%08x", r.loads[0].Id, rand.Uint32())
	return r, nil
}

// carriedOut returns the scenario as it is carried out. Where an action cuts consumers, what the broker keeps is read
// back if the driver can: what was on its way to them may be delivered again only after the drain.
func carriedOut(c *Config) *scenario.Scenario {
	s := c.Scenario
	cut := func(a scenario.Action) bool { return a.Disconnect != "" && a.Disconnect != scenario.Producers }
	if c.Segment != nil || s.Phases.ReadBack > 0 || s.Target.Topic != "" || !slices.ContainsFunc(s.Actions, cut) || !c.Entry.With(s.Target.Options).ReadsBack {
		return s
	}
	own := *s
	own.Phases.ReadBack = scenario.DefaultReadBack
	return &own
}

// settingsOf returns the part of c that the loads need.
func settingsOf(c Config) plan.Settings {
	var slices *schedule.Slices
	if c.Trial != nil {
		slices = (*schedule.Slices)(c.Trial.Slices)
	}
	return plan.Settings{Entry: c.Entry, Url: cmp.Or(c.URL, c.Scenario.Target.URL, c.Entry.DefaultURL), Options: c.Options,
		Managed: c.Managed != "", SameMachine: c.SameHost, DropEvery: c.DropEvery, Segment: c.Segment, Slices: slices, Peers: c.Peers, Threads: c.Pacers, File: c.File, Abort: c.Abort, Down: c.Down}
}

// progress calls the observer, if the caller gave one. The run's goroutine and the collector call it,
// never at the same time.
func (r *run) progress(p Progress) {
	if r.config.Observer != nil {
		r.config.Observer(p)
	}
}

// ofWorkload says which of several workloads an error is about.
func ofWorkload(name string, err error) error {
	if name == "" || err == nil {
		return err
	}
	return fmt.Errorf("workload %s: %w", name, err)
}

// openConns returns a function that returns the open connections of the sessions that are open now. It is
// safe for concurrent use: sessions that are opened later, to read back, are not among them.
func (r *run) openConns() func() []*transport.Conn {
	var dialers []*transport.Dialer
	for _, ld := range r.loads {
		dialers = append(dialers, ld.session.Dialers...)
	}
	return func() (all []*transport.Conn) {
		for _, d := range dialers {
			all = append(all, d.Open()...)
		}
		return all
	}
}

// ends returns a function that returns the addresses to which the dialers of the sessions that are open now have connected.
func (r *run) ends() func() []netip.AddrPort {
	var dialers []*transport.Dialer
	for _, ld := range r.loads {
		dialers = append(dialers, ld.session.Dialers...)
		if d := ld.churn.Dialer(); d != nil {
			dialers = append(dialers, d)
		}
	}
	return func() (all []netip.AddrPort) {
		for _, d := range dialers {
			all = append(all, d.Ends()...)
		}
		return all
	}
}

// pacers returns the pacers of all loads so far.
func (r *run) pacers() (all []*send.Pacer) {
	for _, ld := range r.loads {
		all = append(all, ld.sending.Pacing.List()...)
	}
	return all
}

// close ends the sessions of all loads.
func (r *run) close() error {
	var errs []error
	for _, ld := range r.loads {
		err := errors.Join(ld.churn.Close(), ld.session.Close())
		for _, l := range driver.LeftOf(err) {
			ld.left = append(ld.left, result.Leftover{What: l.What, Name: l.Name, Why: l.Err.Error(), Class: plan.ClassName(l.Err)})
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// giveUp ends the sessions of all loads after an error that ends the run without a result, and adds to it the leftovers at the broker.
func (r *run) giveUp(why error) error {
	_ = r.close() // why is the error to return
	var left []result.Leftover
	for _, ld := range r.loads {
		left = append(left, ld.left...)
	}
	if len(left) == 0 {
		return why
	}
	return &plan.LeftError{Why: why, Left: left}
}
