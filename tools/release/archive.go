package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// entry is a file, or with a / at its end a directory, of an archive.
type entry struct {
	name string
	from string // the file; empty: a directory
	mode int64
}

// documents are the files that go with every program, with the directories of
// the manual and the completions.
func (r *release) documents() ([]entry, error) {
	var all []entry
	for _, name := range []string{"LICENSE", "NOTICE", "README.md", "CHANGELOG.md"} {
		all = append(all, entry{name, filepath.Join(r.source, name), 0o644})
	}
	for _, dir := range []string{"completions", "man"} {
		files, err := os.ReadDir(filepath.Join(r.described(), dir))
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			all = append(all, entry{dir + "/" + f.Name(), filepath.Join(r.described(), dir, f.Name()), 0o644})
		}
	}
	return all, nil
}

// archive writes the program with its documents and returns the file's path: a
// zip for Windows, a tar with gzip for the others.
func (r *release) archive(b *program, dir string) (string, error) {
	entries, err := r.documents()
	if err != nil {
		return "", err
	}
	entries = append(entries, entry{filepath.Base(b.file), b.file, 0o755})
	for i := range entries {
		entries[i].name = path.Join(b.stem(), entries[i].name)
	}
	if b.os == "windows" {
		file := filepath.Join(dir, b.stem()+".zip")
		return file, writeFile(file, func(w io.Writer) error { return writeZip(w, entries, r.at) })
	}
	file := filepath.Join(dir, b.stem()+".tar.gz")
	return file, writeFile(file, func(w io.Writer) error {
		z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
		if err != nil {
			return err
		}
		if err := writeTar(z, entries, r.at); err != nil {
			return err
		}
		return z.Close()
	})
}

// writeFile creates a file and has write fill it.
func writeFile(file string, write func(io.Writer) error) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// writeTar writes the entries by name, owned by root, as old as the commit.
func writeTar(w io.Writer, entries []entry, at time.Time) error {
	t := tar.NewWriter(w)
	for _, e := range byName(entries) {
		h := &tar.Header{Name: e.name, Mode: e.mode, ModTime: at, Typeflag: tar.TypeDir, Format: tar.FormatPAX}
		if e.from == "" {
			if err := t.WriteHeader(h); err != nil {
				return err
			}
			continue
		}
		stat, err := os.Stat(e.from)
		if err != nil {
			return err
		}
		h.Typeflag, h.Size = tar.TypeReg, stat.Size()
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if err := copyFile(t, e.from); err != nil {
			return err
		}
	}
	return t.Close()
}

func writeZip(w io.Writer, entries []entry, at time.Time) error {
	z := zip.NewWriter(w)
	for _, e := range byName(entries) {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: at}
		h.SetMode(os.FileMode(e.mode))
		f, err := z.CreateHeader(h)
		if err != nil {
			return err
		}
		if err := copyFile(f, e.from); err != nil {
			return err
		}
	}
	return z.Close()
}

func byName(entries []entry) []entry {
	return slices.SortedFunc(slices.Values(entries), func(a, b entry) int { return strings.Compare(a.name, b.name) })
}

func copyFile(w io.Writer, file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return err
}
