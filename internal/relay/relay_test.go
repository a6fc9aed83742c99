package relay

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"sixnines/internal/vitals/vitalstest"
)

// TestMain makes the test's program a relay, as the command does.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == Command {
		if err := Serve(os.Stdin, os.Stdout, 7); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// start starts a relay.
func start(t *testing.T) *Relay {
	t.Helper()
	r, err := Start([]string{os.Args[0], Command}, 7)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// listen listens, and has serve called with each connection.
func listen(t *testing.T, serve func(*net.TCPConn)) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go serve(c.(*net.TCPConn))
		}
	}()
	return l.Addr().String()
}

func echo(c *net.TCPConn) {
	_, _ = io.Copy(c, c)
	_ = c.Close()
}

// dial connects through the relay.
func dial(t *testing.T, r *Relay, address string) *net.TCPConn {
	t.Helper()
	c, far, err := r.Via().Dial(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	if !far.Here || far.Address.String() != address {
		t.Errorf("the other end is %+v, not %s on this machine", far, address)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c.(*net.TCPConn)
}

func condition(t *testing.T, r *Relay, to, from Conditions) Done {
	t.Helper()
	done, err := r.Condition(to, from)
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// median returns the median of n round trips.
func median(t *testing.T, c net.Conn, n int) time.Duration { return roundTrips(t, c, n)[n/2] }

// short returns the round trip than which a tenth of n is shorter: what wakes up late on a busy machine is in the others.
func short(t *testing.T, c net.Conn, n int) time.Duration { return roundTrips(t, c, n)[n/10] }

// roundTrips returns n round trips of 64 bytes, made one after the other, the shortest first.
func roundTrips(t *testing.T, c net.Conn, n int) []time.Duration {
	t.Helper()
	var all []time.Duration
	b := make([]byte, 64)
	for range n {
		time.Sleep(2 * time.Millisecond)
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

// 5 ms each way make a round trip 10 ms longer, within 2 %, than none by the same relay, and so they do to connecting. When
// they are over the round trip is as it was.
func TestDelayIsOneWayEachWay(t *testing.T) {
	r := start(t)
	address := listen(t, echo)
	c := dial(t, r, address)
	connect := func() time.Duration {
		var all []time.Duration
		for range 9 {
			began := time.Now()
			_ = dial(t, r, address).Close()
			all = append(all, time.Since(began))
		}
		slices.Sort(all)
		return all[len(all)/10] // what wakes up late on a busy machine is in the others
	}
	vitalstest.Injected(t, func() (complaint string) {
		floor, near := short(t, c, 100), connect()
		condition(t, r, Conditions{Delay: 5 * time.Millisecond}, Conditions{Delay: 5 * time.Millisecond})
		delayed, far := short(t, c, 100), connect()
		counts := condition(t, r, Conditions{}, Conditions{})
		after := median(t, c, 50)
		t.Logf("round trip %v, %v, %v; connecting %v, %v; %+v", floor, delayed, after, near, far, counts)
		if counts.To.Pieces < 100 || counts.From.Pieces < 100 {
			t.Errorf("%+v", counts)
		}
		// What is delayed wakes up twice, later on a busy machine: as late as from sleeps of the same length here.
		if over := delayed - floor - 10*time.Millisecond; over < -200*time.Microsecond || over > 200*time.Microsecond+2*overslept() {
			return fmt.Sprintf("5 ms each way made the round trip %v longer, not 10 ms", delayed-floor)
		}
		if over := far - near - 10*time.Millisecond; over < -time.Millisecond || over > time.Millisecond+2*overslept() {
			return fmt.Sprintf("5 ms each way made connecting %v longer, not 10 ms", far-near)
		}
		if after > 5*time.Millisecond {
			return fmt.Sprintf("the round trip is %v when the delay is over", after)
		}
		return ""
	})
}

// overslept is by how much the shorter ones of some sleeps of 5 ms are longer than that.
func overslept() time.Duration {
	var all []time.Duration
	for range 50 {
		began := time.Now()
		time.Sleep(5 * time.Millisecond)
		all = append(all, time.Since(began)-5*time.Millisecond)
	}
	slices.Sort(all)
	return all[len(all)/10]
}

// One direction's delay is in the round trip once, and jitter is around it.
func TestDirectionAndJitter(t *testing.T) {
	r := start(t)
	c := dial(t, r, listen(t, echo))
	vitalstest.Injected(t, func() (complaint string) {
		floor := median(t, c, 50)
		condition(t, r, Conditions{}, Conditions{Delay: 10 * time.Millisecond, Jitter: 5 * time.Millisecond})
		delayed := median(t, c, 100)
		condition(t, r, Conditions{}, Conditions{})
		if shift := delayed - floor; shift < 8*time.Millisecond || shift > 12*time.Millisecond {
			return fmt.Sprintf("10 ms ± 5 ms one way made the round trip %v longer", shift)
		}
		return ""
	})
}

// 10 mbit carry what is left of them beside the packets' headers, within 3 %, each way.
func TestRateIsCarried(t *testing.T) {
	const rate, n = 10_000_000, 2 << 20
	r := start(t)
	took := make(chan time.Duration, 2)
	address := listen(t, func(c *net.TCPConn) {
		if _, err := io.CopyN(io.Discard, c, n/5); err != nil {
			return
		}
		began := time.Now()
		if _, err := io.CopyN(io.Discard, c, n-n/5); err == nil {
			took <- time.Since(began)
		}
	})
	vitalstest.Injected(t, func() (complaint string) {
		condition(t, r, Conditions{Rate: rate}, Conditions{})
		c := dial(t, r, address)
		if _, err := c.Write(make([]byte, n)); err != nil {
			t.Fatal(err)
		}
		goodput := float64(n-n/5) * 8 / (<-took).Seconds()
		counts := condition(t, r, Conditions{}, Conditions{}).To
		carried := float64(counts.Bytes) * 8 / counts.Busy.Seconds()
		t.Logf("%.3f Mbit/s of payload, %.3f carried: %+v", goodput/1e6, carried/1e6, counts)
		if ratio := goodput / (rate * float64(segment) / (segment + headers)); math.Abs(ratio-1) > 0.03 {
			return fmt.Sprintf("%.3f Mbit/s of payload at 10 mbit", goodput/1e6)
		}
		if ratio := carried / rate; math.Abs(ratio-1) > 0.03 {
			return fmt.Sprintf("%.3f Mbit/s carried at 10 mbit", carried/1e6)
		}
		return ""
	})
}

// A cut of 2 s is an outage of 2 s: what was sent meanwhile arrives when it is over, nothing is lost, connections stay, and
// those that are made meanwhile wait as long.
func TestCutIsAnOutage(t *testing.T) {
	r := start(t)
	address := listen(t, echo)
	c := dial(t, r, address)
	const length = 2 * time.Second
	vitalstest.Injected(t, func() (complaint string) {
		began, err := r.Hold(true, true)
		if err != nil {
			t.Fatal(err)
		}
		connected := make(chan time.Duration, 1)
		begins := time.Now()
		go func() {
			if late, _, err := r.Via().Dial(t.Context(), "tcp", address); err == nil {
				_ = late.Close()
			}
			connected <- time.Since(begins)
		}()
		ended := make(chan Done, 1)
		time.AfterFunc(length, func() {
			done, err := r.Release(true, true)
			if err != nil {
				t.Error(err)
			}
			ended <- done
		})
		waited := median(t, c, 1)
		over := <-ended
		lasted := time.Duration(over.At - began.At)
		connecting := <-connected
		t.Logf("cut for %v, waited %v, connecting took %v", lasted, waited, connecting)
		if math.Abs(float64(waited)/float64(lasted)-1) > 0.025 || math.Abs(float64(connecting)/float64(lasted)-1) > 0.025 {
			return fmt.Sprintf("a cut of %v was an outage of %v, and of %v to who connects", lasted, waited, connecting)
		}
		return ""
	})
	if median(t, c, 10) > 100*time.Millisecond {
		t.Error("it is not over")
	}
}

// What waits when conditions end goes at once, in order, and what is written then waits for nothing. So it does where
// other conditions follow at once.
func TestEndOfADelay(t *testing.T) {
	for _, next := range []Conditions{{}, {Delay: time.Millisecond}} {
		r := start(t)
		c := dial(t, r, listen(t, echo))
		condition(t, r, Conditions{Delay: time.Hour}, Conditions{})
		for i := range 100 {
			if _, err := c.Write([]byte{byte(i)}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(100 * time.Microsecond) // so that there are several pieces
		}
		condition(t, r, next, Conditions{})
		b := make([]byte, 101)
		if _, err := io.ReadFull(c, b[:100]); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Write([]byte{100}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c, b[100:]); err != nil {
			t.Fatal(err)
		}
		for i := range b {
			if int(b[i]) != i {
				t.Fatalf("% x", b)
			}
		}
	}
}

// A direction is held until all who hold it have released it, and what was counted of the conditions stays counted.
func TestHoldsOverlap(t *testing.T) {
	r := start(t)
	c := dial(t, r, listen(t, echo))
	condition(t, r, Conditions{Delay: time.Millisecond}, Conditions{})
	roundTrips(t, c, 5)
	change := func(by func(to, from bool) (Done, error), to, from bool) {
		if _, err := by(to, from); err != nil {
			t.Fatal(err)
		}
	}
	change(r.Hold, true, false)
	change(r.Hold, true, true)
	change(r.Release, true, true)
	if _, err := c.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	came := make(chan time.Time, 1)
	go func() {
		if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
			t.Error(err)
		}
		came <- time.Now()
	}()
	time.Sleep(50 * time.Millisecond) // in which it would come
	released := time.Now()
	change(r.Release, true, false)
	if at := <-came; at.Before(released) {
		t.Error("the way opened with the second of two holds, and the first lasts")
	}
	roundTrips(t, c, 5)
	if n := condition(t, r, Conditions{}, Conditions{}).To.Pieces; n != 11 {
		t.Errorf("%d pieces were counted of 11", n)
	}
}

// Ends of connections pass as they are: half-closed, reset, refused.
func TestEndsPass(t *testing.T) {
	r := start(t)
	half := dial(t, r, listen(t, func(c *net.TCPConn) {
		all, _ := io.ReadAll(c)
		_, _ = c.Write(append(all, " and more"...))
		_ = c.Close()
	}))
	if _, err := half.Write([]byte("all")); err != nil {
		t.Fatal(err)
	}
	if err := half.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if all, err := io.ReadAll(half); err != nil || string(all) != "all and more" {
		t.Errorf("%q, %v", all, err)
	}
	broken := dial(t, r, listen(t, func(c *net.TCPConn) {
		_, _ = c.Read(make([]byte, 1))
		_ = c.SetLinger(0)
		_ = c.Close()
	}))
	if _, err := broken.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(broken); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("a reset is read as %v", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.Via().Dial(t.Context(), "tcp", address); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("a refusal is %v", err)
	}
}

// Who does not know the token is not served, and neither is anybody when the relay has ended: its connections have, too.
func TestOthersAreNotServed(t *testing.T) {
	r, err := Start([]string{os.Args[0], Command}, 7)
	if err != nil {
		t.Fatal(err)
	}
	address := listen(t, echo)
	if _, _, err := (Via{Address: r.Via().Address, Token: "guess"}).Dial(t.Context(), "tcp", address); err == nil {
		t.Error("a stranger was served")
	}
	c := dial(t, r, address)
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Error("a connection outlives the relay")
	}
	if _, _, err := r.Via().Dial(t.Context(), "tcp", address); err == nil {
		t.Error("a relay that has ended serves")
	}
	if _, err := r.Hold(true, true); err == nil {
		t.Error("a relay that has ended holds")
	}
}
