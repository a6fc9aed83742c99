package drivertest

import (
	"context"
	"errors"
	"fmt"

	"sixnines/driver"
)

// ledger implements driver.Acks and checks its clauses: one Done for every Send that
// returned nil, no Done for others. Done overwrites the payload, so that a driver
// that reads it later sends garbage; the race detector notices that too.
type ledger struct {
	watch
	entries map[uint64]*entry
	open    int // number of sends that returned nil and are not done
	faults  []error
}

type entry struct {
	payload []byte
	key     []byte
	sent    bool // Send has returned nil
	failed  bool // Send has returned an error
	done    int
	err     error // of Done
}

const poison = 0xDB

func newLedger() *ledger { return &ledger{entries: map[uint64]*entry{}} }

// send sends a copy of payload with a token that has not been used before.
func (l *ledger) send(p driver.Producer, token uint64, payload []byte) error {
	return l.sendBy(p.Send, token, payload, nil)
}

// sendKeyed is send with a copy of key.
func (l *ledger) sendKeyed(p driver.Producer, token uint64, payload, key []byte) error {
	k, ok := p.(driver.KeySender)
	if !ok {
		return errors.New("the driver claims Keys, and its producers are no KeySender")
	}
	key = append([]byte(nil), key...)
	return l.sendBy(func(token uint64, payload []byte) error { return k.SendKeyed(token, payload, key) }, token, payload, key)
}

func (l *ledger) sendBy(send func(token uint64, payload []byte) error, token uint64, payload, key []byte) error {
	payload = append([]byte(nil), payload...)
	e := &entry{payload: payload, key: key}
	l.update(func() { l.entries[token] = e })
	err := send(token, payload)
	l.update(func() {
		if err == nil {
			e.sent = true
			if e.done == 0 {
				l.open++
			}
			return
		}
		e.failed, e.payload, e.key = true, nil, nil
		if e.done > 0 {
			l.faults = append(l.faults, fmt.Errorf("token %#x: Done was called, and Send returned the error %q", token, err))
		}
		if driver.Class(err) == nil {
			l.faults = append(l.faults, fmt.Errorf("token %#x: the error of Send wraps no class: %q", token, err))
		}
	})
	return err
}

// Done implements driver.Acks.
func (l *ledger) Done(token uint64, err error) {
	l.update(func() {
		e := l.entries[token]
		if e == nil {
			l.faults = append(l.faults, fmt.Errorf("Done with token %#x, which was never sent", token))
			return
		}
		e.done++
		switch {
		case e.done > 1:
			l.faults = append(l.faults, fmt.Errorf("token %#x: Done was called %d times", token, e.done))
			return
		case e.failed:
			l.faults = append(l.faults, fmt.Errorf("token %#x: Done was called after Send had returned an error", token))
		case e.sent:
			l.open--
		}
		e.err = err
		if err != nil && driver.Class(err) == nil {
			l.faults = append(l.faults, fmt.Errorf("token %#x: the error of Done wraps no class: %q", token, err))
		}
		for i := range e.payload {
			e.payload[i] = poison
		}
		for i := range e.key {
			e.key[i] = poison
		}
		e.payload, e.key = nil, nil
	})
}

// settled waits until every send is done, and returns an error if one failed.
func (l *ledger) settled(ctx context.Context) error {
	if err := l.wait(ctx, func() bool { return l.open == 0 || len(l.faults) > 0 }, func() string {
		return fmt.Sprintf("%d of %d sends are not done", l.open, len(l.entries))
	}); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for token, e := range l.entries {
		if e.err != nil {
			return fmt.Errorf("token %#x: Done with the error %w", token, e.err)
		}
	}
	return l.faultsLocked()
}

// kept returns the clauses that the driver has broken.
func (l *ledger) kept() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.faultsLocked()
}

func (l *ledger) faultsLocked() error {
	const enough = 3
	if n := len(l.faults); n > enough {
		return fmt.Errorf("%w\nand %d more", errors.Join(l.faults[:enough]...), n-enough)
	}
	return errors.Join(l.faults...)
}
