package mem_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"sixnines/driver"
	"sixnines/drivers/mem"
)

// Synchronously, all has happened when Send returns, and nothing was copied.
func TestSync(t *testing.T) {
	s := open(t, mem.New(), map[string]any{"sync": true, "ack": "broker"})
	payload := key{0, 1}.write()
	delivered := 0
	for id, group := range []string{"", "", "g", "g"} {
		subscribe(t, s, id, group, func(m driver.Message) {
			delivered++
			if &m.Payload[0] != &payload[0] {
				t.Error("the payload is a copy")
			}
		})
	}
	v := newVerdicts()
	p := connect(t, s, 0, v)
	for n := range 10 {
		if err := p.Send(uint64(n), payload); err != nil {
			t.Fatal(err)
		}
		if delivered != 3*(n+1) || v.calls != n+1 {
			t.Fatalf("after %d Send, %d deliveries and %d Done", n+1, delivered, v.calls)
		}
	}
}

func TestSyncRequests(t *testing.T) {
	s := open(t, mem.New(), map[string]any{"sync": true})
	rr := s.(driver.RequestReplier)
	if _, err := rr.Responder(t.Context(), driver.ConsumerSpec{Topics: []string{"t0"}}, func(m driver.Message) []byte {
		if k, _ := read(m.Payload); k.seq%2 == 0 {
			return nil
		}
		return m.Payload
	}); err != nil {
		t.Fatal(err)
	}
	var came arrivals
	p, err := rr.Requester(t.Context(), driver.ProducerSpec{Topic: "t0"}, discard{}, came.deliver())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := send(p, 0, 10); err != nil {
		t.Fatal(err)
	}
	if got := came.list(); len(got) != 5 || got[0].seq != 1 || got[4].seq != 9 {
		t.Errorf("replies: %v", got)
	}
}

// Sessions of one run meet at the broker, whichever way their consumers are
// served.
func TestSyncBesideQueue(t *testing.T) {
	b := mem.New()
	direct, queued := open(t, b, map[string]any{"sync": true}), open(t, b, nil)
	one, two := newObserver(), newObserver()
	subscribe(t, direct, 0, "", one.member())
	subscribe(t, queued, 0, "", two.member())
	const n = 100
	for id, s := range []driver.Session{direct, queued} {
		if _, err := send(connect(t, s, id, discard{}), uint32(id), n); err != nil {
			t.Fatal(err)
		}
	}
	one.wait(2 * n)
	two.wait(2 * n)
	if len(one.reordered)+len(two.reordered)+one.duplicated+two.duplicated > 0 {
		t.Error("something came twice or out of order")
	}
}

// Close waits for a Deliver that runs, as long as its context.
func TestCloseWaitsForDeliver(t *testing.T) {
	for _, sync := range []bool{false, true} {
		s := open(t, mem.New(), map[string]any{"sync": sync})
		entered, release := make(chan struct{}), make(chan struct{})
		c := subscribe(t, s, 0, "", func(driver.Message) {
			close(entered)
			<-release
		})
		p := connect(t, s, 0, discard{})
		sent := make(chan error, 1)
		go func() {
			_, err := send(p, 0, 1)
			sent <- err
		}()
		<-entered
		short, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		if err := c.Close(short); !errors.Is(err, driver.ErrTimeout) {
			t.Errorf("sync %v: Close during Deliver returns %v", sync, err)
		}
		cancel()
		close(release)
		if err := errors.Join(c.Close(t.Context()), <-sent); err != nil {
			t.Errorf("sync %v: %v", sync, err)
		}
		if _, err := send(p, 0, 5); err != nil { // close(entered) would panic
			t.Errorf("sync %v: after the consumer has left: %v", sync, err)
		}
	}
}
