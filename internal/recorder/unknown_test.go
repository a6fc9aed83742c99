package recorder

import (
	"testing"
	"time"

	"sixnines/result"
)

// Messages whose receive lag is not known are counted by themselves, so that they are not taken for
// messages without any.
func TestMessagesOfUnknownReceiveLagAreCounted(t *testing.T) {
	r, err := New(Config{Metrics: []ID{DeliveryResponse}, Shards: 2, Digits: 3, Highest: time.Second, Window: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 30 {
		received := int64(i%3) - 1 // −1, 0, 1
		r.Shard(i).Response(DeliveryResponse, 1000, 0, received, 0)
	}
	r.Snapshot()
	all, _, err := r.Encode()
	if err != nil {
		t.Fatal(err)
	}
	bands := all[result.DeliveryResponse].Own
	if len(bands) != 1 || bands[0].Count != 30 || bands[0].Unknown != 10 || bands[0].Received != 10 {
		t.Errorf("%+v, want 30 messages, 10 of unknown lag and 10 of 1 ns", bands)
	}
}

// While messages are recorded, each that is counted is unknown already, so that none seems known for an
// interval, and none is forgotten.
func TestUnknownMessagesAreAmongTheCounted(t *testing.T) {
	r, err := New(Config{Metrics: []ID{DeliveryResponse}, Shards: 1, Digits: 2, Highest: time.Second, Window: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	const messages = 2_000_000
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range messages {
			r.Shard(0).Response(DeliveryResponse, 1000, 0, -1, 0)
		}
	}()
	var sum result.OwnBand
	for over := false; !over; {
		select {
		case <-done:
			over = true
		default:
		}
		r.Snapshot()
		all, _, err := r.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if m := all[result.DeliveryResponse]; m != nil {
			sum.Add(m.Own[0])
		}
		if sum.Unknown != sum.Count {
			t.Fatalf("%d of %d messages are unknown", sum.Unknown, sum.Count)
		}
	}
	if sum.Count != messages {
		t.Errorf("%d messages counted", sum.Count)
	}
}
