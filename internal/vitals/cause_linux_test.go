package vitals

import (
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sixnines/internal/clock"
	"sixnines/internal/vitals/vitalstest"
	"sixnines/result"
)

// causeChild is the freezeVariable of a process that works a little, watches
// itself and prints its pauses when its standard input ends.
const causeChild = "cause"

func tellPauses() {
	exe, err := os.Executable()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	m := Start(Options{Period: 4 * time.Millisecond, Idle: []string{exe, idleArgument}})
	for m.idleSilent() { // or its start would be part of what is watched
		time.Sleep(time.Millisecond)
	}
	var work sync.WaitGroup
	done := make(chan struct{})
	// A generator's kind of load: a thread that wakes up, works and sleeps. It
	// takes two fifths of a processor.
	work.Go(func() {
		runtime.LockOSThread()
		for {
			select {
			case <-done:
				return
			default:
			}
			for until := clock.Now() + int64(2*time.Millisecond); clock.Now() < until; {
			}
			clock.SleepUntilBlocking(clock.Now() + int64(3*time.Millisecond))
		}
	})
	fmt.Println("ready")
	io.Copy(io.Discard, os.Stdin)
	close(done)
	work.Wait()
	m.Stop()
	for _, p := range m.NewPauses() {
		fmt.Println(p.Start, p.End, p.Source)
	}
	for _, why := range m.Missing() {
		fmt.Fprintln(os.Stderr, "child: missing", why)
	}
}

// idleSilent reports whether no record of the idle process came yet.
func (m *Monitor) idleSilent() bool {
	s := m.Sample()
	_, ok := s.Lookup(result.VitalHiccupIdleP99)
	m.missingMu.Lock()
	defer m.missingMu.Unlock()
	return !ok && m.missing[string(result.VitalHiccupIdleP99)] == ""
}

// suspect is a process that watches itself.
type suspect struct {
	cmd *exec.Cmd
	in  io.Closer
	out lineReader
}

// watchOneself starts one; in, if not nil, changes the command.
func watchOneself(t *testing.T, how func(*exec.Cmd)) *suspect {
	t.Helper()
	return startWatcher(t, causeChild, how)
}

// startWatcher starts the test binary as the value of freezeVariable has it, and
// returns when it watches itself.
func startWatcher(t *testing.T, as string, how func(*exec.Cmd)) *suspect {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), freezeVariable+"="+as)
	cmd.Stderr = os.Stderr
	if how != nil {
		how(cmd)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	s := &suspect{cmd, in, newLineReader(out)}
	s.out.expect(t, "ready\n")
	return s
}

// pauses ends the process and returns what it saw.
func (s *suspect) pauses(t *testing.T) []Pause {
	t.Helper()
	s.in.Close()
	text, err := io.ReadAll(s.out)
	if err != nil {
		t.Fatal(err)
	}
	var list []Pause
	for l := range strings.Lines(string(text)) {
		var p Pause
		if _, err := fmt.Sscan(l, &p.Start, &p.End, &p.Source); err != nil {
			t.Fatalf("the child said %q: %v", l, err)
		}
		list = append(list, p)
	}
	return list
}

// shares returns the share of [from, to) that the pauses of each source cover.
func shares(pauses []Pause, from, to int64) map[result.PauseSource]float64 {
	covered := map[result.PauseSource]float64{}
	for _, p := range pauses {
		covered[p.Source] = 0
	}
	for source := range covered {
		for _, p := range union(pauses, source) {
			covered[source] += float64(overlap(p, Pause{Start: from, End: to})) / float64(to-from)
		}
	}
	return covered
}

// causes are the sources that say why a process was paused, not only that it was.
func causes(covered map[result.PauseSource]float64) map[result.PauseSource]float64 {
	c := maps.Clone(covered)
	for _, source := range []result.PauseSource{result.PauseThread, result.PauseGoroutine, result.PauseProcess, result.PauseIdle} {
		delete(c, source)
	}
	return c
}

// dominates reports whether one cause covers more than half of the time, and more
// than any other: on a busy machine other causes are active, too.
func dominates(cause result.PauseSource, covered map[result.PauseSource]float64) bool {
	for other, share := range causes(covered) {
		if other != cause && share >= covered[cause] {
			return false
		}
	}
	return covered[cause] > 0.5
}

