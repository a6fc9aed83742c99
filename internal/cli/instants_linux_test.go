package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"sixnines/internal/disk"
	"sixnines/internal/network"
	"sixnines/internal/vitals/vitalstest"
	"sixnines/result"
)

// instantsPlan is a timeline with each kind of action of which the kernel's tracing knows the instant. It knows none of a
// pause: consumers compare the instant of each message with it.
func (c faultCell) instantsPlan() faultPlan {
	restartTime, last := c.restartTime(), c.nodes-1
	plan := faultPlan{
		{"stall: {node: 0}, for: 300ms", 1, time.Second},
		{"freeze: {node: all}, for: 300ms", c.nodes, time.Second},
	}
	if !c.fixed {
		plan = append(plan, faultStep{"disconnect: all", 0, time.Second})
	}
	if !c.diskless() && disk.Check() == nil {
		plan = append(plan, faultStep{"power: {node: 0}, restart: 300ms", 1, restartTime})
	}
	if os.Getenv(faultsVariable) == "all" {
		plan = append(plan, faultStep{"rolling: {restart: all, pause: 100ms}", c.nodes, time.Duration(c.nodes) * restartTime})
	}
	if strings.Contains(c.leads, "transfer") {
		plan = append(plan, faultStep{"transfer: leader", 2, 5 * time.Second})
	}
	plan = append(plan, faultPlan{
		{"exec: {do: 'true', undo: 'true'}, for: 300ms", 0, time.Second},
		{fmt.Sprintf("kill: {node: %d}, restart: 300ms", last), 1, restartTime},
		{"terminate: {node: 0}, restart: 300ms", 1, restartTime},
		{fmt.Sprintf("restart: {node: %d}", last), 1, restartTime},
		{"cut: {from: clients, to: all}, for: 400ms", c.nodes, 2500 * time.Millisecond},
		{"network: {delay: 2ms, loss: 2%, rate: 20mbit}, for: 400ms", 0, 1500 * time.Millisecond},
	}...)
	if !c.diskless() && disk.Check() == nil {
		plan = append(plan, faultStep{"disk: {full: true}, for: 300ms", c.nodes, time.Second})
	}
	if c.corrupt != "" { // last: nobody knows how a broker starts with damaged files
		plan = append(plan, faultStep{fmt.Sprintf("corrupt: {node: 0, file: %q, bits: 1}", c.corrupt), 1, 500 * time.Millisecond})
	}
	return plan
}

// nearby is how far the instant of an event may be from the kernel's.
const nearby = 5 * time.Millisecond

// TestInstants: what the kernel's tracing has of each action lies between the two instants that the event has for it,
// and nothing of the kind lies elsewhere. The event's instant is within 5 ms of the kernel's, in one of three runs at least for
// each sort of action: a busy machine delays the one or the other now and then. With nothing else to do it is a millisecond.
func TestInstants(t *testing.T) {
	if testing.Short() {
		t.Skip("takes its time")
	}
	for _, c := range faultCells() {
		if os.Getenv(faultsVariable) != "all" && c.String() != "nats on nats 3" {
			continue
		}
		t.Run(c.String(), func(t *testing.T) {
			c.installed(t)
			if why := faultsSkipped("paths"); why != "" {
				t.Skip("SKIPPED: " + why)
			}
			closest := map[string]time.Duration{}
			vitalstest.Injected(t, func() (complaint string) {
				c.instants(t, closest)
				for what, d := range closest {
					if d > nearby {
						complaint += fmt.Sprintf("%s: %s from the event's instant at the closest; ", what, d)
					}
				}
				if len(closest) == 0 {
					t.Error("no instant was compared")
				}
				return complaint
			})
		})
	}
}

// instants makes a run, and notes how close events are to what the kernel saw, by sort.
func (c faultCell) instants(t *testing.T, closest map[string]time.Duration) {
	t.Helper()
	kernel := traceKernel(t)
	plan := c.instantsPlan()
	actions, window := plan.actions()
	p := c.start(t, "rate: 200/s, size: 128B, timeout: 2s", actions, window)
	r := p.ended(t, c.corrupt != "" || !c.diskless())
	r.happened(t, c, plan)
	all := kernel.end(t)
	if t.Failed() {
		return
	}
	s := seen{t: t, run: r, all: all, family: familyOf(p.cmd.Process.Pid, all), over: r.Header.Clock.Start + int64(window), closest: closest}
	for k, step := range plan {
		s.compare(k+1, step)
	}
	s.nothingElse()
}

// seen is what the kernel has seen of a run.
type seen struct {
	t      *testing.T
	run    *faultRun
	all    []traced
	family family
	over   int64 // the window's end: later brokers are ended for good

	explained map[int]bool             // by index in all: an action's event has it
	closest   map[string]time.Duration // by what was compared: how far its event's instant was from the kernel's at least
}

