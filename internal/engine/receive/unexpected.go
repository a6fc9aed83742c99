package receive

import (
	"slices"
	"time"

	"sixnines/internal/integrity"
	"sixnines/result"
)

// unexpected accounts for what is not a good message of this run's load.
func (c *Consumer) unexpected(e *integrity.Envelope, payload []byte, now int64) {
	check := e.Get(payload, true)
	if check == integrity.Short {
		c.Foreign.Add(1)
		return
	}
	known := int(e.Stream) < len(c.streams)
	ahead, _ := c.plan.Shift(now)
	e.Intended += ahead
	if check == integrity.Good {
		if e.Run == c.plan.Id && e.Kind == integrity.Readiness && known {
			st := c.streams[e.Stream]
			if i := slices.Index(c.group.plan.Topics, st.Plan.Topic); i >= 0 {
				c.receiving.ready(now, e.Intended) // before seen: the setup waits for that, and then reads what this noted
				c.group.seen[i].Store(true)
			}
			return
		}
		if !c.earlierMessage(e, now) {
			c.Foreign.Add(1)
		}
		return
	}
	// Damaged. It is one of ours if the envelope still says so: by the run or,
	// where that is damaged, by a stream and an instant that fit.
	start, end := c.plan.Start.Load(), c.plan.End.Load()
	plausible := known && e.Intended >= start && e.Intended < end && e.Intended <= now
	switch {
	case e.Run != c.plan.Id && !plausible:
		c.Foreign.Add(1)
		return
	case e.Run == c.plan.Id && known && e.Intended < start && e.Intended > start-int64(c.plan.Warmup)-int64(time.Minute):
		// of the warm-up: not accounted
	case e.Run == c.plan.Id && known && e.Intended >= end && e.Intended <= now:
		// of the load after the window: likewise
	default:
		if plausible {
			if i, bound := c.group.index(c.streams[e.Stream]); bound && !c.group.damaged[i].add(e.Sequence, e.Intended, c.group.ledger(i)) {
				c.CorruptedCopies.Add(1) // before Corrupted: else it counts for a moment as a message that came
			}
			if c.raw != nil {
				c.raw.Put(result.RawCorrupted, e.Stream, c.index, e.Sequence, e.Intended, e.Intended+e.Lag, now)
			}
		}
		c.Corrupted.Add(1)
	}
	c.work.Do(now) // a consumer works on it as on any other: it does not see the damage
}
