package disk

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"sixnines/internal/journal"
)

const role = "SIXNINES_DISK_TEST"

func TestMain(m *testing.M) {
	if dir := os.Getenv(role); dir != "" {
		os.Exit(owner(dir))
	}
	os.Exit(m.Run())
}

// needed skips, loudly, a test that needs a file system of its own where there can be none.
func needed(t *testing.T) {
	t.Helper()
	if err := Check(); err != nil {
		t.Skip("SKIPPED: " + err.Error())
	}
}

// machine returns what is mounted below dir, and the loop devices whose files are there.
func machine(t *testing.T, dir string) (all []string) {
	t.Helper()
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(table)) {
		if strings.Contains(line, dir) {
			all = append(all, line)
		}
	}
	devices, err := filepath.Glob("/sys/block/loop*/loop/backing_file")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range devices {
		if file, err := os.ReadFile(d); err == nil && strings.Contains(string(file), dir) {
			all = append(all, d+" "+string(file))
		}
	}
	return all
}

// made makes a file system, and checks at the end of the test that nothing of it stays.
func made(t *testing.T) *FileSystem {
	t.Helper()
	needed(t)
	above := t.TempDir()
	dir := filepath.Join(above, "node-1")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "before"), []byte("there"), 0o600); err != nil {
		t.Fatal(err)
	}
	j := journal.New(filepath.Join(above, "undo"))
	f, err := Make(j, "a test", dir, 64<<20)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(f.Remove(context.Background()), f.Remove(context.Background()), j.Close(context.Background())); err != nil {
			t.Error(err)
		}
		if left := machine(t, above); len(left) > 0 {
			t.Errorf("left: %q", left)
		}
		if files, err := os.ReadDir(above); err != nil || len(files) != 2 { // node-1 and undo
			t.Errorf("left: %v, %v", files, err)
		}
	})
	if text, err := os.ReadFile(filepath.Join(dir, "before")); err != nil || string(text) != "there" {
		t.Errorf("what was there is %q, %v", text, err)
	}
	return f
}

