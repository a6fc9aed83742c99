// Command manual writes the manual pages of sixnines and its completion scripts,
// for packages: the pages to DIR/man, the scripts to DIR/completions. The date
// of the pages is SOURCE_DATE_EPOCH, or now. It is a program of its own so that
// what renders manual pages is not linked into sixnines.
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra/doc"

	"sixnines/internal/cli"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: manual DIR")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "manual:", err)
		os.Exit(1)
	}
}

// scripts are the names under which shells look for a program's completions.
func scripts() map[string]string {
	return map[string]string{
		"bash": "sixnines.bash", "fish": "sixnines.fish", "powershell": "sixnines.ps1", "zsh": "_sixnines",
	}
}

func write(dir string) error {
	pages, completions := filepath.Join(dir, "man"), filepath.Join(dir, "completions")
	for _, d := range []string{pages, completions} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return err
		}
	}
	root := cli.Commands(cli.Env{})
	root.DisableAutoGenTag = true
	if err := doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "sixnines", Manual: "Sixnines"}, pages); err != nil {
		return err
	}
	for shell, name := range scripts() {
		var out bytes.Buffer
		code := cli.Main(context.Background(), cli.Env{Args: []string{"completion", shell}, Stdout: &out, Stderr: os.Stderr})
		if code != 0 {
			return fmt.Errorf("completion %s: exit code %d", shell, code)
		}
		if err := os.WriteFile(filepath.Join(completions, name), out.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}
