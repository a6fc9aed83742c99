package cli

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"sixnines/internal/integrity"
	"sixnines/internal/vitals/vitalstest"
	"sixnines/result"
)

// between is a proxy between clients and a server.
type between struct {
	server string // HOST:PORT
	ln     net.Listener
	carry  func(from, to net.Conn, up bool) // one direction, until either side closes
	all    sync.WaitGroup

	mu    sync.Mutex
	conns []net.Conn
}

// newBetween listens at a host, and ends with the test.
func newBetween(t *testing.T, host, server string, carry func(from, to net.Conn, up bool)) *between {
	t.Helper()
	ln, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		t.Fatal(err)
	}
	b := &between{server: server, ln: ln, carry: carry}
	b.all.Go(b.serve)
	t.Cleanup(b.close)
	return b
}

func (b *between) close() {
	b.ln.Close()
	b.mu.Lock()
	for _, c := range b.conns {
		c.Close()
	}
	b.mu.Unlock()
	b.all.Wait()
}

func (b *between) serve() {
	for {
		client, err := b.ln.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", b.server)
		if err != nil {
			client.Close()
			continue
		}
		b.mu.Lock()
		b.conns = append(b.conns, client, server)
		b.mu.Unlock()
		for _, up := range []bool{true, false} {
			from, to := server, client
			if up {
				from, to = client, server
			}
			b.all.Go(func() {
				defer from.Close()
				defer to.Close()
				b.carry(from, to, up)
			})
		}
	}
}

// slowUp carries what clients send to the server so much later.
func slowUp(more time.Duration) func(from, to net.Conn, up bool) {
	type piece struct {
		text []byte
		due  time.Time
	}
	return func(from, to net.Conn, up bool) {
		if !up {
			_, _ = io.Copy(to, from) // its error is the end of the connection
			return
		}
		way := make(chan piece, 1<<10)
		go func() {
			defer close(way)
			for buf := make([]byte, 64<<10); ; {
				n, err := from.Read(buf)
				if err != nil {
					return
				}
				way <- piece{bytes.Clone(buf[:n]), time.Now().Add(more)}
			}
		}()
		for p := range way {
			time.Sleep(time.Until(p.due)) // it is what the way takes
			if _, err := to.Write(p.text); err != nil {
				from.Close()
			}
		}
	}
}

// meddler is what carries messages of the NATS protocol. Of those of a window, which it knows by their envelopes, it drops
// some, sends some twice, and swaps some with the next of their stream, and counts what it has done.
type meddler struct {
	mu                             sync.Mutex
	dropped, doubled, behind, seen map[meddled]int64
}

// meddled is a message: its stream, and its number there.
type meddled struct {
	stream uint32
	number uint64
}

func newMeddler() *meddler {
	return &meddler{dropped: map[meddled]int64{}, doubled: map[meddled]int64{}, behind: map[meddled]int64{}, seen: map[meddled]int64{}}
}

// carry passes the frames of one direction on.
func (m *meddler) carry(from, to net.Conn, up bool) {
	change := m.delivered()
	if up {
		change = m.published()
	}
	r := bufio.NewReaderSize(from, 64<<10)
	for {
		frame, payload, err := readFrame(r)
		if err != nil {
			return
		}
		for _, out := range change(frame, payload) {
			if _, err := to.Write(out); err != nil {
				return
			}
		}
	}
}

// readFrame reads a line of the protocol, with the payload if it has one. payload is a part of frame.
func readFrame(r *bufio.Reader) (frame, payload []byte, err error) {
	line, err := r.ReadBytes('\n')
	if err != nil {
		return nil, nil, err
	}
	words := strings.Fields(string(line))
	if len(words) == 0 {
		return line, nil, nil
	}
	switch verb := strings.ToUpper(words[0]); verb {
	case "PUB", "HPUB", "MSG", "HMSG":
		size, err := strconv.Atoi(words[len(words)-1])
		if err != nil {
			return nil, nil, err
		}
		header := 0
		if verb[0] == 'H' {
			if header, err = strconv.Atoi(words[len(words)-2]); err != nil {
				return nil, nil, err
			}
		}
		frame = make([]byte, len(line)+size+len("\r\n"))
		copy(frame, line)
		if _, err := io.ReadFull(r, frame[len(line):]); err != nil {
			return nil, nil, err
		}
		return frame, frame[len(line)+header : len(line)+size], nil
	}
	return line, nil, nil
}

