package judge

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"sixnines/internal/layout"
	"sixnines/internal/schedule"
	"sixnines/internal/secret"
	"sixnines/internal/spell"
	"sixnines/result"
	"sixnines/scenario"
)

// Declare sets the fields of a header that follow from a normalised scenario. The engine
// writes them, and verify computes them again from the scenario in the file. Fields that the
// scenario alone does not determine are left unchanged.
func Declare(h *result.Header, s *scenario.Scenario) {
	w := &s.Workload
	h.Name, h.Driver, h.Pattern, h.Mode = s.Name, s.Target.Driver, string(w.Pattern), modeOf(w)
	if g := h.Segment; g != nil && g.Role == result.RoleProducers {
		h.Pattern = string(scenario.Publish) // other processes receive what it sends
	}
	h.Interval, h.Window = s.Record.Interval, s.Phases.Longest()
	if w.Messages > 0 {
		h.Window = 0 // the number of messages ends it
	}
	h.Size = int64(math.Round(schedule.MeanSize(w.Size)))
	if w.Pattern == scenario.Consume {
		h.Size = 0 // not known: earlier runs chose it
	}
	h.Sizes, h.Payload, h.Keys, h.KeySize, h.Headers, h.Objectives = "", "", "", 0, "", nil
	if _, alike := w.Size.Fixed(); !alike {
		h.Sizes = w.Size.String()
	}
	if !w.Payload.IsZero() {
		h.Payload = w.Payload.String()
	}
	if !w.Keys.IsZero() {
		h.Keys, h.KeySize = w.Keys.String(), int64(w.KeySize)
	}
	if !w.Headers.IsZero() {
		h.Headers = w.Headers.String()
	}
	for _, o := range s.Objectives {
		h.Objectives = append(h.Objectives, o.String())
	}
	h.Until, h.Existing = s.Phases.Until.String(), w.Existing
	h.Actions, h.ConsumersFrom, h.ConsumersPause = actionsOf(s), "", ""
	acts := s.Acts()
	for _, a := range scenario.OfKind(acts, scenario.ActionStart) {
		h.ConsumersFrom = a.At.String()
	}
	if pauses := scenario.OfKind(acts, scenario.ActionPause); len(pauses) > 0 {
		h.ConsumersPause = scenario.Pause{At: pauses[0].At.After, For: pauses[0].For}.String()
	}
}

// modeOf is the mode of a workload.
func modeOf(w *scenario.Workload) string {
	switch {
	case w.Loop == scenario.Closed:
		return result.ModeClosed
	case w.Pattern == scenario.Consume:
		return result.ModeConsume
	case w.Rate.IsMax():
		return result.ModeFlatOut
	}
	return result.ModeOpen
}

// sameJSON reports whether two texts are the same as JSON.
func sameJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// acks says how a run's metrics contradict the acknowledgements that its header declares; it is
// empty if they agree.
func acks(run *result.Run) string {
	n, h := run.Counters, &run.Header
	published := total(run.Metrics[result.PublishResponse]) + total(run.Metrics[result.PublishService])
	switch h.Ack {
	case ackNone:
		if n.Acked > 0 || published > 0 {
			return fmt.Sprintf("it is %q, and %s acknowledged", h.Ack, spell.Plural(max(n.Acked, published), "message"))
		}
	case "reply":
		if published > 0 {
			return fmt.Sprintf("it is %q, and %s acknowledged by the broker", h.Ack, spell.Plural(published, "message"))
		}
	case "broker":
		if (h.Mode == result.ModeOpen || n.Acked > 0) && n.Sent > 0 && published == 0 && run.Summary != nil {
			return fmt.Sprintf("it is %q, and no message has an acknowledgement or lacks one", h.Ack)
		}
	default:
		return fmt.Sprintf("there are no acknowledgements of the kind %q", h.Ack)
	}
	return ""
}

// mostWalked is the largest number of messages for which verify generates the whole schedule,
// which takes some seconds.
const mostWalked = 50_000_000

// declared compares a header with the scenario in it and with the run's records.
func declared(run *result.Run) (found []Problem) {
	h := &run.Header
	add := func(where, format string, a ...any) {
		found = append(found, Problem{"header." + where, fmt.Sprintf(format, a...)})
	}
	s, err := scenario.FromRecord("header", h.Scenario)
	if err != nil {
		add("scenario", "it cannot be read: %s", strings.ReplaceAll(err.Error(), "\n", "; "))
		return found
	}
	written := h.Scenario
	if len(secret.Placeholders(string(written))) > 0 {
		// A placeholder of a secret would be escaped when it is written again.
		if written, err = s.MarshalJSON(); err != nil {
			add("scenario", "it cannot be written again: %v", err)
			return found
		}
	}
	s.Normalise()
	if again, err := s.MarshalJSON(); err != nil || !sameJSON(again, written) {
		add("scenario", "it is not as a run writes it, with every default")
	}
	if s.Version != scenario.Version {
		add("scenario.version", "it is %d, and a run writes %d", s.Version, scenario.Version)
	}
	want := *h
	Declare(&want, s)
	acted := slices.ContainsFunc(run.Events, func(e result.Event) bool { return e.Action != nil })
	if len(h.Actions) == 0 && len(s.Actions) == 0 && !acted {
		want.Actions = nil // earlier versions wrote these actions only as the older keys
	}
	is, should := reflect.ValueOf(*h), reflect.ValueOf(want)
	for i := range is.NumField() {
		if x, y := is.Field(i).Interface(), should.Field(i).Interface(); !reflect.DeepEqual(x, y) {
			tag, _, _ := strings.Cut(is.Type().Field(i).Tag.Get("json"), ",")
			add(tag, "it is %v, by the scenario %v", x, y)
		}
	}
	version := result.Version
	if h.Workload != "" {
		version = result.VersionWorkloads
	}
	if h.Version != version {
		add("version", "it is %d, and of a file with such workloads %d", h.Version, version)
	}
	if keeps := s.Workload.Retains(); keeps != (h.LeftAs != "") {
		add("left_as", "it is %q, by the scenario something is left: %v", h.LeftAs, keeps)
	}
	if s.Record.Raw != (h.Raw != "") {
		add("raw", "it is %q, by the scenario there is a raw file: %v", h.Raw, s.Record.Raw)
	}
	if stops := s.Parts()[0].Stops; h.Stops != stops && h.Workload == "" {
		add("stops", "it is %v, by the scenario %v", h.Stops, stops)
	}
	if h.Slot != result.SlotLength {
		add("slot", "it is %d, and was %d in every version", h.Slot, result.SlotLength)
	}
	for m, x := range run.Metrics {
		if x.Hist == nil {
			continue
		}
		if _, _, digits := x.Hist.Layout(); digits != s.Record.Digits {
			add("scenario.record.digits", "it is %d, and %s has %d", s.Record.Digits, m, digits)
		}
	}
	if n := s.Workload.Messages; n > 0 && h.Mode != result.ModeConsume && !run.Closing.Interrupted && run.Summary != nil && run.Counters.Taken != int64(n) {
		add("scenario.workload.messages", "it is %d, and %s taken to be sent", n, spell.Plural(run.Counters.Taken, "message"))
	}
	if text := acks(run); text != "" {
		add("ack", "%s", text)
	}
	return append(found, scheduled(run, s)...)
}

