package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sixnines/driver"
	"sixnines/drivers/mem"
	"sixnines/internal/integrity"
	"sixnines/internal/judge"
	"sixnines/result"
)

// keptLoad is a load whose broker keeps what it takes, with more of the driver's options.
func keptLoad(workload, options string) string {
	return "name: kept\nphases: {warmup: 100ms, duration: 1s, drain: 500ms, read_back: 10s}\nworkload: " + workload +
		"\ntarget: {driver: mem, options: {ack: broker, keep: true, " + options + "}}\n"
}

// What was not delivered is kept or lost, exactly, by messages that a driver is told to lose, to
// withhold and to forget; and the instants of their acknowledgements are exact.
func TestReadBack(t *testing.T) {
	const ackDelay = 3 * time.Millisecond
	for _, groups := range []int64{1, 2} {
		r := measureVirtually(t, keptLoad(fmt.Sprintf("{rate: 1000/s, consumers: %d, groups: %d, arrivals: constant}", groups, groups),
			"lose: 3, lose_acked: 7, withhold: 5, forget: 4, nack: 6, misreport: 2, after: 100, every: 9, ack_delay: "+ackDelay.String()), mem.Entry())
		b, n := r.ReadBack, r.Counters
		if b == nil || b.Outcome != result.ReadBackDone || !b.Whole || !b.Decided() {
			t.Fatalf("%+v", b)
		}
		for _, x := range []struct {
			name      string
			got, want int64
		}{
			{"kept", b.Kept, 5 * groups}, {"lost", b.LostAcked, 7 * groups}, {"not answered and gone", b.GoneUnknown, 3 * groups},
			{"not answered and kept", b.KeptUnknown, 0}, {"refused and gone", b.GoneRefused, 6 * groups}, {"refused and kept", b.KeptRefused, 0},
			{"in the log", b.InLog, n.Acked - 7 - 4}, {"not in the log", b.NotInLog, 7 + 4},
			{"ranges of lost ones", b.Lost.Count, 7 * groups}, {"ranges of gone ones", b.Gone.Count, 7 + 4},
			{"counted as lost", n.LostAcked, 7 * groups}, {"counted as undelivered", n.Undelivered, 5 * groups},
		} {
			if x.got != x.want {
				t.Errorf("%d groups: %s: %d, want %d", groups, x.name, x.got, x.want)
			}
		}
		var ranged, slotted int64
		for _, x := range b.Lost.Ranges {
			ranged += x.Count()
			// The warm-up has 100 messages, whose numbers come first.
			if want := (int64(x.From)-100)*int64(time.Millisecond) + int64(ackDelay); x.First != want {
				t.Errorf("message %d was acknowledged at %d, not at %d", x.From, x.First, want)
			}
		}
		for _, s := range b.Lost.Slots {
			slotted += s.Count
		}
		if ranged != b.Lost.Count || slotted != b.Lost.Count {
			t.Errorf("%d lost ones in ranges and %d in slots, of %d", ranged, slotted, b.Lost.Count)
		}
		if all, first, last := b.Lost.Within(0, 1<<62); all != b.Lost.Count || first != b.Lost.First || last != b.Lost.Last {
			t.Errorf("%d of them from %d to %d, and by the record from %d to %d", all, first, last, b.Lost.First, b.Lost.Last)
		}
	}
}

// Without consumers every message is read back.
func TestReadBackWithoutConsumers(t *testing.T) {
	b := measureVirtually(t, keptLoad("{rate: 1000/s, pattern: publish, producers: 3, topics: 3}", "lose: 3, lose_acked: 7, after: 100, every: 9"), mem.Entry()).ReadBack
	if b.Kept != 1000-3-7 || b.LostAcked != 7 || b.GoneUnknown != 3 || b.InLog != b.Kept || b.NotInLog != 7 || b.Lost.Count != 7 || b.Gone != nil || len(b.Places) != 3 {
		t.Errorf("%+v", b)
	}
}

// Messages of other runs and of programs that are not this one change nothing but their own count.
func TestReadBackOfPlacesWithOthersMessages(t *testing.T) {
	const n = 50
	e := mem.Entry()
	e.Driver = &reader{Driver: e.Driver, strangers: n}
	b := measureVirtually(t, keptLoad("{rate: 1000/s, groups: 1}", "lose_acked: 7, withhold: 5, after: 100, every: 9"), e).ReadBack
	if b.Outcome != result.ReadBackDone || b.Foreign != 2*n || b.Corrupted != 0 || b.Duplicated != 0 || b.LostAcked != 7 || b.Kept != 5 {
		t.Errorf("%+v", b)
	}
}

