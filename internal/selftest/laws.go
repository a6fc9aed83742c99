package selftest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"sixnines/internal/clock"
	"sixnines/internal/histograms"
	"sixnines/internal/nullbroker"
	"sixnines/internal/report"
	"sixnines/internal/spell"
	"sixnines/result"
)

// lawTrial is a law of delays that the figures must show, and the load.
type lawTrial struct {
	law    string
	rate   int // a second
	window time.Duration
	rare   time.Duration // for a law with rare delays: half of such a delay; else 0
}

// lawTrials returns the laws. In the short form rare delays are less rare, so that some
// occur.
func lawTrials(short bool) []lawTrial {
	const lognormal, bimodal = "lognormal(median=2ms,sigma=0.5)", "bimodal(a=1ms,b=20ms,share=5%)"
	if short {
		return []lawTrial{{lognormal, 3000, time.Second, 0}, {bimodal, 3000, time.Second, 0},
			{"rare(delay=200ms,every=1000)", 3000, time.Second, 100 * time.Millisecond}}
	}
	return []lawTrial{{lognormal, 3000, 3 * time.Second, 0}, {bimodal, 3000, 3 * time.Second, 0},
		{"rare(delay=200ms,every=100000)", 20000, 6 * time.Second, 100 * time.Millisecond}}
}

// lawWarmup precedes each window, and takes part in the choice of a seed.
const lawWarmup = 300 * time.Millisecond

// rareAtLeast is the least number of messages of a window that get a rare delay.
const rareAtLeast = 3

// seed returns the first seed, from 1 on, with which enough messages of the window get
// a rare delay: by chance a sample may have none. The window's messages are numbered
// after those of the warm-up, to within some at both ends.
func (t lawTrial) seed(law nullbroker.Law) uint64 {
	const most, some = 10_000, 50
	first := uint64(float64(t.rate)*lawWarmup.Seconds()) + some
	last := uint64(float64(t.rate)*(lawWarmup+t.window).Seconds()) - some
	for seed := uint64(1); t.rare > 0 && seed < most; seed++ {
		n := 0
		for sequence := first; sequence < last; sequence++ {
			if law.Delay(seed, 0, 0, sequence) > t.rare {
				n++
			}
		}
		if n >= rareAtLeast {
			return seed
		}
	}
	return 1
}

// knownLaws makes the null broker delay every message by a known law and log each
// delay. It compares Sixnines' figures with that log: the instants message by message,
// and the percentiles with those of the same delays, permuted at random.
func knownLaws(ctx context.Context, b *Bench) (*Outcome, error) {
	var figures []Figure
	chart := report.Picture{Title: "Known distributions, as they were made and as they were reported",
		Caption: "Expected: the logged delays, assigned to the messages again at random.",
		X:       report.PictureAxis{Label: "percentile", Scale: report.PicturePercentile}, Y: report.PictureAxis{Label: "delivery.service", Scale: report.PictureDuration}}
	for _, t := range lawTrials(b.Short) {
		law, err := nullbroker.ParseLaw(t.law)
		if err != nil {
			return nil, err
		}
		b.Say("%s at %s, for %s", law, spell.Rate(float64(t.rate)), spell.Period(t.window))
		run, r, err := b.lawRun(ctx, t, law)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", law, err)
		}
		figures = append(figures, r.figures(law)...)
		figures = append(figures, judgeLaw(run, law, t, r)...)
		if x := run.Metrics[result.DeliveryService]; x != nil {
			reported := curve(law.String()+", reported", x)
			expected := report.PictureLine{Name: law.String() + ", expected", X: reported.X}
			for _, p := range reported.X {
				expected.Y = append(expected.Y, max(1, r.shuffled()[result.Percentile(strconv.FormatFloat(p, 'f', -1, 64))].middle))
			}
			chart.Lines = append(chart.Lines, expected, reported)
		}
	}
	o := Conclude(fmt.Sprintf("the delays that the null broker logged for each message must be found in the reported figures. The rest of a message's service time does not depend on the delay drawn for it; so the delays are assigned to the messages again at random, %d times, and each percentile must lie within the range of those results, plus or minus %.0f %% and the median lateness of the broker", shuffles, 100*lawTolerance), figures...)
	o.Charts = []report.Picture{chart}
	return o, nil
}

