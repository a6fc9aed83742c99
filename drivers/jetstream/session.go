package jetstream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	js "github.com/nats-io/nats.go/jetstream"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/drivers/internal/natswire"
)

// session implements driver.Session.
type session struct {
	*natswire.Client
	api     *api
	options Options

	work sync.WaitGroup // goroutines that end with the session's life
	back chan struct{}  // the control link has come back

	mu       sync.Mutex
	topology driver.Topology
	streams  []stream          // those that Provision has made
	given    map[string]stream // those of the operator's, by topics
	alone    map[int]*consumer // consumers on their own, by their numbers in the run

	restoring sync.Mutex // one goroutine at a time makes again what is gone
}

func newSession(t driver.Target, o Options) (*session, error) {
	o.Accounted = o.Acknowledge
	c, err := natswire.NewClient(product, t, o.Options)
	if err != nil {
		return nil, err
	}
	return &session{Client: c, options: o, back: make(chan struct{}, 1), alone: map[int]*consumer{}}, nil
}

// reach connects the control link, and asks whether there is JetStream.
func (s *session) reach(ctx context.Context) error {
	if err := s.Reach(ctx); err != nil {
		return err
	}
	s.api = &api{s.Control(), s.options.apiPrefix(), s.options.APITimeout}
	s.Control().Watch(func(up bool) {
		if up {
			select {
			case s.back <- struct{}{}:
			default:
			}
		}
	})
	s.work.Go(s.revive)
	return s.api.available(ctx)
}

// refusals says how producers learn of refusals: the server tells of subjects that
// are forbidden whether it is to acknowledge or not.
func (s *session) refusals() driver.Refusals {
	if !s.options.Acknowledge {
		return driver.RefusalsReported
	}
	return driver.RefusalsAnswered
}

// inFlight returns the limit of each producer.
func (s *session) inFlight() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	topics := max(1, len(s.topology.Topics))
	return s.options.inFlight((s.topology.Producers + topics - 1) / topics)
}

// groupSubject is where a stream's messages for the members of a group are
// pushed to.
func (s *session) groupSubject(st stream, group string) string {
	return s.InboxPrefix() + "." + st.subject + "." + group
}

// Provision implements driver.Session. It deletes streams of the same names,
// which only an earlier attempt at the same run can have left, unless what exists
// is to be used.
func (s *session) Provision(ctx context.Context, t driver.Topology) (driver.Semantics, error) {
	none := driver.Semantics{}
	if s.Target.Given {
		return s.provisionGiven(ctx, t)
	}
	var streams []stream
	for _, topic := range t.Topics {
		st, err := s.streamOf(topic)
		if err != nil {
			return none, err
		}
		streams = append(streams, st)
	}
	for _, group := range t.Groups {
		if err := natswire.CheckName(product, "group", group); err != nil {
			return none, err
		}
	}
	if len(t.Groups) > 0 && s.options.Consume == "ordered" {
		return none, fmt.Errorf("%s: option \"consume\": %w: groups cannot share an ordered consumer; choose push or pull", product, driver.ErrOption)
	}
	if len(t.Groups) > 1 && s.options.Retention == "workqueue" {
		return none, fmt.Errorf("%s: %d groups: %w: a work queue has one", product, len(t.Groups), driver.ErrUnsupported)
	}
	if s.options.Retention == "interest" && len(t.Groups) == 0 && (t.Late || t.Keep) {
		return none, fmt.Errorf("%s: option \"retention\": %w: with interest the stream keeps nothing for consumers that come later, unless they are a group; set workload.groups to 1, or choose limits", product, driver.ErrUnsupported)
	}
	if err := errors.Join(s.CheckHeaders(t.Headers), s.checkSize(t.MaxSize, t.Headers)); err != nil {
		return none, err
	}
	s.mu.Lock()
	s.topology, s.streams = t, nil
	s.mu.Unlock()
	var info js.StreamInfo
	for _, st := range streams {
		if err := kit.Await(ctx, product+": make stream "+st.name, passes, func() (err error) {
			if t.Existing {
				info, err = s.findStream(ctx, st)
				return err
			}
			if err := s.api.deleteStream(ctx, st.name); err != nil {
				return err
			}
			info, err = s.createStream(ctx, st, len(streams))
			return err
		}); err != nil {
			if t.Existing {
				return none, err
			}
			return none, errors.Join(err, s.remove(context.WithoutCancel(ctx)))
		}
	}
	return s.semantics(ctx, t, info), nil
}

// findStream returns a stream that must exist.
func (s *session) findStream(ctx context.Context, st stream) (js.StreamInfo, error) {
	info, there, err := s.api.streamInfo(ctx, st.name)
	if err != nil {
		return info, err
	}
	if !there {
		return info, fmt.Errorf("%s: stream %s: %w", product, st.name, driver.ErrNoTopic)
	}
	s.made(st)
	return info, nil
}

