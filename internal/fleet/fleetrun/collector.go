package fleetrun

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"sixnines/driver"
	"sixnines/internal/clock"
	"sixnines/internal/engine"
	"sixnines/internal/fleet/coordinator"
	"sixnines/internal/fleet/merge"
	"sixnines/internal/judge"
	"sixnines/result"
)

// Collector keeps what the agents record, each in a file of its own, and merges that into one result. It implements
// coordinator.Collector, and belongs to one run.
type Collector struct {
	// File is the result; it must not exist, but as the result of the same run. The agents' are in [result.AgentsDir] of it.
	File  string
	Whole merge.Whole
	// Acts are carried out from the common start on, until the agents have ended; nil: no actions.
	Acts *Acts
	// Leads, if not nil, is called before that with what leaders of the broker are asked for, if the agents have made any such thing.
	Leads func(driver.DestinationNamer)
	// Path has the conditions of the whole run's network, which are removed when the agents have ended; nil without any.
	Path engine.Path
	// Begun, if not nil, is called when the window begins, from a goroutine of its own.
	Begun func()
	// Observe, if not nil, is called with what all agents together did last, about once an interval.
	Observe func(engine.Progress)

	again    bool        // File is there, of the same run, and is to be merged again
	kept     *result.Run // File, if it is the whole result of the same run: nothing is collected again
	started  *coordinator.Started
	files    []*os.File
	begins   *time.Timer
	progress *progress
	run      *result.Run
}

// Sources are the agents of a merged result, with the files that are beside it; that of the probe, if there is one, comes last.
func Sources(file string, f *result.Fleet) (all []merge.Source) {
	for _, a := range f.Agents {
		all = append(all, merge.Source{Name: a.Name, Host: a.Host, Path: filepath.Join(result.AgentsDir(file), a.Name+".jsonl")})
	}
	if p := f.Probe; p != nil {
		all = append(all, merge.Source{Name: p.Name, Host: p.Host, Path: filepath.Join(result.AgentsDir(file), p.Name+".jsonl")})
	}
	return all
}

// Result is the merged result; nil if the run has none.
func (c *Collector) Result() *result.Run { return c.run }

// Begin implements coordinator.Collector.
func (c *Collector) Begin(s *coordinator.Started) error {
	if _, err := os.Stat(c.File); !errors.Is(err, fs.ErrNotExist) {
		if c.again = err == nil && c.isOf(s); !c.again {
			return fmt.Errorf("%s: %w", c.File, errors.Join(err, fs.ErrExist))
		}
		// It was merged by who knew the clocks, and what was done to the broker: nobody can do better now.
		if run, err := result.Load(c.File); err == nil && run.Complete() && judge.Altered(run) == "" {
			c.started, c.kept = s, run
			return nil
		}
	}
	if err := os.MkdirAll(result.AgentsDir(c.File), 0o755); err != nil {
		return err
	}
	c.started = s
	if s.Leads != nil && c.Leads != nil {
		c.Leads(led(*s.Leads))
	}
	if c.Acts != nil {
		c.Acts.Start(s.Start)
	}
	for _, m := range s.Members {
		// A file that is there is of a run that was killed before it had a result. Others are not ours.
		f, err := os.OpenFile(c.path(m), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644)
		if err != nil {
			return err
		}
		c.files = append(c.files, f)
	}
	if c.Observe != nil {
		c.progress = newProgress(s.Members, c.Observe)
	}
	if c.Begun != nil {
		c.begins = time.AfterFunc(time.Duration(s.Start-clock.Now()), c.Begun)
	}
	return nil
}

// isOf reports whether the result that is there is of this very run: another coordinator had merged it, and died before the agents
// knew. The agents are the same, and began at the same instants of their clocks.
func (c *Collector) isOf(s *coordinator.Started) bool {
	all, err := headersOf(c.File)
	if err != nil || len(all) == 0 || all[0].Fleet == nil {
		return false
	}
	agents := all[0].Fleet.Agents
	for _, m := range s.Members {
		if Beside(m.Segment) {
			continue
		}
		i := slices.IndexFunc(agents, func(a result.Agent) bool { return a.Name == m.Name })
		h, err := headersOf(c.path(m))
		if i < 0 || err != nil || len(h) == 0 || h[0].ID != agents[i].ID || agents[i].Start == nil || h[0].Clock.Start-int64(h[0].From) != s.Start+m.Offset+agents[i].Start.Late {
			return false
		}
	}
	return true
}

// path is where the result of an agent is.
func (c *Collector) path(m coordinator.Member) string {
	return filepath.Join(result.AgentsDir(c.File), m.Name+".jsonl")
}

// Collect implements coordinator.Collector.
func (c *Collector) Collect(of int, _ uint64, record []byte) error {
	if c.kept != nil {
		return nil // its file is beside the result
	}
	if _, err := c.files[of].Write(record); err != nil {
		return err
	}
	if c.progress != nil && !Beside(c.started.Members[of].Segment) {
		c.progress.add(of, record)
	}
	return nil
}

