package all_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"sixnines/driver"
	"sixnines/drivers/all"
	"sixnines/internal/cli"
	"sixnines/internal/hunttest"
	"sixnines/internal/judge/judgetest"
	"sixnines/result"
)

// refusalPatience limits every wait. It decides only how long a failure takes.
const refusalPatience = 2 * time.Minute

// instant is when a broker begins to refuse.
type instant string

const (
	atConnect   instant = "connect"
	atSubscribe instant = "subscribe"
	atPublish   instant = "publish"
	inWarmup    instant = "publish in the warm-up"
	inWindow    instant = "publish in the window"
	atRelogin   instant = "login again"
)

// manner is a driver with options in which refusals are heard in their own way.
type manner struct {
	driver  string
	options map[string]string
	// deaf: by the protocol nothing tells of a publish that is refused.
	deaf bool
	// login, if not empty, is what is said where the family has something else.
	login string
	// right, if not empty, is what is forbidden instead of publishing, which takes it too, and
	// refuses what is said then.
	right   deed
	refuses string
	// blind: the client dials by itself, so that its connections cannot be cut or counted.
	blind bool
}

func (m manner) String() string {
	text := m.driver
	for _, name := range slices.Sorted(maps.Keys(m.options)) {
		text += " " + name + "=" + m.options[name]
	}
	return text
}

// family is what brokers of one kind say when they refuse.
type family struct {
	name    string
	start   func(t *testing.T) guard
	manners []manner
	// secret, if not nil, makes what a user logs in with where that is one option.
	secret func(user, password string) (option, value string)
	// each: every case has a broker of its own, which takes no time. What changes the rights
	// of one user disturbs others there.
	each bool
	// late: the broker looks a user's rights up when he first uses them on a connection, so
	// that they cannot be taken away within a run.
	late bool
	// The server's words, or those that the driver has for a code of the protocol, by what
	// is refused.
	login, subscribe, publish []string
}

func families() []family {
	of := func(driver string, pairs ...string) manner {
		m := manner{driver: driver, options: map[string]string{}}
		for i := 0; i < len(pairs); i += 2 {
			m.options[pairs[i]] = pairs[i+1]
		}
		return m
	}
	deaf := func(m manner) manner { m.deaf = true; return m }
	blind := func(m manner) manner { m.blind = true; return m }
	needs := func(m manner, right deed, refuses string) manner { m.right, m.refuses = right, refuses; return m }
	says := func(m manner, login string) manner { m.login = login; return m }
	return []family{
		{name: "NATS", start: guardNATS, each: true, login: []string{"Authorization Violation"}, subscribe: []string{"Permissions Violation for Subscription"},
			publish: []string{"Permissions Violation for Publish"}, manners: []manner{of("nats"), of("nats", "client", "library")}},
		{name: "JetStream", start: guardNATS, each: true, login: []string{"Authorization Violation"}, subscribe: []string{"Permissions Violation for Publish", "CONSUMER"},
			publish: []string{"Permissions Violation for Publish"}, manners: []manner{of("jetstream"), of("jetstream", "client", "library"), of("jetstream", "acknowledge", "false")}},
		{name: "Redis", start: guardRedis, login: []string{"WRONGPASS"}, subscribe: []string{"NOPERM"}, publish: []string{"NOPERM"},
			manners: []manner{of("redis"), of("redis", "client", "library"), of("redis", "acks", "none"), of("redis-streams"), of("redis-streams", "client", "library")}},
		{name: "MQTT", start: guardMosquitto, each: true, login: []string{"not authorised to connect"}, subscribe: []string{"not allow"}, publish: []string{"not allow"},
			manners: []manner{of("mqtt"), of("mqtt", "client", "library"), of("mqtt", "qos", "2"), deaf(of("mqtt", "qos", "0")),
				deaf(of("mqtt", "version", "3.1.1")), deaf(of("mqtt", "version", "3.1.1", "client", "library"))}},
		{name: "NATS Streaming", start: guardSTAN, each: true, login: []string{"Authorization Violation"}, subscribe: []string{"Permissions Violation for Publish", "_STAN.sub"},
			publish: []string{"Permissions Violation for Publish", "_STAN.pub"}, manners: []manner{of("stan")}},
		{name: "NSQ", start: guardNSQ, login: []string{"E_AUTH_FAILED"}, subscribe: []string{"E_UNAUTHORIZED"}, publish: []string{"E_UNAUTHORIZED"},
			secret:  func(user, password string) (string, string) { return "auth_secret", nsqSecret(user, password) },
			manners: []manner{of("nsq"), blind(of("nsq", "client", "library"))}},
		{name: "Kafka", start: guardKafka, login: []string{"SASL_AUTHENTICATION_FAILED"}, subscribe: []string{"TOPIC_AUTHORIZATION_FAILED"},
			publish: []string{"topic"}, manners: []manner{of("kafka", "sasl", "scram-sha-256"), of("kafka", "sasl", "scram-sha-256", "acks", "1", "idempotence", "off"),
				of("kafka", "sasl", "scram-sha-256", "acks", "0", "idempotence", "off"),
				needs(of("kafka", "sasl", "scram-sha-256"), describing, "TOPIC_AUTHORIZATION_FAILED"),
				needs(of("kafka", "sasl", "scram-sha-256", "transactions", "true"), transacting, "TRANSACTIONAL_ID_AUTHORIZATION_FAILED")}},
		{name: "RabbitMQ", start: guardRabbit, late: true, login: []string{"ACCESS_REFUSED - Login was refused"}, subscribe: []string{"refused"}, publish: []string{"refused"},
			manners: []manner{of("rabbitmq"), says(of("rabbitmq", "client", "library"), "username or password not allowed"), of("rabbitmq", "confirms", "false"),
				says(of("rabbitmq-stream"), "authentication failure"), says(blind(of("rabbitmq-stream", "client", "library")), "authentication failure"),
				says(of("amqp10"), "auth failed"), says(of("amqp10", "settled", "true"), "auth failed")}},
	}
}

