package coordinator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"

	"sixnines/driver"
	"sixnines/internal/clock"
	"sixnines/internal/fleet/control"
	"sixnines/internal/fleet/wire"
	"sixnines/scenario"
)

// Config is a run on a fleet.
type Config struct {
	Conn      *nats.Conn // to the control plane
	Version   string     // of this program; agents of other versions are refused
	Run       string     // its name, see wire.CheckRun; unique
	Scenario  *scenario.Scenario
	Entry     driver.Entry // of the scenario's driver
	Divider   Divider
	Collector Collector
	// Note is what the collector of another coordinator needs to know if this one dies, see [Attach]. It has no secrets.
	Note []byte
	// Agents is how many are wanted; 0: all that are there. Choose, if not nil, says which may be among them.
	Agents int
	Choose func(wire.Hello) bool
	// Fewer lets a load that cannot be divided between all agents that are there be divided between as many as it can: the
	// first of them, by name. The others have no part in the run. Agents is then 0.
	Fewer bool
	// Pick, if not nil, returns which of these agents take part, or else what is still wanting among them: then others are awaited.
	Pick func([]wire.Hello) (picked []wire.Hello, wanting string)
	// Acts says that the caller carries out what the scenario has happen to more than the clients.
	Acts bool
	// Crosses says that messages come from one agent to another: where the agents have several clocks, these are followed.
	Crosses bool
	// Beside, if not nil, reports whether the agent of a segment has no part in the load, so that no message comes from it to
	// another: its clock need not be followed.
	Beside func(wire.Segment) bool
	// Shared says that the system under test may be the control plane.
	Shared bool
	// Ready is how long all agents may take to be there, and to be ready; 60 s by default. Patience is for how long an agent
	// may be silent, and the coordinator for the agents; 10 s by default.
	Ready, Patience time.Duration
	// Lead is how far ahead the common start is sent; by default [Ahead] and the warm-up, which comes before it.
	Lead time.Duration
	// Limit is how long the run may last from its start, which is the window's, before what goes on is ended; by
	// default what the scenario needs at most, and Patience.
	Limit time.Duration
	// Store is the most bytes that the stream of the run takes; 0: as many as the control plane has.
	Store int64
	// Abort, if not nil, ends the run at once when it is closed. The end of Run's context ends the window early.
	Abort <-chan struct{}
	// Say, if not nil, is called with lines for people.
	Say func(line string)
}

// Ahead is the default of Config.Lead without a warm-up.
const Ahead = 2 * time.Second

func (c Config) withDefaults() Config {
	c.Ready = cmp.Or(c.Ready, time.Minute)
	c.Patience = cmp.Or(c.Patience, 10*time.Second)
	c.Lead = cmp.Or(c.Lead, Ahead+c.Scenario.Phases.Warmup)
	c.Limit = cmp.Or(c.Limit, longest(c.Scenario)+c.Patience)
	return c
}

// longest is how long a run of s lasts at most, from its start to the end of its last phase.
func longest(s *scenario.Scenario) time.Duration {
	p := &s.Phases
	return max(p.Duration, p.AtMost) + p.Drain + p.ReadBack
}

// Outcome is a run that was started.
type Outcome struct {
	Started Started
	Ends    []End // in the order of Started.Members
	// Late are agents that joined after the run had been divided: they took no part.
	Late []wire.Hello
}

// Complete reports whether all agents did all of their parts, and all that they recorded was collected.
func (o *Outcome) Complete() bool {
	return !slices.ContainsFunc(o.Ends, func(e End) bool { return e.Ending != wire.Completed || e.Missing > 0 })
}

// Errors of [Run]. They are wrapped, and the text names the agents.
var (
	// ErrMissing: not all agents that are wanted are there, or ready, in time.
	ErrMissing = errors.New("agents are missing")
	// ErrTwice: two agents have the same name.
	ErrTwice = errors.New("two agents have the same name")
	// ErrRefused: an agent refuses its plan.
	ErrRefused = errors.New("an agent refuses the plan")
	// ErrFailed: an agent could not begin, and without it the others would be another experiment.
	ErrFailed = errors.New("an agent cannot begin")
	// ErrStopped: the run was stopped before its start.
	ErrStopped = errors.New("the run was stopped before it began")
)

// run is one run while it is carried out. Its fields are Run's goroutine's.
type run struct {
	Config
	text    string // of the scenario, as it travels
	values  map[string]string
	curve   nkeys.KeyPair
	public  string
	members []*member
	byID    map[string]*member
	there   map[string]bool // by id: agents that were there when the load was divided
	started Started
	// unfollow ends the following of clocks, and returns when their trackers can be read; nil: they are not followed.
	unfollow func()
	// startsKnown ends the comparing of clocks after the start, and returns when member.proved can be read; nil: they are not compared.
	startsKnown func()
	loops       *loops // nil: no agents ask each other
	over        int64  // when the run is over at the latest, clock.Now

	statuses chan *nats.Msg
	records  *records // nil: nothing is collected yet
	hearing  hearing
	broken   error // the collector's
}

