package engine

import (
	"sync"
	"sync/atomic"

	"sixnines/driver"
	"sixnines/internal/recorder"
	"sixnines/internal/transport"
	"sixnines/result"
	"sixnines/scenario"
)

// closing says what ends a message's time in flight.
type closing int

const (
	closeNever closing = iota
	closeOnAck
	closeOnDelivery // the first, or the reply
)

// load is one workload while it is run: its plan, what sends and what receives,
// and its accounts. Data goes that way.
type load struct {
	*plan

	// The session, and what follows from it.
	session    driver.Session
	responders driver.Session // of its own, for request–reply
	dialers    []*transport.Dialer
	semantics  driver.Semantics
	ack        driver.AckKind
	closes     closing
	// attributed is how many connections were made once all producers and
	// consumers had theirs.
	attributed int
	cold       []result.Cold

	ackResponse, ackService recorder.ID
	primary                 recorder.ID // the metric that progress shows
	rawAcked                result.RawKind

	// Sending.
	sender  sender
	streams []*stream
	lanes   []*lane
	turn    []int // by producer: which of its streams is next; each entry is its lane's pacer's
	pacing  pacing
	senders sync.WaitGroup
	several int          // how many of them get past the window one by one
	past    atomic.Int64 // of these, those that have
	left    quota        // of messages, where the window is limited by them

	// Receiving.
	groups    []*group
	consumers []*consumer
	clients   []driver.Consumer

	// The accounts.
	rec      *recorder.Recorder
	tails    []*tail
	stages   stages
	side     *sideProbe
	witness  *witness  // nil: there is nothing that it could sample
	follower *follower // nil: the window's length is fixed
	raw      *result.RawWriter
	rawSinks []*rawSink
	tended   int64 // when messages in flight were looked through for what timed out
	told     told
	synced   int64 // flat out: when the round trip after the last message was back
	observed int64 // when the clients were told to leave: so long it was looked for what is missing

	violations  atomic.Int64
	handovers   atomic.Int64
	lateReplies atomic.Int64
	dropped     atomic.Int64
	returned    atomic.Int64
	thinkers    atomic.Int64 // closed loops that await the end of their think time
	due         atomic.Int64 // measured messages so far, where some are to be forgotten
	probeAt     atomic.Int64 // newest probe seen
	probeTook   atomic.Int64 // how long the probe took that settle waits for; 0: not come yet
	firstTook   atomic.Int64 // how long the first probe took, in ns
}

// newLoad plans the workload of a part.
func newLoad(c *control, part scenario.Part) (*load, error) {
	p, err := newPlan(c, part)
	if err != nil {
		return nil, err
	}
	ld := &load{plan: p}
	ld.chooseSender()
	w := ld.workload
	ld.left.limited = w.Messages > 0
	ld.left.left.Store(int64(w.Messages))
	if u := ld.scenario.Phases.Until; !u.IsZero() {
		ld.follower = &follower{until: u}
	}
	switch w.Pattern {
	case scenario.RoundTrip, scenario.RequestReply:
		ld.primary = recorder.RoundTripResponse
	case scenario.Deliver:
		ld.primary = recorder.DeliveryResponse
	default:
		ld.primary = recorder.PublishResponse
	}
	return ld, nil
}

// isPast reports whether all of the load's senders are past its window.
func (ld *load) isPast() bool { return ld.past.Load() >= int64(ld.several) }

// metrics returns what this load records.
func (ld *load) metrics() []recorder.ID {
	var m []recorder.ID
	add := func(response, service recorder.ID) {
		if ld.timed {
			m = append(m, response)
		}
		m = append(m, service)
	}
	if ld.timed {
		m = append(m, recorder.LagOwn, recorder.LagBlocked)
	}
	delivers := true
	switch ld.workload.Pattern {
	case scenario.RoundTrip, scenario.RequestReply:
		add(recorder.RoundTripResponse, recorder.RoundTripService)
	case scenario.Deliver:
		add(recorder.DeliveryResponse, recorder.DeliveryService)
		if ld.timed && ld.layout.maxFanOut() > 1 {
			m = append(m, recorder.DeliveryLast)
		}
	default:
		delivers = false
	}
	if ld.ack != driver.AckKindNone && (!delivers || ld.ack != driver.AckKindReply) {
		add(ld.ackResponse, ld.ackService)
	}
	if ld.mayHaveStages() {
		m = append(m, recorder.StageClient, recorder.StageBroker, recorder.StageReceive, recorder.StageCallback)
	}
	if ld.timed && !ld.config.Entry.Capabilities.OwnsDialing {
		if delivers {
			m = append(m, recorder.LagReceive)
		}
		if ld.ack != driver.AckKindNone {
			m = append(m, recorder.LagReceiveAck)
		}
	}
	return append(m, ld.probeMetrics()...)
}

// serviceMetric is the service time that the load is about, and its probe.
func (ld *load) serviceMetric() result.Metric {
	h := result.Header{Pattern: string(ld.workload.Pattern), Ack: string(ld.ack)}
	return h.ServiceMetric()
}