// made notes a stream that Deprovision deletes, and returns what the run needs.
func (s *session) made(st stream) driver.Topology {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.streams, st) {
		s.streams = append(s.streams, st)
	}
	return s.topology
}

// createStream makes the stream, one of count, with the consumers of the groups.
func (s *session) createStream(ctx context.Context, st stream, count int) (js.StreamInfo, error) {
	info, err := s.api.createStream(ctx, st.config(s.options, count))
	if err != nil {
		return info, err
	}
	t := s.made(st)
	for _, group := range t.Groups {
		if _, err := s.api.createConsumer(ctx, st.name, s.groupConfig(st, group, t.Consumers)); err != nil {
			return info, err
		}
	}
	return info, nil
}

// checkSize refuses payloads that the server would not take.
func (s *session) checkSize(size int, headers []driver.Header) error {
	size += headerRoom(s.options, headers)
	if limit := s.Control().Conn().MaxPayload(); int64(size) > limit {
		return fmt.Errorf("%s: messages of %d bytes: %w: the server's max_payload is %d", product, size, driver.ErrTooLarge, limit)
	}
	if limit := int64(s.options.MaxMessageSize); limit > 0 && int64(size) > limit {
		return fmt.Errorf("%s: messages of %d bytes: %w: option max_message_size is %d", product, size, driver.ErrTooLarge, limit)
	}
	return nil
}

// restore returns the stream as it is, or makes it and its groups again if the
// server has lost it with its memory, and says so.
func (s *session) restore(ctx context.Context, st stream) (js.StreamInfo, error) {
	s.restoring.Lock()
	defer s.restoring.Unlock()
	info, there, err := s.api.streamInfo(ctx, st.name)
	if err != nil || there {
		return info, err
	}
	s.mu.Lock()
	count := len(s.topology.Topics)
	ours := slices.Contains(s.streams, st)
	s.mu.Unlock()
	if !ours {
		return info, fmt.Errorf("%s: stream %s: %w: it has been deleted", product, st.name, driver.ErrNoTopic)
	}
	if info, err = s.createStream(ctx, st, count); err != nil {
		return info, err
	}
	s.Control().Emit(driver.Event{Kind: driver.AsyncError, Detail: "stream " + st.name + " was gone with what it held; it was made again"})
	return info, nil
}

// revive restores all streams whenever the control link has come back.
func (s *session) revive() {
	for {
		select {
		case <-s.Life.Done():
			return
		case <-s.back:
		}
		for pause := firstPause; !s.restoreAll(); pause = min(2*pause, lastPause) {
			select {
			case <-s.Life.Done():
				return
			case <-time.After(pause):
			}
		}
	}
}

// restoreAll reports whether there is no more to do until the link comes back
// once more.
func (s *session) restoreAll() bool {
	if !s.Control().Conn().IsConnected() {
		return true
	}
	s.mu.Lock()
	streams := slices.Clone(s.streams)
	s.mu.Unlock()
	for _, st := range streams {
		if _, err := s.restore(s.Life, st); err != nil && !errors.Is(err, driver.ErrNoTopic) {
			return false
		}
	}
	return true
}

// Deprovision implements driver.Session.
func (s *session) Deprovision(ctx context.Context) error {
	s.mu.Lock()
	keep := s.topology.Keep
	s.mu.Unlock()
	if keep {
		return nil
	}
	return s.remove(ctx)
}

// remove deletes the streams. With a stream its consumers go. A session that has
// been closed connects once more for it.
func (s *session) remove(ctx context.Context) error {
	s.mu.Lock()
	streams := s.streams
	s.streams = nil
	s.mu.Unlock()
	if len(streams) == 0 {
		return nil
	}
	if !s.Closed() {
		err := s.api.deleteStreams(ctx, streams)
		if !errors.Is(err, driver.ErrNotConnected) {
			return err
		}
		// The session may not be back from a restart of the server yet: what it
		// leaves behind need not wait for that.
	}
	c, err := natswire.NewClient(product, s.Target, s.options.Options)
	if err != nil {
		return err
	}
	defer c.Close(ctx)
	if err := c.Reach(ctx); err != nil {
		var errs []error
		for _, st := range streams {
			errs = append(errs, &driver.Left{What: "stream", Name: st.name, Err: err})
		}
		return errors.Join(errs...)
	}
	return (&api{c.Control(), s.api.prefix, s.api.timeout}).deleteStreams(ctx, streams)
}

// Close implements driver.Session.
func (s *session) Close(ctx context.Context) error {
	err := s.Client.Close(ctx)
	ended := make(chan struct{})
	go func() {
		s.work.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	}
	return err
}
