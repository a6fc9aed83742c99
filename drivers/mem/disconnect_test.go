package mem_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sixnines/driver"
	"sixnines/drivers/mem"
)

// events takes down what a driver reports, and when.
type events struct {
	mu    sync.Mutex
	start time.Time
	all   []string
}

func (e *events) notify(x driver.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	text := fmt.Sprintf("%v %s %s", time.Since(e.start), x.Kind, x.Detail)
	if x.Err != nil {
		text += fmt.Sprint(": ", driver.Class(x.Err))
	}
	e.all = append(e.all, text)
}

// sorted returns what was reported, in the order of text.
func (e *events) sorted() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Sorted(slices.Values(e.all))
}

// outage sends a message each 10 ms from producer 0 over a session of b with two producers and
// two consumers, connections of which are cut, and returns what came, and what Send and Done
// said: "Send" or "Done" with the class of the error, empty for none.
func outage(t *testing.T, b *mem.Broker, options map[string]any, n uint64) (came []arrival, said []string, reported []string) {
	t.Helper()
	e := events{start: time.Now()}
	s, err := b.Entry().Driver.Open(t.Context(), driver.Target{Run: "r", Notify: e.notify,
		Options: merged(map[string]any{"begin": "open", "ack": "broker", "delay": "15ms", "ack_delay": "25ms"}, options)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(t.Context())
	if _, err := s.Provision(t.Context(), driver.Topology{Topics: []string{"t0"}}); err != nil {
		t.Fatal(err)
	}
	var one, two arrivals
	subscribe(t, s, 0, "", one.deliver())
	subscribe(t, s, 1, "", two.deliver())
	v := newVerdicts()
	p := connect(t, s, 0, v)
	connect(t, s, 1, v)
	said = make([]string, n)
	for seq := range n {
		k := key{0, seq}
		if err := p.Send(token(k), k.write()); err != nil {
			said[seq] = fmt.Sprint("Send ", driver.Class(err))
		}
		time.Sleep(10 * time.Millisecond)
	}
	time.Sleep(100 * time.Millisecond)
	synctest.Wait()
	for seq := range n {
		switch errs := v.of[token(key{0, seq})]; {
		case len(errs) == 0 && said[seq] == "":
			said[seq] = "nothing"
		case len(errs) > 1 || len(errs) == 1 && said[seq] != "":
			t.Errorf("message %d: %v after %q", seq, errs, said[seq])
		case len(errs) == 1 && errs[0] != nil:
			said[seq] = fmt.Sprint("Done ", driver.Class(errs[0]))
		}
	}
	if a, b := one.list(), two.list(); !slices.Equal(a, b) {
		t.Errorf("one consumer got %v, the other %v", a, b)
	}
	return one.list(), said, e.sorted()
}

// numbers are those of the messages that came.
func numbers(came []arrival) (all []uint64) {
	for _, a := range came {
		all = append(all, a.seq)
	}
	return all
}

const (
	refused  = "Send not connected"
	timedOut = "Done timed out"
)

// Connections are cut when message 5 is sent, at 50 ms: those of messages 3 and 4 whose
// acknowledgements are due at 55 and 65 ms time out, and so does what reaches nobody.
func TestDisconnect(t *testing.T) {
	for _, tt := range []struct {
		whose string
		came  []uint64
		said  []string
		lost  []string // connections
	}{
		// Message 4 arrives at 55 ms.
		{"all", []uint64{0, 1, 2, 3, 8, 9, 10, 11}, []string{"", "", "", timedOut, timedOut, refused, refused, refused, "", "", "", ""},
			[]string{"connection 0 of the consumers", "connection 0 of the producers", "connection 1 of the consumers", "connection 1 of the producers"}},
		{"producers", []uint64{0, 1, 2, 3, 4, 8, 9, 10, 11}, []string{"", "", "", timedOut, timedOut, refused, refused, refused, "", "", "", ""},
			[]string{"connection 0 of the producers", "connection 1 of the producers"}},
		{"consumers", []uint64{0, 1, 2, 3, 8, 9, 10, 11}, make([]string, 12),
			[]string{"connection 0 of the consumers", "connection 1 of the consumers"}},
	} {
		t.Run(tt.whose, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				came, said, reported := outage(t, mem.New(), map[string]any{"disconnect": tt.whose, "disconnect_after": 5, "disconnect_for": "25ms"}, 12)
				if got := numbers(came); !slices.Equal(got, tt.came) {
					t.Errorf("%v came, want %v", got, tt.came)
				}
				if !slices.Equal(said, tt.said) {
					t.Errorf("said\n%q, want\n%q", said, tt.said)
				}
				var want []string
				for _, kind := range []string{"50ms disconnected %s: not connected", "75ms reconnected %s"} {
					for _, which := range tt.lost {
						want = append(want, fmt.Sprintf(kind, which))
					}
				}
				if !slices.Equal(reported, want) {
					t.Errorf("reported\n%s\nwant\n%s", strings.Join(reported, "\n"), strings.Join(want, "\n"))
				}
			})
		})
	}
}

