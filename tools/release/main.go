// Command release makes what is published of a version of Sixnines: static
// programs in archives, packages, an image, a formula, and what tells of them.
//
// It builds a commit, not the working tree: HEAD is cloned to a directory of its
// own, so that the program knows its version, and so that the same commit gives
// the same bytes wherever and whenever it is built. Times in archives are the
// commit's. The libraries that write the formats are this module's alone: the
// program's own go.mod does not know them.
package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
)

// platforms are what a release is made for, as GOOS/GOARCH.
func platforms() []string {
	return []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		stop()
		if errors.Is(err, errUsage) {
			os.Exit(2)
		}
		os.Exit(1)
	}
}

var errUsage = errors.New("wrong usage")

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	root := flags.String("root", "..", "the repository")
	out := flags.String("out", "", "the directory to write, emptied first")
	asked := flags.String("platforms", strings.Join(platforms(), " "), "what to build for")
	base := flags.String("url", "", "where the files will be found, for the formula; empty: in -out, on this machine")
	try := flags.Bool("try", false, "unpack the image for this machine and run it")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil
	} else if err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	if *out == "" || flags.NArg() > 0 {
		return fmt.Errorf("%w: -out DIR is needed, and nothing but flags", errUsage)
	}
	for _, p := range strings.Fields(*asked) {
		if !slices.Contains(platforms(), p) {
			return fmt.Errorf("%w: no platform %q; there are %s", errUsage, p, strings.Join(platforms(), ", "))
		}
	}
	dir, err := filepath.Abs(*out)
	if err != nil {
		return err
	}
	if *base == "" {
		*base = (&url.URL{Scheme: "file", Path: filepath.ToSlash(dir)}).String()
	}
	r, err := checkOut(ctx, *root)
	if err != nil {
		return err
	}
	defer os.RemoveAll(r.temp)
	if err := emptied(dir); err != nil {
		return err
	}
	return r.make(ctx, dir, strings.Fields(*asked), strings.TrimSuffix(*base, "/"), *try)
}

// emptied makes dir an empty directory. It removes only what an earlier release
// has left: a directory without its sums is not one.
func emptied(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return os.MkdirAll(dir, 0o755)
	}
	if err != nil {
		return err
	}
	if len(entries) > 0 {
		if _, err := os.Stat(filepath.Join(dir, sumsFile)); err != nil {
			return fmt.Errorf("%s is neither empty nor an earlier release: remove it, or name another", dir)
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return os.MkdirAll(dir, 0o755)
}

// make writes everything to dir. The sums come last: where they are, all is.
func (r *release) make(ctx context.Context, dir string, asked []string, base string, try bool) error {
	if err := r.describe(ctx); err != nil {
		return err
	}
	var image imageIndex
	var formula formulaData
	for i, p := range asked {
		fmt.Printf("%-14s %d of %d: building; the first takes minutes\n", p, i+1, len(asked))
		b, err := r.build(ctx, p)
		if err != nil {
			return err
		}
		archive, err := r.archive(b, dir)
		if err != nil {
			return err
		}
		if err := b.sbom(filepath.Join(dir, b.stem()+".cdx.json"), filepath.Join(r.source, "NOTICE")); err != nil {
			return err
		}
		if b.os == "linux" {
			if err := r.packages(b, dir); err != nil {
				return err
			}
			if err := image.add(r, b); err != nil {
				return err
			}
		}
		if err := formula.add(b, base, archive); err != nil {
			return err
		}
		packed, err := os.Stat(archive)
		if err != nil {
			return err
		}
		fmt.Printf("%-14s %s, program %.1f MB, archive %.1f MB\n", p, b.version, float64(b.size)/1e6, float64(packed.Size())/1e6)
	}
	if len(image.manifests) > 0 {
		file := filepath.Join(dir, "sixnines_"+r.version()+"_oci.tar")
		if err := image.write(r, file); err != nil {
			return err
		}
		if try {
			if err := tryImage(ctx, file, r.temp); err != nil {
				return fmt.Errorf("the image: %w", err)
			}
		}
	} else if try {
		return fmt.Errorf("%w: -try needs the image for this machine", errUsage)
	}
	if err := formula.write(r, filepath.Join(dir, "sixnines.rb")); err != nil {
		return err
	}
	return writeSums(dir)
}

// sumsFile holds the SHA-256 of every other file, as sha256sum -c reads it.
const sumsFile = "SHA256SUMS"

func writeSums(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, e := range entries {
		sum, err := sumOf(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s  %s\n", sum, e.Name())
	}
	return os.WriteFile(filepath.Join(dir, sumsFile), []byte(b.String()), 0o644)
}

func sumOf(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}
