package selftest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"sixnines/internal/nullbroker"
	"sixnines/internal/schedule"
	"sixnines/internal/spell"
	"sixnines/internal/stats"
	"sixnines/result"
)

// The queues' parameters: the service time is long compared with the machine's noise.
const (
	queueService = time.Millisecond
	// queueTolerance is by what share a percentile of the time in the system, beyond the
	// floor's median, may differ from theory.
	queueTolerance = 0.05
	// queueDraw is the share by which it may differ because of the chosen seed.
	queueDraw = 0.01
)

// queueTrial is a queue with one server.
type queueTrial struct {
	name     string // Kendall's notation
	arrivals string
	law      string // of the service times
	load     float64
	theory   func(load, p float64) float64 // in service times
}

// queueTrials are the queues.
func queueTrials(short bool) []queueTrial {
	mm1 := queueTrial{"M/M/1", "poisson", fmt.Sprintf("exponential(mean=%s)", queueService), 0.7, stats.MM1Sojourn}
	md1 := queueTrial{"M/D/1", "poisson", queueService.String(), 0.7, stats.MD1Sojourn}
	if short {
		return []queueTrial{mm1, md1}
	}
	mm1Idle, md1Idle := mm1, md1
	mm1Idle.load, md1Idle.load = 0.4, 0.4
	return []queueTrial{mm1Idle, mm1, md1Idle, md1}
}

// String is "M/M/1 at 70 %".
func (t queueTrial) String() string { return fmt.Sprintf("%s at %.0f %%", t.name, 100*t.load) }

// expected is the quantile p of the time in the system.
func (t queueTrial) expected(p float64) float64 {
	return t.theory(t.load, p) * float64(queueService)
}

// queuePercentiles are those that are compared with theory.
func queuePercentiles() []result.Percentile {
	return []result.Percentile{result.P50, result.P99}
}

// scenario is the text of a run.
func (t queueTrial) scenario(url string, seed uint64, window time.Duration) string {
	return fmt.Sprintf("seed: %d\ntarget: {driver: \"null\", url: %q}\nphases: {warmup: 0s, duration: %s, drain: 5s}\nworkload: {rate: %.0f/s, arrivals: %s}",
		seed, url, window, t.load/queueService.Seconds(), t.arrivals)
}

// knownQueues makes the null broker a queue with one server and compares the reported
// latencies with queueing theory. With some thousand messages the percentiles of a queue
// depend on chance; so it takes a seed of the schedule with which they would be those of
// theory if only the server took time.
func knownQueues(ctx context.Context, b *Bench) (*Outcome, error) {
	window := 4 * time.Second
	if b.Short {
		window = 2 * time.Second
	}
	floor, err := b.queueFloor(ctx)
	if err != nil {
		return nil, fmt.Errorf("the floor: %w", err)
	}
	figures := []Figure{{What: "the floor: p50 of a queue in which no message waits, without its service time", Found: Time(floor), Verdict: Information}}
	for _, t := range queueTrials(b.Short) {
		seed, err := b.queueSeed(t, window)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t, err)
		}
		b.Say("%s: a service time of %s, for %s", t, t.law, spell.Period(window))
		run, err := b.queueRun(ctx, t, seed, window)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t, err)
		}
		figures = append(figures, judgeQueue(run, t, floor)...)
	}
	return Conclude(fmt.Sprintf("the null broker served one message after another, each for a known time, and messages arrived as a Poisson process: times in the system must be those of queueing theory (Kleinrock; Franx 2001), plus the %s that a message takes here outside the server", Time(floor)), figures...), nil
}

// queueFloor measures the time of a message outside the server, with a queue in which
// no message waits, because messages come at equal distances.
func (b *Bench) queueFloor(ctx context.Context) (time.Duration, error) {
	b.Say("the floor: a queue in which no message waits")
	run, err := b.queueRun(ctx, queueTrial{arrivals: "constant", law: queueService.String(), load: 0.7}, 1, time.Second)
	if err != nil {
		return 0, err
	}
	p50, _ := run.Summary.Histograms[result.DeliveryResponse].At("50")
	if p50.Value == 0 {
		return 0, errors.New("it has no p50")
	}
	return time.Duration(p50.Value) - queueService, nil
}

// queueRun measures a queue with a schedule of that seed.
func (b *Bench) queueRun(ctx context.Context, t queueTrial, seed uint64, window time.Duration) (*result.Run, error) {
	broker, err := b.Start(ctx, "null", map[string]string{"server": t.law})
	if err != nil {
		return nil, err
	}
	defer func() { _ = broker.Stop(context.WithoutCancel(ctx)) }() // nothing of it is kept
	return b.RunText(ctx, t.scenario(broker.URLFor("null"), seed, window), At(broker))
}

// queueSeed returns the first seed of the schedule, from 1 on, for which the simulated
// times in the system have the percentiles of theory. Without a warm-up the messages are
// numbered from 0, like the broker's draws.
func (b *Bench) queueSeed(t queueTrial, window time.Duration) (uint64, error) {
	const most = 20_000
	s, err := b.Scenario(t.scenario("null://127.0.0.1:1", 1, window))
	if err != nil {
		return 0, err
	}
	law, err := nullbroker.ParseLaw(t.law)
	if err != nil {
		return 0, err
	}
	for seed := uint64(1); seed <= most; seed++ {
		plan, err := schedule.New(&s.Workload, window, seed)
		if err != nil {
			return 0, err
		}
		if t.drawn(nullbroker.NewTimetable(nullbroker.Config{Server: law, Seed: 1}), plan.Producer(0)) {
			return seed, nil
		}
	}
	return 0, fmt.Errorf("none of %d seeds draws it", most)
}

// drawn reports whether messages that arrive exactly when they are due have the times in
// the system of theory.
func (t queueTrial) drawn(table *nullbroker.Timetable, due schedule.Cursor) bool {
	var stays []float64
	for at, ok := due.Next(); ok; at, ok = due.Next() {
		stays = append(stays, float64(table.Due(&nullbroker.Entry{Sequence: uint64(len(stays)), Received: at})-at))
	}
	slices.Sort(stays)
	for _, label := range queuePercentiles() {
		p := share(label)
		if math.Abs(quantile(stays, p)/t.expected(p)-1) > queueDraw {
			return false
		}
	}
	return len(stays) > 0
}

// judgeQueue compares a run's response times with theory.
func judgeQueue(run *result.Run, t queueTrial, floor time.Duration) []Figure {
	c := run.Counters
	figures := []Figure{Exactly(t.String()+": messages that were delivered, once and in order", c.Scheduled, c.Received-c.Duplicated-c.Reordered)}
	d := run.Summary.Histograms[result.DeliveryResponse]
	for _, label := range queuePercentiles() {
		expected := time.Duration(t.expected(share(label)))
		f := Figure{What: fmt.Sprintf("%s: delivery.response p%s beyond the floor", t, label), Expected: Time(expected), Found: "none",
			Tolerance: fmt.Sprintf("%.0f %%", 100*queueTolerance), Verdict: Failed}
		if x, _ := d.At(label); x.Value > 0 {
			found := time.Duration(x.Value) - floor
			f.Found = Time(found)
			if math.Abs(float64(found)/float64(expected)-1) <= queueTolerance {
				f.Verdict = Passed
			}
		}
		figures = append(figures, f)
	}
	return figures
}
