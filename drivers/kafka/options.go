package kafka

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kversion"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// Options are the options of the driver, see driver.DecodeOptions.
type Options struct {
	Acks             string          `option:"acks" enum:"0,1,all" doc:"what an acknowledgement takes: 0: no acknowledgement; 1: the leader has written the record; all: all replicas in sync have"`
	Idempotence      string          `option:"idempotence" enum:"auto,on,off" doc:"whether the broker recognises what the client sends again; auto: on with acks all, which it needs"`
	MaxInFlight      int             `option:"max_in_flight" doc:"produce requests to a broker at a time, without idempotence; more than one can change the order when one is sent again; 0: 5, as in Java's client; with idempotence the client has 5, in order" min:"0" max:"1000"`
	Linger           time.Duration   `option:"linger" doc:"how long a record may wait for others to fill its batch; absent: not at all where load is paced, 5ms flat out" min:"0ms" max:"1m"`
	BatchSize        driver.ByteSize `option:"batch_size" doc:"largest batch of a partition, before compression; 0: as much as the topic takes, at most 1000000B" min:"0" max:"1GiB"`
	Buffer           driver.ByteSize `option:"buffer" doc:"how much may wait in the client or be on its way, until Send waits; absent: 32MiB flat out, as in Java's client, and 50000 records; without limit where load is paced" min:"1KiB" max:"64GiB"`
	Compression      string          `option:"compression" enum:"none,gzip,snappy,lz4,zstd" doc:"of batches, by the producer"`
	CompressionLevel int             `option:"compression_level" doc:"level of gzip, lz4 or zstd; 0: the codec's default" min:"0" max:"22"`
	DeliveryTimeout  time.Duration   `option:"delivery_timeout" doc:"how long the client tries to deliver a record before it gives up and the outcome is unknown; not with transactions, which have their own" min:"1s"`
	Retries          int             `option:"retries" doc:"how often a record is sent again at most; -1: until delivery_timeout" min:"-1"`
	RequestTimeout   time.Duration   `option:"request_timeout" doc:"how long a broker may take for a request; the client gives it as much again, at most 10s, until the connection counts as lost" min:"100ms" max:"15m"`
	RetryBackoff     time.Duration   `option:"retry_backoff" doc:"pause before something is tried again" min:"1ms"`

	Partitions        int      `option:"partitions" doc:"of each topic that is created" min:"1" max:"100000"`
	ReplicationFactor int      `option:"replication_factor" doc:"of each topic that is created; 0: the broker's default, or 1 before Kafka 2.4" min:"0" max:"32767"`
	MinInsyncReplicas int      `option:"min_insync_replicas" doc:"min.insync.replicas of each topic that is created; 0: the broker's default" min:"0"`
	TopicConfig       []string `option:"topic_config" doc:"further settings of each topic that is created, as name=value, such as retention.ms=60000"`
	Topic             []string `option:"topic" doc:"names of topics to use, one for each topic of the run, instead of names of our own; topics that existed before are not deleted"`
	Create            bool     `option:"create" doc:"create topics that do not exist; false: they must exist"`

	Key         string  `option:"key" enum:"none,fixed,unique,zipf" doc:"an older way to ask for workload.keys: none; the same for all of a producer; one that no other record has; or drawn from key_space, the first ones most often"`
	KeySize     int     `option:"key_size" doc:"length of these keys in bytes" min:"1" max:"65536"`
	KeySpace    int     `option:"key_space" doc:"how many different keys zipf draws from" min:"2" max:"1000000000"`
	KeySkew     float64 `option:"key_skew" doc:"exponent of zipf: the larger, the more often the first keys are drawn" min:"1.0001" max:"100"`
	Partitioner string  `option:"partitioner" enum:"auto,sticky,roundrobin,least" doc:"auto: by the key's hash as Java's client does, without a key a partition for about 64KiB at a time; sticky: by the hash, without a key a partition until its batch is full; roundrobin: each record to the next; least: to the one with the fewest records waiting"`

	Transactions        bool          `option:"transactions" doc:"send in transactions, one after the other; each producer has a transactional id and a client of its own, and consumers read what is committed"`
	TransactionMessages int           `option:"transaction_messages" doc:"commit after this many messages; 0: by time only" min:"0"`
	TransactionInterval time.Duration `option:"transaction_interval" doc:"commit so long after a transaction's first message" min:"1ms" max:"15m"`
	TransactionTimeout  time.Duration `option:"transaction_timeout" doc:"after which the broker aborts a transaction" min:"1s" max:"15m"`

	Isolation      string          `option:"isolation" enum:"auto,read_uncommitted,read_committed" doc:"which records consumers see; auto: read_committed with transactions, else read_uncommitted"`
	FetchMaxWait   time.Duration   `option:"fetch_max_wait" doc:"how long a broker keeps a fetch that it cannot answer with fetch_min_bytes" min:"10ms" max:"15m"`
	FetchMinBytes  driver.ByteSize `option:"fetch_min_bytes" doc:"how much a broker waits for before it answers a fetch" min:"1" max:"1GiB"`
	FetchMaxBytes  driver.ByteSize `option:"fetch_max_bytes" doc:"the most of a fetch's answer" min:"1KiB" max:"1GiB"`
	PartitionBytes driver.ByteSize `option:"fetch_partition_bytes" doc:"the most of each partition in a fetch's answer" min:"1KiB" max:"1GiB"`
	FetchCRC       bool            `option:"fetch_crc" doc:"check the checksums of batches that are fetched; each message has one of ours as well"`
	CommitInterval time.Duration   `option:"commit_interval" doc:"how often members of groups commit unless their acknowledgement says otherwise" min:"100ms"`
	Balancer       string          `option:"balancer" enum:"cooperative,sticky,range,roundrobin,server" doc:"how a group's partitions are shared out; server: by the broker (KIP-848, Kafka 4.0)"`
	Heartbeat      time.Duration   `option:"heartbeat_interval" doc:"how often members of a group report, and learn that others come and go" min:"10ms"`
	SessionTimeout time.Duration   `option:"session_timeout" doc:"after which a silent member is expelled from its group" min:"100ms"`

	Version string `option:"version" doc:"speak the protocol of this version of Kafka and no later one, such as 0.8.2; before 0.10 it must be given; absent: what the broker speaks"`
	kit.UserOptions
	SASLOptions
	ConnectTimeout time.Duration `option:"connect_timeout" doc:"longest time for a broker to accept a connection, TLS included" min:"1ms"`
	Rack           string        `option:"rack" doc:"where the client is, for brokers that let it fetch from the nearest replica"`
}

