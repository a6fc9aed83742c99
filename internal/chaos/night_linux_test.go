package chaos_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sixnines/internal/journal"
	"sixnines/internal/judge/judgetest"
	"sixnines/result"
)

// The environment of TestNight: see make chaos.
const (
	nightRuns    = "SIXNINES_CHAOS"         // how many timelines
	nightSeed    = "SIXNINES_CHAOS_SEED"    // of the first; each next has the next seed
	nightProgram = "SIXNINES_CHAOS_PROGRAM" // the command sixnines
	nightDir     = "SIXNINES_CHAOS_DIR"     // where what fails is kept
	nightOnly    = "SIXNINES_CHAOS_BROKERS" // runs with one of these words only; empty: all
)

// hang is how long a run may take altogether: those here take a tenth of it, but for brokers that start slowly on a machine
// with other work, of which one restart may take two minutes and reading back one.
const hang = 8 * time.Minute

// broker is what a run is made with.
type broker struct {
	name string
	args []string
	slow bool // its nodes take seconds to start: the window is longer, so that a timeline has several actions
}

// managed lists every product that sixnines starts, alone, and those that can be clusters as clusters.
func managed() []broker {
	return []broker{
		{"nats", []string{"nats"}, false},
		{"jetstream", []string{"jetstream"}, false},
		{"jetstream-3", []string{"jetstream", "--nodes", "3", "--option", "replicas=3"}, false},
		{"redis-streams", []string{"redis-streams"}, false},
		{"redis-3", []string{"redis-streams", "--nodes", "3"}, false},
		{"redis", []string{"redis"}, false},
		{"rabbitmq", []string{"rabbitmq"}, true},
		{"rabbitmq-3", []string{"rabbitmq", "--nodes", "3", "--option", "queue_type=quorum"}, true},
		{"rabbitmq-stream", []string{"rabbitmq-stream"}, true},
		{"amqp10", []string{"amqp10"}, true},
		{"kafka", []string{"kafka"}, true},
		{"kafka-3", []string{"kafka", "--nodes", "3", "--option", "replication_factor=3"}, true},
		{"mosquitto", []string{"mqtt"}, false},
		{"nsq", []string{"nsq"}, false},
		{"pulsar", []string{"pulsar"}, true},
		{"stan", []string{"stan"}, false},
		{"null", []string{"null", "--start", "null"}, false},
		{"nats-3", []string{"nats", "--nodes", "3"}, false},
	}
}

