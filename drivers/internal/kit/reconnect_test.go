package kit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"sixnines/driver"
)

func TestReconnect(t *testing.T) {
	away := fmt.Errorf("test: connect: %w", driver.ErrNotConnected)
	denied := fmt.Errorf("test: log in: %w", driver.ErrUnauthorized)
	closed := fmt.Errorf("test: log in: %w: full", driver.ErrRejected)
	odd := errors.New("test: an error of no class")
	for name, tt := range map[string]struct {
		answers []error // to the attempts; then it succeeds
		told    []error
	}{
		"at once":                 {nil, nil},
		"away":                    {[]error{away, away, away}, nil},
		"each reason once":        {[]error{denied, denied, closed, closed, odd}, []error{denied, closed, odd}},
		"another reason between":  {[]error{denied, closed, denied}, []error{denied, closed, denied}},
		"away between is no news": {[]error{denied, away, denied}, []error{denied}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const pause = time.Minute
				attempts, begun := 0, time.Now()
				var told []error
				n, ok := Reconnect(t.Context(), pause, func(context.Context) (int, error) {
					if attempts++; attempts > len(tt.answers) {
						return attempts, nil
					}
					return 0, tt.answers[attempts-1]
				}, func(err error) { told = append(told, err) })
				if want := len(tt.answers) + 1; !ok || n != want {
					t.Errorf("%d, %v, want the result of attempt %d", n, ok, want)
				}
				// The clock is the bubble's: nothing but waiting moves it.
				if waited, want := time.Since(begun), time.Duration(len(tt.answers))*pause; waited != want {
					t.Errorf("%v for %d attempts, want %v", waited, attempts, want)
				}
				if !slices.Equal(told, tt.told) {
					t.Errorf("told %v, want %v", told, tt.told)
				}
			})
		})
	}
}

func TestReconnectGivesUp(t *testing.T) {
	denied := fmt.Errorf("test: log in: %w", driver.ErrUnauthorized)
	for name, tt := range map[string]struct {
		connect func(context.Context) (*int, error)
		told    int
	}{
		"in a pause": {func(context.Context) (*int, error) { return nil, denied }, 1},
		"while it connects": {func(ctx context.Context) (*int, error) {
			<-ctx.Done()
			return nil, denied
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				begun, told := time.Now(), 0
				got, ok := Reconnect(ctx, time.Hour, tt.connect, func(error) { told++ })
				if ok || got != nil || time.Since(begun) != time.Minute {
					t.Errorf("%v, %v after %v, want nothing when the minute is over", got, ok, time.Since(begun))
				}
				if told != tt.told {
					t.Errorf("told %d times, want %d", told, tt.told)
				}
			})
		})
	}
}
