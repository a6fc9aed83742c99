package cli

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"sixnines/driver"
	"sixnines/internal/brokers"
	"sixnines/internal/engine"
	"sixnines/internal/faults"
	"sixnines/internal/netns"
	"sixnines/internal/spell"
	"sixnines/result"
	"sixnines/scenario"
)

// brokerStart is how long a broker may take to start: a cluster of virtual
// machines on a busy machine takes a minute.
const brokerStart = 3 * time.Minute

// largeMessage is the size in bytes from which on a broker that we start is configured
// for the message size. Every product carries smaller messages with its default limits.
const largeMessage = 256 << 10

// withoutBroker reports whether the driver needs no broker: peers talk directly, or the
// broker is part of the driver, which a default address without a host shows.
func withoutBroker(e driver.Entry) bool {
	return e.Capabilities.Brokerless || e.InProcess
}

// managedProduct returns the product to start for the scenario's run; ok false: no broker
// is started. Impossible requests are wrong usage.
func managedProduct(s *scenario.Scenario, e driver.Entry) (p brokers.Product, ok bool, err error) {
	t := &s.Target
	if t.URL != "" {
		return p, false, nil
	}
	switch {
	case t.Managed != "":
		if p, err = product(t.Managed); err != nil {
			return p, false, placed(err, s, "target.managed")
		}
		if len(p.Drivers) > 0 && !slices.Contains(p.Drivers, e.Name) {
			return p, false, wrongUsage(fmt.Sprintf("%s works with the drivers %s", p.Name, strings.Join(p.Drivers, ", ")),
				"driver %s cannot talk to %s", e.Name, p.Name)
		}
		ok = true
	case !withoutBroker(e):
		p, ok = brokers.ForDriver(e.Name)
	}
	if !ok {
		if t.Nodes != 0 || len(t.Settings) > 0 {
			return p, false, wrongUsage("leave --nodes and --setting out", "no broker is started for driver %s, so there is nothing to configure", e.Name)
		}
		return p, false, nil
	}
	if err := checkNodes(p, max(1, t.Nodes)); err != nil {
		return p, false, err
	}
	for _, part := range s.Parts() {
		if w := &part.Workload; w.Retains() || w.Existing != "" {
			return p, false, wrongUsage("give --url; sixnines broker up "+p.Name+" starts one that keeps running",
				"a broker that is started for the run holds nothing from earlier runs and keeps nothing for later ones")
		}
	}
	return p, true, nil
}

// checkNodes refuses a number of nodes that cannot be started.
func checkNodes(p brokers.Product, nodes int) error {
	switch {
	case len(p.Clusters) == 0:
		return wrongUsage("run one of its drivers: "+strings.Join(p.Drivers, ", "), "%s has no broker to start", p.Name)
	case !slices.Contains(p.Clusters, nodes):
		return wrongUsage("choose "+countsOf(p.Clusters), "%s cannot have %s", p.Name, plural(nodes, "node"))
	}
	return nil
}

// actsPossible refuses acts on the nodes of a broker that is not started for the run.
func actsPossible(s *scenario.Scenario, e driver.Entry) error {
	for _, a := range scenario.OfKind(s.Acts(), scenario.ActionExec) {
		if !a.Exec.Allowed() {
			return placed(wrongUsage("write the action into a scenario file, and name the file", "%s: %w", a.Kind, faults.ErrForeignCommands), s, a.Key())
		}
	}
	p, ours, err := managedProduct(s, e)
	switch {
	case err != nil:
		return err
	case ours:
		err := leadersPossible(p, s, e)
		if err == nil {
			err = disksPossible(p, s)
		}
		if err == nil && s.Apart() {
			err = namespacesPossible(s)
		}
		return err
	}
	for _, a := range s.Acts() {
		switch {
		case a.Nodes() == "" && a.Kind != scenario.ActionCut:
		case a.Kind == scenario.ActionCut && s.Target.URL != "":
			if err := relayedCut(s, &a, unrelayed(s, e)); err != nil {
				return err
			}
		case s.Target.URL != "":
			return placed(wrongUsage("leave the broker's address out, and one is started for the run",
				"%s needs a broker that is started for the run, and this one is not", a.Kind), s, a.Key())
		case withoutBroker(e):
			return placed(wrongUsage("choose a driver whose broker is started for the run, such as nats", "%s: driver %s has no broker", a.Kind, e.Name), s, a.Key())
		default:
			return placed(wrongUsage("choose one that is; sixnines broker list shows them", "%s: the broker of driver %s is not started for the run", a.Kind, e.Name), s, a.Key())
		}
	}
	return nil
}

