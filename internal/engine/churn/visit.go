package churn

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"time"

	"sixnines/driver"
	"sixnines/internal/clock"
	"sixnines/internal/recorder"
	"sixnines/scenario"
)

// step is a part of opening a connection.
type step int

// The steps, in their order.
const (
	connected  step = iota // the network connection is made
	loggedIn               // the broker has accepted the login
	subscribed             // the consumer has subscribed
	steps
)

// metric is what a step is recorded under.
func (s step) metric() recorder.ID {
	return [steps]recorder.ID{recorder.ConnectionConnect, recorder.ConnectionLogin, recorder.ConnectionSubscribe}[s]
}

// visit is one connection while it is opened. Its goroutine has it; the driver's store instants of steps.
type visit struct {
	number int // unique in the session
	due    int64
	began  int64
	at     [steps]atomic.Int64 // when each step was first taken, CLOCK_MONOTONIC; 0: not yet
}

// reach notes that a step was taken now. A client that connects again takes steps again, which count no more.
func (v *visit) reach(s step) { v.at[s].CompareAndSwap(0, clock.Now()) }

// visitKey is the key of a visit in the context of its connection.
type visitKey struct{}

// client is what a driver has made.
type client interface {
	Close(ctx context.Context) error
}

// open opens the connection, within a time from when it was due.
func (c *Churn) open(v *visit, limit time.Duration) (client, error) {
	ctx, cancel := context.WithTimeout(c.life, time.Duration(v.due-clock.Now())+limit)
	defer cancel()
	ctx = context.WithValue(ctx, visitKey{}, v)
	ctx = driver.OnLogin(ctx, func() { v.reach(loggedIn) })
	if c.Workload.Connections.As == scenario.ConnectProducer {
		p, err := c.session.Producer(ctx, driver.ProducerSpec{ID: v.number, Topic: c.topic, Conn: v.number, Size: size, Limited: true}, ignored{})
		if err == nil {
			v.reach(loggedIn)
		}
		return p, c.ended(ctx, err)
	}
	k, err := c.session.Consumer(ctx, driver.ConsumerSpec{ID: v.number, Topics: []string{c.topic}, Conn: v.number}, func(driver.Message) {})
	if err == nil {
		v.reach(subscribed)
	}
	return k, c.ended(ctx, err)
}

// errUnanswered says that a connection was given up.
var errUnanswered = errors.New("no answer")

// ended wraps errUnanswered around an error that is the end of ctx, or that the client's own patience was over.
func (c *Churn) ended(ctx context.Context, err error) error {
	var late interface{ Timeout() bool } // as in net.Error
	if err != nil && (ctx.Err() != nil || errors.As(err, &late) && late.Timeout()) {
		return errors.Join(errUnanswered, err)
	}
	return err
}

// dial is [driver.Target.Dial].
func (c *Churn) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := c.dialer.Dial(ctx, network, address)
	if v, ok := ctx.Value(visitKey{}).(*visit); ok && err == nil {
		v.reach(connected)
	}
	return conn, err
}

// ignored is [driver.Acks] of producers that send nothing.
type ignored struct{}

func (ignored) Done(uint64, error) {}
