package enginetest

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sixnines/drivers/mem"
	"sixnines/internal/clock/clocktest"
	"sixnines/internal/engine"
	"sixnines/result"
)

// Crew runs a load by producing and consuming agents on one broker, in one bubble, and returns their result files,
// those of the producing agents first. Of l it takes Scenario, Change, Actions, and Abort for the first agent.
func Crew(t *testing.T, l Load, producers, consumers int) (files []string) {
	t.Helper()
	s, err := Scenario(l.Scenario)
	if err != nil {
		t.Fatal(err)
	}
	n := producers + consumers
	dir := t.TempDir()
	errs := make([]error, n)
	synctest.Test(t, func(t *testing.T) {
		broker, virtual := mem.New(), clocktest.New()
		entry := broker.Entry()
		if l.Change != nil {
			l.Change(&entry)
		}
		meeting, starts := newMeeting(n), newMeeting(n)
		var all sync.WaitGroup
		for k := range n {
			g := &result.Segment{Index: k, Of: n, Role: result.RoleProducers, Part: k, Parts: producers}
			if k >= producers {
				g.Role, g.Part, g.Parts = result.RoleConsumers, k-producers, consumers
			}
			files = append(files, filepath.Join(dir, fmt.Sprintf("%d.jsonl", k)))
			c := engine.Config{Scenario: s, Entry: entry, File: files[k], Segment: g, Virtual: virtual,
				Peers: &engine.Peers{Name: t.Name(), First: k == 0, Reach: func(ctx context.Context, _ engine.Point) error {
					if k == n-1 {
						time.Sleep(l.Late)
					}
					_, err := meeting.come(ctx, 0)
					return err
				}},
				Start: starts.come}
			if k == 0 {
				abort := make(chan struct{})
				c.Abort = abort
				c.Exporter = beginning{begun: func(start time.Time) {
					if l.Abort != 0 {
						time.AfterFunc(time.Until(start.Add(l.Abort)), func() { close(abort) })
					}
					for _, a := range l.Actions {
						time.AfterFunc(time.Until(start.Add(a.At)), func() { a.Do(broker) })
					}
				}}
			}
			all.Go(func() {
				_, err := engine.Run(t.Context(), c)
				if l.Abort != 0 && errors.Is(err, engine.ErrAborted) {
					err = nil
				}
				if errs[k] = err; err != nil {
					meeting.leave()
					starts.leave()
				}
			})
		}
		all.Wait()
		time.Sleep(time.Hour) // consumers that were not waited for end their work
	})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return files
}

// meeting is where n goroutines wait for each other, again and again.
type meeting struct {
	mu     sync.Mutex
	of     int
	here   int
	latest int64
	open   chan struct{} // closed when all are here
	gone   chan struct{} // closed when one will not come any more
	once   sync.Once
}

func newMeeting(n int) *meeting {
	return &meeting{of: n, open: make(chan struct{}), gone: make(chan struct{})}
}

// come returns when all are here, with the largest of what they bring.
func (m *meeting) come(ctx context.Context, at int64) (int64, error) {
	m.mu.Lock()
	m.here++
	m.latest = max(m.latest, at)
	wait := m.open
	if m.here == m.of {
		m.here, m.open = 0, make(chan struct{})
		close(wait)
	}
	m.mu.Unlock()
	select {
	case <-wait:
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.latest, nil
	case <-m.gone:
		return 0, errors.New("a peer has failed")
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

func (m *meeting) leave() { m.once.Do(func() { close(m.gone) }) }
