package agent

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"
	"github.com/nats-io/nkeys"

	"sixnines/driver"
	"sixnines/internal/clock"
	"sixnines/internal/clocksync"
	"sixnines/internal/fleet/control"
	"sixnines/internal/fleet/wire"
	"sixnines/scenario"
)

// Config is what an agent is.
type Config struct {
	Login   wire.Login
	Version string // of this program; plans of other versions are refused
	Name    string // unique in the fleet; empty: the machine's
	Labels  map[string]string
	Dir     string // below it is a directory for each run; it is made if it is not there
	Allow   Allow
	Drivers driver.Set
	Runner  Runner
	// Lookup reads this process's environment, of which plans get what Allow.Environment names; nil: nothing.
	Lookup scenario.Environment
	// Leave is how long a run may take to end, and its records to be delivered, when the agent is ended; 20 s by default.
	Leave time.Duration
	// Say, if not nil, is called with lines for people, from several goroutines, one at a time.
	Say func(line string)
	// Joined, if not nil, is called when the agent can be found.
	Joined func(wire.Hello)
}

// ErrTwice is wrapped by the error of an agent whose name another agent of the fleet has.
var ErrTwice = errors.New("there is another agent of this name")

// agent is an agent that has joined.
type agent struct {
	Config
	hello wire.Hello
	curve nkeys.KeyPair
	conn  *nats.Conn
	lost  chan error // why the agent cannot go on
	times times

	speak sync.Mutex // orders calls of Say

	mu      sync.Mutex
	job     *job   // nil: idle
	taking  string // the run whose plan is looked at; empty: none
	stopped bool   // it was stopped meanwhile
	end     bool   // no more plans are taken
}

// Run joins a fleet and carries out plans until ctx ends. It then ends a run that goes on, as Config.Leave says, and
// returns nil. An error says why the agent cannot be part of the fleet: it wraps [wire.ErrLogin], [wire.ErrRefused],
// [ErrTwice], a [*wire.Skew] or something of the machine.
func Run(ctx context.Context, c Config) error {
	a := &agent{Config: c}
	a.Leave = cmp.Or(a.Leave, 20*time.Second)
	if err := a.introduce(); err != nil {
		return err
	}
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return fmt.Errorf("make a place for records: %w", err)
	}
	a.lost = make(chan error, 2)
	a.Login.Name = "sixnines agent " + a.hello.Name
	conn, err := wire.Connect(ctx, a.Login, func(err error) { a.say(err.Error() + "; trying again") }, func(err error) { a.lost <- fmt.Errorf("%w: %w", wire.ErrRefused, err) })
	if err != nil {
		if ctx.Err() != nil {
			return nil // it was ended before anybody answered
		}
		return err
	}
	a.conn = conn
	defer conn.Close()
	defer a.times.close()
	service, err := a.register(ctx)
	if err != nil {
		return fmt.Errorf("register with %s: %w", a.Login.Shown(), err)
	}
	defer service.Stop()
	if err := a.alone(ctx); err != nil {
		return err
	}
	a.say(fmt.Sprintf("agent %s has joined %s", a.hello.Name, a.Login.Shown()))
	if a.Joined != nil {
		a.Joined(a.hello)
	}
	select {
	case <-ctx.Done():
		err = nil
	case err = <-a.lost:
	}
	a.leave()
	return err
}

// introduce makes what the agent says of itself.
func (a *agent) introduce() (err error) {
	host, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("ask for this machine's name: %w", err)
	}
	pair, public, err := wire.NewCurve()
	if err != nil {
		return fmt.Errorf("make a key: %w", err)
	}
	if a.Login.Identity, err = wire.NewIdentity(); err != nil {
		return err
	}
	a.curve = pair
	a.hello = wire.Hello{ID: a.Login.Identity.ID(), Name: cmp.Or(a.Name, host), Labels: a.Labels, Host: host, Boot: clock.Boot(), Clock: clock.Domain(),
		System: runtime.GOOS + "/" + runtime.GOARCH, Cores: runtime.NumCPU(), Addresses: wire.OwnAddresses(), PID: os.Getpid(), Started: time.Now().UTC(), Curve: public,
		Allows: a.Allow.shown(a.Drivers)}
	return a.hello.Check()
}

