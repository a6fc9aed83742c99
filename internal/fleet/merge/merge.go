// Package merge makes one result file of those that the agents of a fleet have written: histograms count for
// count, accounts sum for sum. The summary and the verdict are then those of the whole. It reads the agents'
// files and nothing else, so that the merged result can be made again, and checked, from them.
package merge

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"sixnines/internal/judge"
	"sixnines/internal/resultfile"
	"sixnines/result"
)

// ErrDiffer is wrapped by errors about results that are not segments of one run.
var ErrDiffer = errors.New("not segments of one run")

// Source is the result of one agent.
type Source struct {
	Name string // of the agent
	Host string // the name of its machine; empty: not known
	Path string // of its result file
}

// Whole is what only the coordinator knows of a run. It goes into the headers as it is.
type Whole struct {
	Tool     result.Tool
	Revision string // of what is measured
	// Trial is the run's place among several that belong together; nil: alone.
	Trial *result.Trial
	// Managed and Deployment describe the broker that the coordinator started for the run; empty: none.
	Managed    string
	Deployment *result.Deployment
	// Network is what the path to the broker was like before the load, if the coordinator gave it conditions for the whole run;
	// nil: it did not.
	Network *result.Network
	// Events are those of actions that the coordinator carried out, and of the network of the whole run, with instants since
	// the start of the run's window.
	Events []result.Event
	// Clocks are how the agents' clocks were followed, by their names; nil: they have one.
	Clocks map[string]*result.AgentClock
	// Starts are when the agents' windows began, by their names; an agent that is not there: it is not known.
	Starts map[string]*result.AgentStart
	// Scenarios are those of the headers, in their order; nil: as the agents have them. They differ from these in
	// where the broker is, and in the names of variables.
	Scenarios []json.RawMessage
}

// Files merges the results of all agents into a new file, and returns it as it was read back. It keeps
// one interval of each agent in memory. Errors wrap ErrDiffer where the results do not belong together;
// then, as after every error, the file does not exist. It does not exist either before it is whole: until then it has another
// name, and what has that is of a merging that was killed.
func Files(path string, sources []Source, whole Whole) (*result.Run, error) {
	agents := make([]*agent, len(sources))
	for i, s := range sources {
		a, err := open(s)
		if err != nil {
			return nil, err
		}
		defer a.close()
		agents[i] = a
	}
	agents, p, err := withoutProbe(agents)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(agents, func(a, b *agent) int { return cmp.Compare(a.segment().Index, b.segment().Index) })
	if err := belong(agents, whole.Clocks); err != nil {
		return nil, err
	}
	if err := p.belongs(agents); err != nil {
		return nil, err
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("create result file: %s: %w", path, cmp.Or(err, fs.ErrExist))
	}
	part := path + ".part"
	if err := os.Remove(part); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	w, err := resultfile.Create(part)
	if err != nil {
		return nil, err
	}
	if err := (&merger{agents: agents, probe: p, whole: whole, writer: w, path: part, units: units{}}).merge(); err != nil {
		// The error that ended the merging is the one to return.
		_ = w.Close()
		_ = os.Remove(part)
		return nil, err
	}
	if err := os.Rename(part, path); err != nil {
		return nil, err
	}
	return result.Load(path)
}

// merger writes one file. It belongs to one goroutine.
type merger struct {
	agents []*agent
	probe  *probed // nil without a probe
	whole  Whole
	writer *resultfile.Writer
	path   string
	units  units
	loads  []*load // in the order of the headers
}

// load is one workload of the merged run.
type load struct {
	header  *result.Header
	sums    sums
	counted result.Counters // so far
	end     int64           // of the last interval, ns from its window's start
	written int64           // intervals
	given   bool            // some agent gave messages up, so that its counters do not tell what is in flight
	window  int64           // when the last agent's window ended, ns from its start
	unread  int             // intervals of agents' windows that were not merged yet
	drained []piece         // intervals of agents' drains that were not merged yet
	books   *books          // nil: agents receive what they send themselves
}

