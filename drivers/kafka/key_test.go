package kafka_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"

	"sixnines/driver"
	"sixnines/drivers/internal/sessiontest"
	"sixnines/drivers/kafka"
	"sixnines/internal/keys"
)

// fakeSession opens a session with a cluster of the client library's, for tests of
// what the client does.
func fakeSession(t *testing.T, options map[string]any) driver.Session {
	t.Helper()
	c, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	s, err := kafka.Entry().Driver.Open(t.Context(), driver.Target{URL: strings.Join(c.ListenAddrs(), ","), Run: "keys", Options: options})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(context.Background()) })
	return s
}

// Keys choose the partition that Java's client would: the positive part of murmur2
// modulo the partitions. The hashes are those of Kafka's own test (UtilsTest).
func TestKeysChooseJavasPartitions(t *testing.T) {
	const partitions, unique = 8, 4000
	hashes := map[string]int32{
		"21":                         -973932308,
		"foobar":                     -790332482,
		"a-little-bit-long-string":   -985981536,
		"a-little-bit-longer-string": -1486304829,
		"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
		"abc": 479470107,
	}
	s := fakeSession(t, map[string]any{"partitions": partitions})
	provision(t, s, driver.Topology{Topics: []string{"t0"}, KeySize: 16})
	m, _ := consume(t, s, driver.ConsumerSpec{})
	p, err := s.Producer(t.Context(), driver.ProducerSpec{Topic: "t0", KeySize: 16}, &sessiontest.Counter{})
	if err != nil {
		t.Fatal(err)
	}
	sent := 0
	sendKeyed := func(key string) {
		if err := p.(driver.KeySender).SendKeyed(uint64(sent), []byte(fmt.Sprint("message ", sent)), []byte(key)); err != nil {
			t.Fatal(err)
		}
		sent++
	}
	for key, hash := range hashes {
		want := int(hash&math.MaxInt32) % partitions
		before := m.at(want)
		for range 3 {
			sendKeyed(key)
		}
		m.wait(t, sent)
		if got := m.at(want) - before; got != 3 {
			t.Errorf("%d of 3 messages with the key %q came by partition %d: %v", got, key, want, m.partitions)
		}
	}
	before := make([]int, partitions)
	for i := range before {
		before[i] = m.at(i)
	}
	source, key := keys.New(keys.Spec{Kind: keys.Unique, Size: 16}, 0), make([]byte, 16)
	for i := range uint64(unique) {
		source.Put(key, i)
		sendKeyed(string(key))
	}
	m.wait(t, sent)
	for i := range before {
		const share = 1.0 / partitions // five standard deviations of a binomial
		if got, want := float64(m.at(i)-before[i]), share*unique; math.Abs(got-want) > 5*math.Sqrt(want*(1-share)) {
			t.Errorf("%.0f of %d unique keys came by partition %d", got, unique, i)
		}
	}
}

func TestKeysAndHeadersThatCannotBe(t *testing.T) {
	for _, tt := range []struct {
		options  map[string]any
		topology driver.Topology
		want     error
	}{
		{map[string]any{"key": "fixed"}, driver.Topology{KeySize: 16}, driver.ErrOption},
		{map[string]any{"version": "0.10.2"}, driver.Topology{Headers: []driver.Header{{Name: "a", Value: "b"}}}, driver.ErrUnsupported},
		{nil, driver.Topology{MaxSize: 1<<20 - 200, Headers: []driver.Header{{Name: "a", Value: strings.Repeat("b", 300)}}}, driver.ErrTooLarge},
	} {
		tt.topology.Topics = []string{"t0"}
		if _, err := fakeSession(t, tt.options).Provision(t.Context(), tt.topology); !errors.Is(err, tt.want) {
			t.Errorf("%v, %+v: %v, want %v", tt.options, tt.topology, err, tt.want)
		}
	}
}