// register makes the agent one that can be found. It can be when this returns. What a request takes long for ends with ctx.
func (a *agent) register(ctx context.Context) (micro.Service, error) {
	text, err := wire.Encode(a.Version, &a.hello)
	if err != nil {
		return nil, err
	}
	s, err := micro.AddService(a.conn, micro.Config{Name: wire.Service, Version: wire.ServiceVersion, Description: "an agent of a fleet of sixnines",
		Metadata: map[string]string{wire.HelloKey: string(text)}, QueueGroupDisabled: true})
	if err != nil {
		return nil, err
	}
	for request, handle := range map[wire.Request]func([]byte) any{
		wire.RequestPlan: func(data []byte) any { return a.takePlan(ctx, data) }, wire.RequestGo: a.takeGo, wire.RequestClock: a.takeClock, wire.RequestStop: a.takeStop, wire.RequestConfirm: a.takeConfirm, wire.RequestStatus: a.takeAsk,
		wire.RequestPeer:   a.takePeer,
		wire.RequestStamps: a.takeStamps,
	} {
		err = errors.Join(err, s.AddEndpoint(string(request), micro.HandlerFunc(func(r micro.Request) { a.answer(r, handle(r.Data())) }),
			micro.WithEndpointSubject(wire.RequestSubject(a.hello.ID, request))))
	}
	err = errors.Join(err, s.AddEndpoint(string(wire.RequestTime), micro.HandlerFunc(tellTime), micro.WithEndpointSubject(wire.RequestSubject(a.hello.ID, wire.RequestTime))))
	// Without it the server may not know of the service yet when somebody asks who is there.
	if err = errors.Join(err, a.conn.Flush()); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

// alone returns an error if another agent of this name joined before this one, or one of another version is there: no
// coordinator would lead both.
func (a *agent) alone(ctx context.Context) error {
	found, err := wire.Find(ctx, a.conn, a.Version, wire.Search{})
	if err != nil {
		return nil // ctx has ended
	}
	for _, f := range found {
		h := f.Hello
		if f.Skew != nil {
			return fmt.Errorf("there is an agent of another version: %w", f.Skew)
		}
		if h.Name == a.hello.Name && h.ID != a.hello.ID && (h.Started.Before(a.hello.Started) || h.Started.Equal(a.hello.Started) && h.ID < a.hello.ID) {
			return fmt.Errorf("%w: %s, on host %s, process %d, since %s: give this one another name (--name)", ErrTwice, h.Name, h.Host, h.PID, h.Started.Format(time.RFC3339))
		}
	}
	return nil
}

// leave ends what goes on.
func (a *agent) leave() {
	a.mu.Lock()
	a.end = true
	j := a.job
	a.mu.Unlock()
	if j != nil {
		j.leave(a.Leave)
	}
}

// answer sends the answer to a request.
func (a *agent) answer(r micro.Request, answer any) {
	var text []byte
	var err error
	switch answer := answer.(type) {
	case *wire.Answer:
		text, err = wire.Encode(a.Version, answer)
	case *wire.Status:
		text, err = wire.Encode(a.Version, answer)
	case *wire.Stamps:
		text, err = wire.Encode(a.Version, answer)
	}
	if err == nil {
		err = r.Respond(text)
	}
	if err != nil {
		a.say("a request cannot be answered: " + err.Error())
	}
}

// publish sends a message to whom it may concern. One that is lost is of no use later.
func (a *agent) publish(subject string, m wire.Message) {
	if text, err := wire.Encode(a.Version, m); err == nil {
		_ = a.conn.Publish(subject, text) // without a connection nobody would hear it
	}
}

// current returns the job of a run, or an answer that there is none.
func (a *agent) current(run string) (*job, *wire.Answer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.job == nil || a.job.asked.Run != run {
		return nil, refuse(wire.RefusedUnknown, fmt.Errorf("agent %s has no run %s", a.hello.Name, run))
	}
	return a.job, nil
}

// takePlan takes a plan. Plans come one after the other; what it takes to look at one holds up nothing else.
func (a *agent) takePlan(ctx context.Context, data []byte) any {
	p := &wire.Plan{}
	if err := wire.Decode(a.Version, data, p); err != nil {
		return a.refused("a plan", refusal(err))
	}
	if answer := a.occupied(p); answer != nil {
		return answer
	}
	plan, refused := a.accept(p)
	if refused == nil {
		if err := a.apart(ctx, p, plan); err != nil {
			refused = refuse(wire.RefusedForbidden, err)
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.taking = ""
	switch {
	case a.end:
		return refuse(wire.RefusedBusy, errLeaving)
	case refused == nil && a.stopped:
		refused = refuse(wire.RefusedFailed, errStopped)
	}
	if refused != nil {
		return a.refused("run "+p.Run, refused)
	}
	j, err := newJob(a, plan, p)
	if err != nil {
		return a.refused("run "+p.Run, refuse(wire.RefusedFailed, err))
	}
	a.job = j
	a.say(fmt.Sprintf("run %s: segment %d of %d", p.Run, p.Segment.Number, p.Segment.Of))
	go func() {
		j.carryOut()
		a.mu.Lock()
		defer a.mu.Unlock()
		if j.hung.Load() { // it may keep the processor: this agent is to measure nothing more
			a.lost <- fmt.Errorf("run %s does not end", p.Run)
			return
		}
		a.job = nil
	}()
	return &wire.Answer{}
}

// occupied returns the answer to a plan that the agent has already, or cannot take now; nil: it is looked at from now on.
func (a *agent) occupied(p *wire.Plan) *wire.Answer {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch j := a.job; {
	case a.end:
		return refuse(wire.RefusedBusy, errLeaving)
	case j == nil:
		a.taking, a.stopped = p.Run, false
		return nil
	case same(j.asked, p):
		return &wire.Answer{} // the coordinator missed the first answer
	case j.state().State == wire.Delivering && j.orphaned():
		j.shut(j.aside)
		return refuse(wire.RefusedBusy, fmt.Errorf("agent %s puts the records of run %s aside, whose coordinator is gone: ask again", a.hello.Name, j.asked.Run))
	default:
		return refuse(wire.RefusedBusy, fmt.Errorf("agent %s has run %s", a.hello.Name, j.asked.Run))
	}
}

// apart returns an error if the system under test is the control plane and the plan does not say that it may be.
func (a *agent) apart(ctx context.Context, p *wire.Plan, plan *Plan) error {
	if p.Shared {
		return nil
	}
	return control.Apart(ctx, a.conn, plan.Scenario.Target.URL)
}

// refused says what was refused.
func (a *agent) refused(what string, answer *wire.Answer) *wire.Answer {
	a.say(fmt.Sprintf("%s is refused: %s", what, answer.Why))
	return answer
}

// same reports whether two plans are one. The coordinator seals values anew for nobody.
func same(x, y *wire.Plan) bool {
	a, err := json.Marshal(x)
	b, err2 := json.Marshal(y)
	return err == nil && err2 == nil && bytes.Equal(a, b)
}

func (a *agent) takeGo(data []byte) any {
	g := &wire.Go{}
	if err := wire.Decode(a.Version, data, g); err != nil {
		return refusal(err)
	}
	j, none := a.current(g.Run)
	if none != nil {
		return none
	}
	return j.release(g)
}

func (a *agent) takeClock(data []byte) any {
	c := &wire.Clock{}
	if err := wire.Decode(a.Version, data, c); err != nil {
		return refusal(err)
	}
	j, none := a.current(c.Run)
	if none != nil {
		return none
	}
	j.clock.Store(c)
	return &wire.Answer{}
}

func (a *agent) takeStop(data []byte) any {
	s := &wire.Stop{}
	if err := wire.Decode(a.Version, data, s); err != nil {
		return refusal(err)
	}
	a.mu.Lock()
	if s.Run == a.taking { // which is not empty
		a.stopped = true
		a.mu.Unlock()
		return &wire.Answer{}
	}
	a.mu.Unlock()
	j, none := a.current(s.Run)
	if none != nil {
		return none
	}
	a.say(fmt.Sprintf("run %s is stopped%s", s.Run, before(": ", s.Why)))
	j.stop(s)
	return &wire.Answer{}
}

func (a *agent) takeConfirm(data []byte) any {
	c := &wire.Confirm{}
	if err := wire.Decode(a.Version, data, c); err != nil {
		return refusal(err)
	}
	j, none := a.current(c.Run)
	if none != nil {
		return none
	}
	return j.confirm(c)
}

func (a *agent) takeAsk(data []byte) any {
	if err := wire.Decode(a.Version, data, &wire.Ask{}); err != nil {
		return refusal(err)
	}
	a.mu.Lock()
	j := a.job
	a.mu.Unlock()
	if j == nil {
		return &wire.Status{ID: a.hello.ID, State: wire.Idle}
	}
	s := j.state()
	return &s
}

// tellTime answers a question of package clocksync. It does nothing else, so that the answer is quick.
func tellTime(r micro.Request) {
	arrived := clock.Now()
	if answer, err := clocksync.Answer(r.Data(), arrived, readRaw(), clock.Now); err == nil {
		_ = r.Respond(answer) // without a connection the question is asked again
	}
}

// say calls Say.
func (a *agent) say(line string) {
	if a.Say == nil {
		return
	}
	a.speak.Lock()
	defer a.speak.Unlock()
	a.Say(wire.Line(line))
}

func before(mark, text string) string {
	if text == "" {
		return ""
	}
	return mark + text
}
