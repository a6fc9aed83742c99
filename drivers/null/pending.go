package null

import (
	"sync"

	"sixnines/driver"
)

// pending are the messages that wait for their confirmation, by the number that
// goes over the wire. The zero value is empty.
type pending struct {
	mu   sync.Mutex
	all  []unconfirmed
	free []uint32
}

type unconfirmed struct {
	acks  driver.Acks // nil: the place is free
	token uint64
}

// add returns the number of a message.
func (p *pending) add(acks driver.Acks, token uint64) uint32 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.free); n > 0 {
		number := p.free[n-1]
		p.free = p.free[:n-1]
		p.all[number] = unconfirmed{acks, token}
		return number
	}
	p.all = append(p.all, unconfirmed{acks, token})
	return uint32(len(p.all) - 1)
}

// take frees a place and returns what was there; false: nothing.
func (p *pending) take(number uint32) (unconfirmed, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if int64(number) >= int64(len(p.all)) || p.all[number].acks == nil {
		return unconfirmed{}, false
	}
	u := p.all[number]
	p.all[number] = unconfirmed{}
	p.free = append(p.free, number)
	return u, true
}

// confirm resolves a message.
func (p *pending) confirm(number uint32) bool {
	u, ok := p.take(number)
	if ok {
		u.acks.Done(u.token, nil)
	}
	return ok
}

// fail resolves all with an error.
func (p *pending) fail(err error) {
	p.mu.Lock()
	all := p.all
	p.all, p.free = nil, nil
	p.mu.Unlock()
	for _, u := range all {
		if u.acks != nil {
			u.acks.Done(u.token, err)
		}
	}
}
