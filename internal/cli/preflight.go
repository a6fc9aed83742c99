package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"sixnines/driver"
	"sixnines/internal/secret"
	"sixnines/internal/vitals"
	"sixnines/scenario"
)

// stepLimit is how long the broker may take for one thing that is tried.
const stepLimit = 10 * time.Second

// showRefused tries all that the run needs after the broker has refused the first of it, so that one screen has what is missing.
func (a *app) showRefused(ctx context.Context, s *scenario.Scenario, e driver.Entry) {
	if slices.Contains(a.Args, "--quiet") {
		return
	}
	if found := tryBroker(ctx, s, e); !found.Possible {
		a.writeChecks(a.Stderr, found.conclusion(), found.shown(), func(status string) string { return fmt.Sprintf("%-4s", status) })
	}
}

// preflight tries what runs need of a broker.
type preflight struct {
	scenario *scenario.Scenario
	entry    driver.Entry
	found    checkObject

	mu     sync.Mutex
	denied error // what the broker has refused without saying of which message
}

// tryBroker tries a consumer on its own and one in a group, as far as the driver has them.
func tryBroker(ctx context.Context, s *scenario.Scenario, e driver.Entry) checkObject {
	p := &preflight{scenario: s, entry: e, found: checkObject{Checks: []brokerCheck{}, Untried: []untried{}}}
	can := e.With(s.Target.Options)
	if can.FanOut || !can.Groups {
		p.use(ctx, "")
	}
	if can.Groups && (s.Target.Topic == "" || s.Target.Group != "") {
		p.use(ctx, cmp.Or(s.Target.Group, e.Naming.Group(s.Target.Prefix, "g0")))
	}
	p.found.Interrupted = ctx.Err() != nil
	p.found.Possible = !p.found.Interrupted && !slices.ContainsFunc(p.found.Checks, func(c brokerCheck) bool { return c.Status == vitals.StatusFail })
	return p.found
}

// step tries one thing, if it can be, and reports whether the broker allows it.
func (p *preflight) step(ctx context.Context, possible bool, step, name, found string, try func(context.Context) error) bool {
	c := brokerCheck{Step: step, Check: vitals.Check{Name: name, Status: vitals.StatusOK, Found: found}}
	switch {
	case ctx.Err() != nil:
		return false
	case !possible:
		c.Status, c.Found = vitals.StatusNote, "not tried, because of what is refused above"
		p.found.Checks = append(p.found.Checks, c)
		return false
	}
	given := ctx
	ctx, cancel := context.WithTimeout(ctx, stepLimit)
	defer cancel()
	err := try(ctx)
	p.mu.Lock()
	err, p.denied = cmp.Or(p.denied, err), nil
	p.mu.Unlock()
	if given.Err() != nil {
		return false
	}
	if err != nil {
		if class := driver.Class(err); class != nil {
			c.Class = class.Error()
		}
		err = runFault(conceal(err, p.scenario, p.entry), p.scenario, p.entry, false)
		c.Status, c.Found = vitals.StatusFail, err.Error()
		var f *fault
		if errors.As(err, &f) {
			c.Advice = f.hint
		}
	}
	p.found.Checks = append(p.found.Checks, c)
	return err == nil
}