// relayedCut refuses a cut that a relay between clients and a broker cannot do, which sixnines has not started.
func relayedCut(s *scenario.Scenario, a *scenario.Act, unrelayed string) error {
	switch _, _, all := a.Cut.Clients(); {
	case !all:
		return placed(wrongUsage("leave the broker's address out: one is started for the run then; or write cut: {from: clients, to: all}",
			"%s of single nodes happens to a broker that is started for the run, and this one is not", a.Kind), s, a.Key())
	case unrelayed != "":
		return placed(wrongUsage("exec runs a command of yours that cuts it", "%s: a relay would cut clients from this broker, and %s", a.Kind, unrelayed), s, a.Key())
	}
	return nil
}

// leadersPossible refuses acts on leaders of a cluster in which the driver's messages have none, on followers where there
// are none, and transfers of leaders that stay.
func leadersPossible(p brokers.Product, s *scenario.Scenario, e driver.Entry) error {
	if s.Target.Nodes < 2 {
		return nil // the one node leads everything
	}
	led, can := slices.Contains(p.Led, e.Name), e.With(s.Target.Options)
	for _, a := range s.Acts() {
		transfer := a.Kind == scenario.ActionTransfer
		switch {
		case a.Led() && !led:
			return placed(wrongUsage("name nodes by number, from 0, or write random or all", "%s: messages of driver %s have no leader among the %s of %s", a.Kind, e.Name, plural(s.Target.Nodes, "node"), p.Name), s, a.Key())
		case (transfer || a.Names(scenario.Followers)) && can.Unreplicated.Why != "":
			return placed(wrongUsage(can.Unreplicated.Instead, "%s: %s, so it has a leader and no followers", a.Kind, can.Unreplicated.Why), s, a.Key())
		case transfer && can.Unmovable.Why != "":
			return placed(wrongUsage(can.Unmovable.Instead+"; or write terminate: {node: leader}, with restart, which makes another node lead", "%s: %s", a.Kind, can.Unmovable.Why), s, a.Key())
		}
	}
	return nil
}

// machineLacks is an error about an action for which this machine has no means; another one may have.
type machineLacks struct{ error }

func (m machineLacks) Unwrap() error { return m.error }

// namespacesPossible refuses acts that need a network namespace for each node, where there can be none.
func namespacesPossible(s *scenario.Scenario) error {
	n, err := netns.New()
	if err == nil {
		err = n.Close()
	}
	if err == nil {
		return nil
	}
	all := s.Acts()
	i := slices.IndexFunc(all, func(a scenario.Act) bool {
		return a.Kind == scenario.ActionCut || a.Kind == scenario.ActionNetwork && a.Network.Resolved().Among()
	})
	return machineLacks{placed(wrongUsage("run as root on Linux; to stall or freeze a node needs no privileges", "%s needs a network namespace for each node: %w", all[i].Kind, err), s, all[i].Key())}
}

// disksPossible refuses acts for which data must be on file systems of their own, where they cannot be.
func disksPossible(p brokers.Product, s *scenario.Scenario) error {
	a := needsDisks(s)
	if a == nil {
		return nil
	}
	err := p.CheckDisks()
	if err == nil {
		return nil
	}
	refused := placed(wrongUsage("kill: {node: "+string(a.Nodes())+"} only ends the processes, which needs no privileges and loses less", "%s: %w", a.Kind, err), s, a.Key())
	if errors.Is(err, brokers.ErrNoDisk) {
		return refused
	}
	return machineLacks{refused}
}

// needsDisks returns the first act for which the nodes' data must be on file systems of their own; nil: none.
func needsDisks(s *scenario.Scenario) *scenario.Act {
	for _, a := range s.Acts() {
		if a.Properties().Disks {
			return &a
		}
	}
	return nil
}

// countsOf writes numbers of nodes: "1, 3 or 5 nodes".
func countsOf(counts []int) string {
	words := each(counts, func(n int) string { return fmt.Sprint(n) })
	if n := len(words); n > 1 {
		words = append(words[:n-2], words[n-2]+" or "+words[n-1])
	}
	text := strings.Join(words, ", ")
	if text == "1" {
		return "1 node"
	}
	return text + " nodes"
}

// needsURL reports whether a scenario says neither where its broker is nor lets
// us start one, nor does without.
func needsURL(s *scenario.Scenario, e driver.Entry) bool {
	if s.Target.URL != "" || s.Target.Managed != "" || withoutBroker(e) {
		return false
	}
	_, ok := brokers.ForDriver(e.Name)
	return !ok
}

// managedBroker is a broker that was started for runs.
type managedBroker struct {
	env     *Env
	cluster *brokers.Cluster
	driver  string
	nodes   int
	// scenario is the scenario that it was started for.
	scenario *scenario.Scenario
	conceal  func(error) error            // removes the scenario's secrets from an error
	say      atomic.Pointer[func(string)] // reports a node that ends; nil: not reported yet; read by died
}

