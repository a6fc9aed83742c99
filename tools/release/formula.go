package main

import (
	_ "embed"
	"io"
	"path/filepath"
	"text/template"
)

// formulaData is what a formula of Homebrew tells.
type formulaData struct {
	Version string
	Base    string
	Systems []formulaSystem
}

type formulaSystem struct {
	Name     string // as Homebrew's blocks are called
	Archives []formulaArchive
}

type formulaArchive struct{ Processor, URL, Sum string }

// add adds a platform's archive, if Homebrew is there.
func (d *formulaData) add(b *program, base, archive string) error {
	system, there := map[string]string{"darwin": "macos", "linux": "linux"}[b.os]
	if !there {
		return nil
	}
	sum, err := sumOf(archive)
	if err != nil {
		return err
	}
	d.Base = base
	if n := len(d.Systems); n == 0 || d.Systems[n-1].Name != system {
		d.Systems = append(d.Systems, formulaSystem{Name: system})
	}
	last := &d.Systems[len(d.Systems)-1]
	last.Archives = append(last.Archives, formulaArchive{
		Processor: map[string]string{"amd64": "intel", "arm64": "arm"}[b.arch],
		URL:       base + "/" + filepath.Base(archive), Sum: sum,
	})
	return nil
}

//go:embed formula.rb.tmpl
var formulaText string

// write writes the formula, if there is anything for Homebrew.
func (d *formulaData) write(r *release, file string) error {
	if len(d.Systems) == 0 {
		return nil
	}
	d.Version = r.version()
	t, err := template.New("formula").Parse(formulaText)
	if err != nil {
		return err
	}
	return writeFile(file, func(w io.Writer) error { return t.Execute(w, d) })
}