// Each workload has what is its own: what another one lost, or keeps, is not in its accounts.
func TestReadBackOfWorkloads(t *testing.T) {
	r := measureVirtually(t, `
phases: {warmup: 100ms, duration: 1s, drain: 500ms, read_back: 10s}
target: {driver: mem, options: {ack: broker, keep: true, lose_acked: 7, lose: 3, after: 100, every: 9}}
workloads:
  first: {pattern: publish, rate: 1000/s, producers: 2, topics: 2}
  second: {pattern: publish, rate: 400/s}
`, mem.Entry())
	for i, due := range []int64{1000, 400} { // the driver does to each what it is told
		b := r.Parts()[i].ReadBack
		if b.Outcome != result.ReadBackDone || b.Foreign != 0 || b.LostAcked != 7 || b.GoneUnknown != 3 || b.Kept != due-7-3 {
			t.Errorf("%d: %+v", i, b)
		}
	}
}

// A broker that is away at the end is waited for; one that stays away, or that breaks off, leaves
// it undecided what is lost.
func TestReadBackFromABrokerThatIsAway(t *testing.T) {
	for _, tt := range []struct {
		name    string
		reader  *reader
		outcome result.ReadBackOutcome
		lost    int64
		why     string
	}{
		{"for a while", &reader{away: 3}, result.ReadBackDone, 7, ""},
		{"for good", &reader{away: 1 << 30}, result.ReadBackFailed, 0, "no longer than 10s"},
		{"stays down, as is known", &reader{away: 1 << 30, down: errors.New("no node is running")}, result.ReadBackFailed, 0, "no node is running"},
		{"breaks off", &reader{breaks: 2}, result.ReadBackDone, 7, ""},
		{"always breaks off", &reader{breaks: 1 << 30}, result.ReadBackFailed, 0, "broken off"},
		{"has no place at first", &reader{absent: 2}, result.ReadBackDone, 7, ""},
		{"has lost the place", &reader{absent: 1 << 30}, result.ReadBackDone, 12, ""},
		{"refuses", &reader{refuses: true}, result.ReadBackFailed, 0, "not authorised"},
		{"keeps nothing", &reader{none: true}, result.ReadBackNothingKept, 0, "unsupported"},
	} {
		e := mem.Entry()
		tt.reader.Driver = e.Driver
		e.Driver = tt.reader
		text := keptLoad("{rate: 1000/s, groups: 1}", "lose_acked: 7, withhold: 5, after: 100, every: 9")
		r := inVirtualTime(t, Config{Scenario: parse(t, text), Entry: e, Down: func() error { return tt.reader.down }})
		b := r.ReadBack
		if took := time.Duration(b.To - b.From); tt.reader.down != nil && took > time.Second {
			t.Errorf("%s: it is waited for %s", tt.name, took)
		}
		if b.Outcome != tt.outcome || b.LostAcked != tt.lost || b.Decided() != (tt.outcome == result.ReadBackDone) || !strings.Contains(b.Why, tt.why) || (b.Why == "") != b.Decided() {
			t.Errorf("%s: %+v", tt.name, b)
		}
		// What came before a reading broke off was kept.
		if !b.Decided() && b.Unread != 12-b.Kept || b.Kept != 0 && tt.reader.breaks == 0 && !b.Decided() {
			t.Errorf("%s: %+v", tt.name, b)
		}
		if problems := judge.Verify(r, r.Header.Tool); len(problems) > 0 {
			t.Errorf("%s: %v", tt.name, problems)
		}
	}
}

// reader is a driver with a broker that is hard to read back: the first session is the load's.
type reader struct {
	driver.Driver
	away, breaks, absent int    // attempts that fail
	refuses, none        bool   // all of them do
	removed, atMostOnce  bool   // what is not there may have been removed, or handed out
	silence              bool   // the broker names no end
	partitions           int    // of the place
	withdraws            int    // of the newest messages, how many only the first attempt reads
	copy                 string // whose copy is read
	notAskable           driver.NotAskable
	drops, undercounts   int  // how many of the oldest a limit has removed, and how many fewer the broker counts
	uncounted            bool // it counts none
	replicas             []driver.Replica
	strangers            int   // messages of others, of each of two sorts, in each place
	down                 error // why it stays away, as the caller of the run knows
	opened               atomic.Int32
}

func (d *reader) Open(ctx context.Context, t driver.Target) (driver.Session, error) {
	n := int(d.opened.Add(1))
	switch {
	case n == 1:
	case d.refuses:
		return nil, driver.ErrUnauthorized
	case n-1 <= d.away:
		return nil, driver.ErrNotConnected
	}
	s, err := d.Driver.Open(ctx, t)
	return readerSession{s, d, n - 1}, err
}

