package kafka

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kversion"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// Keys of requests that not every broker knows.
const (
	produce         = 0
	fetch           = 1
	listOffsets     = 2
	metadata        = 3
	offsetCommit    = 8
	syncGroup       = 14
	apiVersions     = 18
	createTopics    = 19
	deleteTopics    = 20
	initProducerID  = 22
	describeConfigs = 32
	deleteGroups    = 42
)

// session implements driver.Session and driver.DepthTeller.
type session struct {
	*kit.Base
	options Options
	control *link
	admin   *kadm.Client
	spoken  *kversion.Versions // what broker and client both speak; nil: not known
	server  driver.Server
	node    int32                     // one of the brokers
	links   *kit.Pool[kit.Key, *link] // of producers

	mu     sync.Mutex
	alone  map[int]*consumer // consumers on their own, by their numbers in the run
	names  map[string]string // of the option topic, by the run's names
	topics map[string]topic  // by Kafka's name
	logins map[kit.Key]*logins

	unanswered unanswered
	asked      []string // driver.Topology.Topics
	provided   []string // all topics, by Kafka's names, in the run's order
	created    []string // those of them that are ours to delete
	groups     []string // by Kafka's names
	existing   bool     // driver.Topology.Existing
	oldest     bool     // consumers on their own begin with the oldest message
	largest    int      // bytes of a batch that the topics take; 0: not known
	needed     int      // bytes of a batch that holds the largest message
}

// topic is what is known of a topic.
type topic struct {
	partitions int
	replicas   int
}

func newSession(t driver.Target, o Options) (*session, error) {
	b, err := kit.NewBase(failures(), t, o.User, o.Password, kit.Scheme{Name: scheme, Port: "9092"})
	if err != nil {
		return nil, err
	}
	if a := &b.Address; a.User != nil || a.Path != "" || a.Query != nil {
		return nil, fmt.Errorf("kafka: %w: the URL is more than addresses; want one such as host:9092, or several with commas between, and user and password as options", driver.ErrOption)
	}
	if err := b.CheckName("run", t.Run); err != nil {
		return nil, err
	}
	s := &session{Base: b, options: o, alone: map[int]*consumer{}, topics: map[string]topic{}}
	s.links = kit.NewPool("kafka", func(ctx context.Context, key kit.Key) (*link, error) {
		return s.connect(ctx, key, s.producerOptions()...)
	}, func(ctx context.Context, l *link) { l.close(ctx) })
	return s, nil
}

// reach connects the session's own client, beside those of producers and consumers.
func (s *session) reach(ctx context.Context) error {
	var err error
	// What passes by itself is awaited by us, who can tell what it was: the client
	// would say no more than that time ran out.
	if s.control, err = s.connect(ctx, kit.Key{Role: kit.Control}, kgo.RetryTimeout(time.Second)); err != nil {
		return err
	}
	s.admin = kadm.NewClient(s.control.client)
	// The client does not give up a connection's first answer for ctx.
	stop := context.AfterFunc(ctx, s.control.dialer.kill)
	defer stop()
	if err := s.control.client.Ping(ctx); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return s.connecting(err, "reach %s", &s.Address)
	}
	if err := s.advertised(ctx); err != nil {
		return err
	}
	return s.inspect(ctx)
}

// refusals says how producers learn of refusals: without acknowledgements brokers
// from 2.3 on are asked for the rights of a user whose connection they close.
func (s *session) refusals() driver.Refusals {
	switch {
	case s.options.Acks != "0":
		return driver.RefusalsAnswered
	case s.speaks(metadata, 8):
		return driver.RefusalsReported
	}
	return driver.RefusalsSilent
}

// speaks reports whether the request can be used.
func (s *session) speaks(key, version int16) bool {
	if s.spoken == nil {
		return true
	}
	most, ok := s.spoken.LookupMaxKeyVersion(key)
	return ok && most >= version
}

// own returns the name at the broker of something called name in the run.
func (s *session) own(name string) string { return naming().Name(s.Target, name) }

// group returns the name at the broker of one of the run's groups.
func (s *session) group(name string) string { return naming().TopicName(s.Target, name) }

// naming is that of topics, groups and transactional ids.
func naming() driver.Naming {
	return driver.Naming{Separator: ".", Allowed: "._-", Longest: 100, GivenTopic: "a topic", GivenGroup: "a consumer group", GroupsJoin: true}
}

// Destinations implements driver.DestinationNamer.
func (s *session) Destinations() (all []driver.Destination) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, name := range s.provided {
		for p := range s.topics[name].partitions {
			all = append(all, driver.Destination{Topic: s.asked[i], Name: name, Partition: p})
		}
	}
	return all
}

// Close implements driver.Session.
func (s *session) Close(ctx context.Context) error {
	return s.Base.Close(ctx, s.links.Close, func(ctx context.Context) {
		if s.control != nil {
			s.control.close(ctx)
		}
	})
}

// franz is the path of the client library.
const franz = "github.com/twmb/franz-go"

// producerOptions are those of a client that sends.
func (s *session) producerOptions() []kgo.Opt {
	o := &s.options
	bytes, records := s.buffer()
	options := []kgo.Opt{
		kgo.MaxBufferedBytes(bytes),
		kgo.ProducerLinger(o.linger(s.Target.Batch)),
		kgo.ProducerBatchMaxBytes(int32(s.batchSize())),
		kgo.BrokerMaxWriteBytes(int32(max(s.batchSize()+1<<20, 100<<20))),
		kgo.ProducerBatchCompression(o.codec()),
		kgo.ProduceRequestTimeout(o.RequestTimeout),
		kgo.MaxBufferedRecords(records),
		kgo.RecordPartitioner(s.partitioner()),
	}
	switch o.Acks {
	case "0":
		options = append(options, kgo.RequiredAcks(kgo.NoAck()))
	case "1":
		options = append(options, kgo.RequiredAcks(kgo.LeaderAck()))
	default:
		options = append(options, kgo.RequiredAcks(kgo.AllISRAcks()))
	}
	switch {
	case o.Transactions:
		return append(options, kgo.TransactionTimeout(o.TransactionTimeout))
	case o.idempotent():
		// The limit holds for what is on its way as well: its outcome is then
		// unknown, and is reported so.
		options = append(options, kgo.AllowIdempotentProduceCancellation())
	default:
		n := o.MaxInFlight
		if n == 0 {
			n = inFlight
		}
		options = append(options, kgo.DisableIdempotentWrite(), kgo.MaxProduceRequestsInflightPerBroker(n))
	}
	if o.Retries >= 0 {
		options = append(options, kgo.RecordRetries(o.Retries))
	}
	return append(options, kgo.RecordDeliveryTimeout(o.DeliveryTimeout))
}

// buffer returns the limits in bytes, 0 for none, and records of what waits in a
// client. One message always fits: the client would refuse it otherwise.
func (s *session) buffer() (bytes, records int) {
	bytes, records = s.options.buffer(s.Target.Batch)
	if bytes > 0 {
		bytes = max(bytes, s.needed)
	}
	return bytes, records
}

// batchSize returns the size of the largest batch in bytes. The client refuses
// records that do not fit into one.
func (s *session) batchSize() int {
	size := int(s.options.BatchSize)
	if size == 0 {
		size = batchMost
		if s.largest > 0 {
			size = min(size, s.largest)
		}
	}
	return min(max(size, s.needed, 512), 1<<30)
}
