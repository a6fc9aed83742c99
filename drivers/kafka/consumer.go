package kafka

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// consumer implements driver.Consumer and kit.Part. Each is a client of its own, whatever
// its connection's number: a client of Kafka is one member of one group.
type consumer struct {
	session *session
	id      int
	link    *link
	deliver driver.Deliver
	commits *committer // nil: nothing is committed by us
	marks   bool       // the client commits what is marked, now and then
	life    context.Context
	cancel  context.CancelFunc
	stopped atomic.Bool
	ended   chan struct{} // closed when nothing is delivered any more
	joined  chan struct{} // closed when the group has let us in
	places  places        // of a consumer on its own
}

// Consumer implements driver.Session.
func (s *session) Consumer(ctx context.Context, spec driver.ConsumerSpec, deliver driver.Deliver) (driver.Consumer, error) {
	if s.Closed() {
		return nil, wrap(driver.ErrClosed, "subscribe")
	}
	topics, err := s.kafkaNames(spec.Topics)
	if err != nil {
		return nil, err
	}
	c := &consumer{session: s, id: spec.ID, deliver: deliver, ended: make(chan struct{}), joined: make(chan struct{})}
	c.life, c.cancel = context.WithCancel(s.Life)
	if err := c.start(ctx, spec, topics); err != nil {
		c.cancel()
		if c.link != nil {
			c.link.close(ctx)
		}
		return nil, s.connecting(err, "subscribe to %q", spec.Topics)
	}
	go c.run()
	if _, err := s.Keep(c); err != nil {
		c.Close(ctx)
		return nil, err
	}
	if spec.Group == "" {
		s.mu.Lock()
		s.alone[c.id] = c
		s.mu.Unlock()
	} else {
		select {
		case <-c.joined:
		case <-ctx.Done():
			c.Close(ctx)
			return nil, wrap(ctx.Err(), "join group %q", spec.Group)
		}
	}
	return c, nil
}

// start connects the client and fixes where it begins.
func (c *consumer) start(ctx context.Context, spec driver.ConsumerSpec, topics []string) error {
	s := c.session
	key := kit.Key{Role: kit.Consumer, Conn: spec.ID}
	options := s.consumerOptions()
	group := spec.Group
	if group != "" {
		if err := s.CheckName("group", group); err != nil {
			return err
		}
		if !s.speaks(syncGroup, 0) {
			return fmt.Errorf("groups: %w: the broker's protocol has none before 0.9", driver.ErrUnsupported)
		}
		options = append(options, kgo.ConsumeTopics(topics...))
		options = append(options, c.groupOptions(s.group(group), spec.Ack)...)
	}
	var err error
	if c.link, err = s.connect(ctx, key, options...); err != nil {
		return err
	}
	if spec.Ack.Mode == driver.AckEach || spec.Ack.Mode == driver.AckEvery {
		if !s.speaks(offsetCommit, 2) {
			return fmt.Errorf("commits of offsets: %w: the broker's protocol has none before 0.9", driver.ErrUnsupported)
		}
		every := 1
		if spec.Ack.Mode == driver.AckEvery {
			every = max(1, spec.Ack.Every)
		}
		c.commits = newCommitter(c.link.client, every)
		if group == "" {
			c.commits.group = s.own(key.String())
			s.note(c.commits.group)
		}
	}
	if group != "" {
		return c.link.client.Ping(ctx)
	}
	starts, err := s.starts(ctx, c.link.client, topics)
	if err != nil {
		return err
	}
	c.link.client.AddConsumePartitions(starts)
	c.places.begin(starts)
	return nil
}

