package merge

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"sixnines/internal/judge"
	"sixnines/result"
)

// agent reads the result of one agent, an interval at a time.
type agent struct {
	name, host string
	path       string
	file       *os.File
	reader     *result.Reader
	headers    []*result.Header
	loads      map[string]int // by the workload's name
	pending    *result.Interval
	closing    []*result.Interval // by load; nil: the file has none of it
	events     []result.Event
	over       bool
}

// ending is what is known of an agent when its whole result is read.
type ending struct {
	runs   []*result.Run // by load
	closed []bool        // by load: it has a closing record
	timed  []timed       // by load
	// verdicts are by load; nil: it was lost.
	verdicts []*result.Verdict
	// latencies are by load. The histograms that they are of do not stay: those of a thousand agents are gigabytes.
	latencies []map[result.Metric]result.AgentLatency
}

// atLast returns, for the last interval of a lost agent, how many messages it had sent that it had not yet
// counted as due: those of that very instant. Of every other interval it is 0.
func (e *ending) atLast(load int, end int64) int64 {
	run := e.runs[load]
	if n := len(run.Series); e.closed[load] || n == 0 || run.Series[n-1].End != end {
		return 0
	}
	return max(0, run.Counters.Sent+run.Counters.Rejected-run.Counters.Scheduled)
}

// ackNone is Header.Ack of a load without acknowledgements.
const ackNone = "none"

func open(s Source) (*agent, error) {
	f, err := os.Open(s.Path)
	if err != nil {
		return nil, fmt.Errorf("open the result of agent %s: %w", s.Name, err)
	}
	a := &agent{name: s.Name, host: s.Host, path: s.Path, file: f, reader: result.NewReader(f), loads: map[string]int{}}
	for a.pending == nil && !a.over {
		if err := a.next(); err != nil {
			a.close()
			return nil, err
		}
	}
	if a.headers[0].Segment == nil {
		a.close()
		return nil, fmt.Errorf("%s is the result of a whole run, and no agent's: %w", s.Path, ErrDiffer)
	}
	return a, nil
}

func (a *agent) close() { _ = a.file.Close() }

func (a *agent) segment() result.Segment { return *a.headers[0].Segment }

// peek returns the next interval before the closing record; nil: there is none.
func (a *agent) peek() *result.Interval { return a.pending }

// load returns the index of a workload.
func (a *agent) load(workload string) int { return a.loads[workload] }

// ends returns when an interval ended, ns from the start of the run's window.
func (a *agent) ends(v *result.Interval) int64 {
	return int64(a.headers[a.load(v.Workload)].From) + v.End
}

// next reads until the next interval, or the end. What else is there it keeps.
func (a *agent) next() error {
	a.pending = nil
	for !a.over {
		record, err := a.reader.Next()
		switch {
		case errors.Is(err, io.EOF):
			a.over = true
			return nil
		case err != nil:
			return fmt.Errorf("%s: %w", a.path, err)
		case record.Header != nil:
			a.loads[record.Header.Workload] = len(a.headers)
			a.headers, a.closing = append(a.headers, record.Header), append(a.closing, nil)
		case record.Event != nil:
			a.events = append(a.events, *record.Event)
		case record.Interval != nil:
			i, known := a.loads[record.Interval.Workload]
			switch {
			case !known:
				return fmt.Errorf("%s: line %d is of a workload without a header: %w", a.path, a.reader.Line(), result.ErrFormat)
			case record.Interval.Phase == result.PhaseClosing:
				a.closing[i] = record.Interval
			default:
				a.pending = record.Interval
				return nil
			}
		}
	}
	return nil
}

// scan reads the whole result.
func (a *agent) scan() (*ending, error) {
	run, err := result.Load(a.path)
	if err != nil {
		return nil, err
	}
	e := &ending{}
	for _, part := range run.Parts() {
		e.verdicts = append(e.verdicts, verdictOf(part))
		e.runs, e.closed = append(e.runs, part), append(e.closed, part.Closing != nil)
		e.timed, e.latencies = append(e.timed, timedIn(part)), append(e.latencies, latenciesOf(part))
		if part.Closing != nil && a.segment().Role == "" { // of others what is missing is computed from them
			part.Metrics = nil
		}
		part.Tail = nil
		for i := range part.Series {
			part.Series[i].Metrics, part.Series[i].Vitals = nil, nil
		}
	}
	return e, nil
}

// verdictOf returns the verdict of an agent's own result; nil: it has none. Alone it does not know what its latencies are worth if they
// end messages of other clocks: the whole does, so that this does not count here.
func verdictOf(run *result.Run) *result.Verdict {
	switch {
	case run.Summary == nil:
		return nil
	case !run.Header.Clock.Shifted:
		return &run.Summary.Verdict
	}
	run.Header.Clock.Shifted = false
	defer func() { run.Header.Clock.Shifted = true }()
	return &judge.Summarise(run, judge.InputsOf(run)).Verdict
}

