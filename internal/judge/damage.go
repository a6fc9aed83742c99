package judge

import "sixnines/result"

// SettleDamaged closes the account of deliveries. Of those that did not come whole, absent in number, known came
// damaged with their number readable. copies are damaged deliveries of messages that are known to have come otherwise
// as well. Any other damaged delivery is of an unknown message: it stands for one that is absent while there are
// more, and else is a copy. It may stand for an acknowledged message, so those are fewer: LostAcked is how many are lost at least.
func SettleDamaged(c *result.Counters, absent, known, copies int64) {
	deliveries := c.Damaged()
	c.CorruptedUnplaced = max(0, min(deliveries-known-copies, absent-known))
	copies = deliveries - known - c.CorruptedUnplaced
	c.Duplicated += copies - c.CorruptedCopies
	c.Corrupted, c.CorruptedCopies = deliveries-copies, copies
	c.Missing = absent - c.Corrupted
	for _, n := range []*int64{&c.LostAcked, &c.Undelivered, &c.MissingNacked, &c.MissingUnknown} {
		if over := c.LostAcked + c.Undelivered + c.MissingNacked + c.MissingUnknown - max(0, c.Missing); over > 0 {
			*n -= min(*n, over)
		}
	}
}