// consumerOptions are those of a client that receives.
func (s *session) consumerOptions() []kgo.Opt {
	o := &s.options
	// Of a group that has committed nothing, and where a broker has lost data that
	// had been consumed: go on with what it has that is new, unless all is to come.
	start := kgo.NewOffset().AtEnd()
	if s.oldest {
		start = kgo.NewOffset().AtStart()
	}
	options := []kgo.Opt{
		kgo.FetchMaxWait(o.FetchMaxWait),
		kgo.FetchMinBytes(int32(o.FetchMinBytes)),
		kgo.FetchMaxBytes(int32(o.FetchMaxBytes)),
		kgo.FetchMaxPartitionBytes(int32(o.PartitionBytes)),
		// What exceeds the limits comes all the same, if it is one batch.
		kgo.BrokerMaxReadBytes(1 << 30),
		kgo.ConsumeResetOffset(start),
		kgo.ConsumeStartOffset(start),
	}
	if o.committedOnly() {
		options = append(options, kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	}
	if !o.FetchCRC {
		options = append(options, kgo.DisableFetchCRCValidation())
	}
	return options
}

// groupOptions are those of a member of a group.
func (c *consumer) groupOptions(group string, ack driver.ConsumerAck) []kgo.Opt {
	o := &c.session.options
	var joined sync.Once
	options := []kgo.Opt{
		kgo.ConsumerGroup(group),
		kgo.SessionTimeout(o.SessionTimeout),
		kgo.HeartbeatInterval(o.Heartbeat),
		// A partition goes to another member only when what has been taken of it
		// is delivered and, where anything is, committed: nothing comes twice.
		kgo.BlockRebalanceOnPoll(),
		kgo.OnPartitionsAssigned(func(context.Context, *kgo.Client, map[string][]int32) {
			joined.Do(func() { close(c.joined) })
		}),
	}
	for _, b := range o.balancer() {
		options = append(options, b)
	}
	if ack.Mode == driver.AckDefault {
		c.marks = true
		return append(options, kgo.AutoCommitMarks(), kgo.AutoCommitInterval(o.CommitInterval))
	}
	return append(options, kgo.DisableAutoCommit(),
		kgo.OnPartitionsRevoked(func(_ context.Context, _ *kgo.Client, gone map[string][]int32) { c.revoked(gone) }))
}

// starts returns where a consumer on its own begins: where the topics end now, or
// with what there is where that is to be used.
func (s *session) starts(ctx context.Context, client *kgo.Client, topics []string) (map[string]map[int32]kgo.Offset, error) {
	if s.speaks(listOffsets, 1) {
		list := listEnds
		if s.oldest {
			list = listStarts
		}
		listed, err := list(ctx, kadm.NewClient(client), topics)
		return listed.KOffsets(), err
	}
	starts := map[string]map[int32]kgo.Offset{}
	err := kit.Await(ctx, "ask where the topics end", passes, func() error { return s.oldStarts(ctx, client, topics, starts) })
	return starts, err
}

// oldStarts is [session.starts] by the oldest protocol, whose way to ask kadm does not
// know. The client itself asks when it likes, and what is sent before that does not come.
func (s *session) oldStarts(ctx context.Context, client *kgo.Client, topics []string, into map[string]map[int32]kgo.Offset) error {
	const atEnd, atStart = -1, -2
	req := kmsg.NewPtrListOffsetsRequest()
	req.ReplicaID = -1
	for _, name := range topics {
		t := kmsg.NewListOffsetsRequestTopic()
		t.Topic = name
		for p := range s.partitionsOf(name) {
			place := kmsg.NewListOffsetsRequestTopicPartition()
			place.Partition, place.Timestamp = int32(p), atEnd
			if s.oldest {
				place.Timestamp = atStart
			}
			t.Partitions = append(t.Partitions, place)
		}
		req.Topics = append(req.Topics, t)
	}
	answer, err := req.RequestWith(ctx, client)
	if err != nil {
		return wrap(err, "ask where the topics end")
	}
	for _, t := range answer.Topics {
		into[t.Topic] = map[int32]kgo.Offset{}
		for _, p := range t.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				return wrap(err, "ask where partition %d of %q ends", p.Partition, t.Topic)
			}
			if len(p.OldStyleOffsets) == 0 {
				return wrap(kerr.UnknownTopicOrPartition, "ask where partition %d of %q ends", p.Partition, t.Topic)
			}
			into[t.Topic][p.Partition] = kgo.NewOffset().At(p.OldStyleOffsets[0])
		}
	}
	return nil
}

// partitionsOf returns how many partitions a topic has.
func (s *session) partitionsOf(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.topics[name].partitions
}

// run takes what the client has fetched and delivers it, until the end.
func (c *consumer) run() {
	defer close(c.ended)
	client := c.link.client
	for !c.stopped.Load() {
		fetches := client.PollFetches(c.life)
		for i := range fetches {
			for j := range fetches[i].Topics {
				topic := &fetches[i].Topics[j]
				for k := range topic.Partitions {
					if p := &topic.Partitions[k]; p.Err != nil {
						c.failed(topic.Topic, p.Err)
					} else {
						c.take(topic.Topic, p.Records)
					}
				}
			}
		}
		client.AllowRebalance()
	}
	c.commit() // what is left over
}

// take delivers the records of one partition.
func (c *consumer) take(topic string, records []*kgo.Record) {
	var last *kgo.Record
	for _, r := range records {
		if c.stopped.Load() {
			break
		}
		c.deliver(driver.Message{Payload: r.Value, Partition: int(r.Partition)})
		last = r
		if c.commits != nil && c.commits.due(r) {
			c.commit()
		}
	}
	if last != nil {
		c.places.move(topic, last.Partition, last.Offset+1)
	}
	switch {
	case last == nil:
	case c.marks:
		c.link.client.MarkCommitRecords(last)
	case c.commits != nil:
		c.commits.note(last)
	}
}

// commit commits what has been delivered, where that is our business.
func (c *consumer) commit() {
	if c.commits == nil {
		return
	}
	// It must come to an end though life may be over: it is how Close commits.
	ctx, cancel := context.WithTimeout(context.Background(), c.session.options.RequestTimeout)
	defer cancel()
	if err := c.commits.commit(ctx); err != nil && !errors.Is(err, kgo.ErrClientClosed) {
		c.session.Target.Notify(asyncError(err, "commit offsets"))
	}
}

// revoked is called when partitions go to another member, or are lost to one.
func (c *consumer) revoked(gone map[string][]int32) {
	c.commit()
	if c.commits != nil {
		c.commits.drop(gone)
	}
}

// failed reports what the client cannot get over by itself.
func (c *consumer) failed(topic string, err error) {
	if c.stopped.Load() || errors.Is(err, kgo.ErrClientClosed) || errors.Is(err, context.Canceled) {
		return
	}
	c.session.Target.Notify(asyncError(err, "fetch from %q", topic))
}

// Close implements driver.Consumer. It waits for a running Deliver, at most
// until ctx ends.
func (c *consumer) Close(ctx context.Context) error {
	s := c.session
	s.Forget(c)
	s.mu.Lock()
	if s.alone[c.id] == c {
		delete(s.alone, c.id)
	}
	s.mu.Unlock()
	return c.Shut(ctx)
}

// Shut implements kit.Part: it ends deliveries, commits what is due, and closes the
// client.
func (c *consumer) Shut(ctx context.Context) error {
	c.stopped.Store(true)
	c.cancel()
	err := kit.Wait(ctx, c.ended)
	c.link.close(ctx)
	return wrap(err, "close a consumer")
}
