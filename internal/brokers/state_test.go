//go:build unix

package brokers

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"sixnines/internal/pid"
)

func command(words ...string) (string, error) {
	text, err := exec.Command(words[0], words[1:]...).CombinedOutput()
	return string(text), err
}

func exitCode(err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	return 0
}

// sleeper is a product whose nodes are processes that do nothing.
func sleeper(script string) Product {
	return Product{Name: "sleeper", Clusters: []int{1, 2, 3},
		find: func(context.Context, Home) (Installation, error) {
			return Installation{Version: "1", Origin: builtIn}, nil
		},
		deploy: func(_ context.Context, _ Installation, o *Options) (*deployment, error) {
			d := &deployment{url: "sleeper://" + loopback(o.Port), helpers: []process{{name: "helper", command: []string{"/bin/sh", "-c", "exec sleep 600"},
				dir: o.Dir, log: filepath.Join(o.Dir, "helper.log")}}}
			for i := range o.Nodes {
				name := "sleeper-" + strconv.Itoa(i+1)
				d.nodes = append(d.nodes, process{name: name, command: []string{"/bin/sh", "-c", script}, dir: o.Dir, log: filepath.Join(o.Dir, name+".log"),
					ready: func(context.Context) error {
						_, err := os.Stat(filepath.Join(o.Dir, "ready"))
						return err
					}})
			}
			return d, nil
		}}
}

const sleeps = "touch ready; exec sleep 600"

func up(t *testing.T, h Home, o Options) *State {
	t.Helper()
	o.Home = h
	s, err := Up(t.Context(), sleeper(sleeps), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := Down(context.Background(), h, "sleeper", false); err != nil && !errors.Is(err, ErrNotRunning) {
			t.Error(err)
		}
	})
	return s
}

func TestUpAndDown(t *testing.T) {
	h := testHome(t)
	if s, err := ReadState(h, "sleeper"); s != nil || err != nil {
		t.Errorf("before anything was started: %v, %v", s, err)
	}
	if _, err := Down(t.Context(), h, "sleeper", false); !errors.Is(err, ErrNotRunning) {
		t.Errorf("%v", err)
	}
	s := up(t, h, Options{Nodes: 3, Settings: map[string]string{"a": "b"}})
	if s.Condition() != Running || len(s.Alive()) != 4 || !s.List[0].Node || s.List[3].Node || !s.OwnDir {
		t.Errorf("%s: %+v", s.Condition(), s)
	}
	read, err := ReadState(h, "sleeper")
	if err != nil || read.Condition() != Running || !read.Same(Options{Nodes: 3, Settings: map[string]string{"a": "b"}}) || read.Same(Options{}) {
		t.Errorf("%+v, %v", read, err)
	}
	if info, err := os.Stat(stateFile(h, "sleeper")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("settings may hold passwords: %v, %v", info, err)
	}
	again, err := Up(t.Context(), sleeper(sleeps), Options{Home: h})
	if !errors.Is(err, ErrRunning) || again.URL != s.URL {
		t.Errorf("%+v, %v", again, err)
	}
	if all, err := States(h); err != nil || len(all) != 1 {
		t.Errorf("%v, %v", all, err)
	}
	if u, err := s.Usage(s.List[0]); err != nil || u.RSS == 0 {
		t.Errorf("%+v, %v", u, err)
	}
	// Down ends a stopped process, too.
	if err := syscall.Kill(s.List[1].PID, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if _, err := Down(t.Context(), h, "sleeper", false); err != nil {
		t.Fatal(err)
	}
	if alive := s.Alive(); len(alive) > 0 {
		t.Errorf("alive: %v", alive)
	}
	if entries, err := os.ReadDir(h.Path("data")); err != nil || len(entries) > 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
	if s, err := ReadState(h, "sleeper"); s != nil || err != nil {
		t.Errorf("afterwards: %v, %v", s, err)
	}
}

func TestDownKeepsData(t *testing.T) {
	h := testHome(t)
	s := up(t, h, Options{Nodes: 1})
	if _, err := Down(t.Context(), h, "sleeper", true); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(s.Dir, "ready")); err != nil {
		t.Error(err)
	}
}

// A directory that the user made stays, but its content is removed.
func TestDirectoryOfTheUsers(t *testing.T) {
	h, dir := testHome(t), t.TempDir()
	s := up(t, h, Options{Dir: dir})
	if s.Dir != dir || s.OwnDir {
		t.Errorf("%+v", s)
	}
	if _, err := Down(t.Context(), h, "sleeper", false); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("%v, %v", entries, err)
	}
	mine := filepath.Join(dir, "mine")
	if err := os.WriteFile(mine, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Up(t.Context(), sleeper(sleeps), Options{Home: h, Dir: dir}); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(mine); err != nil {
		t.Error(err)
	}
}

func TestUpThatFails(t *testing.T) {
	h := testHome(t)
	_, err := Up(t.Context(), sleeper("echo no room at the inn; exit 7"), Options{Home: h, Nodes: 2})
	if err == nil || !strings.Contains(err.Error(), "no room at the inn") {
		t.Errorf("%v", err)
	}
	if entries, err := os.ReadDir(h.Path("data")); err != nil || len(entries) > 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
	if s, err := ReadState(h, "sleeper"); s != nil || err != nil {
		t.Errorf("%v, %v", s, err)
	}
	if left := children(); left != "" {
		t.Errorf("left behind: %s", left)
	}
}

