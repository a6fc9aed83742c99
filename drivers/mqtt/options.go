package mqtt

import (
	"time"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// Options are the options of the driver, see driver.DecodeOptions.
type Options struct {
	Client         string          `option:"client" enum:"direct,library" doc:"direct: packets of the driver's own, which cost less; library: through the Eclipse project's client library, paho.golang for version 5 and paho.mqtt.golang for 3.1.1"`
	Version        string          `option:"version" enum:"5,3.1.1" doc:"version of the protocol"`
	QoS            int             `option:"qos" min:"0" max:"2" doc:"quality of service of what is published: 0: unacknowledged, 1: acknowledged by PUBACK, 2: by PUBCOMP, after two round trips"`
	SubscribeQoS   int             `option:"subscribe_qos" min:"-1" max:"2" doc:"quality of service of subscriptions; -1: that of publishing"`
	Retain         bool            `option:"retain" doc:"publish retained messages, of which the broker keeps the last of each topic; they are cleared at the end"`
	MaxInflight    int             `option:"max_inflight" min:"0" max:"65535" doc:"messages of a producers' connection that wait for their acknowledgement, at most; sends beyond it block; 0: what the broker allows, up to 65535"`
	ReceiveMaximum int             `option:"receive_maximum" min:"1" max:"65535" doc:"unacknowledged messages that the broker may send to a consumer (MQTT 5)"`
	TopicAlias     bool            `option:"topic_alias" doc:"send a topic's number instead of its name, as far as the broker allows (MQTT 5)"`
	CleanStart     bool            `option:"clean_start" doc:"consumers begin with nothing after each connection; false: the broker keeps what comes while one is away, for session_expiry"`
	SessionExpiry  time.Duration   `option:"session_expiry" min:"1s" max:"100000h" doc:"how long the broker keeps an absent consumer's session if clean_start is false (MQTT 5)"`
	KeepAlive      time.Duration   `option:"keep_alive" min:"1s" max:"18h" doc:"how often the client checks that the broker is alive, and for how long, by half as much again, the broker trusts the client"`
	User           string          `option:"user" doc:"user name, instead of one in the URL"`
	Password       string          `option:"password" secret:"true" doc:"password of user"`
	ClientID       string          `option:"client_id" doc:"beginning of the clients' identifiers; the run, role and number of each are added"`
	ConnectTimeout time.Duration   `option:"connect_timeout" min:"1ms" doc:"longest time for one server to accept a connection and log in"`
	ReconnectWait  time.Duration   `option:"reconnect_wait" min:"1ms" doc:"pause between attempts to reconnect"`
	WriteBuffer    driver.ByteSize `option:"write_buffer" min:"0" max:"64MiB" doc:"bytes that are collected before they are written; 1: each message is written at once, on the sender's thread; 0: 1 where the load is paced, 64KiB flat out; for client direct"`
}

// The values of Options.Client.
const (
	direct  = "direct"
	library = "library"
)

// DefaultOptions returns the defaults.
func DefaultOptions() Options {
	return Options{
		Client:         direct,
		Version:        "5",
		QoS:            1,
		SubscribeQoS:   -1,
		ReceiveMaximum: idMost,
		CleanStart:     true,
		SessionExpiry:  time.Hour,
		KeepAlive:      30 * time.Second,
		ClientID:       "sixnines",
		ConnectTimeout: 5 * time.Second,
		ReconnectWait:  50 * time.Millisecond,
	}
}

// writeBuffer returns the size of the write buffer in bytes.
func (o Options) writeBuffer(batch bool) int {
	if o.library() {
		return 1
	}
	return kit.WriteBuffer(o.WriteBuffer, batch)
}

// subscribeQoS returns the quality of service that subscriptions ask for.
func (o Options) subscribeQoS() int {
	if o.SubscribeQoS < 0 {
		return o.QoS
	}
	return o.SubscribeQoS
}

// v5 reports whether the protocol is MQTT 5.
func (o Options) v5() bool { return o.Version == "5" }

// library reports whether messages go through a client library.
func (o Options) library() bool { return o.Client == library }

// inflight returns how many messages of a connection may be in flight, if the
// broker has said g.
func (o Options) inflight(g *greeting) int {
	most := min(g.receiveMaximum, idMost)
	if o.library() { // which has one identifier less: its Sync needs one
		most = min(most, idMost-1)
	}
	if o.MaxInflight > 0 {
		most = min(most, o.MaxInflight)
	}
	return most
}

// Validate finds options that contradict each other.
func (o Options) Validate() error {
	wrong := failures().Option
	switch {
	case o.TopicAlias && !o.v5():
		return wrong("topic_alias", "MQTT 3.1.1 has no aliases; add version=5")
	case o.library() && o.WriteBuffer > 1:
		return wrong("write_buffer", "the client library writes each message at once; leave it out, or choose client=direct")
	case o.ClientID == "":
		return wrong("client_id", "it is empty")
	case len(o.ClientID) > 1000 || len(o.User) > maxString || len(o.Password) > maxString:
		return wrong("client_id", "it, user or password is too long")
	case !o.CleanStart && o.subscribeQoS() == 0:
		return wrong("clean_start", "a session keeps messages of quality of service 1 and 2 only; add qos=1")
	}
	return nil
}

// schemes are those of brokers' URLs.
func schemes() []kit.Scheme {
	return []kit.Scheme{
		{Name: "mqtt", Port: "1883"}, {Name: "mqtts", Port: "8883", TLS: true},
		{Name: "tcp", Port: "1883"}, {Name: "ssl", Port: "8883", TLS: true}, {Name: "tls", Port: "8883", TLS: true},
		{Name: "ws", Port: "80"}, {Name: "wss", Port: "443", TLS: true},
	}
}

// Adjust implements driver.Adjuster.
func (o *Options) Adjust(c *driver.Capabilities) {
	if o.QoS == 0 {
		c.Ack = driver.AckKindNone
	}
}
