package pulsar

import (
	"cmp"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/apache/pulsar-client-go/pulsar"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// Options are the options of the driver, see driver.DecodeOptions.
type Options struct {
	HTTPURL          string          `option:"http_url" names:"address" parameter:"http" doc:"address of Pulsar's web service, by which topics are made and removed; instead of one in the URL (pulsar://host:6650/?http=host:8080); without a scheme https where the broker's connections are encrypted, else http; absent: port 8080 of the URL's first host, 8443 with encryption, where the URL's port is 6650 or 6651"`
	Namespace        string          `option:"namespace" doc:"tenant and namespace of the topics"`
	Persistent       bool            `option:"persistent" doc:"topics are persistent; else the broker forgets a message when it has sent it to the consumers that are ready for it"`
	Partitions       int             `option:"partitions" min:"0" max:"1000" doc:"partitions of a topic; 0: it is not partitioned"`
	Subscription     string          `option:"subscription" enum:"shared,failover,key_shared,exclusive" doc:"type of a group's subscription; exclusive: a group has one consumer"`
	Batching         string          `option:"batching" enum:"auto,always,never" doc:"the client collects messages to batches; auto: flat out"`
	BatchDelay       time.Duration   `option:"batch_delay" min:"100us" max:"1m" doc:"longest time that a message waits for its batch"`
	BatchMessages    int             `option:"batch_messages" min:"2" max:"1000000" doc:"most messages of a batch"`
	BatchSize        driver.ByteSize `option:"batch_size" min:"1KiB" max:"64MiB" doc:"most bytes of a batch with several messages"`
	Compression      string          `option:"compression" enum:"none,lz4,zlib,zstd,snappy" doc:"of messages, or of batches"`
	CompressionLevel string          `option:"compression_level" enum:"default,faster,better" doc:"of zstd"`
	MaxPending       int             `option:"max_pending" min:"0" max:"4194304" doc:"messages without a receipt that a producer may have for each partition, beyond which it refuses more (throttled); memory for them is taken at once; 0: 65536, or fewer, at least 4096, where producers are many"`
	SendTimeout      time.Duration   `option:"send_timeout" min:"0s" max:"1h" doc:"how long a message may have no receipt before the client gives it up; 0: the client never does"`
	ReceiverQueue    int             `option:"receiver_queue" min:"1" max:"1000000" doc:"messages that the broker sends ahead of a consumer, for each partition"`
	AckGroupSize     int             `option:"ack_group_size" min:"1" max:"1000000" doc:"acknowledgements that a consumer sends together, unless the run says otherwise; 1: each at once"`
	AckGroupTime     time.Duration   `option:"ack_group_time" min:"1ms" max:"1m" doc:"longest time that an acknowledgement waits for others"`
	Token            string          `option:"token" secret:"true" doc:"what to log in with, to the broker and to the web service"`
	kit.BearerOptions
	ClientID     string        `option:"client_id" doc:"token_url: the id of the client"`
	ClientSecret string        `option:"client_secret" secret:"true" doc:"token_url: its secret"`
	KeepAlive    time.Duration `option:"keep_alive" min:"1s" max:"10m" doc:"interval of pings; the client ends a connection on which it has heard nothing for two"`
	kit.ConnectOptions
	OperationTimeout time.Duration `option:"operation_timeout" min:"100ms" max:"5m" doc:"longest time for a broker to answer what is neither a message nor a receipt"`
	Name             string        `option:"name" doc:"name of the connections at the broker; the run, role and number of each are added"`
}

// DefaultOptions returns the defaults. Batches and acknowledgements are the client's.
func DefaultOptions() Options {
	return Options{
		Namespace:        "public/default",
		Persistent:       true,
		Subscription:     "shared",
		Batching:         "auto",
		BatchDelay:       10 * time.Millisecond,
		BatchMessages:    1000,
		BatchSize:        128 << 10,
		Compression:      "none",
		CompressionLevel: "default",
		ReceiverQueue:    1000,
		AckGroupSize:     1000,
		AckGroupTime:     100 * time.Millisecond,
		KeepAlive:        30 * time.Second,
		ConnectOptions:   kit.ConnectOptions{ConnectTimeout: 5 * time.Second, ReconnectWait: 50 * time.Millisecond},
		OperationTimeout: 10 * time.Second,
		Name:             "sixnines",
	}
}

// Validate refuses what is no namespace.
func (o *Options) Validate() error {
	tenant, namespace, ok := strings.Cut(o.Namespace, "/")
	if !ok || !kit.PlainName(tenant) || !kit.PlainName(namespace) {
		return failures().Option("namespace", "want a tenant and a namespace, such as public/default")
	}
	switch {
	case o.Token != "" && o.Given():
		return failures().Option("token", "a token comes from a file or service as well; give one of them")
	case o.Given():
		return o.Bearer(o.ClientID, o.ClientSecret, o.ConnectTimeout).Check(failures(), "client_id", "client_secret")
	case o.ClientID+o.ClientSecret != "":
		return failures().Option("client_id", "it needs token_url beside it")
	}
	return nil
}

// batches reports whether producers batch.
func (o *Options) batches(flatOut bool) bool {
	return o.Batching == "always" || o.Batching == "auto" && flatOut
}

// The client's numbers for words of options are their places in these lists.

func (o *Options) compression() pulsar.CompressionType {
	return pulsar.CompressionType(slices.Index([]string{"none", "lz4", "zlib", "zstd", "snappy"}, o.Compression))
}

func (o *Options) compressionLevel() pulsar.CompressionLevel {
	return pulsar.CompressionLevel(slices.Index([]string{"default", "faster", "better"}, o.CompressionLevel))
}

func (o *Options) subscription() pulsar.SubscriptionType {
	return pulsar.SubscriptionType(slices.Index([]string{"exclusive", "shared", "failover", "key_shared"}, o.Subscription))
}

// The default ports of Pulsar.
const (
	plainPort        = "6650"
	encryptedPort    = "6651"
	plainWebPort     = "8080"
	encryptedWebPort = "8443"
)

// exampleWeb is an address of Pulsar's web service, for errors.
const exampleWeb = "http://host:8080"

// web returns the address of Pulsar's web service, without a slash at the end. Where
// connections to the broker are encrypted it is, too.
func (o *Options) web(a *kit.Address, encrypted bool) (string, error) {
	if a.User != nil {
		return "", fmt.Errorf("pulsar: %w: a user in the URL: Pulsar has tokens, see option token", driver.ErrOption)
	}
	for name := range a.Query {
		if name != "http" {
			return "", fmt.Errorf("pulsar: %w: parameter %q of the URL: there is only http", driver.ErrOption, name)
		}
	}
	address, scheme, port := cmp.Or(o.HTTPURL, a.Query.Get("http")), "http", plainWebPort
	if encrypted {
		scheme, port = "https", encryptedWebPort
	}
	if address == "" {
		host, of, _ := net.SplitHostPort(a.Servers[0].Address)
		if of != plainPort && of != encryptedPort {
			return "", failures().Option("http_url", "Pulsar's web service makes the topics, and its address does not follow from the URL's port; want one such as "+exampleWeb)
		}
		address = net.JoinHostPort(host, port)
	}
	address, err := failures().WebAddress("http_url", address, scheme, exampleWeb)
	if err == nil && encrypted && (o.Token != "" || o.Given()) && !strings.HasPrefix(address, "https:") {
		return "", failures().Option("http_url", "the token would go to the web service unencrypted, and connections to the broker are encrypted; want one such as https://host:"+encryptedWebPort)
	}
	return address, err
}

// schemes are those of brokers' URLs.
func schemes() []kit.Scheme {
	return []kit.Scheme{{Name: "pulsar", Port: plainPort}, {Name: "pulsar+ssl", Port: encryptedPort, TLS: true}}
}
