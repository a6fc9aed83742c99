//go:build linux

package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"sixnines/internal/brokers/brokertest"
	"sixnines/internal/vitals/vitalstest"
	"sixnines/result"
)

// TestCulprits runs "sixnines run" with one thing wrong at a time: the cause that
// the result names is the one that was made. What is judged depends on how a
// loaded machine behaves, so each has three chances.
func TestCulprits(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: takes ten seconds")
	}
	for _, c := range []struct {
		cause  result.PauseSource
		inject func(t *testing.T) injection
	}{
		{result.PauseContention, hogProcessors},
		{result.PauseProcess, stopProcess},
		{result.PauseThrottled, limitQuota},
	} {
		t.Run(string(c.cause), func(t *testing.T) {
			injected := c.inject(t)
			vitalstest.Injected(t, func() string { return attributes(accompanied(t, injected), c.cause) })
		})
	}
}

// injection is something that goes wrong while a run measures.
type injection struct {
	// enclose, if not nil, changes how sixnines is started.
	enclose func(*exec.Cmd)
	// disturb goes on for as long as the disturbance is to last.
	disturb func(t *testing.T, sixnines *os.Process)
}

// accompanied makes a measurement that is disturbed, and returns its result.
func accompanied(t *testing.T, in injection) *result.Run {
	t.Helper()
	sixnines, err := exec.LookPath("sixnines") // this binary, see TestMain
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	dir := t.TempDir()
	cmd := exec.Command(sixnines, "run", "mem", "--rate", "1000/s", "--warmup", "300ms", "--duration", "3s", "--quiet", "--out", ".")
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &said, &said
	if in.enclose != nil {
		in.enclose(cmd)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := sync.OnceValue(cmd.Wait)
	defer func() {
		cmd.Process.Kill()
		ended()
	}()
	// The first interval is on disk: the window is a second old.
	file := awaitMeasuring(t, dir)
	in.disturb(t, cmd.Process)
	var exit *exec.ExitError
	if err := ended(); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != exitInvalid) {
		t.Fatalf("%v: %s", err, said.Bytes())
	}
	run, err := result.Load(file)
	if err != nil || run.Summary == nil {
		t.Fatalf("%v: %s", err, said.Bytes())
	}
	return run
}

// awaitMeasuring waits until the only result in dir has an interval of the
// window, and returns the file.
func awaitMeasuring(t *testing.T, dir string) string {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		found, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range found {
			if text, err := os.ReadFile(file); err == nil && strings.Contains(string(text), fmt.Sprintf("%q:%q", "phase", result.PhaseMeasure)) {
				return file
			}
		}
	}
	t.Fatal("no interval of a window was written")
	return ""
}

// attributes returns what is wrong if the first cause that is named for the slowest
// deliveries is not the one that is wanted.
func attributes(run *result.Run, cause result.PauseSource) (complaint string) {
	for _, a := range run.Summary.Attribution {
		if a.Metric != result.DeliveryResponse {
			continue
		}
		var all strings.Builder
		for _, c := range a.Causes {
			fmt.Fprintf(&all, "\n\t%v %s", c.Named, c.Text)
		}
		for _, c := range a.Causes {
			switch {
			case !c.Named:
				continue
			case c.Source == string(cause):
				return ""
			}
			return fmt.Sprintf("%s is named, not %s:%s", c.Source, cause, &all)
		}
		return fmt.Sprintf("no cause is named, %s was there:%s", cause, &all)
	}
	return "nothing is said of the slowest deliveries"
}

// disturbance is how long something goes wrong, in a window of three seconds of
// which one has passed.
const disturbance = 700 * time.Millisecond

// hogProcessors has other processes use all processors.
func hogProcessors(*testing.T) injection {
	return injection{disturb: func(t *testing.T, _ *os.Process) {
		for range runtime.NumCPU() + 2 {
			hog := exec.Command("sh", "-c", "while :; do :; done")
			hog.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
			if err := hog.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() {
				hog.Process.Kill()
				hog.Wait()
			}()
		}
		time.Sleep(disturbance)
	}}
}

// stopProcess stops sixnines.
func stopProcess(*testing.T) injection {
	return injection{disturb: func(t *testing.T, sixnines *os.Process) {
		if err := sixnines.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		time.Sleep(disturbance / 2)
		if err := sixnines.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
	}}
}

// limitQuota starts sixnines in a control group, and has its quota be small.
func limitQuota(t *testing.T) injection {
	g := makeQuotaGroup(t)
	limit := func(t *testing.T, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(g.dir, g.file), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return injection{
		enclose: func(cmd *exec.Cmd) {
			cmd.Args = append([]string{"sh", "-c", `echo $$ > "$0" && exec "$@"`, filepath.Join(g.dir, "cgroup.procs"), cmd.Path}, cmd.Args[1:]...)
			cmd.Path = "/bin/sh"
		},
		disturb: func(t *testing.T, _ *os.Process) {
			limit(t, g.tight)
			time.Sleep(disturbance)
			limit(t, g.unlimited)
		},
	}
}

// quotaGroup is a control group that may have a quota: what to write into which
// file. A tight one is a hundredth of a processor, less than any measurement
// needs.
type quotaGroup struct{ dir, file, tight, unlimited string }

// makeQuotaGroup makes one, removed after the test: version 1 or 2, wherever that
// can be done.
func makeQuotaGroup(t *testing.T) quotaGroup {
	t.Helper()
	for _, g := range []quotaGroup{
		{"/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "1000", "-1"},
		{"/sys/fs/cgroup/cpu,cpuacct", "cpu.cfs_quota_us", "1000", "-1"},
		{"/sys/fs/cgroup", "cpu.max", "1000 100000", "max 100000"},
	} {
		g.dir = filepath.Join(g.dir, fmt.Sprintf("sixnines-culprit-%d", os.Getpid()))
		if err := os.Mkdir(g.dir, 0o755); err != nil {
			continue
		}
		t.Cleanup(func() {
			for end := time.Now().Add(patience); os.Remove(g.dir) != nil; time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					t.Errorf("%s cannot be removed", g.dir)
					return
				}
			}
		})
		if _, err := os.Stat(filepath.Join(g.dir, g.file)); err == nil {
			return g
		}
	}
	why := errors.New("no control group can be made that limits the CPU")
	if os.Geteuid() == 0 {
		brokertest.Missing(t, why)
	}
	t.Skipf("SKIPPED: %v: not root", why)
	return quotaGroup{}
}
