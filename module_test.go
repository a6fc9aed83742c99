package sixnines_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A module of its own imports the library as docs/library.md says, and the program there
// compiles.
func TestLibraryPage(t *testing.T) {
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join("docs", "library.md"))
	if err != nil {
		t.Fatal(err)
	}
	program := regexp.MustCompile("(?s)```go\n(package main\n.*?)```").FindSubmatch(page)
	if program == nil {
		t.Fatal("docs/library.md has no program")
	}
	for name, commands := range map[string][]string{
		"replace":   {"go mod edit -require sixnines@v0.0.0 -replace sixnines=" + root, "go mod tidy"},
		"workspace": {"go work init . " + root},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, text := range map[string]string{"go.mod": "module mine\n\ngo 1.26\n", "main.go": string(program[1])} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			for _, line := range append(commands, "go vet .") { // it compiles, without being linked
				if said := strings.ReplaceAll(line, root, "../sixnines"); line != "go vet ." && !strings.Contains(string(page), said) {
					t.Errorf("docs/library.md does not say %q", said)
				}
				c := exec.CommandContext(t.Context(), "go", strings.Fields(line)[1:]...)
				c.Dir = dir
				if out, err := c.CombinedOutput(); err != nil {
					t.Fatalf("%s: %v\n%s", line, err, out)
				}
			}
		})
	}
}
