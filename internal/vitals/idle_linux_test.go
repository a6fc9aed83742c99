package vitals

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sixnines/internal/clock"
	"sixnines/result"
)

// idle is the command line of the test binary as an idle process.
func idle(t testing.TB) []string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{exe, idleArgument}
}

// heard waits for a record of the idle process.
func heard(t testing.TB, m *Monitor) {
	t.Helper()
	for end := clock.Now() + int64(time.Minute); m.idleSilent(); time.Sleep(time.Millisecond) {
		if clock.Now() > end {
			t.Fatal("nothing is heard of the idle process")
		}
	}
	if missed(m, result.VitalHiccupIdleP99, "") {
		t.Fatalf("missing: %q", m.Missing())
	}
}

// The machine is "paused" for the idle process alone.
func TestIdleTellsOfItsGaps(t *testing.T) {
	m := start(t, Options{Idle: idle(t)})
	heard(t, m)
	pid := m.idle.PID()
	if err := unix.Kill(pid, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	awaitState(t, pid, 'T')
	from := clock.Now()
	time.Sleep(200 * time.Millisecond) // the thing measured
	to := clock.Now()
	if err := unix.Kill(pid, unix.SIGCONT); err != nil {
		t.Fatal(err)
	}
	var gap Pause
	var most float64
	await(t, func() bool {
		for _, p := range m.NewPauses() {
			if p.Source == result.PauseIdle && float64(overlap(p, Pause{Start: from, End: to})) > 0.9*float64(to-from) {
				gap = p
			}
		}
		v, _ := m.Sample().Lookup(result.VitalHiccupIdleMax)
		most = max(most, v.Value)
		return gap != Pause{} && most > 0.9*float64(to-from) // a pause may be of several gaps that touch
	})
	if ratio := float64(gap.Length()) / float64(to-from); ratio > 1.25 {
		t.Errorf("a gap of %v, stopped for %v", gap.Length(), time.Duration(to-from))
	}
}

func TestIdleThatDiesIsMissing(t *testing.T) {
	m := start(t, Options{Idle: idle(t)})
	heard(t, m)
	if err := unix.Kill(m.idle.PID(), unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	await(t, func() bool { return missed(m, result.VitalHiccupIdleP99, "it ended unexpectedly") })
	if !missed(m, "pause.idle", "it ended unexpectedly") {
		t.Errorf("missing: %q", m.Missing())
	}
	if len(m.Sample().Values) == 0 {
		t.Error("the others do not go on")
	}
}

func missed(m *Monitor, name result.Vital, why string) bool {
	found, ok := m.Missing()[string(name)]
	return ok && strings.Contains(found, why)
}

func TestIdleThatCannotBeStartedIsMissing(t *testing.T) {
	for _, c := range []struct {
		command []string
		why     string
	}{
		{nil, "not asked for"},
		{[]string{"/nowhere/sixnines"}, "/nowhere/sixnines"},
		{[]string{"/bin/sh", "-c", "echo no such command >&2; exit 2"}, "no such command"},
		{[]string{"/bin/sh", "-c", "exec printf 'this is not a record of two instants'"}, "came at"},
	} {
		m := start(t, Options{Idle: c.command})
		await(t, func() bool { return missed(m, result.VitalHiccupIdleMax, c.why) })
		m.Stop()
	}
}

// Stop is not reported as a failure, and leaves no process behind.
func TestStopEndsTheIdleProcess(t *testing.T) {
	m := start(t, Options{Idle: idle(t)})
	heard(t, m)
	pid := m.idle.PID()
	m.Stop()
	if err := unix.Kill(pid, 0); err != unix.ESRCH {
		t.Errorf("process %d: %v", pid, err)
	}
	if missed(m, result.VitalHiccupIdleP99, "") {
		t.Errorf("missing: %q", m.Missing())
	}
}

// The idle process ends with its parent, also if that is killed.
func TestIdleEndsWithItsParent(t *testing.T) {
	s := watchOneself(t, nil)
	children := func() []byte {
		text, err := exec.Command("ps", "-o", "pid=", "--ppid", fmt.Sprint(s.cmd.Process.Pid)).Output()
		if err != nil {
			missing(t, fmt.Errorf("ps: %w", err))
		}
		return text
	}
	var pid int
	if _, err := fmt.Sscan(string(children()), &pid); err != nil {
		t.Fatalf("the child has no idle process: %v", err)
	}
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	await(t, func() bool {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return err != nil || strings.Contains(string(text), ") Z ")
	})
}

func TestServeIdleWantsPipes(t *testing.T) {
	if err := ServeIdle(strings.NewReader(""), os.Stdout, idleArguments(1_000_000, 5_000_000)); err == nil || !strings.Contains(err.Error(), "pipes") {
		t.Errorf("%v", err)
	}
	if err := ServeIdle(os.Stdin, os.Stdout, nil); err == nil || !strings.Contains(err.Error(), "monitor") {
		t.Errorf("%v", err)
	}
}