// What was synced survives a power failure, and what was not is gone: the second is the control without
// which the first says nothing.
func TestPowerFailure(t *testing.T) {
	f := made(t)
	name := filepath.Join(f.Dir, "log")
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	synced, never := bytes.Repeat([]byte("s"), 100_000), bytes.Repeat([]byte("u"), 50_000)
	if _, err := file.Write(synced); err != nil {
		t.Fatal(err)
	}
	dir, err := os.Open(f.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(file.Sync(), dir.Sync(), dir.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := file.Write(never); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(f.Dir, "never"), never, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.Shutdown(); err != nil {
		t.Fatal(err)
	}
	if _, err := file.Write(never); !errors.Is(err, syscall.EIO) {
		t.Errorf("a write after the failure: %v", err)
	}
	file.Close()
	if err := f.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(name); err != nil || !bytes.Equal(text, synced) {
		t.Errorf("%d bytes of the log survive, %d were synced: %v", len(text), len(synced), err)
	}
	if _, err := os.Stat(filepath.Join(f.Dir, "never")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that was never synced: %v", err)
	}
}

// What was written before Sync survives a power failure, though it was not synced by itself.
func TestSync(t *testing.T) {
	f := made(t)
	for _, name := range []string{"before", "after"} {
		if err := os.WriteFile(filepath.Join(f.Dir, "written "+name), []byte("cookie"), 0o600); err != nil {
			t.Fatal(err)
		}
		if name == "before" {
			if err := f.Sync(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(f.Shutdown(), f.Recover(t.Context())); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(filepath.Join(f.Dir, "written before"))
	if err != nil || string(before) != "cookie" {
		t.Errorf("what was written before is %q, %v", before, err)
	}
	if after, err := os.ReadFile(filepath.Join(f.Dir, "written after")); err == nil && len(after) > 0 {
		t.Errorf("what was written after and not synced is %q", after)
	}
}

// A full file system takes nothing more, and all again when it is emptied.
func TestFull(t *testing.T) {
	f := made(t)
	write := func() error {
		return os.WriteFile(filepath.Join(f.Dir, "more"), bytes.Repeat([]byte("x"), 1<<20), 0o600)
	}
	taken, err := f.Fill()
	if err != nil || taken < 32<<20 || taken > 64<<20 {
		t.Fatalf("%d bytes taken: %v", taken, err)
	}
	if err := write(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a full one: %v", err)
	}
	if err := errors.Join(f.Empty(), f.Empty(), write()); err != nil {
		t.Error(err)
	}
}

// A file system that was full, and is not any more, has its space after a power failure as well, though that the space is
// free again was never synced.
func TestPowerFailureAfterFull(t *testing.T) {
	f := made(t)
	if _, err := f.Fill(); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Sync(), f.Empty(), f.Shutdown(), f.Recover(t.Context())); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(f.Dir, "more"), make([]byte, 1<<20), 0o600); err != nil {
		t.Errorf("it is still full: %v", err)
	}
}

// Bits are turned over in files that match alone, as the seed says, and each once.
func TestCorrupt(t *testing.T) {
	dir := t.TempDir()
	for name, size := range map[string]int{"a/1.blk": 4, "a/2.blk": 12, "b.idx": 100, "empty.blk": 0} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700), os.WriteFile(filepath.Join(dir, name), make([]byte, size), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	seeded := func() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }
	flips, err := Corrupt(dir, "*.blk", 3, seeded())
	if err != nil || len(flips) != 3 {
		t.Fatalf("%v, %v", flips, err)
	}
	for _, f := range flips {
		text, err := os.ReadFile(filepath.Join(dir, f.File))
		if err != nil || text[f.Offset]&(1<<f.Bit) == 0 {
			t.Errorf("%s is not turned over: %v", f, err)
		}
	}
	again, err := Corrupt(dir, "a/*.blk", 3, seeded())
	if err != nil || !slices.EqualFunc(again, flips, func(a, b Flip) bool { return a.String() == b.String() && a.At > b.At && b.At > 0 }) {
		t.Errorf("the same seed: %v, %v; first %v", again, err, flips)
	}
	for _, name := range []string{"a/1.blk", "a/2.blk", "b.idx"} { // turned back
		if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || bytes.Count(text, []byte{0}) != len(text) {
			t.Errorf("%s is %x, %v", name, text, err)
		}
	}
	if all, err := Corrupt(dir, "a/*.blk", 16*8, seeded()); err != nil || len(all) != 16*8 {
		t.Errorf("all bits: %d, %v", len(all), err)
	}
	for pattern, says := range map[string]string{"*.log": "no file", "[": "no pattern", "a/*.blk": "fewer than"} {
		if flips, err := Corrupt(dir, pattern, 16*8+1, seeded()); err == nil || !strings.Contains(err.Error(), says) || len(flips) > 0 {
			t.Errorf("%s: %v, %v", pattern, flips, err)
		}
	}
}

// owner is the process that is killed: it says each step before it takes it, and waits for a line.
func owner(dir string) int {
	in := bufio.NewReader(os.Stdin)
	step := func(name string) {
		fmt.Println(name)
		in.ReadString('\n')
	}
	step("make")
	f, err := Make(journal.New(filepath.Join(dir, "undo")), "a test", filepath.Join(dir, "node-1"), 64<<20)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	for _, s := range []struct {
		name string
		do   func() error
	}{
		{"fill", func() error { _, err := f.Fill(); return err }},
		{"shut down", f.Shutdown},
		{"unmount", func() error { return syscall.Unmount(f.Dir, 0) }},
		{"mount", f.mount},
		{"end", func() error { return nil }},
	} {
		step(s.name)
		if err := s.do(); err != nil {
			fmt.Println(err)
			return 1
		}
	}
	return 0
}

// Whatever the step at which its process is killed, the next one unmounts the file system, detaches its loop
// device and removes its image.
func TestKilledBetweenSteps(t *testing.T) {
	needed(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	steps := []string{"make", "fill", "shut down", "unmount", "mount", "end"}
	for k, at := range steps {
		t.Run("before "+at, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.Mkdir(filepath.Join(dir, "node-1"), 0o700); err != nil {
				t.Fatal(err)
			}
			c := exec.Command(self)
			c.Env = append(os.Environ(), role+"="+dir)
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
			said := bufio.NewReader(out)
			for i := range k + 1 {
				if i > 0 {
					io.WriteString(in, "\n")
				}
				if word, _ := said.ReadString('\n'); strings.TrimSpace(word) != steps[i] {
					t.Errorf("step %d is %q", i, word)
				}
			}
			c.Process.Kill()
			c.Wait()
			if left := machine(t, dir); k > 0 && at != "mount" && len(left) < 2 {
				t.Errorf("%q is there to be undone", left)
			}
			found, err := journal.Recover(t.Context(), filepath.Join(dir, "undo"), Kinds())
			if err != nil || len(found) != min(k, 1) || k > 0 && found[0].State != journal.Undone {
				t.Errorf("%+v, %v", found, err)
			}
			if left := machine(t, dir); len(left) > 0 {
				t.Errorf("left: %q", left)
			}
			if files, err := filepath.Glob(filepath.Join(dir, "*.ext4")); err != nil || len(files) > 0 {
				t.Errorf("left: %q, %v", files, err)
			}
		})
	}
}

// What is not ours is neither unmounted nor removed.
func TestOthersFileSystemsStay(t *testing.T) {
	f := made(t)
	for _, m := range []Made{{"/var/lib/disk.ext4", f.Dir}, {f.Image + ".bak", f.Dir}, {"sixnines-x.ext4", f.Dir}, {f.Image, "node-1"}} {
		if err := m.Check(); err == nil {
			t.Errorf("%+v counts as ours", m)
		}
	}
	other := Made{filepath.Join(filepath.Dir(f.Image), "sixnines-other.ext4"), f.Dir}
	if did, err := other.Undo(t.Context()); did || err != nil {
		t.Errorf("%+v: %v, %v", other, did, err)
	}
	if device, err := mounted(f.Dir); err != nil || backing(device) != f.Image {
		t.Errorf("it is gone: %q, %v", device, err)
	}
}
