package nsq

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"net"
	"strconv"
	"strings"
	"sync"

	"github.com/nsqio/go-nsq"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// session implements driver.Session, driver.ServerInfo, driver.DepthTeller and
// driver.DialReporter.
type session struct {
	target      driver.Target
	options     Options
	place       place
	tls         *tls.Config // nil: plain
	dial        func(ctx context.Context, network, address string) (net.Conn, error)
	writeBuffer int // bytes; 1: none
	notify      func(driver.Event)
	nonce       string          // makes names of this session its own
	life        context.Context // ends when the session closes
	cancel      context.CancelFunc
	identity    identity // of the first connection
	limit       int      // the largest message in bytes that nsqd takes; 0: unknown

	senders *kit.Pool[linkKey, sender]

	mu        sync.Mutex
	serial    int // of the latest consumer
	consumers map[*consumer]struct{}
	made      []string // topics that Provision has made
	existing  bool     // driver.Topology.Existing
}

func newSession(t driver.Target, o Options) (*session, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	s := &session{target: t, options: o, writeBuffer: o.writeBuffer(t.Batch), notify: t.Notify, dial: t.Dial,
		nonce: strings.ToLower(rand.Text()[:6]), consumers: map[*consumer]struct{}{}}
	s.senders = kit.NewPool("nsq", s.connect, func(ctx context.Context, c sender) { c.close(ctx) })
	if s.notify == nil {
		s.notify = func(driver.Event) {}
	}
	if s.dial == nil {
		s.dial = new(net.Dialer).DialContext
	}
	var err error
	if s.place, err = parseURL(t.URL); err != nil {
		return nil, err
	}
	if o.HTTPURL != "" {
		if s.place.http, err = parseHTTP(o.HTTPURL); err != nil {
			return nil, err
		}
	}
	if t.TLS != nil || s.place.secure {
		if s.tls, err = t.TLS.Config(s.place.host); err != nil {
			return nil, fmt.Errorf("nsq: %w", err)
		}
	}
	if _, err := s.topic("t"); err != nil {
		return nil, err
	}
	s.life, s.cancel = context.WithCancel(context.Background())
	return s, nil
}

// topic returns the full name of one of the run's topics.
func (s *session) topic(name string) (string, error) {
	topic := s.transient("sixnines." + s.target.Run + "." + name)
	if name == "" || !nsq.IsValidTopicName(topic) {
		return "", fmt.Errorf("nsq: topic %q: %w: its name and the run's make %q; NSQ wants up to 64 letters, digits, dots, dashes and underscores", name, driver.ErrUnsupported, topic)
	}
	return topic, nil
}

// transient returns the name as it is where nothing can be removed: what has it
// ends by itself.
func (s *session) transient(name string) string {
	if s.place.http == "" {
		return name + ephemeral
	}
	return name
}

const ephemeral = "#ephemeral"

// greet connects once and lets nsqd introduce itself. The largest message that
// it takes is not among what it says; but it says so to who announces a larger
// one, before it reads that or makes a topic.
func (s *session) greet(ctx context.Context) error {
	return s.talk(ctx, func(w *wire) error {
		s.identity = w.id
		announced := binary.BigEndian.AppendUint32([]byte("PUB sixnines\n"), math.MaxInt32)
		if err := w.write(announced); err != nil {
			return wrap(err, "ask for the largest message")
		}
		_, err := w.answer()
		var said refusal
		if !errors.As(err, &said) {
			if err == nil {
				err = fmt.Errorf("%w: it takes a message of which it has the size only", errMalformed)
			}
			return wrap(err, "ask for the largest message")
		}
		if said.Unwrap() != driver.ErrTooLarge {
			return wrap(said, "ask for the largest message")
		}
		// E_BAD_MESSAGE PUB message too big 2147483647 > 1048576
		if _, number, ok := strings.Cut(string(said), " > "); ok {
			s.limit, _ = strconv.Atoi(number) // else it stays unknown
		}
		return nil
	})
}

// fits returns an error if nsqd does not take messages of size bytes.
func (s *session) fits(size int) error {
	if s.limit > 0 && size > s.limit {
		return fmt.Errorf("nsq: payloads of %d bytes: %w: nsqd's max-msg-size is %d", size, driver.ErrTooLarge, s.limit)
	}
	return nil
}

// talk connects for f, apart from producers and consumers, and ends the
// connection after it.
func (s *session) talk(ctx context.Context, f func(w *wire) error) error {
	l := s.newLink(linkKey{role: roleControl}, nil)
	defer l.cancel()
	w, err := l.connect(ctx)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { w.raw.Close() })
	err = f(w)
	if !stop() && err != nil {
		err = fmt.Errorf("nsq: ask nsqd: %w: %w", driver.ErrTimeout, context.Cause(ctx))
	}
	w.shut(errEnded)
	return err
}

// readyCount returns how many unfinished messages nsqd sends to a consumer that
// asks for so many; 0 asks for the most.
func (s *session) readyCount(asked int) int {
	if asked == 0 {
		return s.identity.MaxRdyCount
	}
	return min(asked, s.identity.MaxRdyCount)
}

// keep lets the session's Close wait for c, and returns its number.
func (s *session) keep(c *consumer) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.life.Err() != nil {
		return 0, fmt.Errorf("nsq: subscribe: session %w", driver.ErrClosed)
	}
	s.consumers[c] = struct{}{}
	s.serial++
	return s.serial - 1, nil
}

func (s *session) forget(c *consumer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.consumers, c)
}

// connect makes what producers of a connection share.
func (s *session) connect(ctx context.Context, key linkKey) (sender, error) {
	if s.OwnsDialing() {
		p, err := s.publisher(ctx, key)
		if err != nil {
			return nil, err
		}
		return p, nil
	}
	l := s.newLink(key, nil)
	if err := l.start(ctx); err != nil {
		return nil, err
	}
	return l, nil
}

// shut ends the connections of consumers, and by end those of producers, by ctx's
// deadline.
func (s *session) shut(ctx context.Context, end func(context.Context)) {
	s.mu.Lock()
	consumers := s.consumers
	s.consumers = map[*consumer]struct{}{}
	s.mu.Unlock()
	var closing sync.WaitGroup
	closing.Go(func() { end(ctx) })
	for c := range consumers {
		closing.Go(func() { c.shut(ctx) })
	}
	closing.Wait()
}

// Close implements driver.Session.
func (s *session) Close(ctx context.Context) error {
	s.cancel() // ends what is still connecting, not what is connected
	s.shut(ctx, s.senders.Close)
	return nil
}
