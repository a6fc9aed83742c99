package judge

import (
	"math"
	"time"

	"sixnines/result"
	"sixnines/scenario"
)

// throughput is what a load without a schedule came to, by its counters and by what
// ended when; nil for a load that has a schedule or a closed loop.
func throughput(run *result.Run, c *result.Closing) *result.Throughput {
	h := &run.Header
	f := unpacedLoad{c: run.Counters, closing: c, acks: h.Ack != ackNone, consumers: h.Pattern != string(scenario.Publish)}
	switch {
	case h.Mode != result.ModeFlatOut && h.Mode != result.ModeConsume:
		return nil
	case h.ConsumersFrom != "":
		return f.filled()
	case h.Mode == result.ModeConsume:
		return f.drained()
	}
	return f.through()
}

// ackNone is Header.Ack where the broker never answers a publish.
const ackNone = "none"

// unpacedLoad is a load that was sent as fast as the client took it.
type unpacedLoad struct {
	c         result.Counters
	closing   *result.Closing
	acks      bool // there are acknowledgements
	consumers bool
}

// through is what got through to its end. A message that the broker refused, or that did
// not arrive where it should, does not count.
func (f *unpacedLoad) through() *result.Throughput {
	n := f.taken()
	if f.c.Expected > 0 { // in messages
		n = min(n, int64(math.Round(float64(f.c.Received)*float64(f.c.Sent)/float64(f.c.Expected))))
	}
	t := &result.Throughput{Messages: n, Received: f.c.Received, Until: "the last send returned", Needs: needs(f.c.Sent)}
	switch {
	case f.c.Acked > 0:
		t.Until = "the last acknowledgement"
	case f.consumers:
		t.Until = "the last delivery"
	case f.closing.Synced != 0:
		t.Until = untilSynced
	}
	f.finish(t, max(f.closing.Acked, f.closing.Received, f.closing.Synced))
	t.ReceivedPerSecond = float64(t.Received) / t.Elapsed.Seconds()
	return t
}

// needs is how many messages a rate takes where it has fewer, 0 where it has enough. It
// is of what was handed out: that nothing of it came through is a rate of zero.
func needs(messages int64) int64 {
	if messages < result.LeastThroughput {
		return result.LeastThroughput
	}
	return 0
}

const untilSynced = "a round trip to the broker after the last message"

// filled is how fast the broker took what consumers came for when it was over.
func (f *unpacedLoad) filled() *result.Throughput {
	t := &result.Throughput{Messages: f.taken(), Until: "the last send returned", Needs: needs(f.c.Sent)}
	var last int64
	switch {
	case f.acks:
		t.Until, last = "the last acknowledgement", f.closing.Acked
	case f.closing.Synced != 0:
		t.Until, last = untilSynced, f.closing.Synced
	}
	f.finish(t, last)
	return t
}

// drained is how fast consumers consumed what earlier runs left: from the first to the
// last message of those.
func (f *unpacedLoad) drained() *result.Throughput {
	t := &result.Throughput{Received: f.c.Earlier, Elapsed: time.Duration(max(1, f.closing.EarlierTo-f.closing.EarlierFrom)), Until: "the last delivery", Needs: needs(f.c.Earlier)}
	if f.c.Earlier > 1 { // so many followed the first
		t.ReceivedPerSecond = float64(f.c.Earlier-1) / t.Elapsed.Seconds()
	}
	return t
}

// taken is how many messages the broker took, as far as is known.
func (f *unpacedLoad) taken() int64 {
	if f.acks {
		return f.c.Acked
	}
	return f.c.Sent - f.c.Nacked
}

// finish fills in what follows from the messages and from when the last of it was
// through; 0: that is not known. Such a load lasts to that instant, and for as long as the
// senders tried: a broker that answers no more, or refuses everything, has stopped no
// clock.
func (f *unpacedLoad) finish(t *result.Throughput, last int64) {
	t.Bytes = f.c.BytesSent
	if t.Messages != f.c.Sent && f.c.Sent > 0 { // so many of what was sent
		t.Bytes = int64(math.Round(float64(f.c.BytesSent) / float64(f.c.Sent) * float64(t.Messages)))
	}
	end := f.closing.End
	if last != 0 && end-last > end/100 {
		t.Until = "the end of the window"
	}
	t.Elapsed = time.Duration(max(1, last, end))
	t.PerSecond = float64(t.Messages) / t.Elapsed.Seconds()
	t.WarmUp = f.closing.WarmUp
	if n := f.taken(); n > 0 { // what the senders came to by themselves
		stop := end
		if f.acks {
			stop = max(stop, f.closing.Acked)
		}
		t.SentPerSecond = float64(n) / time.Duration(max(1, stop)).Seconds()
	}
}