// brokerOptions are what a broker is started with for a scenario's run.
func brokerOptions(s *scenario.Scenario) brokers.Options {
	o := brokers.Options{Nodes: max(1, s.Target.Nodes), Settings: s.Target.Settings, Apart: s.Apart()}
	if size := int(s.Heaviest()); size > largeMessage {
		o.MaxMessage = size
	}
	if needsDisks(s) != nil {
		o.Disks = &brokers.Disks{}
	}
	return o
}

// brokerKey is the same for scenarios that one broker can serve, one after the
// other.
func brokerKey(p brokers.Product, s *scenario.Scenario) string {
	o := brokerOptions(s)
	return fmt.Sprintf("%q %d %d %q %t %t", p.Name, o.Nodes, o.MaxMessage, o.Settings, o.Apart, o.Disks != nil)
}

// startBroker starts the product for the scenario's run.
func (a *app) startBroker(ctx context.Context, p brokers.Product, s *scenario.Scenario, e driver.Entry) (*managedBroker, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, brokerStart, fmt.Errorf("it took longer than %s: %w", spell.Period(brokerStart), context.DeadlineExceeded))
	defer cancel()
	h, _ := a.home() // brokers that are built in or on PATH also run without it
	o := brokerOptions(s)
	o.Home = h
	if o.Disks != nil {
		o.Disks.Journal = a.journal
	}
	b := &managedBroker{env: &a.Env, driver: e.Name, conceal: func(err error) error { return conceal(err, s, e) }, nodes: o.Nodes, scenario: s}
	o.Died = b.died
	c, err := brokers.Start(ctx, p, o)
	if err != nil {
		return nil, brokerFault(conceal(err, s, e), p, byScratch)
	}
	b.cluster = c
	return b, nil
}

// Err returns why the broker ended by itself; nil while it runs.
func (b *managedBroker) Err() error { return b.cluster.Err() }

// Stop ends the broker, and tells of one that does not end.
func (b *managedBroker) Stop() {
	if err := b.cluster.Stop(context.Background()); err != nil {
		fmt.Fprintln(b.env.Stderr, oneLine(b.conceal(err).Error()))
	}
}

// died reports a process that ended by itself, when it does.
func (b *managedBroker) died(err error) {
	if say := b.say.Load(); say != nil {
		(*say)(oneLine(b.conceal(err).Error()))
	}
}

// String names the broker for people.
func (b *managedBroker) String() string {
	nodes := b.cluster.Nodes()
	pids := each(nodes, func(i *brokers.Instance) string { return fmt.Sprint(i.PID) })
	processes := "process " + pids[0]
	if len(pids) > 1 {
		processes = plural(len(pids), "node") + ", processes " + strings.Join(pids, " ")
	}
	return fmt.Sprintf("%s %s (%s) at %s", b.cluster.Product, b.cluster.Version, processes, b.cluster.URLFor(b.driver))
}

// configure tells the engine, and what acts on the broker, of it.
func (b *managedBroker) configure(c *engine.Config, t *faults.Target) {
	c.URL, c.SameHost = b.cluster.URLFor(b.driver), true
	c.Managed = "started by sixnines"
	if b.nodes > 1 {
		c.Managed = plural(b.nodes, "node") + " started by sixnines"
	}
	addresses := each(b.cluster.Addresses(), netip.Addr.String)
	switch {
	case len(addresses) > 1:
		c.Managed += ", each in a network namespace of its own"
	case len(addresses) == 1:
		c.Managed += ", in a network namespace of its own"
	}
	c.Deployment = &result.Deployment{Product: b.cluster.Product, Version: b.cluster.Version, Origin: b.cluster.Origin,
		Nodes: b.nodes, Addresses: addresses, Settings: b.scenario.ShowSettings(b.cluster.Settings)}
	if size := b.cluster.Disk(); size > 0 {
		c.Deployment.FileSystem = &result.FileSystem{Type: "ext4", Bytes: size}
	}
	c.Usage, c.Down = b.usage, b.cluster.Down
	t.Cluster, t.Network.URL = b.cluster, c.URL
	c.Provisioned = t.Provisioned
	// The driver reads the settings in effect from the server's monitoring. Its address
	// is not part of the scenario, since the next server has another one.
	if at := b.cluster.Info["monitoring"]; at != "" && c.Entry.Monitoring != "" {
		c.Options = map[string]any{c.Entry.Monitoring: at}
	}
}

// usage returns what the broker's processes have used, as the engine asks for
// it.
func (b *managedBroker) usage() []engine.Usage {
	var all []engine.Usage
	for _, u := range b.cluster.Usage() {
		x := engine.Usage{Name: u.Name, CPU: u.UserCPU + u.SysCPU, RSS: u.RSS, ReadBytes: u.ReadBytes, WriteBytes: u.WriteBytes}
		if u.Err != nil {
			x.Missing = true
			if !u.Ended.IsZero() && !errors.Is(u.Err, os.ErrProcessDone) {
				x.Ended, x.Death = u.Ended, oneLine(b.conceal(u.Err).Error())
			}
		}
		all = append(all, x)
	}
	return all
}
