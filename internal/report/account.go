package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"sixnines/internal/spell"
	"sixnines/result"
)

// entry is one counter with its meaning.
type entry struct {
	Name  string
	Value int64
	Means string
	Is    entryKind
}

// entryKind is a set of flags of a counter.
type entryKind uint8

const (
	alarming    entryKind = 1 << iota // an alarm unless zero
	atEnd                             // counted at the run's end: zero says nothing if the run was cut short
	implied                           // its messages are also in other counters
	alwaysShown                       // shown even if zero, if deliveries were expected
)

// impliedIf returns implied if so is true, else no flag.
func impliedIf(so bool) entryKind {
	if so {
		return implied
	}
	return 0
}

func (e entry) is(k entryKind) bool { return e.Is&k != 0 }

// neverAcknowledges reports whether publishes are never answered, by the broker's design
// or by an option. Unanswered messages are then not a finding.
func neverAcknowledges(h *result.Header) bool { return h.Ack == "none" }

// unanswered returns the words for messages without an answer.
func unanswered(byDesign bool) string {
	if byDesign {
		return "unacknowledged by design"
	}
	return "unknown"
}

// publishSide lists the publish account: the first is the sum of the others.
// byDesign says that there are no acknowledgements.
func publishSide(c *result.Counters, byDesign bool) []entry {
	fate := "handed to the client, but not answered by the broker"
	if byDesign {
		fate = "handed to the client; publishes are not acknowledged here, so it is not known whether they reached the broker"
	}
	return []entry{
		{"scheduled", c.Scheduled, "messages due in the measured window", alwaysShown},
		{"not sent", c.NotSent, "due, but the run ended before they could be sent; counted in the distribution as lower bounds", alarming | atEnd},
		{"rejected", c.Rejected, "refused by the client at once", alarming},
		{"acked", c.Acked, "acknowledged by the broker", 0},
		{"nacked", c.Nacked, "refused by the broker", alarming},
		{unanswered(byDesign), c.Unknown, fate, atEnd},
	}
}

// deliverySide lists the delivery account: the first is the sum of the others.
func deliverySide(c *result.Counters) []entry {
	return []entry{
		{"expected", c.Expected, "messages handed to the client × delivery groups of their topics", 0},
		{"received", c.Received, "arrived intact, counted once", alwaysShown},
		{"corrupted", c.Corrupted, "arrived with a wrong checksum", alarming},
		{"missing", c.Missing, "did not arrive within the drain limit; counted in the distribution as lower bounds", impliedIf(c.LostAcked+c.Undelivered == c.Missing) | alarming | atEnd | alwaysShown},
	}
}

// publishSide and deliverySide list the accounts of the run. Accounts are closed only at a
// run's end; for a run that was cut short they include the remainder as an entry.
func (s *subject) publishSide() []entry {
	return s.open(publishSide(&s.sum.Counters, neverAcknowledges(&s.run.Header)), "due or handed to the client, and unanswered when the run was cut short: their outcome is not known")
}

func (s *subject) deliverySide() []entry {
	return s.open(deliverySide(&s.sum.Counters), "not arrived when the run was cut short: it is not known whether they did later")
}

// open adds an entry with the remainder of the sum to the account of a run that was cut short.
func (s *subject) open(account []entry, means string) []entry {
	if !s.cut {
		return account
	}
	rest := account[0].Value
	for _, e := range account[1:] {
		rest -= e.Value
	}
	return append(counted(account), entry{"open", max(0, rest), means, 0})
}

// otherCounters lists the run's counters outside the two accounts.
func (s *subject) otherCounters() []entry {
	all := otherCounters(&s.sum.Counters)
	if s.cut {
		all = counted(all)
	}
	return all
}

// counted leaves out counters of a run that was cut short which are zero only because they
// are counted at a run's end.
func counted(entries []entry) []entry {
	return slices.DeleteFunc(entries, func(e entry) bool { return e.is(atEnd) && e.Value == 0 })
}

// unbalanced returns which account does not balance; empty: both do, or the run was cut short
// before they were closed.
func (s *subject) unbalanced() string {
	if ok, problem := s.sum.Counters.Conserved(); !ok && !s.cut {
		return "the message counts do not add up: " + problem
	}
	if ok, problem := s.sum.Connections.Conserved(); !ok && !s.cut {
		return "the counts of connections do not add up: " + problem
	}
	return ""
}

