package engine

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"sixnines/driver"
	"sixnines/internal/integrity"
	"sixnines/internal/recorder"
	"sixnines/internal/schedule"
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
// and its accounts. Data goes that way. Of the run around it a load knows what
// control says.
type load struct {
	*control
	part     scenario.Part
	scenario *scenario.Scenario // the part's, with this workload
	workload *scenario.Workload

	// The plan.
	layout   *layout
	plan     *schedule.Plan  // nil unless paced
	sizes    *schedule.Sizes // nil: all payloads are alike
	material material        // what bodies are cut from; nil: nothing
	id       uint32          // in every envelope
	name     string          // of what is made at the broker
	timed    bool            // messages have an instant at which they are due, and so response times
	forget   int64           // Config.Forget
	window   time.Duration
	warmup   time.Duration

	// start and end of the window, CLOCK_MONOTONIC; far off until known.
	start, end atomic.Int64

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
	rawDelivered, rawAcked  result.RawKind

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
	replies   bool // deliveries are the answers of responders
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

// longestCounted bounds a window that a number of messages should end.
const longestCounted = time.Hour

// newLoad plans the workload of a part.
func newLoad(c *control, part scenario.Part) (*load, error) {
	s := part.Scenario
	if err := check(s, c.config.Entry); err != nil {
		return nil, err
	}
	w := &s.Workload
	window := s.Phases.Longest()
	if w.Messages > 0 {
		window = longestCounted
	}
	ld := &load{control: c, part: part, scenario: s, workload: w, layout: plan(w), window: window, warmup: s.Phases.Warmup, forget: c.config.Forget,
		replies: w.Pattern == scenario.RequestReply}
	if len(ld.layout.streams) > integrity.MaxStreams {
		return nil, fmt.Errorf("%w: %d producers on %d topics are %d streams; %d can be told apart",
			ErrUsage, w.Producers, w.Topics, len(ld.layout.streams), integrity.MaxStreams)
	}
	if err := ld.chooseSender(); err != nil {
		return nil, err
	}
	ld.sizes = schedule.NewSizes(w.Size, s.Seed)
	var err error
	if ld.material, err = loadMaterial(w.Payload); err != nil {
		return nil, err
	}
	ld.left.limited = w.Messages > 0
	ld.left.left.Store(int64(w.Messages))
	if u := s.Phases.Until; !u.IsZero() {
		ld.follower = &follower{until: u}
	}
	ld.start.Store(never)
	ld.end.Store(never)
	for ld.id == 0 {
		ld.id = rand.Uint32()
	}
	ld.name = fmt.Sprintf("%08x", ld.id)
	ld.rawDelivered = result.RawReceived
	switch w.Pattern {
	case scenario.RoundTrip, scenario.RequestReply:
		ld.primary, ld.rawDelivered = recorder.RoundTripResponse, result.RawReplied
	case scenario.Deliver:
		ld.primary = recorder.DeliveryResponse
	default:
		ld.primary = recorder.PublishResponse
	}
	return ld, nil
}

// event writes an event of this load's.
func (ld *load) event(e result.Event) {
	e.Workload = ld.part.Name
	ld.out.event(e)
}

// isPast reports whether all of the load's senders are past its window.
func (ld *load) isPast() bool { return ld.past.Load() >= int64(ld.several) }

// neverBegan reports whether the run was ended before the load's window.
func (ld *load) neverBegan() bool { return ld.end.Load() <= ld.start.Load() }

// asked is how many messages a second the schedule has; 0: there is none.
func (ld *load) asked() float64 {
	if ld.plan == nil {
		return 0
	}
	return ld.plan.MeanRate()
}

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

// deliveryMetric is the response metric of deliveries, deliveryService the
// service metric.
func (ld *load) deliveryMetric() recorder.ID {
	if ld.workload.Pattern == scenario.Deliver {
		return recorder.DeliveryResponse
	}
	return recorder.RoundTripResponse
}

func (ld *load) deliveryService() recorder.ID {
	if ld.workload.Pattern == scenario.Deliver {
		return recorder.DeliveryService
	}
	return recorder.RoundTripService
}

// serviceMetric is the service time that the load is about, and its probe.
func (ld *load) serviceMetric() result.Metric {
	h := result.Header{Pattern: string(ld.workload.Pattern), Ack: string(ld.ack)}
	return h.ServiceMetric()
}
