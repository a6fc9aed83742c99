package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"sixnines/driver"
	"sixnines/internal/clock"
	"sixnines/internal/integrity"
	"sixnines/internal/recorder"
	"sixnines/internal/schedule"
	"sixnines/internal/transport"
	"sixnines/internal/vitals"
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

// run is one run's state.
type run struct {
	config   Config
	scenario *scenario.Scenario
	workload *scenario.Workload
	layout   *layout
	plan     *schedule.Plan // nil unless paced
	id       uint32         // in every envelope
	fullID   string         // the same and more, in the result
	name     string         // of what is made at the broker

	paced   bool // open loop with a schedule, or closed: there is an intended instant
	closed  atomic.Int64
	flatOut bool
	replies bool
	window  time.Duration
	warmup  time.Duration
	ack     driver.AckKind
	closes  closing

	ackResponse, ackService recorder.ID
	primary                 recorder.ID // the metric that progress shows
	rawDelivered, rawAcked  result.RawKind

	session    driver.Session
	responders driver.Session // of its own, for request–reply
	dialers    []*transport.Dialer
	semantics  driver.Semantics

	rec       *recorder.Recorder
	streams   []*stream
	lanes     []*lane
	groups    []*group
	consumers []*consumer
	clients   []driver.Consumer
	servers   []*responder
	monitor   *vitals.Monitor
	held      *collectorHeld
	tcp       *tcpWatch
	side      *sideProbe
	witness   *witness // nil: nothing to bear witness to
	tails     []*tail
	stages    stages
	tended    int64 // when messages in flight were looked through for what timed out
	// attributed is how many connections were made once all producers and
	// consumers had theirs.
	attributed int
	raw        *result.RawWriter
	rawSinks   []*rawSink
	cold       []result.Cold
	out        *output

	// start and end of the window, CLOCK_MONOTONIC; far off until known.
	start, end atomic.Int64
	stopped    atomic.Bool
	thinkers   atomic.Int64  // closed loops that await the end of their think time
	stop       chan struct{} // closed with stopped
	stopOnce   sync.Once

	pacersMu sync.Mutex
	pacers   []*pacer
	turn     []int // by producer: which of its streams is next; each entry is its lane's pacer's
	senders  sync.WaitGroup
	left     quota // of messages, where the window is limited by them

	violations  atomic.Int64
	handovers   atomic.Int64
	lateReplies atomic.Int64
	dropped     atomic.Int64
	returned    atomic.Int64
	due         atomic.Int64 // measured messages so far, where some are to be forgotten
	probeAt     atomic.Int64 // newest probe seen
	probeTook   atomic.Int64 // how long the probe took that settle waits for; 0: not come yet
	firstTook   atomic.Int64 // how long the first probe took, in ns
	readNs      float64      // a reading of the clock takes
	observed    int64        // when the clients were told to leave: so long it was looked for what is missing
	interrupted bool
	early       bool // ended before the window began
	collected   collected
	follower    *follower // nil: the window's length is fixed
}

// longestCounted bounds a window that a number of messages should end.
const longestCounted = time.Hour

const never = int64(1) << 62

func newRun(c Config) (*run, error) {
	s := c.Scenario
	if err := Check(s, c.Entry); err != nil {
		return nil, err
	}
	w := &s.Workload
	window := s.Phases.Longest()
	if w.Messages > 0 {
		window = longestCounted
	}
	r := &run{config: c, scenario: s, workload: w, layout: plan(w), stop: make(chan struct{}),
		window: window, warmup: s.Phases.Warmup, flatOut: w.Rate.IsMax() && w.Loop == scenario.Open}
	if len(r.layout.streams) > integrity.MaxStreams {
		return nil, fmt.Errorf("%w: %d producers on %d topics are %d streams; %d can be told apart",
			ErrUsage, w.Producers, w.Topics, len(r.layout.streams), integrity.MaxStreams)
	}
	r.paced = !r.flatOut
	r.replies = w.Pattern == scenario.RequestReply
	if r.paced && w.Loop == scenario.Open {
		p, err := schedule.New(w, window, s.Seed)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrUsage, err)
		}
		r.plan = p.WithWarmup(r.warmup)
	}
	r.left.limited = w.Messages > 0
	r.left.left.Store(int64(w.Messages))
	if u := s.Phases.Until; !u.IsZero() {
		r.follower = &follower{until: u}
	}
	r.start.Store(never)
	r.end.Store(never)
	for r.id == 0 {
		r.id = rand.Uint32()
	}
	r.name = fmt.Sprintf("%08x", r.id)
	r.fullID = fmt.Sprintf("%08x%08x", r.id, rand.Uint32())
	r.rawDelivered = result.RawReceived
	switch w.Pattern {
	case scenario.RoundTrip, scenario.RequestReply:
		r.primary, r.rawDelivered = recorder.RoundTripResponse, result.RawReplied
	case scenario.Deliver:
		r.primary = recorder.DeliveryResponse
	default:
		r.primary = recorder.PublishResponse
	}
	return r, nil
}

