package observe

import (
	"sync"

	"sixnines/internal/transport"
)

// Taps are the taps on the connections that producers and consumers began with. On belongs to the
// run's goroutine, before the load begins; Replace is safe for concurrent use.
type Taps struct {
	mu  sync.Mutex // guards the heirs of all
	all map[*transport.Conn]*Tap
	at  int64 // when Busiest last looked, CLOCK_MONOTONIC; 0: not yet. The collector's
}

// NewTaps returns none.
func NewTaps() *Taps { return &Taps{all: map[*transport.Conn]*Tap{}} }

// On returns the tap on a connection, which it installs first if need be; nil for no connection.
func (s *Taps) On(c *transport.Conn) *Tap {
	if c == nil {
		return nil
	}
	if s.all[c] == nil {
		s.all[c] = &Tap{Conn: c}
		c.Observe(s.all[c])
	}
	return s.all[c]
}

// Lost reports whether one of the connections has been closed.
func (s *Taps) Lost() bool {
	for c := range s.all {
		if c.Closed() {
			return true
		}
	}
	return false
}

// Replace has a connection that was just made followed, if it is known whose it is: its role is that
// of exactly one of the connections that are closed and not replaced. Where several of a role are lost
// at once, as by an action, it is not known which of them it replaces, and the receive lag of these
// stays unknown. A client that opens others first, for a question, closes them again, and the
// next one replaces them.
func (s *Taps) Replace(c *transport.Conn) {
	if c.Role == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var lost *Tap
	for _, t := range s.all {
		last := t.latest()
		if last.Conn.Role != c.Role || !last.Conn.Closed() {
			continue
		}
		if lost != nil {
			return
		}
		lost = t
	}
	if lost == nil {
		return
	}
	heir := &Tap{Conn: c}
	c.Observe(heir)
	lost.heir.Store(heir)
}

// Busiest returns the share of the time since the last look, from 0 to 1, in which the busiest reader of a
// connection worked on what it had read while more had come. now is CLOCK_MONOTONIC. ok is false at
// the first look, and where no connection tells when its data came or all are read late on purpose. It
// belongs to the collector.
func (s *Taps) Busiest(now int64) (share float64, ok bool) {
	if s == nil {
		return 0, false
	}
	length := now - s.at
	for _, t := range s.all {
		last := t.latest()
		if c := last.Conn; !c.Stamped() || c.Late() || c.Closed() {
			continue
		}
		worked := last.worked.Load()
		if s.at != 0 && length > 0 {
			share, ok = max(share, float64(worked-last.told)/float64(length)), true
		}
		last.told = worked
	}
	s.at = now
	return min(share, 1), ok
}
