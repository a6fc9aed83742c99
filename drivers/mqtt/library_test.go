package mqtt

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	pahopackets "github.com/eclipse/paho.golang/packets"
	"github.com/eclipse/paho.golang/paho"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// outcomes keeps what Done is told, by token.
type outcomes map[uint64]error

func (o outcomes) Done(token uint64, err error) { o[token] = err }

// session5Of returns a session that is connected to w with the options.
func session5Of(t *testing.T, o Options, w net.Conn) *session5 {
	t.Helper()
	s, err := newSession(driver.Target{URL: "127.0.0.1", Run: "test"}, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Stop() })
	var f flight
	f.init(idMost, nil)
	k := newSession5(s.newLink(kit.Key{Role: kit.Producer}, nil), &f)
	if err := k.ConAckReceived(w, &pahopackets.Connect{}, &pahopackets.Connack{}); err != nil {
		t.Fatal(err)
	}
	return k
}

// The session learns what the library tells nobody: the outcome of each message.
func TestSession5TellsOutcomes(t *testing.T) {
	s := session5Of(t, DefaultOptions(), nowhere{})
	got := outcomes{}
	var ids []uint16
	for token := range uint64(6) {
		m := newMessage5(&producer{flags: 1 << 1})
		m.entry = entry{got, token}
		if err := s.AddToSession(m, (&paho.Publish{QoS: 1, Topic: "t"}).Packet(), make(chan pahopackets.ControlPacket, 1)); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, m.id)
	}
	answer := func(kind byte, content pahopackets.Packet) {
		t.Helper()
		p := pahopackets.NewControlPacket(kind)
		p.Content = content
		if err := s.PacketReceived(p, nil); err != nil {
			t.Error(err)
		}
	}
	none := &pahopackets.Properties{}
	answer(pahopackets.PUBACK, &pahopackets.Puback{PacketID: ids[1], Properties: none})
	answer(pahopackets.PUBACK, &pahopackets.Puback{PacketID: ids[0], Properties: none, ReasonCode: 0x97})
	answer(pahopackets.PUBREC, &pahopackets.Pubrec{PacketID: ids[2], Properties: none, ReasonCode: 0x87})
	answer(pahopackets.PUBREC, &pahopackets.Pubrec{PacketID: ids[3], Properties: none})
	answer(pahopackets.PUBACK, &pahopackets.Puback{PacketID: 999, Properties: none})
	if len(got) != 3 {
		t.Errorf("%d messages have an outcome, want 3", len(got))
	}
	answer(pahopackets.PUBCOMP, &pahopackets.Pubcomp{PacketID: ids[3], Properties: none})
	if err := s.ConnectionLost(nil); err != nil {
		t.Fatal(err)
	}
	answer(pahopackets.PUBREC, &pahopackets.Pubrec{PacketID: ids[4], Properties: none}) // the library would crash
	empty := s.flight.empty()
	s.flight.end(driver.ErrTimeout)
	<-empty
	for token, want := range map[uint64]error{0: driver.ErrThrottled, 1: nil, 2: driver.ErrUnauthorized, 3: nil, 4: driver.ErrTimeout, 5: driver.ErrTimeout} {
		if err, ok := got[token]; !ok || !errors.Is(err, want) {
			t.Errorf("message %d: %v, %v, want %v", token, err, ok, want)
		}
	}
}

// The library keeps the limit of the driver's, and lets go of who waits when the
// connection is lost.
func TestSession5LimitsWhatIsInFlight(t *testing.T) {
	o := DefaultOptions()
	o.Client, o.MaxInflight = library, 2
	s := session5Of(t, o, nowhere{})
	add := func() error {
		return s.AddToSession(t.Context(), (&paho.Publish{QoS: 1, Topic: "t"}).Packet(), make(chan pahopackets.ControlPacket, 1))
	}
	for range 2 {
		if err := add(); err != nil {
			t.Fatal(err)
		}
	}
	third := make(chan error, 1)
	go func() { third <- add() }()
	select {
	case err := <-third:
		t.Fatalf("a third message is in flight: %v", err)
	default:
	}
	if err := s.ConnectionLost(nil); err != nil {
		t.Fatal(err)
	}
	if err := <-third; err == nil {
		t.Error("a message is sent on a connection that was lost")
	}
}

