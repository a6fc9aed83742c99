package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/spf13/pflag"

	"sixnines/driver"
	"sixnines/internal/engine"
	"sixnines/internal/fleet/coordinator"
	"sixnines/internal/fleet/fleetrun"
	"sixnines/internal/fleet/merge"
	"sixnines/internal/fleet/wire"
	"sixnines/internal/spell"
	"sixnines/internal/vitals"
	"sixnines/result"
	"sixnines/scenario"
)

// fleetOptions are the flags that have the agents of a fleet make the runs.
type fleetOptions struct {
	fleetLogin
	agents int
	labels []string      // KEY=VALUE: an agent must have all of them
	wait   time.Duration // how long the control plane and the agents may take to be there
	shared bool          // the system under test may be the control plane
	apart  bool          // no agent may be on the broker's machine
}

// section has the flags.
func (o *fleetOptions) section() section {
	return sectionOf("Fleet", func(f *pflag.FlagSet) {
		o.flags(f, "fleet", "fleet-", "have agents on other machines send and receive: `URL` of their control plane, such as tls://host:4222, or embedded to start it here; see docs/fleet.md")
		f.IntVar(&o.agents, "fleet-agents", 0, "divide the load between `N` agents; default: all that are there")
		f.DurationVar(&o.wait, "fleet-wait", time.Minute, "wait for at most this `TIME` until the agents are there and ready")
		f.StringArrayVar(&o.labels, "fleet-label", nil, "only agents with the label `KEY=VALUE`, repeatable")
		f.BoolVar(&o.shared, "fleet-shared", false, "let the control plane be the system under test, too: each then slows the other down")
		f.BoolVar(&o.apart, "apart", false, "refuse to run if an agent is on the broker's machine")
	})
}

// check refuses flags that do not go together.
func (o *fleetOptions) check(out *outputOptions) error {
	switch {
	case o.login.URL == "" && (o.agents != 0 || len(o.labels) > 0 || o.apart):
		return wrongUsage("name the control plane with --fleet URL", "--fleet-agents, --fleet-label and --apart are for a fleet, and no fleet is named")
	case o.login.URL == "":
		return nil
	case o.wait < time.Second || o.wait > 24*time.Hour:
		return wrongUsage("it is 1s to 24h", "--fleet-wait cannot be %v", o.wait)
	case o.login.URL == embedded && o.agents == 0:
		return wrongUsage("say how many it waits for with --fleet-agents N", "--fleet embedded starts the control plane, and no agent is there yet")
	case o.agents < 0 || o.agents > wire.MaxAgents:
		return wrongUsage("leave it out to use all agents", "--fleet-agents cannot be %d", o.agents)
	case out.metrics != "" || out.otlp != "" || out.live != "":
		return wrongUsage("leave them out", "--metrics, --otlp and --live show what this process measures, and a fleet measures elsewhere")
	}
	for _, text := range o.labels {
		key, value, ok := strings.Cut(text, "=")
		if err := wire.CheckLabels(map[string]string{key: value}); err != nil || !ok {
			return wrongUsage("write it as --fleet-label zone=b", "--fleet-label: %q is not KEY=VALUE", text)
		}
	}
	return nil
}

// chooses reports whether an agent has all labels that are asked for.
func (o *fleetOptions) chooses(h wire.Hello) bool {
	return !slices.ContainsFunc(o.labels, func(text string) bool {
		key, value, _ := strings.Cut(text, "=") // checked
		has, known := h.Labels[key]
		return !known || has != value
	})
}

// fleet has the agents that make the runs of a command.
type fleet struct {
	*fleetOptions
	conn  *nats.Conn // nil: nothing was run yet
	fewer bool       // a load that not all agents can share is divided between fewer
}

// fleetTakes is what a run on a fleet takes beside its phases: finding the agents, the start that is given ahead, and
// collecting what they recorded.
const fleetTakes = coordinator.Ahead + time.Second

// fleetTakes is [fleetTakes] for each run, if a fleet makes the runs.
func (a *app) fleetTakes() time.Duration {
	if a.fleet == nil {
		return 0
	}
	return fleetTakes
}

