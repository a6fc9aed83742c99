package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"sixnines/driver"
	"sixnines/internal/brokers"
	"sixnines/internal/engine"
	"sixnines/internal/faults"
	"sixnines/internal/probe"
	"sixnines/internal/trials"
	"sixnines/result"
	"sixnines/scenario"
)

// measurement is one run to be made, with fresh connections and the broker that
// it needs.
type measurement struct {
	scenario *scenario.Scenario // as load returns it
	entry    driver.Entry
	file     string         // where the result goes, as the user would name it
	streamed bool           // the file is a copy that does not stay
	about    string         // what the live page calls it; may be empty
	trial    *result.Trial  // nil: the run stands alone
	keeper   *trials.Keeper // of the broker; nil: it is for this run alone
	// start, if not nil, is the run's engine.Config.Start.
	start func(context.Context, int64) (int64, error)
}

// measure makes a run. It starts the broker first, if the scenario asks for that and no
// suitable broker is kept. If run is nil, the error says why and no file is left. If both
// are set, m.file has the result of a run that did not end normally.
func (a *app) measure(stops *interrupts, show display, m measurement) (run *result.Run, err error) {
	s, e := m.scenario, m.entry
	for _, part := range s.Parts() {
		if _, err := possible(part.Scenario, e); err != nil {
			return nil, err // before a broker is started for it
		}
	}
	if err := a.rolesPossible(s, e); err != nil {
		return nil, err
	}
	if a.fleet != nil {
		if err := fleetPossible(s, e); err != nil {
			return nil, err
		}
		err := a.dialFleet(stops.early, show.say)
		if err == nil {
			err = a.fleetDivides(stops.early, s)
		}
		if err != nil && stops.vain.Load() {
			return nil, a.inVain(m.file)
		} else if err != nil {
			return nil, err
		}
	}
	a.restore(stops.early, show.say)
	config := engine.Config{Scenario: s, Entry: e, File: a.path(m.file), Tool: a.Tool, Revision: a.revision, Trial: m.trial,
		Idle: a.self(idleCommand), Probe: a.self(probe.Command),
		Observer: func(p engine.Progress) { stops.observe(p); show.observe(p); sayLeft(show, p) }, Abort: stops.abort, Start: m.start}
	if a.fleet == nil { // they are this machine's
		config.Floor, config.Limit = a.noiseFloor(s, show.say), a.generatorLimit(s, show.say)
	}
	target := &faults.Target{Seed: s.Seed, Journal: a.journal, Network: a.networkOf(s, e)}
	config.Doer, config.Connected = target.Doer, target.Connected
	if a.live != nil {
		config.Exporter = a.live
		observe := config.Observer
		config.Observer = func(p engine.Progress) { observe(p); a.live.Phase(p.Phase) }
		defer func() { a.live.Finish(run) }()
		if a.push != nil {
			a.push.Tell(func(err error) { show.say("otlp: " + err.Error() + "; the run continues") })
			defer a.push.Tell(nil)
		}
	}
	defer a.onPage(m, show)(&run)
	product, managed, err := managedProduct(s, e)
	if err != nil {
		return nil, err
	}
	if m.keeper == nil {
		m.keeper = &trials.Keeper{}
		// The broker always ends: by this call, or by the kernel if this process dies.
		defer m.keeper.Stop("")
	}
	died := func() error { return nil }
	if managed {
		broker, err := a.brokerFor(stops.early, product, m, show)
		if stops.vain.Load() && err != nil {
			return nil, a.inVain(m.file)
		}
		if err != nil {
			return nil, err
		}
		died = broker.Err
		broker.configure(&config, target)
		if changesBroker(s) {
			defer m.keeper.Spoil("actions of the previous run changed it")
		}
	}
	release, err := a.startRelay(stops.early, target, s, &config)
	if err != nil {
		return nil, err
	}
	defer release()
	if s.Network != nil {
		held, release, err := a.hold(stops.early, target, s, show.say)
		if stops.vain.Load() && err != nil {
			return nil, a.inVain(m.file)
		}
		if err != nil {
			return nil, err
		}
		defer release()
		config.Path = held
	}
	if a.fleet != nil {
		run, err = a.makeOnFleet(stops, show, m, config)
	} else {
		run, err = execute(stops, config)
	}
	err = conceal(err, s, e)
	death := conceal(died(), s, e)
	switch {
	case stops.vain.Load():
		return nil, a.inVain(m.file)
	case run == nil:
		if a.fleet == nil && !managed && errors.Is(err, driver.ErrForbidden) {
			a.showRefused(stops.early, s, e)
		}
		return nil, runFault(err, s, e, managed)
	case err != nil:
		err = runFault(err, s, e, managed)
	case death != nil:
		result := "the result in " + m.file
		if m.streamed {
			result = "the result"
		}
		err = failed(result+" covers the run up to then; repeat it, and check the system's log if this happens again", death)
	}
	run.SetPath(m.file)
	return run, err
}

// changesBroker reports whether a run leaves its broker other than it was: such a broker serves no
// other run.
func changesBroker(s *scenario.Scenario) bool {
	return s.Apart() || slices.ContainsFunc(s.Acts(), func(a scenario.Act) bool { return a.Nodes() != "" || a.Kind == scenario.ActionExec })
}

// sayLeft reports the name of topics and groups that stay at the broker, while the run still
// uses them.
func sayLeft(show display, p engine.Progress) {
	if p.LeftAs == "" {
		return
	}
	show.say("the topics" + before(" of ", p.Workload) + " remain at the broker: --existing " + p.LeftAs + " uses them, even while this run continues")
}

// brokerFor returns the broker for a run: the one that is kept, or a fresh one.
func (a *app) brokerFor(ctx context.Context, p brokers.Product, m measurement, show display) (*managedBroker, error) {
	fresh := false
	kept, err := m.keeper.Get(brokerKey(p, m.scenario), func() (trials.Broker, error) {
		fresh = true
		patience := time.AfterFunc(time.Second, func() { show.say("starting " + p.Name + " …") })
		defer patience.Stop()
		b, err := a.startBroker(ctx, p, m.scenario, m.entry)
		if err != nil {
			return nil, err
		}
		show.say("started " + b.String())
		return b, nil
	})
	if err != nil {
		return nil, err
	}
	b := kept.(*managedBroker)
	b.driver = m.entry.Name
	say := show.say
	b.say.Store(&say)
	if !fresh {
		b.rest(ctx, say)
	}
	return b, nil
}

// inVain ends a run that was stopped before its window began, and removes its files, which
// hold nothing.
func (env *Env) inVain(file string) error {
	for _, f := range []string{file, strings.TrimSuffix(file, ".jsonl") + ".raw"} {
		if err := os.Remove(env.path(f)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return failed("remove the file: it is empty", err)
		}
	}
	return failed("repeat the run; its window begins after the warm-up, see --warmup",
		errors.New("stopped before the measured window began: no result was written"))
}

// errGaveUp ends a run that does not react to being aborted.
var errGaveUp = errors.New("gave up waiting for the run to end; the result file has everything measured until then")

// execute runs the engine until it returns, or until a signal ends the wait for it.
func execute(stops *interrupts, config engine.Config) (*result.Run, error) {
	type outcome struct {
		run *result.Run
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		run, err := engine.Run(stops.early, config)
		done <- outcome{run, err}
	}()
	select {
	case o := <-done:
		return o.run, o.err
	case <-stops.giveUp:
		return nil, fmt.Errorf("%w: %w", engine.ErrAborted, errGaveUp)
	}
}
