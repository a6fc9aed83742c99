package engine

import (
	"context"
	"fmt"
	"net"
	"slices"
	"testing"
	"time"

	"sixnines/driver"
	"sixnines/internal/clock"
	"sixnines/internal/transport"
	"sixnines/result"
)

// slowSend delays the thread in each of some sends: by work, or by waiting for
// something else.
type slowSend struct {
	stuck
	works bool
}

func (s *slowSend) Open(context.Context, driver.Target) (driver.Session, error) { return s, nil }
func (s *slowSend) Producer(_ context.Context, _ driver.ProducerSpec, a driver.Acks) (driver.Producer, error) {
	return &slowSender{owner: s, acks: a}, nil
}

type slowSender struct {
	closer
	owner *slowSend
	acks  driver.Acks
	n     int
}

func (p *slowSender) Send(token uint64, _ []byte) error {
	if p.n++; p.n%100 == 0 {
		until := clock.Now() + int64(p.owner.Duration)
		if !p.owner.works {
			clock.SleepUntilBlocking(until)
		}
		for clock.Now() < until {
		}
	}
	p.acks.Done(token, nil)
	return nil
}

// Of a long send only the time in which the thread neither ran nor waited for a processor
// counts as blocked.
func TestBlockedIsWaitingForOthers(t *testing.T) {
	judgesFigures(t)
	share := func(works bool) float64 {
		d := &slowSend{works: works}
		d.Duration = 40 * time.Millisecond
		r := measureReally(t, "phases: {warmup: 100ms, duration: 500ms}\nworkload: {pattern: publish, rate: 1000/s}",
			driver.Entry{Name: "slow", Driver: d, Capabilities: driver.Capabilities{Ack: driver.AckKindBroker}})
		_, blocked := total(r.Metrics[result.LagBlocked])
		_, own := total(r.Metrics[result.LagOwn])
		return blocked / (blocked + own)
	}
	var off string
	for range 4 { // a busy machine makes the generator late by itself
		works, waits := share(true), share(false)
		if off = fmt.Sprintf("of the lag %.2f is blocked where the send works, and %.2f where it waits", works, waits); works < 0.3 && waits > 0.7 {
			return
		}
		t.Log(off)
	}
	t.Error(off)
}

// silent acknowledges nothing on one connection for a while.
type silent struct{ stuck }

func (s *silent) Open(context.Context, driver.Target) (driver.Session, error) { return s, nil }
func (s *silent) Producer(_ context.Context, p driver.ProducerSpec, a driver.Acks) (driver.Producer, error) {
	return &silentProducer{owner: s, acks: a, silent: p.Conn == s.conn}, nil
}

type silentProducer struct {
	closer
	owner  *silent
	acks   driver.Acks
	silent bool
	n      int
	held   []uint64
}

func (p *silentProducer) Send(token uint64, _ []byte) error {
	p.n++
	if p.silent && p.n >= p.owner.after {
		if p.held = append(p.held, token); len(p.held) == 1 {
			time.AfterFunc(p.owner.Duration, func() { p.acks.Done(token, nil) })
			return nil
		}
	}
	p.acks.Done(token, nil)
	return nil
}

// A connection that may have no more in flight leaves the others of its pacer
// alone: no other messages are late.
func TestFullConnectionDoesNotHoldUpOthers(t *testing.T) {
	const stall = 400 * time.Millisecond
	d := &silent{stuck: stuck{conn: 2, after: 60, Duration: stall}}
	r := measureConfig(t, Config{Pacers: 1, Scenario: parse(t, "phases: {warmup: 200ms, duration: 2s}\nworkload: {pattern: publish, rate: 1000/s, producers: 4, in_flight: {messages: 4}}"),
		Entry: driver.Entry{Name: "silent", Driver: d, Capabilities: driver.Capabilities{Ack: driver.AckKindBroker}}})
	if c := r.Counters; c.Sent != 2000 || c.Acked != 2000 {
		t.Fatalf("%+v", c)
	}
	late := int64(0)
	for v := range buckets(r.Metrics[result.PublishResponse]) {
		if v.value > int64(stall)/4 {
			late += v.count
		}
	}
	// 100 messages come due on the full connection meanwhile.
	if due := int64(stall.Seconds() * 250 * 3 / 4); late != due {
		t.Errorf("%d messages waited for more than a quarter of the stall, and %d were due on the full connection then\n%s", late, due, show(r))
	}
	if blocked := r.Summary.Histograms[result.LagBlocked]; blocked == nil || blocked.Max < int64(stall)*9/10 {
		t.Error("the wait for a place is not blocked")
	}
}

