package judge

import (
	"math"
	"time"

	"sixnines/result"
	"sixnines/scenario"
)

// throughput computes the throughput of a load without a schedule, from its counters and the
// instants of the closing record; nil for a load with a schedule or a closed loop.
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
	acks      bool // the broker acknowledges publishes
	consumers bool
}

// through returns the throughput from end to end: the messages that the broker accepted, or,
// if fewer, the deliveries in units of messages.
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

// needs returns how many messages a rate needs if messages is too few, else 0. It counts the
// messages handed out: if none of enough messages came through, the rate is 0 and known.
func needs(messages int64) int64 {
	if messages < result.LeastThroughput {
		return result.LeastThroughput
	}
	return 0
}

const untilSynced = "a round trip to the broker after the last message"

// filled returns how fast the broker accepted messages, in a run whose consumers connect late.
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

// drained returns how fast consumers consumed the messages that earlier runs had left, from
// the first of these to the last.
func (f *unpacedLoad) drained() *result.Throughput {
	t := &result.Throughput{Received: f.c.Earlier, Elapsed: time.Duration(max(1, f.closing.EarlierTo-f.closing.EarlierFrom)), Until: "the last delivery", Needs: needs(f.c.Earlier)}
	if f.c.Earlier > 1 { // Elapsed begins with the first message, which therefore does not count
		t.ReceivedPerSecond = float64(f.c.Earlier-1) / t.Elapsed.Seconds()
	}
	return t
}

// taken returns how many messages the broker accepted, as far as is known.
func (f *unpacedLoad) taken() int64 {
	if f.acks {
		return f.c.Acked
	}
	return f.c.Sent - f.c.Nacked
}

// finish fills in the fields that follow from the number of messages and from last, the
// instant, ns, at which the last of them was through; 0: unknown. The load lasts until that
// instant, but at least until the window's end, because the senders tried until then: a
// broker that stops answering, or refuses everything, does not shorten it.
func (f *unpacedLoad) finish(t *result.Throughput, last int64) {
	t.Bytes = f.c.BytesSent
	if t.Messages != f.c.Sent && f.c.Sent > 0 { // bytes in proportion to the messages that count
		t.Bytes = int64(math.Round(float64(f.c.BytesSent) / float64(f.c.Sent) * float64(t.Messages)))
	}
	end := f.closing.End
	if last != 0 && end-last > end/100 {
		t.Until = "the end of the window"
	}
	t.Elapsed = time.Duration(max(1, last, end))
	t.PerSecond = float64(t.Messages) / t.Elapsed.Seconds()
	t.WarmUp = f.closing.WarmUp
	if n := f.taken(); n > 0 { // the senders' own rate, without consumers
		stop := end
		if f.acks {
			stop = max(stop, f.closing.Acked)
		}
		t.SentPerSecond = float64(n) / time.Duration(max(1, stop)).Seconds()
	}
}
