// Package kafka is the driver for Apache Kafka and what speaks its protocol,
// from 0.8.2 on, over github.com/twmb/franz-go.
//
// Topic t of run r is Kafka's topic s9.r.t, which is created with the
// partitions, replicas and settings that the options ask for, and deleted
// afterwards; or a topic that exists, which is left alone. A message is a record,
// with or without a key.
//
// What an acknowledgement proves is the option acks: nothing, that the leader
// has written the record, or that all replicas in sync have. With transactions
// a message is done when its transaction has committed.
//
// A consumer on its own is assigned all partitions of its topics and begins at
// their ends; those of a group share the partitions, and their offsets are
// committed as the consumer's acknowledgement asks.
//
// The client retries what is safe to retry: that is Kafka's own promise, and
// switching it off would measure a setup that is not used in practice. It does so for no
// longer than delivery_timeout, after which the message's outcome is unknown
// (ErrTimeout). Its buffer has no limit where load is paced, so that Send does
// not block; flat out it has one, at which Send waits; it never drops. Its own
// lingering is off where load is paced; it neither creates topics by accident nor
// sends its own metrics.
package kafka

import "sixnines/driver"

// scheme is that of brokers' URLs, which may leave it out.
const scheme = "kafka"

// Entry describes the driver for a driver.Set.
func Entry() driver.Entry {
	options := DefaultOptions()
	return driver.Entry{
		Name:       "kafka",
		Summary:    "Apache Kafka: partitioned topics, consumer groups, transactions",
		DefaultURL: "127.0.0.1:9092",
		Schemes:    []string{scheme},
		Capabilities: driver.Capabilities{
			Ack:         driver.AckKindBroker,
			Groups:      true,
			FanOut:      true,
			ConsumerAck: true,
			Keys:        true,
			Headers:     true,
			Reconnects:  true,
			Ordered:     true,
			Keeps:       true,
			ReadsBack:   true,
			TLS:         true,
		},
		Naming:  naming(),
		Rights:  rights,
		Options: &options,
		// A probe needs one partition, however many the load has, and a topic that
		// is not the load's.
		ProbeOptions: map[string]any{"partitions": nil, "topic": nil},
		Driver:       driver.New(options, newSession, (*session).reach),
	}
}
