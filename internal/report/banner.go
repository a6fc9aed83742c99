package report

import (
	"slices"
	"strings"

	"sixnines/result"
)

// banner is a prominent warning at the head of a result.
type banner struct {
	Code result.ReasonCode // of the verdict's note that says the same; empty if none does
	Head string            // in capitals
	Text string
	Loud bool // it changes the meaning of the figures, and does not only add to it
	Mark bool // the first screen must show it, since no other line says it
}

// bannersOf lists the warnings that come before a run's figures.
func bannersOf(s *subject) []banner {
	var out []banner
	h := &s.run.Header
	switch h.Mode {
	case result.ModeClosed:
		out = append(out, banner{result.ReasonClosedLoop, "CLOSED LOOP – COORDINATED OMISSION",
			"each message waited for the previous answer, so a slow broker received less load: these figures omit the time that users would have waited", true, true})
	case result.ModeFlatOut:
		out = append(out, banner{result.ReasonUnpaced, "UNPACED",
			"messages were sent as fast as possible, without a schedule: response times do not exist, and service times are those of full buffers", true, true})
	}
	if s.sum.Verdict.Status == result.Unstable {
		b := banner{"", "OVERLOAD",
			"the backlog grew and did not shrink again: response percentiles depend on the length of the run, so they are withheld", true, false}
		if slices.ContainsFunc(s.sum.Verdict.Reasons, func(r result.Reason) bool {
			return r.Status == result.Unstable && r.Code == result.ReasonGeneratorLimit
		}) {
			b = banner{"", "GENERATOR AT ITS LIMIT",
				"the generator could not keep up with the rate, so due messages waited inside it: response percentiles depend on the length of the run and say nothing about the broker, so they are withheld", true, false}
		}
		out = append(out, b)
	}
	if s.cut {
		out = append(out, banner{"", "CUT SHORT",
			"the file ends without a summary, so the run was killed: the figures cover what was written before", true, true})
	}
	if d := plain(s.run.Damaged); d != "" {
		out = append(out, banner{"", "DAMAGED FILE", d, true, true})
	}
	if s.sum.Interrupted {
		out = append(out, banner{result.ReasonInterrupted, "INTERRUPTED", "the run was interrupted; it is complete up to that instant", false, false})
	}
	if h.SameHost {
		out = append(out, banner{result.ReasonSameHost, "BROKER ON THIS HOST", "the broker and the generator share this machine's processors", false, false})
	}
	return out
}

// statuses lists the statuses of verdicts, the worst first.
func statuses() []result.Status {
	return []result.Status{result.Invalid, result.Unstable, result.Suspect, result.Valid}
}

// statusStyle returns the style of a status.
func statusStyle(s result.Status) style {
	switch s {
	case result.Valid:
		return good
	case result.Suspect:
		return warning
	}
	return bad
}

// worstOf returns the worst verdict of several runs as a word, with the number of runs that
// have it unless all have it.
func worstOf(runs int, counted func(result.Status) int) (string, style) {
	for _, s := range statuses() {
		switch n := counted(s); {
		case n == runs && n > 0:
			return string(s), statusStyle(s)
		case n > 0:
			return string(s) + " " + count(n) + " of " + count(runs), statusStyle(s)
		}
	}
	return "–", faint
}

// reasons returns the verdict's reasons, worst first, notes last. Notes that a
// banner repeats are left out.
func (s *subject) reasons() []result.Reason {
	out := slices.DeleteFunc(slices.Clone(s.sum.Verdict.Reasons), func(r result.Reason) bool {
		return r.Status == result.Valid && slices.ContainsFunc(s.banners, func(b banner) bool { return b.Code != "" && b.Code == r.Code })
	})
	slices.SortStableFunc(out, func(a, b result.Reason) int {
		return slices.Index(statuses(), a.Status) - slices.Index(statuses(), b.Status)
	})
	return out
}

// status returns the verdict in one to three words: "VALID to p99".
func (s *subject) status() string {
	if text := plain(s.sum.Verdict.String()); text != "" {
		return text
	}
	return "NO VERDICT"
}

