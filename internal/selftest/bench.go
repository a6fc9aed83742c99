package selftest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"sixnines/driver"
	"sixnines/internal/brokers"
	"sixnines/internal/engine"
	"sixnines/internal/secret"
	"sixnines/result"
	"sixnines/scenario"
)

// Bench has the settings and resources of trials. The suite gives every trial a copy
// with a directory of its own.
type Bench struct {
	// Short selects the short form: a minute for all trials instead of three to four.
	// The tolerances are the same, or wider where fewer samples require it.
	Short bool
	// Attempts is the number of attempts of a timed trial that fails; 0: [Attempts].
	Attempts int
	Load     Load
	// Drivers are the drivers; mem and null among them.
	Drivers driver.Set
	Tool    result.Tool
	// Executable is this program, for runs in processes of their own, and
	// Environ their environment.
	Executable string
	Environ    []string
	// Home is where brokers are found.
	Home brokers.Home
	// Dir is an empty directory, the trial's own.
	Dir string
	// Keep, if not nil, stores a noise floor for later runs on this machine and
	// returns a short note on the result. disturbed lists what disturbed the machine
	// during the measurement.
	Keep func(f result.Floor, disturbed []string) (note string, err error)
	// KeepLimits, if not nil, does the same with the generator's limits.
	KeepLimits func(l []Limit, disturbed []string) (note string, err error)
	// Progress, if not nil, receives short messages about the current step.
	Progress func(text string)
}

// Load is the load under which the noise floor is measured.
type Load struct {
	Rate    scenario.Rate
	Size    scenario.Size
	Pattern scenario.Pattern
}

// Say reports progress.
func (b *Bench) Say(format string, a ...any) {
	if b.Progress != nil {
		b.Progress(fmt.Sprintf(format, a...))
	}
}

// Scenario returns the scenario that the text describes, normalised and valid.
func (b *Bench) Scenario(text string) (*scenario.Scenario, error) {
	s, err := scenario.Parse("trial.yaml", []byte(text))
	if err != nil {
		return nil, err
	}
	s.Normalise()
	if err := s.Validate(); err != nil {
		return nil, err
	}
	return s, nil
}

// Run runs a scenario in this process and returns its result as read back from its
// file, which stays in b.Dir. change, if not nil, may modify the engine's
// configuration before the run. If ctx ends during the run Run returns an error:
// part of a window proves nothing.
func (b *Bench) Run(ctx context.Context, s *scenario.Scenario, change func(*engine.Config)) (*result.Run, error) {
	e, ok := b.Drivers.Lookup(s.Target.Driver)
	if !ok {
		return nil, fmt.Errorf("driver %s is not in this build", s.Target.Driver)
	}
	dir, err := os.MkdirTemp(b.Dir, "run-")
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "run.jsonl")
	stopped := make(chan struct{})
	defer context.AfterFunc(ctx, func() { close(stopped) })()
	c := engine.Config{Scenario: s, Entry: e, File: file, Tool: b.Tool, Abort: stopped}
	if change != nil {
		change(&c)
	}
	if _, err := engine.Run(ctx, c); err != nil {
		return nil, errors.Join(context.Cause(ctx), err)
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return result.Load(file)
}

// RunText is [Bench.Run] of a scenario's text.
func (b *Bench) RunText(ctx context.Context, text string, change func(*engine.Config)) (*result.Run, error) {
	s, err := b.Scenario(text)
	if err != nil {
		return nil, err
	}
	return b.Run(ctx, s, change)
}

// brokerPatience is how long a broker may take to start.
const brokerPatience = time.Minute

// Start starts one node of a product with its settings. The caller must stop the
// cluster, see [brokers.Cluster.Stop], and may freeze and thaw it.
func (b *Bench) Start(ctx context.Context, product string, settings map[string]string) (*brokers.Cluster, error) {
	p, ok := brokers.Lookup(product)
	if !ok {
		return nil, fmt.Errorf("there is no broker %s", product)
	}
	ctx, cancel := context.WithTimeout(ctx, brokerPatience)
	defer cancel()
	return brokers.Start(ctx, p, brokers.Options{Home: b.Home, Settings: settings})
}

// At returns a change of an engine's configuration that makes the run use the broker.
func At(c *brokers.Cluster) func(*engine.Config) {
	return func(to *engine.Config) {
		to.URL, to.SameHost, to.Managed = c.URLFor(to.Entry.Name), true, "started by sixnines selftest"
		to.Deployment = &result.Deployment{Product: c.Product, Version: c.Version, Origin: c.Origin, Nodes: 1,
			Settings: secret.Mask(c.Settings)}
	}
}