// otherCounters lists the counters outside the two accounts.
func otherCounters(c *result.Counters) []entry {
	all := []entry{
		{"lost acked", c.LostAcked, "missing although the broker had acknowledged them and later ones arrived: the guarantee is violated", alarming | atEnd | alwaysShown},
		{"undelivered", c.Undelivered, "acknowledged, but missing when the run ended; the broker may still hold them", alarming | atEnd},
		{"duplicated", c.Duplicated, "arrived more than once", alarming},
		{"redelivered", c.Redelivered, "marked by the broker as delivered before", 0},
		{"reordered", c.Reordered, "first copies that arrived after a later message of the same producer in the same ordered stream (RFC 4737)", alarming},
		{"late", c.Late, "arrived after the tool had stopped tracking them: they may be new or duplicates", alarming},
		{"foreign", c.Foreign, "messages of another run or another program", alarming},
		{"late replies", c.LateReplies, "replies that arrived after the timeout of their request", alarming},
		{"last unknown", c.LastUnknown, "reached the slowest consumer after the tool had stopped tracking them; counted in delivery.last as lower bounds", alarming},
		{"censored", c.Censored, "unresolved messages; counted in the distributions as lower bounds", impliedIf(c.Missing+c.NotSent > 0) | alarming | atEnd},
		{"timed out", c.TimedOut, "not answered within the timeout; they may have been resolved later", alarming},
		{"negative", c.Negative, "differences below zero, recorded as 0", alarming},
		{"out of range", c.OutOfRange, "values beyond the range of the histograms, recorded at its end", alarming},
		{"violations", c.Violations, "messages for which the driver violated its contract", alarming},
		{"thread takeovers", c.Takeovers, "blocked sends; the other producers of that thread continued on a spare thread", 0},
		{"returned", c.Returned, "returned by the broker because it could not route them", alarming},
		{"denied", c.Denied, "refused by a broker that does not identify the messages; they are also counted above as unknown or missing", alarming},
		{"dropped", c.Dropped, "reported by the client library as dropped", alarming},
	}
	if c.CorruptedCopies > 0 {
		all = append(all, entry{"damaged copies", c.CorruptedCopies, "arrived damaged, and whole or damaged before or after that; also among the duplicated ones", alarming})
	}
	if c.CorruptedUnplaced > 0 {
		all = append(all, entry{"damaged, unplaced", c.CorruptedUnplaced, "arrived damaged, and it is not known which messages they are: as many more may be missing and lost", alarming})
	}
	if c.EndedReceived > 0 {
		all = append(all, entry{"ended and received", c.EndedReceived, "deliveries of messages that had been refused by the broker or given up, or were so later", 0})
	}
	if c.Earlier == 0 {
		return all
	}
	return append(all,
		entry{"earlier", c.Earlier, "messages that earlier runs had left, each counted once; not part of any account or latency", 0},
		entry{"earlier missing", c.EarlierMissing, "gaps among these: missing sequence numbers between received ones of the same producer", alarming | atEnd},
		entry{"earlier duplicated", c.EarlierDuplicated, "those of them that arrived more than once", alarming})
}

// fate is one row of the matrix of publish fate against delivery.
type fate struct {
	Name    string
	Arrived int64 // received or corrupted; -1: cannot be told
	Missing int64
	Means   string
	Broken  string // the guarantee of the broker that the missing messages break; empty: none
}

// arrived returns how many of the messages arrived, or unknown if that is not known.
func (f fate) arrived(unknown string) string {
	if f.Arrived < 0 {
		return unknown
	}
	return count(f.Arrived)
}

// fates returns the matrix acked/unacked × arrived/missing; nil if no deliveries were
// expected. The file counts the missing messages by fate. The arrived ones can be
// computed if every message had the same number of delivery groups. That holds if the
// quotient is whole, since consumers are spread evenly over topics.
func fates(c *result.Counters, byDesign bool) []fate {
	if c.Expected == 0 {
		return nil
	}
	arrived := func(published, missing int64) int64 {
		switch {
		case published == c.Sent:
			return c.Received + c.Corrupted
		case published == 0:
			return 0
		case c.Sent > 0 && c.Expected%c.Sent == 0:
			return published*(c.Expected/c.Sent) - missing
		}
		return -1
	}
	return []fate{
		{"acked", arrived(c.Acked, c.LostAcked+c.Undelivered), c.LostAcked + c.Undelivered, "missing ones: " + ackedMissing(c), ackedMissing(c)},
		{"nacked", arrived(c.Nacked, c.MissingNacked), c.MissingNacked, "refused by the broker: none should arrive", ""},
		{unanswered(byDesign), arrived(c.Unknown, c.MissingUnknown), c.MissingUnknown, "never acknowledged: no guarantee violated", ""},
	}
}

