package kit

import (
	"context"
	"errors"
	"fmt"
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
		pauses  time.Duration // together: each refusal doubles the next
	}{
		"at once":                         {nil, nil, 0},
		"away":                            {[]error{away, away, away}, nil, 3},
		"each reason once":                {[]error{denied, denied, closed, closed, odd}, []error{denied, closed, odd}, 1 + 2 + 3},
		"another reason between":          {[]error{denied, closed, denied}, []error{denied, closed, denied}, 1 + 1 + 2},
		"away between is no news":         {[]error{denied, away, denied}, []error{denied}, 1 + 1 + 2},
		"refused by one, another is away": {[]error{errors.Join(away, denied)}, []error{errors.Join(away, denied)}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const pause = time.Minute
				attempts, begun := 0, time.Now()
				var told []error
				n, err := Reconnect(t.Context(), pause, new(Refusals), func(context.Context) (int, error) {
					if attempts++; attempts > len(tt.answers) {
						return attempts, nil
					}
					return 0, tt.answers[attempts-1]
				}, func(err error) { told = append(told, err) })
				if want := len(tt.answers) + 1; err != nil || n != want {
					t.Errorf("%d, %v, want the result of attempt %d", n, err, want)
				}
				// The clock is the bubble's: nothing but waiting moves it.
				if waited, want := time.Since(begun), tt.pauses*pause; waited != want {
					t.Errorf("%v for %d attempts, want %v", waited, attempts, want)
				}
				if fmt.Sprint(told) != fmt.Sprint(tt.told) {
					t.Errorf("told %v, want %v", told, tt.told)
				}
			})
		})
	}
}

func TestReconnectGivesUp(t *testing.T) {
	odd := errors.New("test: an error of no class")
	for name, tt := range map[string]struct {
		connect func(context.Context) (*int, error)
		told    int
	}{
		"in a pause": {func(context.Context) (*int, error) { return nil, odd }, 1},
		"while it connects": {func(ctx context.Context) (*int, error) {
			<-ctx.Done()
			return nil, odd
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				begun, told := time.Now(), 0
				got, err := Reconnect(ctx, time.Hour, new(Refusals), tt.connect, func(error) { told++ })
				if err == nil || got != nil || time.Since(begun) != time.Minute {
					t.Errorf("%v, %v after %v, want nothing when the minute is over", got, err, time.Since(begun))
				}
				if told != tt.told {
					t.Errorf("told %d times, want %d", told, tt.told)
				}
			})
		})
	}
}
