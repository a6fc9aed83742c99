package scenario

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"sixnines/internal/strict"
)

// Act is an action of a plan: what happens, to whom and when, however the scenario says it.
type Act struct {
	Action  // At counts from the start of the window of the scenario that Acts was called on
	Kind    ActionKind
	Subject Subject // whom it happens to: producers, the leader

	key  string // where it was written
	text string // it, in one line, with the names of variables where values came from these
}

// Key returns where the act was written, such as actions[0], for [Scenario.Wrong]. It is the same for a
// run's act in each of its parts.
func (a *Act) Key() string { return a.key }

// String returns the act in YAML's flow style, in one line, with the names of variables and without
// their values.
func (a Act) String() string { return a.text }

// Properties returns what all acts of this kind have in common.
func (a *Act) Properties() ActionProperties {
	p, _ := a.Kind.Properties()
	return p
}

// Length returns how long the act lasts; 0: it does not, or until the run's end.
func (a *Act) Length() time.Duration {
	if a.Restart != nil {
		return a.Restart.After
	}
	return a.For
}

// End returns when the act is over, from the start of the window: At.After, if it does not last.
func (a *Act) End() time.Duration { return a.At.After + a.Length() }

// Acts returns what is to happen in the window of a normalised and valid scenario, in order
// of time; acts with At.Filled come last. Actions and the older keys consumer.from and
// consumer.pause give the same acts. With several workloads it returns the acts of all of
// them: Act.Workload names the workload, and At.After counts from the start of the run's window. Acts
// of the run are there once, and in the acts of each part.
func (s *Scenario) Acts() []Act {
	var all []Act
	if len(s.Workloads) > 0 {
		all = slices.DeleteFunc(s.acts(), func(a Act) bool { return !a.Properties().Run })
		for _, p := range s.Parts() {
			for _, a := range p.Scenario.Acts() {
				if a.Properties().Run {
					continue
				}
				a.Workload = p.Name
				if !a.At.Filled {
					a.At.After += p.From
				}
				a.text = a.Action.String()
				all = append(all, a)
			}
		}
	} else {
		all = s.acts()
	}
	slices.SortStableFunc(all, func(a, b Act) int {
		switch {
		case a.At.Filled != b.At.Filled:
			if a.At.Filled {
				return 1
			}
			return -1
		case a.At.After != b.At.After:
			return int(max(-1, min(1, a.At.After-b.At.After)))
		}
		return strings.Compare(string(a.Kind), string(b.Kind))
	})
	return all
}

// acts returns the acts of a scenario with one workload, in no particular order.
func (s *Scenario) acts() (all []Act) {
	var e encoder
	if s.source != nil {
		e.written = s.source.written
	}
	c := &s.Workload.Consumer
	if !c.From.IsZero() {
		all = append(all, newAct(Action{At: Moment(c.From), Start: Consumers}, ActionStart, "workload.consumer.from"))
	}
	if !c.Pause.IsZero() {
		all = append(all, newAct(Action{At: Moment{After: c.Pause.At}, Pause: Consumers, For: c.Pause.For}, ActionPause, "workload.consumer.pause"))
	}
	for i, a := range s.Actions {
		if a.key == "" {
			a.key = strict.Item(actionsKey, i)
		}
		for _, k := range a.kinds() {
			act := newAct(a, k.Kind, a.key)
			act.text = flow(e.mapping(reflect.ValueOf(a), a.key))
			all = append(all, act)
		}
	}
	return all
}

func newAct(a Action, kind ActionKind, key string) Act {
	p, _ := kind.Properties()
	return Act{Action: a, Kind: kind, Subject: p.subject(&a), key: key, text: a.String()}
}

// OfKind returns the acts of a kind, in their order, in a new slice.
func OfKind(all []Act, kind ActionKind) []Act {
	return slices.DeleteFunc(slices.Clone(all), func(a Act) bool { return a.Kind != kind })
}

