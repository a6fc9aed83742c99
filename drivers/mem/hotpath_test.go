package mem_test

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"sixnines/driver"
	"sixnines/drivers/mem"
)

// counted is a Deliver that counts.
func counted(n *atomic.Int64) driver.Deliver {
	return func(driver.Message) { n.Add(1) }
}

func TestSendDoesNotAllocate(t *testing.T) {
	for _, options := range []map[string]any{
		{"sync": true}, {"sync": true, "ack": "broker"}, {}, {"ack": "broker"},
		{"ack": "broker", "disconnect_for": "1s", "disconnect_after": 1 << 40},
	} {
		s := open(t, mem.New(), options)
		var n atomic.Int64
		for id, group := range []string{"", "", "g", "g"} {
			subscribe(t, s, id, group, counted(&n))
		}
		p := connect(t, s, 0, discard{})
		payload := key{}.write()
		const deliveries, behind = 3, 64 // of a message: two subscribers and a group
		var sent int64
		if got := testing.AllocsPerRun(5000, func() {
			if err := p.Send(0, payload); err != nil {
				t.Fatal(err)
			}
			// A backlog is room that has to be made: not what is asked here.
			for sent++; n.Load() < deliveries*(sent-behind); {
				runtime.Gosched()
			}
		}); got > 0 {
			t.Errorf("%v: %v allocations a message", options, got)
		}
	}
}

// BenchmarkSend is the cost of a message from Send to Deliver: with sync the
// least that any driver can cost the engine.
func BenchmarkSend(b *testing.B) {
	for _, bench := range []struct {
		options   map[string]any
		consumers int
	}{
		{map[string]any{"sync": true}, 1},
		{map[string]any{"sync": true, "ack": "broker"}, 1},
		{map[string]any{}, 1},
		{map[string]any{"ack": "broker"}, 1},
		{map[string]any{}, 10},
	} {
		b.Run(fmt.Sprintf("%v to %d", bench.options, bench.consumers), func(b *testing.B) {
			s := open(b, mem.New(), bench.options)
			var n atomic.Int64
			for id := range bench.consumers {
				subscribe(b, s, id, "", counted(&n))
			}
			p := connect(b, s, 0, discard{})
			payload := make([]byte, 256)
			b.ReportAllocs()
			for b.Loop() {
				if err := p.Send(0, payload); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
