package mem

import (
	"slices"
	"sync/atomic"
)

// topic is a place to which messages are sent. Who gets them changes under the
// broker's lock and is read without.
type topic struct {
	owner  *session                 // whose Deprovision removes it; guarded by the broker's mu
	routes atomic.Pointer[[]target] // nil: the topic has been removed
	log    *log                     // what is kept; nil: nothing is
}

// target is a delivery group: one consumer by itself, or several who take
// turns.
type target struct {
	group   string // empty: a subscriber of its own
	members []*consumer
	turn    *atomic.Uint64
}

// pick returns the member whose turn it is.
func (t *target) pick() *consumer {
	if len(t.members) == 1 {
		return t.members[0]
	}
	return t.members[t.turn.Add(1)%uint64(len(t.members))]
}

func newTopic(owner *session) *topic {
	t := &topic{owner: owner}
	if owner.options.Keep {
		t.log = new(log)
	}
	t.routes.Store(new([]target))
	return t
}

// add makes c a member of the group. The broker's mu is held.
func (t *topic) add(c *consumer, group string) {
	routes := slices.Clone(*t.routes.Load())
	i := -1
	if group != "" {
		i = slices.IndexFunc(routes, func(r target) bool { return r.group == group })
	}
	if i < 0 {
		routes = append(routes, target{group: group, members: []*consumer{c}, turn: new(atomic.Uint64)})
	} else {
		routes[i].members = append(slices.Clone(routes[i].members), c)
	}
	t.routes.Store(&routes)
}

// remove takes c out. The broker's mu is held.
func (t *topic) remove(c *consumer) {
	old := t.routes.Load()
	if old == nil {
		return
	}
	var routes []target
	for _, r := range *old {
		r.members = slices.DeleteFunc(slices.Clone(r.members), func(m *consumer) bool { return m == c })
		if len(r.members) > 0 {
			routes = append(routes, r)
		}
	}
	t.routes.Store(&routes)
}
