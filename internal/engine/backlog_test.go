package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sixnines/driver"
	"sixnines/drivers/jetstream"
	"sixnines/drivers/nats"
	"sixnines/internal/clock"
	"sixnines/internal/engine/receive"
	"sixnines/internal/engine/window"
	"sixnines/internal/judge/judgetest"
	"sixnines/result"
)

// killedDrain fills a stream, drains it, and cuts all connections when consumers
// have received some of it.
func killedDrain(t *testing.T, text string) *result.Run {
	t.Helper()
	b := startNATS(t)
	file := t.TempDir() + "/run.jsonl"
	r, err := newRun(Config{Scenario: parse(t, text), Entry: jetstream.Entry(), URL: b.URL, File: file})
	if err != nil {
		t.Fatal(err)
	}
	ld := r.loads[0]
	ctx, over := context.WithCancel(t.Context())
	killed := make(chan int, 1)
	go func() {
		n := 0
		defer func() { killed <- n }()
		for ctx.Err() == nil {
			time.Sleep(time.Millisecond)
			if ld.Start.Load() == window.Never { // the senders are not connected yet, or just were
				continue
			}
			if c := ld.accounts.Counts(); c.Received > c.Sent/10 {
				for _, c := range ld.session.Dialers[0].Open() {
					_ = c.Close() // producers' too, which have sent all
					n++
				}
				return
			}
		}
	}()
	res, err := r.execute(t.Context())
	over()
	if n := <-killed; n == 0 {
		t.Error("no connection was cut")
	}
	if err != nil {
		t.Fatal(err)
	}
	return judgetest.Verified(t, res, file)
}

// Consumers whose connections are cut while they drain a backlog get the rest when
// they are back: every message counts once, and a second copy is a duplicate.
func TestConsumersKilledWhileDraining(t *testing.T) {
	t.Parallel()
	for _, group := range []string{"groups: 1, ", "groups: 0, "} {
		r := killedDrain(t, `
target: {driver: jetstream, options: {ack_wait: 1s}}
workload: {rate: max, messages: 1000, consumers: 2, `+group+`consumer: {from: filled, work: 1ms}}
`)
		c, k := r.Counters, r.Summary.Backlog
		fanOut := c.Expected / 1000
		if c.Sent != 1000 || c.Acked != 1000 || c.Received != 1000*fanOut || c.Missing != 0 || c.Corrupted != 0 {
			t.Errorf("%s%+v", group, c)
		}
		if k.Filled != 1000 || k.Peak != 1000*fanOut || k.Drained != 1000*fanOut || k.Gone <= k.From || k.Left != 0 {
			t.Errorf("%s%+v", group, k)
		}
		if c := r.Summary.Throughput; c.Messages != 1000 || c.Received != 0 {
			t.Errorf("the fill is %+v", c)
		}
		t.Logf("%d duplicates, %d redelivered", c.Duplicated, c.Redelivered)
	}
}

// A paced load whose consumers connect when it is over stops with its window.
func TestFilledByASchedule(t *testing.T) {
	t.Parallel()
	b := startNATS(t)
	r := measure(t, `
target: {driver: jetstream}
workload: {rate: 1000/s, groups: 1, consumer: {from: filled}}
phases: {duration: 500ms}
`, jetstream.Entry(), b.URL)
	if c := r.Counters; c.Scheduled != 500 || c.Received != 500 {
		t.Errorf("%+v", c)
	}
	k := r.Summary.Backlog
	if k.Filled != 500 || k.Peak != 500 || k.From < int64(450*time.Millisecond) || k.Gone != r.Summary.Resolved {
		t.Errorf("%+v", k)
	}
	if m := r.Metrics[result.LagReceive]; m != nil {
		t.Error("what lay unread while nobody was there counts as the generator's")
	}
}

