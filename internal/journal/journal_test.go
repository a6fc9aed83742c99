//go:build unix

package journal

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// made is a kind for tests: a file that an act makes.
type made struct {
	Path string `json:"path"`
	Fail bool   `json:"fail,omitempty"` // Undo fails
}

func (*made) Kind() string     { return "made" }
func (m *made) String() string { return "remove " + filepath.Base(m.Path) }
func (m *made) Check() error {
	if !strings.HasPrefix(filepath.Base(m.Path), Mark) {
		return errors.New("it is not ours")
	}
	return nil
}

func (m *made) Undo(context.Context) (bool, error) {
	switch {
	case m.Fail && filepath.Base(m.Path) == "sixnines-panic":
		panic("no more")
	case m.Fail:
		return false, errors.New("it stays")
	}
	err := os.Remove(m.Path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

func testKinds() []Kind {
	return append(Kinds(), Kind{Name: "made", New: func() Undoing { return new(made) }, Lasting: true},
		Kind{Name: "fleeting", New: func() Undoing { return new(made) }})
}

const role = "SIXNINES_JOURNAL_TEST"

func TestMain(m *testing.M) {
	if dir := os.Getenv(role); dir != "" {
		os.Exit(owner(dir))
	}
	os.Exit(m.Run())
}

// owner is the process that is killed: it says each step before it takes it, and waits for a line.
func owner(dir string) int {
	in := bufio.NewReader(os.Stdin)
	step := func(name string) {
		fmt.Println(name)
		in.ReadString('\n')
	}
	j := New(filepath.Join(dir, "undo"))
	var entries []*Entry
	for i := range 3 {
		path := filepath.Join(dir, fmt.Sprintf("sixnines-%d", i))
		step("note")
		e, err := j.Note(fmt.Sprintf("act %d", i), &made{Path: path})
		if err != nil {
			fmt.Println(err)
			return 1
		}
		entries = append(entries, e)
		step("do")
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			fmt.Println(err)
			return 1
		}
	}
	step("undo the middle one")
	if err := entries[1].Undo(context.Background()); err != nil {
		fmt.Println(err)
		return 1
	}
	step("close")
	if err := j.Close(context.Background()); err != nil {
		fmt.Println(err)
		return 1
	}
	step("end")
	return 0
}

// begin starts an owner, which waits before its first step.
func begin(t *testing.T, dir string) (next func() string, kill func()) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self)
	c.Env = append(os.Environ(), role+"="+dir)
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	kill = func() { once.Do(func() { c.Process.Kill(); c.Wait() }) }
	t.Cleanup(kill)
	said, first := bufio.NewReader(out), true
	return func() string {
		if !first {
			io.WriteString(in, "\n")
		}
		first = false
		word, _ := said.ReadString('\n')
		return strings.TrimSpace(word)
	}, kill
}

// ours returns the names below dir, of what acts made and of journals.
func ours(t *testing.T, dir string) (acts, journals []string) {
	t.Helper()
	acts, err := filepath.Glob(filepath.Join(dir, "sixnines-*"))
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Join(dir, "undo"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for _, e := range entries {
		journals = append(journals, e.Name())
	}
	return acts, journals
}

func texts(found []Finding) (all []string) {
	for _, x := range found {
		all = append(all, fmt.Sprintf("%s: %s", x.State, x.Text))
	}
	return all
}

// Whatever the step at which a process is killed, what it did is undone by the next, the latest first, and
// nothing stays; while it lives nothing is touched.
func TestKilledBetweenSteps(t *testing.T) {
	steps := []string{"note", "do", "note", "do", "note", "do", "undo the middle one", "close", "end"}
	for k, at := range steps {
		t.Run(fmt.Sprintf("before step %d, %s", k, at), func(t *testing.T) {
			dir := t.TempDir()
			undo := filepath.Join(dir, "undo")
			next, kill := begin(t, dir)
			for i := range k + 1 {
				if got := next(); got != steps[i] {
					t.Fatalf("step %d is %q", i, got)
				}
			}
			before, _ := ours(t, dir)
			if found, err := Recover(t.Context(), undo, testKinds()); err != nil || len(found) > 0 {
				t.Errorf("while it lives: %v (%v)", texts(found), err)
			}
			kill()
			var want []string
			for _, path := range slices.Backward(before) {
				want = append(want, "undone: remove "+filepath.Base(path))
			}
			if at == "do" { // noted, not done
				want = slices.Insert(want, 0, fmt.Sprintf("nothing to undo: remove sixnines-%d", k/2))
			}
			look, err := Left(undo, testKinds())
			if err != nil || len(look) != len(want) {
				t.Errorf("left is %v (%v), want %d", texts(look), err, len(want))
			}
			found, err := Recover(t.Context(), undo, testKinds())
			if got := texts(found); err != nil || !slices.Equal(got, want) {
				t.Errorf("recovered %q (%v), want %q", got, err, want)
			}
			acts, journals := ours(t, dir)
			if len(acts)+len(journals) > 0 {
				t.Errorf("%v and %v are left", acts, journals)
			}
			if found, err := Recover(t.Context(), undo, testKinds()); err != nil || len(found) > 0 {
				t.Errorf("again: %v (%v)", texts(found), err)
			}
		})
	}
}

// Two processes at once: the records of the killed one are undone, those of the other stay.
func TestConcurrentOwners(t *testing.T) {
	dirs := []string{t.TempDir(), t.TempDir()}
	if err := os.Symlink(filepath.Join(dirs[0], "undo"), filepath.Join(dirs[1], "undo")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dirs[0], "undo"), 0o700); err != nil {
		t.Fatal(err)
	}
	var kills []func()
	for _, dir := range dirs {
		next, kill := begin(t, dir)
		for range 3 {
			next()
		}
		kills = append(kills, kill)
	}
	kills[0]()
	found, err := Recover(t.Context(), filepath.Join(dirs[0], "undo"), testKinds())
	if got := texts(found); err != nil || !slices.Equal(got, []string{"undone: remove sixnines-0"}) {
		t.Errorf("%q, %v", got, err)
	}
	if acts, journals := ours(t, dirs[1]); len(acts) != 1 || len(journals) != 1 {
		t.Errorf("the living one has %v and %v", acts, journals)
	}
}