// nowhere takes all that is written.
type nowhere struct{ net.Conn }

func (nowhere) Write(b []byte) (int, error) { return len(b), nil }

// counted keeps what is written, call by call.
type counted struct {
	net.Conn
	calls [][]byte
	err   error
}

func (c *counted) Write(b []byte) (int, error) {
	c.calls = append(c.calls, slices.Clone(b))
	return len(b), c.err
}

func (c *counted) Close() error { return nil }

func TestWholeWrites(t *testing.T) {
	to := &counted{}
	w := &wholeWrites{Conn: to}
	for i := range 3 {
		if i == 1 {
			to.err = errors.New("broken")
		}
		_, err := (&paho.Publish{PacketID: 7, QoS: 1, Topic: "topic", Payload: []byte("payload")}).Packet().WriteTo(w)
		if (err != nil) != (i == 2) || w.failed.Load() != (i > 0) {
			t.Errorf("packet %d: %v, failed %v", i, err, w.failed.Load())
		}
	}
	if len(to.calls) != 2 {
		t.Errorf("packets are written by %d calls, want one for each until the first error", len(to.calls))
	}
	first, body := split(to.calls[0])
	if p, err := parsePublish(true, first, body); err != nil || string(p.topic) != "topic" || string(p.payload) != "payload" || p.id != 7 {
		t.Errorf("got %+v, %v", p, err)
	}
}

func TestFlight(t *testing.T) {
	var f flight
	var flushed atomic.Int64
	f.init(2, func() error { flushed.Add(1); return nil })
	got := outcomes{}
	reserve := func(token uint64) uint16 {
		number, err := f.reserve(got, token)
		if err != nil {
			number = 0
		}
		return number
	}
	one, two := reserve(1), reserve(2)
	waited := make(chan uint16, 1)
	go func() { waited <- reserve(3) }()
	for flushed.Load() == 0 {
		runtime.Gosched()
	}
	select {
	case <-waited:
		t.Error("a third place of two is given")
	default:
	}
	f.settle(one, nil)
	if three := <-waited; three != one {
		t.Errorf("numbers %d, %d and %d, want that used again which is free", one, two, three)
	}
	empty := f.empty()
	if e, ok := f.release(two); !ok || e.token != 2 {
		t.Errorf("released %v, %v", e, ok)
	}
	if _, ok := f.release(two); ok {
		t.Error("a message is released twice")
	}
	f.put(700, entry{got, 4}) // a library waits by itself
	f.put(7, entry{got, 5})
	if e, ok := f.take(7); !ok || e.token != 5 {
		t.Errorf("took %v, %v", e, ok)
	}
	if _, ok := f.take(8); ok {
		t.Error("a message is taken that was never put")
	}
	go func() { waited <- reserve(6) }()
	for flushed.Load() == 1 {
		runtime.Gosched()
	}
	lost := errors.New("lost")
	f.end(lost)
	if <-waited != 0 || !f.over() {
		t.Error("a place is given after the end")
	}
	<-empty
	if f.empty() != nil {
		t.Error("something is in flight after the end")
	}
	if want := (outcomes{1: nil, 3: lost, 4: lost}); !maps.Equal(got, want) {
		t.Errorf("resolved %v, want %v", got, want)
	}
}

func TestQueue3(t *testing.T) {
	var q queue3
	q.some.L = &q.mu
	var order []uint16
	for _, numbers := range [][]uint16{{1, 2}, {3}} {
		for _, n := range numbers {
			q.push(sent3{number: n})
		}
		for _, m := range q.next() {
			order = append(order, m.number)
		}
	}
	if fmt.Sprint(order) != "[1 2 3]" {
		t.Errorf("order %v", order)
	}
	q.end()
	if rest := q.next(); len(rest) != 0 {
		t.Errorf("%d messages after the end", len(rest))
	}
}
