package nsq

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/nsqio/go-nsq"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// post asks nsqd by HTTP to do something with a topic, and a channel if that is
// not empty.
func (s *session) post(ctx context.Context, what, topic, channel string) error {
	return s.postAt(ctx, s.http, what, topic, channel)
}

// postAt is post to another nsqd's HTTP address.
func (s *session) postAt(ctx context.Context, at, what, topic, channel string) error {
	query := url.Values{"topic": {topic}}
	if channel != "" {
		query.Set("channel", channel)
	}
	_, err := s.ask(ctx, at, http.MethodPost, what, query)
	return err
}

// ask makes a request to an HTTP address, of nsqd or nsqlookupd, and returns the answer.
func (s *session) ask(ctx context.Context, at, method, what string, query url.Values) ([]byte, error) {
	text, status, err := s.Ask(ctx, method, at+what+"?"+query.Encode(), nil, nil)
	if err != nil || status == http.StatusOK {
		return text, err
	}
	class := driver.ErrRejected
	switch {
	case strings.Contains(string(text), "NOT_FOUND"):
		class = driver.ErrNoTopic
	case status == http.StatusForbidden:
		class = driver.ErrUnauthorized
	}
	return nil, fmt.Errorf("%w: %s says %d: %.200s; is this the HTTP address?", class, at+what, status, text)
}

// Provision implements driver.Session. It makes the topics and channels if it
// can. A message of the largest size that the driver sends to itself shows that
// nsqd carries it.
func (s *session) Provision(ctx context.Context, t driver.Topology) (driver.Semantics, error) {
	if err := s.fits(t.MaxSize); err != nil {
		return driver.Semantics{}, err
	}
	var topics []string
	for _, name := range t.Topics {
		topic, err := s.topic(name)
		if err != nil {
			return driver.Semantics{}, err
		}
		topics = append(topics, topic)
	}
	for _, group := range t.Groups {
		if !nsq.IsValidChannelName(s.channel(group)) {
			return driver.Semantics{}, fmt.Errorf("nsq: group %q: %w: a channel's name has up to 64 letters, digits, dots, dashes and underscores", group, driver.ErrUnsupported)
		}
	}
	if s.Target.Given && s.http == "" {
		return driver.Semantics{}, s.Option("http_url", "nsqd makes a topic that is missing, and only its HTTP address tells whether it exists; give the option, or leave the topic out (--topic)")
	}
	if t.Keep || t.Existing || t.Late {
		if t.Late && len(t.Groups) == 0 {
			return driver.Semantics{}, fmt.Errorf("nsq: messages that are kept, without a group: %w: the channel of a consumer on its own begins empty; set workload.groups to 1", driver.ErrUnsupported)
		}
		if s.http == "" {
			return driver.Semantics{}, fmt.Errorf("nsq: topics that are kept: %w: without nsqd's HTTP address they are ephemeral; give option http_url", driver.ErrUnsupported)
		}
		s.mu.Lock()
		s.existing = t.Existing
		s.mu.Unlock()
	}
	if s.Target.Given {
		for _, topic := range topics {
			if err := s.findGiven(ctx, topic, t); err != nil {
				return driver.Semantics{}, err
			}
		}
		return s.semantics(), nil
	}
	if err := s.probe(ctx, max(1, t.MaxSize)); err != nil {
		return driver.Semantics{}, err
	}
	if s.http != "" {
		for _, topic := range topics {
			if t.Existing {
				if err := s.find(ctx, topic, t.Groups); err != nil {
					return driver.Semantics{}, err
				}
			} else if err := s.post(ctx, "/topic/create", topic, ""); err != nil {
				return driver.Semantics{}, wrap(err, "make topic %q", topic)
			}
			s.mu.Lock()
			if !t.Keep {
				s.made = append(s.made, topic)
			}
			s.mu.Unlock()
			for _, group := range t.Groups {
				if err := s.post(ctx, "/channel/create", topic, group); err != nil {
					return driver.Semantics{}, wrap(err, "make channel %q of topic %q", group, topic)
				}
			}
		}
	}
	return s.semantics(), nil
}

// probeAgain is how long to wait for a message to oneself until it is sent again.
const probeAgain = 100 * time.Millisecond

