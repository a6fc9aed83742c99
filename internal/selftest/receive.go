package selftest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"slices"
	"sync"
	"time"

	"sixnines/driver"
	"sixnines/internal/clock"
	"sixnines/internal/engine"
	"sixnines/internal/histograms"
	"sixnines/internal/spell"
	"sixnines/result"
)

// The load of the trial: bursts whose messages arrive within some hundred µs, and a
// reader that leaves them unread for a hundred times as long. Bursts do not overlap.
const (
	unreadBurst  = 10
	unreadPeriod = 100 * time.Millisecond
	unreadFor    = 20 * time.Millisecond
	// unreadTolerance is the share by which the receive lag may differ from the reader's
	// wait. For the segments of one read the kernel reports the arrival of the last,
	// which is the end of the burst.
	unreadTolerance = 0.10
	// unreadElsewhere is the largest share of that wait that another stage, or a run
	// without the wait, may show.
	unreadElsewhere = 0.25
)

// errNoPeeking says that this system cannot see that bytes have come without
// reading them.
var errNoPeeking = errors.New("this system gives no receive time stamps; run this on Linux")

// receiveLag delays the reading side of a run: received data stays unread on this
// machine for a known time, which must be reported as receive lag and not as the
// broker's latency. The same load without the delay must not show it.
func receiveLag(ctx context.Context, b *Bench) (*Outcome, error) {
	broker, err := b.Start(ctx, "null", nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = broker.Stop(context.WithoutCancel(ctx)) }() // nothing of it is kept
	window := 4 * time.Second
	if b.Short {
		window = time.Second
	}
	run := func(h *slowReader) (*result.Run, error) {
		return b.RunText(ctx, fmt.Sprintf("target: {driver: \"null\"}\nphases: {warmup: 200ms, duration: %s, drain: 5s}\nworkload: {arrivals: {kind: burst, count: %d, period: %s}}",
			window, unreadBurst, unreadPeriod), func(c *engine.Config) {
			At(broker)(c)
			h.Driver = c.Entry.Driver
			c.Entry.Driver = h
		})
	}
	b.Say("bursts of %d messages, each left unread for %s", unreadBurst, spell.Period(unreadFor))
	slow := &slowReader{length: unreadFor}
	unread, err := run(slow)
	if errors.Is(err, errNoPeeking) {
		return Skip(err.Error()), nil
	}
	if err != nil {
		return nil, err
	}
	if f := factOf(unread, "receive lag"); f != "known" {
		return Skip("the receive lag is " + f + "; run this where the system gives receive time stamps"), nil
	}
	b.Say("the same, read at once")
	prompt, err := run(&slowReader{})
	if err != nil {
		return nil, err
	}
	return Conclude(fmt.Sprintf("received data stayed unread for %s by the reader's own clock; this is receive lag, in its metric, its stage and its share of the percentiles, and not the broker's latency",
		Time(slow.typical())), append(judgeUnread(unread, slow.typical()), judgePrompt(prompt, unreadFor)...)...), nil
}

// factOf returns what the header says of a thing, "not reported" if nothing.
func factOf(run *result.Run, name string) string {
	for _, f := range run.Header.Machine {
		if f.Name == name {
			return f.Value
		}
	}
	return "not reported"
}

// judgeUnread judges a run whose deliveries were unread for d.
func judgeUnread(run *result.Run, d time.Duration) []Figure {
	figures := []Figure{Exactly("messages due that arrived, once and in order", run.Counters.Scheduled,
		run.Counters.Received-run.Counters.Duplicated-run.Counters.Reordered)}
	for _, m := range []result.Metric{result.LagReceive, result.StageReceive} {
		f := Figure{What: "left unread: " + string(m) + " p50", Expected: Time(d), Found: "n/a",
			Tolerance: fmt.Sprintf("%.0f %%", 100*unreadTolerance), Verdict: Failed}
		if v, ok := median(run, m); ok {
			f.Found = Time(v)
			if math.Abs(float64(v-d)) <= unreadTolerance*float64(d) {
				f.Verdict = Passed
			}
		}
		figures = append(figures, f)
	}
	f := Figure{What: "left unread: the share of it in delivery.response p50", Expected: "at least 75 %", Found: "not reported", Verdict: Failed}
	if p50, _ := run.Summary.Histograms[result.DeliveryResponse].At("50"); p50.ReceiveShare != nil {
		f.Found = fmt.Sprintf("%.1f %%", 100**p50.ReceiveShare)
		if *p50.ReceiveShare >= 0.75 {
			f.Verdict = Passed
		}
	}
	reasons := Figure{What: "left unread: reasons of the verdict that name it", Expected: "at least one", Found: codesThat(run, has(result.ReasonReceiveLag)), Verdict: Passed}
	if reasons.Found == noCodes {
		reasons.Verdict = Failed
	}
	return append(figures, f, reasons, below(run, "left unread", result.StageBroker, d))
}

// judgePrompt judges the same run without any delay of the reader.
func judgePrompt(run *result.Run, d time.Duration) []Figure {
	return []Figure{below(run, "read at once", result.LagReceive, d), below(run, "read at once", result.StageBroker, d)}
}

// below demands that a metric's median is a small part of d.
func below(run *result.Run, name string, m result.Metric, d time.Duration) Figure {
	f := Figure{What: name + ": " + string(m) + " p50", Expected: fmt.Sprintf("less than %.0f %% of %s", 100*unreadElsewhere, Time(d)), Found: "n/a", Verdict: Failed}
	if v, ok := median(run, m); ok {
		f.Found = Time(v)
		if float64(v) < unreadElsewhere*float64(d) {
			f.Verdict = Passed
		}
	}
	return f
}

// median returns a metric's median, whether or not the sample supports it. ok is false
// if the metric has no values.
func median(run *result.Run, m result.Metric) (v time.Duration, ok bool) {
	x := run.Metrics[m]
	if x == nil {
		return 0, false
	}
	index := histograms.RanksOf(x.Hist)
	return time.Duration(index.Percentile(50)), index.Count() > 0
}

// slowReader is a driver whose connections are read late: once data has arrived, the
// reading goroutine waits for a time before it reads.
type slowReader struct {
	driver.Driver
	length time.Duration // 0: nothing is delayed

	mu     sync.Mutex      // guards delays
	delays []time.Duration // actual lengths of the waits
}

// Open implements driver.Driver.
func (h *slowReader) Open(ctx context.Context, t driver.Target) (driver.Session, error) {
	dial := t.Dial
	t.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil || h.length == 0 {
			return c, err
		}
		return &slowConn{c, h}, nil
	}
	return h.Driver.Open(ctx, t)
}

// typical is the median of the delays.
func (h *slowReader) typical() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.delays) == 0 {
		return 0
	}
	slices.Sort(h.delays)
	return h.delays[len(h.delays)/2]
}

// slowConn is a connection of a slowReader.
type slowConn struct {
	net.Conn
	reader *slowReader
}

// Read implements net.Conn.
func (c *slowConn) Read(p []byte) (int, error) {
	if err := awaitBytes(c.Conn); err != nil {
		return 0, err
	}
	from := clock.Now()
	time.Sleep(c.reader.length)
	c.reader.mu.Lock()
	c.reader.delays = append(c.reader.delays, time.Duration(clock.Now()-from))
	c.reader.mu.Unlock()
	return c.Conn.Read(p)
}