// ackedMissing says what is known about messages that were acknowledged and not
// delivered.
func ackedMissing(c *result.Counters) string {
	switch {
	case c.Undelivered == 0:
		return "lost although acknowledged: the guarantee is violated"
	case c.LostAcked == 0:
		return "undelivered when the run ended: the broker may still hold them"
	}
	return fmt.Sprintf("%s lost although acknowledged (the guarantee is violated), %s undelivered when the run ended", count(c.LostAcked), count(c.Undelivered))
}

// dueRate returns the messages due in the window per second. With random arrivals, and on a
// schedule with few messages, it differs from the asked rate.
func dueRate(r result.Rate) float64 { return cmp.Or(r.Due, r.Asked) }

// rateLine returns the asked rate, the sent rate, and the worst second.
func rateLine(s *subject) []entryText {
	var out []entryText
	if !s.sends() {
		return nil
	}
	r := s.sum.Rate
	if r.Asked > 0 {
		out = append(out, entryText{"asked", rate(r.Asked), "messages per second in the schedule"})
	}
	if due := dueRate(r); rate(due) != rate(r.Asked) {
		out = append(out, entryText{"due", rate(due), "messages per second that were due in the measured window"})
	}
	sent := rate(r.Sent)
	if kept, ok := r.SentShare(); ok {
		sent += " (" + exactShare(kept) + ")"
	}
	out = append(out, entryText{"sent", sent, "per second of the measured window, and as a share of the messages due in it"})
	if r.Asked > 0 && !math.IsNaN(r.WorstSecond) {
		out = append(out, entryText{"worst second", exactShare(r.WorstSecond) + " of due", "sent ÷ due in the worst second (or in the window, if it is shorter): a run that stalls and catches up has the full rate overall but not here"})
	}
	return out
}

// availabilityLine returns the share of messages answered in time; nil if all were.
func availabilityLine(a *result.Availability) []entryText {
	if a == nil || a.Answered >= a.Of {
		return nil
	}
	what := "acknowledged"
	switch a.Metric {
	case result.DeliveryResponse, result.DeliveryService:
		what = "delivered"
	case result.RoundTripResponse, result.RoundTripService:
		what = "replied to"
	}
	since := "due"
	if !a.Metric.IsResponse() {
		since = "sent"
	}
	unknown := ""
	if a.Unknown > 0 {
		unknown = "; " + count(a.Unknown) + " could not be assessed, because the drain was shorter"
	}
	return []entryText{{"availability", exactShare(a.Share) + " (95 %: " + exactShare(a.Low) + " – " + exactShare(a.High) + ")",
		count(a.Answered) + " of " + count(a.Of) + " were " + what + " within " + duration(a.Limit) + " (workload.timeout) of when they were " + since + unknown}}
}

// entryText is a figure that is not a counter.
type entryText struct{ Name, Value, Means string }

// throughputLines returns the throughput of an unpaced load; nil for other loads.
func throughputLines(s *subject) []entryText {
	t := s.sum.Throughput
	if t == nil {
		return nil
	}
	if t.Needs > 0 {
		n, name := t.Messages, "published"
		if !s.sends() {
			n, name = t.Received, "received"
		}
		return []entryText{{name, "n/a, needs " + plural(int(t.Needs), "message"), plural(int(n), "message") + " in " + duration(int64(t.Elapsed))}}
	}
	if !s.sends() {
		return []entryText{{"received", rate(t.ReceivedPerSecond), count(t.Received) + " messages in " + duration(int64(t.Elapsed))}}
	}
	out := []entryText{{"published", rate(t.PerSecond) + ", " + size(int64(float64(t.Bytes)/max(t.Elapsed.Seconds(), 1e-9))) + "/s",
		count(t.Messages) + " messages in " + duration(int64(t.Elapsed))}}
	if t.Received > 0 {
		out = append(out, entryText{"received", rate(t.ReceivedPerSecond), count(t.Received) + " deliveries"})
	}
	return out
}

// stoppedLine returns what ended the measurement of a throughput.
func stoppedLine(s *subject) []entryText {
	t := s.sum.Throughput
	if t == nil || t.Needs > 0 || t.Until == "" {
		return nil
	}
	return []entryText{{"clock stopped by", plain(t.Until), "the event that ended the measurement"}}
}

