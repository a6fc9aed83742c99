package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sixnines/result"
)

// readBackLines tell what the broker had kept when the run was over; nil if it was not read back.
func readBackLines(s *subject) []entryText {
	b := s.sum.ReadBack
	if b == nil {
		return nil
	}
	read := plural(int(b.Read), "message") + " from " + plural(len(b.Places)+int(b.MorePlaces), "place")
	out := []entryText{{"read back", read, "by a new session, from the beginning to the end that the broker reported"}}
	switch b.Outcome {
	case result.ReadBackDone:
	case result.ReadBackNothingKept:
		return []entryText{{"read back", "nothing is kept", plain(b.Why)}}
	case result.ReadBackPartly:
		out[0].Value += ", not all"
		out[0].Means = plain(b.Why)
	default:
		out[0] = entryText{"read back", "not possible", plain(b.Why)}
	}
	acked := s.sum.Counters.Acked
	add := func(n int64, name, value, means string) {
		if n > 0 {
			out = append(out, entryText{name, value, means})
		}
	}
	for i := range b.Places {
		add(boolCount(b.Places[i].Absent), "absent", plain(b.Places[i].Topic), "the broker no longer has it, nor its messages")
		add(boolCount(b.Places[i].Until == result.ReadToSilence), "end unsure", plain(b.Places[i].Topic), "the broker reports no end: it was read until no more messages came, so there may be more")
	}
	if s.sum.Counters.Expected > 0 {
		add(b.Kept, "kept", count(b.Kept), "acknowledged, not delivered in time, and still at the broker: late, not lost")
	}
	if lost := lostCount(s); lost != "" && (acked > 0 || b.LostAcked > 0) {
		means := "neither delivered nor kept: the guarantee is violated"
		if least, _ := s.sum.LostAcked(); least < b.LostAcked {
			lost = count(least) + " to " + lost
			means = "neither delivered whole nor kept: it is not known which are lost, because messages came damaged with their numbers"
		}
		if b.LostAcked > 0 {
			lost += acknowledgedWhen(b.Lost)
		}
		out = append(out, entryText{"lost although acknowledged", lost, means})
	}
	add(b.Removed, "removed or lost", count(b.Removed), "acknowledged, not delivered and not kept, at a broker that removes messages at a limit or when it delivers them")
	add(b.Dropped, "dropped by a limit", count(b.Dropped), "acknowledged, not delivered, and among the oldest messages, as many of which a limit of the broker has removed: not lost by it")
	add(b.NotInLog-b.LostAcked, "gone from the log", count(b.NotInLog)+acknowledgedWhen(b.Gone), "acknowledged, but no longer in the broker's log, whether or not consumers had received them")
	add(b.KeptUnknown, "taken without an answer", count(b.KeptUnknown), "never acknowledged, but kept")
	add(b.GoneUnknown, "unanswered and gone", count(b.GoneUnknown), "never acknowledged and not kept: no guarantee violated")
	add(b.KeptRefused, "refused and kept", count(b.KeptRefused), "refused by the broker, which has them nevertheless")
	add(b.Unread, "not known", count(b.Unread), "it could not be determined whether the broker has them")
	return append(out, copyLines(b)...)
}

// lostCount is how many acknowledged messages were neither delivered nor kept; empty if that is not known, or
// if it is none and the broker's log lacks messages that were delivered.
func lostCount(s *subject) string {
	b := s.sum.ReadBack
	if b == nil || b.LostAcked == 0 && (!b.Decided() || b.NotInLog > 0) {
		return ""
	}
	return count(b.LostAcked)
}

