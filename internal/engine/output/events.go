package output

import (
	"time"

	"sixnines/result"
)

const (
	// eventsEach is how many events of one kind and detail have a record each. Later ones are
	// gathered: for eventsFirst at first, and each time twice as long. A broker that refuses each of
	// a million messages must not fill the disk.
	eventsEach  = 10
	eventsFirst = time.Second
	// eventsApart is how many different kinds and details have records of their own.
	eventsApart = 256
)

// likeness is what events have in common that become one record. Detail is empty for
// those beyond eventsApart.
type likeness struct {
	workload string
	kind     result.EventKind
	detail   string
}

// repeated is what is known of the events with one likeness.
type repeated struct {
	written int           // records of single events
	pending result.Event  // stands for the events since the last record; Times 0: there were no events
	due     int64         // when pending may be written, CLOCK_MONOTONIC
	wait    time.Duration // between records of gathered events
}

// log makes few records of many events. It is guarded by Output.mu.
type log struct {
	all   map[likeness]*repeated
	order []*repeated
}

// add takes an event, and calls write with the events to write now.
func (l *log) add(e result.Event, write func(result.Event)) {
	if e.Action != nil { // the plan bounds them
		write(e)
		return
	}
	key := likeness{e.Workload, e.Kind, e.Detail}
	r := l.all[key]
	if r == nil && len(l.all) >= eventsApart {
		key.detail = ""
		r = l.all[key]
	}
	if r == nil {
		if l.all == nil {
			l.all = map[likeness]*repeated{}
		}
		r = &repeated{wait: eventsFirst}
		l.all[key] = r
		l.order = append(l.order, r)
	}
	if r.written < eventsEach {
		r.written++
		write(e)
		return
	}
	if p := &r.pending; p.Times == 0 {
		*p = e
		p.Times, p.Last = e.Happened(), e.Until()
		if r.due == 0 {
			r.due = e.At + int64(r.wait)
		}
	} else {
		p.Times += e.Happened()
		p.Count += e.Count
		p.Last = max(p.Last, e.Until())
	}
	if e.At >= r.due {
		r.wait *= 2
		r.due = e.At + int64(r.wait)
		r.write(write)
	}
}

// flush calls write with all that has not been written.
func (l *log) flush(write func(result.Event)) {
	for _, r := range l.order {
		r.write(write)
	}
}

func (r *repeated) write(write func(result.Event)) {
	e := r.pending
	r.pending = result.Event{}
	switch e.Times {
	case 0:
		return
	case 1:
		e.Times, e.Last = 0, 0
	}
	write(e)
}