// lawScenario is the scenario of all these runs.
func lawScenario(url string, rate int, window time.Duration) string {
	return fmt.Sprintf("target: {driver: \"null\", url: %q}\nphases: {warmup: %s, duration: %s, drain: 5s}\nworkload: {rate: %d/s}\nrecord: {raw: true}",
		url, lawWarmup, window, rate)
}

// lawRun measures under a law and joins the result with the broker's log.
func (b *Bench) lawRun(ctx context.Context, t lawTrial, law nullbroker.Law) (*result.Run, *record, error) {
	dir, err := os.MkdirTemp(b.Dir, "law-")
	if err != nil {
		return nil, nil, err
	}
	log := filepath.Join(dir, "null.log")
	broker, err := b.Start(ctx, "null", map[string]string{"delay": law.String(), "seed": strconv.FormatUint(t.seed(law), 10), "log": log})
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = broker.Stop(context.WithoutCancel(ctx)) }() // its log is read before
	run, err := b.RunText(ctx, lawScenario(broker.URLFor("null"), t.rate, t.window), At(broker))
	if err != nil {
		return nil, nil, err
	}
	messages, err := messagesOf(run)
	if err != nil {
		return nil, nil, err
	}
	r, err := awaitRecord(ctx, log, messages)
	return run, r, err
}

// message is one message of the measured window as Sixnines saw it, and as the
// broker did; absolute ns.
type message struct {
	sent, received        int64
	arrived, left         int64 // at the broker and from it
	planned               int64
	seen                  int  // number of its entries in the broker's log
	delivered, delivered2 bool // at least once, at least twice
}

// messagesOf reads the messages of the measured window from a run's raw file, by
// sequence number.
func messagesOf(run *result.Run) (map[uint64]*message, error) {
	f, err := os.Open(filepath.Join(filepath.Dir(run.Path), run.Header.Raw))
	if err != nil {
		return nil, err
	}
	defer f.Close() // read only
	r, err := result.NewRawReader(f)
	if err != nil {
		return nil, err
	}
	base := r.Header().Base
	all := map[uint64]*message{}
	of := func(row result.RawRow) *message {
		m := all[uint64(row.Seq)]
		if m == nil {
			m = &message{sent: base + row.Sent}
			all[uint64(row.Seq)] = m
		}
		return m
	}
	for {
		row, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		if row.Intended < 0 || row.Intended >= run.Summary.End || row.Stream != 0 {
			continue
		}
		switch row.Kind {
		case result.RawSent:
			of(row)
		case result.RawReceived:
			m := of(row)
			m.delivered2 = m.delivered
			m.delivered, m.received = true, base+row.Instant
		}
	}
}

// logPatience is how long the broker's log may take to be complete: the broker
// flushes it several times a second.
const logPatience = 5 * time.Second

