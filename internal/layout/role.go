package layout

import (
	"fmt"

	"sixnines/scenario"
)

// Role is what an agent of a fleet does where messages are sent by one agent and received by another.
type Role string

// The roles.
const (
	Producing Role = "producers" // it has producers, and no consumers
	Consuming Role = "consumers" // it has consumers, and no producers
)

// DivideRole returns what agent k of the n that have a role, 0 ≤ k < n, has of a workload, the layout of that, and the
// workload that it runs then: it only publishes, or has consumers alone. The layout has all topics under the
// numbers that they have in the whole. A producing agent has no groups, and of streams its producers' own. A consuming
// agent has all streams, and the groups of which it has members; their other members may be with other
// agents. The error says what of the workload cannot be divided in this way.
func DivideRole(w *scenario.Workload, role Role, k, n int) (Share, *Layout, *scenario.Workload, error) {
	if k < 0 || n < 1 || k >= n {
		return Share{}, nil, nil, fmt.Errorf("there is no part %d of %d", k+1, n)
	}
	if err := Crosses(w); err != nil {
		return Share{}, nil, nil, err
	}
	whole, local := Of(w), *w
	local.Producers, local.Consumers = 0, 0
	s := Share{Topics: make([]int, w.Topics)}
	for t := range s.Topics {
		s.Topics[t] = t
	}
	switch role {
	case Producing:
		if w.Producers < n {
			return Share{}, nil, nil, fmt.Errorf("%d agents need at least %d producers (the workload has %d): give --producers %d or fewer agents", n, n, w.Producers, n)
		}
		for p, to := part(w.Producers, k, n); p < to; p++ {
			s.Producers = append(s.Producers, p)
		}
		local.Producers, local.Pattern = len(s.Producers), scenario.Publish
		local.Connections.Producers = portion(w.Connections.Producers, k, n)
		return s, whole.producing(s.Producers), &local, nil
	case Consuming:
		if w.Consumers < n {
			return Share{}, nil, nil, fmt.Errorf("%d agents need at least %d consumers (the workload has %d): give --consumers %d or fewer agents", n, n, w.Consumers, n)
		}
		from, to := part(w.Consumers, k, n)
		for c := range w.Consumers {
			// Members of a group are dealt out, so that each agent has some of each group if there are enough.
			if w.Groups > 0 && dealt(w, c, n) == k || w.Groups == 0 && from <= c && c < to {
				s.Consumers = append(s.Consumers, c)
			}
		}
		if len(s.Consumers) == 0 {
			return Share{}, nil, nil, fmt.Errorf("%d consumers in %d groups leave one of %d agents without a consumer: let the number of agents divide them", w.Consumers, w.Groups, n)
		}
		local.Consumers = len(s.Consumers)
		local.Connections.Consumers = portion(w.Connections.Consumers, k, n)
		return s, whole.consuming(s.Consumers), &local, nil
	}
	return Share{}, nil, nil, fmt.Errorf("an agent has one of the roles %s and %s, and not %q", Producing, Consuming, role)
}

// dealt returns the agent, of n, of a consumer of a workload with groups. Where a group has fewer members than there are
// agents, groups begin with different agents.
func dealt(w *scenario.Workload, c, n int) int {
	member, group := c/w.Groups, c%w.Groups
	each := w.Consumers / w.Groups
	if each >= n {
		return member % n
	}
	return (member + group*max(1, each)) % n
}

// Crosses says why messages of a workload cannot be sent by one agent and received by another; nil: they can.
func Crosses(w *scenario.Workload) error {
	const local = "; leave fleet out, so that each agent has whole topics"
	switch {
	case w.Pattern != scenario.Deliver:
		return fmt.Errorf("agents with roles carry workload.pattern deliver, and not %s%s", w.Pattern, local)
	case w.Loop == scenario.Closed:
		return fmt.Errorf("a closed loop waits for deliveries, which another agent receives%s", local)
	case w.Rate.IsMax():
		return fmt.Errorf("rate: max has no schedule, from which what another agent did not receive could be accounted for%s", local)
	case w.Existing != "" || w.Retains():
		return fmt.Errorf("agents with roles make their topics for one run: leave workload.existing and workload.lifetime out")
	}
	return nil
}

// producing returns the part of the layout that has these producers, ascending, and no consumers.
func (l *Layout) producing(producers []int) *Layout {
	p := &Layout{Topics: l.Topics, GroupNames: l.GroupNames}
	for i, of := range producers {
		var ids []int
		for _, id := range l.ByProducer[of] {
			st := l.Streams[id]
			st.Producer, st.FanOut = i, 0
			ids = append(ids, len(p.Streams))
			p.Streams = append(p.Streams, st)
		}
		p.ByProducer = append(p.ByProducer, ids)
	}
	return p
}

// consuming returns the part of the layout that has these consumers, ascending, and their groups.
func (l *Layout) consuming(consumers []int) *Layout {
	p := &Layout{Topics: l.Topics, GroupNames: l.GroupNames, Streams: append([]Stream(nil), l.Streams...), ByProducer: l.ByProducer}
	index := map[int]int{}
	for _, i := range consumers {
		c := l.Consumers[i]
		g, known := index[c.Group]
		if !known {
			g = len(p.Groups)
			index[c.Group] = g
			group := l.Groups[c.Group]
			group.members = 0
			p.Groups = append(p.Groups, group)
		}
		p.Groups[g].members++
		c.Group = g
		p.Consumers = append(p.Consumers, c)
	}
	for i := range p.Streams { // which other groups a message goes to, the agent does not see
		p.Streams[i].FanOut = 1
	}
	return p
}
