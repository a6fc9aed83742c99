package sixnines

import (
	"context"
	"fmt"

	"sixnines/driver"
	"sixnines/result"
	"sixnines/scenario"
)

// Requester is the one-method way to measure anything: an HTTP service, a
// database, a function.
//
// Request makes one whole request and returns when it has the answer. It is called
// by one goroutine at a time per Requester. ctx ends when the request's time is up
// (scenario.Workload.Timeout) or the run is over; it belongs to this request and
// must not be kept. Request must return soon after ctx has ended: otherwise it
// occupies its worker, even beyond the run.
//
// A nil error records the request's latency. An error counts the request as refused,
// under the class of package driver that the error wraps. Refused requests rank as
// slower than any latency, so that failing fast does not look like being fast. A
// request whose time is up is neither: its outcome is unknown, and it stays in the
// distribution as one that took longer than its timeout.
type Requester interface {
	Request(ctx context.Context) error
}

// SetupRequester is a Requester with something to prepare. Setup is called once,
// before the load and before any Request of this Requester. The Setups of several
// Requesters run at the same time, and all together have 30 s. An error ends the run.
type SetupRequester interface {
	Requester
	Setup(ctx context.Context) error
}

// TeardownRequester is a Requester with something to release. Teardown is called
// once, after the last Request has returned, if the Requester has no Setup or Setup
// succeeded. All Teardowns together have 10 s. An error becomes an event in the result.
type TeardownRequester interface {
	Requester
	Teardown(ctx context.Context) error
}

// RequesterFunc makes a function a Requester.
type RequesterFunc func(ctx context.Context) error

// Request calls f.
func (f RequesterFunc) Request(ctx context.Context) error { return f(ctx) }

// requesterName is the name of the driver of Requesters in scenarios and results.
const requesterName = "requester"

// DefaultWorkers is the largest number of concurrent requests of [RunRequester] if
// the scenario does not set it.
const DefaultWorkers = 64

// RunRequester executes s against the system that the Requesters reach: each request
// is a message and its answer the reply. Its latencies are result.RoundTripResponse
// (since the request was due) and result.RoundTripService (since a worker got it).
//
// Workers make the requests. Each has its own goroutine and its own Requester, made
// by create, which is called by one goroutine. The number of workers is
// s.Workload.InFlight.Messages; if that is 0, [DefaultWorkers], or, in a closed loop,
// the number of outstanding requests. Workers take turns, so that a warm-up warms all
// of them. If no worker is free when a request is due, the request waits; its response
// time still counts from when it was due, and the wait is shown as result.LagBlocked.
// During a stall of D at rate λ, λ·D workers are needed for all requests to reach the
// system when they are due. With fewer the response times are the same, but the system
// gets only a part of the queue that real users would have made.
//
// In s, target.driver must be empty or "requester", and workload.pattern empty or
// "publish": a request has no consumers. target.url is the address of the system; it
// is recorded, and shows whether the system shares this machine. s must not have driver
// options, TLS settings, topics, groups or connections; workload.size is ignored. All
// loops, arrivals and phases are possible.
//
// Otherwise it is like [Run].
func RunRequester(ctx context.Context, s *scenario.Scenario, create func() (Requester, error), opts ...Option) (*result.Run, error) {
	if s == nil {
		return nil, fmt.Errorf("%w: there is none (nil)", ErrUsage)
	}
	if create == nil {
		return nil, fmt.Errorf("%w: create is nil: there is nothing to measure", ErrUsage)
	}
	n := *s
	if err := reduce(&n); err != nil {
		return nil, err
	}
	settled, err := settle(&n)
	if err != nil {
		return nil, err
	}
	w := &settled.Workload
	d := requesterDriver{create: create, workers: w.InFlight.Messages, timeout: w.Timeout,
		threads: w.Loop == scenario.Open && !w.Rate.IsMax()}
	entry := driver.Entry{Name: requesterName, Summary: "requests of this program's own",
		Capabilities: driver.Capabilities{Ack: driver.AckKindReply, OwnsDialing: true}, Driver: d}
	return run(ctx, configure(settled, entry, opts))
}

// reduce adapts s to the driver of Requesters, and refuses settings that a Requester
// cannot have.
func reduce(s *scenario.Scenario) error {
	t, w := &s.Target, &s.Workload
	refuse := func(key, why string) error {
		return fmt.Errorf("%w: %s: a Requester %s; leave it out", ErrUsage, key, why)
	}
	switch {
	case len(s.Workloads) > 0:
		return refuse("workloads", "makes one load")
	case t.Driver != "" && t.Driver != requesterName:
		return refuse("target.driver", fmt.Sprintf("is not reached through driver %q", t.Driver))
	case len(t.Options) > 0:
		return refuse("target.options", "has no driver options")
	case t.TLS != nil:
		return refuse("target.tls", "connects by itself")
	case w.Pattern != "" && w.Pattern != scenario.Publish:
		return refuse("workload.pattern", fmt.Sprintf("has no consumers, and %q needs them", w.Pattern))
	case !w.Payload.IsZero():
		return refuse("workload.payload", "makes its own requests")
	case w.Topics > 1:
		return refuse("workload.topics", "has no topics")
	case w.Groups > 0:
		return refuse("workload.groups", "has no consumers")
	case w.InFlight.Each > 0:
		return refuse("workload.in_flight.each", "has workers for the requests of all producers, as many as workload.in_flight.messages")
	case w.Connections.Producers > 1 || w.Connections.Consumers > 0:
		return refuse("workload.connections", "connects by itself")
	}
	t.Driver, w.Pattern = requesterName, scenario.Publish
	w.Size = scenario.FixedSize(messageSize)
	w.Connections.Producers = 1 // all requests go through one dispatcher
	if w.InFlight.Messages == 0 {
		w.InFlight.Messages = DefaultWorkers
		if w.Loop == scenario.Closed {
			w.InFlight.Messages = max(1, w.Outstanding) * max(1, w.Producers)
		}
	}
	return nil
}

// messageSize is the smallest message that the engine can build; its content is not used.
const messageSize = 32 * scenario.Byte
