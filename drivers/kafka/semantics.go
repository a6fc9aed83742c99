package kafka

import (
	"context"
	"fmt"
	"maps"
	"math"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kversion"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/semantics"
)

// inspect learns what the session talks to.
func (s *session) inspect(ctx context.Context) error {
	s.server = driver.Server{Product: "kafka", Protocol: "kafka", More: map[string]string{}}
	pinned, err := s.options.versions()
	if err != nil {
		return err
	}
	s.spoken = pinned
	meta, err := s.admin.BrokerMetadata(ctx)
	if err != nil {
		return wrap(err, "ask for the brokers")
	}
	if len(meta.Brokers) > 0 {
		s.node = meta.Brokers[0].NodeID
	}
	s.server.Brokers = len(meta.Brokers)
	if meta.Cluster != "" {
		s.server.More["cluster"] = meta.Cluster
	}
	if pinned != nil {
		s.server.More["protocol_version"] = s.options.Version
		if !pinned.HasKey(apiVersions) {
			s.server.Version = "not told"
			return nil
		}
	}
	all, err := s.admin.ApiVersions(ctx)
	if err != nil {
		return wrap(err, "ask for the broker's versions")
	}
	for _, b := range all.Sorted() {
		if b.Err != nil {
			continue
		}
		s.server.Version = b.VersionGuess()
		if pinned == nil {
			s.spoken = kversion.FromApiVersionsResponse(b.Raw())
		}
		for _, f := range b.Raw().FinalizedFeatures {
			s.server.More["feature "+f.Name] = strconv.Itoa(int(f.MaxVersionLevel))
		}
		break
	}
	return nil
}

