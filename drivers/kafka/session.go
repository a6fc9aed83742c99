package kafka

import (
	"context"
	"crypto/tls"
	"fmt"
	"strings"
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

// session implements driver.Session, driver.AckReporter and driver.ServerInfo.
type session struct {
	target  driver.Target
	options Options
	servers []string
	tls     *tls.Config
	notify  func(driver.Event)
	life    context.Context // ends when the session closes
	cancel  context.CancelFunc
	control *link
	admin   *kadm.Client
	spoken  *kversion.Versions // what broker and client both speak; nil: not known
	info    map[string]string
	node    int32 // one of the brokers

	mu        sync.Mutex
	closed    bool
	producing map[int]*shared // by Conn
	consumers map[*consumer]struct{}
	senders   map[*transactional]struct{}
	names     map[string]string // of the option topic, by the run's names
	topics    map[string]topic  // by Kafka's name
	created   []string          // topics, by Kafka's names
	groups    []string          // by Kafka's names
	existing  bool              // driver.Topology.Existing
	oldest    bool              // consumers on their own begin with the oldest message
	largest   int               // bytes of a batch that the topics take; 0: not known
	needed    int               // bytes of a batch that holds the largest message
}

// topic is what is known of a topic.
type topic struct {
	partitions int
	replicas   int
}

// shared is a client of several producers.
type shared struct {
	link  *link
	users int
}

func newSession(t driver.Target, o Options) (*session, error) {
	s := &session{target: t, options: o, notify: t.Notify, producing: map[int]*shared{},
		consumers: map[*consumer]struct{}{}, senders: map[*transactional]struct{}{}, topics: map[string]topic{}}
	if s.notify == nil {
		s.notify = func(driver.Event) {}
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	var err error
	if s.servers, err = parseServers(t.URL); err != nil {
		return nil, err
	}
	if err := checkName("run", t.Run); err != nil {
		return nil, err
	}
	if t.TLS != nil {
		if s.tls, err = t.TLS.Config(""); err != nil {
			return nil, fmt.Errorf("kafka: %w", err)
		}
	}
	s.life, s.cancel = context.WithCancel(context.Background())
	return s, nil
}

// reach connects the session's own client.
func (s *session) reach(ctx context.Context) error {
	var err error
	// What passes by itself is awaited by us, who can tell what it was: the client
	// would say no more than that time ran out.
	if s.control, err = s.connect("control", kgo.RetryTimeout(time.Second)); err != nil {
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
		return fmt.Errorf("%w%s", wrap(err, "reach %s", strings.Join(s.servers, ",")), hint(err, s.tls != nil))
	}
	return s.inspect(ctx)
}

// Ack implements driver.AckReporter.
func (s *session) Ack() driver.AckKind {
	if s.options.Acks == "0" {
		return driver.AckKindNone
	}
	return driver.AckKindBroker
}

// speaks reports whether the request can be used.
func (s *session) speaks(key, version int16) bool {
	if s.spoken == nil {
		return true
	}
	most, ok := s.spoken.LookupMaxKeyVersion(key)
	return ok && most >= version
}

// checkName refuses what cannot be part of a topic's name.
func checkName(what, name string) error {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
	if name == "" || len(name) > 200 || strings.Trim(name, letters) != "" {
		return fmt.Errorf("kafka: %s %q: %w: Kafka's names are made of letters, digits, dots, hyphens and underscores", what, name, driver.ErrUnsupported)
	}
	return nil
}

// own returns the name at the broker of something called name in the run.
func (s *session) own(name string) string { return "sixnines." + s.target.Run + "." + name }

// openTo returns an error once the session is closed.
func (s *session) openTo(what string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return fmt.Errorf("kafka: %s: session %w", what, driver.ErrClosed)
	}
	return nil
}

// acquire returns the client of producers with the number conn, making it for
// the first.
func (s *session) acquire(conn int) (*link, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, fmt.Errorf("kafka: connect: session %w", driver.ErrClosed)
	}
	sh := s.producing[conn]
	if sh == nil {
		l, err := s.connect(fmt.Sprintf("producer-%d", conn), s.producerOptions()...)
		if err != nil {
			return nil, err
		}
		sh = &shared{link: l}
		s.producing[conn] = sh
	}
	sh.users++
	return sh.link, nil
}

// release closes the client when its last user has gone.
func (s *session) release(ctx context.Context, conn int, l *link) {
	s.mu.Lock()
	sh := s.producing[conn]
	last := false
	if sh != nil && sh.link == l {
		if sh.users--; sh.users == 0 {
			delete(s.producing, conn)
			last = true
		}
	}
	s.mu.Unlock()
	if last {
		l.close(ctx)
	}
}

// Close implements driver.Session.
func (s *session) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	links := []*link{}
	for _, sh := range s.producing {
		links = append(links, sh.link)
	}
	consumers, senders := s.consumers, s.senders
	s.producing, s.consumers, s.senders = map[int]*shared{}, map[*consumer]struct{}{}, map[*transactional]struct{}{}
	s.mu.Unlock()
	if s.control != nil {
		links = append(links, s.control)
	}
	var closing sync.WaitGroup
	for _, l := range links {
		closing.Go(func() { l.close(ctx) })
	}
	for c := range consumers {
		closing.Go(func() { c.shut(ctx) })
	}
	for p := range senders {
		closing.Go(func() { p.Close(ctx) })
	}
	closing.Wait()
	s.cancel()
	return nil
}

// clientVersion returns the version of the client library in this program.
func clientVersion() string { return kit.LibraryVersion("github.com/twmb/franz-go") }

// producerOptions are those of a client that sends.
func (s *session) producerOptions() []kgo.Opt {
	o := &s.options
	bytes, records := s.buffer()
	options := []kgo.Opt{
		kgo.MaxBufferedBytes(bytes),
		kgo.ProducerLinger(o.linger(s.target.Batch)),
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
	bytes, records = s.options.buffer(s.target.Batch)
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
