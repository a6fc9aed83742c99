package coordinator

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sixnines/internal/clock"
	"sixnines/internal/clocksync"
	"sixnines/internal/fleet/wire"
)

// member is an agent of the run, as far as the coordinator knows.
type member struct {
	Member
	index  int
	status wire.Status // the last that was heard
	heard  int64       // when, clock.Now
	told   error       // why it was not given the start
	proved int64       // how wrong its start was at most, ns

	tracker *tracker // of its clock; nil: it is not followed

	parts    wire.Assembler
	end      *wire.Status // the last message of its records
	damaged  error        // its records cannot be put together
	finished bool         // nothing more comes from it
	passed   bool         // it was let go on at Closed
}

// at reports whether the agent has come to a point.
func (m *member) at(p wire.Point) bool {
	return slices.Index(wire.Points(), m.status.Point) >= slices.Index(wire.Points(), p)
}

// over reports whether the agent's run has ended, as far as it says.
func (m *member) over() bool { return m.end != nil || m.status.Ending != "" }

// silent reports whether the agent has not been heard of for so long.
func (m *member) silent(patience time.Duration) bool { return clock.Now()-m.heard > int64(patience) }

// each calls do for all members, several at the same time as in atOnce, and returns when all calls have returned.
func each(members []*member, do func(*member)) {
	atOnce(len(members), func(i int) { do(members[i]) })
}

// The patience with an agent's answer, and how often it is asked.
const (
	answerWithin = 2 * time.Second
	attempts     = 3
)

// request asks an agent, which may hear it several times, and returns why it does not do what was asked.
func (r *run) request(ctx context.Context, m *member, what wire.Request, message wire.Message) error {
	text, err := wire.Encode(r.Version, message)
	if err != nil {
		return err
	}
	_, err = ask(ctx, r.Conn, r.Version, m.ID, what, text)
	return err
}

// Refused is the error about an agent that refuses what was asked.
type Refused struct{ wire.Answer }

func (r *Refused) Error() string { return r.Why }

// ask asks an agent, see [run.request], and returns its answer.
func ask(ctx context.Context, nc *nats.Conn, version, id string, what wire.Request, text []byte) (answer *wire.Answer, err error) {
	for range attempts {
		var m *nats.Msg
		within, cancel := context.WithTimeout(ctx, answerWithin)
		m, err = nc.RequestWithContext(within, wire.RequestSubject(id, what), text)
		cancel()
		if err != nil {
			if ctx.Err() != nil || errors.Is(err, nats.ErrMaxPayload) {
				break
			}
			select {
			case <-ctx.Done():
			case <-time.After(50 * time.Millisecond):
			}
			continue
		}
		answer = &wire.Answer{}
		switch err = wire.Decode(version, m.Data, answer); {
		case err != nil:
			return nil, err
		case answer.Refused != "":
			return nil, &Refused{*answer}
		}
		return answer, nil
	}
	return nil, fmt.Errorf("it does not answer: %w", err)
}

// tell asks several agents, whatever they answer: what they do shows in their statuses.
func (r *run) tell(ctx context.Context, members []*member, what wire.Request, message wire.Message) {
	each(members, func(m *member) { _ = r.request(ctx, m, what, message) })
}

// sendPlans sends each agent its plan.
func (r *run) sendPlans(ctx context.Context) error {
	refused := make([]error, len(r.members))
	each(r.members, func(m *member) {
		p := &wire.Plan{Run: r.Run, Scenario: r.text, Segment: m.Segment, Shared: r.Shared, Acts: r.Acts, Patience: r.Patience, Limit: r.Limit}
		if len(r.values) > 0 {
			sealed, err := wire.Seal(r.curve, m.Curve, r.values)
			if err != nil {
				refused[m.index] = err
				return
			}
			p.Sealed, p.Sender = sealed, r.public
		}
		refused[m.index] = r.requestPlan(ctx, m, p)
	})
	var all []error
	for i, err := range refused {
		if err != nil {
			all = append(all, fmt.Errorf("%s: %w", r.members[i].Name, err))
		}
	}
	if len(all) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrRefused, errors.Join(all...))
}

// busyFor is how long an agent may be busy with the end of its last run.
const busyFor = 5 * time.Second

// requestPlan sends an agent its plan, and again while it is still busy with the end of its last run.
func (r *run) requestPlan(ctx context.Context, m *member, p *wire.Plan) error {
	for end := clock.Now() + int64(busyFor); ; {
		err := r.request(ctx, m, wire.RequestPlan, p)
		refused := (*Refused)(nil)
		if !errors.As(err, &refused) || refused.Refused != wire.RefusedBusy || clock.Now() > end {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// until takes what the agents say until a point is reached, and returns why it is not.
func (r *run) until(ctx context.Context, deadline int64, reached func() bool, p wire.Point) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !reached() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ErrStopped, context.Cause(ctx))
		case <-r.Abort:
			return ErrStopped
		case m := <-r.statuses:
			r.hear(m)
		case <-tick.C:
		}
		var missing []string
		for _, m := range r.members {
			switch {
			case m.over():
				return fmt.Errorf("%w: %s: %s", ErrFailed, m.Name, m.status.Why)
			case m.silent(r.Patience):
				return fmt.Errorf("%w: nothing is heard of %s any more", ErrMissing, m.Name)
			case !m.at(p):
				missing = append(missing, m.Name)
			}
		}
		if clock.Now() > deadline && len(missing) > 0 {
			return fmt.Errorf("%w: after %v these have not come to the point %q: %s", ErrMissing, r.Ready, p, list(missing))
		}
	}
	return nil
}