// has reports whether any action of the scenario with one workload is of a kind.
func (s *Scenario) has(kind ActionKind) bool {
	return slices.ContainsFunc(s.acts(), func(a Act) bool { return a.Kind == kind })
}

// CanLose reports whether any action may make the broker lose messages that it has acknowledged.
func (s *Scenario) CanLose() bool {
	return slices.ContainsFunc(s.Actions, func(a Action) bool {
		return slices.ContainsFunc(a.kinds(), func(p ActionProperties) bool { return p.Explains == ExplainsOutage })
	})
}

// startsLate reports whether the consumers of a workload of the scenario come late.
func (s *Scenario) startsLate(name string, w *Workload) bool {
	p, _ := ActionStart.Properties()
	return !w.Consumer.From.IsZero() ||
		slices.ContainsFunc(s.Actions, func(a Action) bool { return a.Start != "" && a.concerns(name, w, p) })
}

// stopOf returns when an action stops the producers of a workload; 0: none does.
func (s *Scenario) stopOf(name string, w *Workload) time.Duration {
	p, _ := ActionStop.Properties()
	for i := range s.Actions {
		if a := &s.Actions[i]; a.Stop != "" && a.concerns(name, w, p) {
			return a.At.After
		}
	}
	return 0
}

// actionsOf returns the actions that concern one of several workloads, with instants that
// count from the start of that workload's window.
func (s *Scenario) actionsOf(w *NamedWorkload) (own []Action) {
	for i, a := range s.Actions {
		given := a.kinds()
		if len(given) != 1 || !a.concerns(w.Name, &w.Workload, given[0]) {
			continue
		}
		a.Workload, a.key = "", strict.Item(actionsKey, i)
		if !a.At.Filled {
			a.At.After -= w.From
		}
		own = append(own, a)
	}
	return own
}

// Interrupted reports whether consumers of the scenario's one workload come late or pause, so
// that the broker is to keep messages for them.
func (s *Scenario) Interrupted() bool { return s.has(ActionStart) || s.has(ActionPause) }

// ComesLate reports whether consumers of the scenario's one workload connect after the window
// has begun.
func (s *Scenario) ComesLate() bool { return s.has(ActionStart) }

// Slow reports whether a consumer's callback simulates work, or blocks for a pause.
func (s *Scenario) Slow() bool { return s.Workload.Consumer.Work > 0 || s.has(ActionPause) }

// stops reports whether the load ends with its window, and does not go on until everything
// measured is resolved.
func (s *Scenario) stops() bool {
	return slices.ContainsFunc(s.acts(), func(a Act) bool { return a.Kind == ActionStop || a.Kind == ActionStart && a.At.Filled })
}

// timeline checks the acts of one workload, each by its kind, and those that exclude each
// other.
func (v *validator) timeline() {
	all := v.s.Acts()
	for i := range all {
		a := &all[i]
		p := a.Properties()
		if p.Run {
			continue // see runActs: it is not of this workload alone
		}
		p.check(v, a)
		for j := range all[:i] {
			b := &all[j]
			if p.Exclusive && b.Kind == a.Kind && (a.For == 0 || a.At.After < b.End()) {
				v.fail(fmt.Sprintf("two actions %s: %s at the same time, at %s and at %s", a.Kind, a.Subject, b.At, a.At),
					overlapHint(a), a.key, b.key)
				break
			}
		}
	}
	v.refuse(!v.s.Phases.Until.IsZero() && len(all) > 0 && !v.s.Interrupted(), "a window that ends as soon as a percentile is known may end before an action", "leave phases.until out, or the action", "phases.until", actionsKey)
}

func overlapHint(a *Act) string {
	if a.For == 0 {
		return "leave one of them out"
	}
	return "start the second when the first has ended, or write a single longer one"
}

