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
		return warn(found, "the broker and the generator will share cores: use 4 or more, or run the broker on another host")
	}
	return good(found)
}

func (m machine) checkQuota(cores int) Check {
	const advice = "run outside the container, or raise the CPU limit: a quota stops the whole process for tens of milliseconds"
	q, err := readQuota(m.root)
	switch {
	case err != nil:
		return unknown(err, "check yourself whether a CPU limit applies to this process")
	case q.limited && q.cores < float64(cores):
		return warn(fmt.Sprintf("%.3g cores, %s", q.cores, q.note("set at "+q.at)), advice)
	case q.limited:
		return note(fmt.Sprintf("%.3g cores, at least the %d usable, %s", q.cores, cores, q.note("set at "+q.at)), advice)
	case q.hidden:
		return note("none found, "+q.note(""), "check on the container's host whether the CPU is limited")
	}
	return good("none, " + q.note(""))
}

func (m machine) checkGovernor() Check {
	g, err := m.governor()
	switch {
	case err != nil:
		return unknown(err, "in a virtual machine, have the performance governor set on the host; otherwise nothing can be set")
	case g == "performance":
		return good(g)
	}
	return warn(g, "cpupower frequency-set -g performance: a core that first has to raise its frequency is slow at the beginning")
}

func (m machine) checkTurbo() Check {
	t, err := m.turbo()
	switch {
	case err != nil:
		return unknown(err, "nothing can be set here; repeat runs to see whether the speed varies")
	case t == "off":
		return good(t)
	}
	return note(t, "switch it off to compare figures across runs: with it the speed depends on load and temperature")
}

func checkSteal(p probe) Check {
	const advice = "use a machine with dedicated cores: a run with more than 0.5 % steal is SUSPECT"
	total := p.cpu.total()
	switch {
	case p.cpuErr != nil:
		return unknown(p.cpuErr, advice)
	case total == 0:
		return note("no clock tick passed during the measurement", advice)
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
	const advice = "stop other programs (see top); the average falls within a minute"
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
	const advice = "to give pacing threads priority over other programs, set ulimit -r 50 (limits.conf: rtprio) or grant CAP_SYS_NICE"
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
		return note("cannot be prevented: "+err.Error(), "run as root, or boot with processor.max_cstate=1: waking a sleeping core takes up to several hundred microseconds")
	}
	return good("can be prevented (/dev/cpu_dma_latency)")
}

func (m machine) checkSMT() Check {
	const advice = "to make figures independent of the other thread of a core: echo off > /sys/devices/system/cpu/smt/control, or pin generator and broker to separate cores"
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
		return note("off, as far as a virtual machine can see", "ask the operator of the host whether two of its processors may be one core")
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
		return note(v, "only programs that are pinned to isolated processors use them: taskset -c "+v)
	}
	return note(fmt.Sprintf("%s; this process may use %s", v, allowed),
		"only programs that are pinned to isolated processors use them: taskset -c "+v)
}

func (m machine) checkMitigations() Check {
	const advice = "they slow down system calls: compare only machines with the same mitigations; never switch them off where other people's code runs"
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
	const advice = "give it dedicated processors without overcommitment, otherwise the load of other machines affects the figures; watch cpu steal, which some hypervisors do not report"
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
	const advice = "limits, other containers and settings of the host apply but cannot be seen: measure on the host if you can"
	v, sign := m.container()
	switch v {
	case Unknown:
		return note(Unknown+": "+sign, advice)
	case "none":
		return good("no sign of one")
	}
	return note(fmt.Sprintf("%s (%s)", v, sign), advice)
}
