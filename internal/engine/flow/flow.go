// Package flow says what a load measures. It is decided once, from the workload and from what
// the driver acknowledges: what is timed, what ends a message's time in flight, and which
// metrics that gives. All else in the engine reads it.
package flow

import (
	"fmt"

	"sixnines/driver"
	"sixnines/internal/recorder"
	"sixnines/result"
	"sixnines/scenario"
)

// End is what ends a message's time in flight.
type End int

// The ends.
const (
	Never      End = iota // nothing comes back
	OnAck                 // the broker's acknowledgement
	OnDelivery            // the first delivery, or the reply
)

// Flow is what a load measures. It is a value without pointers, which the hot path may copy, and does
// not change.
type Flow struct {
	Ack       driver.AckKind
	Acked     bool // producers get acknowledgements
	Timed     bool // messages are due at an instant, so there are response times
	Closed    bool // producers wait for answers, and have no schedule
	Delivers  bool // what is sent is delivered to the load's own consumers
	Replies   bool // deliveries are the answers of responders
	Publishes bool // there are producers only
	Consumes  bool // there are consumers only, of what earlier runs left
	Listens   bool // there are consumers only, of what other processes send in this run

	// Closes is what ends a message's time in flight, and so makes room for another one.
	// Sampled is what ends it for Little's law: an acknowledgement where there is one,
	// because every broker's deliveries may lag behind.
	Closes, Sampled End

	// AckResponse and AckService are the metrics of acknowledgements, Response and Service
	// those of deliveries: a response time counts from the instant at which a message was
	// due, a service time from its send. Only those of Metrics are recorded.
	AckResponse, AckService recorder.ID
	Response, Service       recorder.ID
	// RawAcked and RawDelivered are what the raw file calls the two.
	RawAcked, RawDelivered result.RawKind
	// Primary is the response time that the load is about, and Main the service time.
	Primary recorder.ID
	Main    result.Metric
}

// Of returns the flow of a workload by a driver that acknowledges so.
func Of(w *scenario.Workload, ack driver.AckKind) Flow {
	f := Flow{Ack: ack, Acked: ack != driver.AckKindNone, Closed: w.Loop == scenario.Closed,
		Timed:   w.Loop == scenario.Closed || !w.Rate.IsMax() && w.Pattern != scenario.Consume,
		Replies: w.Pattern == scenario.RequestReply, Publishes: w.Pattern == scenario.Publish,
		Consumes: w.Pattern == scenario.Consume, Delivers: w.Pattern != scenario.Publish && w.Pattern != scenario.Consume}
	f.AckResponse, f.AckService, f.RawAcked = recorder.PublishResponse, recorder.PublishService, result.RawAcked
	if ack == driver.AckKindReply {
		f.AckResponse, f.AckService, f.RawAcked = recorder.RoundTripResponse, recorder.RoundTripService, result.RawReplied
	}
	f.Response, f.Service, f.RawDelivered = recorder.DeliveryResponse, recorder.DeliveryService, result.RawReceived
	if w.Pattern == scenario.RoundTrip || f.Replies {
		f.Response, f.Service, f.RawDelivered = recorder.RoundTripResponse, recorder.RoundTripService, result.RawReplied
	}
	f.Closes, f.Sampled = closes(w, f), sampled(f)
	f.Primary, f.Main = f.Response, f.Service.Metric()
	if f.Publishes {
		f.Primary, f.Main = f.AckResponse, f.AckService.Metric()
	}
	return f
}

// Listen makes it the flow of a process that only receives what others send in the same run: nothing is in flight by
// its own account.
func (f *Flow) Listen() {
	f.Listens, f.Acked, f.Closes, f.Sampled = true, false, Never, Never
}

func closes(w *scenario.Workload, f Flow) End {
	switch {
	case f.Publishes && !f.Acked:
		return Never
	case f.Publishes:
		return OnAck
	case f.Closed, !f.Acked, f.Replies, w.Pattern == scenario.RoundTrip && w.InFlight.Each > 0:
		return OnDelivery
	}
	return OnAck
}

func sampled(f Flow) End {
	switch {
	case !f.Timed: // producers wait for room and not for the schedule
		return Never
	case f.Ack == driver.AckKindBroker, f.Ack == driver.AckKindReply && f.Publishes:
		return OnAck
	case f.Publishes:
		return Never
	}
	return OnDelivery
}

// Metrics returns what is recorded of messages that go to fanOut groups each, at the most.
func (f *Flow) Metrics(fanOut int) (all []recorder.ID) {
	if f.Timed {
		all = append(all, recorder.LagOwn, recorder.LagBlocked)
	}
	add := func(response, service recorder.ID) {
		if f.Timed {
			all = append(all, response)
		}
		all = append(all, service)
	}
	if f.Delivers {
		add(f.Response, f.Service)
		if f.Timed && fanOut > 1 && f.Response == recorder.DeliveryResponse {
			all = append(all, recorder.DeliveryLast)
		}
	}
	if f.Acked && (f.Publishes || f.Delivers && f.Ack != driver.AckKindReply) {
		add(f.AckResponse, f.AckService)
	}
	return all
}

// ConsumerAck reads scenario.Consumer.Ack: empty, none, each, or a number of messages from 1 on. Any
// other text is an error.
func ConsumerAck(s string) (driver.ConsumerAck, error) {
	switch s {
	case "":
		return driver.ConsumerAck{}, nil
	case "none":
		return driver.ConsumerAck{Mode: driver.AckNone}, nil
	case "each":
		return driver.ConsumerAck{Mode: driver.AckEach}, nil
	}
	var n int
	if _, err := fmt.Sscanf(s, "%d", &n); err != nil || n < 1 {
		return driver.ConsumerAck{}, fmt.Errorf("workload.consumer.ack %q is not none, each, or a number of messages", s)
	}
	return driver.ConsumerAck{Mode: driver.AckEvery, Every: n}, nil
}
