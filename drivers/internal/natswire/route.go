package natswire

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// route leads from a subscription to its receiver.
type route struct {
	subject string // of the messages; with a dot at its end, what theirs begin with
	*Receiver
}

// leads reports whether messages with the subject are the route's.
func (r *route) leads(subject []byte) bool {
	if n := len(r.subject); n > 0 && r.subject[n-1] == '.' {
		return len(subject) > n && string(subject[:n]) == r.subject
	}
	return r.subject == string(subject)
}

// routeOf returns what the messages of a subscription begin with, or are.
func routeOf(subject string) string {
	if before, ok := strings.CutSuffix(subject, ".*"); ok {
		return before + "."
	}
	return subject
}

// routes holds a link's routes by the numbers that nats.go gives to its
// subscriptions: 1 for the first, then one more each, and the same ones again
// after it has reconnected. A number that is not what it was taken for leads
// nowhere, because the subject does not fit, and nats.go has the message.
//
// find is called for each message and does not wait for changes.
type routes struct {
	mu    sync.Mutex // for changes
	bySID atomic.Pointer[[]*route]
}

// find returns the route of the subscription called sid if it is for this
// subject, else nil.
func (t *routes) find(sid int, subject []byte) *route {
	all := t.bySID.Load()
	if all == nil || sid >= len(*all) {
		return nil
	}
	if r := (*all)[sid]; r != nil && r.leads(subject) {
		return r
	}
	return nil
}

// set leads the subscription called sid to r, or nowhere if that is nil.
func (t *routes) set(sid int, r *route) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []*route
	if old := t.bySID.Load(); old != nil {
		all = slices.Clone(*old)
	}
	if sid >= len(all) {
		if r == nil {
			return
		}
		all = append(all, make([]*route, sid+1-len(all))...)
	}
	all[sid] = r
	t.bySID.Store(&all)
}