// awaitRecord reads the broker's log until it has all messages.
func awaitRecord(ctx context.Context, log string, messages map[uint64]*message) (*record, error) {
	for limit := time.Now().Add(logPatience); ; {
		r, err := readRecord(log, messages)
		if err != nil {
			return nil, err
		}
		if r.absent == 0 || time.Now().After(limit) {
			return r, nil
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func readRecord(log string, messages map[uint64]*message) (*record, error) {
	f, err := os.Open(log)
	if err != nil {
		return nil, err
	}
	defer f.Close() // read only
	for _, m := range messages {
		m.seen = 0
	}
	if err := nullbroker.ReadLog(f, func(e nullbroker.Entry) error {
		if m := messages[e.Sequence]; e.Stream == 0 && e.Kind == 0 && m != nil {
			m.seen++
			m.arrived, m.left, m.planned = e.Received, e.Forwarded, e.Planned
		}
		return nil
	}); err != nil {
		return nil, err
	}
	return join(messages), nil
}

// record is the broker's log joined with Sixnines' raw file.
type record struct {
	messages, delivered int
	absent, repeated    int // not in the log, or more than once
	early               int // delayed for less than the law asked for
	// disorder counts messages whose instants contradict each other: received by
	// the broker before they were sent, sent on before they were received, or
	// delivered before they were sent on.
	disorder int
	// For each message that was delivered and is in the log: the delay drawn for it, and
	// the rest of its service time, ns. The rest includes the broker's lateness, because
	// that may correlate with a slow transport when other programs use the processor;
	// only the drawn delay is independent of everything.
	drawn, beside []float64
	outcomes      map[result.Percentile]outcomes // cached by shuffled
	late          time.Duration                  // median of how much longer than drawn the broker kept messages
}

// clockSlack is the largest difference of the clocks of two processes, ns. Each maps
// Go's clock to CLOCK_MONOTONIC with an error of at most half the width of its bracket.
func clockSlack() int64 { return max(int64(time.Microsecond), 2*int64(clock.Bracket())) }

// join compares the instants of both sides.
func join(messages map[uint64]*message) *record {
	r := &record{messages: len(messages)}
	slack := clockSlack()
	var late []int64
	for _, m := range messages {
		if m.delivered && !m.delivered2 {
			r.delivered++
		}
		switch {
		case m.seen == 0:
			r.absent++
			continue
		case m.seen > 1:
			r.repeated++
		}
		held := m.left - m.arrived
		if m.delivered {
			r.drawn = append(r.drawn, float64(m.planned))
			r.beside = append(r.beside, float64(m.received-m.sent-m.planned))
		}
		late = append(late, held-m.planned)
		if held < m.planned {
			r.early++
		}
		if m.arrived < m.sent-slack || m.left < m.arrived || m.delivered && m.received < m.left-slack {
			r.disorder++
		}
	}
	slices.Sort(late)
	if len(late) > 0 {
		r.late = time.Duration(late[len(late)/2])
	}
	return r
}

// figures judges the record.
func (r *record) figures(of nullbroker.Law) []Figure {
	law := of.String()
	all := func(n int) string { return fmt.Sprintf("%s of %s", grouped(int64(n)), grouped(int64(r.messages))) }
	disorder := Exactly(law+": messages with sent ≤ at the broker ≤ handed on ≤ received", all(r.messages), all(r.messages-r.disorder-r.absent))
	disorder.Tolerance = Time(time.Duration(clockSlack())) + " a step, for the clocks of two processes"
	figures := []Figure{
		Exactly(law+": messages that were delivered, once", all(r.messages), all(r.delivered)),
		Exactly(law+": messages that are in the broker's log, once", all(r.messages), all(r.messages-r.absent-r.repeated)),
		disorder,
		Exactly(law+": messages that the broker released too early", 0, r.early),
		r.lawful(of),
		{What: law + ": how late the broker released them, at the median", Found: Time(r.late), Verdict: Information},
	}
	if r.messages == 0 {
		figures = append(figures, Exactly(law+": messages", "some", "none"))
	}
	return figures
}

// drawnByChance is the probability of rejecting delays that follow their law.
const drawnByChance = 1e-6

// lawful compares the drawn delays with their law by the largest distance of the two
// distribution functions. For independent draws it exceeds √(ln(2/α)/2n) with a
// probability of at most α (Dvoretzky, Kiefer, Wolfowitz; Massart 1990).
func (r *record) lawful(law nullbroker.Law) Figure {
	n := float64(len(r.drawn))
	bound := math.Sqrt(math.Log(2/drawnByChance) / (2 * max(1, n)))
	sorted := slices.Sorted(slices.Values(r.drawn))
	distance := 0.0
	for i, d := range sorted {
		if i+1 < len(sorted) && sorted[i+1] == d {
			continue
		}
		distance = max(distance, math.Abs(float64(i+1)/n-law.CDF(time.Duration(d))))
	}
	f := Figure{What: law.String() + ": max|F̂−F| of the delays that were drawn", Expected: "0", Found: fmt.Sprintf("%.4f", distance),
		Tolerance: fmt.Sprintf("%.4f, for chance", bound), Verdict: Passed}
	if distance > bound || n == 0 {
		f.Verdict = Failed
	}
	return f
}

// shuffles is the number of permutations of the delays. If the delays depended on the
// rest, or the figures were not those of these messages, a percentile would lie outside
// all results. By chance it does in 2 of 100 cases, most of them within the tolerance.
const shuffles = 99

// outcomes are the lowest, median and highest value of a percentile over all
// permutations, ns.
type outcomes struct{ low, middle, high float64 }

// shuffled returns the outcomes by percentile. Its random numbers have a fixed seed: the
// same record gives the same outcomes.
func (r *record) shuffled() map[result.Percentile]outcomes {
	if r.outcomes != nil || len(r.drawn) == 0 {
		return r.outcomes
	}
	chance := rand.New(rand.NewPCG(1, 2))
	drawn, sums := slices.Clone(r.drawn), make([]float64, len(r.drawn))
	found := map[result.Percentile][]float64{}
	for range shuffles {
		chance.Shuffle(len(drawn), func(i, j int) { drawn[i], drawn[j] = drawn[j], drawn[i] })
		for i, rest := range r.beside {
			sums[i] = drawn[i] + rest
		}
		slices.Sort(sums)
		for _, label := range result.Percentiles() {
			found[label] = append(found[label], quantile(sums, share(label)))
		}
	}
	r.outcomes = map[result.Percentile]outcomes{}
	for label, f := range found {
		slices.Sort(f)
		r.outcomes[label] = outcomes{f[0], quantile(f, 0.5), f[len(f)-1]}
	}
	return r.outcomes
}

// quantile is the nearest rank of sorted values; 0 of none.
func quantile(sorted []float64, p float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, max(0, int(math.Ceil(p*float64(len(sorted))-1e-9))-1))]
}

// lawTolerance is the share by which a percentile may lie beyond the range of chance,
// in addition to [record.late]. The histograms' resolution is a twentieth of it. Most of
// it allows for effects of a delay on the rest of its message's time, such as a
// processor that enters a sleep state meanwhile.
const lawTolerance = 0.02

// bounds returns the range of a percentile, ns. The broker's lateness depends on the
// delay: a message that is due before the broker could sleep is not late. A random
// permutation ignores that, so the range is extended by the median lateness in the
// broker's log.
func (r *record) bounds(o outcomes) (low, high float64) {
	return (1-lawTolerance)*o.low - float64(r.late), (1+lawTolerance)*o.high + float64(r.late)
}

// lawPercentiles returns the percentiles that are compared if the sample supports them.
func lawPercentiles() []result.Percentile {
	return []result.Percentile{result.P50, result.P75, result.P90, result.P99, result.P999, result.P9999}
}

// judgeLaw compares a run's service times with the record.
func judgeLaw(run *result.Run, law nullbroker.Law, t lawTrial, r *record) []Figure {
	d, x := run.Summary.Histograms[result.DeliveryService], run.Metrics[result.DeliveryService]
	if d == nil || x == nil {
		return []Figure{Exactly(law.String()+": deliveries that were timed", "some", "none")}
	}
	var figures []Figure
	for _, label := range lawPercentiles() {
		x, ok := d.At(label)
		have := x.Value
		o, known := r.shuffled()[label]
		if !ok || !known {
			continue
		}
		low, high := r.bounds(o)
		f := Figure{What: fmt.Sprintf("%s: delivery.service p%s", law, label), Expected: Time(time.Duration(o.middle)), Found: Time(time.Duration(have)),
			Tolerance: fmt.Sprintf("%s to %s", Time(time.Duration(low)), Time(time.Duration(high))), Verdict: Passed}
		if float64(have) < low || float64(have) > high {
			f.Verdict = Failed
		}
		figures = append(figures, f)
	}
	if len(figures) == 0 {
		figures = append(figures, Exactly(law.String()+": percentiles that could be matched", "some", "none"))
	}
	if t.rare > 0 {
		figures = append(figures, judgeRare(law, t.rare, r, histograms.RanksOf(x.Hist), d.Max)...)
	}
	return figures
}

// judgeRare counts the messages above a rare delay's half: they must be those with a rare
// delay and those with as slow a transport, and the longest must be the maximum.
func judgeRare(law nullbroker.Law, above time.Duration, r *record, index *histograms.RankIndex, slowest int64) []Figure {
	n, more, longest := 0, 0, 0.0
	for i, delay := range r.drawn {
		whole := delay + r.beside[i]
		switch {
		case delay > float64(above):
			n++
		case whole > float64(above):
			more++
		}
		longest = max(longest, whole)
	}
	figures := []Figure{Exactly(fmt.Sprintf("%s: messages slower than %s, %d for another reason than the delay", law, Time(above), more),
		int64(n+more), index.CountAbove(int64(above)))}
	if n == 0 {
		return append(figures, Exactly(law.String()+": delays that occurred", "some", "none"))
	}
	f := Figure{What: law.String() + ": the longest delivery.service", Expected: Time(time.Duration(longest)), Found: Time(time.Duration(slowest)),
		Tolerance: fmt.Sprintf("%.0f %%", 100*lawTolerance), Verdict: Passed}
	if math.Abs(float64(slowest)-longest) > lawTolerance*longest {
		f.Verdict = Failed
	}
	return append(figures, f)
}
