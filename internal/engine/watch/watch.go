// Package watch watches what may disturb a run's messages: the generator's process and machine, its
// TCP connections, and the processes of a broker that the caller started. It gives vitals for each
// interval, and the pauses that explain slow messages.
package watch

import (
	"net"
	"time"

	"sixnines/internal/transport"
	"sixnines/internal/vitals"
	"sixnines/result"
)

// hiccupPeriod is the time between two looks of a hiccup meter. Two meters at 1 ms cost six
// hundredths of a core, a third of what a broker needs at 3,000 messages a
// second; at 4 ms they cost a third of that, and a freeze that matters is longer.
const hiccupPeriod = 4 * time.Millisecond

// Options are what is watched.
type Options struct {
	Virtual     bool                     // the run is in virtual time: neither process nor machine is watched
	Idle        []string                 // command line of a process that only watches; empty: no such process is started
	Connections func() []*transport.Conn // those that are open; safe for concurrent use
	Usage       func() []Usage           // of the broker's processes; nil: it is not known
	Event       func(result.Event)       // safe for concurrent use
	Breathe     func()                   // gives way to threads that send and receive; called by the collector's goroutine
}

// Watch watches from Start to Stop. Begin, Poll, Vitals, Pauses and Unlisted belong to the collector
// until that has ended; the rest is the run's goroutine's. What Frozen returns is safe for concurrent
// use.
type Watch struct {
	monitor *vitals.Monitor // nil in virtual time
	tcp     *tcpWatch
	brokers brokerWatch
	breathe func()
	values  []vitals.Value // memory of the last sample, used again
}

// Start begins to watch.
func Start(o Options) *Watch {
	w := &Watch{tcp: newTCPWatch(o.Connections, readTCP, o.Breathe), brokers: brokerWatch{usage: o.Usage, event: o.Event}, breathe: o.Breathe}
	if !o.Virtual {
		w.monitor = vitals.Start(vitals.Options{Period: hiccupPeriod, KeepProcessor: true, Idle: o.Idle,
			Connections: func() []vitals.Connection { return endsOf(o.Connections()) }})
	}
	return w
}

// endsOf returns both ends of the connections that are TCP.
func endsOf(conns []*transport.Conn) (all []vitals.Connection) {
	for _, c := range conns {
		local, ok := c.LocalAddr().(*net.TCPAddr)
		remote, also := c.RemoteAddr().(*net.TCPAddr)
		if ok && also {
			all = append(all, vitals.Connection{Local: local.AddrPort(), Remote: remote.AddrPort()})
		}
	}
	return all
}

// Stop ends the watch.
func (w *Watch) Stop() {
	if w.monitor != nil {
		w.monitor.Stop()
	}
}

// Threads returns how many threads of the watch keep a processor while they sleep.
func (w *Watch) Threads() int {
	if w.monitor != nil {
		return 1 // the hiccup meter's
	}
	return 0
}

// Frozen is [plan.Control.Frozen]; nil in virtual time.
func (w *Watch) Frozen() func(from, to int64, each func(start, end int64)) {
	if w.monitor == nil {
		return nil
	}
	return w.monitor.Frozen
}

// Missing returns what the system does not tell, each with the reason; nil in virtual time.
func (w *Watch) Missing() map[string]string {
	if w.monitor == nil {
		return nil
	}
	return w.monitor.Missing()
}

// Begin takes the readings from which the first interval counts.
func (w *Watch) Begin() {
	if w.monitor != nil {
		w.monitor.Sample()
		w.breathe()
		w.tcp.begin()
	}
	w.brokers.add(nil)
}

// End reports what has ended since the last call of Vitals: reading back takes long. The collector has ended.
func (w *Watch) End() { w.brokers.add(nil) }

// Poll looks at the connections if a look is due. It is called several times an interval.
func (w *Watch) Poll() { w.tcp.poll() }

// Vitals adds what the generator and the broker's processes have used since the last call.
func (w *Watch) Vitals(to map[result.Vital]float64) {
	if w.monitor != nil {
		sample := w.monitor.SampleInto(w.values)
		w.values = sample.Values
		for _, x := range sample.Values {
			to[x.Name] = x.Value
		}
	}
	w.brokers.add(to)
}

// Pauses returns the pauses that ended since the last call, with instants from start, and adds the
// vitals of the connections. closing says that it is the last call.
func (w *Watch) Pauses(start int64, closing bool, to map[result.Vital]float64) (all []result.Pause) {
	if w.monitor != nil {
		for _, p := range w.monitor.NewPauses() {
			all = append(all, result.Pause{Start: p.Start - start, End: p.End - start, Source: p.Source})
		}
	}
	return append(all, w.tcp.interval(start, closing, to)...)
}

// Unlisted returns how many stretches with TCP retransmissions no interval lists, since there were too
// many.
func (w *Watch) Unlisted() int { return w.tcp.unseen }