// Run carries out a run. Before the start an error says why it cannot be: nothing is left then, at the agents and
// in the control plane. After it, the run ends in time whatever becomes of the agents, and the outcome says how each ended;
// an error is then one of the collector's or of the control plane, and the agents and the stream keep the records.
func Run(ctx context.Context, c Config) (*Outcome, error) {
	r := &run{Config: c.withDefaults(), byID: map[string]*member{}}
	if err := r.prepare(ctx); err != nil {
		return nil, err
	}
	// Statuses and the pulse go on until the agents have been told that all is well.
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	deaf, err := r.listen()
	if err != nil {
		return nil, err
	}
	defer deaf()
	stream, err := control.MakeStream(ctx, r.Conn, r.Run, r.Store)
	if err != nil {
		return nil, err
	}
	stopPulse := r.beat(own)
	defer stopPulse()
	defer func() {
		if r.unfollow != nil {
			r.unfollow()
		}
	}()
	if err := r.begin(ctx, own, stream); err != nil {
		r.tell(own, r.members, wire.RequestStop, &wire.Stop{Run: r.Run, AtOnce: true, Why: wire.Line(err.Error())})
		return nil, errors.Join(err, control.RemoveStream(own, r.Conn, r.Run))
	}
	return r.collect(ctx, own)
}

// listen hears the agents' statuses until the function is called.
func (r *run) listen() (stop func() error, err error) {
	r.statuses = make(chan *nats.Msg, 64<<10) // more are dropped by the client: each is said again
	heard, err := r.Conn.ChanSubscribe(wire.StatusSubject(r.Run, "*"), r.statuses)
	if err != nil {
		return nil, fmt.Errorf("listen to the agents: %w", err)
	}
	return heard.Unsubscribe, nil
}

// prepare finds the agents and divides the scenario between them.
func (r *run) prepare(ctx context.Context) (err error) {
	if err := wire.CheckRun(r.Run); err != nil {
		return err
	}
	if !r.Shared {
		if err := control.Apart(ctx, r.Conn, r.Scenario.Target.URL); err != nil {
			return err
		}
	}
	text, values, err := r.Scenario.Portable(r.Entry.Secret)
	if err != nil {
		return err
	}
	r.text, r.values = string(text), values
	if r.curve, r.public, err = wire.NewCurve(); err != nil {
		return err
	}
	agents, err := r.find(ctx)
	if err != nil {
		return err
	}
	agents, segments, err := r.divide(agents)
	if err != nil {
		return err
	}
	if len(segments) != len(agents) {
		return fmt.Errorf("divide the scenario between %d agents: there are %d segments", len(agents), len(segments))
	}
	for i, h := range agents {
		m := &member{index: i, Member: Member{Hello: h, Segment: segments[i]}, heard: clock.Now()}
		r.members = append(r.members, m)
		r.byID[h.ID] = m
	}
	return nil
}

// divide divides the scenario between agents, or, if fewer may do, between the first of them.
func (r *run) divide(agents []wire.Hello) ([]wire.Hello, []wire.Segment, error) {
	segments, err := r.Divider.Divide(r.Scenario, agents)
	if err == nil {
		return agents, segments, nil
	}
	for n := len(agents) - 1; r.Fewer && n > 0; n-- {
		segments, fewer := r.Divider.Divide(r.Scenario, agents[:n])
		if fewer == nil {
			r.say("the load cannot be divided between %s: all of it goes to %s", names(agents), names(agents[:n]))
			return agents[:n], segments, nil
		}
	}
	return nil, nil, fmt.Errorf("divide the scenario between %s: %w", names(agents), err)
}

// find returns the agents of the run, in order of their names.
func (r *run) find(ctx context.Context) ([]wire.Hello, error) {
	for end := time.Now().Add(r.Ready); ; {
		found, err := wire.Find(ctx, r.Conn, r.Version, wire.Search{})
		if err != nil {
			return nil, err
		}
		var agents []wire.Hello
		var skew *wire.Skew
		r.there = map[string]bool{}
		for _, f := range found {
			r.there[f.Hello.ID] = true
			switch {
			case f.Skew != nil:
				skew = f.Skew
			case r.Choose == nil || r.Choose(f.Hello):
				agents = append(agents, f.Hello)
			}
		}
		for i := 1; i < len(agents); i++ {
			if a, b := agents[i-1], agents[i]; a.Name == b.Name {
				return nil, fmt.Errorf("%w: %s, on host %s (process %d) and on host %s (process %d): end one of them, or name it otherwise", ErrTwice, a.Name, a.Host, a.PID, b.Host, b.PID)
			}
		}
		enough, wanting := len(agents) >= max(1, r.Agents), ""
		if r.Agents > 0 && enough {
			agents = agents[:r.Agents]
		}
		if r.Pick != nil && enough {
			agents, wanting = r.Pick(agents)
		}
		switch {
		case enough && wanting == "" && (r.Agents > 0 || skew == nil):
			return agents, nil
		case skew != nil:
			return nil, fmt.Errorf("%w: there is an agent of another version: %w", ErrMissing, skew)
		case time.Now().After(end) && wanting != "":
			return nil, fmt.Errorf("%w: %s; %s", ErrMissing, wanting, there(agents))
		case time.Now().After(end):
			return nil, fmt.Errorf("%w: %s wanted, and %s", ErrMissing, count(r.Agents), there(agents))
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: %w", ErrStopped, context.Cause(ctx))
		case <-time.After(200 * time.Millisecond):
		}
	}
}