// refusal is a case.
type refusal struct {
	manner
	at        instant
	pattern   string
	producers int
	after     int64 // messages
	toTheEnd  bool  // until a connection is given up
}

func (f *family) draw(random *rand.Rand, n int) refusal {
	instants := []instant{atConnect, atPublish, atRelogin, atSubscribe, inWindow, inWarmup}
	if f.late {
		instants = instants[:4]
	}
	c := refusal{manner: f.manners[random.IntN(len(f.manners))], at: instants[random.IntN(len(instants))],
		pattern: []string{"publish", "deliver"}[random.IntN(2)], producers: 1 + random.IntN(3), after: 5 + random.Int64N(60), toTheEnd: random.IntN(4) == 0}
	if n < len(instants) { // each of them at least once
		c.at, c.manner = instants[n], f.manners[n%len(f.manners)]
	}
	if c.at == atSubscribe {
		c.pattern = "deliver"
	}
	if c.right == describing && (c.at == inWindow || c.at == inWarmup) {
		c.at = atPublish // what a client knows of a topic it need not ask for again
	}
	if c.at == inWarmup && c.deaf {
		c.at = inWindow
	}
	if c.at == atRelogin && c.blind {
		c.at = atConnect
	}
	return c
}

// Whatever a broker refuses, to whom, when and by which client: before the window the run
// ends with exit code 1 in the broker's words, and nothing is left of it; in the window the
// run is never VALID, the first screen has the words, the accounts close, and neither
// logins nor events are without bound.
func TestRefusalHunt(t *testing.T) {
	if testing.Short() {
		t.Skip("starts all brokers")
	}
	for _, f := range families() {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			var shared guard
			if !f.each {
				shared = f.start(t)
			}
			t.Run("cases", func(t *testing.T) {
				for n := range hunttest.Cases(t, 8, 0) {
					c := f.draw(rand.New(rand.NewPCG(uint64(n), 35)), n)
					t.Run(fmt.Sprintf("%d", n), func(t *testing.T) {
						t.Parallel()
						g := shared
						if g == nil {
							g = f.start(t)
						}
						c.try(t, &f, g, fmt.Sprintf("user%d", n))
					})
				}
			})
		})
	}
}

// refusing is a run of the command that is refused something.
type refusing struct {
	w    *watched
	code int
	out  string // the first screen, in one line
	errs string
	dir  string
}

func (c *refusal) try(t *testing.T, f *family, g guard, user string) {
	var forbidden []deed
	publishes := publishing
	if c.right != "" {
		publishes = c.right
	}
	password := "x"
	switch c.at {
	case atConnect:
		password = "mistaken"
	case atSubscribe:
		forbidden = []deed{subscribing}
	case atPublish:
		forbidden = []deed{publishes}
	}
	if err := g.rule(user, "x", forbidden...); err != nil {
		t.Fatal(err)
	}
	early := c.at != inWindow && c.at != atRelogin
	login := []string{"--option", "user=" + user, "--option", "password=" + password}
	if f.secret != nil {
		option, value := f.secret(user, password)
		login = []string{"--option", option + "=" + value}
	}
	r := c.run(t, g, login, func(w *watched) error {
		switch c.at {
		case inWarmup, inWindow:
			return g.rule(user, "x", publishes)
		case atRelogin:
			if err := g.rule(user, "y"); err != nil {
				return err
			}
			w.cut()
		}
		return nil
	})
	words := f.publish
	if c.right != "" {
		words = []string{c.refuses}
	}
	switch c.at {
	case atConnect, atRelogin:
		if words = f.login; c.login != "" {
			words = []string{c.login}
		}
	case atSubscribe:
		words = f.subscribe
	}
	says := func(where, text string) {
		t.Helper()
		for _, w := range words {
			if !strings.Contains(text, w) {
				t.Errorf("%s does not say %q", where, w)
			}
		}
	}
	if early {
		if r.code != 1 {
			t.Errorf("exit code %d", r.code)
		}
		says("stderr", r.errs)
		if !strings.Contains(r.errs, "hint: ") {
			t.Error("nothing says what to do next")
		}
		if left, _ := filepath.Glob(filepath.Join(r.dir, "results", "*")); len(left) > 0 {
			t.Errorf("%q are left", left)
		}
	} else {
		c.judge(t, r, says)
	}
	if most := 6 * (2*c.producers + 2); r.w.logins() > most {
		t.Errorf("%d logins after the password was changed, want at most %d", r.w.logins(), most)
	}
	if t.Failed() {
		t.Logf("%s, %s at %s after %d by %d, to the end: %v\n%s\n%s\nheard: %v", c.manner, c.pattern, c.at, c.after, c.producers, c.toTheEnd, r.errs, r.out, r.w.heard)
	}
}

