package network

import (
	"fmt"
	"slices"
	"strings"

	"sixnines/scenario"
)

// Means is a mechanism that gives a path conditions.
type Means string

// The means, the best first.
const (
	Netem   Means = "netem"   // the kernel's queueing discipline sch_netem, on one of our devices
	TCX     Means = "tcx"     // our program in the kernel that drops, on one of our devices
	TBF     Means = "tbf"     // the kernel's token bucket sch_tbf, on one of our devices
	NFQueue Means = "nfqueue" // our process, which releases packets when they are due
	Relay   Means = "relay"   // our process, through which clients connect, see package relay
)

// Aspect is a part of conditions.
type Aspect string

// The aspects.
const (
	Delay   Aspect = "delay"
	Jitter  Aspect = "jitter"
	Loss    Aspect = "loss"
	Reorder Aspect = "reorder"
	Rate    Aspect = "rate"
)

// Properties is what a means can do.
type Properties struct {
	Means   Means
	Device  bool     // it needs devices that Sixnines creates
	Can     []Aspect // in the order of preference against the other means
	What    string   // a noun with what it is good for
	Without string   // what is missing where it does not work, and what to do
}

// All lists the means, the best first. The relay is the last: it adds a hop, and needs no privileges. netem is not used for
// jitter: it reorders packets whose delays differ, and its jitter is smaller than asked (Jurgelionis et al., "An Empirical Study
// of NetEm Network Emulation Functionalities", ICCCN 2011). It is not used for loss: the kernel counts what it loses together with
// what its full queue drops (net/sched/sch_netem.c, netem_enqueue), and another means counts each loss.
func All() []Properties {
	return []Properties{
		{Means: Netem, Device: true, Can: []Aspect{Delay, Reorder, Rate}, What: "the kernel's network emulator"},
		{Means: TCX, Device: true, Can: []Aspect{Loss}, What: "a kernel program that drops packets and counts them"},
		{Means: TBF, Device: true, Can: []Aspect{Rate}, What: "the kernel's token bucket"},
		{Means: NFQueue, Can: []Aspect{Delay, Jitter, Loss, Reorder, Rate}, What: "a packet queue from which a sixnines process releases packets when they are due"},
		{Means: Relay, Can: []Aspect{Delay, Jitter, Rate}, What: "a sixnines process through which clients connect"},
	}
}

// Properties returns what the means can do.
func (m Means) Properties() Properties {
	all := All()
	if i := slices.IndexFunc(all, func(p Properties) bool { return p.Means == m }); i >= 0 {
		return all[i]
	}
	return Properties{Means: m}
}

// aspects lists what the conditions ask for.
func aspects(c scenario.Conditions) (all []Aspect) {
	for _, a := range []struct {
		aspect Aspect
		asked  bool
	}{{Delay, c.Delay > 0}, {Jitter, c.Jitter > 0}, {Loss, c.Loss > 0}, {Reorder, c.Reorder > 0}, {Rate, c.Rate > 0}} {
		if a.asked {
			all = append(all, a.aspect)
		}
	}
	return all
}

// only returns the conditions without the aspects that are not listed.
func only(c scenario.Conditions, of []Aspect) (part scenario.Conditions) {
	for _, a := range of {
		switch a {
		case Delay:
			part.Delay = c.Delay
		case Jitter:
			part.Jitter = c.Jitter
		case Loss:
			part.Loss = c.Loss
		case Reorder:
			part.Reorder = c.Reorder
		case Rate:
			part.Rate = c.Rate
		}
	}
	return part
}

// Machine says which means work on this machine.
type Machine struct {
	Why map[Means]string // why a means does not work; one that is not a key does
}

// Use is a means of a plan, with its part of the conditions of a way.
type Use struct {
	Means Means
	Way   Way // its Conditions are those of this means alone
}

