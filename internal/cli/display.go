package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"sixnines/internal/engine"
	"sixnines/internal/spell"
	"sixnines/internal/stats"
	"sixnines/result"
	"sixnines/scenario"
)

// display shows a run's progress to the user. Its methods are safe for concurrent
// use; after close it shows nothing.
type display interface {
	observe(engine.Progress)
	say(text string) // a note that stays
	close()          // closing twice is allowed
}

// What Ctrl-C does, for the live view.
const (
	endsWindow = "Ctrl-C ends the window early and keeps the result"
	endsEarly  = "Ctrl-C ends the window early"
	endsSeries = "Ctrl-C ends after this run"
)

// display returns the display that suits stderr for runs of a scenario; ctrlC says what
// Ctrl-C does, once more in fewer words for narrow terminals.
func (env *Env) display(quiet bool, s *scenario.Scenario, ctrlC ...string) display {
	return env.displayOf(quiet, len(s.Workloads), ctrlC...)
}

// displayOf is [Env.display] for a number of named workloads; 0: one without a name.
func (env *Env) displayOf(quiet bool, workloads int, ctrlC ...string) display {
	if quiet {
		return silence{}
	}
	if _, ok := env.terminal(env.Stderr); ok {
		return newLive(env, workloads, ctrlC...)
	}
	return &lines{to: env.Stderr, ascii: env.ascii()}
}

// silence shows nothing.
type silence struct{}

func (silence) observe(engine.Progress) {}
func (silence) say(string)              {}
func (silence) close()                  {}

// lines shows progress as lines of text, one a second and one for each new
// phase.
type lines struct {
	to    io.Writer
	ascii bool

	mu     sync.Mutex
	closed bool
	phase  string
	next   time.Time
}

func (l *lines) observe(p engine.Progress) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	// Intervals may be shorter than a second; slightly early counts as on time.
	if l.closed || p.Phase == l.phase && now.Before(l.next) || p.Phase == phaseConnect {
		return
	}
	l.phase, l.next = p.Phase, now.Add(900*time.Millisecond)
	for _, line := range plainLines(p) {
		if l.ascii {
			line = strings.ReplaceAll(line, "µ", "u")
		}
		fmt.Fprintln(l.to, line)
	}
}

func (l *lines) say(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		fmt.Fprintln(l.to, text)
	}
}

func (l *lines) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
}

// phaseConnect and phaseWarmup are the phases of a run before the window.
const (
	phaseConnect = "connect"
	phaseWarmup  = "warm-up"
)

// plainLines is progress as a line, or one for each of several workloads.
func plainLines(p engine.Progress) []string {
	begin := []string{fmt.Sprintf("%-8s", p.Phase), clockOf(p)}
	line := func(fields ...string) string {
		return strings.TrimRight(strings.Join(append(begin[:2:2], fields...), "  "), " ")
	}
	if len(p.Workloads) == 0 {
		return []string{line(plainFields(p)...)}
	}
	var all []string
	for _, w := range p.Workloads {
		name := w.Workload
		if w.Background {
			name += " (background)"
		}
		fields := []string{name}
		if w.Begins > 0 {
			fields = append(fields, "begins in "+seconds(w.Begins.Round(time.Second)))
		} else {
			fields = append(fields, plainFields(w)...)
		}
		all = append(all, line(fields...))
	}
	return all
}

// plainFields are the figures of a load.
func plainFields(p engine.Progress) []string {
	var fields []string
	if p.Phase == phaseWarmup || p.Phase == result.PhaseMeasure {
		fields = append(fields, sentOf(p, func(s string) string { return s }))
	}
	if p.Phase != phaseWarmup {
		fields = append(fields, fmt.Sprintf("in flight %s", grouped(p.InFlight)))
		if p.Backlog > 0 {
			fields = append(fields, fmt.Sprintf("overdue %s", grouped(p.Backlog)))
		}
		if p.Count > 0 {
			fields = append(fields, figuresOf(p, func(s string) string { return s })...)
		}
		fields = append(fields, troubles(p.Counters))
		if p.Until != "" {
			fields = append(fields, p.Until)
		}
	}
	return fields
}

// figuresOf returns the percentiles that an interval's messages support, and the
// maximum.
func figuresOf(p engine.Progress, style func(string) string) []string {
	var out []string
	for _, q := range []struct {
		name  string
		at    float64
		value time.Duration
	}{{"p50", 0.5, p.P50}, {"p99", 0.99, p.P99}} {
		if stats.SupportOf(p.Count, q.at) != stats.NotSupported {
			out = append(out, q.name+" "+style(span(q.value)))
		}
	}
	return append(out, "max "+style(span(p.Max)))
}

// clockOf returns the elapsed and the total time of the phase.
func clockOf(p engine.Progress) string {
	if p.Phase == result.PhaseDrain || p.Left == 0 && p.Phase != result.PhaseMeasure {
		return "waiting for the last messages"
	}
	return seconds(p.Elapsed) + " of " + seconds(p.Elapsed+p.Left)
}

// sentOf returns the rate of sending, or that sending is blocked or nothing due yet, or the p50
// of a warm-up that sends single messages.
func sentOf(p engine.Progress, style func(string) string) string {
	if p.Settling {
		return "single messages until their p50 is steady, now " + style(span(p.P50))
	}
	switch {
	case p.Sent == 0 && p.Backlog > 0:
		return style("sending is blocked")
	case p.Sent == 0 && p.Phase == result.PhaseMeasure && p.Asked > 0 && p.Counters.Scheduled == 0:
		return "nothing is due yet"
	}
	return "sent " + style(paceOf(p))
}

// paceOf is the rate, beside the rate asked for.
func paceOf(p engine.Progress) string {
	sent := grouped(int64(p.Sent+0.5)) + "/s"
	if p.Sent < 10 {
		sent = spell.Rate(p.Sent)
	}
	if p.Asked > 0 {
		sent += " of " + spell.Rate(p.Asked)
	}
	return sent
}

// troubles lists what went wrong so far. Messages that never arrive are known
// as missing only when the run is over: until then they are in flight.
func troubles(c result.Counters) string {
	var list []string
	for _, t := range []struct {
		n    int64
		name string
	}{
		{c.Missing, "missing"}, {c.Rejected, "rejected"}, {c.Nacked, "refused"}, {c.Dropped, "dropped"}, {c.TimedOut, "timed out"},
		{c.Corrupted, "corrupted"}, {c.Duplicated, "duplicated"}, {c.Reordered, "reordered"}, {c.Late, "late"},
	} {
		if t.n > 0 {
			list = append(list, grouped(t.n)+" "+t.name)
		}
	}
	if len(list) == 0 {
		return noTrouble
	}
	return strings.Join(list, ", ")
}

const noTrouble = "no loss seen"