// Of many that recover at once each record is undone by one.
func TestConcurrentRecovery(t *testing.T) {
	dir := t.TempDir()
	next, kill := begin(t, dir)
	for range 7 {
		next()
	}
	kill()
	var mu sync.Mutex
	undone := map[string]int{}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			found, err := Recover(context.Background(), filepath.Join(dir, "undo"), testKinds())
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			}
			for _, x := range found {
				undone[string(x.State)+x.Text]++
			}
		})
	}
	all.Wait()
	if len(undone) != 3 || undone["undoneremove sixnines-0"] != 1 {
		t.Errorf("%v", undone)
	}
	if acts, journals := ours(t, dir); len(acts)+len(journals) > 0 {
		t.Errorf("%v and %v are left", acts, journals)
	}
}

// forged writes the journal of an ended process: the header as change leaves it, then the lines.
func forged(t *testing.T, change func(*header), lines ...string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	j := New(dir)
	e, err := j.Note("", &made{Path: "/nowhere/sixnines-x"})
	if err != nil {
		t.Fatal(err)
	}
	path := j.file.Name()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(e.Erase(), j.Close(t.Context())); err != nil {
		t.Fatal(err)
	}
	var h header
	if err := json.Unmarshal([]byte(strings.SplitN(string(text), "\n", 2)[0]), &h); err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(&h)
	}
	first, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(string(first)+"\n"+strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// What cannot be read or undone is kept and named, and everything else is undone.
func TestKept(t *testing.T) {
	files := t.TempDir()
	entry := func(n int, kind, name, more string) string {
		return fmt.Sprintf(`{"n":%d,"kind":%q,"act":{"path":%q%s}}`, n, kind, filepath.Join(files, name), more)
	}
	other := func(h *header) { h.Boot = "another" }
	for _, c := range []struct {
		name   string
		header func(*header)
		lines  []string
		want   []string // of each finding, what its state, text and error contain
	}{
		{"a damaged line", nil, []string{entry(1, "made", "sixnines-a", ""), `{"n":2,"kind":"ma`, entry(3, "made", "sixnines-b", ""), ""},
			[]string{"undone: remove sixnines-b", "kept: the damaged line", "undone: remove sixnines-a"}},
		{"a last line that was not written in full", nil, []string{entry(1, "made", "sixnines-a", ""), `{"n":2,"kind":"ma`},
			[]string{"undone: remove sixnines-a"}},
		{"a kind of a newer version", nil, []string{entry(1, "made", "sixnines-a", ""), entry(2, "wormhole", "sixnines-b", ""), ""},
			[]string{`kept: a record of the kind "wormhole"`, "undone: remove sixnines-a"}},
		{"a record of a newer version", nil, []string{entry(1, "made", "sixnines-a", `,"twice":true`), ""},
			[]string{`kept: a record of the kind "made"`}},
		{"a journal of a newer version", func(h *header) { h.Format = 2 }, []string{entry(1, "made", "sixnines-a", ""), ""},
			[]string{"kept: a journal: it is of another sixnines (format 2, "}},
		{"a damaged first line", func(h *header) { h.Format = 0 }, []string{entry(1, "made", "sixnines-a", ""), ""},
			[]string{"kept: a journal: its first line is damaged"}},
		{"what fails", nil, []string{entry(1, "made", "sixnines-a", ""), entry(2, "made", "sixnines-b", `,"fail":true`), entry(3, "made", "sixnines-panic", `,"fail":true`), ""},
			[]string{"kept: remove sixnines-panic: it panicked", "kept: remove sixnines-b: it stays", "undone: remove sixnines-a"}},
		{"what is not ours", nil, []string{entry(1, "made", "passwd", ""), ""}, []string{"kept: remove passwd: it is not ours"}},
		{"another start of the machine", other, []string{entry(1, "fleeting", "sixnines-a", ""), entry(2, "made", "sixnines-b", ""), ""},
			[]string{"undone: remove sixnines-b", "nothing to undo: remove sixnines-a"}},
		{"another machine", func(h *header) { h.Boot, h.Host = "another", "elsewhere" }, []string{entry(1, "made", "sixnines-a", ""), ""},
			[]string{"kept: remove sixnines-a: it was noted on elsewhere"}},
		{"another container", func(h *header) { h.Space = "pid:[1]" }, []string{entry(1, "made", "sixnines-a", ""), ""},
			[]string{"kept: remove sixnines-a: it was noted in another container"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, name := range []string{"sixnines-a", "sixnines-b", "passwd"} {
				if err := os.WriteFile(filepath.Join(files, name), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			dir := forged(t, c.header, c.lines...)
			check := func(found []Finding, err error, want []string) {
				t.Helper()
				if err != nil || len(found) != len(want) {
					t.Fatalf("%q (%v), want %q", texts(found), err, want)
				}
				for i, x := range found {
					if got := fmt.Sprintf("%s: %s: %v", x.State, x.Text, x.Err); !strings.HasPrefix(got, want[i]) {
						t.Errorf("%s\nwant %s", got, want[i])
					}
				}
			}
			found, err := Recover(t.Context(), dir, testKinds())
			check(found, err, c.want)
			kept := slices.DeleteFunc(slices.Clone(c.want), func(s string) bool { return !strings.HasPrefix(s, "kept") })
			found, err = Recover(t.Context(), dir, testKinds()) // what is undone is not found again
			check(found, err, kept)
			if left, err := os.ReadDir(dir); err != nil || (len(left) > 0) != (len(kept) > 0) {
				t.Errorf("left is %v (%v) where %d are kept", left, err, len(kept))
			}
			if _, err := os.Stat(filepath.Join(files, "passwd")); err != nil {
				t.Error(err)
			}
		})
	}
}

// An act without a record is not done.
func TestWhatCannotBeNoted(t *testing.T) {
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, j := range []*Journal{New(""), New(blocked)} {
		if _, err := j.Note("", &made{Path: "/nowhere/sixnines-x"}); err == nil {
			t.Errorf("noted in %q", j.dir)
		}
	}
	j := New(t.TempDir())
	if _, err := j.Note("", &made{Path: "/etc/passwd"}); err == nil {
		t.Error("what is not ours was noted")
	}
	if left, err := os.ReadDir(j.dir); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}

// A stopped process is continued, one with its number that is another is not; and what is to be ended
// ends though it is stopped.
func TestProcesses(t *testing.T) {
	c := exec.Command("sleep", "600")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { c.Wait(); close(ended) }()
	t.Cleanup(func() { c.Process.Kill(); <-ended })
	p, err := ProcessOf(c.Process.Pid, "sleep")
	if err != nil {
		t.Fatal(err)
	}
	state := func() string {
		out, err := exec.Command("ps", "-o", "state=", "-p", fmt.Sprint(p.PID)).Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(out[:1])
	}
	await := func(stopped bool) {
		t.Helper()
		for began := time.Now(); (state() == "T") != stopped; time.Sleep(time.Millisecond) {
			if time.Since(began) > 10*time.Second {
				t.Fatalf("it is %s", state())
			}
		}
	}
	stop := func() {
		if err := exec.Command("kill", "-STOP", fmt.Sprint(p.PID)).Run(); err != nil {
			t.Fatal(err)
		}
		await(true)
	}
	stop()
	earlier := p
	earlier.Start = "1"
	for _, u := range []Undoing{&Continue{earlier}, &End{earlier}} {
		if did, err := undo(t.Context(), u); did || err != nil {
			t.Errorf("%s, which has ended: %v, %v", u, did, err)
		}
	}
	await(true)
	if did, err := undo(t.Context(), &Continue{p}); !did || err != nil {
		t.Errorf("continue: %v, %v", did, err)
	}
	await(false)
	stop()
	if did, err := undo(t.Context(), &End{p}); !did || err != nil {
		t.Errorf("end: %v, %v", did, err)
	}
	<-ended
	for _, u := range []Undoing{&Continue{p}, &End{p}} {
		if did, err := undo(t.Context(), u); did || err != nil {
			t.Errorf("%s, which is gone: %v, %v", u, did, err)
		}
	}
	for _, number := range []int{-1, 0, 1, os.Getpid()} {
		if err := (Process{number, "1", "x"}).Check(); err == nil {
			t.Errorf("process %d may be signalled", number)
		}
	}
}
