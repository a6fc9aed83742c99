package cli

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"sixnines/driver"
	"sixnines/internal/secret"
	"sixnines/internal/vitals"
	"sixnines/scenario"
)

// stepLimit is how long the broker may take for one thing that is tried.
const stepLimit = 10 * time.Second

func (a *app) checkCommand() *cobra.Command {
	var flags overrides
	cmd := &cobra.Command{
		Use:   "check [BROKER|SCENARIO.yaml]",
		Short: "Try what a run needs of a broker, and say what is missing",
		Long: `Try what a run needs of a broker, one thing after the other, and say in the broker's words
what it refuses and what to do about that: connect and log in, make a topic, subscribe,
publish, receive, remove the topic, and the same in a group. Give the address, the login and
the prefix as for run. Each thing may take 10 seconds.

With --topic nothing is published to the operator's topics and nothing is taken from them:
only whether they are there is tried.

Exit codes: 0 all is there; 1 something is refused; 2 wrong usage.`,
		Example: `  sixnines check redis --url rediss://broker.example:6379 --tls-ca ca.pem --option user=ada --option password=@word --prefix bench.
  sixnines check kafka --url broker.example:9092 --topic orders --group audit
  sixnines check redis $(sixnines broker up redis --secured)`,
		Args: counted(0, 1, "a BROKER or a SCENARIO.yaml"),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, e, err := a.load(args, flags.list)
			if err != nil {
				return err
			}
			if s.Target.URL == "" && !e.InProcess && !e.Capabilities.Brokerless {
				return wrongUsage("give the broker's address with --url; a broker that sixnines starts lets everybody do everything", "there is no broker to check")
			}
			checks := tryBroker(cmd.Context(), s, e)
			refused := 0
			for _, c := range checks {
				if c.Status == vitals.StatusFail {
					refused++
				}
			}
			if refused > 0 {
				a.printChecks(fmt.Sprintf("Runs are not possible as asked: %s refused.", plural(refused, "thing")), checks)
				return status(exitFailure)
			}
			a.printChecks("All that runs need is there.", checks)
			return nil
		},
	}
	a.take(cmd, scenarioFlags(&flags)[0])
	return cmd
}

// preflight tries what runs need of a broker.
type preflight struct {
	scenario *scenario.Scenario
	entry    driver.Entry
	checks   []vitals.Check

	mu     sync.Mutex
	denied error // what the broker has refused without saying of which message
}

// tryBroker tries a consumer on its own and one in a group, as far as the driver has them.
func tryBroker(ctx context.Context, s *scenario.Scenario, e driver.Entry) []vitals.Check {
	p := &preflight{scenario: s, entry: e}
	can := e.With(s.Target.Options)
	if can.FanOut || !can.Groups {
		p.use(ctx, "")
	}
	if can.Groups && (s.Target.Topic == "" || s.Target.Group != "") {
		p.use(ctx, cmp.Or(s.Target.Group, e.Naming.Group(s.Target.Prefix, "g0")))
	}
	return p.checks
}

// step tries one thing, if it can be, and reports whether the broker allows it.
func (p *preflight) step(ctx context.Context, possible bool, name, found string, try func(context.Context) error) bool {
	c := vitals.Check{Name: name, Status: vitals.StatusOK, Found: found}
	if !possible {
		c.Status, c.Found = vitals.StatusNote, "not tried, because of what is refused above"
		p.checks = append(p.checks, c)
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, stepLimit)
	defer cancel()
	err := try(ctx)
	p.mu.Lock()
	err, p.denied = cmp.Or(p.denied, err), nil
	p.mu.Unlock()
	if err != nil {
		err = runFault(conceal(err, p.scenario, p.entry), p.scenario, p.entry, false)
		c.Status, c.Found = vitals.StatusFail, err.Error()
		var f *fault
		if errors.As(err, &f) {
			c.Advice = f.hint
		}
	}
	p.checks = append(p.checks, c)
	return err == nil
}

// use makes a session of its own, with a group unless that is empty.
func (p *preflight) use(ctx context.Context, group string) {
	t := p.scenario.Target
	target := driver.Target{URL: t.URL, Run: strings.ToLower(rand.Text()[:8]), Prefix: t.Prefix, Given: t.Topic != "", Options: t.Options, Notify: p.notify}
	if tls := t.TLS; tls != nil {
		target.TLS = &driver.TLS{CA: tls.CA, Cert: tls.Cert, Key: tls.Key, ServerName: tls.ServerName, InsecureSkipVerify: tls.InsecureSkipVerify}
	}
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
	if !p.step(ctx, true, "connect and log in", shown, func(ctx context.Context) (err error) {
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
	if target.Given {
		p.step(ctx, true, "find the "+what, strings.Join(append(topology.Topics, topology.Groups...), ", "), provision)
		return
	}
	made := p.step(ctx, true, "make a "+what, p.entry.Naming.TopicName(target, topology.Topics[0]), provision)
	got, done := newHappening(), newHappening()
	subscribed := p.step(ctx, made, "subscribe"+where, group, func(ctx context.Context) error {
		_, err := session.Consumer(ctx, driver.ConsumerSpec{Topics: topology.Topics, Group: group}, func(driver.Message) { got.give(nil) })
		return err
	})
	sent := p.step(ctx, made, "publish", "one message", func(ctx context.Context) error { return send(ctx, session, size, done) })
	p.step(ctx, subscribed && sent, "receive"+where, "what was published", func(ctx context.Context) error { return got.await(ctx, "the message did not come") })
	p.step(ctx, true, "remove the "+what, "", session.Deprovision) // what was made, although something was refused
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