// semantics reads back the settings in effect of the topics, which all are
// alike if we created them.
func (s *session) semantics(ctx context.Context, topics []string) (driver.Semantics, error) {
	o := &s.options
	s.mu.Lock()
	first := s.topics[topics[0]]
	alike := true
	for _, name := range topics {
		alike = alike && s.topics[name] == first
	}
	created := len(s.created) > 0
	s.mu.Unlock()
	sem := driver.Semantics{
		Levels:      semantics.Levels{Ordering: semantics.PerPartition},
		Client:      kit.Library("franz-go", franz),
		Server:      s.server,
		Refusals:    s.refusals(),
		Redelivery:  o.SessionTimeout,
		Ordering:    "per partition",
		Batching:    s.batching(),
		Consumption: fmt.Sprintf("pull, fetches kept for up to %v until %v are there", o.FetchMaxWait, o.FetchMinBytes),
		Transport:   "tcp",
		Settings: kit.Settings(o, "acks", "compression", "delivery_timeout", "request_timeout", "key", "partitioner", "fetch_max_wait",
			"fetch_min_bytes", "fetch_max_bytes", "balancer", "heartbeat_interval", "session_timeout", "commit_interval"),
	}
	maps.Copy(sem.Settings, map[string]string{
		"servers":          s.Address.String(),
		"topic.partitions": strconv.Itoa(first.partitions),
		"topic.replicas":   strconv.Itoa(first.replicas),
		"idempotence":      strconv.FormatBool(o.idempotent()),
		"linger":           o.linger(s.Target.Batch).String(),
		"retries":          "until delivery_timeout",
		"max_in_flight":    strconv.Itoa(inFlight),
		"isolation":        "read_uncommitted",
		"connections":      "producers of one number share a client; each consumer and each transactional producer has its own",
	})
	if first.partitions == 1 && alike {
		sem.Levels.Ordering, sem.Ordering = semantics.PerTopic, "per partition; a topic has one"
	}
	sem.Levels.Delivery, sem.Delivery = s.delivery()
	set := sem.Settings
	set["buffer"] = "unlimited, Send does not wait"
	if bytes, records := s.buffer(); bytes > 0 {
		set["buffer"] = driver.ByteSize(bytes).String() + ", beyond which Send waits"
		if records < math.MaxInt32 {
			set["buffer"] = fmt.Sprintf("%v or %d records, beyond which Send waits", driver.ByteSize(bytes), records)
		}
	}
	if o.Retries >= 0 {
		set["retries"] = strconv.Itoa(o.Retries)
	}
	if o.MaxInFlight > 0 {
		set["max_in_flight"] = strconv.Itoa(o.MaxInFlight)
	}
	if o.committedOnly() {
		set["isolation"] = readCommitted
	}
	if s.TLS != nil {
		sem.Transport, sem.Encrypted = "tcp, tls", true
	}
	set["authentication"] = none
	if o.logsIn() {
		set["authentication"] = o.SASL
	} else if s.TLS != nil && len(s.TLS.Certificates) > 0 {
		set["authentication"] = "client certificate"
	}
	if !alike {
		sem.Warnings = append(sem.Warnings, "the topics differ in partitions or replicas; the settings are those of the first")
	}
	if o.Acks != acksAll && o.Acks != "0" && (o.MaxInFlight == 0 || o.MaxInFlight > 1) && o.Retries != 0 || o.Acks == acksAll && !o.idempotent() {
		sem.Warnings = append(sem.Warnings, "without idempotence a record that is sent again may come twice or out of order")
	}
	if !s.speaks(createTopics, 0) && !created && o.Create && len(o.Topic) == 0 {
		sem.Warnings = append(sem.Warnings, "the broker's protocol cannot delete topics: "+strings.Join(topics, ", ")+" will stay")
	}
	effective, err := s.effective(ctx, topics[0])
	if err != nil {
		sem.Warnings = append(sem.Warnings, "the topic's settings cannot be read: "+err.Error())
	}
	for _, name := range []string{minInsync, maxMessage, flushMessages, flushMillis, "unclean.leader.election.enable", "compression.type",
		"message.timestamp.type", "cleanup.policy", "retention.ms", "retention.bytes", "segment.bytes"} {
		if value, ok := effective[name]; ok {
			set["topic."+name] = value
		}
	}
	for _, setting := range o.TopicConfig {
		name, _, _ := strings.Cut(setting, "=")
		if value, ok := effective[name]; ok {
			set["topic."+name] = value
		}
	}
	if limit, err := strconv.Atoi(effective[maxMessage]); err == nil {
		s.largest = limit
	}
	s.durable(&sem, first.replicas, effective)
	if b := s.options.BatchSize; b > 0 && s.largest > 0 && int(b) > s.largest {
		return sem, fmt.Errorf("kafka: option \"batch_size\": %w: %v is more than the topic's %s, %d", driver.ErrOption, b, maxMessage, s.largest)
	}
	set["batch_size"] = driver.ByteSize(s.batchSize()).String()
	return sem, s.brokerSettings(ctx, &sem)
}

// effective returns the topic's settings, those that it inherits included.
func (s *session) effective(ctx context.Context, topic string) (map[string]string, error) {
	if !s.speaks(describeConfigs, 0) {
		return nil, fmt.Errorf("%w before 0.11", driver.ErrUnsupported)
	}
	var values map[string]string
	err := kit.Await(ctx, "ask for them", passes, func() error {
		configs, err := s.admin.DescribeTopicConfigs(ctx, topic)
		if err == nil {
			values, err = settingsOf(configs)
		}
		return err
	})
	return values, err
}

func settingsOf(configs kadm.ResourceConfigs) (map[string]string, error) {
	values := map[string]string{}
	for _, resource := range configs {
		if resource.Err != nil {
			return nil, resource.Err
		}
		for _, c := range resource.Configs {
			if c.Value != nil && !c.Sensitive {
				values[c.Key] = *c.Value
			}
		}
	}
	return values, nil
}

