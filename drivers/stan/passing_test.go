package stan_test

import (
	"bytes"
	"context"
	"net"
	"strconv"
	"sync/atomic"
	"testing"

	"sixnines/driver"
	"sixnines/drivers/stan"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

// deaf is a connection on which so many requests to subscribe are lost, as those
// are that reach a cluster without a leader.
type deaf struct {
	net.Conn
	left *atomic.Int32
}

func (c deaf) Write(p []byte) (int, error) {
	// PUB _STAN.sub.x inbox size\r\npayload\r\n
	i := bytes.Index(p, []byte("PUB _STAN.sub."))
	if i < 0 || c.left.Load() <= 0 {
		return c.Conn.Write(p)
	}
	c.left.Add(-1)
	line, _, _ := bytes.Cut(p[i:], []byte("\r\n"))
	size, err := strconv.Atoi(string(line[bytes.LastIndexByte(line, ' ')+1:]))
	if err != nil {
		return 0, err
	}
	rest := append(bytes.Clone(p[:i]), p[i+len(line)+2+size+2:]...)
	if _, err := c.Conn.Write(rest); err != nil {
		return 0, err
	}
	return len(p), nil
}

// TestPassingErrors has the server not answer a few times, and wants a run set up
// all the same.
func TestPassingErrors(t *testing.T) {
	c := brokertest.Start(t, "nats-streaming", brokers.Options{})
	var left atomic.Int32
	s, err := stan.Entry().Driver.Open(t.Context(), driver.Target{URL: c.URL, Run: "passing", Options: map[string]any{"connect_timeout": "500ms"},
		Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, network, address)
			return deaf{conn, &left}, err
		}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(context.Background())
	left.Store(3)
	if _, err := s.Provision(t.Context(), driver.Topology{Topics: []string{"t0"}}); err != nil || left.Load() > 0 {
		t.Errorf("provision: %v, with %d requests left to be lost", err, left.Load())
	}
	left.Store(3)
	if _, err := s.Consumer(t.Context(), driver.ConsumerSpec{Topics: []string{"t0"}}, func(driver.Message) {}); err != nil || left.Load() > 0 {
		t.Errorf("consumer: %v, with %d requests left to be lost", err, left.Load())
	}
}
