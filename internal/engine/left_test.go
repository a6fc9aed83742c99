package engine

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"sixnines/driver"
	"sixnines/drivers/mem"
	"sixnines/internal/engine/plan"
	"sixnines/result"
)

// sticky is a driver that cannot remove what it has made, and, if it fails, makes half of that.
type sticky struct {
	driver.Driver
	fails bool
}

func (d sticky) Open(ctx context.Context, t driver.Target) (driver.Session, error) {
	s, err := d.Driver.Open(ctx, t)
	return stickySession{s, d.fails}, err
}

type stickySession struct {
	driver.Session
	fails bool
}

var errHalfway = errors.New("half-way")

func (s stickySession) Provision(ctx context.Context, t driver.Topology) (driver.Semantics, error) {
	sem, err := s.Session.Provision(ctx, t)
	if s.fails {
		err = errHalfway
		sem = driver.Semantics{}
	}
	return sem, err
}

func (s stickySession) Deprovision(context.Context) error {
	return errors.Join(driver.LeaveAll(fmt.Errorf("mem: %w", driver.ErrForbidden), "topic", []string{"t0", "t1"})...)
}

// What a run cannot remove is in its result, or in the error of a run that has none: set-up that fails half-way is taken back, too.
func TestWhatIsLeftIsSaid(t *testing.T) {
	e := mem.Entry()
	e.Driver = sticky{Driver: e.Driver}
	const text = `
phases: {warmup: 0s, duration: 100ms}
target: {driver: mem}
workload: {rate: 100/s}
`
	want := []result.Leftover{}
	for _, name := range []string{"t0", "t1"} {
		want = append(want, result.Leftover{What: "topic", Name: name, Why: "mem: " + driver.ErrForbidden.Error(), Class: result.ClassUnauthorized})
	}
	left := measureVirtually(t, text, e).Summary.Left
	if fmt.Sprint(left) != fmt.Sprint(want) {
		t.Errorf("left %+v, want %+v", left, want)
	}
	e.Driver = sticky{Driver: mem.Entry().Driver, fails: true}
	_, err := Run(t.Context(), Config{Scenario: parse(t, text), Entry: e})
	var both *plan.LeftError
	if !errors.As(err, &both) || !errors.Is(err, errHalfway) || fmt.Sprint(both.Left) != fmt.Sprint(want) {
		t.Errorf("a run whose set-up failed: %v", err)
	}
}