// copyLines tell what the copies of the places have, beside those that were read back.
func copyLines(b *result.ReadBack) (out []entryText) {
	var asked, silent, behind, beyond, lag int64
	var lacking []string
	not := map[result.NotAskable]int{} // places, by why their copies could not be asked
	for i := range b.Places {
		p := &b.Places[i]
		if p.NotAskable != "" && p.NotAskable != result.NotAskableOneCopy {
			not[p.NotAskable]++
		}
		for j := range p.Replicas {
			r := &p.Replicas[j]
			if r.Answer == "" {
				silent++
				continue
			}
			asked++
			if behind, beyond, lag = behind+r.Behind, beyond+r.Beyond, max(lag, r.Lag); r.Behind > 0 && len(lacking) < mostLacking {
				lacking = append(lacking, count(r.Behind)+" at "+plain(r.Name))
			}
		}
	}
	if asked+silent > 0 {
		value := count(asked) + " asked"
		if silent > 0 {
			value += ", " + count(silent) + " could not be"
		}
		means := "each has all acknowledged messages that the copy read back has"
		if behind > 0 || lag > 0 || silent > 0 {
			means = "copies of the places on the broker's servers"
		}
		out = append(out, entryText{"copies", value, means})
	}
	if behind > 0 {
		out = append(out, entryText{"behind", strings.Join(lacking, ", "), "acknowledged messages that these copies lack and the copy read back has: late, and not lost"})
	}
	if beyond > 0 {
		out = append(out, entryText{"in other copies only", count(beyond), "acknowledged messages that the copy read back lacks: consumers do not get them"})
	}
	if lag > 0 {
		out = append(out, entryText{"lag of a copy", count(lag), "entries of the broker's own log: it does not say which messages"})
	}
	for _, why := range slices.Sorted(maps.Keys(not)) {
		out = append(out, entryText{"copies not askable", string(why), whyNotAskable(why) + ": " + plural(not[why], "place")})
	}
	return out
}

// mostLacking is how many copies that are behind one line names; the table has all.
const mostLacking = 4

// whyNotAskable says what a reason means.
func whyNotAskable(why result.NotAskable) string {
	switch why {
	case result.NotAskableLeaderOnly:
		return "the broker reads from the leader's copy alone"
	case result.NotAskableNoRequest:
		return "no request of the protocol names a copy"
	case result.NotAskableVersion:
		return "later versions of the broker can be asked"
	case result.NotAskableDriver:
		return "the driver does not ask single copies"
	case result.NotAskableUnknown:
		return "the broker does not say which copies there are"
	case result.NotAskableOffline:
		return "the broker says that the server is away"
	case result.NotAskableNoAnswer:
		return "the server did not answer"
	}
	return string(why)
}

// copyTable lists the copies of the places; nil: no copy is known.
func copyTable(s *subject) *table {
	b := s.sum.ReadBack
	if b == nil {
		return nil
	}
	t := &table{Name: "Copies", Head: columnHeads("lllrrrr", "topic", "server", "known by", "has", "behind", "alone", "lag"),
		Caption: "Acknowledged messages of the window that each copy has, those that it lacks and the copy read back has (behind), and those that it has and the copy read back lacks (alone)."}
	for i := range b.Places {
		p := &b.Places[i]
		for j := range p.Replicas {
			r := &p.Replicas[j]
			name := plain(r.Name)
			if r.Leader {
				name += " (leader)"
			}
			known, has, behind, alone, lag := string(r.Answer), "–", "–", "–", "–"
			switch r.Answer {
			case "":
				known = "not askable: " + string(r.NotAskable)
			case result.ReplicaLag:
				lag = count(r.Lag)
			default:
				has, behind, alone = count(r.Has), count(r.Behind), count(r.Beyond)
			}
			t.add(plain(p.Topic), name, known, has, behind, alone, lag).noted(plain(r.Error))
		}
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return t
}

func boolCount(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// acknowledgedWhen says when lost messages had been acknowledged; empty: that is not known.
func acknowledgedWhen(l *result.Losses) string {
	if l == nil || l.Count == l.Undated {
		return ""
	}
	return fmt.Sprintf(", acknowledged from %s to %s", duration(l.First), duration(l.Last))
}

// lostTables list the ranges of messages that are lost or gone from the log.
func lostTables(s *subject) (out []*table) {
	b := s.sum.ReadBack
	if b == nil {
		return nil
	}
	for _, x := range []struct {
		name string
		l    *result.Losses
	}{{"Lost although acknowledged", b.Lost}, {"Gone from the log", b.Gone}} {
		if x.l == nil {
			continue
		}
		t := &table{Name: x.name, Head: columnHeads("rlrrrrr", "producer", "topic", "from", "to", "messages", "acked from", "to"),
			Caption: "Ranges of sequence numbers, and when the broker acknowledged the oldest and the newest message of each, from the window's start."}
		if x.l.MoreRanges > 0 {
			t.Caption += " The longest, the first and the last are listed; " + count(x.l.MoreRanges) + " others are not."
		}
		for i := range x.l.Ranges {
			r := &x.l.Ranges[i]
			first, last := "–", "–"
			if r.First != 0 || r.Last != 0 {
				first, last = duration(r.First), duration(r.Last)
			}
			t.add(fmt.Sprint(r.Producer), plain(r.Topic), fmt.Sprint(r.From), fmt.Sprint(r.To), count(r.Count()), first, last)
		}
		out = append(out, t)
	}
	return out
}