// A drain that would take long ends on request, and what was not delivered
// is accounted for.
func TestDrainInterrupted(t *testing.T) {
	t.Parallel()
	b := startNATS(t)
	file := t.TempDir() + "/run.jsonl"
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	r, err := Run(ctx, Config{Entry: jetstream.Entry(), URL: b.URL, File: file, Scenario: parse(t, `
target: {driver: jetstream}
workload: {rate: max, messages: 2000, groups: 1, consumer: {from: filled, work: 1s}}
`), Observer: func(p Progress) {
		if p.Phase == result.PhaseDrain && p.Counters.Received > 0 {
			interrupt()
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	r = judgetest.Verified(t, r, file)
	c, k := r.Counters, r.Summary.Backlog
	if c.Received == 0 || c.Missing != 2000-c.Received || c.Undelivered != c.Missing || k.Gone != 0 || k.Left != c.Missing {
		t.Errorf("%+v\n%+v", c, k)
	}
	if !slices.ContainsFunc(r.Events, func(e result.Event) bool { return e.Detail == "the drain ends here" }) {
		t.Errorf("%+v", r.Events)
	}
}

// keeper is a driver whose late consumers cannot connect.
type keeper struct{ driver.Driver }

type keeping struct{ driver.Session }

func (k keeper) Open(ctx context.Context, t driver.Target) (driver.Session, error) {
	s, err := k.Driver.Open(ctx, t)
	return keeping{s}, err
}

var errNoRoom = errors.New("no room")

func (keeping) Consumer(context.Context, driver.ConsumerSpec, driver.Deliver) (driver.Consumer, error) {
	return nil, fmt.Errorf("keeper: %w", errNoRoom)
}

// Depth makes it one that tells how much it holds.
func (keeping) Depth(_ context.Context, topic string, _ driver.ConsumerSpec) (driver.Depth, error) {
	return driver.Depth{Messages: 7, Unacknowledged: true}, nil
}

// Consumers that cannot connect make the run INVALID, and the accounts close. The
// broker's depth is asked meanwhile.
func TestLateConsumersThatCannotConnect(t *testing.T) {
	t.Parallel()
	b := startNATS(t)
	e := nats.Entry()
	e.Driver, e.Capabilities.Keeps = keeper{e.Driver}, true
	r := measure(t, `
workload: {rate: 1000/s, topics: 2, groups: 2, consumers: 2, consumer: {from: filled}}
phases: {duration: 600ms, drain: 500ms}
`, e, b.URL)
	if c := r.Counters; c.Sent != 600 || c.Received != 0 || c.Missing != 1200 {
		t.Errorf("%+v", c)
	}
	why := "2 consumers could not connect (consumer 0 of 2 could not connect late: keeper: no room)"
	if v := r.Summary.Verdict; v.Status != result.Invalid || !slices.ContainsFunc(v.Reasons, func(r result.Reason) bool { return strings.HasPrefix(r.Text, why) }) {
		t.Errorf("%+v", v)
	}
	if d := r.Summary.Backlog.Depth; d != result.DepthUnacknowledged {
		t.Errorf("depth %q", d)
	}
	depth := false
	for _, p := range r.Series {
		depth = depth || p.Depth != nil && p.Depth.Messages == 4*7 && p.Depth.At > 0
	}
	if !depth {
		t.Error("no interval has the depth of two topics for two groups")
	}
}

// The run waits for missing messages only while others come.
func TestStalledDrain(t *testing.T) {
	e := nats.Entry()
	e.Capabilities.Keeps = true
	r, err := newRun(Config{Scenario: parse(t, "workload: {rate: max, messages: 5, consumer: {from: filled}}"), Entry: e})
	if err != nil {
		t.Fatal(err)
	}
	ld := r.loads[0]
	in := ld.receiving
	in.Late.Consumers = make([]receive.LateConsumer, 1)
	in.Late.At = clock.Now() - 2*int64(stallLimit)
	if ld.stalled() {
		t.Error("consumers that have not begun to connect are waited for no longer")
	}
	in.Late.Began.Store(true)
	if ld.stalled() {
		t.Error("consumers have no time to get anything")
	}
	in.Late.At -= 2 * int64(stallLimit)
	if !ld.stalled() {
		t.Error("nothing came for long, and it is waited for")
	}
	c := &receive.Consumer{}
	c.Received.Store(1)
	in.Consumers = append(in.Consumers, c)
	if ld.stalled() {
		t.Error("something came, and it is waited for no longer")
	}
	in.Late.At -= 2 * int64(stallLimit)
	c.Earlier.Store(1)
	if ld.stalled() {
		t.Error("something that an earlier run left came, and what is behind it is waited for no longer")
	}
}