// scheduled compares a run with the schedule of its scenario. A trace is not compared, because
// its file may no longer exist on this machine.
func scheduled(run *result.Run, s *scenario.Scenario) (found []Problem) {
	h := &run.Header
	if modeOf(&s.Workload) != result.ModeOpen {
		if h.Rate != 0 {
			found = append(found, Problem{"header.rate", fmt.Sprintf("it is %v, and the scenario has no schedule", h.Rate)})
		}
		return found
	}
	if s.Workload.Arrivals.Kind == scenario.Trace {
		return nil
	}
	var slices *schedule.Slices
	if h.Trial != nil {
		slices = (*schedule.Slices)(h.Trial.Slices)
	}
	p, err := schedule.InSlices(&s.Workload, s.Phases.Longest(), s.Seed, slices)
	if err != nil {
		return []Problem{{"header.scenario", "it has no schedule: " + err.Error()}}
	}
	producers := s.Workload.Producers
	if g := h.Segment; g != nil {
		share, err := ShareOf(&s.Workload, *g)
		if err != nil {
			return []Problem{{"header.segment", err.Error()}}
		}
		if g.Role == result.RoleConsumers {
			if h.Rate != 0 {
				found = append(found, Problem{"header.rate", fmt.Sprintf("it is %v, and the process sends nothing", h.Rate)})
			}
			return found
		}
		p, producers = p.Of(share.Producers), len(share.Producers)
	}
	if !same(h.Rate, p.MeanRate()) {
		found = append(found, Problem{"header.rate", fmt.Sprintf("it is %v, by the schedule %v", h.Rate, p.MeanRate())})
	}
	if y := h.Synchronous; y != nil {
		if interval := int64(math.Round(float64(producers) * 1e9 / p.MeanRate())); y.Interval != interval {
			found = append(found, Problem{"header.synchronous.interval_ns", fmt.Sprintf("it is %d, by the schedule %d", y.Interval, interval)})
		}
		if mean := s.Workload.Arrivals.Kind != scenario.Constant || slices != nil; y.Mean != mean {
			found = append(found, Problem{"header.synchronous.mean", fmt.Sprintf("it is %v, by the schedule %v", y.Mean, mean)})
		}
	}
	if run.Summary == nil || run.Counters.Scheduled > mostWalked || p.MeanRate()*float64(run.Closing.End)/1e9 > mostWalked {
		return found
	}
	due := dueBefore(p, run.Closing.End)
	if f := h.Fleet; f != nil { // the windows of agents may have ended one after the other
		due = 0
		for i := range f.Agents {
			a := &f.Agents[i]
			share, err := ShareOf(&s.Workload, a.Segment)
			if err != nil {
				return append(found, Problem{fmt.Sprintf("header.fleet.agents.%d.segment", i), err.Error()})
			}
			if a.Segment.Role == result.RoleConsumers {
				continue
			}
			end := a.End
			if a.Unfinished(run.Closing.End) {
				end = run.Closing.End
			}
			due += dueBefore(p.Of(share.Producers), end)
		}
	}
	if due != run.Counters.Scheduled {
		found = append(found, Problem{"counters.scheduled", fmt.Sprintf("the intervals yield %d, the schedule has %d due in the window", run.Counters.Scheduled, due)})
	}
	return found
}

// ShareOf returns what a segment has of a workload. The error says why it cannot be divided so.
func ShareOf(w *scenario.Workload, g result.Segment) (s layout.Share, err error) {
	if g.Role != "" {
		s, _, _, err = layout.DivideRole(w, layout.Role(g.Role), g.Part, g.Parts)
	} else {
		s, _, err = layout.Divide(w, g.Index, g.Of)
	}
	return s, err
}

// dueBefore returns how many messages of a plan are due in the window before an instant, ns from its start.
func dueBefore(p *schedule.Plan, end int64) (due int64) {
	all := make([]int, p.Producers())
	for i := range all {
		all[i] = i
	}
	merged := p.Merge(all, schedule.Window)
	for at, _, more := merged.Next(); more && at < end; at, _, more = merged.Next() {
		due++
	}
	return due
}