// onFleet calls do while the agents of a fleet make the runs, if the flags ask for that.
func (a *app) onFleet(o *outputOptions, do func() error) error {
	if err := o.fleet.check(o); err != nil {
		return err
	}
	if o.fleet.login.URL == "" {
		return do()
	}
	if o.fleet.login.URL == embedded {
		stop, err := a.embed(o)
		if err != nil {
			return err
		}
		defer stop()
	}
	if _, err := o.fleet.given(&a.Env); err != nil {
		return err
	}
	a.fleet = &fleet{fleetOptions: &o.fleet}
	defer func() {
		if a.fleet.conn != nil {
			a.fleet.conn.Close()
		}
		a.fleet = nil
	}()
	return do()
}

// dialFleet connects to the control plane of the fleet that makes the runs, if one does and it is not connected. say is
// called with a line if that takes long.
func (a *app) dialFleet(ctx context.Context, say func(string)) (err error) {
	if a.fleet == nil || a.fleet.conn != nil {
		return nil
	}
	ctx, release := a.interruptible(ctx, nil)
	defer release()
	within := max(controlPatience, a.fleet.wait)
	a.fleet.conn, err = a.fleet.connect(ctx, &a.Env, "run", within, func(err error) {
		say(oneLine(err.Error()) + "; trying for " + spell.Period(within))
	})
	return err
}

// fleetPossible refuses what the agents of a fleet cannot run.
func fleetPossible(s *scenario.Scenario, e driver.Entry) error {
	if err := fleetrun.Check(s); err != nil {
		return fleetUnable(err)
	}
	if s.Network != nil && s.Target.URL != "" {
		return placed(wrongUsage(orCommand, "network conditions are made here, for a broker that this command starts, and this one is elsewhere"), s, "network")
	}
	for _, act := range s.Acts() {
		switch p := act.Properties(); {
		case !p.Run || act.Kind == scenario.ActionExec:
		case act.Nodes() == "" && s.Target.URL != "":
			return placed(wrongUsage(orCommand, "%s is of paths to brokers that this command starts, and this one is elsewhere", act.Kind), s, act.Key())
		}
	}
	_, err := networksPossible(s, e, fleetUnrelayed)
	return err
}

// orCommand is what to do about an action that a fleet cannot carry out.
const orCommand = "leave it out, make the run on one machine, or write exec: a command of yours that does it where the brokers are"

// fleetRefusal refuses loads that the agents of a fleet cannot run, if they are to make the runs.
func (a *app) fleetRefusal(cells []cell) error {
	for i := range cells {
		if err := a.rolesPossible(cells[i].scenario, cells[i].entry); err != nil {
			return err
		}
	}
	if a.fleet == nil {
		return nil
	}
	for i := range cells {
		if err := fleetPossible(cells[i].scenario, cells[i].entry); err != nil {
			return err
		}
	}
	return nil
}

// fleetDivides refuses loads that the agents that are there cannot share, if they are to make the runs: before a broker is
// started and anything is written. Agents that are not there yet are awaited by the run itself.
func (a *app) fleetDivides(ctx context.Context, loads ...*scenario.Scenario) error {
	if a.fleet == nil || a.fleet.fewer || len(loads) == 0 {
		return nil
	}
	found, err := wire.Find(ctx, a.fleet.conn, a.Tool.Version, wire.Search{})
	if err != nil {
		return err
	}
	var agents []wire.Hello
	for _, f := range found {
		if f.Skew == nil && a.fleet.chooses(f.Hello) {
			agents = append(agents, f.Hello)
		}
	}
	if n := a.fleet.agents; n > 0 && len(agents) >= n {
		agents = agents[:n]
	} else if n > 0 || len(agents) == 0 {
		return nil
	}
	for _, s := range loads {
		agents, wanting := agents, ""
		if pick := fleetrun.Picker(s); pick != nil {
			agents, wanting = pick(agents)
		}
		if wanting != "" {
			continue
		}
		if _, err := (fleetrun.Divider{}).Divide(s, agents); err != nil {
			return fleetUnable(err)
		}
	}
	return nil
}

// fleetFor refuses a series of which the agents cannot make a load, and connects to their control plane, if they are to make it.
func (a *app) fleetFor(ctx context.Context, o outputOptions, d design) error {
	cells := d.cells
	if d.kind == result.TrialStudy { // which has cells that are not to be run, too, and refuses its own
		cells = nil
	}
	if err := a.fleetRefusal(cells); err != nil || a.fleet == nil {
		return err
	}
	if err := a.dialFleet(ctx, func(line string) {
		if !o.quiet {
			fmt.Fprintln(a.Stderr, line)
		}
	}); err != nil {
		return err
	}
	return a.fleetDivides(ctx, each(cells, func(c cell) *scenario.Scenario { return c.scenario })...)
}

