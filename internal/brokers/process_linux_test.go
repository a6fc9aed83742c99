package brokers

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"sixnines/internal/thread/threadtest"
)

// children names a child of this process, if there is one.
func children() string {
	var status syscall.WaitStatus
	pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
	if errors.Is(err, syscall.ECHILD) {
		return ""
	}
	return fmt.Sprintf("process %d (wait4 says %v)", pid, err)
}

// waitGone waits until the process, which is no child of ours, has ended.
func waitGone(t *testing.T, pid int) {
	t.Helper()
	for limit := time.Now().Add(patience); time.Now().Before(limit); time.Sleep(time.Millisecond) {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return
		}
		// The process that inherited it may not wait for it: then it stays a zombie.
		if s, err := parseStat(text); err == nil && (s.state == 'Z' || s.state == 'X') {
			return
		}
	}
	t.Fatalf("process %d still lives", pid)
}

func TestKilledParentTakesFrozenBrokerAlong(t *testing.T) {
	cmd, pid, address := startParent(t, "parent of a frozen one")
	if atRest, err := stopped(pid); err != nil || !atRest {
		t.Fatalf("the broker is not frozen: %v", err)
	}
	killed(t, cmd, pid, address)
}

func TestFreezeAndThaw(t *testing.T) {
	c := deployed(t, Options{})
	i := c.Nodes()[0]
	echo(t, c, 32)
	for range 2 {
		if err := i.Freeze(); err != nil {
			t.Fatal(err)
		}
		if atRest, err := stopped(i.PID); err != nil || !atRest {
			t.Fatalf("frozen, but threads are running: %v", err)
		}
	}
	if _, err := i.Usage(); err != nil {
		t.Errorf("usage of a frozen one: %v", err)
	}
	for range 2 {
		if err := i.Thaw(); err != nil {
			t.Fatal(err)
		}
	}
	echo(t, c, 32)
}

func TestStopFrozen(t *testing.T) {
	i := deployed(t, Options{}).Nodes()[0]
	if err := i.Freeze(); err != nil {
		t.Fatal(err)
	}
	if err := i.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	waitDone(t, i)
	if i.status != nil {
		t.Errorf("it was not let to end by itself: %v", i.status)
	}
	if err := i.Freeze(); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("freezing one that is gone: %v", err)
	}
}

func TestOwnProcessGroup(t *testing.T) {
	i := deployed(t, Options{}).Nodes()[0]
	group, err := syscall.Getpgid(i.PID)
	if err != nil {
		t.Fatal(err)
	}
	if group != i.PID {
		t.Errorf("process %d is in group %d: a Ctrl-C for us would end it", i.PID, group)
	}
}

func TestUsage(t *testing.T) {
	c := deployed(t, Options{})
	i := c.Nodes()[0]
	before, err := i.Usage()
	if err != nil {
		t.Fatal(err)
	}
	if before.RSS < 1<<20 || before.Threads < 2 {
		t.Errorf("a server of Go cannot be so small: %+v", before)
	}
	// Work for it until the counter, which has steps of 10 ms, goes on.
	for limit := time.Now().Add(patience); ; {
		echo(t, c, 1000)
		after, err := i.Usage()
		if err != nil {
			t.Fatal(err)
		}
		if after.UserCPU < before.UserCPU || after.SysCPU < before.SysCPU {
			t.Fatalf("used less and less: %+v, then %+v", before, after)
		}
		if after.UserCPU+after.SysCPU > before.UserCPU+before.SysCPU {
			break
		}
		if time.Now().After(limit) {
			t.Fatalf("work that costs nothing: %+v, then %+v", before, after)
		}
	}
}

// zeros returns n fields that parseStat does not read.
func zeros(n int) string { return strings.Repeat("0 ", n) }

func TestParseStat(t *testing.T) {
	text := "4711 (a) b (c) T " + zeros(10) + "250 130 " + zeros(4) + "17 0 9000 0 4096 " + zeros(28)
	got, err := parseStat([]byte(text))
	if want := (stat{state: 'T', user: 250, system: 130, threads: 17, pages: 4096}); err != nil || got != want {
		t.Errorf("read %+v (%v), want %+v", got, err, want)
	}
	own, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		t.Fatal(err)
	}
	if s, err := parseStat(own); err != nil || s.threads < 1 || s.pages < 1 {
		t.Errorf("our own: %+v, %v", s, err)
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("1 (init) S " + zeros(30)))
	f.Add([]byte("1 (in)it) S 1 2"))
	f.Add([]byte(")"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if s, err := parseStat(text); err != nil && s != (stat{}) {
			t.Errorf("%v, and yet %+v", err, s)
		}
	})
}

// Brokers are scheduled alike, whatever settings an earlier run left on the thread that
// starts them.
func TestBrokersAreScheduledAsThisProcessBegan(t *testing.T) {
	begun := threadtest.Scheduling(t, os.Getpid())
	threadtest.Shorten(t)
	s := up(t, testHome(t), Options{Nodes: 2})
	for _, p := range s.List {
		if its := threadtest.Scheduling(t, p.PID); its != begun {
			t.Errorf("%s has %s, this process began with %s", p.Name, its, begun)
		}
	}
}

// TestNoDescriptorIsInherited checks that started processes do not inherit descriptors that
// this process inherited, such as a shell's lock: a broker that outlives us would keep it.
func TestNoDescriptorIsInherited(t *testing.T) {
	for name, begin := range map[string]func() (*Instance, error){
		"detached": func() (*Instance, error) {
			return process{name: "sleep", command: []string{"sleep", "600"}, log: filepath.Join(t.TempDir(), "log"), detach: true}.start(t.Context())
		},
		"ours": func() (*Instance, error) {
			return process{name: "sleep", command: []string{"sleep", "600"}, log: filepath.Join(t.TempDir(), "log")}.start(t.Context())
		},
	} {
		var given [2]int
		if err := syscall.Pipe(given[:]); err != nil { // not closed on exec, as what is inherited
			t.Fatal(err)
		}
		t.Cleanup(func() { syscall.Close(given[0]); syscall.Close(given[1]) })
		i, err := begin()
		if err != nil {
			t.Fatal(err)
		}
		pipe, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", given[0]))
		if err != nil {
			t.Fatal(err)
		}
		open, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", i.PID))
		if err != nil || len(open) < 3 {
			t.Errorf("%v, %v", open, err)
		}
		for _, d := range open { // one of the program's own may be gone again
			if to, err := os.Readlink(d); err == nil && to == pipe {
				t.Errorf("%s: descriptor %s is inherited", name, filepath.Base(d))
			}
		}
		if err := i.destroy(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
