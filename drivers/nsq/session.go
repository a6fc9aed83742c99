package nsq

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/nsqio/go-nsq"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// session implements driver.Session and driver.DepthTeller.
type session struct {
	*kit.Base

	options     Options
	http        string   // nsqd's address for it, as http://host:port; empty: unknown
	lookupd     []string // addresses of nsqlookupd, as http://host:port
	asks        bool     // whether that address encrypts is not known yet
	writeBuffer int      // bytes; 1: none
	identity    identity // of the first connection
	limit       int      // the largest message in bytes that nsqd takes; 0: unknown

	senders *kit.Pool[kit.Key, sender]

	mu       sync.Mutex
	alone    map[int]*consumer // consumers on their own, by their numbers in the run
	made     []string          // topics that Provision has made
	existing bool              // driver.Topology.Existing
}

func newSession(t driver.Target, o Options) (*session, error) {
	s := &session{options: o, writeBuffer: kit.WriteBuffer(o.WriteBuffer, t.Batch), alone: map[int]*consumer{}}
	var err error
	if s.Base, err = kit.NewBase(failures(), t, "", "", schemes()...); err != nil {
		return nil, err
	}
	if s.http, err = s.readURL(); err == nil && o.HTTPURL != "" {
		s.http, err = parseHTTP(o.HTTPURL)
	}
	s.asks = s.TLS != nil && s.http != "" && !strings.Contains(cmp.Or(o.HTTPURL, s.Query.Get("http")), "://")
	if err == nil {
		s.lookupd, err = parseLookupd(o.Lookupd)
	}
	if err == nil {
		_, err = s.topic("t")
	}
	if err == nil && s.options.library() && s.TLS != nil && o.AuthSecret != "" {
		err = fmt.Errorf("nsq: option auth_secret with encryption: %w: go-nsq sends the secret unencrypted where a server has no encryption; set option client to direct", driver.ErrUnsupported)
	}
	if err != nil {
		s.Stop()
		return nil, err
	}
	s.Servers[0].TLS = false // it is agreed upon after the connection has been made
	s.senders = kit.NewPool("nsq", s.connect, func(ctx context.Context, c sender) { c.close(ctx) })
	return s, nil
}

// server is nsqd's TCP address.
func (s *session) server() kit.Server { return s.Servers[0] }

// naming is that of topics and channels.
func naming() driver.Naming {
	return driver.Naming{Separator: ".", Allowed: "._-", Longest: 24, Apart: true, GivenTopic: "a topic", GivenGroup: "a channel"}
}

// topic returns the full name of one of the run's topics.
func (s *session) topic(name string) (string, error) {
	topic := naming().TopicName(s.Target, name)
	if !s.Target.Given {
		topic = s.transient(topic)
	}
	if name == "" || !nsq.IsValidTopicName(topic) {
		return "", fmt.Errorf("nsq: topic %q: %w: its name and the run's make %q; NSQ wants up to 64 letters, digits, dots, dashes and underscores", name, driver.ErrUnsupported, topic)
	}
	return topic, nil
}

// transient returns the name as it is where nothing can be removed: what has it
// ends by itself.
func (s *session) transient(name string) string {
	if s.http == "" {
		return name + ephemeral
	}
	return name
}

// channel returns the name of a group's channel.
func (s *session) channel(group string) string {
	if s.Target.Given {
		return group
	}
	return s.transient(group)
}

const ephemeral = "#ephemeral"

// reach has nsqd introduce itself once, and say what its limits are.
func (s *session) reach(ctx context.Context) error {
	if err := s.greet(ctx); err != nil {
		return err
	}
	s.findScheme(ctx)
	return s.suits()
}

// findScheme asks nsqd's HTTP address whether it encrypts, where the connections do and its scheme is not given: nsqd has one
// address for each. One with a wrong certificate does, and who uses it says what is wrong.
func (s *session) findScheme(ctx context.Context) {
	if !s.asks {
		return
	}
	s.asks = false
	ctx, cancel := context.WithTimeout(ctx, s.options.ConnectTimeout)
	defer cancel()
	encrypted := "https" + strings.TrimPrefix(s.http, "http")
	_, status, err := s.Ask(ctx, http.MethodGet, encrypted+"/ping", nil, nil)
	if err == nil && status == http.StatusOK || errors.As(err, new(*tls.CertificateVerificationError)) {
		s.http = encrypted
	}
}

// greet connects once and lets nsqd introduce itself. The largest message that
// it takes is not among what it says; but it says so to who announces a larger
// one, before it reads that or makes a topic.
func (s *session) greet(ctx context.Context) error {
	return s.talk(ctx, func(w *wire) error {
		s.identity = w.id
		announced := binary.BigEndian.AppendUint32([]byte("PUB "+s.Target.Prefix+"sixnines\n"), math.MaxInt32)
		if err := w.write(announced); err != nil {
			return wrap(err, "ask for the largest message")
		}
		_, err := w.answer()
		var said refusal
		if !errors.As(err, &said) {
			if err == nil {
				err = fmt.Errorf("%w: it answers a message of which only the size was sent", errMalformed)
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
	w, err := s.dial(ctx, kit.Key{Role: kit.Control}, nil)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { w.raw.Close() })
	err = f(w)
	if !stop() && err != nil {
		err = fmt.Errorf("nsq: ask nsqd: %w: %w", driver.ErrTimeout, context.Cause(ctx))
	}
	w.End(driver.ErrClosed)
	return err
}

// readyCount returns how many unfinished messages nsqd sends to a consumer that asks for
// asked; 0 asks for the largest number.
func (s *session) readyCount(asked int) int {
	if asked == 0 {
		return s.identity.MaxRdyCount
	}
	return min(asked, s.identity.MaxRdyCount)
}

// connect makes what producers of a connection share.
func (s *session) connect(ctx context.Context, key kit.Key) (sender, error) {
	if s.options.library() {
		p, err := s.publisher(ctx, key)
		if err != nil {
			return nil, err
		}
		return p, nil
	}
	l := s.newLink(key, nil)
	if err := l.Start(ctx); err != nil {
		return nil, err
	}
	return l, nil
}

// Close implements driver.Session.
func (s *session) Close(ctx context.Context) error { return s.Base.Close(ctx, s.senders.Close) }
