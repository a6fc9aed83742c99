package vitals

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sixnines/internal/vitals/vitalstest"
	"sixnines/result"
)

// starvedChild is a simple broker: it accepts one connection. The first byte of its standard
// input is a number of threads, which it then runs on one processor, each busy all the time.
const starvedChild = "starved"

func serveStarved() {
	runtime.GOMAXPROCS(4)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(l.Addr())
	// A connection belongs to no process until it is accepted.
	c, err := l.Accept()
	if err == nil {
		_, err = c.Write([]byte{0})
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	threads := make([]byte, 1)
	if _, err := io.ReadFull(os.Stdin, threads); err == nil {
		var allowed, one unix.CPUSet
		unix.SchedGetaffinity(0, &allowed)
		for n := 0; one.Count() == 0; n++ {
			if allowed.IsSet(n) {
				one.Set(n)
			}
		}
		for range threads[0] {
			go func() {
				runtime.LockOSThread()
				unix.SchedSetaffinity(0, &one)
				for n := 0; ; n++ {
					runtime.KeepAlive(n)
				}
			}()
		}
		io.Copy(io.Discard, os.Stdin)
	}
}

// starvable is such a process and a connection to it.
type starvable struct {
	stdin io.WriteCloser
	conn  net.Conn
	end   func()
}

func startStarvable(t *testing.T, how func(*exec.Cmd)) *starvable {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), freezeVariable+"="+starvedChild)
	if how != nil {
		how(cmd)
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := &starvable{stdin: stdin}
	s.end = func() {
		cmd.Process.Kill()
		cmd.Wait()
		if s.conn != nil {
			s.conn.Close()
		}
	}
	t.Cleanup(s.end)
	address, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if s.conn, err = net.Dial("tcp", strings.TrimSpace(address)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(s.conn, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *starvable) connections() []Connection {
	return []Connection{{s.conn.LocalAddr().(*net.TCPAddr).AddrPort(), s.conn.RemoteAddr().(*net.TCPAddr).AddrPort()}}
}

// A broker whose threads wait for a processor is found by its connection, and so is a
// process that replaces it.
func TestStarvedBroker(t *testing.T) {
	broker := startStarvable(t, nil)
	now := make(chan *starvable, 1)
	now <- broker
	m := start(t, Options{Connections: func() []Connection {
		b := <-now
		defer func() { now <- b }()
		return b.connections()
	}})
	for range 2 {
		if _, err := broker.stdin.Write([]byte{2}); err != nil {
			t.Fatal(err)
		}
		m.NewPauses()
		var busy, wait float64
		await(t, func() bool {
			time.Sleep(200 * time.Millisecond)
			s := m.Sample()
			b, _ := s.Lookup(result.VitalBrokerBusy)
			w, _ := s.Lookup(result.VitalBrokerWait)
			busy, wait = b.Value, w.Value
			return busy > 0 && wait > busy/2 &&
				slices.ContainsFunc(m.NewPauses(), func(p Pause) bool { return p.Source == result.PauseStarved && p.End > p.Start })
		})
		t.Logf("busy %.2f, waiting %.2f", busy, wait)
		<-now
		broker.end()
		broker = startStarvable(t, nil)
		now <- broker
	}
	for what, why := range m.Missing() {
		if strings.Contains(what, string(result.PauseStarved)) || strings.Contains(what, "broker.") {
			t.Error(what, why)
		}
	}
}

// A broker that its own quota stops is not starved.
func TestQuotaStarvesNoBroker(t *testing.T) {
	g := quotaGroup(t)
	g.limit(t, 30*time.Millisecond) // of 100
	vitalstest.Injected(t, func() string {
		broker := startStarvable(t, g.enclose)
		defer broker.end()
		if _, err := broker.stdin.Write([]byte{1}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(3 * slowLook)) // the first stop is over
		m := start(t, Options{Connections: broker.connections})
		defer m.Stop()
		time.Sleep(time.Second)
		s := m.Sample()
		busy, _ := s.Lookup(result.VitalBrokerBusy)
		wait, _ := s.Lookup(result.VitalBrokerWait)
		t.Logf("busy %.2f, waiting %.2f", busy.Value, wait.Value)
		if busy.Value < 0.1 || slices.ContainsFunc(m.Pauses(), func(p Pause) bool { return p.Source == result.PauseStarved }) {
			return fmt.Sprintf("busy %.2f, waiting %.2f, %v", busy.Value, wait.Value, m.Pauses())
		}
		return ""
	})
}

// A broker on another machine is not watched, and that is not an error.
func TestBrokerElsewhere(t *testing.T) {
	m := start(t, Options{Connections: func() []Connection { return nil }})
	time.Sleep(150 * time.Millisecond)
	if v, ok := m.Sample().Lookup(result.VitalBrokerBusy); ok {
		t.Errorf("%+v", v)
	}
	for what, why := range m.Missing() {
		if strings.Contains(what, string(result.PauseStarved)) || strings.Contains(what, "broker.") {
			t.Error(what, why)
		}
	}
}

// BenchmarkBrokerLook is the cost of a look at a broker with a hundred threads.
func BenchmarkBrokerLook(b *testing.B) {
	stop := make(chan struct{})
	defer close(stop)
	for range 100 {
		go func() {
			runtime.LockOSThread()
			<-stop
		}()
	}
	time.Sleep(100 * time.Millisecond)
	p, err := openBrokerProcess(self, 1)
	if err != nil {
		b.Fatal(err)
	}
	w := &starvedWatch{processes: map[int]*brokerProcess{1: p}, most: 1, last: 1}
	defer w.close()
	b.ReportAllocs()
	now := int64(1)
	for b.Loop() {
		now += slowLook
		if _, err := w.look(now, nil); err != nil {
			b.Fatal(err)
		}
	}
}
