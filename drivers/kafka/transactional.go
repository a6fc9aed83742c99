package kafka

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"sixnines/driver"
)

// transactional is a producer that sends in transactions, one after the other.
// It implements driver.Producer, driver.Syncer and kit.Part.
//
// Kafka has one transaction at a time for a transactional id, so Send waits
// while one is being committed.
type transactional struct {
	*producer
	id     string
	life   context.Context // ends with the producer
	cancel context.CancelFunc
	commit chan struct{} // wakes the goroutine that commits
	ended  chan struct{} // closed when it has ended

	mu      sync.Mutex
	changed sync.Cond // state or closing
	state   transactionState
	count   int // messages of the transaction
	timer   *time.Timer

	outcome struct {
		sync.Mutex
		records []written // waiting for the commit
		err     error     // of the first record that failed
	}
}

// written is what the client said of a record.
type written struct {
	token uint64
	err   error
}

type transactionState int

const (
	noTransaction transactionState = iota
	inTransaction
	endingTransaction
)

func (s *session) transactional(ctx context.Context, p *producer, spec driver.ProducerSpec) (driver.Producer, error) {
	t := &transactional{producer: p, id: s.own(fmt.Sprintf("producer-%d", spec.ID)), commit: make(chan struct{}, 1), ended: make(chan struct{})}
	t.changed.L = &t.mu
	p.promise = t.answered
	t.life, t.cancel = context.WithCancel(s.Life)
	if err := t.connect(ctx); err != nil {
		t.cancel()
		return nil, s.connecting(err, "connect a producer of %q with the transactional id %q", spec.Topic, t.id)
	}
	t.timer = time.AfterFunc(time.Hour, t.wake)
	t.timer.Stop()
	go t.committing()
	if _, err := s.Keep(t); err != nil {
		t.Close(ctx)
		return nil, err
	}
	return t, nil
}

// connect makes a client with the transactional id, which fences an earlier one
// off.
func (t *transactional) connect(ctx context.Context) error {
	l, err := t.session.connect(ctx, t.key, append(t.session.producerOptions(), kgo.TransactionalID(t.id))...)
	if err != nil {
		return err
	}
	if err := t.session.open(ctx, l.client); err != nil {
		l.close(ctx)
		return err
	}
	t.link = l
	return nil
}

// Send implements driver.Producer.
func (t *transactional) Send(token uint64, payload []byte) error {
	return t.SendKeyed(token, payload, nil)
}

// SendKeyed implements driver.KeySender.
func (t *transactional) SendKeyed(token uint64, payload, key []byte) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.state == endingTransaction && !t.closed.Load() {
		t.changed.Wait()
	}
	if t.closed.Load() {
		return fmt.Errorf("kafka: send to %q: %w", t.name, driver.ErrClosed)
	}
	if err := t.link.dialer.logins.over(); err != nil {
		return wrap(err, "send to %q", t.name)
	}
	if t.state == noTransaction {
		if err := t.link.client.BeginTransaction(); err != nil {
			return wrap(err, "begin a transaction for %q", t.name)
		}
		t.state, t.count = inTransaction, 0
		t.timer.Reset(t.session.options.TransactionInterval)
	}
	t.count++
	t.produce(t.link.client, token, payload, key)
	if t.count == t.session.options.TransactionMessages {
		t.end()
	}
	return nil
}

// end has the transaction committed. mu is held.
func (t *transactional) end() {
	t.timer.Stop()
	t.state = endingTransaction
	select {
	case t.commit <- struct{}{}:
	default:
	}
}

// wake ends a transaction whose time has come.
func (t *transactional) wake() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.state == inTransaction {
		t.end()
	}
}

// answered is the client's answer to a record, which is not done before its
// transaction is.
func (t *transactional) answered(r *kgo.Record, err error) {
	token := t.recycle(r)
	t.outcome.Lock()
	defer t.outcome.Unlock()
	t.outcome.records = append(t.outcome.records, written{token, err})
	if err != nil && t.outcome.err == nil {
		t.outcome.err = err
	}
}

