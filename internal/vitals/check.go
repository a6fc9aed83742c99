package vitals

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"time"

	"sixnines/internal/clock"
)

// Statuses of a [Check].
const (
	StatusOK   = "ok"   // as it should be
	StatusNote = "note" // good to know, or not to be found out
	StatusWarn = "warn" // will show in the figures
	StatusFail = "fail" // figures from here would not be worth much
)

// Check is one finding of [Checkup].
type Check struct {
	Name   string `json:"name"`
	Status string `json:"status"` // one of the Status constants
	Found  string `json:"found"`  // what is the case, with its figures
	Advice string `json:"advice"` // one line: what to do about it; empty if ok
}

// Checkup examines whether this machine is fit to measure on. It takes a third
// of a second, in which it measures how late wake-ups are, what the hypervisor
// steals and what a clock reading costs; it should run without load. What
// cannot be found out is a note that says why.
func Checkup() []Check {
	root := hostRoot()
	return machine{root}.checks(measure(root, 300, time.Millisecond), runtime.NumCPU())
}

// good, note, warn and fail make findings.
func good(found string) Check         { return Check{Status: StatusOK, Found: found} }
func note(found, advice string) Check { return Check{Status: StatusNote, Found: found, Advice: advice} }
func warn(found, advice string) Check { return Check{Status: StatusWarn, Found: found, Advice: advice} }
func fail(found, advice string) Check { return Check{Status: StatusFail, Found: found, Advice: advice} }

// unknown is the finding that there is none.
func unknown(err error, advice string) Check {
	return note(Unknown+": "+reason(err), advice)
}

func (m machine) checks(p probe, cores int) []Check {
	list := []struct {
		name  string
		check Check
	}{
		{"cores", checkCores(cores)},
		{"cpu quota", m.checkQuota(cores)},
		{"cpu governor", m.checkGovernor()},
		{"turbo", m.checkTurbo()},
		{"cpu steal", checkSteal(p)},
		{"load", m.checkLoad(cores)},
		{"timer accuracy", checkTimer(p)},
		{"clock source", m.checkClockSource()},
		{"clock read", checkClockRead(p.clockRead)},
		{"clock mapping", checkBracket(clock.Bracket())},
		{"time synchronisation", checkSync()},
		{"real-time priority", checkRealtime()},
		{"cpu sleep states", checkSleepStates()},
		{"memory", m.checkMemory()},
		{"swap", m.checkSwap()},
		{"transparent huge pages", m.checkHugePages()},
		{"open files", checkOpenFiles()},
		{"loopback", m.checkLoopback()},
		{"tcp after idle", m.checkSlowStart()},
	}
	checks := make([]Check, len(list))
	for i, l := range list {
		checks[i] = l.check
		checks[i].Name = l.name
	}
	return checks
}

