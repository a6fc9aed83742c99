package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every command has a page, and every shell a script that asks the program.
func TestWrite(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "86400")
	dir := t.TempDir()
	if err := write(dir); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		"man/sixnines.1":            `"Jan 1970"`,
		"man/sixnines-run.1":        "--rate",
		"man/sixnines-broker-up.1":  "--nodes",
		"completions/sixnines.bash": "__complete",
		"completions/sixnines.fish": "__complete",
		"completions/sixnines.ps1":  "__complete",
		"completions/_sixnines":     "#compdef sixnines",
	} {
		text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(file)))
		if err != nil {
			t.Error(err)
		} else if !strings.Contains(strings.ReplaceAll(string(text), `\-`, "-"), want) {
			t.Errorf("%s does not have %q:\n%s", file, want, text)
		}
	}
}
