package mqtt

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"testing"

	pahopackets "github.com/eclipse/paho.golang/packets"
	"github.com/eclipse/paho.golang/paho"

	"sixnines/driver"
)

// outcomes keeps what Done is told, by token.
type outcomes map[uint64]error

func (o outcomes) Done(token uint64, err error) { o[token] = err }

// session5Of returns a session that is connected to w with the options.
func session5Of(t *testing.T, o Options, w net.Conn) *session5 {
	t.Helper()
	s := &session{options: o}
	s.life, s.cancel = context.WithCancel(t.Context())
	t.Cleanup(s.cancel)
	k := newSession5(s.newLink(linkKey{roleProducer, 0}, nil))
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
	empty := s.empty()
	s.end(errLost)
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
	in := packets{src: &reader{to.calls[0]}}
	first, body, err := in.next()
	if err != nil {
		t.Fatal(err)
	}
	if p, err := parsePublish(true, first, body); err != nil || string(p.topic) != "topic" || string(p.payload) != "payload" || p.id != 7 {
		t.Errorf("got %+v, %v", p, err)
	}
}

// reader reads its bytes once.
type reader struct{ left []byte }

func (r *reader) Read(b []byte) (int, error) {
	n := copy(b, r.left)
	r.left = r.left[n:]
	return n, nil
}

func TestQueue3(t *testing.T) {
	var q queue3
	q.init(2)
	for token := range uint64(2) {
		if !q.reserve() {
			t.Fatal("no place")
		}
		q.push(sent3{entry: entry{token: token}})
	}
	waited := make(chan bool, 1)
	go func() { waited <- q.reserve() }()
	var order []uint64
	for _, m := range q.next() {
		order = append(order, m.entry.token)
	}
	select {
	case <-waited:
		t.Error("a third place of two is given")
	default:
	}
	empty := q.empty()
	q.free()
	if !<-waited {
		t.Error("a place that is free is not given")
	}
	q.push(sent3{entry: entry{token: 2}})
	for _, m := range q.next() {
		order = append(order, m.entry.token)
	}
	if fmt.Sprint(order) != "[0 1 2]" {
		t.Errorf("order %v", order)
	}
	go func() { waited <- q.reserve() }()
	q.close()
	if <-waited {
		t.Error("a place is given after the end")
	}
	q.free()
	q.free()
	<-empty
	q.end()
	if rest := q.next(); len(rest) != 0 {
		t.Errorf("%d messages after the end", len(rest))
	}
}
