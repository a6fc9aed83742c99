package coordinator

import (
	"context"
	"crypto/rand"
	"math"
	"slices"
	"sync"

	"sixnines/internal/clocksync"
	"sixnines/internal/fleet/wire"
)

// noted is how an agent's clock differs from this one at an instant: by the clocks that are followed, see [tracker].
type noted struct {
	at   int64 // of this monotonic clock
	here int64 // of the clock that is followed here
	raw  bool
	clocksync.Estimate
}

// mostNoted is how many instants are kept until they can be compared. Estimators keep as long a time.
const mostNoted = 32

// Looped is what a check over three clocks found of an agent's: two agents ask each other directly, and what they find is compared
// with what this side finds of both. The fields are those of result.AgentClock.
type Looped struct {
	Loop, Loops  int64
	Open         bool
	contradicted bool // not even what is proved of the three agrees
}

// loops closes loops over this clock and those of two agents. Its methods may be called by several goroutines.
type loops struct {
	mu    sync.Mutex
	ways  []*way // both of each pair
	noted map[int][]noted
	found map[int]*Looped // by index of the member
}

// way is what one agent finds of another one's clock.
type way struct {
	pair, from, to int
	estimator      *clocksync.Estimator // nil: nothing yet
	raw            bool
	newest         int64 // the last exchange, on from's clock
	done           int64 // up to which instant of this clock it was compared
}

// newLoops makes loops over pairs of members.
func newLoops(pairs [][2]int) *loops {
	l := &loops{noted: map[int][]noted{}, found: map[int]*Looped{}}
	for k, p := range pairs {
		l.ways = append(l.ways, &way{pair: k, from: p[0], to: p[1], done: math.MinInt64}, &way{pair: k, from: p[1], to: p[0], done: math.MinInt64})
		l.found[p[0]], l.found[p[1]] = &Looped{}, &Looped{}
	}
	return l
}

// hear takes what an agent found. An agent can only speak of its own pairs.
func (l *loops) hear(member int, told []wire.Told) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range told {
		for _, w := range l.ways {
			if w.pair == t.Pair && w.from == member {
				l.add(w, t)
			}
		}
	}
}

func (l *loops) add(w *way, t wire.Told) {
	if w.estimator == nil {
		w.raw = t.Raw
		w.estimator, _ = clocksync.NewEstimator(following(t.Raw)) // its error is that of another configuration
	}
	if w.raw != t.Raw {
		return // the trackers say that a machine tells no more
	}
	for _, x := range t.All {
		switch w.estimator.Add(clocksync.Exchange{T1: x[0], T2: x[1], T3: x[2], T4: x[3]}) {
		case clocksync.Taken:
			w.newest = x[3]
		case clocksync.Stepped: // which a wider interval may hide from this side
			l.contradict(w)
		}
	}
	l.compare(w)
}

// note takes what this side found of an agent's clock at an instant.
func (l *loops) note(member int, n noted) {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := append(l.noted[member], n)
	l.noted[member] = all[max(0, len(all)-mostNoted):]
	for _, w := range l.ways {
		if w.from == member || w.to == member {
			l.compare(w)
		}
	}
}

func (l *loops) contradict(w *way) {
	l.found[w.from].contradicted, l.found[w.to].contradicted = true, true
}

// compare closes the loop over a way at all instants that are known by now.
func (l *loops) compare(w *way) {
	if w.estimator == nil {
		return
	}
	for _, a := range l.noted[w.from] {
		if a.at <= w.done || a.here+a.Offset > w.newest { // later exchanges are to come
			continue
		}
		for _, b := range l.noted[w.to] {
			if b.at == a.at {
				w.done = a.at
				l.close(w, a, b)
			}
		}
	}
}

// close compares how two clocks differ, as one agent finds it, with what this side finds of both.
func (l *loops) close(w *way, a, b noted) {
	direct, ok := w.estimator.At(a.here + a.Offset)
	if !ok || a.raw != w.raw || b.raw != w.raw {
		return
	}
	apart := direct.Offset - (b.Offset - a.Offset)
	apart = max(apart, -apart)
	// The instants of the three are the same to a's bound and to how far the readings of this side's clock are apart.
	blur := int64(math.Ceil(twoClocks * float64(a.Bound+max(a.here-b.here, b.here-a.here))))
	explained := symmetric(direct) + symmetric(a.Estimate) + symmetric(b.Estimate) + blur
	// A direct way that proves less than what is proved of both says nothing of them: what remains is its own.
	finer := direct.Bound <= a.Bound+b.Bound
	for _, of := range []int{w.from, w.to} {
		f := l.found[of]
		f.Loop, f.Loops, f.Open = max(f.Loop, apart), f.Loops+1, f.Open || finer && apart > explained
	}
	if apart > direct.Bound+a.Bound+b.Bound+blur {
		l.contradict(w)
	}
}

// symmetric is how wrong an estimate is if the ways of its fastest exchanges are as symmetric as is expected.
func symmetric(e clocksync.Estimate) int64 {
	return min(int64(math.Ceil(asymmetry*float64(e.Delay)/2))+e.Queueing, e.Bound)
}

// of returns what was found of a member's clock.
func (l *loops) of(member int) Looped {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f := l.found[member]; f != nil {
		return *f
	}
	return Looped{}
}

// take takes what loops over a clock have shown. Which of three ways is not symmetric they do not say: each clock may be wrong by all of
// what is left over, beside what it is wrong by else.
func (f *Followed) take(l Looped) {
	f.Looped = l
	if l.Open {
		f.Expected = min(f.Expected+l.Loop, f.Proved)
	}
	f.Unknown = f.Unknown || l.contradicted
}

// pairs are the agents that ask each other: neighbours in a ring, each of which has two.
func pairs(members []*member) (all [][2]int) {
	n := len(members)
	for i := range n {
		if next := (i + 1) % n; next > i || n > 2 {
			all = append(all, [2]int{members[i].index, members[next].index})
		}
	}
	return all
}

// meet has agents ask each other's clocks directly, each two of them that find a way.
func (r *run) meet(own context.Context) {
	all := pairs(r.sharing())
	r.loops = newLoops(all)
	within, cancel := context.WithTimeout(own, answerWithin)
	defer cancel()
	failed := make([]error, len(all))
	atOnce(len(all), func(k int) {
		failed[k] = r.meetPair(within, k, r.members[all[k][0]], r.members[all[k][1]])
	})
	if k := slices.IndexFunc(failed, func(err error) bool { return err != nil }); k >= 0 {
		r.say("not all agents ask each other's clock, such as %s and %s: %v", r.members[all[k][0]].Name, r.members[all[k][1]].Name, failed[k])
	}
}

func (r *run) meetPair(ctx context.Context, pair int, first, second *member) error {
	both := []*member{first, second}
	at := make([]string, len(both))
	key := make([]byte, wire.PeerKey)
	rand.Read(key)
	for _, of := range []bool{false, true} {
		for i, m := range both {
			p := &wire.Peer{Run: r.Run, Pair: pair, Second: i == 1}
			if of {
				p.Of, p.Key = at[1-i], key
			}
			text, err := wire.Encode(r.Version, p)
			if err != nil {
				return err
			}
			answer, err := ask(ctx, r.Conn, r.Version, m.ID, wire.RequestPeer, text)
			if err != nil {
				return err
			}
			if !of {
				at[i] = answer.At
			}
		}
	}
	return nil
}
