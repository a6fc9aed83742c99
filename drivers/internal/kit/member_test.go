package kit

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"sixnines/driver"
)

var errNotYet = errors.New("no leader yet")

// fickle is a member that does something on each of its connections.
type fickle struct {
	member
	do func(p *phone) error
}

// Attach implements Member.
func (f *fickle) Attach(ctx context.Context, p *phone) error {
	f.member.Attach(ctx, p)
	return f.do(p)
}

func TestLinkRestores(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var x exchange
		_, l := x.link(t)
		restored := 0
		l.Restore = func(context.Context) error {
			if restored++; restored == 1 {
				return driver.ErrRejected
			}
			return nil
		}
		if err := l.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		var stays, leaves member
		for _, m := range []*member{&stays, &leaves} {
			if err := l.Join(t.Context(), m); err != nil {
				t.Fatal(err)
			}
		}
		l.Part(&leaves)
		synctest.Wait()
		l.Live().broken <- errors.New("cut")
		synctest.Wait()
		if err := l.Join(t.Context(), &leaves); !errors.Is(err, driver.ErrNotConnected) {
			t.Errorf("join while it is away: %v", err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if !slices.Equal(stays.on, []int{0, 2}) || !slices.Equal(leaves.on, []int{0}) {
			t.Errorf("set up on connections %d, and who left on %d", stays.on, leaves.on)
		}
		if !x.made[1].left || x.made[1].ended == nil {
			t.Error("a connection on which nothing was set up is left open")
		}
		if err := l.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// What a broker cannot do yet is done when it can, if need be on the next connection.
func TestLinkWaitsForWhatPasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var x exchange
		_, l := x.link(t)
		l.Passes = func(err error) bool { return errors.Is(err, errNotYet) }
		refusals := 20
		dial := l.Dial
		l.Dial = func(ctx context.Context) (*phone, error) {
			if refusals--; refusals >= 0 {
				return nil, errNotYet
			}
			return dial(ctx)
		}
		if err := l.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		failures := 20
		m := &fickle{do: func(*phone) error {
			if failures--; failures >= 0 {
				return errNotYet
			}
			return nil
		}}
		if err := l.Join(t.Context(), m); err != nil {
			t.Error(err)
		}
		ends := &fickle{do: func(p *phone) error {
			if p.number < 2 {
				p.broken <- errors.New("cut")
				return errNotYet
			}
			return nil
		}}
		if err := l.Join(t.Context(), ends); err != nil || !slices.Equal(ends.on, []int{0, 1, 2}) {
			t.Errorf("set up on %d: %v", ends.on, err)
		}
		if err := l.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestLinkClosesWhileItConnects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var x exchange
		_, l := x.link(t)
		if err := l.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		attempts := 0
		l.Dial = func(context.Context) (*phone, error) {
			attempts++
			return nil, driver.ErrRejected
		}
		l.Live().broken <- errors.New("cut")
		time.Sleep(3500 * time.Millisecond)
		if err := l.Close(t.Context()); err != nil || attempts != 4 {
			t.Errorf("%d attempts were made in 3.5 s, at one a second: %v", attempts, err)
		}
	})
}