// compare compares the events of an action with what the kernel saw meanwhile.
func (s *seen) compare(number int, step faultStep) {
	kind, _, _ := strings.Cut(step.text, ":")
	for _, e := range s.run.Events {
		if e.Action == nil || e.Action.Number != number {
			continue
		}
		begins := e.Kind == result.EventAction
		switch kind {
		case "stall", "freeze":
			s.signals(step, e, map[bool]string{true: "19", false: "18"}[begins])
		case "rolling":
			if begins {
				s.signals(step, e, "15")
			} else { // its instant is when the last node answers
				s.within(step, e, "a start of a process", 1, s.started, false)
			}
		case "kill", "terminate", "restart", "power":
			if begins {
				s.signals(step, e, map[bool]string{true: "9", false: "15"}[kind == "kill" || kind == "power"])
				s.within(step, e, "an end of a process", len(e.Action.Nodes), func(x traced) bool {
					return x.kind == "sched_process_exit" && x.of["group_dead"] == "true" && s.family.child(s.family.process(x.task))
				}, false)
			} else {
				s.within(step, e, "a start of a process", len(e.Action.Nodes), s.started, true)
			}
		case "disconnect":
			s.calls(step, e, "a connection that is shut", 1, func(x traced) bool {
				return x.kind == "inet_sock_set_state" && x.of["newstate"] == "TCP_FIN_WAIT1"
			})
		case "transfer":
			if begins { // it is over when another node is seen to lead
				s.calls(step, e, "a connection that is opened to ask", 1, func(x traced) bool {
					return x.kind == "inet_sock_set_state" && x.of["newstate"] == "TCP_SYN_SENT"
				})
			}
		case "exec":
			s.within(step, e, "a start of a process", 1, s.started, true)
		case "disk":
			if begins {
				s.calls(step, e, "space that is taken", 1, takesSpace)
			} else {
				s.calls(step, e, "a file that is removed", 1, func(x traced) bool { return x.kind == "sys_unlinkat" })
			}
		case "corrupt":
			s.calls(step, e, "a byte that is written", 1, writesByte)
		case "cut":
			s.cut(step, e)
		case "network":
			for _, m := range e.Action.Network.Means {
				if is, traced := s.changes()[network.Means(m.Means)]; traced {
					at := e
					at.At, at.Action = m.Asked, &result.Acted{Asked: m.Asked, Done: m.Done}
					s.within(step, at, m.Means+" "+m.Way, 1, is, true)
				}
			}
		}
	}
}

// calls checks that the process of the run did at least so much itself, and compares the first of it with the event's instant.
func (s *seen) calls(step faultStep, e result.Event, what string, least int, is func(traced) bool) {
	s.t.Helper()
	s.within(step, e, what, least, func(x traced) bool { return is(x) && s.own(x) }, true)
}

// own reports whether the process of the run did something itself.
func (s *seen) own(x traced) bool { return s.family.process(x.task) == s.family.root }

// takesSpace reports whether an event reserves space in a file, and writesByte whether it writes one byte into the middle of one.
func takesSpace(x traced) bool { return x.kind == "sys_fallocate" }
func writesByte(x traced) bool { return x.kind == "sys_pwrite64" }

// started reports whether an event is the start of a process that the run has started.
func (s *seen) started(x traced) bool {
	return x.kind == "sched_process_exec" && s.family.child(x.number("pid"))
}

// changes are what the kernel traces of means of networks.
func (s *seen) changes() map[network.Means]func(traced) bool {
	return map[network.Means]func(traced) bool{
		// It is taken out later, when no packet waits in it.
		network.TBF: func(x traced) bool {
			return (x.kind == "qdisc_create" && x.of["kind"] == "tbf" || x.kind == "sys_sendto" && x.long(100)) && s.family.process(x.task) == s.family.root
		},
		network.NFQueue: func(x traced) bool {
			return x.kind == "sys_sendto" && x.long(44) && s.family.process(x.task) != s.family.root && s.family.has(x.task)
		},
	}
}

// signals checks that a signal was sent to as many nodes as the event has.
func (s *seen) signals(step faultStep, e result.Event, signal string) {
	s.within(step, e, "signal "+signal, len(e.Action.Nodes), func(x traced) bool {
		return s.signal(x) && x.of["sig"] == signal
	}, true)
}

// signal reports whether an event is a signal of the run to a process that it has started.
func (s *seen) signal(x traced) bool {
	return x.kind == "signal_generate" && s.family.process(x.task) == s.family.root && s.family.child(x.number("pid"))
}

// within checks that between the event's instants the kernel saw what is asked for of at least so many different
// processes. The first of it is compared with the event's own instant, if it says when that began.
func (s *seen) within(step faultStep, e result.Event, what string, least int, is func(traced) bool, first bool) {
	s.t.Helper()
	asked, done := s.at(e.Action.Asked), s.at(e.Action.Done)
	found := map[string]bool{}
	for k, x := range s.all {
		if !x.within(asked, done) || !is(x) {
			continue
		}
		if len(found) == 0 && first {
			s.difference(step, e, what, x.at)
		}
		found[x.of["pid"]] = true
		s.explain(k)
	}
	if len(found) < least {
		s.t.Errorf("%s, %s: the kernel saw %s %d times between %d and %d, and not %d times", step.text, e.Kind, what, len(found), asked, done, least)
	}
}

