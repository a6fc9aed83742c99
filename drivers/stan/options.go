package stan

import (
	"fmt"
	"strings"
	"time"

	client "github.com/nats-io/stan.go"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/drivers/internal/natswire"
)

// Options are the options of the driver, see driver.DecodeOptions.
type Options struct {
	ClusterID          string          `option:"cluster_id" doc:"name of the streaming cluster, as the server was given it"`
	MaxPubAcksInflight int             `option:"max_pub_acks_inflight" doc:"messages of one connection that may be without an acknowledgement before Send blocks" min:"1" max:"16777216"`
	AckTimeout         time.Duration   `option:"ack_timeout" doc:"how long an acknowledgement is waited for; what became of the message is unknown then" min:"1ms"`
	MaxInflight        int             `option:"max_inflight" doc:"messages that the server hands a subscription ahead of its acknowledgements" min:"1" max:"2147483647"`
	AckWait            time.Duration   `option:"ack_wait" doc:"after how long without an acknowledgement the server delivers a message again, in whole seconds" min:"1s"`
	Durable            bool            `option:"durable" doc:"the server keeps the place of groups and subscribers while they are away"`
	HTTPURL            string          `option:"http_url" names:"address" doc:"the server's monitoring address, such as http://host:8222, to read version, store and limits from"`
	WriteBuffer        driver.ByteSize `option:"write_buffer" doc:"bytes that are collected before they are written; 1: each message is written at once, on the sender's thread; 0: 1 where the load is paced, 64KiB flat out" min:"0" max:"64MiB"`
	kit.UserOptions
	Token          string        `option:"token" doc:"token, instead of a user" secret:"true"`
	ConnectTimeout time.Duration `option:"connect_timeout" doc:"longest time for the server to accept a connection, and to answer each request such as a subscription" min:"1ms"`
	PingInterval   time.Duration `option:"ping_interval" doc:"how often a connection asks the streaming server whether it still knows it, in whole seconds" min:"1s"`
	MaxPingsOut    int           `option:"max_pings_outstanding" doc:"unanswered questions until a connection counts as lost" min:"2"`
	ReconnectWait  time.Duration `option:"reconnect_wait" doc:"pause between attempts to connect again" min:"1ms"`
	Client         string        `option:"client" enum:"library" formerly:"publish" aliases:"client=library" doc:"library: stan.go publishes and consumes; there is no direct path"`
}

// DefaultOptions returns the defaults.
func DefaultOptions() Options {
	return Options{
		ClusterID: "test-cluster", // the server's own default
		// The limit of messages in flight is the scenario's.
		MaxPubAcksInflight: 1 << 20,
		AckTimeout:         client.DefaultAckWait,
		MaxInflight:        client.DefaultMaxInflight,
		AckWait:            client.DefaultAckWait,
		ConnectTimeout:     5 * time.Second,
		PingInterval:       client.DefaultPingInterval * time.Second,
		MaxPingsOut:        client.DefaultPingMaxOut,
		ReconnectWait:      50 * time.Millisecond,
		Client:             "library",
	}
}

// wire returns what the connections of nats.go are made with.
func (o Options) wire() natswire.Options {
	w := natswire.DefaultOptions()
	w.Client = natswire.Library
	w.WriteBuffer, w.ConnectTimeout, w.ReconnectWait = o.WriteBuffer, o.ConnectTimeout, o.ReconnectWait
	w.User, w.Password, w.Token = o.User, o.Password, o.Token
	return w
}

// Validate finds what is wrong with options taken together.
func (o Options) Validate() error {
	wrong := func(option, format string, args ...any) error {
		return failures().Option(option, fmt.Sprintf(format, args...))
	}
	for name, d := range map[string]time.Duration{"ack_wait": o.AckWait, "ping_interval": o.PingInterval} {
		if d%time.Second != 0 || d > time.Hour {
			return wrong(name, "%v: the protocol counts whole seconds; want 1s to 1h", d)
		}
	}
	if o.ClusterID == "" || strings.ContainsAny(o.ClusterID, " .*>\t\r\n") {
		return wrong("cluster_id", "%q is no name of a cluster", o.ClusterID)
	}
	if o.HTTPURL != "" {
		_, err := o.monitoring()
		return err
	}
	return nil
}

// monitoring is the address of the server's monitoring, without a slash at the end.
func (o *Options) monitoring() (string, error) {
	return failures().WebAddress("http_url", o.HTTPURL, "", "http://host:8222")
}
