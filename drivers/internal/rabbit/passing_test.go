package rabbit

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sixnines/driver"
)

// TestPassingErrors wants what a broker cannot do yet done when it can.
func TestPassingErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWarren(t, "burrow://host")
		w.errs = slices.Repeat([]error{errSoon}, 20)
		l := w.link(t, nil)
		m, failures := &member{}, 20
		m.do = func(*conn) error {
			if failures--; failures >= 0 {
				return errSoon
			}
			return nil
		}
		if err := l.Join(t.Context(), m); err != nil {
			t.Errorf("join: %v", err)
		}
		l.Close(t.Context())

		w.errs = slices.Repeat([]error{errSoon}, 20)
		a := NewAdmin(w.broker, w.open)
		if err := a.Connect(t.Context()); err != nil {
			t.Errorf("connect: %v", err)
		}
		failures = 20
		if err := a.Do(t.Context(), func(*conn) error {
			if failures--; failures >= 0 {
				return errSoon
			}
			return nil
		}); err != nil {
			t.Errorf("do: %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := a.Do(ctx, func(*conn) error { return errSoon })
		if driver.Class(err) != driver.ErrTimeout || !errors.Is(err, errSoon) || !strings.HasPrefix(err.Error(), "rabbit: ") {
			t.Errorf("for ever: %v", err)
		}
		a.Close(t.Context())
	})
}

// TestPassingErrorThatEndsTheConnection joins on the next one.
func TestPassingErrorThatEndsTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWarren(t, "burrow://host")
		l := w.link(t, nil)
		m := &member{}
		m.do = func(c *conn) error {
			if c.number < 2 {
				c.Close(t.Context())
				return errSoon
			}
			return nil
		}
		if err := l.Join(t.Context(), m); err != nil || !slices.Equal(m.on, []int{0, 1, 2}) {
			t.Errorf("set up on %d: %v", m.on, err)
		}
		l.Close(t.Context())
	})
}