// open connects both sides and provisions.
func (r *run) open(ctx context.Context) error {
	began := clock.Now()
	session, err := r.openSession(ctx)
	if err != nil {
		return err
	}
	r.session = session
	r.cold = append(r.cold, result.Cold{Name: "connect", Duration: time.Duration(clock.Now() - began)})
	r.ack = r.config.Entry.Capabilities.Ack
	if a, ok := session.(driver.AckReporter); ok {
		r.ack = a.Ack()
	}
	w := r.workload
	if w.Loop == scenario.Closed && w.Pattern == scenario.Publish && r.ack == driver.AckKindNone {
		return fmt.Errorf("%w: with these options driver %s acknowledges nothing that a closed loop could wait for", ErrUsage, r.config.Entry.Name)
	}
	switch {
	case w.Pattern == scenario.Publish && r.ack == driver.AckKindNone:
		r.closes = closeNever
	case w.Pattern == scenario.Publish, w.Loop == scenario.Open && r.ack != driver.AckKindNone:
		r.closes = closeOnAck
	default:
		r.closes = closeOnDelivery
	}
	r.ackResponse, r.ackService, r.rawAcked = recorder.PublishResponse, recorder.PublishService, result.RawAcked
	if r.ack == driver.AckKindReply {
		r.ackResponse, r.ackService, r.rawAcked = recorder.RoundTripResponse, recorder.RoundTripService, result.RawReplied
		if w.Pattern == scenario.Publish {
			r.primary = r.ackResponse
		}
	}
	consumers := w.Consumers
	r.semantics, err = session.Provision(ctx, driver.Topology{Topics: r.layout.topics, Groups: r.layout.groupNames,
		Producers: w.Producers, Consumers: consumers, MaxSize: int(w.Size), Slow: w.Consumer.Work > 0})
	if err != nil {
		return err
	}
	if r.follower != nil && !slices.ContainsFunc(r.metrics(), r.follower.of) {
		return fmt.Errorf("%w: with these options driver %s does not time %s, so no interval of it can be waited for", ErrUsage, r.config.Entry.Name, r.follower.until.Metric)
	}
	if r.replies {
		if r.responders, err = r.openSession(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) openSession(ctx context.Context) (driver.Session, error) {
	t := r.scenario.Target
	d := transport.NewDialer(!r.flatOut)
	options := t.Options
	if len(r.config.Options) > 0 {
		options = maps.Clone(r.config.Options)
		maps.Copy(options, t.Options)
	}
	target := driver.Target{URL: r.brokerURL(), Run: r.name, Options: options, Dial: d.Dial,
		Batch: r.flatOut, Notify: r.notify}
	if tls := t.TLS; tls != nil {
		target.TLS = &driver.TLS{CA: tls.CA, Cert: tls.Cert, Key: tls.Key, ServerName: tls.ServerName,
			InsecureSkipVerify: tls.InsecureSkipVerify}
	}
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	s, err := r.config.Entry.Driver.Open(ctx, target)
	if err != nil {
		d.CloseAll()
		return nil, err
	}
	r.dialers = append(r.dialers, d)
	return s, nil
}

// brokerURL is where the broker is.
func (r *run) brokerURL() string {
	return cmp.Or(r.config.URL, r.scenario.Target.URL, r.config.Entry.DefaultURL)
}

// sameHost reports whether the broker shares this machine.
func (r *run) sameHost() bool {
	if r.config.SameHost || r.config.Managed != "" || r.config.Entry.Capabilities.Brokerless {
		return true
	}
	for _, one := range strings.Split(r.brokerURL(), ",") {
		host := one
		if u, err := url.Parse(one); err == nil && u.Host != "" {
			host = u.Hostname()
		} else if h, _, err := net.SplitHostPort(one); err == nil {
			host = h
		}
		if host == "localhost" {
			return true
		}
		if ip := net.ParseIP(host); ip != nil && ip.IsLoopback() {
			return true
		}
	}
	return false
}

func (r *run) notify(e driver.Event) {
	switch e.Kind {
	case driver.Dropped:
		r.dropped.Add(int64(max(1, e.Count)))
	case driver.Returned:
		r.returned.Add(int64(max(1, e.Count)))
	}
	r.out.event(result.Event{At: clock.Now(), Kind: e.Kind.String(), Detail: e.Detail, Count: int64(e.Count)})
}

// metrics returns what this run records.
func (r *run) metrics() []recorder.ID {
	var m []recorder.ID
	add := func(response, service recorder.ID) {
		if r.paced {
			m = append(m, response)
		}
		m = append(m, service)
	}
	if r.paced {
		m = append(m, recorder.LagOwn, recorder.LagBlocked)
	}
	delivers := true
	switch r.workload.Pattern {
	case scenario.RoundTrip, scenario.RequestReply:
		add(recorder.RoundTripResponse, recorder.RoundTripService)
	case scenario.Deliver:
		add(recorder.DeliveryResponse, recorder.DeliveryService)
		if r.paced && r.layout.maxFanOut() > 1 {
			m = append(m, recorder.DeliveryLast)
		}
	default:
		delivers = false
	}
	if r.ack != driver.AckKindNone && (!delivers || r.ack != driver.AckKindReply) {
		add(r.ackResponse, r.ackService)
	}
	if r.mayHaveStages() {
		m = append(m, recorder.StageClient, recorder.StageBroker, recorder.StageReceive, recorder.StageCallback)
	}
	if r.paced && !r.config.Entry.Capabilities.OwnsDialing {
		if delivers {
			m = append(m, recorder.LagReceive)
		}
		if r.ack != driver.AckKindNone {
			m = append(m, recorder.LagReceiveAck)
		}
	}
	return append(m, r.probeMetrics()...)
}

// close ends the sessions, within a time of its own.
func (r *run) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var errs []error
	if r.session != nil && r.semantics.Transport != "" {
		errs = append(errs, r.session.Deprovision(ctx))
	}
	for _, s := range []driver.Session{r.responders, r.session} {
		if s != nil {
			errs = append(errs, s.Close(ctx))
		}
	}
	for _, d := range r.dialers {
		d.CloseAll()
	}
	return errors.Join(errs...)
}