// brokerSettings adds those of one broker that latency hangs on. That they
// cannot be read is a warning.
func (s *session) brokerSettings(ctx context.Context, sem *driver.Semantics) error {
	if !s.speaks(describeConfigs, 0) {
		return nil
	}
	configs, err := s.admin.DescribeBrokerConfigs(ctx, s.node)
	var values map[string]string
	if err == nil {
		values, err = settingsOf(configs)
	}
	if ctx.Err() != nil {
		return wrap(ctx.Err(), "read the broker's settings")
	}
	if err != nil {
		sem.Warnings = append(sem.Warnings, "the broker's settings cannot be read: "+err.Error())
		return nil
	}
	for _, name := range []string{"num.network.threads", "num.io.threads", "num.replica.fetchers", "replica.lag.time.max.ms", "log.flush.scheduler.interval.ms",
		"socket.send.buffer.bytes", "socket.receive.buffer.bytes", "message.max.bytes"} {
		if value, ok := values[name]; ok {
			sem.Settings["broker."+name] = value
		}
	}
	return nil
}

// durable says what an acknowledgement proves.
func (s *session) durable(sem *driver.Semantics, replicas int, effective map[string]string) {
	level, where := semantics.PageCache, "page cache"
	if n, err := strconv.ParseInt(effective[flushMessages], 10, 64); err == nil && n == 1 {
		level, where = semantics.Synced, "fsync per batch"
	} else if err == nil && n < 1<<40 {
		where = fmt.Sprintf("page cache, fsync every %d messages", n)
	} else if ms, err := strconv.ParseInt(effective[flushMillis], 10, 64); err == nil && ms < 1<<40 {
		where = fmt.Sprintf("page cache, fsync every %d ms", ms)
	}
	insync := effective[minInsync]
	sem.Levels.Durability, sem.Levels.Replication = level, s.replication(replicas, insync)
	switch {
	case replicas <= 1:
		sem.Replication = none
	case insync == "":
		sem.Replication = fmt.Sprintf("%d replicas", replicas)
	default:
		sem.Replication = fmt.Sprintf("%d replicas, at least %s in sync", replicas, insync)
	}
	switch s.options.Acks {
	case "0":
		sem.Durability, sem.Acknowledgment = where+" of the leader, not confirmed", none
	case "1":
		sem.Durability, sem.Acknowledgment = where+" of the leader", "the leader has written the record"
	default:
		sem.Durability, sem.Acknowledgment = where, "the leader has written the record"
		if replicas > 1 {
			sem.Durability = where + " of all replicas in sync"
			sem.Acknowledgment = "all replicas in sync have written the record"
		}
	}
	if replicas > 1 && s.options.Acks == acksAll && insync == "1" {
		sem.Warnings = append(sem.Warnings, "min.insync.replicas is 1: with the other replicas behind, an acknowledgement is the leader's alone")
	}
	if s.options.Transactions {
		sem.Acknowledgment += ", and the transaction has committed"
	}
}

// replication returns how many replicas have a record when it is acknowledged; it is not
// known without the topic's settings.
func (s *session) replication(replicas int, insync string) semantics.Replication {
	least, err := strconv.Atoi(insync)
	switch {
	case replicas <= 1:
		return semantics.Replication{Level: semantics.OneCopy}
	case s.options.Acks == acksAll && err != nil:
		return semantics.Replication{Level: semantics.NotKnown}
	case s.options.Acks == acksAll && least > 1:
		return semantics.Replication{Level: semantics.Synchronous, Copies: replicas, Confirmed: min(least, replicas)}
	}
	return semantics.Replication{Level: semantics.Asynchronous, Copies: replicas}
}

func (s *session) delivery() (semantics.Delivery, string) {
	switch {
	case s.options.Transactions:
		return semantics.ExactlyOnce, "exactly once"
	case s.options.Acks == "0":
		return semantics.AtMostOnce, "at most once"
	case s.options.idempotent():
		return semantics.AtLeastOnce, "exactly once into the log, at least once out of it"
	}
	return semantics.AtLeastOnce, "at least once"
}

func (s *session) batching() string {
	linger := s.options.linger(s.Target.Batch)
	text := "what comes while requests are on their way"
	if linger > 0 {
		text = fmt.Sprintf("up to %v", linger)
	}
	if s.options.Transactions {
		text += fmt.Sprintf(", in transactions of %v", s.options.TransactionInterval)
		if n := s.options.TransactionMessages; n > 0 {
			text += fmt.Sprintf(" or %d messages", n)
		}
	}
	return text
}
