package redisstreams

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"sixnines/driver"
	"sixnines/drivers/internal/resp"
)

// session implements driver.Session.
type session struct {
	*resp.Session
	options   Options
	producers *resp.Producers
	alone     sync.Map // the consumers without a group, by reader

	making chan struct{} // a lock: holds a token while no goroutine makes or removes streams
	gone   bool          // Deprovision has removed the streams; guarded by making

	mu       sync.Mutex
	made     []string // the streams that Provision has made, or found
	places   []driver.Destination
	keeps    bool // they are not removed
	existing bool // they were there
}

func newSession(t driver.Target, o Options) (*session, error) {
	base, err := resp.NewSession(t, "redis-streams", o.Client, o.Options, "appendonly", "appendfsync", "save",
		"maxmemory", "maxmemory-policy", "stream-node-max-bytes", "stream-node-max-entries")
	if err != nil {
		return nil, err
	}
	s := &session{Session: base, options: o, making: make(chan struct{}, 1),
		producers: resp.NewProducers(base, "add", resp.PipelineOptions{}, func(string) resp.Watch { return identifiers{} })}
	s.making <- struct{}{}
	return s, nil
}

// reader is a consumer, by its number in the run, with one of its streams.
type reader struct {
	id  int
	key string
}

// naming is that of keys.
func naming() driver.Naming {
	return driver.Naming{Separator: ":", Allowed: "._-:/{}=@", Longest: 100, Apart: true, GivenTopic: "the key of a stream", GivenGroup: "a consumer group"}
}

// key returns the key of a topic's stream.
func (s *session) key(topic string) (string, error) {
	if err := s.CheckName("topic", topic); err != nil {
		return "", err
	}
	return naming().TopicName(s.Target, topic), nil
}

// Provision implements driver.Session. A stream that a run of the same name has
// left behind is removed first, unless it is to be used.
func (s *session) Provision(ctx context.Context, t driver.Topology) (driver.Semantics, error) {
	var none driver.Semantics
	var keys []string
	for _, topic := range t.Topics {
		key, err := s.key(topic)
		if err != nil {
			return none, err
		}
		keys = append(keys, key)
	}
	for _, group := range t.Groups {
		if err := s.CheckName("group", group); err != nil {
			return none, err
		}
	}
	for _, h := range t.Headers {
		if h.Name == s.options.Field {
			return none, fmt.Errorf("redis-streams: a header called %q: %w: that is the field of payloads; set it with the option field", h.Name, driver.ErrOption)
		}
	}
	if s.Target.Given && s.options.MaxLen > 0 {
		return none, fmt.Errorf("redis-streams: option \"maxlen\": %w: it would remove what others have in the stream; leave it out", driver.ErrOption)
	}
	if err := s.Look(ctx); err != nil {
		return none, err
	}
	if err := s.Check(t.MaxSize); err != nil {
		return none, err
	}
	if err := s.exclusive(ctx); err != nil {
		return none, err
	}
	defer s.share()
	s.gone = false
	for _, key := range keys {
		if s.Target.Given {
			if err := s.Await(ctx, "look for stream "+key, func() error { return s.findGiven(ctx, key, t.Groups) }); err != nil {
				return none, err
			}
			continue
		}
		if t.Existing {
			if err := s.Await(ctx, "look for stream "+key, func() error { return s.find(ctx, key) }); err != nil {
				return none, err
			}
			continue
		}
		if err := s.Await(ctx, "make stream "+key, func() error { return s.provide(ctx, key, t.Groups) }); err != nil {
			return none, errors.Join(err, s.remove(context.WithoutCancel(ctx)))
		}
	}
	s.mu.Lock()
	s.keeps, s.existing, s.places = t.Keep, t.Existing, nil
	for i, topic := range t.Topics {
		s.places = append(s.places, driver.Destination{Topic: topic, Name: keys[i]})
	}
	s.mu.Unlock()
	return s.semantics(), nil
}

// Destinations implements driver.DestinationNamer.
func (s *session) Destinations() []driver.Destination {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.places)
}