// committing commits transactions until the producer closes.
func (t *transactional) committing() {
	defer close(t.ended)
	for {
		select {
		case <-t.commit:
		case <-t.life.Done():
			return
		}
		t.resolve(t.finish())
		t.mu.Lock()
		t.state = noTransaction
		t.changed.Broadcast()
		t.mu.Unlock()
	}
}

// finish commits the transaction, or aborts it if a record of it failed or it
// cannot be committed. It returns what became of the records.
func (t *transactional) finish() error {
	client := t.link.client
	err := client.Flush(t.life)
	if err == nil {
		t.outcome.Lock()
		err = t.outcome.err
		t.outcome.Unlock()
	}
	if err == nil {
		if err = client.EndTransaction(t.life, kgo.TryCommit); err == nil {
			return nil
		}
		if classOf(err) == driver.ErrNotConnected {
			err = fmt.Errorf("%w: the commit went unanswered: %w", driver.ErrTimeout, err)
		}
	}
	t.abort()
	if class := classOf(err); class != driver.ErrTimeout && class != driver.ErrClosed {
		return fmt.Errorf("kafka: send to %q: %w: its transaction was aborted: %w", t.name, driver.ErrRejected, err)
	}
	return undelivered(err, t.name)
}

// abort leaves the client without a transaction, or makes another one.
func (t *transactional) abort() {
	for t.life.Err() == nil && t.link.dialer.logins.over() == nil {
		err := errors.Join(t.link.client.AbortBufferedRecords(t.life), t.link.client.EndTransaction(t.life, kgo.TryAbort))
		if err == nil {
			return
		}
		t.session.Target.Notify(asyncError(err, "abort a transaction of %q", t.id))
		// A new client's first request aborts what its predecessor left open.
		old := t.link
		if err := t.connect(t.life); err == nil {
			old.close(t.life)
			return
		}
		select {
		case <-time.After(t.session.options.RetryBackoff):
		case <-t.life.Done():
		}
	}
}

// resolve tells what became of all records of the transaction: of those that
// failed by themselves, why; of the others, what became of it.
func (t *transactional) resolve(err error) {
	t.outcome.Lock()
	records := t.outcome.records
	t.outcome.records, t.outcome.err = nil, nil
	t.outcome.Unlock()
	for _, r := range records {
		if r.err != nil {
			t.acks.Done(r.token, undelivered(r.err, t.name))
		} else {
			t.acks.Done(r.token, err)
		}
	}
	clear(records)
	t.outcome.Lock()
	if t.outcome.records == nil {
		t.outcome.records = records[:0]
	}
	t.outcome.Unlock()
}

// Sync implements driver.Syncer.
func (t *transactional) Sync(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.changed.Broadcast()
	})
	defer stop()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.state == inTransaction {
		t.end()
	}
	for t.state == endingTransaction && !t.closed.Load() {
		if ctx.Err() != nil {
			return wrap(ctx.Err(), "wait for a transaction of %q", t.name)
		}
		t.changed.Wait()
	}
	if t.closed.Load() {
		return fmt.Errorf("kafka: wait for %q: %w", t.name, driver.ErrClosed)
	}
	return nil
}

// Close implements driver.Producer. A transaction that is open then is aborted
// by the broker when its time is over, or by the next producer of its id.
func (t *transactional) Close(ctx context.Context) error {
	t.session.Forget(t)
	return t.Shut(ctx)
}

// Shut implements kit.Part.
func (t *transactional) Shut(ctx context.Context) error {
	if !t.closed.CompareAndSwap(false, true) {
		return nil
	}
	t.cancel()
	t.mu.Lock()
	t.timer.Stop()
	t.changed.Broadcast()
	t.mu.Unlock()
	select {
	case <-t.ended:
		t.link.close(ctx)
		t.resolve(undelivered(kgo.ErrClientClosed, t.name))
	case <-ctx.Done():
	}
	return nil
}