// They are cut again when as many messages as the option says have been sent since they were
// back, those that Send refused apart.
func TestDisconnectAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, said, _ := outage(t, mem.New(), map[string]any{"disconnect_after": 2, "disconnect_every": 3, "disconnect_for": "15ms", "ack_delay": "1ms"}, 14)
		if want := []string{"", "", refused, refused, "", "", "", refused, refused, "", "", "", refused, refused}; !slices.Equal(said, want) {
			t.Errorf("said\n%q, want\n%q", said, want)
		}
	})
}

// A broker that hangs takes connections again when it no longer does.
func TestDisconnectFromABrokerThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := mem.New()
		time.AfterFunc(33*time.Millisecond, b.Freeze)
		time.AfterFunc(95*time.Millisecond, b.Thaw)
		_, said, _ := outage(t, b, map[string]any{"disconnect_after": 5, "disconnect_for": "15ms"}, 12)
		want := []string{"", timedOut, timedOut, timedOut, timedOut, refused, refused, refused, refused, refused, "", ""}
		if !slices.Equal(said, want) {
			t.Errorf("said\n%q, want\n%q", said, want)
		}
	})
}

// Replies come by the connection of the requests. What responders had not begun to answer when
// theirs is cut is lost, and so is an answer that finds no connection.
func TestDisconnectRequests(t *testing.T) {
	for _, tt := range []struct {
		whose string
		came  []uint64
	}{
		// Requests are sent each 10 ms and take 5 ms to the responder, which works 8 ms on each.
		// Message 5, sent at 50 ms, cuts the connections until 71 ms: message 4 is at the
		// responder from 45 to 53 ms.
		{"producers", []uint64{0, 1, 2, 3, 8, 9}},
		{"consumers", []uint64{0, 1, 2, 3, 8, 9}},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := mem.New()
			options := map[string]any{"delay": "5ms", "disconnect": tt.whose, "disconnect_after": 5, "disconnect_for": "21ms"}
			s, other := open(t, b, options), open(t, b, options)
			if _, err := other.(driver.RequestReplier).Responder(t.Context(), driver.ConsumerSpec{Topics: []string{"t0"}}, func(m driver.Message) []byte {
				time.Sleep(8 * time.Millisecond)
				return m.Payload
			}); err != nil {
				t.Fatal(err)
			}
			var came arrivals
			p, err := s.(driver.RequestReplier).Requester(t.Context(), driver.ProducerSpec{Topic: "t0"}, discard{}, came.deliver())
			if err != nil {
				t.Fatal(err)
			}
			for seq := range uint64(10) {
				k := key{0, seq}
				if err := p.Send(token(k), k.write()); err != nil && !errors.Is(err, driver.ErrNotConnected) {
					t.Fatal(err)
				}
				time.Sleep(10 * time.Millisecond)
			}
			time.Sleep(100 * time.Millisecond)
			if got := numbers(came.list()); !slices.Equal(got, tt.came) {
				t.Errorf("%s: replies to %v, want %v", tt.whose, got, tt.came)
			}
		})
	}
}

// A send that waits for room in a consumer's queue ends when its connection is cut: with an
// error, or, where another consumer has the message, with an acknowledgement that times out.
func TestDisconnectEndsASend(t *testing.T) {
	for _, several := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			b := mem.New()
			s := open(t, b, map[string]any{"ack": "broker", "queue": 1})
			if several {
				subscribe(t, s, 1, "", func(driver.Message) {})
			}
			subscribe(t, s, 0, "", func(driver.Message) { time.Sleep(time.Hour) })
			v := newVerdicts()
			p := connect(t, s, 0, v)
			time.AfterFunc(time.Second, b.Disconnect)
			var err error
			for seq := uint64(0); seq < 3 && err == nil; seq++ {
				k := key{0, seq}
				err = p.Send(token(k), k.write())
			}
			synctest.Wait()
			switch {
			case several && (err != nil || v.count(1, driver.ErrTimeout) != 1):
				t.Errorf("several consumers: %v, and %v", err, v.of)
			case !several && !errors.Is(err, driver.ErrNotConnected):
				t.Errorf("one consumer: %v", err)
			}
		})
	}
}

// Closing does not wait for connections to be made again.
func TestCloseWhileDisconnected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		_, said, reported := outage(t, mem.New(), map[string]any{"disconnect_after": 1, "disconnect_for": "1h"}, 3)
		if took := time.Since(began); took > time.Second || said[2] != refused || len(reported) != 4 {
			t.Errorf("closed after %v: %q, %q", took, said, reported)
		}
	})
}