// checkAway checks an act by which consumers are away: they start late or pause.
func checkAway(v *validator, a *Act) {
	s := v.s
	w := &s.Workload
	known := w.Messages == 0 // how long the window is
	switch {
	case w.Pattern != Deliver:
		v.fail("consumers that start late or pause need the pattern deliver", "choose pattern: deliver, or leave "+a.key+" out", a.key, "workload.pattern")
	case w.Loop == Closed:
		v.fail("a closed loop waits for deliveries, and there are none while consumers are away", "choose loop: open, with a rate or with rate: max", a.key, "workload.loop")
	case w.InFlight.Each > 0:
		v.fail("producers that wait for each answer are blocked while consumers are away", "leave workload.in_flight.each out", "workload.in_flight.each", a.key)
	case !s.Phases.Until.IsZero():
		v.fail("the latencies of a backlog depend on its length, so the run cannot wait for a percentile", "leave phases.until out", "phases.until", a.key)
	}
	over := known && !a.At.Filled && a.At.After >= s.Phases.Duration
	if a.Kind == ActionPause {
		v.refuse(over, "the pause begins at "+a.At.String()+", when the window of "+formatDuration(s.Phases.Duration)+" is over",
			"lengthen phases.duration, or start the action earlier", a.key, "phases.duration")
		return
	}
	v.refuse(a.At == Moment{}, "consumers that start late, at 0s", "give a time after the start of the window, such as at: 5s, or filled; consumers that are connected from the start need no action", a.key)
	v.refuse(over, "consumers come after "+a.At.String()+", when the window of "+formatDuration(s.Phases.Duration)+" is over",
		"write "+laterKey(a)+": filled, which is the end of the window, or lengthen phases.duration", a.key, "phases.duration")
	v.refuse(s.Phases.Warmup > 0, "messages of a warm-up without consumers would be part of the backlog", "leave phases.warmup out", "phases.warmup", a.key)
}

// laterKey returns the key that says when consumers connect.
func laterKey(a *Act) string {
	if strings.HasPrefix(a.key, actionsKey) {
		return "at"
	}
	return "from"
}

// checkStop checks that the window ends when producers stop.
func checkStop(v *validator, a *Act) {
	s := v.s
	w := &s.Workload
	switch d := s.Phases.Duration; {
	case w.Pattern == Consume:
		v.fail("the pattern consume has no producers to stop", "leave the action out", a.key, "workload.pattern")
	case w.Messages > 0:
		v.fail("producers that stop at an instant, and a number of messages that ends the window", "leave one of them out", a.key, "workload.messages")
	case a.At.After == 0:
		v.fail("producers that stop as soon as they start", "stop them later, such as at: 5s", a.key)
	case a.At.After > d:
		v.fail(fmt.Sprintf("producers stop at %s, after the window of %s has ended", a.At, formatDuration(d)), "lengthen phases.duration, or stop them earlier", a.key, "phases.duration")
	case a.At.After < d:
		v.fail(fmt.Sprintf("producers stop at %s, but the window of their load lasts %s", a.At, formatDuration(d)),
			"leave its length out (phases.duration, or for of a workload): it ends when they stop", "phases.duration", a.key)
	}
}

// checkDisconnect checks that the load has the connections that the action cuts.
func checkDisconnect(v *validator, a *Act) {
	s := v.s
	w := &s.Workload
	v.refuse(a.Subject == Consumers && w.Pattern == Publish, "the pattern publish has no consumers to disconnect", "write disconnect: producers", a.key, "workload.pattern")
	v.refuse(a.Subject == Producers && w.Pattern == Consume, "the pattern consume has no producers to disconnect", "write disconnect: consumers", a.key, "workload.pattern")
	v.refuse(w.Messages == 0 && a.At.After >= s.Phases.Duration, fmt.Sprintf("the action is at %s, after the window of %s has ended", a.At, formatDuration(s.Phases.Duration)),
		"lengthen phases.duration, or move the action earlier", a.key, "phases.duration")
}