func (m *merger) merge() error {
	ends, err := m.scan()
	if err != nil {
		return err
	}
	if err := m.probe.isLost(); err != nil {
		return err
	}
	for i := range m.agents[0].headers {
		h, err := m.header(i, ends)
		if err != nil {
			return err
		}
		l := &load{header: h}
		if s, _, err := planOf(h); err != nil {
			return err
		} else if l.books, err = newBooks(s, m.agents); err != nil {
			return err
		}
		for _, e := range ends {
			c := e.runs[i].Counters
			unknown := c.Unknown
			if !e.closed[i] {
				unknown = c.Sent - c.Acked - c.Nacked
			}
			l.given = l.given || c.TimedOut > 0 || h.Ack != ackNone && unknown > 0
			for _, p := range e.runs[i].Series {
				if p.Phase == result.PhaseMeasure {
					l.window = max(l.window, p.End)
					l.unread++
				}
			}
			if closing := e.runs[i].Closing; closing != nil {
				l.window = max(l.window, closing.End)
			}
		}
		m.loads = append(m.loads, l)
		if err := m.writer.Header(*h); err != nil {
			return err
		}
	}
	if err := m.intervals(ends); err != nil {
		return err
	}
	for _, e := range m.events() {
		if err := m.writer.Event(e); err != nil {
			return err
		}
	}
	for i := range m.loads {
		if err := m.closing(i, ends); err != nil {
			return err
		}
	}
	run, err := result.Load(m.path)
	if err != nil {
		return err
	}
	for _, part := range run.Parts() {
		s := *judge.Close(part)
		s.Workload = part.Header.Workload
		if err := m.writer.Summary(s); err != nil {
			return err
		}
	}
	return m.writer.Close()
}

// intervals merges the agents' intervals, those that ended in the same stretch of the run's grid into one.
func (m *merger) intervals(ends []*ending) error {
	grid := max(int64(m.loads[0].header.Interval), 1)
	for {
		at, more := int64(0), false
		for _, a := range m.agents {
			if v := a.peek(); v != nil {
				if k := a.ends(v) / grid; !more || k < at {
					at, more = k, true
				}
			}
		}
		if !more {
			return nil
		}
		measured := make([][]piece, len(m.loads))
		for j, a := range m.agents {
			for v := a.peek(); v != nil && a.ends(v)/grid == at; v = a.peek() {
				i := a.load(v.Workload)
				l := m.loads[i]
				v.Counters.Scheduled += ends[j].atLast(i, v.End)
				if v.Phase == result.PhaseMeasure {
					measured[i] = append(measured[i], piece{v, j})
					l.unread--
				} else {
					l.drained = append(l.drained, piece{v, j})
				}
				if err := a.next(); err != nil {
					return err
				}
			}
		}
		for i, l := range m.loads {
			if err := m.stretch(l, measured[i]); err != nil {
				return err
			}
		}
	}
}

// stretch writes the intervals of a workload that ended in one stretch. The windows of agents may have ended one after
// the other: what some of them had in the drain meanwhile waits until all windows are over.
func (m *merger) stretch(l *load, measured []piece) error {
	over, until := l.unread == 0, int64(0)
	if over {
		until = l.window
	}
	if len(measured) > 0 {
		if err := m.interval(l, result.PhaseMeasure, measured, until); err != nil {
			return err
		}
	}
	if !over || len(l.drained) == 0 {
		return nil
	}
	drained := l.drained
	l.drained = nil
	l.end = max(l.end, until)
	return m.interval(l, result.PhaseDrain, drained, 0)
}

// events returns the agents' events in order of time. What one action of the plan did to several agents is one
// event: it began with the first, and was over with the last.
func (m *merger) events() (all []result.Event) {
	type act struct {
		workload string
		number   int
		kind     result.EventKind
	}
	acts := map[act]int{}
	all = append(slices.Clone(m.whole.Events), m.probe.end()...)
	for _, a := range m.agents {
		for _, e := range a.events {
			if e.Action == nil {
				e.Agent = a.name
				all = append(all, e)
				continue
			}
			k := act{e.Workload, e.Action.Number, e.Kind}
			i, known := acts[k]
			switch {
			case !known:
				acts[k] = len(all)
				all = append(all, e)
			case e.Kind == result.EventActionOver && e.At > all[i].At, e.Kind != result.EventActionOver && e.At < all[i].At:
				all[i] = e
			}
		}
	}
	slices.SortStableFunc(all, func(a, b result.Event) int { return cmp.Compare(a.At, b.At) })
	return all
}

// scan reads each agent's file once, for what is known only at its end, and returns by agent what that is.
func (m *merger) scan() ([]*ending, error) {
	all := make([]*ending, len(m.agents))
	for i, a := range m.agents {
		e, err := a.scan()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.path, err)
		}
		all[i] = e
	}
	return all, nil
}
