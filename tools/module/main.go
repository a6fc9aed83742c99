// Command module gives the tree another module path, in go.mod and in each import. It
// changes files in place.
//
//	module -root .. example.com/me/sixnines
package main

import (
	"errors"
	"flag"
	"fmt"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

func main() {
	root := flag.String("root", "..", "the repository")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "module: give the path that the module is to have, such as example.com/me/sixnines")
		os.Exit(2)
	}
	n, err := rename(*root, flag.Arg(0))
	if err != nil {
		fmt.Fprintln(os.Stderr, "module:", err)
		os.Exit(1)
	}
	fmt.Printf("%s: %d files changed; gofmt -w and go build ./... are next\n", flag.Arg(0), n)
}

// rename gives the module at root the path to, and returns the number of Go files that it changed.
func rename(root, to string) (changed int, err error) {
	edit := exec.Command("go", "list", "-m")
	edit.Dir = root
	out, err := edit.Output()
	if err != nil {
		return 0, fmt.Errorf("read the module's path: %w", err)
	}
	from := strings.TrimSpace(string(out))
	// go mod edit refuses what is no path before anything is changed.
	edit = exec.Command("go", "mod", "edit", "-module="+to)
	edit.Dir = root
	if out, err := edit.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%s: %w", strings.TrimSpace(string(out)), err)
	}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		if d.IsDir() {
			_, err := os.Stat(filepath.Join(path, "go.mod"))
			if err == nil || strings.HasPrefix(d.Name(), ".") || d.Name() == "bin" || d.Name() == "testdata" {
				return filepath.SkipDir
			}
			return nil
		}
		if filepath.Ext(path) != ".go" {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		renamed, err := renamedIn(path, text, from, to)
		if err != nil || renamed == nil {
			return err
		}
		changed++
		return os.WriteFile(path, renamed, 0o644)
	})
	return changed, err
}

// renamedIn returns a Go file with its imports of the module renamed; nil if it has none.
func renamedIn(path string, text []byte, from, to string) ([]byte, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, text, parser.ImportsOnly)
	if list := (scanner.ErrorList)(nil); errors.As(err, &list) {
		return nil, fmt.Errorf("%w", list)
	} else if err != nil {
		return nil, err
	}
	var out []byte
	at := 0
	for _, i := range file.Imports {
		name, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		rest, is := strings.CutPrefix(name, from)
		if !is || rest != "" && rest[0] != '/' {
			continue
		}
		start := set.Position(i.Path.Pos()).Offset
		out = append(append(out, text[at:start]...), strconv.Quote(to+rest)...)
		at = start + len(i.Path.Value)
	}
	if at == 0 {
		return nil, nil
	}
	return append(out, text[at:]...), nil
}
