package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"

	"github.com/goreleaser/nfpm/v2"
	"github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	"github.com/goreleaser/nfpm/v2/rpm"
)

// packages writes a deb and an rpm.
func (r *release) packages(b *program, dir string) error {
	contents, err := r.installed(b)
	if err != nil {
		return err
	}
	for _, format := range []struct {
		name       string
		packager   nfpm.Packager
		recommends []string
	}{{"deb", deb.Default, []string{"bash-completion"}}, {"rpm", rpm.DefaultRPM, nil}} {
		info := nfpm.WithDefaults(&nfpm.Info{
			Name: "sixnines", Arch: b.arch, Platform: "linux", Version: b.version, Release: "1",
			Section: "net", Priority: "optional", License: "Apache-2.0", Maintainer: "The Sixnines authors",
			Description: "laboratory for message-broker latency\n" +
				"It times every message from the instant it was due, on a schedule that the\n" +
				"broker cannot slow down, and says how far its figures hold.",
			MTime: r.at, DisableGlobbing: true,
			Overridables: nfpm.Overridables{Contents: contents, Recommends: format.recommends, RPM: nfpm.RPM{BuildHost: "localhost", Summary: "laboratory for message-broker latency"}},
		})
		if err := nfpm.PrepareForPackager(info, format.name); err != nil {
			return err
		}
		file := filepath.Join(dir, format.packager.ConventionalFileName(info))
		if err := writeFile(file, func(w io.Writer) error { return format.packager.Package(info, w) }); err != nil {
			return err
		}
	}
	return nil
}

// installed says which file goes where on a Linux machine.
func (r *release) installed(b *program) (files.Contents, error) {
	var all files.Contents
	add := func(packager, from, to string, mode os.FileMode) {
		all = append(all, &files.Content{Source: from, Destination: to, Packager: packager,
			FileInfo: &files.ContentFileInfo{Mode: mode, MTime: r.at, Owner: "root", Group: "root"}})
	}
	add("", b.file, "/usr/bin/sixnines", 0o755)
	add("", filepath.Join(r.source, "deploy", "systemd", "sixnines-agent.service"), "/usr/lib/systemd/system/sixnines-agent.service", 0o644)
	completions := filepath.Join(r.described(), "completions")
	add("", filepath.Join(completions, "sixnines.bash"), "/usr/share/bash-completion/completions/sixnines", 0o644)
	add("", filepath.Join(completions, "sixnines.fish"), "/usr/share/fish/vendor_completions.d/sixnines.fish", 0o644)
	add("deb", filepath.Join(completions, "_sixnines"), "/usr/share/zsh/vendor-completions/_sixnines", 0o644)
	add("rpm", filepath.Join(completions, "_sixnines"), "/usr/share/zsh/site-functions/_sixnines", 0o644)
	add("", filepath.Join(r.source, "NOTICE"), "/usr/share/doc/sixnines/NOTICE", 0o644)
	add("deb", filepath.Join(r.source, "LICENSE"), "/usr/share/doc/sixnines/copyright", 0o644)
	add("rpm", filepath.Join(r.source, "LICENSE"), "/usr/share/licenses/sixnines/LICENSE", 0o644)
	pages, err := filepath.Glob(filepath.Join(r.described(), "man", "*.1"))
	if err != nil {
		return nil, err
	}
	for _, page := range pages {
		packed := page + ".gz"
		if err := pack(page, packed); err != nil {
			return nil, err
		}
		add("", packed, "/usr/share/man/man1/"+filepath.Base(packed), 0o644)
	}
	return all, nil
}

// pack compresses a file, with neither name nor time in it.
func pack(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return writeFile(to, func(w io.Writer) error {
		z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
		if err != nil {
			return err
		}
		if _, err := io.Copy(z, bytes.NewReader(text)); err != nil {
			return err
		}
		return z.Close()
	})
}
