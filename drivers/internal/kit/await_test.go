package kit_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

var (
	errElection = errors.New("no leader yet")
	errRefused  = errors.New("no such thing")
)

func passing(err error) bool { return errors.Is(err, errElection) }

func TestUntil(t *testing.T) {
	for _, test := range []struct {
		name     string
		failures []error
		attempts int
		want     error
	}{
		{"succeeds at once", nil, 1, nil},
		{"passes", []error{errElection, errElection, errElection}, 4, nil},
		{"does not pass", []error{errRefused}, 1, errRefused},
		{"becomes what does not pass", []error{errElection, errRefused}, 2, errRefused},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				attempts := 0
				err := kit.Await(t.Context(), "test: wait", passing, func() error {
					attempts++
					if attempts <= len(test.failures) {
						return test.failures[attempts-1]
					}
					return nil
				})
				if attempts != test.attempts || !errors.Is(err, test.want) {
					t.Errorf("%v after %d attempts, want %v after %d", err, attempts, test.want, test.attempts)
				}
			})
		})
	}
}

// TestUntilTheDeadline wants the last failure before ctx ended named, not the
// one that ctx has made.
func TestUntilTheDeadline(t *testing.T) {
	for name, attempt := range map[string]func(ctx context.Context, n int) error{
		"between attempts": func(context.Context, int) error { return errElection },
		"in an attempt": func(ctx context.Context, n int) error {
			if n > 1 {
				<-ctx.Done()
				return errors.Join(errRefused, ctx.Err())
			}
			return errElection
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				defer cancel()
				began, attempts := time.Now(), 0
				err := kit.Await(ctx, "test: wait", passing, func() error {
					attempts++
					return attempt(ctx, attempts)
				})
				if passed := time.Since(began); passed != 30*time.Second {
					t.Errorf("gave up after %v", passed)
				}
				if !errors.Is(err, errElection) || driver.Class(err) != driver.ErrTimeout || !strings.HasPrefix(err.Error(), "test: wait: ") || !strings.HasSuffix(err.Error(), "; last: no leader yet") {
					t.Errorf("%v", err)
				}
			})
		})
	}
}

func TestUntilCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	attempts := 0
	err := kit.Await(ctx, "test: wait", passing, func() error {
		if attempts++; attempts > 1 {
			cancel()
		}
		return errElection
	})
	if driver.Class(err) != driver.ErrClosed || !errors.Is(err, errElection) {
		t.Errorf("%v", err)
	}
}

func TestMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		soon := kit.Moment()
		if !soon() {
			t.Error("over at once")
		}
		time.Sleep(time.Minute)
		if soon() {
			t.Error("not over")
		}
	})
}
