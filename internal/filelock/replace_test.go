//go:build unix

package filelock

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

// Replace replaces the file that a name leads to, and nothing else: links and pipes stay.
func TestReplace(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	if err := os.Mkdir(in("artifacts"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"link": "artifacts/there", "dangling": "artifacts/new"} {
		if err := os.Symlink(to, in(name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(in("artifacts/there"), []byte("old, and longer"), 0o644); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	half := func(w io.Writer) error { _, _ = w.Write([]byte("half")); return broken }
	if err := Replace(in("link"), 0o644, half); !errors.Is(err, broken) || read(t, in("artifacts/there")) != "old, and longer" {
		t.Errorf("%v, %q", err, read(t, in("artifacts/there")))
	}
	for name, file := range map[string]string{"file": "file", "link": "artifacts/there", "dangling": "artifacts/new"} {
		if err := Replaceable(in(name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := Replace(in(name), 0o644, text("new")); err != nil || read(t, in(file)) != "new" {
			t.Errorf("%s: %v, %q", name, err, read(t, in(file)))
		}
		info, err := os.Lstat(in(name))
		if err != nil || (info.Mode()&fs.ModeSymlink != 0) != (name != "file") {
			t.Errorf("%s: %v, %v", name, err, info)
		}
	}
	if all, err := os.ReadDir(dir); err != nil || len(all) != 4 {
		t.Errorf("something is left: %v, %v", all, err)
	}
	for _, name := range []string{"none/file", "artifacts"} {
		if err := Replace(in(name), 0o644, text("new")); err == nil {
			t.Errorf("%s is written", name)
		}
	}
	if err := Replaceable(in("none/file")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a directory that is not there: %v", err)
	}
}

// A pipe gets what is written, by its own name or as the kernel's link to it (/dev/stdout is such), and
// is there afterwards even if its reader is gone.
func TestReplaceOfAPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	name := filepath.Join(t.TempDir(), "stdout")
	if err := os.Symlink(filepath.Join("/dev/fd", strconv.Itoa(int(w.Fd()))), name); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(name); err != nil {
		t.Skipf("LOUD: this system has no /dev/fd: %v", err)
	}
	if err := errors.Join(Replaceable(name), Replace(name, 0o644, text("new"))); err != nil {
		t.Error(err)
	}
	got := make([]byte, 3)
	if _, err := io.ReadFull(r, got); err != nil || string(got) != "new" {
		t.Errorf("%v, %q", err, got)
	}
	r.Close()
	if err := Replace(name, 0o644, text("more")); err == nil {
		t.Errorf("without a reader: %v", err)
	}
	if info, err := os.Lstat(name); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", info, err)
	}

	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	reader, err := os.OpenFile(fifo, os.O_RDWR, 0) // does not wait for a writer
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if err := Replace(fifo, 0o644, text("new")); err != nil {
		t.Error(err)
	}
	if _, err := io.ReadFull(reader, got); err != nil || string(got) != "new" {
		t.Errorf("%v, %q", err, got)
	}
	if info, err := os.Lstat(fifo); err != nil || info.Mode()&fs.ModeNamedPipe == 0 {
		t.Errorf("the pipe is gone: %v, %v", info, err)
	}
}

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Error(err)
	}
	return string(text)
}
