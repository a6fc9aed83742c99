// Package sixnines measures the latency of message brokers, and of anything else that
// answers requests.
//
// It sends on a fixed schedule that the system under test cannot slow down, and times
// every message from the instant it was due. It keeps the complete distribution, to
// 99.9999 % and the maximum, and measures beside it what the generator added itself.
//
// [Run] executes a scenario against a broker:
//
//	s, err := scenario.ParseFile("orders.yaml")
//	…
//	run, err := sixnines.Run(ctx, s, all.Set(), sixnines.WithFile("orders.jsonl"))
//	…
//	d := run.Summary.Histograms[result.DeliveryResponse]
//	fmt.Println(run.Summary.Verdict.Status, time.Duration(d.Percentiles["99.9"]))
//
// [RunRequester] does the same to whatever can be put behind one method:
//
//	run, err := sixnines.RunRequester(ctx, s, newRequester)
//
// What a run wrote down can be read again with package result, and turned into
// tables, pictures and other formats by the command: sixnines report FILE.
//
// A run takes the process over: it raises GOMAXPROCS and holds the garbage
// collector back while it measures, and undoes both. Whatever else the process
// does meanwhile is part of the measurement.
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
	// ErrUsage: the scenario is not valid, or asks for what its driver cannot
	// do. The message says what to change; where the scenario itself is at
	// fault the error also is a scenario.Errors.
	ErrUsage = engine.ErrUsage
	// ErrAborted: the run was ended at once, see [Run] and [WithAbort].
	ErrAborted = engine.ErrAborted
)

// Run executes s against the broker that it names, through one of the drivers,
// and returns what was measured. s is not changed: a copy is normalised and
// validated.
//
// The end of ctx ends the measured window early. The run then drains, writes
// and returns a result marked as interrupted, and no error; only if ctx ends
// before there is load is nothing measured, and the error wraps [ErrAborted]. With
// [ErrAborted] as its cause, see [context.WithCancelCause], the run ends at once, without
// waiting for outstanding messages: the error wraps ErrAborted, and what was measured
// until then is returned and written.
//
// The broker must be running already: Run starts none. Its address is
// s.Target.URL or [WithURL]; only drivers whose broker is part of the process
// (mem) need neither. A run that is not to be trusted is no error: look at
// result.Run.Summary.Verdict; of several workloads each has its own, in
// result.Run.Parts.
//
// Errors wrap [ErrUsage], [ErrAborted] or a class of package driver. With
// ErrAborted the result may be there all the same, as far as it goes.
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
	n := *s // what Normalise fills in is in the struct itself, not behind its pointers
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
