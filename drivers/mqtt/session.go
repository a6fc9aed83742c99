package mqtt

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// session implements driver.Session.
type session struct {
	*kit.Base

	options     Options
	writeBuffer int // bytes; 1: none

	welcome greeting // of the first login
	product string   // what the broker calls itself, if it does

	links     *kit.Pool[kit.Key, *link] // of producers
	consumers atomic.Int64              // so far
	talks     atomic.Int64              // exchanges so far

	mu     sync.Mutex
	kept   []*consumer // whose sessions outlive connections
	topics []string    // what Provision was asked for, full names
}

func newSession(t driver.Target, o Options) (*session, error) {
	if err := checkName("run", t.Run); err != nil {
		return nil, err
	}
	s := &session{options: o, writeBuffer: o.writeBuffer(t.Batch)}
	var err error
	if s.Base, err = kit.NewBase(failures(), t, o.User, o.Password, schemes()...); err != nil {
		return nil, err
	}
	for name := range s.Query { // also of a WebSocket's: what may be a secret would be written down with the URL
		s.Stop()
		return nil, s.New(driver.ErrOption, "read the URL", "parameter %q: MQTT URLs have no parameters; give the login by the options user and password", name)
	}
	if !o.v5() {
		if err := s.NeedsUser(); err != nil {
			return nil, err
		}
	}
	s.links = kit.NewPool("mqtt", s.connect, func(ctx context.Context, l *link) { l.Close(ctx) })
	return s, nil
}

// checkName refuses names that are no plain level of a topic.
func checkName(what, name string) error {
	if name == "" || strings.ContainsAny(name, "+#/$\x00") || len(name) > 1000 {
		return fmt.Errorf("mqtt: %s %q: %w: names are not empty and have no wildcards, slashes or dollar signs", what, name, driver.ErrUnsupported)
	}
	return nil
}

// naming is that of topics.
func naming() driver.Naming {
	return driver.Naming{Separator: "/", Allowed: "._-:/=@", Longest: 100, Apart: true, GivenTopic: "a topic", GivenGroup: "a shared subscription", GroupsJoin: true}
}

// topic returns the full name of one of the run's topics.
func (s *session) topic(name string) (string, error) {
	if s.Target.Given {
		if name == "" || strings.ContainsAny(name, "+#\x00") || len(name) > maxString {
			return "", fmt.Errorf("mqtt: topic %q: %w: names are not empty and have no wildcards", name, driver.ErrUnsupported)
		}
	} else if err := checkName("topic", name); err != nil {
		return "", err
	}
	return naming().TopicName(s.Target, name), nil
}

// refusals says how producers learn of refusals: quality of service 0 has no answers, and
// those of MQTT 3.1.1 have no reason codes: a broker acknowledges what it refuses.
func (s *session) refusals() driver.Refusals {
	if s.options.QoS == 0 || !s.options.v5() {
		return driver.RefusalsSilent
	}
	return driver.RefusalsAnswered
}

// connect makes a link of producers.
func (s *session) connect(ctx context.Context, key kit.Key) (*link, error) {
	l := s.newLink(key, nil)
	return l, l.Start(ctx)
}

// Close implements driver.Session.
func (s *session) Close(ctx context.Context) error { return s.Base.Close(ctx, s.links.Close) }
