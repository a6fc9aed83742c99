package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// clients opens a publisher for each library, with what it publishes to.
var clients = map[string]func(ctx context.Context, l load, acknowledged func(error)) (publisher, error){
	"amqp091":  openAMQP,
	"franz-go": openKafka,
	"nats.go":  openJetStream,
}

func libraries() []string { return slices.Sorted(maps.Keys(clients)) }

// kafka publishes with acks=1 to a topic of one partition.
type kafka struct {
	client       *kgo.Client
	topic        string
	acknowledged func(*kgo.Record, error)
}

func openKafka(ctx context.Context, l load, acknowledged func(error)) (publisher, error) {
	client, err := kgo.NewClient(
		kgo.SeedBrokers(strings.Split(strings.TrimPrefix(l.url, "kafka://"), ",")...),
		kgo.RequiredAcks(kgo.LeaderAck()), kgo.DisableIdempotentWrite(), kgo.ProducerLinger(0),
		kgo.MaxProduceRequestsInflightPerBroker(5), kgo.ProducerBatchCompression(kgo.NoCompression()),
	)
	if err != nil {
		return nil, err
	}
	made, err := kadm.NewClient(client).CreateTopic(ctx, 1, 1, nil, l.topic)
	if err = errors.Join(err, made.Err); err != nil {
		client.Close()
		return nil, fmt.Errorf("make topic %q: %w", l.topic, err)
	}
	return &kafka{client, l.topic, func(_ *kgo.Record, err error) { acknowledged(err) }}, nil
}

func (k *kafka) publish(payload []byte) error {
	k.client.Produce(context.Background(), &kgo.Record{Topic: k.topic, Value: payload}, k.acknowledged)
	return nil
}

func (k *kafka) close() { k.client.Close() }

// rabbit publishes to a classic queue, with confirms.
type rabbit struct {
	conn    *amqp.Connection
	channel *amqp.Channel
	queue   string
}

func openAMQP(_ context.Context, l load, acknowledged func(error)) (publisher, error) {
	conn, err := amqp.Dial(l.url)
	if err != nil {
		return nil, err
	}
	channel, err := conn.Channel()
	if err == nil {
		_, err = channel.QueueDeclare(l.topic, true, true, false, false, nil)
	}
	if err == nil {
		err = channel.Confirm(false)
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	confirms := channel.NotifyPublish(make(chan amqp.Confirmation, 1))
	go func() {
		for c := range confirms {
			if c.Ack {
				acknowledged(nil)
			} else {
				acknowledged(errors.New("nacked"))
			}
		}
	}()
	return &rabbit{conn, channel, l.topic}, nil
}

func (r *rabbit) publish(payload []byte) error {
	return r.channel.PublishWithContext(context.Background(), "", r.queue, false, false, amqp.Publishing{Body: payload})
}

func (r *rabbit) close() {
	r.channel.QueueDelete(r.queue, false, false, false)
	r.conn.Close()
}

// jetStream publishes to a stream in memory by PublishMsgAsync, whose handlers tell
// of acknowledgements.
type jetStream struct {
	conn    *nats.Conn
	library jetstream.JetStream
	subject string
}

func openJetStream(ctx context.Context, l load, acknowledged func(error)) (publisher, error) {
	conn, err := nats.Connect(l.url)
	if err != nil {
		return nil, err
	}
	j := &jetStream{conn: conn, subject: l.topic}
	j.library, err = jetstream.New(conn, jetstream.WithPublishAsyncMaxPending(8000), jetstream.WithPublishAsyncTimeout(30*time.Second),
		jetstream.WithPublishAsyncAckHandler(func(jetstream.JetStream, *nats.Msg, *jetstream.PubAck) { acknowledged(nil) }),
		jetstream.WithPublishAsyncErrHandler(func(_ jetstream.JetStream, _ *nats.Msg, err error) { acknowledged(err) }))
	if err == nil {
		_, err = j.library.CreateStream(ctx, jetstream.StreamConfig{Name: j.name(), Subjects: []string{l.topic}, Storage: jetstream.MemoryStorage})
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return j, nil
}

// name is the stream's: a subject with dots is none.
func (j *jetStream) name() string { return strings.ReplaceAll(j.subject, ".", "_") }

func (j *jetStream) publish(payload []byte) error {
	_, err := j.library.PublishMsgAsync(&nats.Msg{Subject: j.subject, Data: payload}, jetstream.WithRetryAttempts(0))
	return err
}

func (j *jetStream) close() {
	_ = j.library.DeleteStream(context.Background(), j.name())
	j.conn.Close()
}
