package stan

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	client "github.com/nats-io/stan.go"

	"sixnines/driver"
)

// Options are the options of the driver, see driver.DecodeOptions.
type Options struct {
	ClusterID          string          `option:"cluster_id" doc:"name of the streaming cluster, as the server was given it"`
	Publish            string          `option:"publish" enum:"direct,client" doc:"direct: the driver writes the protocol's messages itself, which costs less; client: by stan.go"`
	MaxPubAcksInflight int             `option:"max_pub_acks_inflight" doc:"messages of one connection that may be without an acknowledgement before Send blocks" min:"1" max:"16777216"`
	AckTimeout         time.Duration   `option:"ack_timeout" doc:"publish=client: how long stan.go waits for an acknowledgement; direct waits as long as the connection lasts" min:"1ms"`
	MaxInflight        int             `option:"max_inflight" doc:"messages that the server hands a subscription ahead of its acknowledgements" min:"1" max:"2147483647"`
	AckWait            time.Duration   `option:"ack_wait" doc:"after how long without an acknowledgement the server delivers a message again, in whole seconds" min:"1s"`
	Durable            bool            `option:"durable" doc:"the server keeps the place of groups and subscribers while they are away"`
	HTTPURL            string          `option:"http_url" doc:"the server's monitoring address, such as http://host:8222, to read version, store and limits from"`
	WriteBuffer        driver.ByteSize `option:"write_buffer" doc:"bytes that are collected before they are written; 1: each message is written at once, on the sender's thread; 0: 1 where the load is paced, 64KiB flat out" min:"0" max:"64MiB"`
	User               string          `option:"user" doc:"user name, with password"`
	Password           string          `option:"password" doc:"password of user" secret:"true"`
	Token              string          `option:"token" doc:"token, instead of a user" secret:"true"`
	ConnectTimeout     time.Duration   `option:"connect_timeout" doc:"longest time for the server to accept a connection, and to answer each request such as a subscription" min:"1ms"`
	PingInterval       time.Duration   `option:"ping_interval" doc:"how often a connection asks the streaming server whether it still knows it, in whole seconds" min:"1s"`
	MaxPingsOut        int             `option:"max_pings_outstanding" doc:"unanswered questions until a connection counts as lost" min:"2"`
	ReconnectWait      time.Duration   `option:"reconnect_wait" doc:"pause between attempts to connect again" min:"1ms"`
}

// The values of Options.Publish.
const (
	direct   = "direct"
	byClient = "client"
)

// DefaultOptions returns the defaults.
func DefaultOptions() Options {
	return Options{
		ClusterID: "test-cluster", // the server's own default
		Publish:   direct,
		// The limit of messages in flight is the scenario's.
		MaxPubAcksInflight: 1 << 20,
		AckTimeout:         client.DefaultAckWait,
		MaxInflight:        client.DefaultMaxInflight,
		AckWait:            client.DefaultAckWait,
		ConnectTimeout:     5 * time.Second,
		PingInterval:       client.DefaultPingInterval * time.Second,
		MaxPingsOut:        client.DefaultPingMaxOut,
		ReconnectWait:      50 * time.Millisecond,
	}
}

const batchBuffer = 64 << 10

// writeBuffer returns the size of the write buffer in bytes.
func (o Options) writeBuffer(batch bool) int {
	switch {
	case o.WriteBuffer > 0:
		return int(o.WriteBuffer)
	case batch:
		return batchBuffer
	}
	return 1
}

// check finds what is wrong with options taken together.
func (o Options) check() error {
	for _, d := range []struct {
		name  string
		value time.Duration
	}{{"ack_wait", o.AckWait}, {"ping_interval", o.PingInterval}} {
		if d.value%time.Second != 0 || d.value > time.Hour {
			return fmt.Errorf("stan: %w", &driver.OptionError{Option: d.name, Cause: fmt.Sprintf("%v: the protocol counts whole seconds; want 1s to 1h", d.value)})
		}
	}
	switch {
	case o.ClusterID == "" || strings.ContainsAny(o.ClusterID, " .*>\t\r\n"):
		return fmt.Errorf("stan: option \"cluster_id\": %w: %q is no name of a cluster", driver.ErrOption, o.ClusterID)
	case o.User != "" && o.Token != "":
		return fmt.Errorf("stan: options user and token: %w: give one way to log in, not several", driver.ErrOption)
	case o.Password != "" && o.User == "":
		return fmt.Errorf("stan: option \"password\": %w: it needs user beside it", driver.ErrOption)
	}
	if o.HTTPURL == "" {
		return nil
	}
	if u, err := url.Parse(o.HTTPURL); err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("stan: option \"http_url\": %w: want one such as http://host:8222", driver.ErrOption)
	}
	return nil
}

// authentication returns what a client needs to log in.
func (o Options) authentication() nats.Option {
	switch {
	case o.User != "":
		return nats.UserInfo(o.User, o.Password)
	case o.Token != "":
		return nats.Token(o.Token)
	}
	return func(*nats.Options) error { return nil }
}