// probe sends messages of one byte and of size bytes to itself. It sends lost messages
// again: an ephemeral topic drops messages that do not fit into its queue in memory, and,
// if that has no room at all (mem-queue-size 0), messages that come while no reader waits.
func (s *session) probe(ctx context.Context, size int) error {
	topic := naming().Name(s.Target, "p-"+s.Nonce) + ephemeral
	if !nsq.IsValidTopicName(topic) {
		short := s.Target
		short.Run = "p-" + s.Nonce
		topic = naming().Name(short) + ephemeral
	}
	return s.talk(ctx, func(in *wire) error {
		if err := in.command(nsq.Subscribe(topic, "probe"+ephemeral)); err != nil {
			return wrap(err, "subscribe to %q", topic)
		}
		if err := in.okay(); err != nil {
			return wrap(err, "subscribe to %q", topic)
		}
		if err := in.command(nsq.Ready(1)); err != nil {
			return wrap(err, "subscribe to %q", topic)
		}
		return s.talk(ctx, func(out *wire) error {
			for _, n := range []int{1, size} {
				if err := exchange(in, out, topic, n); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// exchange publishes n bytes by out until they have come by in.
func exchange(in, out *wire, topic string, n int) error {
	came := make(chan error, 1)
	go func() { came <- in.receive(n) }()
	again := time.NewTicker(probeAgain)
	defer again.Stop()
	for {
		err := out.command(nsq.Publish(topic, make([]byte, n)))
		if err == nil {
			err = out.okay()
		}
		if err != nil {
			in.raw.Close()
			<-came // the reading goroutine has ended
			return wrap(err, "publish %d bytes to %q", n, topic)
		}
		select {
		case err := <-came:
			if err != nil {
				return wrap(err, "receive what was sent to %q", topic)
			}
			return nil
		case <-again.C:
		}
	}
}

// receive waits for a message of n bytes. It finishes all that come.
func (w *wire) receive(n int) error {
	for {
		m, err := w.probed()
		if err != nil {
			return err
		}
		if err := w.write(appendFin(nil, m.id)); err != nil {
			return err
		}
		if len(m.body) == n {
			return nil
		}
	}
}

// probed waits for a message.
func (w *wire) probed() (message, error) {
	for {
		kind, data, err := w.next()
		switch {
		case err != nil:
			return message{}, err
		case kind == nsq.FrameTypeMessage:
			return parseMessage(data)
		case kind == nsq.FrameTypeError:
			return message{}, refusal(data)
		case string(data) == heartbeat:
			if err := w.command(nsq.Nop()); err != nil {
				return message{}, err
			}
		}
	}
}

// errUnanswered says that consumers have messages to which nsqd has got no answer yet.
var errUnanswered = errors.New("messages in flight")

// answered waits until nsqd has read what go-nsq's consumers say of its messages in a
// channel, or in all of the topic: nsqd 1.3.0 crashes if a channel is removed while it
// reads a FIN. For consumers of the driver's own client close has waited for it.
func (s *session) answered(ctx context.Context, at, topic, channel string) {
	if !s.options.library() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, leaveMost)
	defer cancel()
	unanswered := func(err error) bool { return errors.Is(err, errUnanswered) }
	// What is not answered by then belongs to a consumer that is lost.
	_ = kit.Await(ctx, "nsq: wait for consumers' answers", unanswered, func() error {
		t, err := s.stats(ctx, at, topic)
		for _, c := range t.Channels {
			if c.InFlight > 0 && (channel == "" || c.Name == channel) {
				return errUnanswered
			}
		}
		return err
	})
}

// dropChannel removes the channel that was a consumer's own, for which nsqd
// would else go on keeping messages. If it cannot, Deprovision removes it with
// its topic.
func (s *session) dropChannel(ctx context.Context, c *consumer) {
	for _, in := range c.places() {
		topic, at := in.topic, in.daemon
		if at.http == "" {
			continue
		}
		s.answered(ctx, at.http, topic, c.channel)
		if err := s.postAt(ctx, at.http, "/channel/delete", topic, c.channel); err != nil && !errors.Is(err, driver.ErrNoTopic) {
			s.Target.Notify(driver.Event{Kind: driver.AsyncError, Detail: fmt.Sprintf("remove channel %q of topic %q: %v", c.channel, topic, err)})
		}
	}
}

// Deprovision implements driver.Session. nsqd disconnects who uses what is
// removed, and who came back would make it again: consumers that are left end
// here, and so do producers.
func (s *session) Deprovision(ctx context.Context) error {
	s.mu.Lock()
	made := s.made
	s.made = nil
	s.mu.Unlock()
	if len(made) == 0 {
		return nil
	}
	_ = s.Drain(ctx, s.senders.Drain) // what is stuck ends with its connection
	var errs []error
	for _, topic := range made {
		s.answered(ctx, s.http, topic, "")
		if err := s.post(ctx, "/topic/delete", topic, ""); err != nil && !errors.Is(err, driver.ErrNoTopic) {
			errs = append(errs, &driver.Left{What: "topic", Name: topic, Err: wrap(err, "remove topic %q", topic)})
		}
		errs = append(errs, s.unlist(ctx, topic)...)
	}
	return errors.Join(errs...)
}