// windowed returns which message of the window a payload is.
func windowed(payload []byte) (m meddled, is bool) {
	var e integrity.Envelope
	if e.Get(payload, true) != integrity.Good || e.Kind != integrity.Data {
		return m, false
	}
	return meddled{e.Stream, e.Sequence}, true
}

// What becomes of a message is by its number, modulo meddleEvery.
const (
	meddleEvery   = 20
	dropsSent     = 3  // on the way to the broker
	dropsReceived = 17 // on the way from it
	doublesSent   = 8  // on the way to the broker: its copies go to any members of a group
	swapsReceived = 14 // on the way from the broker, with the next message of its stream on that connection
	lastSwapped   = 400
)

// published is what becomes of what a producer sends.
func (m *meddler) published() func(frame, payload []byte) [][]byte {
	return func(frame, payload []byte) [][]byte {
		of, is := windowed(payload)
		if !is {
			return [][]byte{frame}
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		m.seen[of]++
		switch of.number % meddleEvery {
		case dropsSent:
			m.dropped[of]++
			return nil
		case doublesSent:
			m.doubled[of]++
			return [][]byte{frame, frame}
		}
		return [][]byte{frame}
	}
}

// delivered is what becomes of what a consumer gets.
func (m *meddler) delivered() func(frame, payload []byte) [][]byte {
	held := map[uint32][]byte{} // by stream
	return func(frame, payload []byte) [][]byte {
		of, is := windowed(payload)
		if !is {
			return [][]byte{frame}
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		if of.number%meddleEvery == dropsReceived {
			m.dropped[of]++
			return nil
		}
		if first := held[of.stream]; first != nil {
			delete(held, of.stream)
			return [][]byte{frame, first}
		}
		if of.number%meddleEvery == swapsReceived && of.number < lastSwapped { // many more of its stream come by this connection
			held[of.stream] = bytes.Clone(frame)
			m.behind[of]++
			return nil
		}
		return [][]byte{frame}
	}
}

// One agent of three sends, two receive as members of one group, and between them and the broker messages are dropped, sent twice
// and swapped, each in a network namespace of its own. The accounts have exactly that, whichever agents the copies came to, the
// distributions are those of the agents, and merging the agents' results again gives the same.
func TestAFleetInNamespacesAccountsForFaults(t *testing.T) {
	t.Parallel()
	f := newApartFleet(t)
	m := newMeddler()
	f.broker = "nats://" + newBetween(t, f.network.Host().String(), strings.TrimPrefix(f.broker, "nats://"), m.carry).ln.Addr().String()
	c, _ := f.run("faults", "--duration", "2s", "--drain", "1s", "--producers", "2", "--topics", "1", "--consumers", "2", "--groups", "1",
		"--fleet-producers", "m1", "--fleet-consumers", "m2,m3")
	f.ends(c)
	run := f.result("faults")
	m.mu.Lock()
	defer m.mu.Unlock()
	n, lost := run.Counters, int64(len(m.dropped))
	want := result.Counters{Scheduled: 1200, Sent: 1200, Expected: 1200, Received: 1200 - lost, Missing: lost, Duplicated: int64(len(m.doubled)), Reordered: int64(len(m.behind))}
	got := result.Counters{Scheduled: n.Scheduled, Sent: n.Sent, Expected: n.Expected, Received: n.Received, Missing: n.Missing, Duplicated: n.Duplicated, Reordered: n.Reordered}
	if got != want || len(m.seen) != 1200 || n.Corrupted+n.Late+n.Foreign != 0 {
		t.Errorf("%d messages were published, and the accounts are\n%+v, want\n%+v", len(m.seen), n, want)
	}
	if lost < 100 || len(m.doubled) < 50 || len(m.behind) < 30 {
		t.Errorf("%d were dropped, %d sent twice, %d swapped", lost, len(m.doubled), len(m.behind))
	}
	// That no copy of sixty went to the other agent is as likely as heads sixty times.
	if run.Closing.Twice == 0 || run.Closing.Twice > n.Duplicated {
		t.Errorf("%d messages came to two agents", run.Closing.Twice)
	}
	if x := run.Metrics[result.DeliveryResponse]; x.Hist.Count() != n.Received+run.Closing.Twice || x.Censored.Count() != lost {
		t.Errorf("%d latencies and %d lower bounds; %d came, of these %d to two agents, and %d were dropped", x.Hist.Count(), x.Censored.Count(), n.Received, run.Closing.Twice, lost)
	}
	again := exec.Command("sixnines", "verify", filepath.Join(f.dir, "results"))
	again.Env = append(os.Environ(), "NO_COLOR=1", "SIXNINES_HOME="+filepath.Join(f.dir, "home"))
	if out, err := again.CombinedOutput(); err != nil || !strings.Contains(string(out), "OK: ") || !strings.Contains(string(out), fmt.Sprintf("the results of %d agents", 3)) {
		t.Errorf("verify: %v\n%s", err, out)
	}
}

// The clock of one agent is a thousand seconds ahead, and what it sends to the control plane takes twenty milliseconds more than what it
// gets. No question over that way can show it, since nobody knows the truth but this test. The agents ask each other directly as
// well: the loop does not close, and the expected error becomes as large as the real one.
func TestAFleetInNamespacesFindsAWayThatIsNotSymmetric(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("unshare"); err != nil {
		t.Skipf("SKIPPED: %v", err)
	}
	vitalstest.Injected(t, func() string { return notSymmetric(t) })
}

// notSymmetric complains if a clock could not be followed at all, as where other programs have the processors.
func notSymmetric(t *testing.T) (complaint string) {
	const ahead, more = 1000 * time.Second, 20 * time.Millisecond
	f := newApartFleet(t)
	f.way = func(agent int, at string) ([]string, string) {
		if agent != 0 {
			return nil, at
		}
		seconds := strconv.Itoa(int(ahead.Seconds()))
		return []string{"unshare", "-T", "--monotonic", seconds, "--boottime", seconds}, newBetween(t, f.network.Host().String(), at, slowUp(more)).ln.Addr().String()
	}
	c, _ := f.run("asymmetric", "--duration", "3s", "--drain", "1s", "--producers", "2", "--topics", "1", "--consumers", "2", "--groups", "1",
		"--fleet-producers", "m1", "--fleet-consumers", "m2,m3")
	f.ends(c)
	run := f.result("asymmetric")
	for _, a := range run.Header.Fleet.Agents {
		c, truth := a.Clock, time.Duration(0)
		if a.Name == "m1" {
			truth = ahead
		}
		if c == nil {
			t.Fatalf("nothing is said of the clock of agent %s", a.Name)
		}
		if !c.Unknown && c.Loops == 0 {
			t.Errorf("no loop was closed over the clock of agent %s: %+v", a.Name, c)
		}
		if c.Unknown {
			complaint = fmt.Sprintf("agent %s: %+v", a.Name, c)
			continue
		}
		wrong := c.Offset - int64(truth)
		wrong = max(wrong, -wrong)
		t.Logf("agent %s is wrong by %d ns: %+v", a.Name, wrong, c)
		if wrong > c.Expected || c.Expected > c.Proved || !c.Open || a.Name == "m1" && (wrong < int64(more)/4 || c.Loop < int64(more)/4) {
			t.Errorf("agent %s is wrong by %d ns, and the result has %+v", a.Name, wrong, c)
		}
	}
	return complaint
}
