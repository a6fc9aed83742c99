package chaos

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"sixnines/scenario"
)

const (
	// longest is how many actions a drawn timeline has at most.
	longest = 24
	// shortest is the least length of an action, and of the time between two.
	shortest = 100 * time.Millisecond
	// lengthy is the greatest length of an action: most clients have given up by then what they ever do.
	lengthy = 15 * time.Second
)

// Bounds are those of a timeline.
type Bounds struct {
	Window time.Duration // of the run, more than 0
	Nodes  int           // of the broker, 1 or more
	// Starting is how long a node takes, once it is started again, until it answers. A later action leaves
	// that time to the nodes that it happens to, and one on connections leaves it to all nodes.
	Starting time.Duration
	// Possible reports whether the run can have these actions. It is asked about each kind alone, and then
	// about timelines.
	Possible func([]scenario.Action) bool
}

// Draw returns a timeline that follows from the seed and the bounds: actions of all kinds that are possible,
// some of them while others last, in the part of the window from a tenth to three quarters, so that
// there is a time before and a time in which the run may recover. It is nil if no kind is possible.
func Draw(seed uint64, b Bounds) []scenario.Action {
	r := rand.New(rand.NewPCG(seed, 0x63_68_61_6f_73)) // "chaos"
	var kinds []func(d *dice) scenario.Action
	for _, k := range draws() {
		one := k(&dice{r: r, Bounds: b, at: b.Window / 4})
		if b.Possible([]scenario.Action{one}) {
			kinds = append(kinds, k)
		}
	}
	if len(kinds) == 0 {
		return nil
	}
	var all []scenario.Action
	at, last := b.Window/10, b.Window*3/4
	for range longest {
		at = (at + max(shortest, b.Window/100) + time.Duration(r.ExpFloat64()*float64(b.Window)/20)).Round(time.Millisecond)
		if at >= last {
			break
		}
		d := &dice{r: r, Bounds: b, at: at, last: last}
		a := kinds[r.IntN(len(kinds))](d)
		if b.starts(all, a) || !b.Possible(append(all[:len(all):len(all)], a)) {
			continue // what it would meet is in its way
		}
		all = append(all, a)
		if r.IntN(3) > 0 { // else the next one may come while it lasts
			at += d.drawn
		}
	}
	return all
}

// margin is how long undoing an action on a node may take where nothing has to start.
func (b Bounds) margin() time.Duration { return max(shortest, min(500*time.Millisecond, b.Window/12)) }

// starts reports whether an action would come while a node that it needs is starting, or is still to start, after an
// earlier one, or while that is being undone.
func (b Bounds) starts(all []scenario.Action, next scenario.Action) bool {
	act := func(a scenario.Action) *scenario.Act {
		s := scenario.Scenario{Actions: []scenario.Action{a}}
		return &s.Acts()[0]
	}
	coming := act(next)
	return slices.ContainsFunc(all, func(a scenario.Action) bool {
		before, starting := act(a), time.Duration(0)
		if a.Restart != nil {
			starting = b.Starting
		}
		one, other := before.Nodes(), coming.Nodes()
		if meet := one == other || one == scenario.EveryNode || other == scenario.EveryNode; one != "" && other != "" && meet {
			return next.At.After < before.End()+max(starting, b.margin())
		}
		return coming.Kind == scenario.ActionDisconnect && a.Restart != nil && next.At.After < before.End()+starting
	})
}

// dice draws the parts of an action.
type dice struct {
	r *rand.Rand
	Bounds
	at    time.Duration // of the action
	last  time.Duration // when it is over at the latest; 0: at any time
	drawn time.Duration // its length; 0: it has none
}

// length draws how long the action lasts: each order of magnitude is as likely as the next.
func (d *dice) length() time.Duration {
	most := min(lengthy, max(2*shortest, d.Window/5))
	if d.last > 0 {
		most = max(shortest, min(most, d.last-d.at))
	}
	ratio := float64(most) / float64(shortest)
	d.drawn = time.Duration(float64(shortest) * math.Pow(ratio, d.r.Float64())).Round(time.Millisecond)
	return d.drawn
}

// nodes draws one node, or all now and then.
func (d *dice) nodes() *scenario.Nodes {
	if d.r.IntN(6) == 0 {
		return &scenario.Nodes{Node: scenario.EveryNode}
	}
	return &scenario.Nodes{Node: scenario.Node(strconv.Itoa(d.r.IntN(d.Nodes)))}
}

// moment is when the action happens.
func (d *dice) moment() scenario.Moment { return scenario.Moment{After: d.at} }