// TestNight draws timelines and runs them, over all brokers in turn. Each run ends in time with an exit code
// that it may have, has every message in one account, agrees with what its records say, and leaves nothing on
// the machine. What fails is kept, with its seed.
func TestNight(t *testing.T) {
	runs, err := strconv.Atoi(os.Getenv(nightRuns))
	if err != nil {
		t.Skip("SKIPPED: it takes a night: make chaos N=100")
	}
	n := night{program: os.Getenv(nightProgram), dir: os.Getenv(nightDir)}
	seed, err := strconv.ParseUint(os.Getenv(nightSeed), 10, 64)
	if err != nil || n.program == "" || n.dir == "" {
		t.Fatal("use make chaos, which says where everything is")
	}
	if err := os.MkdirAll(n.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	n.home = n.makeHome(t)
	// What a run leaves running becomes a child of this process, which can then name it.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	all := managed()
	if only := os.Getenv(nightOnly); only != "" {
		all = slices.DeleteFunc(all, func(b broker) bool { return !slices.Contains(strings.Split(only, ","), b.name) })
	}
	var unclean []string
	by := map[string]int{}
	for i := range runs {
		b := all[i%len(all)]
		ok := t.Run(fmt.Sprintf("%d-%s", seed, b.name), func(t *testing.T) { n.run(t, b, seed) })
		if !ok {
			unclean = append(unclean, fmt.Sprintf("%d-%s", seed, b.name))
		}
		by[b.name]++
		seed++
	}
	fmt.Printf("chaos: %d of %d timelines are clean, over %d kinds of broker: %v; not clean: %v\n", runs-len(unclean), runs, len(by), by, unclean)
}

// night is what its runs share.
type night struct{ program, dir, home string }

// makeHome makes a home with the brokers that are installed and a journal of its own: those of other runs on
// the machine are not to be taken for ours.
func (n night) makeHome(t *testing.T) string {
	t.Helper()
	installed := os.Getenv("SIXNINES_HOME")
	if installed == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		installed = filepath.Join(cache, "sixnines")
	}
	home := t.TempDir()
	entries, err := os.ReadDir(installed)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() == "undo" {
			continue
		}
		if err := os.Symlink(filepath.Join(installed, e.Name()), filepath.Join(home, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return home
}

// run runs the timeline of a seed and checks it.
func (n night) run(t *testing.T, b broker, seed uint64) {
	name := fmt.Sprintf("%d-%s", seed, b.name)
	out := filepath.Join(n.dir, name)
	temporary, err := os.MkdirTemp("", "night") // short: sockets lie in it
	if err != nil {
		t.Fatal(err)
	}
	args := append([]string{"run"}, b.args...)
	window := "6s"
	if b.slow {
		window = "20s"
	}
	args = append(args, "--chaos", strconv.FormatUint(seed, 10), "--duration", window, "--warmup", "1s", "--rate", "500", "--probe=off", "--drain", "10s",
		"--set", "phases.read_back=60s", "--out", out)
	defer func() {
		if t.Failed() {
			t.Logf("again: %s %s\nkept: %s", n.program, strings.Join(args, " "), out)
			return
		}
		_ = os.RemoveAll(out)
		_ = os.RemoveAll(temporary)
	}()
	process, words, hangs, err := n.ended(t, args, temporary)
	if hangs {
		t.Errorf("it had not ended after %s", hang)
	}
	code := -1
	var exit *exec.ExitError
	if err == nil {
		code = 0
	} else if errors.As(err, &exit) {
		code = exit.ExitCode()
	}
	t.Logf("exit code %d", code)
	n.left(t, process, temporary)
	// 0 and 4 are VALID, SUSPECT and INVALID. A timeline may leave a broker down, so that a client gives up: 1, with a
	// result.
	if code != 0 && code != 4 && code != 1 {
		t.Errorf("the exit code is %d (%v):\n%s", code, err, words)
		return
	}
	files, _ := filepath.Glob(filepath.Join(out, "*.jsonl"))
	if len(files) != 1 {
		t.Errorf("the exit code is %d, and there are %d results:\n%s", code, len(files), words)
		return
	}
	file := files[0]
	run, err := result.Load(file)
	if err != nil {
		t.Fatalf("%v\n%s", err, words)
	}
	judgetest.Verified(t, run, file)
	// A broker that a full disk has ended has no node for later actions.
	gone := slices.ContainsFunc(run.Events, func(e result.Event) bool { return e.Kind == result.EventBrokerEnded })
	for _, e := range run.Events {
		switch {
		case e.Kind != result.EventActionFailed:
		case gone:
			t.Logf("an action failed, and the broker had ended by itself: %s", e.Detail)
		default:
			t.Errorf("an action failed: %s", e.Detail)
		}
	}
	if code == 1 {
		t.Logf("a failure with a result:\n%s", words)
	}
}

// ended runs the program until it ends or hangs, and returns the number of its process and what it said.
func (n night) ended(t *testing.T, args []string, temporary string) (process int, words string, hangs bool, err error) {
	t.Helper()
	var said bytes.Buffer
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	c := exec.CommandContext(ctx, n.program, args...)
	c.Cancel = func() error { // goroutines first
		hangs = true
		_ = c.Process.Signal(syscall.SIGQUIT)
		time.Sleep(2 * time.Second)
		return c.Process.Kill()
	}
	c.Env = append(os.Environ(), "SIXNINES_HOME="+n.home, "TMPDIR="+temporary)
	c.Stdout, c.Stderr, c.WaitDelay = &said, &said, 10*time.Second
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	err = c.Wait()
	return c.Process.Pid, said.String(), hangs, err
}

// left checks that a run which has ended left nothing: no process, device, file system, directory or note of what
// is to be undone.
func (n night) left(t *testing.T, process int, temporary string) {
	t.Helper()
	var children []string
	for range 100 { // what has been killed takes a moment
		for {
			if child, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); err != nil || child <= 0 {
				break
			}
		}
		if children = childrenOf(os.Getpid()); len(children) == 0 {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	for _, c := range children {
		t.Errorf("a process is left: %s", c)
	}
	links, _ := filepath.Glob("/sys/class/net/s9-" + strconv.Itoa(process) + "-*")
	for _, program := range []string{"iptables-legacy-save", "ip6tables-legacy-save"} {
		rules, err := exec.Command(program).Output()
		if err != nil && !errors.Is(err, exec.ErrNotFound) {
			t.Errorf("%s: %v", program, err)
		}
		for line := range strings.Lines(string(rules)) {
			if strings.Contains(line, fmt.Sprintf("%s-%d-", journal.Mark, process)) {
				links = append(links, line)
			}
		}
	}
	notes, _ := filepath.Glob(filepath.Join(n.home, "undo", "*.journal"))
	files, err := os.ReadDir(temporary)
	if err != nil {
		t.Error(err)
	}
	for _, f := range files {
		notes = append(notes, f.Name())
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	backs, _ := filepath.Glob("/sys/block/loop*/loop/backing_file")
	for _, b := range backs {
		if of, _ := os.ReadFile(b); bytes.Contains(of, []byte(temporary)) {
			links = append(links, b+": "+string(of))
		}
	}
	if bytes.Contains(mounts, []byte(temporary)) {
		links = append(links, "a mount below "+temporary)
	}
	for _, l := range append(links, notes...) {
		t.Errorf("left behind: %s", l)
	}
}

// childrenOf lists the processes that have a parent, as the system shows them.
func childrenOf(parent int) (all []string) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, s := range stats {
		text, err := os.ReadFile(s)
		if err != nil {
			continue
		}
		_, rest, ok := strings.Cut(string(text), ") ")
		if f := strings.Fields(rest); ok && len(f) > 1 && f[1] == strconv.Itoa(parent) {
			command, _ := os.ReadFile(filepath.Join(filepath.Dir(s), "cmdline"))
			all = append(all, string(text[:strings.IndexByte(string(text), ')')+1])+" "+strings.ReplaceAll(string(command), "\x00", " "))
		}
	}
	return all
}
