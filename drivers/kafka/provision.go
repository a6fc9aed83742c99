package kafka

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// The names of settings that something depends on.
const (
	minInsync     = "min.insync.replicas"
	maxMessage    = "max.message.bytes"
	flushMessages = "flush.messages"
	flushMillis   = "flush.ms"
)

// Sizes in bytes of what surrounds a payload: at most, of the format before
// 0.11 or since.
const recordFrame = 61 + 41

// framing returns how much larger than its payload a batch of one message is, with a
// key of this length, if it is not of the option's, and these headers.
func (s *session) framing(key int, headers []driver.Header) int {
	const lengths = 2 * 3 // of a name and a value, as variable integers
	if s.options.Key != none {
		key = s.options.KeySize
	}
	return recordFrame + key + len(headers)*lengths + kit.HeaderBytes(headers)
}

func (s *session) tooLarge(size int) error {
	return fmt.Errorf("kafka: payloads of %d bytes: %w: the topic's %s is %d, frame included; set it with the option topic_config, and message.max.bytes of the broker with it",
		size, driver.ErrTooLarge, maxMessage, s.largest)
}

// kafkaName returns the broker's name of a topic.
func (s *session) kafkaName(name string) (string, error) {
	if err := s.CheckName("topic", name); err != nil {
		return "", err
	}
	if len(s.options.Topic) == 0 {
		return naming().TopicName(s.Target, name), nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if given, ok := s.names[name]; ok {
		return given, nil
	}
	return "", fmt.Errorf("kafka: topic %q: %w: it was not provisioned", name, driver.ErrNoTopic)
}

func (s *session) kafkaNames(names []string) ([]string, error) {
	var all []string
	for _, name := range names {
		kafkas, err := s.kafkaName(name)
		if err != nil {
			return nil, err
		}
		all = append(all, kafkas)
	}
	return all, nil
}

// assign gives the run's topics the names of the option topic.
func (s *session) assign(topics []string) error {
	given := s.options.Topic
	if len(given) == 0 {
		return nil
	}
	if len(given) != len(topics) {
		return s.Option("topic", fmt.Sprintf("it names %d topics, and the run has %d", len(given), len(topics)))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.names = map[string]string{}
	for i, name := range topics {
		if err := s.CheckName("topic", given[i]); err != nil {
			return err
		}
		s.names[name] = given[i]
	}
	return nil
}

// Provision implements driver.Session.
func (s *session) Provision(ctx context.Context, t driver.Topology) (driver.Semantics, error) {
	fail := func(err error) (driver.Semantics, error) { return driver.Semantics{}, err }
	if s.Closed() {
		return fail(wrap(driver.ErrClosed, "provision"))
	}
	if s.Target.Given && len(s.options.Topic) > 0 {
		return fail(s.Option("topic", "the scenario names topics that exist, too (target.topic, --topic); give one of the two"))
	}
	if err := s.assign(t.Topics); err != nil {
		return fail(err)
	}
	topics, err := s.kafkaNames(t.Topics)
	if err != nil {
		return fail(err)
	}
	for _, group := range t.Groups {
		if err := s.CheckName("group", group); err != nil {
			return fail(err)
		}
	}
	if t.KeySize > 0 && s.options.Key != none {
		return fail(fmt.Errorf("kafka: option \"key\": %w: workload.keys says which keys records have; leave the option out", driver.ErrOption))
	}
	if len(t.Headers) > 0 && !s.speaks(produce, 3) {
		return fail(fmt.Errorf("kafka: headers: %w: records have none before 0.11", driver.ErrUnsupported))
	}
	if len(t.Groups) > 0 && !s.speaks(syncGroup, 0) {
		return fail(fmt.Errorf("kafka: groups: %w: the broker's protocol has none before 0.9", driver.ErrUnsupported))
	}
	s.existing = t.Existing
	s.oldest = t.Existing || t.Late
	if s.existing || s.Target.Given {
		s.options.Create = false
	}
	if s.options.Create {
		if err := s.create(ctx, topics); err != nil {
			return fail(err)
		}
	}
	if err := s.exist(ctx, topics); err != nil {
		return fail(err)
	}
	if err := s.settle(ctx, topics); err != nil {
		return fail(err)
	}
	for _, group := range t.Groups {
		if s.Target.Given {
			continue
		}
		if s.existing {
			s.note(s.own(group))
		} else if err := s.begin(ctx, s.own(group), topics); err != nil {
			return fail(wrap(err, "set the beginning of group %q", group))
		}
	}
	s.needed = t.MaxSize + s.framing(t.KeySize, t.Headers)
	sem, err := s.semantics(ctx, topics)
	if err != nil {
		return fail(err)
	}
	if len(topics) > 0 {
		sem.Topic = topics[0]
	}
	if t.KeySize > 0 {
		sem.Settings["key"] = "the workload's"
	}
	if s.largest > 0 && s.options.Compression == none && s.needed > s.largest {
		return fail(s.tooLarge(t.MaxSize))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked, s.provided = t.Topics, topics
	switch {
	case t.Keep:
		s.created, s.groups = nil, nil // Deprovision is to know nothing of them
	case s.existing && len(s.options.Topic) == 0 && !s.Target.Given:
		s.created = topics
	}
	return sem, nil
}

// note notes a group to delete.
func (s *session) note(group string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.groups = append(s.groups, group)
}

// create makes the topics that do not exist.
func (s *session) create(ctx context.Context, topics []string) error {
	if !s.speaks(createTopics, 0) {
		return s.provoke(ctx, topics)
	}
	o := &s.options
	replicas := int16(o.ReplicationFactor)
	if replicas == 0 {
		if replicas = -1; !s.speaks(createTopics, 4) {
			replicas = 1
		}
	}
	configs, err := o.configs()
	if err != nil {
		return err
	}
	return kit.Await(ctx, "kafka: create topics", passes, func() error {
		answers, err := s.admin.CreateTopics(ctx, int32(o.Partitions), replicas, configs, topics...)
		if err != nil {
			return wrap(err, "create topics")
		}
		return s.noteTopics(answers)
	})
}

// noteTopics notes the topics that were created.
func (s *session) noteTopics(answers kadm.CreateTopicResponses) error {
	for _, a := range answers.Sorted() {
		exists := errors.Is(a.Err, kerr.TopicAlreadyExists)
		// A topic with our run in its name is ours, whichever session created it.
		if a.Err == nil || exists && len(s.options.Topic) == 0 {
			s.mu.Lock()
			if !slices.Contains(s.created, a.Topic) {
				s.created = append(s.created, a.Topic)
			}
			s.mu.Unlock()
		} else if !exists {
			if a.ErrMessage != "" {
				return wrap(a.Err, "create topic %q: %s", a.Topic, a.ErrMessage)
			}
			return wrap(a.Err, "create topic %q", a.Topic)
		}
	}
	return nil
}

// provoke has brokers create topics that cannot be asked to: they do so when
// somebody wants to know about one, if they are configured to.
func (s *session) provoke(ctx context.Context, topics []string) error {
	if len(s.options.TopicConfig) > 0 || s.options.MinInsyncReplicas > 0 || s.options.ReplicationFactor > 1 {
		return fmt.Errorf("kafka: settings of topics: %w: the broker's protocol cannot create topics before 0.10.1; create them with its own tools and name them with the option topic", driver.ErrUnsupported)
	}
	req := metadataOf(topics)
	req.AllowAutoTopicCreation = true
	_, err := req.RequestWith(ctx, s.control.client)
	return wrap(err, "create topics")
}

func metadataOf(topics []string) *kmsg.MetadataRequest {
	req := kmsg.NewPtrMetadataRequest()
	for _, name := range topics {
		t := kmsg.NewMetadataRequestTopic()
		t.Topic = kmsg.StringPtr(name)
		req.Topics = append(req.Topics, t)
	}
	return req
}

// exist looks for topics that are not to be created. Before 0.11 to ask for one
// is enough for the broker to create it, so all are asked for.
func (s *session) exist(ctx context.Context, topics []string) error {
	if s.options.Create || s.speaks(metadata, 4) {
		return nil
	}
	answer, err := kmsg.NewPtrMetadataRequest().RequestWith(ctx, s.control.client)
	if err != nil {
		return wrap(err, "ask for all topics")
	}
	for _, name := range topics {
		if !slices.ContainsFunc(answer.Topics, func(t kmsg.MetadataResponseTopic) bool { return t.Topic != nil && *t.Topic == name }) {
			return missing(name)
		}
	}
	return nil
}

func missing(name string) error {
	return fmt.Errorf("kafka: topic %q: %w at the broker; create it, or leave create at true", name, driver.ErrNoTopic)
}

// passes reports whether an error goes away by itself: there is no leader or
// coordinator yet, or not every broker knows what there is.
func passes(err error) bool {
	class := classOf(err)
	return kerr.IsRetriable(err) || class == driver.ErrNotConnected || class == driver.ErrTimeout
}

// settle waits until all brokers know the topics, and each partition has its
// leader and those that we created their replicas.
func (s *session) settle(ctx context.Context, topics []string) error {
	// Brokers learn of a topic after a moment.
	soon := kit.Moment()
	return kit.Await(ctx, "kafka: wait for the topics", func(err error) bool {
		if classOf(err) == driver.ErrNoTopic && !s.options.Create {
			return soon()
		}
		// Brokers of 0.8 answer so while they make the topic that they were asked for.
		return passes(err) || errors.Is(err, kerr.UnknownServerError)
	}, func() error { return s.settled(ctx, topics) })
}

func (s *session) settled(ctx context.Context, topics []string) error {
	client := s.control.client
	answer, err := metadataOf(topics).RequestWith(ctx, client)
	if err != nil {
		return wrap(err, "ask for the topics")
	}
	if err := s.learn(answer); err != nil {
		return err
	}
	for _, b := range answer.Brokers {
		response, err := client.Broker(int(b.NodeID)).Request(ctx, metadataOf(topics))
		if err != nil {
			return wrap(err, "ask broker %d for the topics", b.NodeID)
		}
		if err := s.learn(response.(*kmsg.MetadataResponse)); err != nil {
			return err
		}
	}
	return nil
}

// learn takes the topics from what a broker knows of them.
func (s *session) learn(answer *kmsg.MetadataResponse) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range answer.Topics {
		name := ""
		if t.Topic != nil {
			name = *t.Topic
		}
		if err := kerr.ErrorForCode(t.ErrorCode); err != nil {
			if errors.Is(err, kerr.UnknownTopicOrPartition) && !s.options.Create {
				return missing(name)
			}
			return wrap(err, "topic %q", name)
		}
		known := topic{partitions: len(t.Partitions)}
		for _, p := range t.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil && !errors.Is(err, kerr.ReplicaNotAvailable) {
				return wrap(err, "topic %q, partition %d", name, p.Partition)
			}
			if p.Leader < 0 {
				return wrap(kerr.LeaderNotAvailable, "topic %q, partition %d", name, p.Partition)
			}
			known.replicas = max(known.replicas, len(p.Replicas))
			if len(p.ISR) < len(p.Replicas) && slices.Contains(s.created, name) {
				return wrap(kerr.NotEnoughReplicas, "topic %q, partition %d", name, p.Partition)
			}
		}
		if known.partitions == 0 {
			return wrap(kerr.LeaderNotAvailable, "topic %q", name)
		}
		if slices.Contains(s.created, name) && known.partitions != s.options.Partitions && len(s.options.Topic) == 0 {
			return fmt.Errorf("kafka: topic %q: %w: it has %d partitions instead of %d", name, driver.ErrUnsupported, known.partitions, s.options.Partitions)
		}
		s.topics[name] = known
	}
	return nil
}

// begin makes a group begin where the topics end now.
func (s *session) begin(ctx context.Context, group string, topics []string) error {
	s.note(group)
	if !s.speaks(listOffsets, 1) || !s.speaks(offsetCommit, 2) {
		return nil
	}
	ends, err := listEnds(ctx, s.admin, topics)
	if err != nil {
		return err
	}
	var offsets kadm.Offsets
	ends.Each(func(end kadm.ListedOffset) { offsets.AddOffset(end.Topic, end.Partition, end.Offset, -1) })
	return kit.Await(ctx, "commit where they end", passes, func() error { return s.admin.CommitAllOffsets(ctx, group, offsets) })
}

// listEnds returns where the topics end now, and listStarts where they begin. A
// broker that the others take for a partition's leader may not know of it yet.
func listEnds(ctx context.Context, admin *kadm.Client, topics []string) (kadm.ListedOffsets, error) {
	return list(ctx, "ask where the topics end", admin.ListEndOffsets, topics)
}

func listStarts(ctx context.Context, admin *kadm.Client, topics []string) (kadm.ListedOffsets, error) {
	return list(ctx, "ask where the topics begin", admin.ListStartOffsets, topics)
}

func list(ctx context.Context, what string, ask func(context.Context, ...string) (kadm.ListedOffsets, error), topics []string) (listed kadm.ListedOffsets, err error) {
	err = kit.Await(ctx, what, passes, func() error {
		listed, err = told(ask(ctx, topics...))
		return err
	})
	return listed, err
}

// told returns answer and err; if err is nil, the error of the answer's parts instead.
func told[T interface{ Error() error }](answer T, err error) (T, error) {
	if err == nil {
		err = answer.Error()
	}
	return answer, err
}

// Deprovision implements driver.Session. Members of groups leave before, since
// a group that has any cannot be deleted. It finds its way to the broker even
// when the session is closed.
func (s *session) Deprovision(ctx context.Context) error {
	s.mu.Lock()
	created, groups := s.created, s.groups
	s.created, s.groups = nil, nil
	s.mu.Unlock()
	_ = s.Drain(ctx) // what is stuck ends with its connection
	admin := s.admin
	if s.control.closing.Load() && len(created)+len(groups) > 0 {
		l, err := s.connect(ctx, kit.Key{Role: kit.Control})
		if err != nil {
			return errors.Join(append(driver.LeaveAll(err, "topic", created), driver.LeaveAll(err, "group", groups)...)...)
		}
		defer l.close(ctx)
		admin = kadm.NewClient(l.client)
	}
	var errs []error
	if len(created) > 0 && s.speaks(deleteTopics, 0) {
		errs = append(errs, remove(ctx, admin, created))
	}
	for _, group := range groups {
		errs = append(errs, driver.LeaveAll(wrap(s.forgetGroup(ctx, admin, group), "delete group %q", group), "group", []string{group})...)
	}
	return errors.Join(errs...)
}

// remove deletes the topics.
func remove(ctx context.Context, admin *kadm.Client, topics []string) error {
	err := kit.Await(ctx, "kafka: delete topics", passes, func() error {
		answers, err := admin.DeleteTopics(ctx, topics...)
		if err != nil {
			return wrap(err, "delete topics")
		}
		var errs []error
		for _, a := range answers.Sorted() {
			if a.Err != nil && !errors.Is(a.Err, kerr.UnknownTopicOrPartition) {
				errs = append(errs, &driver.Left{What: "topic", Name: a.Topic, Err: wrap(a.Err, "delete topic %q", a.Topic)})
			}
		}
		return errors.Join(errs...)
	})
	if len(driver.LeftOf(err)) > 0 {
		return err
	}
	return errors.Join(driver.LeaveAll(err, "topic", topics)...)
}

// forgetGroup deletes a group. It waits for members that are on their way out.
func (s *session) forgetGroup(ctx context.Context, admin *kadm.Client, group string) error {
	if !s.speaks(deleteGroups, 0) {
		return nil // the broker forgets groups without members after a time
	}
	return kit.Await(ctx, "wait for its members to leave", passes, func() error {
		_, err := admin.DeleteGroup(ctx, group)
		switch {
		case errors.Is(err, kerr.GroupIDNotFound):
			return nil
		case errors.Is(err, kerr.NonEmptyGroup):
			return kerr.RebalanceInProgress // which passes
		}
		return err
	})
}
