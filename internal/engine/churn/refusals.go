package churn

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"sixnines/internal/clock"
	"sixnines/internal/engine/plan"
	"sixnines/result"
)

// kind is what events join failures by.
type kind struct {
	doing string // "open a connection"
	class string // of the error
}

// refusals counts failures for events. It is safe for concurrent use.
type refusals struct {
	mu    sync.Mutex
	found map[kind]*result.Event // since the last take
}

// add counts a failure to do something with a connection.
func (r *refusals) add(err error, doing string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := kind{doing, plan.ClassName(err)}
	e := r.found[k]
	if e == nil {
		e = &result.Event{At: clock.Now(), Kind: result.EventConnections, Detail: doing + ": " + err.Error(), Class: k.class}
		if r.found == nil {
			r.found = map[kind]*result.Event{}
		}
		r.found[k] = e
	}
	e.Count++
}

// take returns what was counted, an event for each kind of failure with the text of the first.
func (r *refusals) take() []result.Event {
	r.mu.Lock()
	found := r.found
	r.found = nil
	r.mu.Unlock()
	var all []result.Event
	for _, e := range slices.SortedFunc(maps.Values(found), func(a, b *result.Event) int { return cmp.Compare(a.At, b.At) }) {
		all = append(all, *e)
	}
	return all
}
