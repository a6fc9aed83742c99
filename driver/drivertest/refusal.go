package drivertest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"sync"

	"sixnines/driver"
)

// refuses opens t, which must fail with the class in good time.
func refuses(ctx context.Context, h *Harness, t driver.Target, class error) error {
	t = prepare(t, newRun(), newNetwork(), &events{})
	return h.limit(ctx, "Open", func() error {
		s, err := h.Entry.Driver.Open(ctx, t)
		if err == nil {
			return errors.Join(fmt.Errorf("driver Open succeeds instead of failing with %q", class), s.Close(ctx))
		}
		if !errors.Is(err, class) {
			return fmt.Errorf("the error of Open does not wrap %q: %w", class, err)
		}
		if errors.Is(err, driver.ErrForbidden) {
			return fmt.Errorf("a refused login is no right that is missing: %w", err)
		}
		return nil
	})
}

func checkUnknownOption(ctx context.Context, h *Harness) error {
	t := h.Target
	t.Options = maps.Clone(t.Options)
	if t.Options == nil {
		t.Options = map[string]any{}
	}
	t.Options["no_such_option"] = 1
	return refuses(ctx, h, t, driver.ErrOption)
}

func checkWrongAddress(ctx context.Context, h *Harness) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	address := l.Addr().String()
	l.Close()
	return refuses(ctx, h, h.At(address), driver.ErrNotConnected)
}

func checkWrongPassword(ctx context.Context, h *Harness) error {
	return refuses(ctx, h, *h.WrongPassword, driver.ErrUnauthorized)
}

// mute is a server that listens and never sends anything. The channel receives when a
// client has connected.
func mute() (address string, connected chan struct{}, stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, nil, err
	}
	came := make(chan struct{}, 1)
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			select {
			case came <- struct{}{}:
			default:
			}
			serving.Go(func() {
				defer c.Close()
				io.Copy(io.Discard, c) // ends when the client does
			})
		}
	})
	return l.Addr().String(), came, func() {
		l.Close()
		serving.Wait()
	}, nil
}

func checkOpenCancelled(ctx context.Context, h *Harness) error {
	address, connected, stop, err := mute()
	if err != nil {
		return err
	}
	defer stop()
	short, cancel := context.WithCancel(ctx)
	defer cancel()
	result := make(chan error, 1)
	n := newNetwork()
	defer n.cut() // close what a driver leaves open
	go func() {
		s, err := h.Entry.Driver.Open(short, prepare(h.At(address), newRun(), n, &events{}))
		if err == nil {
			err = errors.Join(errors.New("driver Open succeeds with a server that never speaks"), s.Close(ctx))
		} else if driver.Class(err) == nil {
			err = fmt.Errorf("the error of a cancelled Open wraps no class: %w", err)
		} else {
			err = nil
		}
		result <- err
	}()
	waiting := n.used // it has connected, and waits for the server to speak
	if h.can().OwnsDialing {
		waiting = connected
	}
	select {
	case <-waiting:
	case err := <-result:
		return err
	}
	cancel()
	if err := h.limit(ctx, "Open, after its context was cancelled,", func() error { return <-result }); err != nil {
		return err
	}
	if left := n.left(); left > 0 {
		return fmt.Errorf("driver Open has failed and left %d connections open", left)
	}
	return nil
}

func checkProvisionCancelled(ctx context.Context, h *Harness) error {
	r, err := openRig(ctx, h, newRun(), false)
	if err != nil {
		return err
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	err = h.limit(ctx, "Provision with a cancelled context", func() error {
		r.session.Provision(cancelled, topics("t0")) // may or may not need the broker
		return nil
	})
	return errors.Join(err, r.session.Deprovision(ctx), r.close())
}

// checkUseAfterClose checks that calls after Close return errors of class ErrClosed, and do
// not crash.
func checkUseAfterClose(ctx context.Context, h *Harness) error {
	return with(ctx, h, topics("t0"), func(r *rig) error {
		l := newLedger()
		p, err := r.producer(ctx, 0, "t0", h.size(), l)
		if err != nil {
			return err
		}
		if err := p.Close(ctx); err != nil {
			return fmt.Errorf("close a producer: %w", err)
		}
		if err := mustBeClosed("Send to a closed producer", l.send(p, 1, letter{}.write(h.size()))); err != nil {
			return err
		}
		other, err := r.producer(ctx, 1, "t0", h.size(), l)
		if err != nil {
			return err
		}
		if err := r.close(); err != nil {
			return err
		}
		if err := mustBeClosed("Send after the session has closed", l.send(other, 2, letter{}.write(h.size()))); err != nil {
			return err
		}
		_, err = r.session.Producer(ctx, driver.ProducerSpec{ID: 2, Conn: 2, Topic: "t0", Size: h.size()}, l)
		if err := mustBeClosed("Producer after the session has closed", err); err != nil {
			return err
		}
		_, err = r.session.Consumer(ctx, driver.ConsumerSpec{Topics: []string{"t0"}}, newInbox().deliver)
		if err := mustBeClosed("Consumer after the session has closed", err); err != nil {
			return err
		}
		return l.kept()
	})
}

func mustBeClosed(what string, err error) error {
	if err == nil {
		return fmt.Errorf("%s succeeds", what)
	}
	if !errors.Is(err, driver.ErrClosed) {
		return fmt.Errorf("%s fails with %q, which does not wrap ErrClosed", what, err)
	}
	return nil
}
