package redis_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"sixnines/driver"
	"sixnines/drivers/internal/resp/resptest"
	"sixnines/drivers/internal/sessiontest"
	"sixnines/internal/brokers"
	"sixnines/internal/transport"
)

// outcomes counts the Dones of each token.
type outcomes struct {
	mu   sync.Mutex
	of   map[uint64]int
	errs []error
}

func (o *outcomes) Done(token uint64, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.of[token]++
	if err != nil {
		o.errs = append(o.errs, err)
	}
}

func (o *outcomes) count() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.of)
}

// await waits until n tokens are done; the test's own limit ends a wait for ever.
func (o *outcomes) await(n int) {
	for o.count() < n {
		time.Sleep(time.Millisecond)
	}
}

// Where there are consumers the answers to publishes are read by whoever has just
// delivered a message, or a little later; each once, whatever happens.
func TestAnswersAreReadLate(t *testing.T) {
	for name, tt := range map[string]struct {
		consumers int
		limited   bool
		late      bool
	}{
		"beside consumers":      {consumers: 1, late: true},
		"without consumers":     {},
		"for a sender in waits": {consumers: 1, limited: true},
	} {
		t.Run(name, func(t *testing.T) {
			server := resptest.Start(t, brokers.Options{})
			dialer := transport.NewDialer(true)
			s := open(t, driver.Target{URL: server.URL, Dial: dialer.Dial})
			ctx := t.Context()
			if _, err := s.Provision(ctx, driver.Topology{Topics: []string{"t"}, Producers: 2, Consumers: tt.consumers, MaxSize: 64}); err != nil {
				t.Fatal(err)
			}
			var got sessiontest.Counter
			var consumer driver.Consumer
			if tt.consumers > 0 {
				var err error
				if consumer, err = s.Consumer(ctx, driver.ConsumerSpec{Topics: []string{"t"}}, got.Deliver); err != nil {
					t.Fatal(err)
				}
			}
			var producers []driver.Producer
			var conns []*transport.Conn
			acks := &outcomes{of: map[uint64]int{}}
			for i := range 2 {
				mark := dialer.Mark()
				p, err := s.Producer(ctx, driver.ProducerSpec{ID: i, Topic: "t", Conn: i, Size: 64, Limited: tt.limited}, acks)
				if err != nil {
					t.Fatal(err)
				}
				producers, conns = append(producers, p), append(conns, dialer.Since(mark)...)
			}
			sent := 0
			send := func(n int) {
				for range n {
					if err := producers[sent%2].Send(uint64(sent), make([]byte, 64)); err != nil {
						t.Fatal(err)
					}
					sent++
				}
			}
			for _, c := range conns { // only those that are observed tell
				c.Observe(new(watched))
			}
			for range 100 {
				send(10)
				acks.await(sent)
			}
			for i, c := range conns {
				if c.Late() != tt.late {
					t.Errorf("connection %d read late: %t", i, c.Late())
				}
			}
			if consumer != nil {
				// Nobody delivers any more, nor does the sender send.
				if err := consumer.Close(ctx); err != nil {
					t.Fatal(err)
				}
				send(3)
				acks.await(sent)
			}
			if len(acks.errs) > 0 {
				t.Fatal(acks.errs[0])
			}
			// A connection that is lost answers for all that was sent on it.
			mark := dialer.Mark() // first: a successor may be there before all are closed
			for _, c := range conns {
				c.Close()
			}
			for answered := false; !answered; {
				if err := producers[sent%2].Send(uint64(sent), make([]byte, 64)); err == nil {
					sent++
					acks.await(sent)
					answered = dialer.Mark() >= mark+2 && sent%2 == 0
				}
			}
			// Nobody observes the successors: what they bring is read when it comes.
			successors := dialer.Since(mark)
			for _, c := range successors {
				c.Observe(new(watched))
			}
			for range 100 {
				if err := producers[sent%2].Send(uint64(sent), make([]byte, 64)); err == nil {
					sent++
				}
				acks.await(sent)
			}
			for i, c := range successors {
				if c.Late() {
					t.Errorf("successor %d is read late", i)
				}
			}
			end, cancel := context.WithTimeout(ctx, 10*time.Second)
			defer cancel()
			for _, p := range producers {
				if err := p.Close(end); err != nil && !errors.Is(err, driver.ErrClosed) {
					t.Error(err)
				}
			}
			for token, n := range acks.of {
				if n != 1 {
					t.Errorf("message %d was done %d times", token, n)
				}
			}
		})
	}
}

// watched is an observer that looks at nothing.
type watched struct{}

func (*watched) Writing()             {}
func (*watched) Reading()             {}
func (*watched) HasRead(int64, int64) {}