// timed are the response times that an agent recorded, with the layout of their histograms.
type timed map[result.Metric]grid

// grid is the layout of a histogram, see [result.NewHistogram].
type grid struct {
	lowest, highest int64
	digits          int
}

func timedIn(run *result.Run) timed {
	all := timed{}
	for metric, merged := range run.Metrics {
		if metric.IsResponse() && !metric.OfOpening() && merged.Hist != nil {
			lowest, highest, digits := merged.Hist.Layout()
			all[metric] = grid{lowest, highest, digits}
		}
	}
	return all
}

// latenciesOf returns what is shown of an agent's latencies.
func latenciesOf(run *result.Run) (all map[result.Metric]result.AgentLatency) {
	for metric, merged := range run.Metrics {
		if metric.IsLatency() && merged.Hist.Count() > 0 {
			if all == nil {
				all = map[result.Metric]result.AgentLatency{}
			}
			all[metric] = result.AgentLatency{Count: merged.Hist.Count(), P50: merged.Hist.Percentile(50), P99: merged.Hist.Percentile(99), Max: merged.Max}
		}
	}
	return all
}

// belong reports, by an error that wraps ErrDiffer, results that are not the segments of one run.
func belong(agents []*agent, clocks map[string]*result.AgentClock) error {
	if len(agents) == 0 {
		return fmt.Errorf("no agent has a result: %w", ErrDiffer)
	}
	first := agents[0]
	if err := crew(agents, clocks); err != nil {
		return err
	}
	for i, a := range agents {
		g := a.segment()
		switch {
		case g.Of != len(agents):
			return fmt.Errorf("%s is segment %d of %d, and there are %d results: %w", a.path, g.Index+1, g.Of, len(agents), ErrDiffer)
		case g.Index != i:
			return fmt.Errorf("segment %d of %d is missing, or there twice: %w", i+1, g.Of, ErrDiffer)
		case len(a.headers) != len(first.headers):
			return fmt.Errorf("%s has %d workloads, and %s has %d: %w", a.path, len(a.headers), first.path, len(first.headers), ErrDiffer)
		}
		for j, h := range a.headers {
			if what := differs(first.headers[j], h); what != "" {
				return fmt.Errorf("%s and %s differ in %s: %w", first.path, a.path, what, ErrDiffer)
			}
		}
	}
	return nil
}

// crew reports, by an error that wraps ErrDiffer, agents of which some only send and whose others do not receive that, or
// not by the same clock, nor by clocks of which it is known how they differ.
func crew(agents []*agent, clocks map[string]*result.AgentClock) error {
	parts := map[string][]int{}
	for _, a := range agents {
		g := a.segment()
		parts[g.Role] = append(parts[g.Role], g.Part)
		if (g.Role == "") != (agents[0].segment().Role == "") {
			return fmt.Errorf("%s has a role and others have none, or the other way round: %w", a.path, ErrDiffer)
		}
		if g.Role != "" && clocks[a.name] == nil && (clocks != nil || a.headers[0].Clock.Shifted || a.headers[0].Clock.Domain != agents[0].headers[0].Clock.Domain) {
			return fmt.Errorf("%s and %s have different clocks, and how they differ is not known, so that what one sends and the other receives has no known latency: %w", agents[0].path, a.path, ErrDiffer)
		}
	}
	for _, role := range []string{result.RoleProducers, result.RoleConsumers} {
		slices.Sort(parts[role])
		for i, part := range parts[role] {
			if part != i {
				return fmt.Errorf("part %d of the %s is missing, or there twice: %w", i+1, role, ErrDiffer)
			}
		}
	}
	for _, a := range agents {
		if g := a.segment(); g.Role != "" && g.Parts != len(parts[g.Role]) {
			return fmt.Errorf("%s is part %d of %d of the %s, and there are %d: %w", a.path, g.Part+1, g.Parts, g.Role, len(parts[g.Role]), ErrDiffer)
		}
	}
	return nil
}

// differs says in what the headers of two segments differ that must agree; empty: in nothing.
func differs(a, b *result.Header) string {
	for _, x := range []struct {
		what string
		same bool
	}{
		{"their scenario", string(a.Scenario) == string(b.Scenario)},
		{"the version of sixnines", a.Tool == b.Tool},
		{"their workload's name", a.Workload == b.Workload},
		{"what an acknowledgement is", a.Ack == b.Ack},
		{"the length of intervals or slots", a.Interval == b.Interval && a.Slot == b.Slot},
		{"their segment", *a.Segment != *b.Segment || a == b},
	} {
		if !x.same {
			return x.what
		}
	}
	return ""
}

// common returns the facts that all have.
func common(all [][]result.Fact) (facts []result.Fact) {
	if len(all) == 0 {
		return nil
	}
	for _, f := range all[0] {
		if !slices.ContainsFunc(all, func(other []result.Fact) bool { return !slices.Contains(other, f) }) {
			facts = append(facts, f)
		}
	}
	return facts
}
