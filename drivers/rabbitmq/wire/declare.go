package wire

import "context"

// The methods that make and remove.
const (
	exchangeDeclare   method = 40<<16 | 10
	exchangeDeclareOK method = 40<<16 | 11
	exchangeDelete    method = 40<<16 | 20
	exchangeDeleteOK  method = 40<<16 | 21
	queueDeclare      method = 50<<16 | 10
	queueDeclareOK    method = 50<<16 | 11
	queueBind         method = 50<<16 | 20
	queueBindOK       method = 50<<16 | 21
	queueDelete       method = 50<<16 | 40
	queueDeleteOK     method = 50<<16 | 41
)

// durableBit is the second of the bits of both declarations.
func durableBit(durable bool) byte {
	if durable {
		return 2
	}
	return 0
}

// named begins the fields of a method with a reserved one and the name.
func named(name string) []byte { return appendShort(make([]byte, 2), name) }

// DeclareExchange makes an exchange, or checks that one is as asked for.
func (ch *Channel) DeclareExchange(ctx context.Context, name, kind string, durable bool) error {
	b := append(appendShort(named(name), kind), durableBit(durable))
	return ch.call(ctx, exchangeDeclareOK, exchangeDeclare, appendTable(b, nil))
}

// CheckExchange returns an error where there is no such exchange, which ends the channel.
func (ch *Channel) CheckExchange(ctx context.Context, name string) error {
	const passive = 1
	return ch.call(ctx, exchangeDeclareOK, exchangeDeclare, appendTable(append(appendShort(named(name), ""), passive), nil))
}

// DeleteExchange removes an exchange. A missing one is no error.
func (ch *Channel) DeleteExchange(ctx context.Context, name string) error {
	return ch.call(ctx, exchangeDeleteOK, exchangeDelete, append(named(name), 0))
}

// DeclareQueue makes a queue, or checks that one is as asked for.
func (ch *Channel) DeclareQueue(ctx context.Context, name string, durable bool, args Table) error {
	return ch.call(ctx, queueDeclareOK, queueDeclare, appendTable(append(named(name), durableBit(durable)), args))
}

// CheckQueue returns the number of messages in a queue that it has not handed out. A queue
// that does not exist is an error, and ends the channel.
func (ch *Channel) CheckQueue(ctx context.Context, name string) (messages int64, err error) {
	const passive = 1
	err = ch.call(ctx, queueDeclareOK, queueDeclare, appendTable(append(named(name), passive), nil))
	return ch.ready.Load(), err
}

// Bind leads messages of an exchange to a queue.
func (ch *Channel) Bind(ctx context.Context, queue, key, exchange string, args Table) error {
	b := appendShort(appendShort(named(queue), exchange), key)
	return ch.call(ctx, queueBindOK, queueBind, appendTable(append(b, 0), args))
}

// DeleteQueue removes a queue with its messages. It is not an error if the queue does not
// exist.
func (ch *Channel) DeleteQueue(ctx context.Context, name string) error {
	return ch.call(ctx, queueDeleteOK, queueDelete, append(named(name), 0))
}
