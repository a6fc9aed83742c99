package rabbitmq

import (
	"fmt"
	"strconv"
	"strings"

	"sixnines/driver"
	"sixnines/drivers/internal/rabbit"
	"sixnines/drivers/rabbitmq/wire"
)

// Options are the options of the driver, see driver.DecodeOptions.
type Options struct {
	Client          string          `option:"client" enum:"direct,library" aliases:"amqp091=library" doc:"direct: messages go over connections of our own, which costs less; library: through amqp091-go, as most programs have it"`
	QueueType       string          `option:"queue_type" enum:"classic,quorum,stream" doc:"type of the queues; a stream keeps what was consumed, so that each of its consumers gets every message"`
	Exchange        string          `option:"exchange" enum:"direct,fanout,topic,headers,default" doc:"kind of the topics' exchanges; default: no exchange, messages are addressed to the topic's one queue"`
	RoutingKey      string          `option:"routing_key" doc:"routing key of messages; empty: the topic's name"`
	BindingKey      string          `option:"binding_key" doc:"binding key of queues, for exchange topic with * and #; empty: the routing key"`
	Durable         bool            `option:"durable" doc:"queues and exchanges outlive a restart of the broker"`
	Persistent      bool            `option:"persistent" doc:"messages are written to disk (delivery mode 2); quorum queues and streams always do"`
	Confirms        bool            `option:"confirms" doc:"the broker confirms each message; without, its acknowledgement is unknown"`
	Mandatory       bool            `option:"mandatory" doc:"the broker gives messages back that lead to no queue; without it, it silently drops and confirms them"`
	Immediate       bool            `option:"immediate" doc:"the broker gives messages back that it cannot hand to a consumer at once; RabbitMQ refuses it since 3.0"`
	Transaction     int             `option:"transaction" doc:"messages in a transaction, or fewer where nothing more is due; it takes the place of confirms; 0: no transactions" min:"0" max:"100000"`
	Channels        int             `option:"channels" doc:"channels that the producers of a connection share; 0: one for each producer" min:"0" max:"2047"`
	AckEvery        int             `option:"ack_every" doc:"consumers acknowledge after this many messages, all up to the last, unless the run says otherwise; 1: each; 0: none, the broker forgets a message when it has sent it" min:"0" max:"65535"`
	Prefetch        int             `option:"prefetch" doc:"messages that a consumer may have and not have acknowledged; 0: no limit, 1000 with streams, which need one; without effect where consumers acknowledge nothing" min:"0" max:"65535"`
	QueueArguments  []string        `option:"queue_arguments" doc:"further arguments of queues, as x-max-length=1000 or x-message-ttl=60000"`
	QuorumGroupSize int             `option:"quorum_group_size" doc:"nodes that a quorum queue, or a stream, has replicas on; 0: as the broker is set" min:"0" max:"99"`
	FrameMax        driver.ByteSize `option:"frame_max" doc:"largest frame to agree on with the broker; 0: what it offers" min:"0" max:"1MiB"`
	rabbit.Options
}

// The values of options that are asked for by name.
const (
	direct         = "direct"
	classic        = "classic"
	quorum         = "quorum"
	stream         = "stream"
	noExchange     = "default"
	streamPrefetch = 1000
)

// DefaultOptions returns the defaults.
func DefaultOptions() Options {
	return Options{
		Client:    direct,
		QueueType: classic,
		Exchange:  "direct",
		Durable:   true,
		Confirms:  true,
		Mandatory: true,
		Options:   rabbit.DefaultOptions(),
	}
}

// Validate finds options that contradict each other.
func (o *Options) Validate() error {
	wrong := protocol().Option
	switch {
	case o.QueueType != classic && !o.Durable:
		return wrong("durable", "queues of type "+o.QueueType+" are always durable")
	case o.QueueType == classic && o.QuorumGroupSize > 0:
		return wrong("quorum_group_size", "classic queues have no replicas; set queue_type to quorum or stream")
	case o.QueueType == stream && o.Transaction > 0:
		return wrong("transaction", "streams take no part in transactions")
	case o.Exchange == noExchange && (o.RoutingKey != "" || o.BindingKey != ""):
		return wrong("routing_key", "without an exchange the key is the queue's name")
	case len(o.RoutingKey) > 255 || len(o.BindingKey) > 255:
		return wrong("routing_key", "keys have no more than 255 bytes")
	}
	if _, err := o.queueArguments(); err != nil {
		return wrong("queue_arguments", err.Error())
	}
	return nil
}

// queueArguments returns the arguments that all queues have.
func (o *Options) queueArguments() (wire.Table, error) {
	args := wire.Table{"x-queue-type": o.QueueType}
	if o.QuorumGroupSize > 0 {
		name := "x-quorum-initial-group-size"
		if o.QueueType == stream {
			name = "x-initial-cluster-size"
		}
		args[name] = int64(o.QuorumGroupSize)
	}
	for _, text := range o.QueueArguments {
		name, value, ok := strings.Cut(text, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !ok || name == "" || len(name) > 255 {
			return nil, fmt.Errorf("want NAME=VALUE instead of %q", text)
		}
		if n, err := strconv.ParseInt(value, 10, 64); err == nil {
			args[name] = n
		} else if value == "true" || value == "false" {
			args[name] = value == "true"
		} else {
			args[name] = value
		}
	}
	return args, nil
}

// Adjust implements driver.Adjuster.
func (o *Options) Adjust(c *driver.Capabilities) {
	if !o.confirmed() {
		c.Ack = driver.AckKindNone
	}
	c.Unreplicated = o.unreplicated()
	if o.QueueType == stream {
		c.Unmovable = driver.Lack{Why: "the leader of a stream cannot be chosen", Instead: "set the option queue_type to quorum"}
	}
}

// unreplicated says why a queue has no followers.
func (o *Options) unreplicated() driver.Lack {
	switch {
	case o.QueueType == classic:
		return driver.Lack{Why: "a classic queue is kept by one node", Instead: "set the option queue_type to quorum"}
	case o.QuorumGroupSize == 1:
		return driver.Lack{Why: "with quorum_group_size: 1 a queue is kept by one node", Instead: "set the option quorum_group_size to 3"}
	}
	return driver.Lack{}
}

// confirmed reports whether the broker answers publishes.
func (o *Options) confirmed() bool { return o.Confirms || o.Transaction > 0 }