// hogs starts processes that take all processors, and kills them after the test
// or when this process ends.
func hogs(t *testing.T, n int) (kill func()) {
	t.Helper()
	var all []*exec.Cmd
	kill = sync.OnceFunc(func() {
		for _, c := range all {
			c.Process.Kill()
			c.Wait()
		}
	})
	t.Cleanup(kill)
	for range n {
		c := exec.Command("sh", "-c", "while :; do :; done")
		c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	return kill
}

// causeTime is how long a cause is active.
const causeTime = 1200 * time.Millisecond

func TestHogsAreTheCause(t *testing.T) {
	vitalstest.Injected(t, func() string {
		s := watchOneself(t, nil)
		kill := hogs(t, runtime.NumCPU()+2)
		from := clock.Now()
		time.Sleep(causeTime)
		to := clock.Now()
		kill()
		covered := shares(s.pauses(t), from, to)
		t.Logf("others had the processors: %v", covered)
		switch {
		case covered[result.PauseThrottled] > 0:
			return fmt.Sprintf("a quota is named: %v", covered)
		case !dominates(result.PauseContention, covered):
			return fmt.Sprintf("crowding does not dominate: %v", covered)
		}
		return ""
	})
}

func TestStopIsItsOwnCause(t *testing.T) {
	vitalstest.Injected(t, func() string {
		s := watchOneself(t, nil)
		if err := s.cmd.Process.Signal(unix.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		awaitState(t, s.cmd.Process.Pid, 'T')
		from := clock.Now()
		time.Sleep(causeTime / 2)
		to := clock.Now()
		if err := s.cmd.Process.Signal(unix.SIGCONT); err != nil {
			t.Fatal(err)
		}
		awaitOtherState(t, s.cmd.Process.Pid, 'T')
		covered := shares(s.pauses(t), from, to)
		t.Logf("the process was stopped: %v", covered)
		// No look was possible during the pause, so counters that grew before or after
		// may cover part of it. The test expects the pause itself, and no cause.
		switch {
		case covered[result.PauseProcess] < 0.9:
			return fmt.Sprintf("the process was stopped and does not know: %v", covered)
		case covered[result.PauseIdle] > 0.5: // some of it is, on a busy machine
			return fmt.Sprintf("the machine is said to have stood still: %v", covered)
		}
		return ""
	})
}

func TestQuotaIsTheCause(t *testing.T) {
	g := quotaGroup(t)
	vitalstest.Injected(t, func() string {
		s := watchOneself(t, g.enclose)
		g.limit(t, 6*time.Millisecond) // of 100: it needs 40
		from := clock.Now()
		time.Sleep(causeTime)
		to := clock.Now()
		g.limit(t, 0)
		covered := shares(s.pauses(t), from, to)
		t.Logf("the quota ran out: %v", covered)
		switch {
		case !dominates(result.PauseThrottled, covered):
			return fmt.Sprintf("throttling does not dominate: %v", covered)
		case covered[result.PauseIdle] > covered[result.PauseThrottled]/2: // some of it is, on a busy machine
			return fmt.Sprintf("the machine is said to have stood still: %v", covered)
		}
		return ""
	})
}

// cpuGroup is a control group of the test's own.
type cpuGroup struct {
	dir string
	v2  bool
}

// quotaGroup makes a control group that may have a quota, and removes it after the
// test. It ends the test if it has no permission to make one.
func quotaGroup(t *testing.T) cpuGroup {
	t.Helper()
	groups, err := findGroups(hostRoot(), self, controlCPU)
	if err != nil {
		missing(t, err)
	}
	for _, own := range groups {
		g := cpuGroup{dir: filepath.Join("/", own.dir, fmt.Sprintf("sixnines-test-%d", os.Getpid())), v2: own.v2}
		if err = os.Mkdir(g.dir, 0o755); err != nil {
			continue
		}
		t.Cleanup(func() { await(t, func() bool { return os.Remove(g.dir) == nil }) })
		if _, err = os.Stat(filepath.Join(g.dir, g.file())); err == nil {
			return g
		}
	}
	missing(t, fmt.Errorf("no control group can be made that limits the CPU: %w", err))
	return cpuGroup{}
}

// missing ends a test that this machine does not allow: by a failure where all tests
// must run, else by a skip. See internal/brokers/brokertest.
func missing(t *testing.T, why error) {
	t.Helper()
	if os.Getenv("SIXNINES_BROKERS_REQUIRED") != "" && os.Geteuid() == 0 {
		t.Fatalf("%v (SIXNINES_BROKERS_REQUIRED is set)", why)
	}
	t.Skipf("SKIPPED: %v", why)
}

func (g cpuGroup) file() string {
	if g.v2 {
		return "cpu.max"
	}
	return "cpu.cfs_quota_us"
}

// limit sets the CPU time that the group may use in each 100 ms; 0: no limit.
func (g cpuGroup) limit(t *testing.T, d time.Duration) {
	t.Helper()
	text := fmt.Sprint(d.Microseconds())
	switch {
	case g.v2 && d == 0:
		text = "max 100000"
	case g.v2:
		text += " 100000"
	case d == 0:
		text = "-1"
	}
	if err := os.WriteFile(filepath.Join(g.dir, g.file()), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// enclose makes the command begin in the group.
func (g cpuGroup) enclose(cmd *exec.Cmd) {
	cmd.Args = append([]string{"sh", "-c", `echo $$ > "$0" && exec "$@"`, filepath.Join(g.dir, "cgroup.procs")}, cmd.Args...)
	cmd.Path = "/bin/sh"
}
