package sixnines

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"sixnines/driver"
)

// requesterDriver presents Requesters to the engine as a driver: a message is a
// request, and its acknowledgement is the answer.
type requesterDriver struct {
	create  func() (Requester, error)
	workers int
	timeout time.Duration
	threads bool // messages come from pacers' threads, see wakePipe
}

// Open implements driver.Driver.
func (d requesterDriver) Open(context.Context, driver.Target) (driver.Session, error) {
	base, cancel := context.WithCancel(context.Background())
	// The engine uses at most two tokens for each message in flight, so that with
	// this capacity no queue is ever full and Send never blocks.
	n := 2 * d.workers
	p := &workers{requesterDriver: d, base: base, cancel: cancel, ready: make(chan request, n)}
	if d.threads {
		var err error
		if p.wakePipe, err = newWakePipe(); err != nil {
			cancel()
			return nil, fmt.Errorf("requester: make a pipe: %w", err)
		}
		p.rung = make(chan request, n)
	}
	return p, nil
}

// workers is a session: a number of goroutines, each with a Requester.
type workers struct {
	requesterDriver
	base     context.Context // parent of all requests' contexts
	cancel   context.CancelFunc
	all      []*worker
	ready    chan request // requests for the workers
	rung     chan request // requests for the distributor; nil without wakePipe
	wakePipe *wakePipe
	once     sync.Once
	failed   error // the result of Close

	distributor sync.WaitGroup // its goroutine
}

// request is a message on its way to a worker.
type request struct {
	token uint64
	acks  driver.Acks
}

// worker does one request at a time.
type worker struct {
	number    int
	requester Requester
	state     atomic.Int32
	ended     chan struct{} // closed when the goroutine ends; nil: it was never started
}

// The states of a worker. The worker and Close change them by compare-and-swap. Close
// dismisses a waiting or working worker, which then does not report its request, and
// waits while one is reporting: after Close nothing is reported, whatever Request does.
const (
	waiting int32 = iota
	working
	reporting
	dismissed
)

// Provision makes the Requesters, sets them up and starts their goroutines.
func (p *workers) Provision(ctx context.Context, _ driver.Topology) (driver.Semantics, error) {
	for i := range p.workers {
		r, err := p.create()
		if err == nil && r == nil {
			err = errors.New("it is nil")
		}
		if err != nil {
			p.all = nil // no worker was set up, so none is torn down
			return driver.Semantics{}, fmt.Errorf("requester: make Requester %d: %w", i, err)
		}
		p.all = append(p.all, &worker{number: i, requester: r})
	}
	if err := p.setUp(ctx); err != nil {
		return driver.Semantics{}, err
	}
	for _, w := range p.all {
		w.ended = make(chan struct{})
		go p.work(w) // ends when Close closes p.ready; Close waits for w.ended
	}
	if p.wakePipe != nil {
		p.distributor.Go(p.distribute)
	}
	return driver.Semantics{
		Acknowledgment: "Request returned no error",
		Ordering:       "none across workers",
		Batching:       "none: a request a message",
		Transport:      "the Requester's own",
		Settings:       map[string]string{"workers": strconv.Itoa(p.workers), "timeout": p.timeout.String()},
	}, nil
}

// setupsAtOnce limits how many Setups run at a time: a server may take thousands of
// connections made at once for an attack.
const setupsAtOnce = 16

// setUp sets all Requesters up. It removes those that failed from p.all, so that they
// are not torn down.
func (p *workers) setUp(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		first error
		good  []*worker
		next  = make(chan *worker)
	)
	for range min(setupsAtOnce, len(p.all)) {
		wg.Go(func() {
			for w := range next {
				var err error
				if s, ok := w.requester.(SetupRequester); ok {
					if err = ctx.Err(); err == nil {
						err = s.Setup(ctx)
					}
				}
				mu.Lock()
				if err == nil {
					good = append(good, w)
				} else if first == nil {
					first = fmt.Errorf("requester: set up worker %d: %w", w.number, err)
					cancel()
				}
				mu.Unlock()
			}
		})
	}
	for _, w := range p.all {
		next <- w
	}
	close(next)
	wg.Wait()
	p.all = good
	return first
}

