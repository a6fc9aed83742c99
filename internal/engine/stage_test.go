package engine

import (
	"context"
	"io"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sixnines/driver"
	"sixnines/drivers/mem"
	"sixnines/drivers/nats"
	"sixnines/drivers/null"
	"sixnines/internal/engine/observe"
	"sixnines/internal/judge/judgetest"
	"sixnines/internal/nullbroker"
	"sixnines/result"
)

// delayer is a broker of one topic on TCP that delays each message for a while,
// and its driver, whose client delays them too before it writes and after it has
// read. All messages are of one size.
type delayer struct {
	client, broker, callback time.Duration
	// more connections are made for each producer, and another one each time that every
	// messages were sent.
	more, every int

	listener net.Listener
	mu       sync.Mutex
	readers  []net.Conn
	dial     func(context.Context, string, string) (net.Conn, error)
}

const relaySize = 64

func startRelay(t *testing.T, r *delayer) driver.Entry {
	t.Helper()
	var err error
	if r.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.listener.Close() })
	go func() {
		for {
			c, err := r.listener.Accept()
			if err != nil {
				return
			}
			go r.serve(c)
		}
	}()
	return driver.Entry{Name: "relay", Driver: r}
}

func (r *delayer) serve(c net.Conn) {
	defer c.Close()
	role := make([]byte, 1)
	if _, err := io.ReadFull(c, role); err != nil {
		return
	}
	if role[0] == 'C' {
		r.mu.Lock()
		r.readers = append(r.readers, c)
		r.mu.Unlock()
		_, _ = c.Write([]byte{'!'})
		_, _ = io.Copy(io.Discard, c)
		return
	}
	for b := make([]byte, relaySize); ; {
		if _, err := io.ReadFull(c, b); err != nil {
			return
		}
		time.Sleep(r.broker)
		r.mu.Lock()
		for _, to := range r.readers {
			_, _ = to.Write(b)
		}
		r.mu.Unlock()
	}
}

func (r *delayer) connect(ctx context.Context, role byte) (net.Conn, error) {
	c, err := r.dial(ctx, "tcp", r.listener.Addr().String())
	if err != nil {
		return nil, err
	}
	_, err = c.Write([]byte{role})
	return c, err
}

func (r *delayer) Open(_ context.Context, t driver.Target) (driver.Session, error) {
	r.dial = t.Dial
	return r, nil
}

func (r *delayer) Provision(context.Context, driver.Topology) (driver.Semantics, error) {
	return driver.Semantics{Transport: "tcp"}, nil
}

func (r *delayer) Producer(ctx context.Context, _ driver.ProducerSpec, a driver.Acks) (driver.Producer, error) {
	for range r.more {
		if _, err := r.dial(ctx, "tcp", r.listener.Addr().String()); err != nil {
			return nil, err
		}
	}
	c, err := r.connect(ctx, 'P')
	return &relayProducer{relay: r, conn: c, acks: a}, err
}

type relayProducer struct {
	relay *delayer
	conn  net.Conn
	acks  driver.Acks
	sent  int
}

func (p *relayProducer) Send(token uint64, payload []byte) error {
	if p.sent++; p.relay.every > 0 && p.sent%p.relay.every == 0 {
		if _, err := p.relay.dial(context.Background(), "tcp", p.relay.listener.Addr().String()); err != nil {
			return err
		}
	}
	time.Sleep(p.relay.client)
	_, err := p.conn.Write(payload)
	if err != nil {
		return err
	}
	p.acks.Done(token, nil)
	return nil
}

func (p *relayProducer) Close(context.Context) error { return p.conn.Close() }

func (r *delayer) Consumer(ctx context.Context, _ driver.ConsumerSpec, deliver driver.Deliver) (driver.Consumer, error) {
	c, err := r.connect(ctx, 'C')
	if err != nil {
		return nil, err
	}
	b := make([]byte, relaySize)
	if _, err := io.ReadFull(c, b[:1]); err != nil {
		return nil, err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			if _, err := io.ReadFull(c, b); err != nil {
				return
			}
			time.Sleep(r.callback)
			deliver(driver.Message{Payload: b})
		}
	}()
	return relayConsumer{c, ended}, nil
}

