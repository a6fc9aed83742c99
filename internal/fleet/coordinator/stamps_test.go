package coordinator

import (
	"context"
	"io"
	"math"
	"net"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"sixnines/internal/fleet/agent"
	"sixnines/internal/fleet/control"
	"sixnines/internal/fleet/wire"
)

// asked starts a control plane on a port, 0: any, and an agent that has joined it, or else by a relay.
func asked(t *testing.T, port int, relays bool) (*run, *member) {
	t.Helper()
	server, err := control.Start(t.Context(), control.Options{Dir: t.TempDir(), Host: "127.0.0.1", Port: port})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	nc, err := wire.Connect(t.Context(), server.Login(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	l := server.JoinAt("127.0.0.1")
	if relays {
		l.URL = "tls://" + relayed(t, strings.TrimPrefix(l.URL, "tls://"))
	}
	joined, over := make(chan wire.Hello, 1), make(chan error, 1)
	ctx, leave := context.WithCancel(context.Background())
	go func() {
		over <- agent.Run(ctx, agent.Config{Login: l, Version: "1.2.3", Name: "m1", Dir: t.TempDir(), Joined: func(h wire.Hello) { joined <- h }})
	}()
	t.Cleanup(func() { leave(); <-over })
	select {
	case h := <-joined:
		return &run{Config: Config{Conn: nc, Version: "1.2.3"}}, &member{Member: Member{Hello: h}}
	case err := <-over:
		over <- err
		t.Fatal(err)
		return nil, nil
	}
}

// relayed passes TCP connections on, and nothing else.
func relayed(t *testing.T, to string) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	go func() {
		for {
			a, err := ln.Accept()
			if err != nil {
				return
			}
			b, err := net.Dial("tcp", to)
			if err != nil {
				a.Close()
				continue
			}
			for _, way := range [][2]net.Conn{{a, b}, {b, a}} {
				go func() {
					_, _ = io.Copy(way[0], way[1])
					way[0].Close()
				}()
			}
		}
	}()
	return ln.Addr().String()
}

// least is the least delay of some exchanges, in each of which the offset is 0, and how many kernels stamped.
func least(t *testing.T, ask func(uint32) (exchanged, error)) (delay int64, kernel int) {
	t.Helper()
	delay = math.MaxInt64
	for i := range 100 {
		x, err := ask(uint32(i))
		if err != nil {
			t.Fatal(err)
		}
		if x.kernel {
			kernel++
		}
		if !x.raw || !x.here.Known() || !x.there.Known() || x.T3 > x.T4 || x.T1 > x.T2 {
			t.Errorf("%+v", x)
		}
		apart := x.there.At - x.here.At // both are of one clock, and were made within this exchange
		if apart = max(apart, -apart); apart > int64(5*time.Second) {
			t.Errorf("the agent's reading is %d ns from this one: %+v", apart, x)
		}
		delay = min(delay, x.Delay())
	}
	return delay, kernel
}

// The agent, the control plane and the coordinator have one clock. What kernels stamp proves more than messages do, also where
// the coordinator does not rest on that the control plane has its clock.
func TestKernelsStampExchanges(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("kernels' stamps are read on Linux")
	}
	r, m := asked(t, 0, false)
	s := newStamps(r.Conn)
	if s == nil || !s.same {
		t.Fatalf("the control plane does not tell the time: %+v", s)
	}
	defer s.close()
	messages, none := least(t, r.asking(t.Context(), nil, m))
	one, of1 := least(t, r.asking(t.Context(), s, m))
	two, of2 := least(t, r.asking(t.Context(), &stamps{socket: s.socket}, m))
	t.Logf("least delays: %d ns by messages, %d ns by kernels (%d of 100), %d ns by kernels over a third clock (%d of 100)", messages, one, of1, two, of2)
	if none != 0 || of1 < 10 || of2 < 10 || one >= messages/2 || two >= messages/2 {
		t.Error("kernels' stamps prove no more")
	}
}

// UDP does not pass from the agent, or nobody answers on the port: clocks are asked by messages, as without.
func TestWithoutKernelsStamps(t *testing.T) {
	r, m := asked(t, 0, true)
	if s := newStamps(r.Conn); s != nil {
		defer s.close()
		if _, kernel := least(t, r.asking(t.Context(), s, m)); kernel != 0 {
			t.Errorf("%d exchanges by kernels over a way for TCP alone", kernel)
		}
	}
	silent, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	_, port, _ := net.SplitHostPort(silent.LocalAddr().String())
	n, _ := strconv.Atoi(port)
	r, m = asked(t, n, false)
	if s := newStamps(r.Conn); s != nil {
		t.Error("a port that does not answer tells the time")
	}
	if _, kernel := least(t, r.asking(t.Context(), nil, m)); kernel != 0 {
		t.Errorf("%d exchanges by kernels", kernel)
	}
}
