package mqtt

import (
	"sync"

	"sixnines/driver"
)

// entry is a message in flight.
type entry struct {
	acks  driver.Acks // nil: none
	token uint64
}

// flight holds the messages of a connection that are in flight, by numbers that are
// reused. If the driver assigns packet identifiers, the numbers are these. There are so
// few of them that a message which is never answered must not block later ones, as it
// would in kit.Unanswered. flight is safe for concurrent use.
type flight struct {
	limit int          // largest number of messages in flight
	flush func() error // called before a sender waits; nil: nothing is collected

	mu      sync.Mutex // guards the fields below
	room    sync.Cond  // signalled when a message is resolved, and at the end
	ended   bool
	entries []entry           // by number − 1
	free    []uint16          // numbers of unused entries
	n       int               // entries in use
	emptied chan struct{}     // closed when no entry is in use; nil: no goroutine waits
	given   map[uint16]uint16 // from packet identifiers of a client library to numbers
}

func (f *flight) init(limit int, flush func() error) {
	f.limit, f.flush, f.given = limit, flush, map[uint16]uint16{}
	f.room.L = &f.mu
}

// reserve adds a message and returns its number. If the limit is reached, it flushes what is
// collected and waits until a message is resolved.
func (f *flight) reserve(acks driver.Acks, token uint64) (uint16, error) {
	f.mu.Lock()
	if f.n >= f.limit && !f.ended && f.flush != nil {
		f.mu.Unlock()
		if err := f.flush(); err != nil {
			return 0, err
		}
		f.mu.Lock()
	}
	defer f.mu.Unlock()
	for f.n >= f.limit && !f.ended {
		f.room.Wait()
	}
	if f.ended {
		return 0, driver.ErrNotConnected
	}
	return f.add(entry{acks, token}), nil
}

// add adds a message. mu is held.
func (f *flight) add(e entry) (number uint16) {
	if n := len(f.free); n > 0 {
		number, f.free = f.free[n-1], f.free[:n-1]
	} else {
		f.entries = append(f.entries, entry{})
		number = uint16(len(f.entries))
	}
	f.entries[number-1] = e
	f.n++
	return number
}

// remove takes out a message. mu is held.
func (f *flight) remove(number uint16) (entry, bool) {
	if number == 0 || int(number) > len(f.entries) || f.entries[number-1].acks == nil {
		return entry{}, false
	}
	e := f.entries[number-1]
	f.entries[number-1] = entry{}
	f.free = append(f.free, number)
	if f.n--; f.n == 0 {
		f.tell()
	}
	f.room.Signal()
	return e, true
}

// tell signals that nothing is in flight. mu is held.
func (f *flight) tell() {
	if f.emptied != nil {
		close(f.emptied)
		f.emptied = nil
	}
}

// release removes a message; false: no message has the number.
func (f *flight) release(number uint16) (entry, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.remove(number)
}

// settle resolves the message with the number, if it is there.
func (f *flight) settle(number uint16, err error) {
	if e, ok := f.release(number); ok {
		e.acks.Done(e.token, err)
	}
}

// put adds a message to which a client library has given the packet identifier, and
// which it has let wait.
func (f *flight) put(id uint16, e entry) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.given[id] = f.add(e)
}

// take takes out a message that put has added; false: it is not there.
func (f *flight) take(id uint16) (entry, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	number := f.given[id]
	delete(f.given, id)
	return f.remove(number)
}

// empty returns what is closed when nothing is in flight, nil if nothing is.
func (f *flight) empty() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.n == 0 {
		return nil
	}
	if f.emptied == nil {
		f.emptied = make(chan struct{})
	}
	return f.emptied
}

// over reports whether end was called.
func (f *flight) over() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ended
}

// end resolves with err what is in flight, and lets nothing more be reserved.
func (f *flight) end(err error) {
	f.mu.Lock()
	entries := f.entries
	f.entries, f.free, f.n, f.ended = nil, nil, 0, true
	clear(f.given)
	f.tell()
	f.room.Broadcast()
	f.mu.Unlock()
	for _, e := range entries {
		if e.acks != nil {
			e.acks.Done(e.token, err)
		}
	}
}