type readerSession struct {
	driver.Session
	of      *reader
	attempt int
}

func (s readerSession) Places(t driver.Topology) ([]driver.Place, error) {
	if s.of.none {
		return nil, driver.ErrUnsupported
	}
	all, err := s.Session.(driver.BackReader).Places(t)
	for i := range all {
		all[i].AtMostOnce = s.of.atMostOnce
	}
	return all, err
}

func (s readerSession) ReadBack(ctx context.Context, p driver.Place, take driver.Take) (driver.Reading, error) {
	if s.attempt <= s.of.absent {
		return driver.Reading{}, driver.ErrNoTopic
	}
	var all []driver.Kept
	found, err := s.Session.(driver.BackReader).ReadBack(ctx, p, func(k driver.Kept) {
		k.Position = int64(len(all))
		k.Partition = len(all) % max(1, s.of.partitions)
		all = append(all, k)
	})
	if s.attempt > 1 {
		all = all[:len(all)-s.of.withdraws]
	}
	drops := min(s.of.drops, len(all))
	for _, k := range all[drops:] {
		take(k)
	}
	for i := range s.of.strangers {
		other := slices.Clone(all[i].Payload)
		var e integrity.Envelope
		e.Get(other, false)
		e.Run++
		e.Put(other, integrity.BodySum(other))
		take(driver.Kept{Payload: other})
		take(driver.Kept{Payload: []byte("of others")})
	}
	found.Messages, found.Removed = int64(len(all)-drops), s.of.removed || drops > 0
	if drops > 0 && !s.of.uncounted {
		found.Dropped = int64(drops - s.of.undercounts)
	}
	found.Copy, found.NotAskable = s.of.copy, s.of.notAskable
	if s.of.silence {
		found.Until = driver.ReadToSilence
	}
	if s.attempt <= s.of.breaks {
		err = errors.New("broken off")
	}
	return found, err
}

// Replicas implements driver.ReplicaReader.
func (s readerSession) Replicas(context.Context, driver.Place) ([]driver.Replica, error) {
	if s.of.replicas == nil {
		return nil, driver.ErrUnsupported
	}
	return s.of.replicas, nil
}

// ReadReplica implements driver.ReplicaReader: a copy lacks as many of the newest messages as its Lag says.
func (s readerSession) ReadReplica(ctx context.Context, p driver.Place, r driver.Replica, take driver.Take) (driver.Reading, error) {
	if r.Lag < 0 {
		return driver.Reading{}, driver.ErrNotConnected
	}
	var all []driver.Kept
	found, err := s.Session.(driver.BackReader).ReadBack(ctx, p, func(k driver.Kept) { all = append(all, k) })
	for i, k := range all[:max(0, len(all)-int(r.Lag))] {
		if r.Partitions == nil || slices.Contains(r.Partitions, i%max(1, s.of.partitions)) {
			take(k)
		}
	}
	return found, err
}

// What the broker may have removed by itself, or have handed out, is not known to be lost, and neither is
// what is not there when no end was named.
func TestReadBackDecidesNothingThatCouldBeOtherwise(t *testing.T) {
	for _, tt := range []struct {
		name            string
		reader          *reader
		removed, unread int64
	}{
		{"a limit", &reader{removed: true}, 7, 0},
		{"at most once", &reader{atMostOnce: true}, 7, 0},
		{"no end", &reader{silence: true}, 0, 7 + 3},
	} {
		e := mem.Entry()
		tt.reader.Driver = e.Driver
		e.Driver = tt.reader
		r := measureVirtually(t, keptLoad("{rate: 1000/s, groups: 1}", "lose: 3, lose_acked: 7, withhold: 5, after: 100, every: 9"), e)
		b := r.ReadBack
		if b.Removed != tt.removed || b.Unread != tt.unread || b.LostAcked != 0 || b.Kept != 5 || b.GoneUnknown != 3 && tt.unread == 0 || b.Decided() || b.Lost != nil {
			t.Errorf("%s: %+v", tt.name, b)
		}
		if tt.removed > 0 && (r.Counters.LostAcked != 0 || r.Counters.Undelivered != 7+5) {
			t.Errorf("%s: %+v", tt.name, r.Counters)
		}
		if problems := judge.Verify(r, r.Header.Tool); len(problems) > 0 {
			t.Errorf("%s: %v", tt.name, problems)
		}
	}
}

