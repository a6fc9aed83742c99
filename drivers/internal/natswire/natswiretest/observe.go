// Package natswiretest is for the tests of drivers of NATS: it looks at their
// messages with the client library alone.
package natswiretest

import (
	"context"

	"github.com/nats-io/nats.go"

	"sixnines/driver/drivertest"
)

// Observe is a drivertest.Harness's for a server at url.
func Observe(url string, options ...nats.Option) func(ctx context.Context, run, topic string) (func() (drivertest.Observed, error), error) {
	return func(ctx context.Context, run, topic string) (func() (drivertest.Observed, error), error) {
		nc, err := nats.Connect(url, options...)
		if err != nil {
			return nil, err
		}
		context.AfterFunc(ctx, nc.Close)
		sub, err := nc.SubscribeSync("s9." + run + "." + topic)
		if err != nil {
			return nil, err
		}
		if err := nc.FlushWithContext(ctx); err != nil {
			return nil, err
		}
		return func() (o drivertest.Observed, err error) {
			m, err := sub.NextMsgWithContext(ctx)
			if err != nil {
				return o, err
			}
			o = drivertest.Observed{Payload: m.Data, Headers: map[string]string{}}
			for name := range m.Header {
				o.Headers[name] = m.Header.Get(name)
			}
			return o, nil
		}, nil
	}
}