// fleetStudy refuses cells of a study that the agents of a fleet cannot run, if they are to make the runs, and cells for
// agents if there are none.
func (a *app) fleetStudy(p *studyPlan) error {
	if a.fleet != nil {
		a.fleet.fewer, p.fleet = a.fleet.agents == 0, a.fleetTakes() // its loads are given
	}
	for i := range p.cells {
		c := &p.cells[i]
		_, bench := c.Bench()
		switch {
		case !c.chosen, bench && a.fleet == nil:
			continue
		case bench:
			return wrongUsage("choose others with --only", "cell %s is a benchmark of code, which runs on this machine", c.Name)
		}
		if err := a.fleetRefusal([]cell{c.cell}); err != nil {
			return c.Locate(err)
		}
	}
	return nil
}

// apart divides as another divider does, but not between agents of which one is on the broker's machine.
type apart struct {
	coordinator.Divider
	broker []net.IP
}

// Divide implements coordinator.Divider.
func (d apart) Divide(s *scenario.Scenario, agents []wire.Hello) ([]wire.Segment, error) {
	for i := range agents {
		if onHost(&agents[i], d.broker) {
			return nil, wrongUsage("end that agent, choose others with --fleet-label, or leave --apart out", "agent %s is on the broker's machine", agents[i].Name)
		}
	}
	return d.Divider.Divide(s, agents)
}

// divider divides the load as the flags say.
func (f *fleet) divider(ctx context.Context, s *scenario.Scenario) (coordinator.Divider, error) {
	if !f.apart {
		return fleetrun.Divider{}, nil
	}
	hosts, err := vitals.BrokerHosts(s.Target.URL)
	if err != nil {
		return nil, wrongUsage("give the address in full, or leave --apart out", "--apart: %w", err)
	}
	broker, err := addressesOf(ctx, hosts)
	if err != nil {
		return nil, failed("check the broker's address, or leave --apart out", fmt.Errorf("--apart: %w", err))
	}
	return apart{fleetrun.Divider{}, broker}, nil
}

// fleetUnable is the error about a scenario that no fleet, or not this one, can run.
func fleetUnable(err error) error {
	return &fault{exitUsage, err, "change the scenario, or leave --fleet out; docs/fleet.md says what a fleet can run"}
}

// notInName are the characters that the name of a run on a fleet cannot have.
func notInName() *regexp.Regexp { return regexp.MustCompile(`[^A-Za-z0-9_-]+`) }

// makeOnFleet has the agents make a run whose broker config describes.
func (a *app) makeOnFleet(stops *interrupts, show display, m measurement, config engine.Config) (*result.Run, error) {
	whole := merge.Whole{Tool: a.Tool, Revision: a.revision, Trial: m.trial, Managed: config.Managed, Deployment: config.Deployment}
	if config.Path != nil {
		whole.Network = config.Path.Network()
	}
	for _, p := range m.scenario.Parts() {
		s := p.Scenario.Redacted(m.entry.Secret)
		s.Target.Driver = m.entry.Name
		text, err := s.MarshalJSON()
		if err != nil {
			return nil, fmt.Errorf("encode the scenario: %w", err)
		}
		whole.Scenarios = append(whole.Scenarios, json.RawMessage(text))
	}
	acts, err := fleetrun.NewActs(m.scenario, config.Doer)
	if err != nil {
		return nil, &fault{exitUsage, err, "docs/faults.md says what each action needs"}
	}
	c := &fleetrun.Collector{File: config.File, Whole: whole, Acts: acts, Path: config.Path, Observe: config.Observer,
		Begun: func() { stops.observe(engine.Progress{Phase: result.PhaseMeasure}) }}
	defer c.Close()
	if config.Provisioned != nil {
		c.Leads = func(d driver.DestinationNamer) { config.Provisioned("", d) }
	}
	if acts != nil {
		defer context.AfterFunc(stops.early, acts.Interrupt)()
	}
	sent := remote(m.scenario, config)
	divider, err := a.fleet.divider(stops.early, sent)
	if err != nil {
		return nil, err
	}
	base := strings.TrimSuffix(filepath.Base(m.file), ".jsonl")
	name := notInName().ReplaceAllString(base, "-")
	note, err := json.Marshal(fleetNote{base, whole})
	if err != nil {
		return nil, fmt.Errorf("write down what the run is: %w", err)
	}
	plan := coordinator.Config{Conn: a.fleet.conn, Version: a.Tool.Version, Run: name[:min(len(name), 48)] + "-" + randomHex()[:8],
		Scenario: sent, Entry: m.entry, Divider: divider, Collector: c, Note: note,
		Agents: a.fleet.agents, Fewer: a.fleet.fewer, Ready: a.fleet.wait, Choose: a.fleet.chooses, Pick: fleetrun.Picker(sent), Crosses: sent.Fleet.Divided(), Beside: fleetrun.Beside, Shared: a.fleet.shared, Acts: acts != nil, Abort: stops.abort, Say: show.say}
	show.say("run " + plan.Run)
	show.observe(engine.Progress{Phase: phaseConnect})
	o, err := coordinate(stops, plan)
	switch {
	case stops.vain.Load():
		return nil, cmp.Or(os.RemoveAll(result.AgentsDir(config.File)), err)
	case err != nil:
		return c.Result(), a.fleet.fault(fleetFault(err))
	}
	for _, h := range o.Late {
		show.say("agent " + h.Name + " joined after the load was divided, and has no part in the run")
	}
	return c.Result(), unfinished(stops, o, m.file)
}

