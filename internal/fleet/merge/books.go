package merge

import (
	"errors"
	"fmt"

	"sixnines/internal/layout"
	"sixnines/internal/numbers"
	"sixnines/result"
	"sixnines/scenario"
)

// books are the ledgers of all agents of a workload, as far as they were read, where messages are sent by one agent and
// received by another. They take a bit or less for each message and delivery group, see package numbers.
type books struct {
	scenario *scenario.Scenario
	whole    *layout.Layout
	agents   []agentBooks // in the order of the segments
	streams  map[int]*streamBook
	groups   []groupBook // by their numbers
	expected int64       // deliveries of what was sent so far, as the intervals have them
}

// agentBooks are what one agent has of the workload.
type agentBooks struct {
	segment  result.Segment
	share    layout.Share
	received map[[2]int]*numbers.Set // by group and stream
	late     map[[2]int]*numbers.Set // likewise: those that came after later ones
	lags     map[int64]int64         // by slot, ns
}

// streamBook is what its sender says of a stream.
type streamBook struct {
	agent                             int // its sender
	first                             uint64
	taken, sent                       int64
	latest                            int64
	acked, refused, rejected, givenUp numbers.Set
	damaged                           map[int]map[uint64]int64 // deliveries, by group and sequence number
}

// groupBook is a delivery group, whose members may be with several agents.
type groupBook struct {
	agents []int // that have members
	newest int64
	ways   int
	// unproven: that later messages came does not prove that one is lost, see [result.GroupEnd].
	unproven bool
	proven   int64 // the least of its members' [result.GroupEnd.Proven]; 0: none has one
}

// newBooks returns the books of a workload; nil: agents receive what they send themselves.
func newBooks(s *scenario.Scenario, agents []*agent) (*books, error) {
	if agents[0].segment().Role == "" {
		return nil, nil
	}
	b := &books{scenario: s, whole: layout.Of(&s.Workload), streams: map[int]*streamBook{}}
	b.groups = make([]groupBook, len(b.whole.Groups))
	for j, a := range agents {
		x := agentBooks{segment: a.segment(), received: map[[2]int]*numbers.Set{}, late: map[[2]int]*numbers.Set{}, lags: map[int64]int64{}}
		var local *layout.Layout
		var err error
		if x.share, local, _, err = layout.DivideRole(&s.Workload, layout.Role(x.segment.Role), x.segment.Part, x.segment.Parts); err != nil {
			return nil, fmt.Errorf("%s: %w", a.path, err)
		}
		for _, g := range local.Groups {
			b.groups[g.Number].agents = append(b.groups[g.Number].agents, j)
		}
		if x.segment.Role == result.RoleProducers {
			for _, st := range local.Streams {
				b.streams[st.Number] = &streamBook{agent: j}
			}
		}
		b.agents = append(b.agents, x)
	}
	return b, nil
}

// add adds what an agent's ledger has of an interval. The error says what is impossible in it.
func (b *books) add(agent int, l *result.Ledger) error {
	if b == nil || l == nil {
		return nil
	}
	for _, x := range l.Sent {
		st := b.streams[x.Stream]
		if st == nil || st.agent != agent || x.Taken < 0 || x.Sent < 0 || x.Sent > x.Taken || x.First >= numbers.Most || uint64(x.Taken) > numbers.Most-x.First {
			return fmt.Errorf("%d messages of stream %d from %d on: %w", x.Taken, x.Stream, x.First, result.ErrFormat)
		}
		st.first, st.taken, st.sent, st.latest = x.First, x.Taken, x.Sent, x.Latest
		for _, s := range []struct {
			into *numbers.Set
			text string
		}{{&st.acked, x.Acked}, {&st.refused, x.Refused}, {&st.rejected, x.Rejected}, {&st.givenUp, x.GivenUp}} {
			if err := union(s.into, s.text); err != nil {
				return err
			}
		}
	}
	mine := &b.agents[agent]
	for _, x := range l.Received {
		if b.streams[x.Stream] == nil || x.Group < 0 || x.Group >= len(b.groups) || mine.segment.Role != result.RoleConsumers {
			return fmt.Errorf("messages of stream %d in group %d: %w", x.Stream, x.Group, result.ErrFormat)
		}
		k := [2]int{x.Group, x.Stream}
		if mine.received[k] == nil {
			mine.received[k], mine.late[k] = &numbers.Set{}, &numbers.Set{}
		}
		if err := errors.Join(union(mine.received[k], x.New), union(mine.late[k], x.Late)); err != nil {
			return err
		}
	}
	for _, x := range l.Damaged {
		st := b.streams[x.Stream]
		if st == nil || x.Group < 0 || x.Group >= len(b.groups) {
			return fmt.Errorf("damaged messages of stream %d in group %d: %w", x.Stream, x.Group, result.ErrFormat)
		}
		if st.damaged == nil {
			st.damaged = map[int]map[uint64]int64{}
		}
		if st.damaged[x.Group] == nil {
			st.damaged[x.Group] = map[uint64]int64{}
		}
		for _, p := range x.Counts {
			st.damaged[x.Group][uint64(p[0])] += p[1]
		}
	}
	for _, x := range l.Groups {
		if x.Group < 0 || x.Group >= len(b.groups) {
			return fmt.Errorf("there is no group %d: %w", x.Group, result.ErrFormat)
		}
		g := &b.groups[x.Group]
		g.newest, g.ways, g.unproven = max(g.newest, x.Newest), g.ways+x.Ways, g.unproven || x.Unproven
		if x.Proven > 0 && (g.proven == 0 || x.Proven < g.proven) {
			g.proven = x.Proven
		}
	}
	for _, p := range l.Lags {
		mine.lags[p[0]] = p[1]
	}
	return nil
}

func union(into *numbers.Set, text string) error {
	s, err := numbers.Parse(text)
	if err != nil {
		return fmt.Errorf("%w: %w", err, result.ErrFormat)
	}
	into.Union(s)
	return nil
}

// deliveries returns how many deliveries of what was sent so far are expected and were not counted yet.
func (b *books) deliveries() int64 {
	d := max(0, b.all()-b.expected) // a send that is refused in the end was counted meanwhile: the count does not fall
	b.expected += d
	return d
}

// all returns how many deliveries of what was sent so far are expected.
func (b *books) all() (n int64) {
	for i, st := range b.streams {
		n += st.sent * int64(b.whole.Streams[i].FanOut)
	}
	return n
}

// reached returns how many messages of the window a sender that was lost sent after its last record, by stream and
// in all: whatever was received had been sent, and all before it. due is how many of a stream's messages
// were due in the window.
func (b *books) reached(agent int, due func(stream int) int64) (extra int64) {
	for i, st := range b.streams {
		if st.agent != agent {
			continue
		}
		for j := range b.agents {
			for k, got := range b.agents[j].received {
				if n, any := got.Highest(); k[1] == i && any && st.taken > 0 && n >= st.first+uint64(st.taken) {
					more := min(int64(n-st.first)+1, due(i)) - st.taken
					if more > 0 {
						st.taken, st.sent, extra = st.taken+more, st.sent+more, extra+more
					}
				}
			}
		}
	}
	return extra
}
