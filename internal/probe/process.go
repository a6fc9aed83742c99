package probe

import (
	"bufio"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"sixnines/internal/child"
	"sixnines/internal/clock"
	"sixnines/scenario"
)

// mostReport bounds a line of the probe's: a histogram of a few hundred values
// takes some hundred bytes.
const mostReport = 1 << 20

// Process is the starter's end of a probe. Its methods are safe for concurrent
// use.
type Process struct {
	child *child.Process
	ready chan struct{} // closed when the probe measures

	mu       sync.Mutex
	begun    bool
	stopping bool
	reports  []Report
	failure  string
	heard    chan struct{} // closed when there will be no more reports
}

// Start starts the process of a probe, which waits for [Process.Begin]: a
// program takes some time to start, and the load's own connections come first.
func Start(command []string) (*Process, error) {
	c, err := child.Start(child.Options{Command: command})
	if err != nil {
		return nil, fmt.Errorf("probe: %w", err)
	}
	p := &Process{child: c, ready: make(chan struct{}), heard: make(chan struct{})}
	go p.listen()
	return p, nil
}

// Begin has the probe connect and measure.
func (p *Process) Begin(s *scenario.Scenario) error {
	text, err := s.MarshalJSON()
	if err != nil {
		return fmt.Errorf("probe: encode its scenario: %w", err)
	}
	p.mu.Lock()
	p.begun = true
	p.mu.Unlock()
	if _, err := p.child.In.Write(append(text, '\n')); err != nil {
		return fmt.Errorf("probe: %w", err)
	}
	return nil
}

// Await waits until the probe measures, has ended, or limit is over.
func (p *Process) Await(limit time.Duration) {
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case <-p.ready:
	case <-p.heard:
	case <-t.C:
	}
}

// Take returns the reports that have come since the last call.
func (p *Process) Take() []Report {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.reports
	p.reports = nil
	return r
}

// Waiting reports whether Take would return something.
func (p *Process) Waiting() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.reports) > 0
}

// Failure says why there will be no more reports, though the probe was not asked
// to end; empty: there will be.
func (p *Process) Failure() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failure
}

// Stop has the probe end: it finishes its last messages and deletes its topic. A
// probe that has not begun has no topic to delete.
func (p *Process) Stop() {
	p.mu.Lock()
	stopping, begun := p.stopping, p.begun
	p.stopping = true
	p.mu.Unlock()
	if stopping {
		return
	}
	_ = p.child.In.Close() // the probe ends then
	if !begun {
		p.child.Kill()
	}
}

// Wait stops the probe and waits until it has ended, for no longer than limit; then
// it is killed if kill is set, else left to end by itself, as it does.
func (p *Process) Wait(limit time.Duration, kill bool) {
	p.Stop()
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case <-p.heard:
	case <-t.C:
		if kill {
			p.child.Kill()
			<-p.heard
		}
	}
}

// listen takes the reports until there are no more.
func (p *Process) listen() {
	defer close(p.heard)
	defer p.child.Out.Close()
	lines := bufio.NewScanner(p.child.Out)
	lines.Buffer(nil, mostReport)
	ready := false
	for lines.Scan() {
		var r Report
		err := json.Unmarshal(lines.Bytes(), &r)
		switch {
		case err != nil:
			err = fmt.Errorf("its report cannot be read: %w", err)
		case !ready && r.Domain != clock.Domain():
			err = fmt.Errorf("its clock is %q, that of the load %q", r.Domain, clock.Domain())
		case ready && (r.To < r.From || r.Sent < 0 || r.Resolved < 0):
			err = fmt.Errorf("it reported an interval from %d to %d", r.From, r.To)
		}
		if err != nil {
			p.child.Kill()
			p.failed(err.Error())
			return
		}
		if !ready {
			ready = true
			close(p.ready)
			continue
		}
		p.mu.Lock()
		p.reports = append(p.reports, r)
		p.mu.Unlock()
	}
	if lines.Err() != nil {
		p.child.Kill() // no report follows, whatever it does
	}
	p.failed(p.child.Why())
}

// failed notes why there are no more reports, unless the probe was stopped.
func (p *Process) failed(why string) {
	<-p.child.Ended()
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.stopping {
		p.failure = why
		_ = p.child.In.Close() // it is not read any more
		p.stopping = true
	}
}