func (s *seen) explain(k int) {
	if s.explained == nil {
		s.explained = map[int]bool{}
	}
	s.explained[k] = true
}

// at is an instant of the result by CLOCK_MONOTONIC.
func (s *seen) at(instant int64) int64 { return s.run.Header.Clock.Start + instant }

// difference writes how far an event's instant is from the kernel's.
func (s *seen) difference(step faultStep, e result.Event, what string, kernel int64) {
	d := time.Duration(kernel - s.at(e.At))
	kind, _, _ := strings.Cut(step.text, ":")
	sort := fmt.Sprintf("%s, %s, %s", kind, e.Kind, what)
	if before, is := s.closest[sort]; !is || d.Abs() < before {
		s.closest[sort] = d.Abs()
	}
	s.t.Logf("%-60s %-12s %-30s %10s after the event's instant, whose bounds are %s apart", step.text, e.Kind, what,
		d.Round(time.Microsecond), time.Duration(e.Action.Done-e.Action.Asked).Round(time.Microsecond))
}

// packets returns which of the packets to the nodes were dropped by rules, by their indices in all.
func (s *seen) packets() (dropped, passed []int) {
	device := fmt.Sprintf("s9-%d-", s.family.root)
	open := map[string]int{} // by address of the packet in the kernel
	for k, x := range s.all {
		skb := x.of["skbaddr"]
		at, is := open[skb]
		switch {
		case x.kind == "net_dev_start_xmit":
			if is {
				passed = append(passed, at)
			}
			delete(open, skb)
			if strings.HasPrefix(x.of["dev"], device) && x.of["protocol"] == "0x0800" {
				open[skb] = k
			}
		case x.kind == "kfree_skb" && x.of["reason"] == "NETFILTER_DROP" && is:
			dropped = append(dropped, at)
			delete(open, skb)
		}
	}
	for _, at := range open {
		passed = append(passed, at)
	}
	return dropped, passed
}

// cut checks that packets to the nodes are dropped from the beginning to the end of a cut, and no others. Which of them
// were under way when it began is decided by its bounds.
func (s *seen) cut(step faultStep, e result.Event) {
	dropped, passed := s.packets()
	if e.Kind == result.EventAction {
		from := s.at(e.Action.Asked)
		k := slices.IndexFunc(dropped, func(k int) bool { return s.all[k].at+999 >= from })
		if k < 0 {
			s.t.Errorf("%s: the kernel dropped no packet to the nodes", step.text)
			return
		}
		s.difference(step, e, "a packet that is dropped", s.all[dropped[k]].at)
		return
	}
	i := slices.IndexFunc(s.run.Events, func(b result.Event) bool {
		return b.Kind == result.EventAction && b.Action != nil && b.Action.Number == e.Action.Number
	})
	begun := s.run.Events[i].Action
	for _, k := range dropped {
		if !s.all[k].within(s.at(begun.Asked), s.at(e.Action.Done)) {
			s.t.Errorf("%s: a packet was dropped at %d, which is not between %d and %d", step.text, s.all[k].at, s.at(begun.Asked), s.at(e.Action.Done))
		}
	}
	first := int64(0)
	for _, k := range passed {
		at := s.all[k].at
		if at > s.at(begun.Done) && at+999 < s.at(e.Action.Asked) {
			s.t.Errorf("%s: a packet passed at %d, between %d and %d", step.text, at, s.at(begun.Done), s.at(e.Action.Asked))
		}
		if at+999 >= s.at(e.Action.Asked) && (first == 0 || at < first) {
			first = at
		}
	}
	if first == 0 {
		s.t.Errorf("%s: no packet passes again", step.text)
		return
	}
	counted := int64(0)
	for _, d := range e.Action.Dropped {
		if d.From == result.ClientsEnd {
			counted += d.Packets
		}
	}
	if int64(len(dropped)) != counted {
		s.t.Errorf("%s: the event has %d packets from the clients that were dropped, and the kernel %d", step.text, counted, len(dropped))
	}
}

// nothingElse checks that the kernel saw nothing in the window, of what actions do, that no action's event has.
func (s *seen) nothingElse() {
	changes := s.changes()
	for k, x := range s.all {
		if s.explained[k] || !x.within(s.at(0), s.over) {
			continue
		}
		stops := s.signal(x) && x.of["sig"] != "18" // one that is to end is continued first
		if stops || s.own(x) && (takesSpace(x) || writesByte(x)) || changes[network.TBF](x) || changes[network.NFQueue](x) {
			s.t.Errorf("no event has what the kernel saw at %d: %s %v", x.at, x.kind, x.of)
		}
	}
}
