package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// kernelTrace is the kernel's tracing of this machine, in an instance of its own: a buffer and events that nobody
// else reads or changes. Its clock is CLOCK_MONOTONIC.
type kernelTrace struct{ dir string }

// kernelTraced are the events that are written, with filters.
func kernelTraced() map[string]string {
	return map[string]string{
		"signal/signal_generate":   "sig==9||sig==15||sig==18||sig==19",
		"sched/sched_process_fork": "",
		"sched/sched_process_exec": "",
		"sched/sched_process_exit": "",
		// From TCP_ESTABLISHED to TCP_FIN_WAIT1, and from TCP_CLOSE to TCP_SYN_SENT.
		"sock/inet_sock_set_state":     "(oldstate==1&&newstate==4)||(oldstate==7&&newstate==2)",
		"net/net_dev_start_xmit":       `name~"s9-*"||name=="eth0"`,
		"skb/kfree_skb":                "protocol==2048",
		"qdisc/qdisc_create":           "",
		"qdisc/qdisc_destroy":          "",
		"syscalls/sys_enter_bpf":       "cmd==28", // BPF_LINK_CREATE
		"syscalls/sys_enter_fallocate": "",
		"syscalls/sys_enter_unlinkat":  "flag==0", // files, not directories
		"syscalls/sys_enter_pwrite64":  "count==1",
		// Netlink, and as long as what has a queue hold packets or let them pass, and as what has sch_tbf pass packets.
		"syscalls/sys_enter_sendto": "addr_len==12&&(len==44||len==100)",
	}
}

// traceKernel begins to trace, or skips the test where the kernel's tracing cannot be had. Nothing is mounted: the
// file system is reached through a descriptor, and gone with it.
func traceKernel(t *testing.T) *kernelTrace {
	t.Helper()
	root := "/sys/kernel/tracing"
	if _, err := os.Stat(filepath.Join(root, "instances")); err != nil {
		mount, err := detachedTracefs()
		if err != nil {
			t.Skipf("SKIPPED: the kernel's tracing cannot be read: %v", err)
		}
		t.Cleanup(func() { unix.Close(mount) })
		root = fmt.Sprintf("/proc/self/fd/%d", mount)
	}
	dir, err := os.MkdirTemp(filepath.Join(root, "instances"), fmt.Sprintf("sixnines-test-%d-*", os.Getpid()))
	k := &kernelTrace{dir}
	if errors.Is(err, fs.ErrPermission) {
		t.Skipf("SKIPPED: the kernel's tracing needs root: %v", err)
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(k.set("tracing_on", "0"), os.Remove(k.dir)); err != nil {
			t.Errorf("the instance of the kernel's tracing stays: %v", err)
		}
	})
	if err := errors.Join(k.set("trace_clock", "mono"), k.set("buffer_size_kb", "16384")); err != nil {
		t.Fatal(err)
	}
	for event, filter := range kernelTraced() {
		err := error(nil)
		if filter != "" {
			err = k.set("events/"+event+"/filter", filter)
		}
		if err = errors.Join(err, k.set("events/"+event+"/enable", "1")); errors.Is(err, fs.ErrNotExist) {
			t.Skipf("SKIPPED: the kernel does not trace %s", event)
		} else if err != nil {
			t.Fatalf("%s: %v", event, err)
		}
	}
	return k
}

// detachedTracefs returns a descriptor of the tracing file system, which is mounted nowhere.
func detachedTracefs() (int, error) {
	made, err := unix.Fsopen("tracefs", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return 0, err
	}
	defer unix.Close(made)
	if err := unix.FsconfigCreate(made); err != nil {
		return 0, err
	}
	return unix.Fsmount(made, unix.FSMOUNT_CLOEXEC, 0)
}

func (k *kernelTrace) set(file, value string) error {
	return os.WriteFile(filepath.Join(k.dir, file), []byte(value), 0)
}

// traced is an event of the trace.
type traced struct {
	at   int64 // CLOCK_MONOTONIC, ns; the kernel prints microseconds, and cuts off the rest
	task int   // the thread that it happened on
	kind string
	of   map[string]string // its fields
}

// number returns a field as a number; 0: it is none.
func (e traced) number(field string) int {
	n, _ := strconv.Atoi(e.of[field])
	return n
}

// long reports whether an event of a system call has a length, which the kernel prints in hexadecimal.
func (e traced) long(bytes int64) bool {
	n, err := strconv.ParseInt(strings.TrimPrefix(e.of["len"], "0x"), 16, 64)
	return err == nil && n == bytes
}

// within reports whether the event lies between two instants, CLOCK_MONOTONIC.
func (e traced) within(from, to int64) bool { return e.at+999 >= from && e.at <= to }

var (
	tracedLine  = regexp.MustCompile(`^ *.*-(\d+) +\[\d+\] \S+ +(\d+)\.(\d{6}): (\w+)(?:: |\()(.*)$`)
	tracedField = regexp.MustCompile(`(\w+)[=:] ?([^ ,)]+)`)
)

// end ends tracing and returns all events, in their order. Each has been kept, or the test fails.
func (k *kernelTrace) end(t *testing.T) (all []traced) {
	t.Helper()
	if err := k.set("tracing_on", "0"); err != nil {
		t.Fatal(err)
	}
	stats, err := filepath.Glob(filepath.Join(k.dir, "per_cpu/cpu*/stats"))
	if err != nil || len(stats) == 0 {
		t.Fatalf("%q, %v", stats, err)
	}
	for _, file := range stats {
		if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), "\noverrun: 0\n") {
			t.Fatalf("events of the trace are lost: %v\n%s", err, text)
		}
	}
	file, err := os.Open(filepath.Join(k.dir, "trace"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		m := tracedLine.FindStringSubmatch(lines.Text())
		if m == nil {
			t.Fatalf("not a line of the trace: %q", lines.Text())
		}
		seconds, err1 := strconv.ParseInt(m[2], 10, 64)
		micros, err2 := strconv.ParseInt(m[3], 10, 64)
		task, err3 := strconv.Atoi(m[1])
		if err := errors.Join(err1, err2, err3); err != nil {
			t.Fatalf("%q: %v", lines.Text(), err)
		}
		e := traced{at: seconds*1e9 + micros*1e3, task: task, kind: m[4], of: map[string]string{}}
		for _, f := range tracedField.FindAllStringSubmatch(m[5], -1) {
			if _, is := e.of[f[1]]; !is {
				e.of[f[1]] = f[2]
			}
		}
		all = append(all, e)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// family is which threads and processes descend from one process, by a trace that began before it.
type family struct {
	root   int
	parent map[int]int
	execed map[int]bool
}

func familyOf(root int, all []traced) family {
	f := family{root: root, parent: map[int]int{}, execed: map[int]bool{}}
	for _, e := range all {
		switch e.kind {
		case "sched_process_fork":
			f.parent[e.number("child_pid")] = e.task
		case "sched_process_exec":
			f.execed[e.number("pid")] = true
		}
	}
	return f
}

// process returns the process of a thread.
func (f family) process(thread int) int {
	for thread != f.root && !f.execed[thread] {
		next, is := f.parent[thread]
		if !is {
			return thread
		}
		thread = next
	}
	return thread
}

// child reports whether a process was started by the root, and not by one of its children.
func (f family) child(process int) bool {
	by, is := f.parent[process]
	return is && f.execed[process] && f.process(by) == f.root
}

// has reports whether a thread is of the root or of a process that descends from it.
func (f family) has(thread int) bool {
	for is := true; is; thread, is = f.parent[thread] {
		if thread == f.root {
			return true
		}
	}
	return false
}
