package judge

import (
	"fmt"

	"sixnines/internal/spell"
	"sixnines/result"
)

// lostAcked returns how many acknowledged messages are known to be lost, without those that were delivered and are gone
// from a log: by what was read back, and where that is not known by what later messages have overtaken.
func lostAcked(run *result.Run) int64 {
	n := run.Counters.LostAcked
	if b := run.ReadBack; b != nil {
		least, _ := run.LostAcked()
		n = max(n, min(least, b.LostAcked))
	}
	return n
}

// lostReasons are what is known of acknowledged messages that were not delivered, or are not kept.
func lostReasons(run *result.Run) (found []result.Reason) {
	c, b := &run.Counters, run.ReadBack
	n := lostAcked(run)
	if n > 0 {
		text := fmt.Sprintf("the broker lost %s that it had acknowledged", spell.Plural(n, "message"))
		if l := lostOf(b); l != nil && l.Count > l.Undated && l.Count <= n {
			text += fmt.Sprintf(", from %s to %s into the window", span(l.First), span(l.Last))
		}
		found = append(found, note(result.ReasonLostAcked, text)...)
	}
	if gone, _ := run.LostAcked(); goneOf(b) != nil && gone > b.LostAcked {
		found = append(found, note(result.ReasonLostAcked, fmt.Sprintf("the broker's log has lost %s that it had acknowledged, including those that consumers had already received", spell.Plural(gone, "message")))...)
	}
	if b != nil && b.LostAcked > n {
		found = append(found, note(result.ReasonUndelivered, fmt.Sprintf("%s acknowledged, not delivered whole and not kept: it is not known which of them are lost, because messages came damaged with their numbers", spell.Plural(b.LostAcked-n, "message")))...)
	}
	switch {
	case b != nil && b.Unread > 0 && b.Outcome != result.ReadBackNothingKept:
		found = append(found, note(result.ReasonUndelivered, fmt.Sprintf("what the broker keeps could not be read back (%s): it is not known which of %s are lost", b.Why, spell.Plural(b.Unread, "message")))...)
	case b != nil && b.Removed > 0:
		found = append(found, note(result.ReasonUndelivered, fmt.Sprintf("%s acknowledged, not delivered and not kept, where the broker removes messages by a limit or as it hands them out: it is not known which of them are lost", spell.Plural(b.Removed, "message")))...)
	case b.Decided() && b.Dropped > 0:
		found = append(found, note(result.ReasonUndelivered, fmt.Sprintf("%s acknowledged and not delivered before a limit of the broker dropped them: consumers were too slow, or the limit is too small", spell.Plural(b.Dropped, "message")))...)
	case b.Decided() && c.Undelivered > 0:
		found = append(found, note(result.ReasonUndelivered, fmt.Sprintf("%s acknowledged but not yet delivered when the run ended; reading back shows that the broker has them", spell.Plural(c.Undelivered, "message")))...)
	case c.Undelivered > 0:
		found = append(found, note(result.ReasonUndelivered, fmt.Sprintf("%s acknowledged but not yet delivered when the run ended; the broker may still hold them: a longer --drain shows it", spell.Plural(c.Undelivered, "message")))...)
	}
	return found
}

func lostOf(b *result.ReadBack) *result.Losses {
	if b == nil {
		return nil
	}
	return b.Lost
}

func goneOf(b *result.ReadBack) *result.Losses {
	if b == nil {
		return nil
	}
	return b.Gone
}

