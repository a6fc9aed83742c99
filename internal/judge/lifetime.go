package judge

import (
	"fmt"

	"sixnines/internal/spell"
	"sixnines/result"
)

// lifetime notes which messages of earlier runs the run received, how many are missing or
// still at the broker, and what the run itself left there.
func lifetime(e *evidence) (found []result.Reason) {
	h, c := &e.run.Header, e.run.Counters
	if h.Existing != "" {
		found = single(result.Reason{Status: result.Valid, Code: result.ReasonEarlier, Found: fmt.Sprintf("received %s that earlier runs had left as %s", spell.Plural(c.Earlier, "message"), h.Existing),
			Means: "they are part of no latency, because their time stamps are from another run's clock"})
		if c.Earlier == 0 && h.Mode == result.ModeConsume {
			found = single(result.Reason{Status: result.Suspect, Code: result.ReasonNothingCame, Found: fmt.Sprintf("none of the messages that earlier runs had left as %s was received", h.Existing),
				Means: "other consumers may have taken them, or nothing was left for these groups", Try: "fill the topics again, with the same number of groups"})
		}
	}
	if c.EarlierMissing > 0 {
		found = append(found, note(result.ReasonEarlierMissing, fmt.Sprintf(
			"%s between those received are missing: an earlier run failed to send them, other consumers took them, or the broker lost them", spell.Plural(c.EarlierMissing, "sequence number")))...)
	}
	if n, told := e.leftAtBroker(); h.Mode == result.ModeConsume && c.Earlier > 0 {
		switch {
		case !told:
			found = append(found, note(result.ReasonDrained, "it is not known whether that was all: with these options the driver cannot ask the broker how much it holds")...)
		case n > 0:
			found = append(found, note(result.ReasonDrained, fmt.Sprintf("the broker still held %s when it was last asked: lengthen --duration", spell.Plural(n, "message")))...)
		}
	}
	if n := e.unconsumed(); n > 0 {
		why := "no consumer of the run had received them when it ended"
		if c.Expected == 0 {
			why = "the load has no consumers"
		}
		found = append(found, note(result.ReasonLeft, fmt.Sprintf("%s of the run may still be in %s: %s, and nothing there is deleted", spell.Plural(n, "message"), h.Topic, why))...)
	}
	if h.LeftAs != "" {
		found = append(found, note(result.ReasonLeft, "topics, groups and messages stay at the broker: --existing "+h.LeftAs+" uses them")...)
	}
	return found
}

// leftAtBroker returns the last depth, in messages, that the broker reported; told is false if
// it reported none.
func (e *evidence) leftAtBroker() (n int64, told bool) {
	for i := range e.run.Series {
		if d := e.run.Series[i].Depth; d != nil {
			n, told = d.Messages, true
		}
	}
	return n, told
}

// unconsumed returns how many messages the run may have left in topics of the operator's.
func (e *evidence) unconsumed() int64 {
	if e.run.Closing == nil {
		return 0
	}
	return e.run.Closing.Unconsumed
}