// A copy that is behind is told from messages that are lost, whether it is read or names its end, and so is
// one that does not answer.
func TestReadBackOfReplicas(t *testing.T) {
	e := mem.Entry()
	d := &reader{Driver: e.Driver, replicas: []driver.Replica{
		{Name: "a", Leader: true, Answer: driver.ReplicaContents},
		{Name: "b", Answer: driver.ReplicaContents, Lag: 200},
		{Name: "c", Answer: driver.ReplicaContents, Lag: -1},
		{Name: "d", Answer: driver.ReplicaEnds, Ends: map[int]int64{0: 600}},
		{Name: "e", Answer: driver.ReplicaEnds, Ends: map[int]int64{1: 600}},
		{Name: "f", Answer: driver.ReplicaLag, Lag: 9},
		{Name: "g", Err: driver.ErrTimeout},
		{Name: "h", NotAskable: driver.NotAskableOffline},
	}}
	e.Driver = d
	r := measureVirtually(t, strings.Replace(keptLoad("{rate: 1000/s, pattern: publish, arrivals: constant}", "lose_acked: 7, begin: window, after: 100, every: 9"), "warmup: 100ms", "warmup: 0s", 1), e)
	b := r.ReadBack
	if len(b.Places) != 1 || b.LostAcked != 7 || !b.Decided() {
		t.Fatalf("%+v", b)
	}
	// The place has what was sent before and after the window, too.
	before, after := int64(0), int64(0)
	kept := b.Kept
	if b.Unmeasured > 0 {
		before = 1 // of the one producer to its topic, see docs/method.md 3.6
		after = b.Unmeasured - before
	}
	want := []result.ReadReplica{
		{Name: "a", Leader: true, Answer: result.ReplicaContents, Has: kept},
		{Name: "b", Answer: result.ReplicaContents, Has: kept - max(0, 200-after), Behind: max(0, 200-after)},
		{Name: "c", NotAskable: result.NotAskableNoAnswer, Error: driver.ErrNotConnected.Error()},
		{Name: "d", Answer: result.ReplicaEnds, Has: 600 - before, Behind: kept - (600 - before)},
		{Name: "e", Answer: result.ReplicaEnds},
		{Name: "f", Answer: result.ReplicaLag, Lag: 9},
		{Name: "g", NotAskable: result.NotAskableNoAnswer, Error: driver.ErrTimeout.Error()},
		{Name: "h", NotAskable: result.NotAskableOffline},
	}
	if got := b.Places[0].Replicas; !slices.Equal(got, want) {
		t.Errorf("%d before and %d after the window:\n%+v\n%+v", before, after, got, want)
	}
}

// A copy is held to the partitions that it has, and where it leads some of them, it is read as a whole.
func TestReadBackOfReplicasByPartition(t *testing.T) {
	e := mem.Entry()
	e.Driver = &reader{Driver: e.Driver, copy: "leader", partitions: 2, replicas: []driver.Replica{
		{Name: "a", Leader: true, Partly: true, Answer: driver.ReplicaContents},
		{Name: "b", Leader: true, Partly: true, Answer: driver.ReplicaContents, Partitions: []int{1}},
		{Name: "c", Answer: driver.ReplicaContents, Partitions: []int{0}, Lag: 200},
	}}
	b := measureVirtually(t, keptLoad("{rate: 1000/s, pattern: publish, arrivals: constant}", "begin: window"), e).ReadBack
	all := b.Places[0].Replicas
	if len(all) != 3 || all[0].Has != b.Kept || all[1].Has != b.Kept/2 || all[2].Has+all[2].Behind != b.Kept/2 || all[0].Behind+all[1].Behind > 0 || all[2].Behind == 0 {
		t.Errorf("of %d: %+v", b.Kept, all)
	}
}

// A place says why its copies were not asked.
func TestReadBackSaysWhyCopiesAreNotAsked(t *testing.T) {
	for _, tt := range []struct {
		reader *reader
		want   result.NotAskable
	}{
		{&reader{replicas: []driver.Replica{}}, result.NotAskableOneCopy},
		{&reader{replicas: []driver.Replica{}, copy: "leader", notAskable: driver.NotAskableLeaderOnly}, result.NotAskableLeaderOnly},
		{&reader{replicas: []driver.Replica{}, copy: "leader"}, result.NotAskableDriver},
		{&reader{copy: "leader"}, result.NotAskableUnknown},
		{&reader{copy: "leader", breaks: 1 << 30}, ""},
	} {
		e := mem.Entry()
		tt.reader.Driver = e.Driver
		e.Driver = tt.reader
		b := measureVirtually(t, keptLoad("{rate: 1000/s}", ""), e).ReadBack
		if p := b.Places[0]; p.NotAskable != tt.want || (p.NoReplicas != "") != (tt.reader.replicas == nil) {
			t.Errorf("%+v: %+v", tt.reader, p)
		}
	}
}

