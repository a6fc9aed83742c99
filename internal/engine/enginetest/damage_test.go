package enginetest

import (
	"context"
	"slices"
	"testing"

	"sixnines/driver"
	"sixnines/internal/integrity"
	"sixnines/internal/judge"
	"sixnines/result"
	"sixnines/scenario"
)

// meddling is a driver whose consumers get what meddle makes of each message of the load, by its number.
type meddling struct {
	driver.Driver
	meddle func(consumer int, number uint64, m driver.Message, deliver driver.Deliver)
}

// Open implements driver.Driver.
func (d meddling) Open(ctx context.Context, t driver.Target) (driver.Session, error) {
	s, err := d.Driver.Open(ctx, t)
	return meddlingSession{s, d}, err
}

type meddlingSession struct {
	driver.Session
	of meddling
}

// Consumer implements driver.Session.
func (s meddlingSession) Consumer(ctx context.Context, spec driver.ConsumerSpec, deliver driver.Deliver) (driver.Consumer, error) {
	return s.Session.Consumer(ctx, spec, func(m driver.Message) {
		var e integrity.Envelope
		if e.Get(m.Payload, true) != integrity.Good || e.Kind != integrity.Data {
			deliver(m)
			return
		}
		s.of.meddle(spec.ID, e.Sequence, m, deliver)
	})
}

// damaged returns a message with a bit flipped in its last byte.
func damaged(m driver.Message) driver.Message {
	m.Payload = slices.Clone(m.Payload)
	m.Payload[len(m.Payload)-1] ^= 1
	return m
}

// What came damaged hides no loss: it is found by group and number. Where the number is damaged too it is said how
// many messages may be lost.
func TestDamageHidesNoLoss(t *testing.T) {
	type deliver = driver.Deliver
	both := func(m driver.Message, d deliver) { d(damaged(m)); d(m) }
	numbered := func(m driver.Message, from, to byte, d deliver) {
		m.Payload = slices.Clone(m.Payload)
		m.Payload[16] ^= from ^ to
		d(m)
	}
	for name, tt := range map[string]struct {
		meddle func(consumer int, number uint64, m driver.Message, d deliver)
		want   result.Counters
		most   int64 // lost although acknowledged
	}{
		"damaged and whole": {func(_ int, n uint64, m driver.Message, d deliver) {
			if n == 10 {
				d(damaged(m))
			}
			d(m)
		}, result.Counters{CorruptedCopies: 2, Duplicated: 2}, 0},
		"whole and damaged": {func(_ int, n uint64, m driver.Message, d deliver) {
			d(m)
			if n == 10 {
				d(damaged(m))
			}
		}, result.Counters{CorruptedCopies: 2, Duplicated: 2}, 0},
		"damaged and whole, and another is lost": {func(_ int, n uint64, m driver.Message, d deliver) {
			switch n {
			case 10:
				both(m, d)
			case 20:
			default:
				d(m)
			}
		}, result.Counters{CorruptedCopies: 2, Duplicated: 2, Missing: 2, LostAcked: 2}, 2},
		"damaged twice, and another is lost": {func(_ int, n uint64, m driver.Message, d deliver) {
			switch n {
			case 10:
				d(damaged(m))
				d(damaged(m))
			case 20:
			default:
				d(m)
			}
		}, result.Counters{Corrupted: 2, CorruptedCopies: 2, Duplicated: 2, Missing: 2, LostAcked: 2}, 2},
		"damaged and whole in one group, and lost in the other": {func(consumer int, n uint64, m driver.Message, d deliver) {
			switch {
			case n != 10:
				d(m)
			case consumer == 0:
				both(m, d)
			}
		}, result.Counters{CorruptedCopies: 1, Duplicated: 1, Missing: 1, LostAcked: 1}, 1},
		"with the number of another": {func(_ int, n uint64, m driver.Message, d deliver) {
			if n == 10 {
				numbered(m, 10, 30, d)
				return
			}
			d(m)
		}, result.Counters{Corrupted: 2, CorruptedUnplaced: 2}, 2},
		"with the number of another, and one is lost": {func(_ int, n uint64, m driver.Message, d deliver) {
			switch n {
			case 10:
				numbered(m, 10, 30, d)
			case 20:
			default:
				d(m)
			}
		}, result.Counters{Corrupted: 2, CorruptedUnplaced: 2, Missing: 2, LostAcked: 2}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			r := Verified(t, Load{Change: func(e *driver.Entry) { e.Driver = meddling{e.Driver, tt.meddle} }, Scenario: `
target: {options: {ack: broker, delay: 1ms}}
workload: {rate: 100/s, consumers: 2}
phases: {warmup: 0s, duration: 1s, drain: 500ms}
`})
			c := r.Summary.Counters
			got := result.Counters{Corrupted: c.Corrupted, CorruptedCopies: c.CorruptedCopies, CorruptedUnplaced: c.CorruptedUnplaced,
				Duplicated: c.Duplicated, Missing: c.Missing, LostAcked: c.LostAcked}
			if got != tt.want {
				t.Errorf("%+v, want %+v", got, tt.want)
			}
			if least, most := r.LostAcked(); least != tt.want.LostAcked || most != tt.most {
				t.Errorf("%d to %d are lost, want %d to %d", least, most, tt.want.LostAcked, tt.most)
			}
			lost := judge.Met
			switch {
			case tt.want.LostAcked > 0:
				lost = judge.Missed
			case tt.most > 0:
				lost = judge.Undecided
			}
			for text, want := range map[string]judge.Outcome{"corrupted == 0": judge.Missed, "lost == 0": lost, "lost_acked == 0": lost} {
				o, err := scenario.ParseObjective(text)
				if err != nil {
					t.Fatal(err)
				}
				if d := judge.Decide(r, o); d.Outcome != want {
					t.Errorf("%s: %s (%s), want %s", text, d.Outcome, d.Text, want)
				}
			}
		})
	}
}