func checkCores(n int) Check {
	found := fmt.Sprintf("%d usable", n)
	switch {
	case n < 2:
		return fail(found, "use a machine with at least 4 cores: generator and broker take turns on a single one")
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
		return note("none in sight, "+q.note(""), "ask the container's host whether it limits the CPU")
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
	return warn(g, "cpupower frequency-set -g performance: a core that has to speed up first answers late")
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
	const advice = "use a machine with cores of its own: runs with more than 0.5 % steal are not valid"
	total := p.cpu.total()
	switch {
	case p.cpuErr != nil:
		return unknown(p.cpuErr, advice)
	case total == 0:
		return note("not one tick passed while measuring", advice)
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

func checkTimer(p probe) Check {
	found := fmt.Sprintf("wake-ups late by p50 %v, p99 %v, max %v (n %d)",
		round(rank(p.late, 50)), round(rank(p.late, 99)), round(rank(p.late, 100)), len(p.late))
	if p.slackErr != nil {
		return note(found+"; "+p.slackErr.Error(), "on Linux wake-ups can be had to within tens of microseconds")
	}
	const advice = "find what takes the cores: other load, power saving (see cpu sleep states), a busy hypervisor; or allow more spinning"
	switch {
	case rank(p.late, 99) > time.Millisecond || rank(p.late, 100) > 10*time.Millisecond:
		return warn(found, advice)
	case rank(p.late, 99) > 200*time.Microsecond:
		return note(found, advice)
	}
	return good(found)
}

// round keeps a duration readable.
func round(d time.Duration) time.Duration { return d.Round(100 * time.Nanosecond) }

func (m machine) checkClockSource() Check {
	s, err := m.word("sys/devices/system/clocksource/clocksource0/current_clocksource")
	const advice = "boot with clocksource=tsc if the processor's counter is stable: others cost a system call or more a reading"
	switch {
	case err != nil:
		return unknown(err, advice)
	case s == "tsc" || s == "arch_sys_counter":
		return good(s)
	case s == "kvm-clock" || s == "hyperv_clocksource_tsc_page":
		return note(s, advice)
	}
	return warn(s, advice)
}

func checkClockRead(ns float64) Check {
	found := fmt.Sprintf("%.0f ns a reading", ns)
	const advice = "see clock source: every message takes several readings"
	switch {
	case ns > 200:
		return warn(found, advice)
	case ns > 80:
		return note(found, advice)
	}
	return good(found)
}

func checkBracket(width time.Duration) Check {
	found := fmt.Sprintf("mapped to the system's clock within %v", width)
	if width > 10*time.Microsecond {
		return warn(found, "start again without load: instants of several processes are comparable to within this only")
	}
	return good(found)
}

func checkSync() Check {
	const advice = "needed for one-way latency across hosts only: run chrony or another time service"
	s, err := clockSync()
	switch {
	case err != nil:
		return unknown(err, advice)
	case !s.synchronised:
		return note("the kernel knows of no time service", advice)
	}
	return good(fmt.Sprintf("synchronised, error at most %v", s.maxError))
}

func checkRealtime() Check {
	const advice = "to let pacers go before other programs: ulimit -r 50 (limits.conf: rtprio), or CAP_SYS_NICE"
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
		return note("cannot be held off: "+err.Error(), "run as root, or boot with processor.max_cstate=1: waking a sleeping core takes up to hundreds of microseconds")
	}
	return good("can be held off (/dev/cpu_dma_latency)")
}

func (m machine) checkMemory() Check {
	const advice = "free some: the collector and the page cache both slow down when memory is short"
	total, err := m.kibibytes("MemTotal")
	if err != nil {
		return unknown(err, advice)
	}
	free, err := m.kibibytes("MemAvailable")
	if err != nil {
		return unknown(err, advice)
	}
	found := fmt.Sprintf("%d of %d MiB available", free>>10, total>>10)
	switch {
	case free < 256<<10:
		return fail(found, advice)
	case free < 1<<20 || free < total/10:
		return warn(found, advice)
	}
	return good(found)
}

func (m machine) checkSwap() Check {
	const advice = "swapoff -a while measuring: a page that has to come back from disk takes milliseconds"
	total, err := m.kibibytes("SwapTotal")
	if err != nil {
		return unknown(err, advice)
	}
	free, err := m.kibibytes("SwapFree")
	if err != nil {
		return unknown(err, advice)
	}
	switch used := since(total, free); {
	case total == 0:
		return good("none")
	case used > 0:
		return warn(fmt.Sprintf("%d of %d MiB in use", used>>10, total>>10), advice)
	}
	return good(fmt.Sprintf("%d MiB, unused", total>>10))
}

// kibibytes reads a field of /proc/meminfo.
func (m machine) kibibytes(key string) (uint64, error) {
	v, err := m.field("proc/meminfo", key)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(strings.TrimSuffix(v, " kB"), 10, 50)
	if err != nil {
		return 0, fmt.Errorf("/proc/meminfo: %s %q is not a size", key, v)
	}
	return n, nil
}

func (m machine) checkHugePages() Check {
	const advice = "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled: making huge pages stalls whoever touches them"
	v, err := m.word("sys/kernel/mm/transparent_hugepage/enabled")
	switch {
	case err != nil:
		return unknown(err, advice)
	case chosen(v) == "always":
		return note("always", advice)
	}
	return good(chosen(v))
}

func checkOpenFiles() Check {
	const advice = "ulimit -n 65536 (limits.conf: nofile): every connection takes one here and one in the broker"
	soft, _, err := nofileLimit()
	switch {
	case err != nil:
		return unknown(err, advice)
	case soft < 256:
		return fail(fmt.Sprintf("at most %d", soft), advice)
	case soft < 4096:
		return warn(fmt.Sprintf("at most %d", soft), advice)
	}
	return good(fmt.Sprintf("at most %d", soft))
}

func (m machine) checkLoopback() Check {
	const advice = "ip link set lo up mtu 65536: brokers on this machine are reached through it"
	flags, err := m.word("sys/class/net/lo/flags")
	if err != nil {
		return unknown(err, advice)
	}
	bits, err := strconv.ParseUint(flags, 0, 32)
	if err != nil {
		return unknown(fmt.Errorf("/sys/class/net/lo/flags: %q is not a number", flags), advice)
	}
	if bits&1 == 0 { // IFF_UP
		return fail("down", advice)
	}
	mtu, err := m.word("sys/class/net/lo/mtu")
	if err != nil {
		return unknown(err, advice)
	}
	if n, err := strconv.Atoi(mtu); err != nil || n < 16384 {
		return note("up, mtu "+mtu, advice)
	}
	return good("up, mtu " + mtu)
}

func (m machine) checkSlowStart() Check {
	const advice = "sysctl -w net.ipv4.tcp_slow_start_after_idle=0 on both sides: large messages after a pause go out in several rounds otherwise"
	v, err := m.word("proc/sys/net/ipv4/tcp_slow_start_after_idle")
	switch {
	case err != nil:
		return unknown(err, advice)
	case v != "0":
		return note("slow start again", advice)
	}
	return good("keeps its window")
}
