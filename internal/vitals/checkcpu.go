package vitals

import (
	"fmt"
	"strconv"
	"strings"
)

func (m machine) checkCores(n int) Check {
	if q, err := readQuota(m.root); err == nil {
		n = q.processors(n)
	}
	found := fmt.Sprintf("%d usable", n)
	switch {
	case n < 2:
		return fail(found, "use a machine with at least 4 cores: generator and broker take turns on a single core")
	case n < 4:
		return warn(found, "the broker and the generator will share cores: use 4 or more, or put the broker on a host of its own")
	}
	return good(found)
}

func (m machine) checkQuota(cores int) Check {
	const advice = "run outside the container, or raise the CPU limit: a quota stops the whole process for tens of milliseconds"
	q, err := readQuota(m.root)
	switch {
	case err != nil:
		return unknown(err, "see whether a CPU limit applies to this process")
	case q.limited && q.cores < float64(cores):
		return warn(fmt.Sprintf("%.3g cores, %s", q.cores, q.note("set at "+q.at)), advice)
	case q.limited:
		return note(fmt.Sprintf("%.3g cores, no less than the %d usable, %s", q.cores, cores, q.note("set at "+q.at)), advice)
	case q.hidden:
		return note("none found, "+q.note(""), "ask the container's host whether it limits the CPU")
	}
	return good("none, " + q.note(""))
}

func (m machine) checkGovernor() Check {
	g, err := m.governor()
	switch {
	case err != nil:
		return unknown(err, "in a virtual machine ask its host for the performance governor; else nothing can be set")
	case g == "performance":
		return good(g)
	}
	return warn(g, "cpupower frequency-set -g performance: a core that has to raise its frequency first is slow at the beginning")
}

func (m machine) checkTurbo() Check {
	t, err := m.turbo()
	switch {
	case err != nil:
		return unknown(err, "nothing can be set here; repeat runs to see whether the speed varies")
	case t == "off":
		return good(t)
	}
	return note(t, "for figures to compare across runs switch it off: with it the speed depends on load and temperature")
}

func checkSteal(p probe) Check {
	const advice = "use a machine with cores of its own: a run with more than 0.5 % steal is SUSPECT"
	total := p.cpu.total()
	switch {
	case p.cpuErr != nil:
		return unknown(p.cpuErr, advice)
	case total == 0:
		return note("no tick passed while measuring", advice)
	}
	share := 100 * float64(p.cpu.steal) / float64(total)
	found := fmt.Sprintf("%.1f %% (%d of %d ticks)", share, p.cpu.steal, total)
	switch {
	case share > 5:
		return fail(found, advice)
	case share > 0.5:
		return warn(found, advice)
	}
	return good(found)
}

func (m machine) checkLoad(cores int) Check {
	const advice = "stop what else is running: see top; the average falls within a minute"
	text, err := m.word("proc/loadavg")
	if err != nil {
		return unknown(err, advice)
	}
	first, _, _ := strings.Cut(text, " ")
	load, err := strconv.ParseFloat(first, 64)
	if err != nil {
		return unknown(fmt.Errorf("/proc/loadavg: %q is not a number", first), advice)
	}
	found := fmt.Sprintf("%.2f over the last minute on %d cores", load, cores)
	switch share := load / float64(cores); {
	case share > 0.5:
		return warn(found, advice)
	case share > 0.1:
		return note(found, advice)
	}
	return good(found)
}

func checkRealtime() Check {
	const advice = "to give pacing threads priority over other programs: ulimit -r 50 (limits.conf: rtprio), or CAP_SYS_NICE"
	prio, err := realtimeLimit()
	switch {
	case err != nil:
		return unknown(err, advice)
	case prio == 0:
		return note("not allowed", advice)
	}
	return good(fmt.Sprintf("allowed up to %d", prio))
}

func checkSleepStates() Check {
	if err := latencyControl(); err != nil {
		return note("cannot be held off: "+err.Error(), "run as root, or boot with processor.max_cstate=1: waking a sleeping core takes up to some hundred microseconds")
	}
	return good("can be held off (/dev/cpu_dma_latency)")
}

func (m machine) checkSMT() Check {
	const advice = "for figures that do not depend on the other thread of a core: echo off > /sys/devices/system/cpu/smt/control, or pin generator and broker to cores of their own"
	active, err := m.word("sys/devices/system/cpu/smt/active")
	control, controlErr := m.word("sys/devices/system/cpu/smt/control")
	hypervisor, _ := m.hypervisor()
	switch {
	case err != nil:
		return unknown(err, advice)
	case active == "1":
		return note("two threads share each core", advice)
	case hypervisor != "none" && hypervisor != "":
		// A virtual machine may not show what the host has.
		return note("off, as far as a virtual machine can see", "ask who runs the host whether two of its processors may be one core")
	case controlErr == nil:
		return good(control)
	}
	return good("off")
}

func (m machine) checkIsolated() Check {
	const advice = "to keep other programs off some processors, boot with isolcpus=… nohz_full=… and pin the generator there"
	v, err := m.word("sys/devices/system/cpu/isolated")
	switch {
	case err != nil:
		return unknown(err, advice)
	case v == "":
		return note("none", advice)
	}
	allowed, err := m.field("proc/self/status", "Cpus_allowed_list")
	if err != nil {
		return note(v, "isolated processors are used by programs that are pinned to them alone: taskset -c "+v)
	}
	return note(fmt.Sprintf("%s; this process may use %s", v, allowed),
		"isolated processors are used by programs that are pinned to them alone: taskset -c "+v)
}

func (m machine) checkMitigations() Check {
	const advice = "they make system calls slower: compare only machines with the same mitigations; never switch them off where others' code runs"
	on, open, err := m.mitigations()
	switch {
	case err != nil:
		return unknown(err, advice)
	case on == "none" && open == "":
		return good("none needed")
	case open == "":
		return note("against "+on, advice)
	}
	return note(fmt.Sprintf("against %s; none against %s", on, open), advice)
}

func (m machine) checkVirtual() Check {
	const advice = "give it processors of its own, without overcommitment, otherwise others' load is in the figures; watch cpu steal, which some hypervisors do not report"
	v, err := m.hypervisor()
	switch {
	case err != nil:
		return unknown(err, advice)
	case v == "none":
		return good("no hypervisor found")
	}
	return note("a virtual machine: "+strings.TrimPrefix(v, "yes, "), advice)
}

func (m machine) checkContainer() Check {
	const advice = "limits, other containers and settings of the host apply and cannot be seen: measure on the host if you can"
	v, sign := m.container()
	switch v {
	case Unknown:
		return note(Unknown+": "+sign, advice)
	case "none":
		return good("no sign of one")
	}
	return note(fmt.Sprintf("%s (%s)", v, sign), advice)
}