// hear takes a status.
func (r *run) hear(msg *nats.Msg) {
	s := wire.Status{}
	if wire.Decode(r.Version, msg.Data, &s) != nil || s.Run != r.Run {
		return
	}
	m := r.byID[s.ID]
	if m == nil || msg.Subject != wire.StatusSubject(r.Run, s.ID) {
		return
	}
	if r.loops != nil {
		r.loops.hear(m.index, s.Told)
	}
	s.Told = nil
	m.status = s
	r.heard(m)
}

// heard notes that something was heard of an agent now.
func (r *run) heard(m *member) {
	m.heard = clock.Now()
	r.hearing.note(m.heard)
}

// offset estimates how far an agent's clock is from this one.
func (r *run) offset(ctx context.Context, m *member) (offset, bound int64, err error) {
	c, err := AskClock(ctx, r.Conn, &m.Hello, r.Lead)
	return c.Offset, c.Bound, err
}

// exchanged is an exchange with an agent's clock.
type exchanged struct {
	clocksync.Exchange      // by the raw clocks if raw, else by the monotonic ones
	raw                bool // and here and there are how the monotonic clocks go against them, by instants of this monotonic clock
	here, there        clocksync.Reading
	came               int64 // on this monotonic clock
	kernel             bool  // all instants are from kernels
}

// byMessages is an exchange by messages, on the monotonic clocks, with how these go against the raw ones.
type byMessages struct {
	clocksync.Exchange
	there         clocksync.Reading
	before, after clocksync.Reading // here
}

// exchanged is the exchange by the raw clocks, if they are known.
func (x *byMessages) exchanged() exchanged {
	raw, ok := x.ByRaw(x.before, x.there, x.after)
	if !ok {
		return exchanged{Exchange: x.Exchange, came: x.T4}
	}
	return exchanged{Exchange: raw, raw: true, here: x.before, there: x.thereByHere(), came: x.T4}
}

// thereByHere is the agent's reading at the instant of this monotonic clock at which it was made. That is known to half of the
// round trip, in which the agent's clocks part by little: its width has that.
func (x *byMessages) thereByHere() clocksync.Reading {
	r := x.there
	r.At = x.T1 + (x.T4-x.T1)/2
	r.Width += int64(math.Ceil(twoClocks * float64(x.T4-x.T1)))
	return r
}

// exchange asks an agent for its time.
func exchange(ctx context.Context, nc *nats.Conn, id string, number uint32) (x byMessages, err error) {
	within, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	x.before = rawHere()
	left := clock.Now()
	m, err := nc.RequestWithContext(within, wire.RequestSubject(id, wire.RequestTime), clocksync.Ask(number, left))
	came := clock.Now()
	if err != nil {
		return x, err
	}
	x.after = rawHere()
	x.Exchange, x.there, err = clocksync.Take(m.Data, number, left, came)
	return x, err
}

// rawHere reads how this machine's monotonic clock goes against its raw one.
func rawHere() clocksync.Reading {
	r := clocksync.Reading{At: clock.Now()}
	r.Ahead, r.Width = clock.RawAhead()
	return r
}

// records are the messages of a run's stream, as they come.
type records struct {
	messages jetstream.MessagesContext
	come     chan jetstream.Msg
	stop     context.CancelFunc
	done     chan struct{}
}

// newRecords reads the records of a stream from the first.
func newRecords(ctx context.Context, stream jetstream.Stream, run string) (*records, error) {
	c, err := stream.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{FilterSubjects: []string{wire.RecordSubject(run, "*")}})
	if err != nil {
		return nil, fmt.Errorf("read the records: %w", err)
	}
	messages, err := c.Messages()
	if err != nil {
		return nil, fmt.Errorf("read the records: %w", err)
	}
	// Stop alone does not end a call of Next that makes the consumer anew at that moment.
	reading, stop := context.WithCancel(context.WithoutCancel(ctx))
	x := &records{messages: messages, come: make(chan jetstream.Msg), stop: stop, done: make(chan struct{})}
	go func() {
		defer close(x.done)
		for reading.Err() == nil {
			m, err := messages.Next(jetstream.NextContext(reading))
			if err != nil { // such as a missed heartbeat: the consumer is made anew
				select {
				case <-reading.Done():
				case <-time.After(10 * time.Millisecond):
				}
				continue
			}
			select {
			case x.come <- m:
			case <-reading.Done():
			}
		}
	}()
	return x, nil
}

func (x *records) close() {
	x.stop()
	x.messages.Stop()
	<-x.done
}
