package all_test

import (
	"context"
	"io"
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
	mu  sync.Mutex
	all []net.Conn
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

// pass passes a connection on to the broker until either side ends it.
func (p *idleProxy) pass(t *testing.T, c net.Conn, broker string) {
	to, err := net.Dial("tcp", broker)
	if err != nil {
		t.Error(err)
		c.Close()
		return
	}
	go func() {
		_, _ = io.Copy(to, c)
		to.Close()
	}()
	_, _ = io.Copy(c, to)
	c.Close()
}

// A proxy that drops a connection which was idle changes nothing: it carries no message, and no event calls it lost.
func TestIdleConnectionIsCut(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		driver, product string
		again           bool // it connects again at once
	}{{"nats", "nats", true}, {"jetstream", "nats", true}, {"redis", "redis", false}, {"redis-streams", "redis", false}} {
		t.Run(tt.driver, func(t *testing.T) {
			t.Parallel()
			c := brokertest.Start(t, tt.product, brokers.Options{Home: brokers.Home{Self: []string{self, becomeBroker}}})
			broker, p := brokertest.Address(t, c.URL), &idleProxy{}
			at := serveEach(t, func(conn net.Conn) {
				p.mu.Lock()
				p.all = append(p.all, conn)
				p.mu.Unlock()
				p.pass(t, conn, broker)
			})
			e, _ := all.Set().Lookup(tt.driver)
			conf := config(e, c, parse(t, `
workload: {rate: 200/s, size: 256B}
phases: {warmup: 100ms, duration: 60s, drain: 20s}
`))
			conf.URL = strings.Replace(c.URL, broker, at, 1)
			ctx, end := context.WithCancel(t.Context())
			defer end()
			before, received := 0, int64(0) // when it was cut
			conf.Observer = func(now engine.Progress) {
				switch n := now.Counters.Received; {
				case before == 0 && now.Phase == result.PhaseMeasure && n > 50:
					before, received = p.accepted(), n
					p.cut()
				case before > 0 && n > received+50 && (!tt.again || p.accepted() > before):
					end()
				}
			}
			run := measure(ctx, t, conf)
			n := run.Counters
			t.Logf("%d connections before, %d at the end; %d messages", before, p.accepted(), n.Received)
			if n.Received <= received || n.Received != n.Expected || n.Rejected > 0 || tt.again && p.accepted() <= before {
				t.Errorf("%d connections before, %d at the end: %+v", before, p.accepted(), n)
			}
			for _, ev := range run.Events {
				if ev.Kind == result.EventDisconnected || ev.Kind == result.EventReconnected || ev.Kind == result.EventStages {
					t.Errorf("%s: %s", ev.Kind, ev.Detail)
				}
			}
		})
	}
}
