package recorder

import (
	"testing"
	"time"
)

// After a snapshot, a new value makes the recorder behind until the next snapshot.
func TestBehind(t *testing.T) {
	r, err := New(Config{Metrics: []ID{LagOwn, LagBlocked, DeliveryService}, Shards: 2, Digits: 3, Highest: time.Second, Window: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if r.Behind() {
		t.Error("behind nothing")
	}
	r.Shard(1).Value(DeliveryService, 1000)
	if !r.Behind() {
		t.Error("not behind a value")
	}
	r.Shard(0).Lag(5, 0, 0) // of which the zero is derived
	r.Snapshot()
	if r.Behind() {
		t.Error("behind a snapshot of all")
	}
}
