package watch

import (
	"slices"
	"time"

	"sixnines/internal/clock"
	"sixnines/internal/transport"
	"sixnines/result"
)

const (
	// tcpPeriod is the time between two looks at the connections.
	tcpPeriod = 100 * time.Millisecond
	// tcpAtOnce is for how many connections tcpPeriod holds: with more, looks are further apart.
	// A look at one connection is a system call.
	tcpAtOnce = 64
	// tcpPauses bounds the stretches with retransmissions that are listed in a run.
	tcpPauses = 4096
)

// tcpInfo is what the kernel knows of a connection.
type tcpInfo struct {
	retransmitted uint32 // segments, since it was made
	rtt           int64  // smoothed, ns
}

// tcpWatch looks at the engine's connections. It belongs to the collector.
type tcpWatch struct {
	open func() []*transport.Conn
	info func(*transport.Conn) (tcpInfo, bool) // false: the system does not tell
	// breathe is called between two connections, to give way to threads that send and receive.
	breathe func()

	known map[*transport.Conn]uint32 // segments retransmitted, as of the last look
	spare map[*transport.Conn]uint32 // memory of the next look's
	last  int64                      // when the last look was, CLOCK_MONOTONIC; 0: none yet
	next  int64                      // when the next is due, CLOCK_MONOTONIC

	// Of the interval at hand.
	grown    int64 // segments retransmitted
	looks    int64 // at single connections
	rttMax   int64 // ns
	rttTotal int64 // ns, summed over looks

	// pause is the stretch with retransmissions that has not ended; End is 0 where the last look found no
	// retransmission. Its instants are CLOCK_MONOTONIC, as those of ended are.
	pause  result.Pause
	ended  []result.Pause // since the last interval
	listed int            // stretches that were listed in this run, tcpPauses at most
	unseen int            // stretches that were not
}

func newTCPWatch(open func() []*transport.Conn, info func(*transport.Conn) (tcpInfo, bool), breathe func()) *tcpWatch {
	return &tcpWatch{open: open, info: info, breathe: breathe, known: map[*transport.Conn]uint32{}, spare: map[*transport.Conn]uint32{}}
}

// begin takes the first look, from which all counts start.
func (w *tcpWatch) begin() {
	w.look(clock.Now())
	w.grown, w.looks, w.rttMax, w.rttTotal, w.pause = 0, 0, 0, 0, result.Pause{}
}

// poll looks if it is time.
func (w *tcpWatch) poll() {
	if now := clock.Now(); now >= w.next {
		w.look(now)
	}
}

// look reads all connections at once. What one has retransmitted between its
// last look and its end is not seen.
func (w *tcpWatch) look(now int64) {
	conns := w.open()
	var grown int64
	seen := w.spare
	clear(seen)
	for _, c := range conns {
		i, ok := w.info(c)
		if !ok {
			continue
		}
		seen[c] = i.retransmitted
		// A connection that was made meanwhile began with none.
		grown += int64(i.retransmitted - w.known[c])
		w.looks++
		w.rttMax = max(w.rttMax, i.rtt)
		w.rttTotal += i.rtt
		w.breathe()
	}
	w.known, w.spare = seen, w.known
	w.grown += grown
	switch {
	case grown > 0 && w.pause.End == w.last && w.last != 0:
		w.pause.End = now // it goes on
	case grown > 0:
		w.flush()
		w.pause = result.Pause{Start: w.last, End: now, Source: result.PauseRetransmit}
	default:
		w.flush()
	}
	w.last = now
	w.next = now + int64(tcpPeriod)*int64(1+len(conns)/tcpAtOnce)
}

// flush ends the stretch that has not ended, if there was one.
func (w *tcpWatch) flush() {
	if w.pause.End == 0 {
		return
	}
	if w.listed < tcpPauses {
		w.listed++
		w.ended = append(w.ended, w.pause)
	} else {
		w.unseen++
	}
	w.pause = result.Pause{}
}

// interval adds the interval's vitals and returns the stretches that have
// ended, with instants in ns from start. closing says that no look follows.
func (w *tcpWatch) interval(start int64, closing bool, to map[result.Vital]float64) []result.Pause {
	if closing {
		w.flush()
	}
	if w.looks > 0 {
		to[result.VitalTCPRetransmissions] = float64(w.grown)
		to[result.VitalTCPRTTMax] = float64(w.rttMax)
		to[result.VitalTCPRTTMean] = float64(w.rttTotal) / float64(w.looks)
	}
	w.grown, w.looks, w.rttMax, w.rttTotal = 0, 0, 0, 0
	out := slices.Clone(w.ended)
	w.ended = w.ended[:0]
	for i := range out {
		out[i].Start -= start
		out[i].End -= start
	}
	return out
}
