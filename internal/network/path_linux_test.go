package network

import (
	"fmt"
	"io"
	"math"
	"net"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sixnines/internal/vitals/vitalstest"
	"sixnines/scenario"
)

// prepared plans and prepares conditions of both ways, by the means that are expected.
func prepared(t *testing.T, l lab, port int, c scenario.Conditions, want ...Means) *Path {
	t.Helper()
	ways := l.ways(uint16(port))
	for i := range ways {
		ways[i].Conditions = c
	}
	plan, err := Look().Plan(ways)
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range plan.Uses {
		if !slices.Contains(want, u.Means) {
			t.Skipf("SKIPPED: this machine has %s, and the test is about %v", u.Means, want)
		}
	}
	p, err := plan.Prepare(Options{Command: queues(), Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func begin(t *testing.T, p *Path) (happened int64) {
	t.Helper()
	happened, err := p.Begin()
	if err != nil {
		t.Fatal(err)
	}
	return happened
}

// echo has the broker send back what comes.
func echo(server *net.TCPListener) {
	go func() {
		for {
			c, err := server.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(c, c); _ = c.Close() }()
		}
	}()
}

// roundTrips are times of n round trips of 64 bytes on a connection, sorted. There is a pause before each, after which
// processors have to wake up whether packets are delayed or not.
func roundTrips(t *testing.T, c net.Conn, n int) (all []time.Duration) {
	t.Helper()
	b := make([]byte, 64)
	for range n {
		time.Sleep(5 * time.Millisecond)
		began := time.Now()
		if _, err := c.Write(b); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c, b); err != nil {
			t.Fatal(err)
		}
		all = append(all, time.Since(began))
	}
	slices.Sort(all)
	return all
}

// 5 ms each way make a round trip 10 ms longer, within 2 %, than 0 ms by the same means: 1 µs each way.
func TestDelayIsOneWayEachWay(t *testing.T) {
	l := newLab(t, NFQueue)
	server := l.listen(t)
	echo(server)
	port := server.Addr().(*net.TCPAddr).Port
	// A tenth of the round trips is shorter: what wakes up late on a busy machine is in the others.
	short := func(delay time.Duration) time.Duration {
		p := prepared(t, l, port, scenario.Conditions{Delay: delay}, NFQueue)
		begin(t, p)
		c := l.dial(t, server.Addr())
		all := roundTrips(t, c, 100)
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		t.Logf("%v: %+v", delay, p.Counts())
		return all[len(all)/10]
	}
	vitalstest.Injected(t, func() (complaint string) {
		floor, delayed := short(time.Microsecond), short(5*time.Millisecond)
		shift := delayed - floor
		t.Logf("round trip %v with 0 ms, %v with 5 ms each way: %v more", floor, delayed, shift)
		if ratio := float64(shift) / float64(10*time.Millisecond); math.Abs(ratio-1) > 0.02 {
			return fmt.Sprintf("5 ms each way made the round trip %v longer, not 10 ms", shift)
		}
		return ""
	})
}

// send sends n bytes to the broker's end, which reads all of them, and returns how long the last 80 % took, and how many
// segments the sender's kernel sent again that had not arrived.
func send(t *testing.T, l lab, server *net.TCPListener, n int64) (took time.Duration, again int64) {
	t.Helper()
	type end struct {
		took time.Duration
		err  error
	}
	done := make(chan end, 1)
	go func() {
		c, err := server.Accept()
		if err != nil {
			done <- end{err: err}
			return
		}
		defer c.Close()
		if _, err = io.CopyN(io.Discard, c, n/5); err != nil {
			done <- end{err: err}
			return
		}
		began := time.Now()
		_, err = io.CopyN(io.Discard, c, n-n/5)
		done <- end{time.Since(began), err}
	}()
	c := l.dial(t, server.Addr())
	go func() {
		b := make([]byte, 64<<10)
		for left := n; left > 0; left -= int64(len(b)) {
			if _, err := c.Write(b[:min(int64(len(b)), left)]); err != nil {
				return
			}
		}
	}()
	e := <-done
	if e.err != nil {
		t.Fatal(e.err)
	}
	raw, err := c.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	err = raw.Control(func(fd uintptr) {
		info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
		if err != nil {
			t.Error(err)
			return
		}
		again = int64(info.Total_retrans) - int64(info.Dsack_dups)
	})
	if err != nil {
		t.Fatal(err)
	}
	return e.took, again
}

// 1 % of the packets that carry data are lost, and the kernel sends that many again: both within what a
// binomial distribution allows in all but one of some million runs.
func TestLossIsWhatTheKernelSendsAgain(t *testing.T) {
	for _, means := range []Means{TCX, NFQueue} {
		t.Run(string(means), func(t *testing.T) {
			l := newLab(t, means)
			server := l.listen(t)
			way := l.ways(uint16(server.Addr().(*net.TCPAddr).Port))[0]
			way.Conditions.Loss = 0.01
			if means == NFQueue {
				way.Out = Device{}
			}
			plan, err := Look().Plan([]Way{way})
			if err != nil {
				t.Fatal(err)
			}
			vitalstest.Injected(t, func() (complaint string) {
				p, err := plan.Prepare(Options{Command: queues(), Seed: 7})
				if err != nil {
					t.Fatal(err)
				}
				defer p.Close()
				begin(t, p)
				_, again := send(t, l, server, 20<<20)
				if err := p.Close(); err != nil {
					t.Fatal(err)
				}
				c := p.Counts()[0]
				n := float64(c.Packets)
				allowed := 5 * math.Sqrt(n*0.01*0.99)
				t.Logf("%s: %d of %d packets lost, %.0f ± %.0f expected; the kernel sent %d again", plan.Uses[0].Means, c.Lost, c.Packets, n*0.01, allowed, again)
				if c.Packets < 10_000 {
					t.Errorf("%d packets only: they went through as large ones", c.Packets)
				}
				if math.Abs(float64(c.Lost)-n*0.01) > allowed {
					t.Errorf("%d of %d packets were lost", c.Lost, c.Packets)
				}
				if float64(again-c.Lost) < -allowed {
					t.Errorf("%d packets were lost and only %d were sent again", c.Lost, again)
				}
				// Probes of the sender are sent again, too, and on a busy machine what is acknowledged late.
				if float64(again-c.Lost) > allowed {
					return fmt.Sprintf("%d packets were lost and %d were sent again", c.Lost, again)
				}
				return ""
			})
		})
	}
}

// 10 mbit carry what is left of them beside the packets' headers, within 3 %.
func TestRateIsCarried(t *testing.T) {
	const rate, payload = 10_000_000, 1448.0 / 1500 // a segment of a packet of 1,500 bytes with timestamps
	for _, means := range []Means{TBF, NFQueue} {
		t.Run(string(means), func(t *testing.T) {
			l := newLab(t, means)
			server := l.listen(t)
			way := l.ways(uint16(server.Addr().(*net.TCPAddr).Port))[0]
			way.Conditions.Rate = rate
			if means == NFQueue {
				way.Out = Device{}
			}
			plan, err := Look().Plan([]Way{way})
			if err != nil {
				t.Fatal(err)
			}
			vitalstest.Injected(t, func() (complaint string) {
				p, err := plan.Prepare(Options{Command: queues(), Seed: 7})
				if err != nil {
					t.Fatal(err)
				}
				defer p.Close()
				begin(t, p)
				const n = 2 << 20
				took, _ := send(t, l, server, n)
				if err := p.Close(); err != nil {
					t.Fatal(err)
				}
				goodput := float64(n-n/5) * 8 / took.Seconds()
				c := p.Counts()[0]
				t.Logf("%s: %.3f Mbit/s of payload, %.0f bits a second carried: %+v", plan.Uses[0].Means, goodput/1e6, c.Rate(), c)
				if ratio := goodput / (rate * payload); math.Abs(ratio-1) > 0.03 {
					return fmt.Sprintf("%.3f Mbit/s of payload at 10 mbit", goodput/1e6)
				}
				return ""
			})
		})
	}
}
