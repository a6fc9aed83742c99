// Package sixnines measures the latency of message brokers, and of anything else that
// answers requests.
//
// It sends on a fixed schedule that the system under test cannot slow down, and times
// every message from the instant it was due. It keeps the complete distribution, to
// 99.9999 % and the maximum, and also measures the delay that the generator itself added.
//
// [Run] executes a scenario against a broker:
//
//	s, err := scenario.ParseFile("orders.yaml")
//	…
//	run, err := sixnines.Run(ctx, s, all.Set(), sixnines.WithFile("orders.jsonl"))
//	…
//	p999, ok := run.Summary.Histograms[result.DeliveryResponse].At("99.9")
//	fmt.Println(run.Summary.Verdict.Status, time.Duration(p999.Value), ok)
//
// [RunRequester] does the same for any system that fits behind one method:
//
//	run, err := sixnines.RunRequester(ctx, s, newRequester)
//
// Package result reads the file of a run again, and the command sixnines report FILE
// turns it into tables, charts and other formats.
//
// A run takes over the process: it raises GOMAXPROCS and delays the garbage
// collector while it measures, and restores both afterwards. Whatever else the
// process does meanwhile influences the measurement.
package sixnines

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"sixnines/driver"
	"sixnines/internal/engine"
	"sixnines/result"
	"sixnines/scenario"
)

// Errors of [Run] and [RunRequester], besides the classes of package driver.
var (
	// ErrUsage: the scenario is not valid, or needs something that its driver cannot
	// do. The message says what to change; if the scenario itself is wrong, the error
	// also wraps a scenario.Errors.
	ErrUsage = engine.ErrUsage
	// ErrAborted: the run was ended at once, see [Run] and [WithAbort].
	ErrAborted = engine.ErrAborted
)

// Run executes s against the broker that it names, through one of the drivers,
// and returns what was measured. s is not changed: a copy is normalised and
// validated.
//
// The end of ctx ends the measured window early. The run then drains, writes and
// returns a result that is marked as interrupted, and no error. If ctx ends before the
// load begins, nothing is measured and the error wraps [ErrAborted]. If ctx ends with
// the cause [ErrAborted], see [context.WithCancelCause], the run ends at once, without
// waiting for outstanding messages: the error wraps ErrAborted, and the measurements
// until then are returned and written.
//
// The broker must be running already: Run does not start one. Its address is
// s.Target.URL or [WithURL]; only drivers whose broker is part of the process (mem)
// need neither. A result that cannot be trusted is not an error: check
// result.Run.Summary.Verdict. Each of several workloads has its own verdict, in
// result.Run.Parts.
//
// Errors wrap [ErrUsage], [ErrAborted] or a class of package driver. With ErrAborted
// the result may be non-nil; it then ends where the run ended.
//
// Run is safe for concurrent use, but two runs in one process measure each
// other.
func Run(ctx context.Context, s *scenario.Scenario, drivers driver.Set, opts ...Option) (*result.Run, error) {
	s, err := settle(s)
	if err != nil {
		return nil, err
	}
	entry, ok := drivers.Lookup(s.Target.Driver)
	if !ok {
		known := "it is empty"
		if names := drivers.Names(); len(names) > 0 {
			known = "it has " + strings.Join(names, ", ")
		}
		return nil, fmt.Errorf("%w: target.driver: there is no driver %q in the set; %s", ErrUsage, s.Target.Driver, known)
	}
	c := configure(s, entry, opts)
	if s.Target.URL == "" && c.URL == "" && !entry.InProcess {
		return nil, fmt.Errorf("%w: target.url: where is the %s broker? Give its address in the scenario or by WithURL, for example %s; only the command sixnines starts one of its own",
			ErrUsage, entry.Name, exampleURL(entry))
	}
	return run(ctx, c)
}

// settle returns a normalised, valid copy of s.
func settle(s *scenario.Scenario) (*scenario.Scenario, error) {
	if s == nil {
		return nil, fmt.Errorf("%w: there is none (nil)", ErrUsage)
	}
	n := *s // a shallow copy is enough: Normalise changes nothing behind pointers
	n.Normalise()
	if err := n.Validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUsage, err)
	}
	return &n, nil
}

// configure makes the engine's configuration.
func configure(s *scenario.Scenario, entry driver.Entry, opts []Option) engine.Config {
	c := engine.Config{Scenario: s, Entry: entry, Tool: tool()}
	for _, o := range opts {
		o.set(&c)
	}
	return c
}

func exampleURL(e driver.Entry) string {
	if e.DefaultURL == "" {
		return "HOST:PORT"
	}
	return e.DefaultURL
}

// tool describes this program in the result's header: the main package that
// uses the library, and the library's own version where it is a dependency.
func tool() result.Tool {
	t := result.Tool{Name: "sixnines", Version: "devel", Go: runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return t
	}
	const path = "sixnines"
	if info.Main.Path == path {
		if v := info.Main.Version; v != "" && v != "(devel)" {
			t.Version = v
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				t.Revision = s.Value
			}
		}
		return t
	}
	t.Name = "sixnines, as a library of " + info.Path
	for _, m := range info.Deps {
		if m.Path == path {
			t.Version = m.Version
		}
	}
	return t
}
