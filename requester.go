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
// Request does one whole request and returns when its answer is there. It is
// called by one goroutine at a time per Requester. ctx ends when the request's
// time is up (scenario.Workload.Timeout) or the run is over; it belongs to this
// request and must not be kept. Return soon after it has ended: a Request that
// does not keeps its worker, and what it holds, even beyond the run.
//
// A nil error records the request's latency. An error counts it as refused,
// under the class of package driver that the error wraps: slower than any
// latency, so that failing fast does not look like being fast. A request whose
// time is up is neither: nobody knows what came of it, and it stays in the
// distribution as one that took longer than was waited.
type Requester interface {
	Request(ctx context.Context) error
}

// SetupRequester is a Requester with something to prepare. Setup is called once,
// before there is load and before any Request of this Requester; those of
// several Requesters run at the same time. All of them together have 30 s. An
// error ends the run.
type SetupRequester interface {
	Requester
	Setup(ctx context.Context) error
}

// TeardownRequester is a Requester with something to release. Teardown is called
// once, after the last Request has returned, if Setup was successful or there is
// none. All of them together have 10 s. Its error is an event in the result.
type TeardownRequester interface {
	Requester
	Teardown(ctx context.Context) error
}

// RequesterFunc makes a function a Requester.
type RequesterFunc func(ctx context.Context) error

// Request calls f.
func (f RequesterFunc) Request(ctx context.Context) error { return f(ctx) }

// requesterName is what scenarios and results call the driver of Requesters.
const requesterName = "requester"

// DefaultWorkers is how many requests [RunRequester] has under way at most if
// the scenario does not say.
const DefaultWorkers = 64

// RunRequester executes s against what the Requesters reach: each request is a
// message, its answer the reply, and its latencies are result.RoundTripResponse
// (since it was due) and result.RoundTripService (since it was handed to a
// worker).
//
// Workers do the requests, each on a goroutine and with a Requester of its own,
// made by create, which is called by one goroutine. Their number is
// s.Workload.InFlight.Messages, [DefaultWorkers] if that is 0, or as many as a
// closed loop has outstanding. They take turns, so that a warm-up warms all of
// them. If none is free when a request is due it waits, its latency counts from
// when it was due all the same, and the wait is shown as result.LagBlocked. A
// stall of D at rate λ needs λ·D workers for the requests to reach the system
// when they are due; with fewer the response times are the same, while the
// system is spared part of the queue that real users would have made.
//
// Of s, target.driver is empty or "requester" and workload.pattern is empty or
// "publish": a request has no consumers. target.url is where the system is, for
// the record and to tell whether it shares this machine. There are no driver
// options, TLS settings, topics, groups or connections, and workload.size means
// nothing. All loops, arrivals and phases are possible.
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

// reduce leaves of s what a Requester has, and refuses what it cannot have.
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
	w.Connections.Producers = 1 // one place from which the workers are handed out
	if w.InFlight.Messages == 0 {
		w.InFlight.Messages = DefaultWorkers
		if w.Loop == scenario.Closed {
			w.InFlight.Messages = max(1, w.Outstanding) * max(1, w.Producers)
		}
	}
	return nil
}

// messageSize is the smallest that the engine can build; nobody sees it.
const messageSize = 32 * scenario.Byte
