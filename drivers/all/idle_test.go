package all_test

import (
	"context"
	"net"
	"os"
	"strings"
	"sync"
	"testing"

	"sixnines/drivers/all"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
	"sixnines/internal/engine"
	"sixnines/result"
)

// idleProxy passes connections on, and can end the first: a session's own, which is idle while messages flow.
type idleProxy struct {
	mu     sync.Mutex
	all    []net.Conn
	silent net.Conn // what comes over it is dropped, and it stays open
}

func (p *idleProxy) accepted() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.all)
}

func (p *idleProxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all[0].Close()
}

// hush drops whatever comes over the first connection from now on, and says nothing to either side.
func (p *idleProxy) hush() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.silent = p.all[0]
}

// copy passes one direction of a connection on.
func (p *idleProxy) copy(to, from, of net.Conn) {
	for buf := make([]byte, 64<<10); ; {
		n, err := from.Read(buf)
		p.mu.Lock()
		silent := p.silent == of
		p.mu.Unlock()
		if !silent && n > 0 {
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// pass passes a connection on to the broker until either side ends it.
func (p *idleProxy) pass(t *testing.T, c net.Conn, broker string) {
	to, err := net.Dial("tcp", broker)
	if err != nil {
		t.Error(err)
		c.Close()
		return
	}
	go func() {
		p.copy(to, c, c)
		to.Close()
	}()
	p.copy(c, to, c)
	c.Close()
}

// A proxy that drops a connection which was idle changes nothing: it carries no message, and no event calls it lost.
func TestIdleConnectionIsCut(t *testing.T) {
	for _, tt := range []struct {
		driver, product string
		again           bool // it connects again at once
	}{{"nats", "nats", true}, {"jetstream", "nats", true}, {"redis", "redis", false}, {"redis-streams", "redis", false}} {
		t.Run(tt.driver, func(t *testing.T) {
			t.Parallel()
			idles(t, tt.driver, tt.product, (*idleProxy).cut, tt.again)
		})
	}
}

// A proxy that forgets an idle connection, and tells neither side, costs no message either, and the run ends. What cannot be
// removed any more over that connection is said to be left.
func TestIdleConnectionFallsSilent(t *testing.T) {
	for _, tt := range []struct {
		driver, product string
		keeps           bool // what it has made at the broker
	}{{"nats", "nats", false}, {"jetstream", "nats", true}, {"redis", "redis", false}, {"redis-streams", "redis", true}} {
		t.Run(tt.driver, func(t *testing.T) {
			t.Parallel()
			run := idles(t, tt.driver, tt.product, (*idleProxy).hush, false)
			t.Logf("left: %v", run.Summary.Left)
			if (len(run.Summary.Left) > 0) != tt.keeps {
				t.Errorf("left: %v", run.Summary.Left)
			}
		})
	}
}

// idles measures a broker behind a proxy that does something to the session's own connection while messages flow. again says that
// another one is awaited.
func idles(t *testing.T, name, product string, do func(*idleProxy), again bool) *result.Run {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := brokertest.Start(t, product, brokers.Options{Home: brokers.Home{Self: []string{self, becomeBroker}}})
	broker, p := brokertest.Address(t, c.URL), &idleProxy{}
	at := serveEach(t, func(conn net.Conn) {
		p.mu.Lock()
		p.all = append(p.all, conn)
		p.mu.Unlock()
		p.pass(t, conn, broker)
	})
	e, _ := all.Set().Lookup(name)
	conf := config(e, c, parse(t, `
workload: {rate: 200/s, size: 256B}
phases: {warmup: 100ms, duration: 60s, drain: 20s}
`))
	conf.URL = strings.Replace(c.URL, broker, at, 1)
	ctx, end := context.WithCancel(t.Context())
	defer end()
	before, received := 0, int64(0) // when it was done
	conf.Observer = func(now engine.Progress) {
		switch n := now.Counters.Received; {
		case before == 0 && now.Phase == result.PhaseMeasure && n > 50:
			before, received = p.accepted(), n
			do(p)
		case before > 0 && n > received+50 && (!again || p.accepted() > before):
			end()
		}
	}
	run := measure(ctx, t, conf)
	n := run.Counters
	t.Logf("%d connections before, %d at the end; %d messages", before, p.accepted(), n.Received)
	if n.Received <= received || n.Received != n.Expected || n.Rejected > 0 || again && p.accepted() <= before {
		t.Errorf("%d connections before, %d at the end: %+v", before, p.accepted(), n)
	}
	for _, ev := range run.Events {
		if ev.Kind == result.EventDisconnected || ev.Kind == result.EventReconnected || ev.Kind == result.EventStages {
			t.Errorf("%s: %s", ev.Kind, ev.Detail)
		}
	}
	return run
}