// queueing is a driver whose broker keeps messages in queues, which are empty when they are read back: consumers
// have acknowledged all.
type queueing struct{ driver.Driver }

// Open implements driver.Driver.
func (d queueing) Open(ctx context.Context, t driver.Target) (driver.Session, error) {
	s, err := d.Driver.Open(ctx, t)
	return queueingSession{s}, err
}

type queueingSession struct{ driver.Session }

// Places implements driver.BackReader.
func (queueingSession) Places(t driver.Topology) (all []driver.Place, err error) {
	for _, topic := range t.Topics {
		all = append(all, driver.Place{Topic: topic})
	}
	return all, nil
}

// ReadBack implements driver.BackReader.
func (queueingSession) ReadBack(context.Context, driver.Place, driver.Take) (driver.Reading, error) {
	return driver.Reading{Until: driver.ReadToCount}, nil
}

// What a queue has handed out damaged with its number is not known to be lost, though reading back finds it gone.
func TestUnplacedDamageIsNoLossReadBack(t *testing.T) {
	r := Verified(t, Load{Change: func(e *driver.Entry) { e.Driver = queueing{e.Driver} }, Scenario: `
target: {options: {ack: broker, keep: true, delay: 1ms, corrupt: 20, corrupt_where: head}}
workload: {rate: 100/s}
phases: {warmup: 0s, duration: 2s, drain: 500ms, read_back: 5s}
`})
	b, c := r.ReadBack, r.Summary.Counters
	if c.CorruptedUnplaced == 0 || b.LostAcked != c.CorruptedUnplaced || c.Missing != 0 {
		t.Fatalf("%+v, %+v", c, b)
	}
	if least, most := r.LostAcked(); least != 0 || most != b.LostAcked {
		t.Errorf("%d to %d are lost, want 0 to %d", least, most, b.LostAcked)
	}
	for _, reason := range r.Summary.Verdict.Reasons {
		if reason.Code == result.ReasonLostAcked {
			t.Error(reason.Text)
		}
	}
	o, err := scenario.ParseObjective("lost_acked == 0")
	if err != nil {
		t.Fatal(err)
	}
	if d := judge.Decide(r, o); d.Outcome != judge.Undecided {
		t.Errorf("%s: %s", d.Outcome, d.Text)
	}
}

// A damaged copy ends nobody's wait: the drain goes on until what is still on its way has come.
func TestDamagedCopiesDoNotEndTheDrain(t *testing.T) {
	r := Verified(t, Load{Scenario: `
target: {options: {ack: broker, damage_twin: 5, delay: 1ms, slow_after: 195, slow_delay: 300ms}}
workload: {rate: 100/s}
phases: {warmup: 0s, duration: 2s, drain: 2s}
`})
	if c := r.Summary.Counters; c.Received != 200 || c.Missing != 0 || c.CorruptedCopies != 5 || c.Duplicated != 5 || c.Corrupted != 0 {
		t.Errorf("%+v", c)
	}
}