func count(wanted int) string {
	if wanted == 0 {
		return "at least one is"
	}
	return fmt.Sprintf("%d are", wanted)
}

func there(agents []wire.Hello) string {
	if len(agents) == 0 {
		return "nobody is there"
	}
	return fmt.Sprintf("%d are there: %s", len(agents), names(agents))
}

func names(agents []wire.Hello) string {
	all := make([]string, len(agents))
	for i, h := range agents {
		all[i] = h.Name
	}
	return list(all)
}

// list writes names, and of many only the first.
func list(names []string) string {
	const most = 10
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

// pulse is how often, at least, a coordinator says that it is there.
const pulse = time.Second

// beat says once a second that the run has a coordinator, until the function is called.
func (r *run) beat(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	say := func() {
		if text, err := wire.Encode(r.Version, &wire.Pulse{Run: r.Run}); err == nil {
			_ = r.Conn.Publish(wire.PulseSubject(r.Run), text) // without a connection nobody would hear it
		}
	}
	say()
	go func() {
		defer close(done)
		tick := time.NewTicker(min(pulse, r.Patience/4))
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				say()
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

func (r *run) say(format string, v ...any) {
	if r.Say != nil {
		r.Say(wire.Line(fmt.Sprintf(format, v...)))
	}
}

// begin sends the plans, and leads all agents to the start.
func (r *run) begin(ctx, own context.Context, stream jetstream.Stream) error {
	if err := r.sendPlans(ctx); err != nil {
		return err
	}
	r.say("the plan is taken by %s", names(r.hellos()))
	deadline := clock.Now() + int64(r.Ready)
	for _, p := range []wire.Point{wire.Provisioned, wire.Connected, wire.Arrived, wire.Ready} {
		if err := r.until(ctx, deadline, func() bool { return !slices.ContainsFunc(r.members, func(m *member) bool { return !m.at(p) }) }, p); err != nil {
			return err
		}
		if p != wire.Ready {
			r.tell(own, r.members, wire.RequestGo, &wire.Go{Run: r.Run, Point: p})
		}
	}
	for _, m := range r.members {
		var err error
		if m.Offset, m.Bound, err = r.offset(ctx, m); err != nil {
			return r.clockUnknown(m, err)
		}
		m.proved = m.Bound
	}
	if err := r.follow(ctx, own); err != nil {
		return err
	}
	return r.start(own, stream)
}

func (r *run) clockUnknown(m *member, err error) error {
	return fmt.Errorf("%w: the clock of %s is not known: %w", ErrFailed, m.Name, err)
}

// start writes down what the run is, and gives the start.
func (r *run) start(own context.Context, stream jetstream.Stream) error {
	at := clock.Now() + int64(r.Lead)
	r.started = Started{Run: r.Run, Scenario: r.Scenario, Clock: clock.Domain(), Start: at}
	r.over = at + int64(r.Limit) + int64(r.Patience)
	manifest := &wire.Manifest{Run: r.Run, Scenario: r.text, Clock: clock.Domain(), Start: at, Limit: int64(r.Limit), Patience: int64(r.Patience), Note: r.Note}
	for _, m := range r.members {
		r.started.Members = append(r.started.Members, m.Member)
		if r.started.Leads == nil {
			r.started.Leads = m.status.Leads
		}
		manifest.Members = append(manifest.Members, wire.Member{Hello: m.Hello, Segment: m.Segment, Offset: m.Offset, Bound: m.Bound})
	}
	if err := r.publishManifest(own, manifest); err != nil {
		return err
	}
	if err := r.Collector.Begin(&r.started); err != nil {
		return fmt.Errorf("begin the result: %w", err)
	}
	each(r.members, func(m *member) {
		m.told = r.request(own, m, wire.RequestGo, &wire.Go{Run: r.Run, Point: wire.Ready, At: at + m.Offset, Bound: m.Bound})
	})
	for _, m := range r.members {
		if m.told != nil {
			r.say("%s was not given the start: %v", m.Name, m.told)
		}
	}
	r.following(at)
	checking, cancel := context.WithCancel(own)
	checked := r.checkStarts(checking)
	r.startsKnown = func() {
		cancel()
		<-checked
	}
	records, err := newRecords(own, stream, r.Run)
	if err != nil {
		return err
	}
	r.records = records
	return nil
}

func (r *run) hellos() []wire.Hello {
	all := make([]wire.Hello, len(r.members))
	for i, m := range r.members {
		all[i] = m.Hello
	}
	return all
}
