package model

// world is all loads of a run, at one broker.
type world struct {
	plays  []*play
	end    int64 // of the last window, as known before it
	denied int64 // when the first message would have been sent after the load stopped
	ice    frost // when the broker paused, in the time of the run
	left   int64 // when the clients of the previous loads were closed
}

// run simulates all loads. The instant at which the broker pauses is known only after the
// message that causes it was sent, so the simulation then runs again; nothing before that
// instant depends on the pause.
func (w *world) run() error {
	for _, p := range w.plays {
		if err := p.arrive(); err != nil {
			return err
		}
	}
	w.send()
	for _, p := range w.plays {
		if ice, ok := p.stalling(); ok {
			w.ice = ice
			w.send()
		}
	}
	return nil
}

// send sends every message of all loads, in the order in which the sends begin.
func (w *world) send() {
	w.denied = never
	for _, p := range w.plays {
		p.reset()
	}
	for {
		var first *sender
		at, since := int64(never), int64(0)
		for _, p := range w.plays {
			for _, s := range p.senders {
				if t, from := s.ready(); t < never && p.from+t < at {
					first, at, since = s, p.from+t, from
				}
			}
		}
		if first == nil {
			break
		}
		first.send(at-first.from, since, first.stop())
	}
	for _, p := range w.plays {
		p.finish()
	}
}

// finish sets the end of a window that ends when all is sent, and marks messages that could
// never be sent.
func (p *play) finish() {
	if p.flatOut() {
		for _, s := range p.senders {
			if s.over == never { // no place became free
				s.over = p.end
			}
		}
		last := int64(0)
		for _, s := range p.senders {
			last = max(last, s.over)
		}
		p.end = min(p.end, last+1)
	}
	for _, s := range p.senders {
		for _, m := range s.next {
			m.answer, m.sent, m.at = unsent, never, never
		}
	}
}

// through reports whether all windows are resolved at an instant, so that the load may stop.
func (w *world) through(at int64) bool {
	for _, p := range w.plays {
		if !p.through(at - p.from) {
			return false
		}
	}
	return true
}

// stop returns when the load stops.
func (p *play) stop() int64 {
	switch {
	case p.at.Stopped > 0:
		return p.at.Stopped
	case p.end == never: // the window ends when all is sent
		return never
	}
	return p.limit()
}

// limit returns when the wait after the run's window ends.
func (p *play) limit() int64 {
	return max(p.world.end-p.from, p.end) + p.drain
}

// close returns when the closing of clients begins: after the window, when all measured
// messages are resolved, or, if waited, when the wait for them ends.
func (w *world) close() (closed int64, waited bool) {
	closed = w.lastEnd()
	limit := int64(0)
	for _, p := range w.plays {
		limit = max(limit, p.from+p.limit())
		for _, s := range p.senders {
			if t := s.past(); t < never {
				closed = max(closed, p.from+t)
			} else {
				closed = never
			}
		}
		for _, m := range p.all {
			if m.due >= 0 && m.due < p.end {
				if t := p.resolution(m); t < never {
					closed = max(closed, p.from+t)
				} else {
					closed = never
				}
			}
		}
	}
	return min(closed, limit), closed > limit
}
