// Package all lists the drivers of Sixnines.
package all

import (
	"sixnines/driver"
	"sixnines/drivers/amqp10"
	"sixnines/drivers/jetstream"
	"sixnines/drivers/kafka"
	"sixnines/drivers/mem"
	"sixnines/drivers/mqtt"
	"sixnines/drivers/nanomsg"
	"sixnines/drivers/nats"
	"sixnines/drivers/nsq"
	"sixnines/drivers/null"
	"sixnines/drivers/pulsar"
	"sixnines/drivers/rabbitmq"
	"sixnines/drivers/rabbitmqstream"
	"sixnines/drivers/redis"
	"sixnines/drivers/redisstreams"
	"sixnines/drivers/stan"
	"sixnines/drivers/zeromq"
)

// Set returns all drivers. Each call returns a set of its own: brokers that
// live inside a driver are not shared between sets.
func Set() driver.Set {
	return driver.NewSet(
		amqp10.Entry(),
		jetstream.Entry(),
		kafka.Entry(),
		mem.Entry(),
		mqtt.Entry(),
		nanomsg.Entry(),
		nanomsg.PipelineEntry(),
		nats.Entry(),
		nsq.Entry(),
		null.Entry(),
		pulsar.Entry(),
		rabbitmq.Entry(),
		rabbitmqstream.Entry(),
		redis.Entry(),
		redisstreams.Entry(),
		stan.Entry(),
		zeromq.Entry(),
		zeromq.PipelineEntry(),
	)
}