// Close closes what is open. What was collected stays.
func (c *Collector) Close() error {
	var errs []error
	if c.begins != nil {
		c.begins.Stop()
	}
	if c.Acts != nil {
		c.Whole.Events = c.Acts.End()
	}
	for _, f := range c.files {
		errs = append(errs, f.Close())
	}
	c.files = nil
	return errors.Join(errs...)
}

// Finish implements coordinator.Collector.
func (c *Collector) Finish(ends []coordinator.End) error {
	for _, f := range c.files {
		if err := f.Sync(); err != nil {
			return err
		}
	}
	if err := c.Close(); err != nil {
		return err
	}
	if c.kept != nil {
		c.run = c.kept
		return nil
	}
	if c.Path != nil {
		c.Whole.Events = append(c.Whole.Events, engine.NetworkOver(c.Path).Since(c.started.Start))
	}
	if err := c.complete(); err != nil {
		return err
	}
	var sources []merge.Source
	for _, m := range c.started.Members {
		sources = append(sources, merge.Source{Name: m.Name, Host: m.Host, Path: c.path(m)})
	}
	c.Whole.Clocks, c.Whole.Starts = c.clocks(ends), c.starts(ends)
	if c.again { // all records are here once more
		if err := os.Remove(c.File); err != nil {
			return err
		}
	}
	run, err := merge.Files(c.File, sources, c.Whole)
	if err != nil {
		return err
	}
	c.run = run
	return nil
}

// clocks says how the agents' clocks were followed, by their names; nil: they have one, or no message comes from one agent to
// another. Where another coordinator followed them, what that found is not known.
func (c *Collector) clocks(ends []coordinator.End) map[string]*result.AgentClock {
	all := map[string]*result.AgentClock{}
	followed, several := false, false
	var first *coordinator.Member // of the load
	for i, m := range c.started.Members {
		if Beside(m.Segment) {
			continue
		}
		if first == nil {
			first = &c.started.Members[i]
		}
		all[m.Name] = &result.AgentClock{Unknown: true}
		if f := ends[i].Clock; f != nil {
			followed = true
			all[m.Name] = &result.AgentClock{Offset: f.Offset, Drift: f.Drift, Proved: f.Proved, Expected: f.Expected, RoundTrip: f.RoundTrip, Exchanges: f.Asked, Kernel: f.Kernel, Unknown: f.Unknown, Raw: f.Raw,
				Loop: f.Loop, Loops: f.Loops, Open: f.Open}
		}
		g, err := segmentOf(m.Segment)
		several = several || err == nil && g.Role != "" && m.Clock != first.Clock
		if h, err := headersOf(c.path(m)); err == nil && len(h) > 0 {
			several = several || h[0].Clock.Shifted
		}
	}
	if !followed && !several {
		return nil
	}
	return all
}

// starts says when the windows of the agents began, by their names. That of an agent of which nothing came is not known.
func (c *Collector) starts(ends []coordinator.End) map[string]*result.AgentStart {
	all := map[string]*result.AgentStart{}
	for i, m := range c.started.Members {
		if ends[i].Records > 0 && !Beside(m.Segment) {
			all[m.Name] = &result.AgentStart{Late: ends[i].Late.Nanoseconds(), Proved: ends[i].Proved}
		}
	}
	return all
}

// errNothing is the error of a run of which no agent delivered anything.
var errNothing = errors.New("no agent has delivered anything")

// complete gives agents that were lost before they delivered anything the headers of the others, so that what their
// segments had due is accounted for.
func (c *Collector) complete() error {
	all := make([][]result.Header, len(c.started.Members))
	most := -1
	for i, m := range c.started.Members {
		var err error
		if all[i], err = headersOf(c.path(m)); err != nil {
			return err
		}
		if !Beside(m.Segment) && (most < 0 || len(all[i]) > len(all[most])) {
			most = i
		}
	}
	if most < 0 || len(all[most]) == 0 {
		return errNothing
	}
	for i, m := range c.started.Members {
		headers := all[most]
		if Beside(m.Segment) {
			headers = headers[:1]
		}
		if len(all[i]) == len(headers) {
			continue
		}
		if err := writeLost(c.path(m), headers, m, c.started.Start); err != nil {
			return fmt.Errorf("write down that agent %s is lost: %w", m.Name, err)
		}
	}
	return nil
}

// headersOf returns the headers of a result, which may be empty.
func headersOf(path string) ([]result.Header, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b := bufio.NewReader(f)
	if _, err := b.Peek(1); err != nil {
		return nil, nil
	}
	var all []result.Header
	r := result.NewReader(b)
	for {
		record, err := r.Next()
		if err != nil || record.Header == nil {
			return all, nil // what is wrong with the rest, merging says
		}
		all = append(all, *record.Header)
	}
}
