package redisstreams_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	client "github.com/gomodule/redigo/redis"

	"sixnines/driver"
	"sixnines/drivers/redisstreams"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

// patience limits every wait. It decides only how long a failure takes.
const patience = 30 * time.Second

// start starts a server for the test.
func start(t testing.TB, o brokers.Options) *brokers.Cluster {
	t.Helper()
	return brokertest.Start(t, "redis", o)
}

// ask sends a command by the server's socket.
func ask(t testing.TB, c *brokers.Cluster, o brokers.Options, command string, args ...any) (any, error) {
	t.Helper()
	conn, err := client.Dial("unix", c.Info["socket"], client.DialUsername(o.User), client.DialPassword(o.Password))
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	return conn.Do(command, args...)
}

// leftovers lists the keys and connections with run in their names.
func leftovers(t testing.TB, c *brokers.Cluster, o brokers.Options) func(run string) ([]string, error) {
	return func(run string) ([]string, error) {
		found, err := client.Strings(ask(t, c, o, "KEYS", "*"+run+"*"))
		if err != nil {
			return nil, err
		}
		clients, err := client.String(ask(t, c, o, "CLIENT", "LIST"))
		for line := range strings.Lines(clients) {
			if strings.Contains(line, run) {
				found = append(found, line)
			}
		}
		return found, err
	}
}

// unacked counts the entries of the streams with run in their names that a group
// has not been given or has not acknowledged.
func unacked(t testing.TB, c *brokers.Cluster, o brokers.Options) func(run string) (int, error) {
	return func(run string) (int, error) {
		keys, err := client.Strings(ask(t, c, o, "KEYS", "*"+run+"*"))
		if err != nil {
			return 0, err
		}
		open := 0
		for _, key := range keys {
			groups, err := client.Values(ask(t, c, o, "XINFO", "GROUPS", key))
			if err != nil {
				return 0, err
			}
			length, err := client.Int(ask(t, c, o, "XLEN", key))
			if err != nil {
				return 0, err
			}
			for _, group := range groups {
				facts, err := client.Values(group, nil)
				if err != nil {
					return 0, err
				}
				is := map[string]any{}
				for i := 0; i+1 < len(facts); i += 2 {
					name, _ := client.String(facts[i], nil)
					is[name] = facts[i+1]
				}
				pending, err := client.Int(is["pending"], nil)
				if err != nil {
					return 0, err
				}
				read := 0
				if is["entries-read"] != nil {
					if read, err = client.Int(is["entries-read"], nil); err != nil {
						return 0, err
					}
				}
				open += pending + length - read
			}
		}
		return open, nil
	}
}

// counter counts what it is told of, and lets that be waited for.
type counter struct {
	mu      sync.Mutex
	changed *sync.Cond
	n       int
	failed  []error
}

func newCounter() *counter {
	c := new(counter)
	c.changed = sync.NewCond(&c.mu)
	return c
}

func (c *counter) add(err error) {
	c.mu.Lock()
	c.n++
	if err != nil {
		c.failed = append(c.failed, err)
	}
	c.mu.Unlock()
	c.changed.Broadcast()
}

func (c *counter) Done(_ uint64, err error) { c.add(err) }
func (c *counter) deliver(driver.Message)   { c.add(nil) }

// reaches waits until the count is n, and returns the failures among them.
func (c *counter) reaches(t testing.TB, n int) []error {
	t.Helper()
	limit := time.AfterFunc(patience, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.n += 1 << 40
		c.changed.Broadcast()
	})
	defer limit.Stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.n < n {
		c.changed.Wait()
	}
	if c.n >= 1<<40 {
		t.Fatalf("%d of %d have come", c.n-1<<40, n)
	}
	return c.failed
}

// events collects what a session reports.
type events struct {
	mu      sync.Mutex
	changed *sync.Cond
	all     []driver.Event
}

func newEvents() *events {
	e := new(events)
	e.changed = sync.NewCond(&e.mu)
	return e
}

func (e *events) notify(ev driver.Event) {
	e.mu.Lock()
	e.all = append(e.all, ev)
	e.mu.Unlock()
	e.changed.Broadcast()
}

// count returns how many events of the kind there are, and what they count.
func (e *events) count(kind driver.EventKind) (events, messages int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.countLocked(kind)
}

func (e *events) countLocked(kind driver.EventKind) (events, messages int) {
	for _, ev := range e.all {
		if ev.Kind == kind {
			events++
			messages += ev.Count
		}
	}
	return events, messages
}

// wait waits for n events of the kind.
func (e *events) wait(t testing.TB, kind driver.EventKind, n int) {
	t.Helper()
	over := false
	limit := time.AfterFunc(patience, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		over = true
		e.changed.Broadcast()
	})
	defer limit.Stop()
	e.mu.Lock()
	defer e.mu.Unlock()
	for {
		if got, _ := e.countLocked(kind); got >= n {
			return
		}
		if over {
			t.Fatalf("no %d events %q among %v", n, kind, e.all)
		}
		e.changed.Wait()
	}
}

func openTarget(t testing.TB, target driver.Target) driver.Session {
	t.Helper()
	if target.Run == "" {
		target.Run = "test"
	}
	s, err := redisstreams.Driver{}.Open(context.Background(), target)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(context.Background()) })
	return s
}

func producerOf(t testing.TB, s driver.Session, acks driver.Acks) driver.Producer {
	t.Helper()
	p, err := s.Producer(context.Background(), driver.ProducerSpec{Topic: "t0"}, acks)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func consumerOf(t testing.TB, s driver.Session, deliver driver.Deliver) driver.Consumer {
	t.Helper()
	c, err := s.Consumer(context.Background(), driver.ConsumerSpec{Topics: []string{"t0"}}, deliver)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// works sends a message through a session with the target.
func works(t *testing.T, target driver.Target) driver.Semantics {
	t.Helper()
	s := openTarget(t, target)
	defer s.Close(context.Background())
	semantics, err := s.Provision(context.Background(), driver.Topology{Topics: []string{"t0"}, Consumers: 1, MaxSize: 64})
	if err != nil {
		t.Fatal(err)
	}
	got, acks := newCounter(), newCounter()
	consumerOf(t, s, func(m driver.Message) {
		if string(m.Payload) != "hello" {
			t.Errorf("got %q", m.Payload)
		}
		got.deliver(m)
	})
	if err := producerOf(t, s, acks).Send(1, []byte("hello")); err != nil {
		t.Fatal(err)
	}
	got.reaches(t, 1)
	if failed := acks.reaches(t, 1); failed != nil {
		t.Error(failed)
	}
	return semantics
}

// refused opens a session, which must fail with the class and say the words.
func refused(t *testing.T, target driver.Target, class error, words ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if target.Run == "" {
		target.Run = "test"
	}
	s, err := redisstreams.Driver{}.Open(ctx, target)
	if err == nil {
		s.Close(ctx)
		t.Fatal("the session opens")
	}
	if !errors.Is(err, class) {
		t.Errorf("error %q does not wrap %q", err, class)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q does not say %q", err, w)
		}
	}
	t.Log(fmt.Sprint(err))
}