// limits returns, one line for each latency, from which percentile on it is suspect and invalid,
// and why; nil for an INVALID or UNSTABLE run, whose verdict says more.
func (s *subject) limits() []string {
	v := s.sum.Verdict
	if v.Status != result.Valid && v.Status != result.Suspect {
		return nil
	}
	var out []string
	for _, l := range v.Limits {
		line := limitText(l, shortWhy)
		if l.Metric != s.measuredMetric() {
			line = metricName(l.Metric) + " " + line
		}
		out = append(out, line)
	}
	return out
}

// limitText returns from which percentile on a latency is suspect or invalid, and why; words
// writes the reason.
func limitText(l result.Limit, words func(l result.Limit, invalid bool) string) string {
	var parts []string
	if l.InvalidFrom != l.From {
		parts = append(parts, rowName(l.From)+" suspect: "+words(l, false))
	}
	if l.InvalidFrom != "" {
		parts = append(parts, rowName(l.InvalidFrom)+" invalid: "+words(l, true))
	}
	return strings.Join(parts, "; ")
}

// shortWhy returns why a percentile is suspect or invalid, in a few words.
func shortWhy(l result.Limit, invalid bool) string {
	if invalid {
		return plain(l.InvalidWhy)
	}
	return plain(l.Why)
}

// reasonWord returns a reason's status as a word for users.
func reasonWord(s result.Status) string {
	if s == result.Valid {
		return "note"
	}
	return strings.ToLower(plain(string(s)))
}

// headline says in one line what was run: driver, broker, pattern, rate, size,
// mode and window.
func headline(s *subject) []string {
	h := &s.run.Header
	out := []string{s.shared, plain(h.Driver)}
	if b := brokerLine(h); b != "" {
		out = append(out, b)
	}
	out = append(out, plain(h.Pattern))
	mode := plain(h.Mode)
	if h.Mode == result.ModeFlatOut {
		mode += " (unpaced)"
	}
	if h.Synchronous != nil {
		mode += ", each producer waits for the answer"
	}
	out = append(out, loadText(h), mode, fleetText(h), shortDuration(float64(window(s)))+" window")
	return slices.DeleteFunc(out, func(s string) bool { return s == "" })
}

// identity is the headline with when the run was made, and which it is.
func (s *subject) identity() []string {
	head := headline(s)
	if when := s.run.Header.Started; !when.IsZero() {
		head = append(head, when.UTC().Format("2006-01-02 15:04:05 UTC"))
	}
	if id := plain(s.run.Header.ID); id != "" {
		head = append(head, "run "+id)
	}
	if t := trialText(s.run.Header.Trial); t != "" {
		head = append(head, t)
	}
	return head
}

// loadText is the rate and what messages are made of.
func loadText(h *result.Header) string {
	load := size(h.Size)
	if h.Sizes != "" {
		load = "sizes " + plain(h.Sizes)
	}
	if h.Payload != "" {
		load += " (" + plain(h.Payload) + ")"
	}
	if h.Keys != "" {
		load += ", keys " + plain(h.Keys) + " of " + size(h.KeySize)
	}
	if h.Headers != "" {
		load += ", headers " + plain(h.Headers)
	}
	if h.Rate > 0 {
		load = rate(h.Rate) + " × " + load
	}
	if h.Mode == result.ModeConsume {
		load = "messages left as " + plain(h.Existing)
	}
	return load
}

// window returns the actual length of the measured window, ns.
func window(s *subject) int64 {
	if s.sum.End > 0 {
		return s.sum.End
	}
	return int64(s.run.Header.Window)
}

// brokerLine names the server: name and version, and how it was started.
func brokerLine(h *result.Header) string { return joinNonEmpty(", ", brokerName(h), plain(h.Managed)) }

// brokerName is the server's name and version.
func brokerName(h *result.Header) string {
	get := func(keys ...string) string {
		for _, k := range keys {
			if v := plain(h.Broker[k]); v != "" {
				return v
			}
		}
		return ""
	}
	name, version := get("product", "server"), get("version")
	line := strings.TrimSpace(name + " " + version)
	if name == "" && version != "" {
		line = "broker " + version
	}
	return line
}
