package report

import "sixnines/result"

// accountWordsOf returns what a run sent and received, and what went wrong with messages. If
// nothing did, parts says so, or that it cannot be known.
func accountWordsOf(s *subject) (parts, troubles []string) {
	c := &s.sum.Counters
	if t := s.sum.Throughput; t != nil {
		parts = pairs(throughputLines(s))
	} else if s.sends() {
		r := s.sum.Rate
		sent := "sent " + rate(r.Sent)
		if r.Asked > 0 {
			sent += " of " + rate(dueRate(r))
		}
		if kept, ok := r.SentShare(); ok && kept < 0.9995 {
			sent += " (" + exactShare(kept) + ")"
		}
		parts = append(parts, sent)
		if r.Asked > 0 && r.WorstSecond < 0.9 {
			parts = append(parts, "worst second "+exactShare(r.WorstSecond)+" of due")
		}
	}
	if c.Expected == 0 && c.Acked > 0 {
		parts = append(parts, "acknowledged "+count(c.Acked)+" of "+count(c.Scheduled))
	}
	if c.Expected > 0 {
		parts = append(parts, "received "+count(c.Received)+" of "+count(c.Expected))
	}
	trouble := func(entries []entry) {
		for _, e := range entries {
			if e.is(alarming) && e.Value > 0 && !e.is(implied) {
				troubles = append(troubles, count(e.Value)+" "+e.Name)
			}
		}
	}
	trouble(publishSide(c, false)[1:])
	trouble(deliverySide(c)[1:])
	if least, _ := s.sum.LostAcked(); least > 0 {
		troubles = append(troubles, count(least)+" lost although acknowledged")
	}
	trouble(otherCounters(c)[1:]) // the first was handled above
	if c.Acked > 0 && c.Unknown > 0 {
		troubles = append(troubles, count(c.Unknown)+" unanswered")
	}
	if s.cut {
		account := s.deliverySide()
		if c.Expected == 0 {
			account = s.publishSide()
		}
		troubles = append(troubles, count(account[len(account)-1].Value)+" open when the run was cut short")
	}
	opened, failed := connectionWords(s.sum.Connections)
	switch {
	case len(troubles) > 0:
	case c.Expected > 0 && s.lostNothing():
		parts = append(parts, "none lost, duplicated or reordered")
	case c.Expected == 0 && s.sends():
		parts = append(parts, refusalWords(&s.run.Header))
	}
	return append(parts, opened...), append(troubles, failed...)
}

// lostNothing reports whether it is known that no message was lost: consumers received all, or what
// the broker kept was read back.
func (s *subject) lostNothing() bool {
	_, most := s.sum.LostAcked()
	return most == 0 && !s.cut && (s.sum.Counters.Expected > 0 || s.sum.ReadBack.Decided())
}

// leftWhy says in a few words why something is left at the broker.
func leftWhy(l result.Leftover) string {
	if l.Class == result.ClassUnauthorized { // the login was accepted before
		return "no right to delete"
	}
	return l.Why
}

// refusalWords says what can be known about refusals of messages that were only published,
// if no problem with them is known.
func refusalWords(h *result.Header) string {
	never := neverAcknowledges(h)
	switch h.Refusals {
	case result.RefusalsReported:
		if never {
			return "no refusal reported, not known which ones the broker accepted"
		}
		return "none unanswered, no refusal reported"
	case result.RefusalsSilent:
		if !never {
			return "none unanswered, not known whether the broker refused any"
		}
	default:
		if !never {
			return "none refused or unanswered"
		}
	}
	return "not known whether the broker accepted or refused them"
}

// screenAccounts are what was sent and what became of it, in a line or two.
func screenAccounts(s *subject) (out document) {
	parts, troubles := accountWordsOf(s)
	out.list("  ", parts, normal)
	out.list("  ", troubles, warning)
	if text := s.unbalanced(); text != "" {
		out.say("  ", sentence(text), bad)
	}
	for _, l := range s.sum.Left {
		out.say("  left behind: ", plain(l.What+" "+l.Name+", "+leftWhy(l)), bad)
	}
	for _, l := range availabilityLine(s.sum.Availability) {
		out.say("  available ", l.Value, normal)
	}
	out.add(screenRefusals(s)...)
	out.add(actionBlocks(s)...)
	out.list("  kept ", pairs(readBackLines(s)), normal)
	out.list("  backlog ", pairs(backlogLines(s)), normal)
	return out
}

// tellsRefusal reports whether a reason quotes the broker's refusal: such a reason is always
// shown.
func tellsRefusal(r result.Reason) bool {
	return r.Code.Properties().Shown == result.ShownAsRefusal
}

// screenRefusals returns the broker's refusals, in its own words, and what to do if they make
// the run suspect.
func screenRefusals(s *subject) (out document) {
	for _, r := range s.reasons() {
		if !tellsRefusal(r) {
			continue
		}
		a := adviceOf(r)
		out.say("  refused   ", a.why, warning)
		if r.Status != result.Valid && a.try != "" {
			out.say("  try       ", a.try, strong)
		}
	}
	return out
}
