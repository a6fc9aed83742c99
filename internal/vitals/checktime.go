package vitals

import (
	"fmt"
	"strconv"
	"time"

	"sixnines/internal/spell"
)

func checkTimer(p probe) Check {
	found := fmt.Sprintf("wake-ups are late by p50 %s, p99 %s, max %s (%s)",
		spell.Duration(rank(p.late, 50)), spell.Duration(rank(p.late, 99)), spell.Duration(rank(p.late, 100)), spell.Plural(len(p.late), "wake-up"))
	if p.slackErr != nil {
		return note(found+"; "+p.slackErr.Error(), "on Linux, wake-ups are precise to tens of microseconds")
	}
	const advice = "find out what delays wake-ups: other load, power saving (see cpu sleep states), a busy hypervisor; or allow more spinning"
	switch {
	case rank(p.late, 99) > time.Millisecond || rank(p.late, 100) > 10*time.Millisecond:
		return warn(found, advice)
	case rank(p.late, 99) > 200*time.Microsecond:
		return note(found, advice)
	}
	return good(found)
}

func (m machine) checkClockSource() Check {
	s, err := m.word("sys/devices/system/clocksource/clocksource0/current_clocksource")
	const advice = "boot with clocksource=tsc if the processor's counter is stable: other clock sources take at least a system call for each reading"
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
	found := spell.Nanoseconds(ns) + " a reading"
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
	found := fmt.Sprintf("mapped to the system's clock within %s", spell.Duration(width))
	if width > 10*time.Microsecond {
		return warn(found, "start again without load: instants of different processes can be compared only to this precision")
	}
	return good(found)
}

func checkSlack(p probe) Check {
	const advice = "allow prctl(PR_SET_TIMERSLACK), which a system call filter seems to forbid: otherwise wake-ups are late by the slack"
	if p.slackErr != nil {
		return note("cannot be set: "+p.slackErr.Error(), advice)
	}
	found := "set to 1 ns for the pacing threads"
	if ns, err := strconv.ParseInt(p.slack, 10, 64); err == nil {
		found += fmt.Sprintf(", %s elsewhere", spell.Duration(ns))
	}
	return good(found)
}

func checkSuspend(p probe) Check {
	const advice = "prevent it while measuring (systemd-inhibit sixnines run …): a run in which the machine slept is INVALID"
	switch {
	case p.asleepErr != nil:
		return unknown(p.asleepErr, advice)
	case p.asleep > time.Second:
		return note(fmt.Sprintf("the machine has been asleep for %s since it was started", spell.Period(p.asleep.Round(time.Second))), advice)
	}
	return good("the machine has not been asleep since it was started")
}

func checkSync(p probe) Check {
	const advice = "needed only for one-way latency across hosts: run chrony or another time service"
	tracked := ""
	if p.chronyErr == nil {
		tracked = "; chrony: " + p.chrony.String()
	}
	s, err := p.sync, p.syncErr
	switch {
	case err != nil && p.chronyErr == nil:
		return note(Unknown+": "+reason(err)+tracked, advice)
	case err != nil:
		return unknown(err, advice)
	case !s.synchronised && p.chronyErr == nil && p.chrony.synchronised():
		return note("no time service has reported to the kernel that the clock is synchronised"+tracked, "chrony lacks permission to set the clock: grant it, or make sure that the host sets the clock")
	case !s.synchronised:
		return note("no time service synchronises the clock"+tracked, advice)
	case s.maxError > syncLimit:
		return note(fmt.Sprintf("synchronised, error at most %s%s", spell.Duration(s.maxError), tracked), "use a nearer time server: one-way latency across hosts is known only to this precision")
	}
	return good(fmt.Sprintf("synchronised, error at most %s%s", spell.Duration(s.maxError), tracked))
}

// syncLimit is the clock error above which Checkup advises: one-way latencies
// within a data centre are smaller.
const syncLimit = 10 * time.Millisecond