type relayConsumer struct {
	conn  net.Conn
	ended chan struct{}
}

func (c relayConsumer) Close(context.Context) error {
	err := c.conn.Close()
	<-c.ended
	return err
}

func (r *delayer) Deprovision(context.Context) error { return nil }
func (r *delayer) Close(context.Context) error       { return nil }

func factOf(r *result.Run, name string) result.Fact {
	i := slices.IndexFunc(r.Header.Machine, func(f result.Fact) bool { return f.Name == name })
	if i < 0 {
		return result.Fact{}
	}
	return r.Header.Machine[i]
}

// total is a metric's number and sum, ns.
func total(m *result.Merged) (n int64, sum float64) {
	for b := range buckets(m) {
		n += b.count
		sum += float64(b.value) * float64(b.count)
	}
	return n, sum
}

// staged runs text with a raw file and checks that the stages of the messages
// that were followed add up to their service times. It returns the run and how
// many messages were to be followed.
func staged(t *testing.T, text string, c Config) (*result.Run, int64) {
	t.Helper()
	c.File = filepath.Join(t.TempDir(), "run.jsonl")
	c.Scenario = parse(t, text+"\nrecord: {raw: true}")
	r, err := Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	r = judgetest.Verified(t, r, c.File)
	var want int64
	var service, sum float64
	for _, kind := range []result.RawKind{result.RawReceived, result.RawReplied} {
		for _, row := range rawRows(t, observe.RawPath(c.File), kind) {
			if _, ok := observe.Followed(uint64(row.Seq)); ok && row.Intended >= 0 && row.Intended < r.Summary.End {
				want++
				service += float64(row.Instant - row.Sent)
			}
		}
	}
	all := true
	for _, m := range []result.Metric{result.StageClient, result.StageBroker, result.StageReceive, result.StageCallback} {
		if r.Metrics[m] == nil {
			t.Fatalf("no %s: %+v", m, factOf(r, "stage times"))
		}
		n, s := total(r.Metrics[m])
		sum += s
		// Of some the arrival may be forgotten by the callback, or their write
		// was another's; of most not.
		if n > want || n < want*3/4 {
			t.Errorf("%s: of %d messages to be followed %d were", m, want, n)
		}
		all = all && n == want
	}
	if ratio := sum / service; ratio > 1.001 || all && ratio < 0.998 { // of three digits, a bucket's lower edge
		t.Errorf("the stages' sum is %.4f of the service times'", ratio)
	}
	return r, want
}

// Each delay shows in its own stage, for at least half of the messages: on a machine that stops
// for longer than messages are apart, the write of a late message is taken for that of the next.
func TestStagesTellWhereTheTimeWent(t *testing.T) {
	d := &delayer{client: 3 * time.Millisecond, broker: 6 * time.Millisecond, callback: 4 * time.Millisecond}
	r, want := staged(t, "phases: {warmup: 100ms, duration: 1600ms}\nworkload: {rate: 100/s, size: 64B}", Config{Entry: startRelay(t, d), URL: "relay"})
	if want < 9 {
		t.Fatalf("%d of 160 messages are to be followed", want)
	}
	for m, least := range map[result.Metric]time.Duration{result.StageClient: d.client, result.StageBroker: d.broker, result.StageCallback: d.callback} {
		if got := time.Duration(r.Summary.Histograms[m].Figures["50"].Value); got < least {
			t.Errorf("%s: half of them at most %v, which is held for %v", m, got, least)
		}
	}
	if f := factOf(r, "stage times"); !strings.Contains(f.Value, "one message in 16") {
		t.Errorf("%+v", f)
	}
}