// The values of options that code decides by.
const (
	on            = "on"
	auto          = "auto"
	none          = "none"
	acksAll       = "all"
	readCommitted = "read_committed"
)

// unset is a linger that was not given.
const unset = -1

// DefaultOptions returns the defaults.
func DefaultOptions() Options {
	return Options{
		Acks:                acksAll,
		Idempotence:         auto,
		Linger:              unset,
		Compression:         none,
		DeliveryTimeout:     2 * time.Minute,
		Retries:             -1,
		RequestTimeout:      30 * time.Second,
		RetryBackoff:        100 * time.Millisecond,
		Partitions:          1,
		Create:              true,
		Key:                 none,
		KeySize:             16,
		KeySpace:            1000,
		KeySkew:             1.1,
		Partitioner:         auto,
		TransactionMessages: 0,
		TransactionInterval: 100 * time.Millisecond,
		TransactionTimeout:  time.Minute,
		Isolation:           auto,
		FetchMaxWait:        500 * time.Millisecond,
		FetchMinBytes:       1,
		FetchMaxBytes:       50 << 20,
		PartitionBytes:      1 << 20,
		FetchCRC:            true,
		CommitInterval:      5 * time.Second,
		Balancer:            "cooperative",
		Heartbeat:           500 * time.Millisecond,
		SessionTimeout:      45 * time.Second,
		SASLOptions:         SASLOptions{SASL: "plain"},
		ConnectTimeout:      10 * time.Second,
	}
}

const (
	batchLinger = 5 * time.Millisecond
	inFlight    = 5
	batchMost   = 1_000_000
	// Flat out, who sends must be held up somewhere: here it sleeps until there
	// is room.
	bufferBytes   = 32 << 20
	bufferRecords = 50_000
)