// The time that bytes are unread in this machine is the receiving side's own lag, in its
// histogram, its stage and its share of the percentiles, and not the broker's.
func TestReceiveLagIsTheGenerators(t *testing.T) {
	judgesFigures(t)
	if !stampsReceived(t) {
		t.Skip("the system gives no receive time stamps")
	}
	// Ten at a time, each of which keeps the reader for 3 ms.
	d := &delayer{callback: 3 * time.Millisecond}
	r, _ := staged(t, "phases: {warmup: 200ms, duration: 2s}\nworkload: {arrivals: {kind: burst, count: 10, period: 100ms}, size: 64B}", Config{Entry: startRelay(t, d), URL: "relay"})
	lag, whole := r.Summary.Histograms[result.LagReceive], r.Summary.Histograms[result.DeliveryResponse]
	if lag == nil || lag.Count < whole.Count*9/10 {
		t.Fatalf("of %d deliveries the receive lag is known of %+v", whole.Count, lag)
	}
	// The tenth waits for nine.
	if lag.Max < int64(20*time.Millisecond) || lag.Max > whole.Max {
		t.Errorf("at most %v of %v", time.Duration(lag.Max), time.Duration(whole.Max))
	}
	if s := whole.Figures["90"].ReceiveShare; s == nil || *s < 0.5 {
		t.Errorf("p90 is %+v: %s", whole.Figures["90"], show(r))
	}
	busy := 0.0
	for _, p := range r.Series {
		busy = max(busy, p.Vitals[result.VitalReaderBusy])
	}
	if busy < 0.1 { // nine of ten messages wait for 3 ms of each 100
		t.Errorf("the reader is busy for %.2f of the time", busy)
	}
	stage := r.Summary.Histograms[result.StageReceive]
	if stage == nil || stage.Max < int64(10*time.Millisecond) {
		t.Errorf("the stage says %+v", stage)
	}
	if f := factOf(r, "receive lag"); f.Value != "known" {
		t.Errorf("%+v", f)
	}
}

// stampsReceived reports whether connections tell how long bytes were unread.
func stampsReceived(t *testing.T) bool {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := transport.NewDialer(true).Dial(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	return c.(*transport.Conn).Stamped()
}

// The busiest pacer's share is that of its thread.
func TestPacerBusy(t *testing.T) {
	judgesFigures(t)
	busy := func(rate string) float64 {
		d := &slowSend{works: true}
		d.Duration = 4 * time.Millisecond // at each hundredth message
		r := measureReally(t, "phases: {warmup: 100ms, duration: 500ms}\nrecord: {interval: 20ms}\nworkload: {pattern: publish, rate: "+rate+"}",
			driver.Entry{Name: "slow", Driver: d, Capabilities: driver.Capabilities{Ack: driver.AckKindBroker}})
		var shares []float64 // of single intervals, in some of which others have the processors
		for _, p := range r.Series {
			if v, ok := p.Vitals[result.VitalPacerBusy]; ok && p.Phase == result.PhaseMeasure {
				shares = append(shares, v)
			}
		}
		if len(shares) == 0 {
			t.Fatal("no interval says how busy the pacers were")
		}
		slices.Sort(shares)
		return shares[len(shares)/2]
	}
	// 0.4 of a thread against a hundredth of that.
	if idle, full := busy("100/s"), busy("10000/s"); full < 0.3 || full > 1 || idle > full/2 {
		t.Errorf("%.2f and %.2f", idle, full)
	}
}