// What a leader had that was replaced while it was read is not kept if its successor does not have it.
func TestReadBackForgetsWhatABrokenReadingSaw(t *testing.T) {
	e := mem.Entry()
	e.Driver = &reader{Driver: e.Driver, breaks: 1, withdraws: 300}
	r := measureVirtually(t, keptLoad("{rate: 1000/s, pattern: publish, arrivals: constant}", ""), e)
	if b := r.ReadBack; b.Outcome != result.ReadBackDone || b.LostAcked == 0 || b.LostAcked+b.Kept != r.Counters.Acked || b.LostAcked > 300 {
		t.Errorf("%+v", b)
	}
}

// Nothing that was acknowledged is known to be lost while nothing of its stream comes: by the counters and by
// the list of what is lost.
func TestNothingOfAStreamComes(t *testing.T) {
	r := measureVirtually(t, "name: silent\nphases: {warmup: 0s, duration: 1s, drain: 500ms}\nworkload: {rate: 1000/s, arrivals: constant}\ntarget: {driver: mem, options: {ack: broker, lose_acked: 2000, every: 1}}\n", mem.Entry())
	if n := r.Counters; n.LostAcked != 0 || n.Undelivered != 1000 || len(r.Lost) != 0 {
		t.Errorf("%d lost, %d undelivered, %v", n.LostAcked, n.Undelivered, r.Lost)
	}
	if problems := judge.Verify(r, r.Header.Tool); len(problems) > 0 {
		t.Error(problems)
	}
}

// Of many ranges the longest are listed, and the first and the last.
func TestReadBackListsRanges(t *testing.T) {
	b := measureVirtually(t, keptLoad("{rate: 10000/s, groups: 1}", "lose_acked: 400, after: 500, every: 20"), mem.Entry()).ReadBack
	if b.LostAcked != 400 || len(b.Lost.Ranges) != result.MostLostRanges || b.Lost.MoreRanges == 0 {
		t.Fatalf("%+v", b.Lost)
	}
	at := func(f func(result.LostRange) int64) (all []int64) {
		for _, r := range b.Lost.Ranges {
			all = append(all, f(r))
		}
		return all
	}
	if slices.Min(at(func(r result.LostRange) int64 { return r.First })) != b.Lost.First || slices.Max(at(func(r result.LostRange) int64 { return r.Last })) != b.Lost.Last {
		t.Errorf("the ranges have neither the first nor the last: %+v", b.Lost)
	}
}

// Messages that a limit has dropped, as the broker counts them, are neither lost nor in doubt; those that are gone from
// between others are lost, once more are gone than were dropped; and where the counts do not show it, it is not known.
func TestReadBackTellsDroppedFromLost(t *testing.T) {
	// Of 300 that are dropped 100 are of the warm-up, and one was sent before it.
	for _, tt := range []struct {
		name          string
		options       string
		reader        *reader
		dropped, lost int64
		removed       int64
	}{
		{"dropped", "", &reader{drops: 300}, 199, 0, 0},
		{"and lost ones between others", "begin: window, lose_acked: 7, after: 500, every: 9, ", &reader{drops: 300}, 199, 7, 0},
		{"the broker does not count", "", &reader{drops: 300, uncounted: true}, 0, 0, 199},
		{"more are gone than it has dropped", "", &reader{drops: 300, undercounts: 50}, 0, 0, 199},
		{"all is gone", "", &reader{drops: 1 << 30}, 1000, 0, 0},
	} {
		e := mem.Entry()
		tt.reader.Driver = e.Driver
		e.Driver = tt.reader
		r := measureVirtually(t, keptLoad("{rate: 1000/s, pattern: publish, arrivals: constant}", tt.options), e)
		b := r.ReadBack
		// A few that were sent before the load are among those that were dropped.
		near := func(got, want int64) bool {
			return got == want || want > 0 && got > want && got < want+5 && tt.reader.drops < 1<<30
		}
		if !near(b.Dropped, tt.dropped) || b.LostAcked != tt.lost || !near(b.Removed, tt.removed) || b.Decided() != (tt.removed == 0) || b.Unread > 0 {
			t.Errorf("%s: %+v", tt.name, b)
		}
		if problems := judge.Verify(r, r.Header.Tool); len(problems) > 0 {
			t.Errorf("%s: %v", tt.name, problems)
		}
	}
}
