package vitals

import (
	"runtime"
	"time"

	"sixnines/internal/clock"
)

// Statuses of a [Check].
const (
	StatusOK   = "ok"   // as it should be
	StatusNote = "note" // good to know, or not known
	StatusWarn = "warn" // will show in the figures
	StatusFail = "fail" // figures from here would be of little use
)

// Check is one finding of [Checkup].
type Check struct {
	Name   string `json:"name"`
	Status string `json:"status"` // ok, note, warn or fail
	Found  string `json:"found"`  // what was found, with its figures
	Advice string `json:"advice"` // one line: what to do about it; empty if ok
}

// Checkup examines whether this machine is fit for measuring. It takes a third of
// a second, in which it measures how late wake-ups are, how much time the
// hypervisor steals, which other processes use the processors and what a clock
// reading costs; it should run without load. A property that cannot be measured
// is a note that begins with [Unknown] and says why. It changes nothing. Sources:
// /proc, /sys, adjtimex(2), the ethtool requests of netdevice(7), and chronyc if
// installed.
func Checkup() []Check {
	root := hostRoot()
	return machine{root}.checks(measure(root, 300, time.Millisecond), runtime.NumCPU())
}

// good, note, warn and fail make findings.
func good(found string) Check         { return Check{Status: StatusOK, Found: found} }
func note(found, advice string) Check { return Check{Status: StatusNote, Found: found, Advice: advice} }
func warn(found, advice string) Check { return Check{Status: StatusWarn, Found: found, Advice: advice} }
func fail(found, advice string) Check { return Check{Status: StatusFail, Found: found, Advice: advice} }

// unknown is the finding that something is not known.
func unknown(err error, advice string) Check {
	return note(Unknown+": "+reason(err), advice)
}

func (m machine) checks(p probe, cores int) []Check {
	list := []struct {
		name  string
		check Check
	}{
		{"cores", m.checkCores(cores)},
		{"cpu quota", m.checkQuota(cores)},
		{"cpu governor", m.checkGovernor()},
		{"turbo", m.checkTurbo()},
		{"smt", m.checkSMT()},
		{"isolated processors", m.checkIsolated()},
		{"mitigations", m.checkMitigations()},
		{"virtualisation", m.checkVirtual()},
		{"container", m.checkContainer()},
		{"cpu steal", checkSteal(p)},
		{"load", m.checkLoad(cores)},
		{"other processes", m.checkOthers(p)},
		{"timer accuracy", checkTimer(p)},
		{"timer slack", checkSlack(p)},
		{"clock source", m.checkClockSource()},
		{"clock read", checkClockRead(p.clockRead)},
		{"clock mapping", checkBracket(clock.Bracket())},
		{"suspend", checkSuspend(p)},
		{"time synchronisation", checkSync(p)},
		{"real-time priority", checkRealtime()},
		{"cpu sleep states", checkSleepStates()},
		{"memory", m.checkMemory()},
		{"swap", m.checkSwap()},
		{"transparent huge pages", m.checkHugePages()},
		{"open files", checkOpenFiles()},
		{"loopback", m.checkLoopback()},
		{"loopback offloads", checkOffloads(p)},
		{"network card", m.checkCards(p)},
		{"tcp after idle", m.checkSlowStart()},
	}
	checks := make([]Check, len(list))
	for i, l := range list {
		checks[i] = l.check
		checks[i].Name = l.name
	}
	return checks
}