// judge looks at the result of a run that was refused something in the window.
func (c *refusal) judge(t *testing.T, r *refusing, says func(where, text string)) {
	files, err := filepath.Glob(filepath.Join(r.dir, "results", "*.jsonl"))
	if err != nil || len(files) != 1 {
		t.Errorf("exit code %d; results %q", r.code, files)
		return
	}
	read, err := result.Load(files[0])
	if err != nil {
		t.Error(err)
		return
	}
	judgetest.Verified(t, read, files[0])
	if most := 100; len(read.Events) > most {
		t.Errorf("%d events", len(read.Events))
	}
	if c.deaf && c.at == inWindow {
		if strings.Contains(r.out, "none refused") {
			t.Error("it claims to know that nothing was refused")
		}
		return
	}
	says("the first screen", r.out)
	v := read.Summary.Verdict
	if v.Status == result.Valid || strings.HasPrefix(r.out, "VALID") {
		t.Errorf("the verdict is %s", v.Status)
	}
	if !slices.ContainsFunc(v.Reasons, func(x result.Reason) bool {
		return x.Status != result.Valid && x.Code.Properties().Shown == result.ShownAsRefusal
	}) {
		t.Errorf("no reason says that the broker refused: %+v", v.Reasons)
	}
}

// run runs the command, and makes the broker refuse after a number of messages.
func (c *refusal) run(t *testing.T, g guard, login []string, refuse func(*watched) error) *refusing {
	e, ok := all.Set().Lookup(c.driver)
	if !ok {
		t.Fatalf("no driver %s", c.driver)
	}
	options := map[string]any{}
	for name, value := range c.options {
		options[name] = value
	}
	w := &watched{Driver: e.Driver, ack: e.With(options).Ack, at: make(chan int64, 1)}
	w.from.Store(c.after)
	e.Driver = w
	r := &refusing{w: w, dir: t.TempDir()}
	warmup := "0s"
	if c.at == inWarmup {
		warmup = "1h"
	}
	args := append([]string{"run", c.driver, "--url", g.url(c.driver)}, login...)
	args = append(args, "--pattern", c.pattern, "--rate", "300/s", "--producers", strconv.Itoa(c.producers), "--warmup", warmup, "--duration", "1h", "--drain", "300ms", "--quiet")
	for _, name := range slices.Sorted(maps.Keys(c.options)) {
		args = append(args, "--option", name+"="+c.options[name])
	}
	ctx, interrupt := context.WithTimeout(t.Context(), refusalPatience)
	defer interrupt()
	told := make(chan struct{})
	go func() {
		defer close(told)
		select {
		case <-w.at:
		case <-ctx.Done():
			return
		}
		if c.at != inWarmup && c.at != inWindow && c.at != atRelogin {
			return
		}
		before, _ := w.hasHeard()
		if err := refuse(w); err != nil {
			t.Error(err)
		}
		if c.at != inWarmup { // which ends by itself
			c.await(ctx, w, before)
			interrupt()
		}
	}()
	var out, errs bytes.Buffer
	r.code = cli.Main(ctx, cli.Env{Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Environ: os.Environ(), Dir: r.dir,
		Drivers: driver.NewSet(e), Tool: cli.BuiltTool()})
	if ctx.Err() == context.DeadlineExceeded {
		t.Error("the run does not end")
	}
	interrupt()
	<-told
	r.out, r.errs = strings.Join(strings.Fields(out.String()), " "), strings.Join(strings.Fields(errs.String()), " ")
	return r
}

// await waits until the driver has heard the refusal, or given a connection up, and a moment
// longer.
func (c *refusal) await(ctx context.Context, w *watched, before int) {
	limit := time.Now().Add(refusalPatience / 4)
	if c.deaf && c.at == inWindow {
		limit = time.Now()
	}
	for time.Now().Before(limit) {
		refusals, gone := w.hasHeard()
		if refusals > before && (gone > 0 || !c.toTheEnd || c.at != atRelogin) {
			break
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(5 * time.Millisecond):
		}
	}
	select {
	case <-ctx.Done():
	case <-time.After(400 * time.Millisecond):
	}
}