// stranger starts a process that began at another instant than p, as the system
// counts them; over is closed when it has ended, at the latest with the test.
func stranger(t *testing.T, p Process) (other *exec.Cmd, over chan struct{}) {
	t.Helper()
	for {
		other, over = exec.Command("sleep", "600"), make(chan struct{})
		if err := other.Start(); err != nil {
			t.Fatal(err)
		}
		go func() { other.Wait(); close(over) }()
		end := func() { other.Process.Kill(); <-over }
		began, err := pid.Start(other.Process.Pid)
		if err != nil {
			end()
			t.Fatal(err)
		}
		if began != p.Start {
			t.Cleanup(end)
			return other, over
		}
		end() // in the same hundredth of a second
	}
}

// A process that has got the number of one of ours is not ended.
func TestOthersAreLeftAlone(t *testing.T) {
	h := testHome(t)
	s := up(t, h, Options{Nodes: 2})
	other, over := stranger(t, s.List[0])
	real := *s
	s.List = append([]Process{}, s.List...)
	s.List[0].PID = other.Process.Pid // with the instant at which ours began
	if err := s.write(h); err != nil {
		t.Fatal(err)
	}
	if c := s.Condition(); c != Damaged {
		t.Errorf("%s", c)
	}
	if _, err := Down(t.Context(), h, "sleeper", false); err != nil {
		t.Fatal(err)
	}
	select {
	case <-over:
		t.Error("a process of somebody else's was ended")
	default:
	}
	if alive := real.Alive(); len(alive) != 1 {
		t.Errorf("alive: %v", alive)
	}
	for _, p := range real.Alive() {
		syscall.Kill(p.PID, syscall.SIGKILL)
		waitGone(t, p.PID)
	}
}

// After a reboot the product does not run, even if other processes have its numbers,
// and it can be started again.
func TestStateOfAnotherBoot(t *testing.T) {
	h := testHome(t)
	s := up(t, h, Options{})
	real := *s
	s.Boot = "another"
	if err := s.write(h); err != nil {
		t.Fatal(err)
	}
	if c := s.Condition(); c != Gone {
		t.Errorf("%s", c)
	}
	again := up(t, h, Options{})
	if again.Condition() != Running || again.List[0].PID == s.List[0].PID {
		t.Errorf("%s, %+v", again.Condition(), again)
	}
	if _, err := os.Stat(s.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is still there: %v", s.Dir, err)
	}
	if len(real.Alive()) != 2 {
		t.Error("what another boot had started was ended")
	}
	for _, p := range real.Alive() {
		syscall.Kill(p.PID, syscall.SIGKILL)
		waitGone(t, p.PID)
	}
	s.Host = "another"
	if c := s.Condition(); c != Elsewhere {
		t.Errorf("%s", c)
	}
}

func TestDamagedStateFile(t *testing.T) {
	h := testHome(t)
	if err := os.MkdirAll(h.Path("run"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "{", `{"product":"other"}`, `{"product":"sleeper","processes":[{"pid":0,"start":"1"}]}`,
		`{"product":"sleeper","processes":[{"pid":-1,"start":"1"}]}`, `{"product":"sleeper","dir":"relative"}`} {
		if err := os.WriteFile(stateFile(h, "sleeper"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadState(h, "sleeper"); err == nil || !strings.Contains(err.Error(), "remove it") {
			t.Errorf("%s: %v", text, err)
		}
		if _, err := Down(t.Context(), h, "sleeper", false); err == nil || errors.Is(err, ErrNotRunning) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func FuzzParseState(f *testing.F) {
	f.Add([]byte(`{"product":"redis","dir":"/d","processes":[{"name":"redis","pid":4711,"start":"1","node":true}]}`))
	f.Add([]byte(`{"processes":[{"pid":1,"start":"1"}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := parseState(text)
		if err != nil {
			return
		}
		for _, p := range s.List {
			if p.PID <= 1 || p.Start == "" {
				t.Errorf("%s: %+v", text, p)
			}
		}
	})
}

func TestScratchIsSwept(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	mine, err := scratch("kafka-0.8")
	if err != nil {
		t.Fatal(err)
	}
	machine := pid.Machine()
	start, err := pid.Start(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	pid := strconv.Itoa(os.Getpid())
	for name, stays := range map[string]bool{
		"sixnines-redis-" + machine + "-" + pid + "-1-77":            false, // somebody else had our number
		"sixnines-redis-" + machine + "-99999999-1-77":               false,
		"sixnines-redis-00000000-99999999-1-77":                      true, // of a machine of which we know nothing
		"sixnines-redis-" + machine + "-" + pid + "-" + start + "-7": true,
		"sixnines-run-123": true,
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Join(path, "data"), 0o755); err != nil {
			t.Fatal(err)
		}
		if _, err := scratch("redis"); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path); (err == nil) != stays {
			t.Errorf("%s: stays %v (%v), want %v", name, err == nil, err, stays)
		}
	}
	if _, err := os.Stat(mine); err != nil {
		t.Errorf("a directory of a process that lives: %v", err)
	}
}