// use makes a session of its own, with a group unless that is empty.
func (p *preflight) use(ctx context.Context, group string) {
	t := p.scenario.Target
	target := driver.Target{URL: t.URL, Run: randomHex()[:8], Prefix: t.Prefix, Given: t.Topic != "", Options: t.Options, TLS: (*driver.TLS)(t.TLS), Notify: p.notify}
	const size = 64
	topology := driver.Topology{Topics: []string{"t0"}, Producers: 1, Consumers: 1, MaxSize: size}
	what, where := "topic", ""
	if group != "" {
		what, where, topology.Groups = "group", " in a group", []string{group}
	}
	if target.Given {
		topology.Topics = strings.Split(t.Topic, ",")
		if group != "" {
			topology.Groups = strings.Split(group, ",")
		}
	}
	var session driver.Session
	shown := secret.Conceal(t.URL, p.scenario.Secrets(p.entry.Secret))
	if !p.step(ctx, true, stepConnect, "connect and log in", shown, func(ctx context.Context) (err error) {
		session, err = p.entry.Driver.Open(ctx, target)
		return err
	}) {
		return
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stepLimit)
		defer cancel()
		_ = session.Close(ctx) // what is not closed ends with this process
	}()
	provision := func(ctx context.Context) error {
		_, err := session.Provision(ctx, topology)
		return err
	}
	got, done := newHappening(), newHappening()
	subscribe := func(ctx context.Context) error {
		_, err := session.Consumer(ctx, driver.ConsumerSpec{Topics: topology.Topics, Group: group}, func(driver.Message) { got.give(nil) })
		return err
	}
	if target.Given {
		p.visit(ctx, session, topology, provision, subscribe)
		return
	}
	made := p.step(ctx, true, stepMake, "make a "+what, p.entry.Naming.TopicName(target, topology.Topics[0]), provision)
	subscribed := p.step(ctx, made, stepSubscribe, "subscribe"+where, group, subscribe)
	sent := p.step(ctx, made, stepPublish, "publish", "one message", func(ctx context.Context) error { return send(ctx, session, size, done) })
	p.step(ctx, subscribed && sent, stepReceive, "receive"+where, "what was published", func(ctx context.Context) error { return got.await(ctx, "the message did not come") })
	// What was made is removed, although something was refused or a signal came.
	p.step(context.WithoutCancel(ctx), true, stepRemove, "remove the "+what, "", session.Deprovision)
}

// visit tries what it can of topics and a group of the operator's without a message: it publishes nothing, and consumes only where
// that takes nothing from others.
func (p *preflight) visit(ctx context.Context, session driver.Session, t driver.Topology, provision, subscribe func(context.Context) error) {
	names := strings.Join(append(t.Topics, t.Groups...), ", ")
	what := "topic"
	if len(t.Groups) > 0 {
		what = "group"
	}
	there := p.step(ctx, true, stepFind, "find the "+what, names, provision)
	can := p.entry.With(p.scenario.Target.Options)
	if len(t.Groups) == 0 && can.FanOut && !can.Keeps {
		p.step(ctx, there, stepSubscribe, "subscribe", names, subscribe)
	} else if there {
		p.found.Untried = append(p.found.Untried, untried{stepReceive, names})
	}
	if len(t.Groups) > 0 && can.FanOut {
		return // producers are tried without the group
	}
	for _, topic := range t.Topics {
		p.step(ctx, there, stepAttach, "attach a producer", topic, func(ctx context.Context) error {
			_, err := session.Producer(ctx, driver.ProducerSpec{Topic: topic, Size: t.MaxSize}, newHappening())
			return err
		})
		if there {
			p.found.Untried = append(p.found.Untried, untried{stepPublish, topic})
		}
	}
}

// send publishes one message and waits for what the broker says of it.
func send(ctx context.Context, session driver.Session, size int, done *happening) error {
	producer, err := session.Producer(ctx, driver.ProducerSpec{Topic: "t0", Size: size}, done)
	if err != nil {
		return err
	}
	if err := producer.Send(1, make([]byte, size)); err != nil {
		return err
	}
	if f, ok := producer.(driver.Flusher); ok {
		if err := f.Flush(); err != nil {
			return err
		}
	}
	if err := done.await(ctx, "the broker did not acknowledge"); err != nil {
		return err
	}
	if s, ok := producer.(driver.Syncer); ok {
		return s.Sync(ctx)
	}
	return nil
}

// notify takes what the driver reports.
func (p *preflight) notify(e driver.Event) {
	if e.Kind != driver.Denied && !errors.Is(e.Err, driver.ErrUnauthorized) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.denied = cmp.Or(p.denied, e.Err)
}

// happening is something that happens once.
type happening struct{ c chan error }

func newHappening() *happening { return &happening{make(chan error, 1)} }

// give says that it has happened, and how. Later calls do nothing.
func (s *happening) give(err error) {
	select {
	case s.c <- err:
	default:
	}
}

// Done implements driver.Acks for one message.
func (s *happening) Done(_ uint64, err error) { s.give(err) }

// await waits until it happens. The error says what has not.
func (s *happening) await(ctx context.Context, not string) error {
	select {
	case err := <-s.c:
		return err
	case <-ctx.Done():
		return fmt.Errorf("%w: %s: %w", driver.ErrTimeout, not, context.Cause(ctx))
	}
}
