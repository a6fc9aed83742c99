package watch

import (
	"io"
	"net"
	"runtime"
	"slices"
	"testing"

	"sixnines/internal/transport"
	"sixnines/result"
)

// scripted is a set of connections whose kernel says what the test wants.
type scripted struct {
	conns []*transport.Conn
	retr  map[*transport.Conn]uint32
	rtt   int64
}

func (s *scripted) open() []*transport.Conn { return s.conns }

func (s *scripted) info(c *transport.Conn) (tcpInfo, bool) {
	n, ok := s.retr[c]
	return tcpInfo{n, s.rtt}, ok
}

// Growth between two looks is a stretch from one look to the other; stretches
// that meet are one; retransmissions before the window are not counted.
func TestRetransmissionsBecomePauses(t *testing.T) {
	a, b, mute := &transport.Conn{}, &transport.Conn{}, &transport.Conn{}
	s := &scripted{conns: []*transport.Conn{a, mute}, retr: map[*transport.Conn]uint32{a: 7}, rtt: 1000}
	w := newTCPWatch(s.open, s.info, func() {})
	w.begin()
	const start, ms = 5_000_000, 1_000_000
	w.look(start)
	look := func(at int64, more uint32) {
		s.retr[a] += more
		w.look(start + at*ms)
	}
	look(100, 0)
	look(200, 2)
	look(300, 1)
	vitals := map[result.Vital]float64{}
	if p := w.interval(start, false, vitals); len(p) != 0 {
		t.Errorf("%+v has not ended", p)
	}
	if vitals[result.VitalTCPRetransmissions] != 3 || vitals[result.VitalTCPRTTMax] != 1000 || vitals[result.VitalTCPRTTMean] != 1000 {
		t.Errorf("%v", vitals)
	}
	s.conns, s.retr[b], s.rtt = append(s.conns, b), 4, 3000 // a new one that has already had to
	look(400, 0)
	look(500, 0)
	s.conns = s.conns[1:] // a is closed: its count goes, and is no growth
	look(600, 0)
	look(700, 0)
	s.retr[b]++
	look(800, 0)
	clear(vitals)
	got := w.interval(start, true, vitals)
	want := []result.Pause{{Start: 100 * ms, End: 400 * ms, Source: result.PauseRetransmit},
		{Start: 700 * ms, End: 800 * ms, Source: result.PauseRetransmit}}
	if !slices.Equal(got, want) || vitals[result.VitalTCPRetransmissions] != 5 || vitals[result.VitalTCPRTTMax] != 3000 {
		t.Errorf("%+v, want %+v; %v", got, want, vitals)
	}
	clear(vitals)
	if got := w.interval(start, true, vitals); len(got)+len(vitals) != 0 {
		t.Errorf("nothing was looked at, and yet %+v %v", got, vitals)
	}
}

// The list of stretches is bounded, and the rest counted.
func TestRetransmissionsAreBounded(t *testing.T) {
	c := &transport.Conn{}
	s := &scripted{conns: []*transport.Conn{c}, retr: map[*transport.Conn]uint32{c: 0}}
	w := newTCPWatch(s.open, s.info, func() {})
	w.begin()
	n := 0
	for i := range int64(2 * (tcpPauses + 10)) {
		s.retr[c] += uint32(i % 2)
		w.look(w.last + 1)
		n += len(w.interval(0, false, map[result.Vital]float64{}))
	}
	if n += len(w.interval(0, true, map[result.Vital]float64{})); n != tcpPauses || w.unseen != 10 {
		t.Errorf("%d stretches listed, %d not", n, w.unseen)
	}
	// Many connections are looked at less often.
	s.conns = make([]*transport.Conn, 10*tcpAtOnce)
	for i := range s.conns {
		s.conns[i] = &transport.Conn{}
	}
	w.look(w.last + 1)
	if w.next-w.last != 11*int64(tcpPeriod) {
		t.Errorf("the next look at %d connections is after %d ns", len(s.conns), w.next-w.last)
	}
}

// readTCP reads what the kernel says of a TCP connection, and refuses other connections.
func TestReadTCP(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("TCP_INFO is read on Linux only")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		if c, err := l.Accept(); err == nil {
			_, _ = io.Copy(c, c)
			c.Close()
		}
	}()
	d := transport.NewDialer(false)
	c, err := d.Dial(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if i, ok := readTCP(c.(*transport.Conn)); !ok || i.rtt <= 0 || i.retransmitted > 1000 {
		t.Errorf("%+v, %v", i, ok)
	}
	pipe, _ := net.Pipe()
	if i, ok := readTCP(&transport.Conn{Conn: pipe}); ok {
		t.Errorf("a pipe has %+v", i)
	}
	c.Close()
	if i, ok := readTCP(c.(*transport.Conn)); ok {
		t.Errorf("a closed connection has %+v", i)
	}
}
