package mqtt

import (
	"crypto/tls"
	"fmt"
	"strconv"
	"strings"

	"sixnines/driver"
	"sixnines/semantics"
)

// server is what the session talks to. MQTT has no field for it; Mosquitto and those
// that follow it keep their version as a retained message.
func (s *session) server() driver.Server {
	product, version, _ := strings.Cut(s.product, " version ")
	return driver.Server{Product: product, Version: version, Protocol: "mqtt " + s.options.Version}
}

// semantics reports the settings in effect.
func (s *session) semantics() driver.Semantics {
	o := s.options
	subscribed := o.subscribeQoS()
	sem := driver.Semantics{
		Levels: semantics.Levels{Durability: semantics.NotKnown, Replication: semantics.Replication{Level: semantics.NotKnown},
			Ordering: semantics.PerTopic, Delivery: []semantics.Delivery{semantics.AtMostOnce, semantics.AtLeastOnce, semantics.ExactlyOnce}[s.quality()]},
		Client:      o.software(),
		Server:      s.server(),
		Refusals:    s.refusals(),
		Encrypted:   s.TLS != nil,
		Durability:  "as the broker is configured, which the protocol does not tell",
		Replication: "as the broker is configured, which the protocol does not tell",
		Ordering:    "per producer and topic",
		Consumption: s.consumption(),
		Transport:   "tcp",
		Settings: map[string]string{
			"qos":            strconv.Itoa(o.QoS),
			"subscribe_qos":  strconv.Itoa(subscribed),
			"retain":         strconv.FormatBool(o.Retain),
			"clean_start":    strconv.FormatBool(o.CleanStart),
			"keep_alive":     o.KeepAlive.String(),
			"max_inflight":   strconv.Itoa(o.inflight(&s.welcome)),
			"write_buffer":   driver.ByteSize(s.writeBuffer).String(),
			"authentication": s.Login(),
			"servers":        s.Address.String(),
			"reconnect_wait": o.ReconnectWait.String(),
		},
	}
	switch o.QoS {
	case 0:
		sem.Acknowledgment = "none"
	case 1:
		sem.Acknowledgment = "PUBACK: the broker has taken responsibility for the message, with the durability it is configured for"
	case 2:
		sem.Acknowledgment = "PUBCOMP, after PUBREC: the broker has taken responsibility for the message and released it"
	}
	switch s.quality() {
	case 0:
		sem.Delivery = "at most once"
	case 1:
		sem.Delivery = "at least once to connected consumers"
	case 2:
		sem.Delivery = "exactly once to connected consumers"
	}
	if !o.CleanStart {
		sem.Delivery = strings.ReplaceAll(sem.Delivery, "connected consumers", "consumers, also after they were away")
	}
	switch {
	case o.library() && !o.v5():
		sem.Batching = "none, each message is handed to a goroutine of the client library, which writes it"
	case s.writeBuffer > 1:
		sem.Batching = fmt.Sprintf("up to %s, until flushed, or 5 to 10 ms", driver.ByteSize(s.writeBuffer))
	default:
		sem.Batching = "none, each message is written on the sender's thread"
	}
	if o.library() {
		sem.Warnings = append(sem.Warnings, s.libraryWarnings()...)
	}
	if s.TLS != nil {
		sem.Transport += ", tls of at least " + strings.TrimPrefix(strings.ToLower(tls.VersionName(s.TLS.MinVersion)), "tls ")
	}
	if isWebSocket(s.Servers[0]) {
		sem.Transport += ", websocket"
	}
	if o.v5() {
		g := s.welcome
		sem.Settings["receive_maximum"] = strconv.Itoa(o.ReceiveMaximum)
		sem.Settings["topic_alias"] = strconv.FormatBool(o.TopicAlias && g.aliases > 0)
		sem.Settings["server_receive_maximum"] = strconv.Itoa(g.receiveMaximum)
		sem.Settings["server_maximum_qos"] = strconv.Itoa(g.maximumQoS)
		sem.Settings["server_topic_alias_maximum"] = strconv.Itoa(g.aliases)
		sem.Settings["server_shared_subscriptions"] = strconv.FormatBool(g.shared)
		sem.Settings["server_retain"] = strconv.FormatBool(g.retain)
		if g.maximumPacket > 0 {
			sem.Settings["server_maximum_packet_size"] = driver.ByteSize(g.maximumPacket).String()
		}
		if g.keepAlive > 0 {
			sem.Settings["server_keep_alive"] = strconv.Itoa(g.keepAlive) + "s"
		}
		if !o.CleanStart {
			sem.Settings["session_expiry"] = o.SessionExpiry.String()
		}
		if o.TopicAlias && g.aliases == 0 {
			sem.Warnings = append(sem.Warnings, "topic_alias is asked for, but the broker takes none")
		}
		if o.QoS > 0 && g.receiveMaximum < 100 {
			sem.Warnings = append(sem.Warnings, fmt.Sprintf("the broker lets a connection have %d messages in flight at most (its receive maximum), beyond which sends wait", g.receiveMaximum))
		}
	} else if o.QoS > 0 {
		sem.Warnings = append(sem.Warnings, "in MQTT 3.1.1 a broker that refuses a message acknowledges it all the same, or ends the connection")
	}
	sem.Settings["version"] = o.Version
	return sem
}

// quality is the quality of service that holds from a producer to a consumer.
func (s *session) quality() int {
	o := &s.options
	quality := min(o.QoS, o.subscribeQoS())
	if o.library() && !o.v5() && !o.CleanStart { // see libraryWarnings
		quality = min(quality, 1)
	}
	return quality
}

// consumption says how messages come to consumers.
func (s *session) consumption() string {
	o := &s.options
	how, acknowledged := "on the goroutine that reads", "when delivered and no further message is at hand"
	switch {
	case o.library() && o.v5():
		how = "on a goroutine of the client library, which reads up to receive_maximum messages ahead"
		acknowledged = "each when delivered, several together up to 50 ms later"
	case o.library():
		how = "on a goroutine of the client library"
		acknowledged = "each when delivered"
	}
	text := "push, delivered " + how + ", a connection for each consumer"
	if o.subscribeQoS() > 0 {
		text += ", acknowledged " + acknowledged
	}
	return text
}
