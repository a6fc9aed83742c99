package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A tree with another path has all its packages and imports none by the old path.
func TestRename(t *testing.T) {
	dir := t.TempDir()
	git := exec.CommandContext(t.Context(), "sh", "-c", `git -C ../.. archive HEAD | tar -x -C "$0"`, dir)
	if out, err := git.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	const to = "example.com/me/sixnines"
	n, err := rename(dir, to)
	if err != nil {
		t.Fatal(err)
	}
	if n < 500 {
		t.Errorf("%d files were changed", n)
	}
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-test", "-f", "{{.ImportPath}}", "./...")
	list.Dir = dir
	out, err := list.Output()
	if err != nil {
		t.Fatalf("not every package is found: %v", err)
	}
	own := 0
	for _, path := range strings.Fields(string(out)) {
		if strings.HasPrefix(path, "sixnines") {
			t.Errorf("%s is still imported", path)
		}
		if strings.HasPrefix(path, to) {
			own++
		}
	}
	if own < 100 {
		t.Errorf("%d packages have the new path", own)
	}
	if _, err := rename(dir, "no path"); err == nil {
		t.Error("a path with a space is taken")
	}
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil || !strings.HasPrefix(string(text), "module "+to+"\n") {
		t.Errorf("go.mod begins with %.60s, %v", text, err)
	}
}