// remote is a scenario as agents carry it out: its broker is where config says, and the network is as they find it.
func remote(s *scenario.Scenario, config engine.Config) *scenario.Scenario {
	r := *s
	r.Network = nil
	if config.URL != "" {
		r.Target.URL, r.Target.Managed, r.Target.Nodes, r.Target.Settings = config.URL, "", 0, nil
		r.Target.Options = maps.Clone(config.Options)
		if r.Target.Options == nil {
			r.Target.Options = map[string]any{}
		}
		maps.Copy(r.Target.Options, s.Target.Options)
	}
	return &r
}

// coordinate leads the agents until the run is over, or until a signal ends the wait for it.
func coordinate(stops *interrupts, c coordinator.Config) (*coordinator.Outcome, error) {
	type outcome struct {
		o   *coordinator.Outcome
		err error
	}
	ctx, giveUp := context.WithCancel(stops.early)
	defer giveUp()
	done := make(chan outcome, 1)
	go func() {
		o, err := coordinator.Run(ctx, c)
		done <- outcome{o, err}
	}()
	select {
	case x := <-done:
		return x.o, x.err
	case <-stops.giveUp:
		return nil, fmt.Errorf("%w: gave up waiting for the agents, which keep what they have recorded", engine.ErrAborted)
	}
}

// unfinished is the error of a run that some agents did not finish, though nobody ended it; nil if all did.
func unfinished(stops *interrupts, o *coordinator.Outcome, file string) error {
	asked := stops.early.Err() != nil
	var lost []string
	for i, e := range o.Ends {
		if e.Missing == 0 && (e.Ending == wire.Completed || asked && e.Ending == wire.Interrupted) {
			continue
		}
		lost = append(lost, fmt.Sprintf("agent %s: %s%s", o.Started.Members[i].Name, e.Ending, before(": ", e.Why)))
	}
	select {
	case <-stops.abort:
		return engine.ErrAborted
	default:
	}
	if lost == nil {
		return nil
	}
	return failed("the result in "+file+" has what the agents recorded, and counts the rest of their segments as not sent; see the agents' output, and repeat the run", errors.New(strings.Join(lost, "; ")))
}

// fleetFault says what to do about an error before the start of a run on a fleet.
func fleetFault(err error) error {
	switch {
	case errors.Is(err, fleetrun.ErrScenario):
		return fleetUnable(err)
	case errors.Is(err, coordinator.ErrMissing):
		return failed("start sixnines agent on more machines, or lower --fleet-agents; sixnines fleet list shows which agents are there", err)
	case errors.Is(err, coordinator.ErrRefused):
		return &fault{exitUsage, err, "change the scenario, or what the agents allow; sixnines fleet list shows that"}
	case errors.Is(err, coordinator.ErrFailed):
		return failed("see the output of that agent; the broker's address must be reachable from its machine", err)
	}
	return err
}

// fleetFiles are the files of the agents of a merged result that are beside it; none, if they are not.
func (env *Env) fleetFiles(file string, h *result.Header) []merge.Source {
	if h.Fleet == nil {
		return nil
	}
	if info, err := os.Stat(result.AgentsDir(env.path(file))); err != nil || !info.IsDir() {
		return nil
	}
	return fleetrun.Sources(env.path(file), h.Fleet)
}