// readBack checks the record of what was read back against the accounts: every message that is missing is in one of its
// accounts, and what is lost is in the ranges and slots of those that were lost.
func readBack(run *result.Run) (found []Problem) {
	b := run.ReadBack
	if b == nil {
		return nil
	}
	add := func(where, format string, a ...any) {
		found = append(found, Problem{"read_back." + where, fmt.Sprintf(format, a...)})
	}
	c := &run.Counters
	acked, unknown, refused := b.Kept+b.LostAcked+b.Removed+b.Dropped, b.KeptUnknown+b.GoneUnknown, b.KeptRefused+b.GoneRefused
	all := acked + unknown + refused + b.Unread
	switch {
	case c.Expected > 0 && c.Corrupted == 0 && all != c.Missing:
		add("missing", "%s in its accounts, and by the counters %s missing", spell.Plural(all, "message"), spell.Count(c.Missing))
	case c.Expected == 0 && all != c.Sent:
		add("sent", "%s in its accounts, and by the counters %s sent", spell.Plural(all, "message"), spell.Count(c.Sent))
	}
	if b.Decided() && c.Expected > 0 && c.Corrupted == 0 && (b.LostAcked != c.LostAcked || b.Kept+b.Dropped != c.Undelivered) {
		add("lost_acked", "%s lost and %s kept or dropped, and by the counters %s and %s", spell.Count(b.LostAcked), spell.Count(b.Kept+b.Dropped), spell.Count(c.LostAcked), spell.Count(c.Undelivered))
	}
	if b.Decided() && c.Expected == 0 && (acked != c.Acked || unknown != c.Unknown || refused != c.Nacked) {
		add("lost_acked", "%s acknowledged, %s not answered and %s refused, and by the counters %s, %s and %s", spell.Count(acked), spell.Count(unknown), spell.Count(refused),
			spell.Count(c.Acked), spell.Count(c.Unknown), spell.Count(c.Nacked))
	}
	if b.Whole && b.InLog+b.NotInLog != c.Acked || !b.Whole && b.InLog+b.NotInLog != 0 {
		add("in_log", "%s are in the log and %s are not, and by the counters %s acknowledged", spell.Count(b.InLog), spell.Count(b.NotInLog), spell.Count(c.Acked))
	}
	found = append(found, checkLosses("lost", b.Lost, b.LostAcked)...)
	if b.Gone != nil {
		found = append(found, checkLosses("gone", b.Gone, b.NotInLog)...)
	}
	var read int64
	for i := range b.Places {
		read += b.Places[i].Messages
	}
	if b.MorePlaces == 0 && read != b.Read {
		add("read", "it is %d, and of the places %d", b.Read, read)
	}
	if b.From > b.To || b.Corrupted+b.Foreign+b.Duplicated+b.Unmeasured > b.Read {
		add("read", "%s were read from %d to %d", spell.Plural(b.Read, "message"), b.From, b.To)
	}
	return found
}

// checkLosses checks a list of n lost messages.
func checkLosses(name string, l *result.Losses, n int64) (found []Problem) {
	add := func(format string, a ...any) {
		found = append(found, Problem{"read_back." + name, fmt.Sprintf(format, a...)})
	}
	if l == nil {
		if n != 0 {
			add("%s are lost, and none is listed", spell.Plural(n, "message"))
		}
		return found
	}
	var ranged, dated int64
	for i := range l.Ranges {
		r := &l.Ranges[i]
		if ranged += r.Count(); r.To < r.From || r.First > r.Last || r.First != 0 && (r.First < l.First || r.Last > l.Last) {
			add("the range from %d to %d cannot be", r.From, r.To)
		}
	}
	for i := range l.Slots {
		s := &l.Slots[i]
		dated += s.Count
		if at := int64(result.SlotLength); s.First > s.Last || s.First/at != s.Slot || s.Last/at != s.Slot || i > 0 && s.Slot <= l.Slots[i-1].Slot || s.First < l.First || s.Last > l.Last {
			add("the slot %d has messages from %d to %d", s.Slot, s.First, s.Last)
		}
	}
	if l.Count != n || l.MoreRanges == 0 && ranged != n || ranged > n || dated+l.Undated != n {
		add("it lists %d messages, %d in ranges, %d by their instants and %d without, of %d", l.Count, ranged, dated, l.Undated, n)
	}
	return found
}
