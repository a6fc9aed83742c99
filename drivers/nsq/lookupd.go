package nsq

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// daemon is an nsqd.
type daemon struct {
	server kit.Server
	http   string // its address for it, as http://host:port; empty: unknown
}

// own is the nsqd of the URL, to which producers send.
func (s *session) own() daemon { return daemon{s.server(), s.http} }

// parseLookupd completes the addresses of nsqlookupd, which commas separate.
func parseLookupd(text string) (all []string, err error) {
	if text == "" {
		return nil, nil
	}
	for one := range strings.SplitSeq(text, ",") {
		at, err := failures().WebAddress("lookupd", strings.TrimSpace(one), "http", "http://host:4161")
		if err != nil {
			return nil, err
		}
		all = append(all, at)
	}
	return all, nil
}

// errUnlisted says that no nsqd is known to have a topic.
var errUnlisted = fmt.Errorf("%w: no nsqlookupd knows an nsqd that has it", driver.ErrNoTopic)

// daemons returns the nsqds to which a consumer of the topic connects: those that nsqlookupd names, or that of the URL. nsqd tells
// nsqlookupd of a topic after it has made it, so it waits for one.
func (s *session) daemons(ctx context.Context, topic string) (all []daemon, err error) {
	if len(s.lookupd) == 0 {
		return []daemon{s.own()}, nil
	}
	unlisted := func(err error) bool { return errors.Is(err, errUnlisted) }
	err = kit.Await(ctx, "nsq: find the nsqds of topic "+topic, unlisted, func() (err error) {
		all, err = s.lookUp(ctx, topic)
		return err
	})
	return all, err
}

// lookUp asks each nsqlookupd once. Those that do not answer are passed over, unless none does.
func (s *session) lookUp(ctx context.Context, topic string) (all []daemon, err error) {
	var failed []error
	for _, at := range s.lookupd {
		found, err := s.producers(ctx, at, topic)
		if err != nil {
			failed = append(failed, err)
		}
		for _, d := range found {
			if !slices.Contains(all, d) {
				all = append(all, d)
			}
		}
	}
	switch {
	case len(failed) == len(s.lookupd):
		return nil, errors.Join(failed...)
	case len(all) == 0:
		return nil, fmt.Errorf("nsq: topic %q: %w", topic, errUnlisted)
	}
	return all, nil
}

// producers are the nsqds that an nsqlookupd names for a topic: https://nsq.io/components/nsqlookupd.html.
func (s *session) producers(ctx context.Context, at, topic string) (all []daemon, err error) {
	text, err := s.ask(ctx, at, http.MethodGet, "/lookup", url.Values{"topic": {topic}})
	if errors.Is(err, driver.ErrNoTopic) {
		return nil, nil
	}
	if err != nil {
		return nil, wrap(err, "ask nsqlookupd for topic %q", topic)
	}
	var answer struct {
		Producers []struct {
			Host string `json:"broadcast_address"`
			TCP  int    `json:"tcp_port"`
			HTTP int    `json:"http_port"`
		} `json:"producers"`
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return nil, fmt.Errorf("nsq: ask nsqlookupd for topic %q: %w: %w", topic, driver.ErrUnsupported, err)
	}
	for _, p := range answer.Producers {
		d := daemon{server: kit.Server{Address: net.JoinHostPort(p.Host, strconv.Itoa(p.TCP)), Host: p.Host, Scheme: s.server().Scheme}}
		if d.server.Address == s.server().Address {
			d.http = s.http // which may encrypt: nsqlookupd knows only the port that does not
		} else if p.HTTP > 0 {
			d.http = "http://" + net.JoinHostPort(p.Host, strconv.Itoa(p.HTTP))
		}
		all = append(all, d)
	}
	return all, nil
}

// foundGiven refuses nsqds without the channel of an operator's group: a subscription would make it, and it would keep
// messages for nobody.
func (s *session) foundGiven(ctx context.Context, all []daemon, topic, group string) error {
	if !s.Target.Given || group == "" {
		return nil
	}
	for _, d := range all {
		if d.http == "" {
			return s.Option("lookupd", fmt.Sprintf("the nsqd at %s has no HTTP address, which alone tells whether it has channel %q of topic %q", d.server.Address, group, topic))
		}
		t, err := s.stats(ctx, d.http, topic)
		if err == nil {
			err = t.needs(group)
		}
		if err != nil {
			return wrap(err, "look at %s", d.server.Address)
		}
	}
	return nil
}

// unlist has nsqlookupd forget a topic that has been removed: it would keep the name.
func (s *session) unlist(ctx context.Context, topic string) (errs []error) {
	for _, at := range s.lookupd {
		_, err := s.ask(ctx, at, http.MethodPost, "/topic/delete", url.Values{"topic": {topic}})
		if err != nil && !errors.Is(err, driver.ErrNoTopic) {
			errs = append(errs, &driver.Left{What: "name of a topic at nsqlookupd", Name: topic, Err: wrap(err, "remove the name of topic %q at %s", topic, at)})
		}
	}
	return errs
}