// deploymentLines describes the broker that was started for the run; nil if the run started
// no broker.
func deploymentLines(d *result.Deployment) []entryText {
	if d == nil {
		return nil
	}
	nodes := ""
	if d.Nodes > 1 {
		nodes = ", " + count(int64(d.Nodes)) + " nodes"
	}
	out := []entryText{{"broker", plain(strings.TrimSpace(d.Product+" "+d.Version) + ", " + d.Origin + nodes), "the broker that was started for the run"}}
	var settings []string
	for _, name := range slices.Sorted(maps.Keys(d.Settings)) {
		settings = append(settings, plain(name+"="+d.Settings[name]))
	}
	if len(settings) > 0 {
		out = append(out, entryText{"settings", strings.Join(settings, " "), "of the broker, as they were in effect"})
	}
	if f := d.FileSystem; f != nil {
		out = append(out, entryText{"data on", plain(f.Type + " of " + size(f.Bytes) + " for each node"), "made for the run in an image on a loop device: a power failure affects it and not the machine"})
	}
	return out
}

// semanticsLines lists the broker's guarantees; empty fields are left out.
func semanticsLines(h *result.Header) []entryText {
	s := &h.Semantics
	all := []entryText{
		{"durability", s.Durability, "where a message is when it counts as safe"},
		{"replication", s.Replication, "how many copies there are, and how many an acknowledgement waits for"},
		{"acknowledgement", s.Acknowledgment, "what an acknowledged publish means"},
		{"ordering", s.Ordering, "which order is guaranteed"},
		{"delivery", s.Delivery, "how often a message may arrive"},
		{"batching", s.Batching, "whether messages wait to be sent together"},
		{"consumption", s.Consumption, "push or pull, and how far ahead"},
		{"transport", s.Transport, "how bytes are transported"},
		{"topic", topicName(h), "what the first topic is called at the broker: every message has the name in it"},
	}
	var out []entryText
	for _, e := range all {
		if e.Value = plain(e.Value); e.Value != "" {
			out = append(out, e)
		}
	}
	return out
}

// topicName is the name of the first topic at the broker, with its length.
func topicName(h *result.Header) string {
	if h.Topic == "" {
		return ""
	}
	return fmt.Sprintf("%s (%s)", h.Topic, spell.Plural(int64(len(h.Topic)), "byte"))
}

// accountsOf lays rates and the counters that are not zero side by side for Markdown.
func accountsOf(prepared []*subject) *table {
	x := &table{Head: textCells("")}
	for _, s := range prepared {
		x.Head = append(x.Head, cell{Text: s.label, Right: true})
	}
	line := func(name string, value func(*subject) string) {
		texts := []string{name}
		for _, s := range prepared {
			texts = append(texts, value(s))
		}
		if strings.Join(texts[1:], "") != "" {
			x.add(texts...)
		}
	}
	asked := func(text func(*subject) string) func(*subject) string {
		return func(s *subject) string {
			if s.sum.Rate.Asked == 0 {
				return ""
			}
			return text(s)
		}
	}
	line("asked", asked(func(s *subject) string { return rate(s.sum.Rate.Asked) }))
	line("sent", func(s *subject) string { return rate(s.sum.Rate.Sent) })
	line("worst second", asked(func(s *subject) string { return exactShare(s.sum.Rate.WorstSecond) + " of due" }))
	line("availability", func(s *subject) string {
		for _, l := range availabilityLine(s.sum.Availability) {
			return l.Value
		}
		return ""
	})
	line("lost although acknowledged", lostCount)
	line("gone from the log", func(s *subject) string {
		if b := s.sum.ReadBack; b != nil && b.NotInLog > b.LostAcked {
			return count(b.NotInLog)
		}
		return ""
	})
	line("throughput", func(s *subject) string {
		if t := s.sum.Throughput; t != nil && t.Needs > 0 {
			return "n/a"
		}
		if s.sum.Throughput == nil {
			return ""
		}
		return rate(s.sum.Throughput.PerSecond)
	})
	byDesign := !slices.ContainsFunc(prepared, func(s *subject) bool { return !neverAcknowledges(&s.run.Header) })
	all := func(c *result.Counters) []entry {
		return slices.Concat(publishSide(c, byDesign), deliverySide(c), otherCounters(c))
	}
	for i, e := range all(&result.Counters{}) {
		line(e.Name, func(s *subject) string {
			v := all(&s.sum.Counters)[i].Value
			if v == 0 && !(e.is(alwaysShown) && s.sum.Counters.Expected > 0) {
				return ""
			}
			return count(v)
		})
	}
	return x
}