// distribute hands the requests of pacers to the workers. Unlike a pacer it runs on a
// processor of Go's scheduler, which a worker that it readies can use at once.
func (p *workers) distribute() {
	for {
		p.wakePipe.listen()
		for drained := false; !drained; {
			select {
			case r := <-p.rung:
				p.ready <- r
			default:
				drained = true
			}
		}
		if p.wakePipe.wait() != nil {
			return
		}
	}
}

// work is a worker's goroutine.
func (p *workers) work(w *worker) {
	defer close(w.ended)
	d := newDeadline(p.base, p.timeout)
	defer d.close()
	for r := range p.ready {
		if !w.state.CompareAndSwap(waiting, working) {
			return
		}
		err := w.requester.Request(d.begin())
		missed := d.end()
		if err != nil && (missed || errors.Is(err, context.DeadlineExceeded)) {
			err = fmt.Errorf("%w: %w", driver.ErrTimeout, err)
		}
		if !w.state.CompareAndSwap(working, reporting) {
			return // dismissed by Close: the outcome stays unknown
		}
		r.acks.Done(r.token, err)
		w.state.Store(waiting)
	}
}

// Producer implements driver.Session. All producers share the workers.
func (p *workers) Producer(_ context.Context, _ driver.ProducerSpec, acks driver.Acks) (driver.Producer, error) {
	return &dispatcher{p, acks}, nil
}

// Consumer implements driver.Session.
func (p *workers) Consumer(context.Context, driver.ConsumerSpec, driver.Deliver) (driver.Consumer, error) {
	return nil, fmt.Errorf("requester: consumer: %w", driver.ErrUnsupported)
}

// Deprovision implements driver.Session: nothing is created.
func (p *workers) Deprovision(context.Context) error { return nil }

// Close ends all requests, waits for the workers until ctx ends, and tears down
// those that have come to an end.
func (p *workers) Close(ctx context.Context) error {
	p.once.Do(func() { p.failed = p.close(ctx) })
	return p.failed
}

func (p *workers) close(ctx context.Context) error {
	for _, w := range p.all {
		for !w.state.CompareAndSwap(working, dismissed) && !w.state.CompareAndSwap(waiting, dismissed) {
			time.Sleep(time.Microsecond) // it is reporting
		}
	}
	p.cancel()
	if p.wakePipe != nil {
		p.wakePipe.close()
		p.distributor.Wait()
	}
	close(p.ready)
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		errs []error
	)
	for _, w := range p.all {
		wg.Go(func() {
			if err := w.leave(ctx); err != nil {
				mu.Lock()
				errs = append(errs, fmt.Errorf("requester: worker %d: %w", w.number, err))
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// leave waits for the worker's end and tears its Requester down.
func (w *worker) leave(ctx context.Context) error {
	if w.ended != nil {
		select {
		case <-w.ended:
		case <-ctx.Done():
			return fmt.Errorf("Request has not returned since its context ended: %w", ctx.Err())
		}
	}
	if t, ok := w.requester.(TeardownRequester); ok {
		if err := t.Teardown(ctx); err != nil {
			return fmt.Errorf("tear down: %w", err)
		}
	}
	return nil
}

// dispatcher is a producer: it hands requests to the workers.
type dispatcher struct {
	workers *workers
	acks    driver.Acks
}

// Send implements driver.Producer. It does not block.
func (d *dispatcher) Send(token uint64, _ []byte) error {
	p, r := d.workers, request{token, d.acks}
	if p.wakePipe == nil {
		p.ready <- r
		return nil
	}
	p.rung <- r
	p.wakePipe.ring()
	return nil
}

// Close implements driver.Producer. Requests under way end with the session.
func (d *dispatcher) Close(context.Context) error { return nil }
