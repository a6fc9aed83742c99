// Package mem is a driver whose broker is a value in this process. It has two
// uses. Told to, it loses, duplicates, reorders, corrupts, delays and stalls
// messages, cuts connections and lies, in exact numbers, so that whatever claims to
// notice can be put to the test. And told nothing, it costs so little that it
// shows what the load generator itself costs, see Options.Sync.
//
// A message goes from the sender's thread into the queue of each consumer that
// is to have it, and from there to Deliver on a goroutine of the consumer's.
// Send blocks while one of these queues is full. Consumers of a group take
// turns. Messages in the queue of a consumer that closes are lost, as are messages
// without a subscriber.
package mem

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"sixnines/driver"
)

// Broker is a message broker in this process. Its methods are safe for
// concurrent use.
type Broker struct {
	gate    gate
	packets sync.Pool // of *packet

	changes atomic.Uint64 // of connections, so far

	mu       sync.Mutex
	topics   map[name]*topic
	sessions map[*session]struct{} // that are open
}

// name identifies a topic.
type name struct{ run, topic string }

// New returns a broker without topics.
func New() *Broker { return &Broker{topics: map[name]*topic{}, sessions: map[*session]struct{}{}} }

// Entry describes the driver, with a broker of its own, for a driver.Set.
func Entry() driver.Entry { return New().Entry() }

// Entry describes the driver of this broker for a driver.Set.
func (b *Broker) Entry() driver.Entry {
	options := DefaultOptions()
	return driver.Entry{
		Name:       "mem",
		Summary:    "a broker inside this process that misbehaves as told, to test the tool itself",
		DefaultURL: address,
		Schemes:    []string{scheme},
		InProcess:  true,
		Capabilities: driver.Capabilities{
			Ack:          driver.AckKindNone,
			RequestReply: true,
			Groups:       true,
			FanOut:       true,
			OwnsDialing:  true,
			Ordered:      true,
			Reconnects:   true,
		},
		Options: &options,
		Driver:  driver.New(options, b.newSession, (*session).greet),
	}
}

// Freeze makes the broker stand still: nothing is delivered, acknowledged or
// answered any more, though what is under way to Deliver or Done as Freeze is
// called may still get there. Each Freeze needs a [Broker.Thaw] of its own.
func (b *Broker) Freeze() { b.gate.freeze() }

// Thaw takes one [Broker.Freeze] back. It panics if the broker is not frozen.
func (b *Broker) Thaw() { b.gate.thaw() }

// Topics returns the names of the topics that the run has at the broker,
// sorted.
func (b *Broker) Topics(run string) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var names []string
	for n := range b.topics {
		if n.run == run {
			names = append(names, n.topic)
		}
	}
	slices.Sort(names)
	return names
}

const (
	scheme  = "mem"
	address = scheme + "://" // the whole of it
)

func (b *Broker) newSession(t driver.Target, o Options) (*session, error) {
	switch {
	case t.URL != "" && t.URL != address:
		return nil, fmt.Errorf("mem: open %q: %w: the only broker is the one in this process, %q", t.URL, driver.ErrOption, address)
	case t.TLS != nil:
		return nil, fmt.Errorf("mem: tls: %w: there are no connections to protect; leave tls out", driver.ErrUnsupported)
	case strings.TrimSpace(t.Run) == "":
		return nil, fmt.Errorf("mem: run %q: %w: it needs a name", t.Run, driver.ErrUnsupported)
	}
	wait := t.Wait
	if wait == nil {
		wait = waitByTimer
	}
	notify := t.Notify
	if notify == nil {
		notify = func(driver.Event) {}
	}
	s := &session{broker: b, run: t.Run, options: o, wait: wait, notify: notify, plan: newPlan(&o), parts: map[part]struct{}{}, stall: newStall(b, &o, wait)}
	s.outages = newOutages(s, &o)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sessions[s] = struct{}{}
	return s, nil
}