// Gives names the aspects that the means gives.
func (u Use) Gives() (all []string) {
	for _, a := range aspects(u.Way.Conditions) {
		all = append(all, string(a))
	}
	return all
}

// Plan says which means give the ways of a path their conditions.
type Plan struct {
	Uses []Use
	Not  []string // why better means are not used, a sentence each
}

// Plan chooses the means for the ways. An error says which means could do what is asked, and what each
// lacks here.
func (m Machine) Plan(ways []Way) (Plan, error) {
	var p Plan
	for _, w := range ways {
		if w.Leaves && w.Conditions.Reorder > 0 {
			return Plan{}, fmt.Errorf("packets to a broker on another machine cannot be reordered from here: write direction: from-brokers, or let sixnines start the broker")
		}
		left := aspects(w.Conditions)
		for _, means := range All() {
			part := common(left, means.Can)
			if means.Means == NFQueue || means.Means == Relay || means.Means == Netem && slices.Contains(left, Jitter) {
				part = together(part, left, means)
			}
			if len(part) == 0 {
				continue
			}
			if why := m.lacks(means, w); why != "" {
				p.not(fmt.Sprintf("%s: %s", means.Means, why))
				continue
			}
			own := w
			own.Conditions = only(w.Conditions, part)
			p.Uses = append(p.Uses, Use{means.Means, own})
			left = without(left, part)
		}
		if lossy := common(left, []Aspect{Loss, Reorder}); len(lossy) > 0 {
			p.not(fmt.Sprintf("%s, which needs no privileges: TCP hides packets from it, so it can neither lose nor reorder them", Relay))
		}
		if len(left) > 0 {
			return Plan{}, fmt.Errorf("no mechanism of this machine can do that: %s", strings.Join(p.Not, "; "))
		}
	}
	return p, nil
}

// together keeps delay, jitter and reordering in one means: a packet's delay is drawn once, and it overtakes
// others by not having it.
func together(part, left []Aspect, means Properties) []Aspect {
	for _, a := range []Aspect{Delay, Jitter, Reorder} {
		if slices.Contains(left, a) && !slices.Contains(means.Can, a) {
			return without(part, []Aspect{Delay, Jitter, Reorder})
		}
	}
	return part
}

// lacks says why a means cannot be used for a way; "": it can.
func (m Machine) lacks(means Properties, w Way) string {
	if why, not := m.Why[means.Means]; not {
		return why
	}
	if means.Means == Relay && w.Unrelayed != "" {
		return w.Unrelayed
	}
	if means.Device && (w.Out.Name == "" || w.In.Name == "") {
		return "it needs a network device that sixnines creates: a managed broker in a namespace has one, loopback and other machines do not"
	}
	return ""
}

// not adds a sentence once.
func (p *Plan) not(why string) {
	if !slices.Contains(p.Not, why) {
		p.Not = append(p.Not, why)
	}
}

// Has reports whether the plan uses a means.
func (p Plan) Has(m Means) bool {
	return slices.ContainsFunc(p.Uses, func(u Use) bool { return u.Means == m })
}

// by returns the numbers of the uses of a means.
func (p Plan) by(m Means) (all []int) {
	for i, u := range p.Uses {
		if u.Means == m {
			all = append(all, i)
		}
	}
	return all
}

// String says the plan in a line: the means of each way with their parts of the conditions.
func (p Plan) String() string {
	var parts []string
	for _, u := range p.Uses {
		parts = append(parts, fmt.Sprintf("%s: %s by %s", u.Way.Name, strings.Join(u.Gives(), ", "), u.Means))
	}
	return strings.Join(parts, "; ")
}

func common(a, b []Aspect) (both []Aspect) {
	for _, x := range a {
		if slices.Contains(b, x) {
			both = append(both, x)
		}
	}
	return both
}

func without(a, b []Aspect) []Aspect {
	return slices.DeleteFunc(slices.Clone(a), func(x Aspect) bool { return slices.Contains(b, x) })
}