// Where it cannot be known which connection a message takes, no stages are
// recorded, and the header says why.
func TestStagesAreLeftOutWhereTheyCannotBeKnown(t *testing.T) {
	t.Parallel()
	const text = "phases: {warmup: 100ms, duration: 300ms}\nworkload: {rate: 500/s, size: 64B}"
	for _, tt := range []struct {
		name, text string
		entry      driver.Entry
		url, why   string
	}{
		{"two connections a producer", text, startRelay(t, &delayer{more: 1}), "relay", "2 connections"},
		{"one during the probes", text, startRelay(t, &delayer{every: 1}), "relay", "during the run"},
		{"no connection of ours", text, mem.Entry(), "", "mem"},
		{"flat out", "phases: {warmup: 50ms}\nworkload: {rate: max, messages: 1000, size: 64B}", startRelay(t, &delayer{}), "relay", "with rate max"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := measure(t, tt.text, tt.entry, tt.url)
			f := factOf(r, "stage times")
			if r.Metrics[result.StageBroker] != nil || f.Value != "none" || !strings.Contains(f.Note, tt.why) {
				t.Errorf("%+v", f)
			}
		})
	}
	t.Run("one in the window", func(t *testing.T) {
		t.Parallel()
		r := measure(t, text, startRelay(t, &delayer{every: 120}), "relay")
		n, _ := total(r.Metrics[result.StageBroker])
		if ended := slices.ContainsFunc(r.Events, func(e result.Event) bool { return e.Kind == "stages" }); !ended || n > 7 {
			t.Errorf("%d messages followed, ended %v", n, ended)
		}
	})
}

// Where the client dials by itself, a connection that is made by Target.Dial all the same
// belongs to no producer.
func TestClientThatDialsByItself(t *testing.T) {
	t.Parallel()
	e := startRelay(t, &delayer{})
	e.Capabilities.OwnsDialing = true
	r := measure(t, "phases: {warmup: 100ms, duration: 300ms}\nworkload: {rate: 500/s, size: 64B}", e, "relay")
	for _, name := range []string{"stage times", "receive lag"} {
		if f := factOf(r, name); !strings.Contains(f.Note, "opens its connections itself") {
			t.Errorf("%+v", f)
		}
	}
	for _, m := range []result.Metric{result.StageBroker, result.LagReceive} {
		if r.Metrics[m] != nil {
			t.Errorf("%s was recorded", m)
		}
	}
}

// Real clients: writes on the caller's thread and reads on a goroutine, of one
// connection and of several.
func TestStagesOfRealClients(t *testing.T) {
	t.Parallel()
	b := startNATS(t)
	for _, workload := range []string{
		"{rate: 1000/s, producers: 3, consumers: 2}",
		"{rate: 1000/s, producers: 3, connections: {producers: 2}}",
		"{rate: 1000/s, pattern: request-reply, producers: 2}",
		"{rate: 1000/s, pattern: roundtrip}",
	} {
		t.Run(workload, func(t *testing.T) {
			t.Parallel()
			staged(t, "phases: {warmup: 100ms, duration: 500ms}\nworkload: "+workload, Config{Entry: nats.Entry(), URL: b.URL})
		})
	}
	t.Run("a broker that holds messages", func(t *testing.T) {
		t.Parallel()
		r, _ := staged(t, "phases: {warmup: 100ms, duration: 500ms}\nworkload: {rate: 1000/s}",
			Config{Entry: null.Entry(), URL: startNull(t, "bimodal(a=5ms,b=6ms,share=50%)")})
		if got := r.Summary.Histograms[result.StageBroker].Min; got < int64(5*time.Millisecond) {
			t.Errorf("held for 5 ms at least, and %v with the broker", time.Duration(got))
		}
	})
}

// startNull starts a null broker in this process and returns its URL.
func startNull(t *testing.T, law string) string {
	t.Helper()
	delays, err := nullbroker.ParseLaw(law)
	if err != nil {
		t.Fatal(err)
	}
	b, err := nullbroker.New(nullbroker.Config{Law: delays, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := b.Serve(l); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		l.Close()
		b.Close()
		serving.Wait()
	})
	return "null://" + l.Addr().String()
}