// Validate refuses combinations that cannot be had.
func (o *Options) Validate() error {
	wrong := failures().Option
	switch {
	case o.Idempotence == on && o.Acks != acksAll:
		return wrong("idempotence", "it needs acks all")
	case o.idempotent() && o.MaxInFlight != 0 && o.MaxInFlight != inFlight:
		return wrong("max_in_flight", "with idempotence the client has 5; switch idempotence off for another number")
	case o.Transactions && !o.idempotent():
		return wrong("transactions", "they need acks all and idempotence, which came with 0.11")
	case o.Transactions && o.Retries >= 0:
		return wrong("retries", "a transaction's records are tried until it is over")
	case o.Password != "" && o.User == "":
		return wrong("password", "it needs user beside it")
	case o.CompressionLevel != 0 && (o.Compression == none || o.Compression == "snappy"):
		return wrong("compression_level", o.Compression+" has no levels")
	case o.Heartbeat > o.SessionTimeout:
		return wrong("heartbeat_interval", "it must be shorter than session_timeout")
	case o.Key != none && o.Key != "fixed" && o.KeySize < 8:
		return wrong("key_size", "keys that differ have at least 8 bytes")
	}
	if _, err := o.versions(); err != nil {
		return err
	}
	if err := o.check(&o.UserOptions); err != nil {
		return err
	}
	_, err := o.configs()
	return err
}

// idempotent reports whether the broker is to recognise records sent twice.
func (o *Options) idempotent() bool {
	if o.Idempotence != auto {
		return o.Idempotence == on
	}
	if v, err := o.versions(); err == nil && v != nil && !v.HasKey(initProducerID) {
		return false
	}
	return o.Acks == acksAll
}

// linger returns how long records wait for others.
func (o *Options) linger(batch bool) time.Duration {
	switch {
	case o.Linger != unset:
		return o.Linger
	case batch:
		return batchLinger
	}
	return 0
}

// buffer returns the limits in bytes, 0 for none, and records of what waits.
func (o *Options) buffer(batch bool) (bytes, records int) {
	switch {
	case o.Buffer > 0:
		return int(o.Buffer), math.MaxInt32
	case batch:
		return bufferBytes, bufferRecords
	}
	return 0, math.MaxInt32
}

func (o *Options) committedOnly() bool {
	return o.Isolation == readCommitted || o.Isolation == auto && o.Transactions
}

// versions returns the versions of requests that may be used; nil: all.
func (o *Options) versions() (*kversion.Versions, error) {
	if o.Version == "" {
		return nil, nil
	}
	v := kversion.FromString(o.Version)
	if v == nil {
		return nil, failures().Option("version", fmt.Sprintf("%q is no version of Kafka that the client knows; want one such as 0.8.2, 0.11.0 or 3.9", o.Version))
	}
	return v, nil
}

// configs returns the settings of topics that are created.
func (o *Options) configs() (map[string]*string, error) {
	configs := map[string]*string{}
	for _, setting := range o.TopicConfig {
		name, value, ok := strings.Cut(setting, "=")
		if !ok || name == "" {
			return nil, failures().Option("topic_config", fmt.Sprintf("%q is not name=value", setting))
		}
		configs[strings.TrimSpace(name)] = &value
	}
	if o.MinInsyncReplicas > 0 {
		value := fmt.Sprint(o.MinInsyncReplicas)
		configs[minInsync] = &value
	}
	return configs, nil
}

func (o *Options) codec() kgo.CompressionCodec {
	codec := kgo.NoCompression()
	switch o.Compression {
	case "gzip":
		codec = kgo.GzipCompression()
	case "snappy":
		codec = kgo.SnappyCompression()
	case "lz4":
		codec = kgo.Lz4Compression()
	case "zstd":
		codec = kgo.ZstdCompression()
	}
	if o.CompressionLevel != 0 {
		codec = codec.WithLevel(o.CompressionLevel)
	}
	return codec
}

func (o *Options) balancer() []kgo.GroupOpt {
	switch o.Balancer {
	case "sticky":
		return []kgo.GroupOpt{kgo.Balancers(kgo.StickyBalancer())}
	case "range":
		return []kgo.GroupOpt{kgo.Balancers(kgo.RangeBalancer())}
	case "roundrobin":
		return []kgo.GroupOpt{kgo.Balancers(kgo.RoundRobinBalancer())}
	case "server":
		return []kgo.GroupOpt{kgo.Balancers(kgo.StickyBalancer()), kgo.ServerSideBalancer()}
	}
	return []kgo.GroupOpt{kgo.Balancers(kgo.CooperativeStickyBalancer())}
}

// Adjust implements driver.Adjuster.
func (o *Options) Adjust(c *driver.Capabilities) {
	if !o.acknowledged() {
		c.Ack = driver.AckKindNone
	}
	if o.ReplicationFactor == 1 {
		c.Unreplicated = driver.Lack{Why: "with replication_factor: 1 a partition is kept by one broker", Instead: "set the option replication_factor to 3"}
	}
}

// acknowledged reports whether brokers answer what is produced.
func (o *Options) acknowledged() bool { return o.Acks != "0" }
