package engine

import (
	"strings"
	"testing"

	"sixnines/driver"
	"sixnines/drivers/mem"
	"sixnines/internal/schedule"
	"sixnines/scenario"
)

// Sizes that differ are sent as they were drawn, arrive whole, and are counted to
// the byte; the same with acknowledgements and without.
func TestSizesAreCountedExactly(t *testing.T) {
	t.Parallel()
	for _, ack := range []string{"none", "broker"} {
		for _, text := range []string{"{64B: 70%, 4KiB: 30%}", "lognormal:median=300B,sigma=1,max=8KiB"} {
			if testing.Short() && (ack == "none") != (text[0] == '{') {
				continue // each of both once, for the race detector
			}
			r := measure(t, `
target: {driver: mem, options: {ack: `+ack+`}}
workload: {rate: 3000/s, producers: 3, consumers: 2, payload: "compress:30%", size: "`+strings.Trim(text, "{}")+`"}
phases: {warmup: 100ms, duration: 500ms}
`, mem.Entry(), "")
			c := r.Summary.Counters
			if c.Corrupted != 0 || c.Received != 2*c.Sent || c.Sent == 0 {
				t.Errorf("%s, ack %s: %+v", text, ack, c)
			}
			sizes, err := scenario.ParseSizes(strings.Trim(text, "{}"))
			if err != nil {
				t.Fatal(err)
			}
			x, want := schedule.NewSizes(sizes, 1), int64(0)
			for i := range uint64(c.Sent) {
				want += int64(x.Classes()[x.Class(uint32(i%3), i/3)])
			}
			if c.Sent%3 != 0 {
				t.Fatalf("%d messages of three producers", c.Sent)
			}
			if c.BytesSent != want || c.BytesRecv != 2*want {
				t.Errorf("%s, ack %s: %d bytes sent and %d received, want %d and %d", text, ack, c.BytesSent, c.BytesRecv, want, 2*want)
			}
			if r.Header.Sizes != sizes.String() || r.Header.Payload != "compress:30%" {
				t.Errorf("the header says %q of %q", r.Header.Sizes, r.Header.Payload)
			}
		}
	}
}

// A message that Send refuses does not count as sent, and neither do its bytes.
func TestRefusedBytesAreNotSent(t *testing.T) {
	r := measure(t, `
target: {driver: mem, options: {reject: 20, every: 10}}
workload: {rate: 2000/s, size: "64B:50%,1KiB:50%"}
phases: {warmup: 100ms, duration: 500ms}
`, mem.Entry(), "")
	if c := r.Summary.Counters; c.Rejected != 20 || c.BytesSent != c.BytesRecv || c.BytesSent == 0 {
		t.Errorf("%+v", c)
	}
}

// Flat out and closed loops draw sizes, too, and the throughput is in bytes.
func TestSizesFlatOutAndClosed(t *testing.T) {
	t.Parallel()
	for _, workload := range []string{"rate: max, messages: 5000", "loop: closed, messages: 300, outstanding: 4"} {
		r := measureReally(t, `
target: {driver: mem, options: {ack: broker}}
workload: {`+workload+`, producers: 2, size: "64B:50%,1KiB:50%"}
phases: {warmup: 0s}
`, mem.Entry())
		c := r.Summary.Counters
		if c.Corrupted != 0 || c.BytesSent != c.BytesRecv || c.BytesSent <= 64*c.Sent || c.BytesSent >= 1024*c.Sent {
			t.Errorf("%s: %+v", workload, c)
		}
		if p := r.Summary.Throughput; p != nil && p.Bytes != c.BytesSent {
			t.Errorf("%s: a throughput of %d bytes of %d", workload, p.Bytes, c.BytesSent)
		}
	}
}

func TestSizesDoNotAllocate(t *testing.T) {
	ld, send := loopRunOf(t, driver.AckKindBroker, `size: "64B:50%,1KiB:50%"`)
	if n := testing.AllocsPerRun(20_000, sendOne(t, send)); n != 0 {
		t.Errorf("%v allocations a message", n)
	}
	if n := ld.sending.Lanes[0].Rejected.Load(); n != 0 {
		t.Errorf("the client refused %d messages: they have room behind them", n)
	}
}