// exclusive prevents other goroutines from making or removing streams until share.
func (s *session) exclusive(ctx context.Context) error {
	select {
	case <-s.making:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("redis-streams: %w: %w", driver.ErrTimeout, context.Cause(ctx))
	}
}

func (s *session) share() { s.making <- struct{}{} }

// find looks for a stream that is to be there. Groups that it lacks are made by
// their consumers, and begin with its first entry.
func (s *session) find(ctx context.Context, key string) error {
	there, err := s.Do(ctx, key, "EXISTS", key)
	if err == nil && there != int64(1) {
		err = driver.ErrNoTopic
	}
	if err != nil {
		return s.Wrap(err, "look for stream %q", key)
	}
	s.note(key)
	return nil
}

// findGiven looks for a stream of the operator's, and its groups.
func (s *session) findGiven(ctx context.Context, key string, groups []string) error {
	reply, err := s.Do(ctx, key, "XINFO", "GROUPS", key)
	if resp.IsReply(err, "ERR") { // "no such key", or a command that the server does not have
		return fmt.Errorf("redis-streams: stream %q: %w: %w", key, driver.ErrNoTopic, err)
	}
	if err != nil {
		return s.Wrap(err, "look for stream %q", key)
	}
	all, _ := reply.([]any)
	for _, group := range groups {
		if !slices.ContainsFunc(all, func(g any) bool {
			name, _ := fieldsOf(g)["name"].([]byte)
			return string(name) == group
		}) {
			return fmt.Errorf("redis-streams: group %q of stream %q: %w", group, key, driver.ErrNoTopic)
		}
	}
	return nil
}

// note notes a stream to remove.
func (s *session) note(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.made, key) {
		s.made = append(s.made, key)
	}
}

// provide makes an empty stream with the groups, which begin with its first
// entry.
func (s *session) provide(ctx context.Context, key string, groups []string) error {
	if _, err := s.Do(ctx, key, "UNLINK", key); err != nil {
		return s.Wrap(err, "clear stream %q", key)
	}
	s.note(key)
	// Only a group can be made together with its stream.
	const passing = "sixnines"
	all := groups
	if len(all) == 0 {
		all = []string{passing}
	}
	for _, group := range all {
		if _, err := s.Do(ctx, key, "XGROUP", "CREATE", key, group, "0", "MKSTREAM"); err != nil && !resp.IsReply(err, "BUSYGROUP") {
			return s.Wrap(err, "make group %q of stream %q", group, key)
		}
	}
	if len(groups) == 0 {
		if _, err := s.Do(ctx, key, "XGROUP", "DESTROY", key, passing); err != nil {
			return s.Wrap(err, "make stream %q", key)
		}
	}
	return nil
}

// Deprovision implements driver.Session.
func (s *session) Deprovision(ctx context.Context) error {
	if err := s.exclusive(ctx); err != nil {
		return err
	}
	defer s.share()
	s.mu.Lock()
	keep := s.keeps
	s.mu.Unlock()
	if keep {
		return nil
	}
	s.gone = true
	return s.remove(ctx)
}

// remove unlinks what provide has made; the server frees it in the background.
// It may come after Close.
func (s *session) remove(ctx context.Context) error {
	s.mu.Lock()
	keys, at := s.made, s.Session
	s.mu.Unlock()
	if s.Closed() && len(keys) > 0 {
		again, err := resp.NewSession(s.Target, s.Driver, s.Via, s.options.Options)
		if err == nil {
			defer again.Close(ctx)
			err = again.Reach(ctx)
		}
		if err != nil {
			return errors.Join(driver.LeaveAll(s.Wrap(err, "remove streams"), "stream", keys)...)
		}
		at = again
	}
	var errs []error
	for _, key := range keys {
		if _, err := at.Do(ctx, key, "UNLINK", key); err != nil {
			errs = append(errs, &driver.Left{What: "stream", Name: key, Err: s.Wrap(err, "remove stream %q", key)})
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made = nil
	return errors.Join(errs...)
}

// Close implements driver.Session.
func (s *session) Close(ctx context.Context) error { return s.Session.Close(ctx, s.producers.Close) }
