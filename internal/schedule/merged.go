package schedule

import (
	"fmt"
	"slices"
)

// Merged iterates over the instants of several producers, in ascending order. It
// is not safe for concurrent use.
type Merged struct {
	producers []int32 // ascending
	numbers   []int32 // of these, among the producers that the load is divided over
	at        int     // numbered: index of the next message's producer

	cursor  Cursor // numbered
	even    bool   // the producers' numbers are equally spaced, modulo the number of producers
	base    int64  // not even: number of the round's first message
	streams []Cursor
	heap    []due
	slices  *Slices // nil: what own returns is the offset
}

// due is a stream's next instant. Equal instants are ordered by producer.
type due struct {
	t      int64
	stream int32
}

func (a due) before(b due) bool { return a.t < b.t || a.t == b.t && a.stream < b.stream }

// Merge returns the instants of the given producers in the given phase, as one
// ascending sequence. Messages due at the same instant are ordered by their
// numbers if the load is numbered, else by their producers. Producers may be in
// any order; Merge panics on a repeated one and on one that the plan does not
// have. Without producers the sequence is empty.
func (p *Plan) Merge(producers []int, phase Phase) *Merged {
	m := &Merged{producers: make([]int32, len(producers)), slices: p.slices}
	for i, id := range producers {
		p.check(id)
		m.producers[i] = int32(id)
	}
	slices.Sort(m.producers)
	for i := 1; i < len(m.producers); i++ {
		if m.producers[i] == m.producers[i-1] {
			panic(fmt.Sprintf("schedule: producer %d merged with itself", m.producers[i]))
		}
	}
	m.numbers = m.producers
	if p.members != nil {
		m.numbers = make([]int32, len(m.producers))
		for i, id := range m.producers {
			m.numbers[i] = int32(p.number(int(id)))
		}
	}
	switch {
	case len(m.producers) == 0:
	case p.random:
		m.mergeStreams(p, phase)
	default:
		m.mergeNumbered(&p.flows[phase], int64(p.producers))
	}
	return m
}

func (m *Merged) mergeNumbered(f *flow, producers int64) {
	gap := producers / int64(len(m.numbers))
	m.even = producers%int64(len(m.numbers)) == 0
	for i, id := range m.numbers {
		m.even = m.even && int64(id) == int64(m.numbers[0])+int64(i)*gap
	}
	if m.even {
		n := f.firstOf(int64(m.numbers[0]), gap)
		m.cursor = numbered(f, n, gap)
		m.at = int((floorMod(n, producers) - int64(m.numbers[0])) / gap)
		return
	}
	m.cursor = numbered(f, f.first, 1)
	round := floorDiv(f.first, producers)
	m.base = round * producers
	for m.at < len(m.numbers) && m.base+int64(m.numbers[m.at]) < f.first {
		m.at++
	}
	if m.at == len(m.numbers) {
		m.at, m.base = 0, m.base+producers
	}
	m.cursor.stride = producers
}

func (m *Merged) mergeStreams(p *Plan, phase Phase) {
	m.streams = make([]Cursor, len(m.producers))
	for i, id := range m.producers {
		m.streams[i] = p.cursor(int(id), phase)
		if t, ok := m.streams[i].own(); ok {
			m.heap = append(m.heap, due{t, int32(i)})
		}
	}
	for i := len(m.heap)/2 - 1; i >= 0; i-- {
		m.sink(i)
	}
}

// Next returns the next instant, in nanoseconds from the start of the window,
// and the producer that is due; ok is false at the end of the sequence. Next does
// not allocate. It takes constant time for numbered schedules, and time
// proportional to the logarithm of the number of producers for random ones.
func (m *Merged) Next() (offset int64, producer int32, ok bool) {
	offset, producer, ok = m.own()
	if ok && m.slices != nil {
		offset, ok = m.slices.at(offset)
	}
	return offset, producer, ok
}

// own is Next in the load's own time.
func (m *Merged) own() (offset int64, producer int32, ok bool) {
	if m.even {
		offset, ok = m.cursor.own()
		if !ok {
			return 0, 0, false
		}
		producer = m.producers[m.at]
		if m.at++; m.at == len(m.producers) {
			m.at = 0
		}
		return offset, producer, true
	}
	if m.streams == nil {
		return m.nextUneven()
	}
	if len(m.heap) == 0 {
		return 0, 0, false
	}
	first := m.heap[0]
	if t, more := m.streams[first.stream].own(); more {
		m.heap[0].t = t
	} else {
		end := len(m.heap) - 1
		m.heap[0] = m.heap[end]
		m.heap = m.heap[:end]
	}
	m.sink(0)
	return first.t, m.producers[first.stream], true
}

// nextUneven steps through the producers of each round. It takes a division per
// message.
func (m *Merged) nextUneven() (offset int64, producer int32, ok bool) {
	if len(m.producers) == 0 {
		return 0, 0, false
	}
	producer = m.producers[m.at]
	n := m.base + int64(m.numbers[m.at])
	f := m.cursor.flow
	if n >= f.last {
		return 0, 0, false
	}
	if f.kind == pieced {
		m.cursor.piece = f.linear.find(m.cursor.piece, n)
		offset, _ = f.linear[m.cursor.piece].at(n)
	} else {
		offset = f.at(n)
	}
	if offset >= endOfTime {
		return 0, 0, false
	}
	if m.at++; m.at == len(m.producers) {
		m.at, m.base = 0, m.base+m.cursor.stride
	}
	return offset, producer, true
}

// sink restores the heap's order below i.
func (m *Merged) sink(i int) {
	h := m.heap
	if i >= len(h) {
		return
	}
	moving := h[i]
	for {
		child := 2*i + 1
		if child >= len(h) {
			break
		}
		if child+1 < len(h) && h[child+1].before(h[child]) {
			child++
		}
		if !h[child].before(moving) {
			break
		}
		h[i] = h[child]
		i = child
	}
	h[i] = moving
}
