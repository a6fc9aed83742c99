package main

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// imageIndex is an image from scratch: the program, and the directories that it
// writes to.
type imageIndex struct{ manifests []mutate.IndexAddendum }

// add adds the image for one platform.
func (i *imageIndex) add(r *release, b *program) error {
	var files bytes.Buffer
	if err := writeTar(&files, []entry{
		{"sixnines", b.file, 0o755},
		{"LICENSE", filepath.Join(r.source, "LICENSE"), 0o644},
		{"NOTICE", filepath.Join(r.source, "NOTICE"), 0o644},
		{"tmp/", "", 0o1777},
		{"work/", "", 0o1777}, // any user may run it
	}, r.at); err != nil {
		return err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(files.Bytes())), nil
	}, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return err
	}
	platform := v1.Platform{OS: b.os, Architecture: b.arch}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err = mutate.ConfigFile(image, &v1.ConfigFile{
		OS: b.os, Architecture: b.arch, Created: v1.Time{Time: r.at}, RootFS: v1.RootFS{Type: "layers"},
		Config: v1.Config{
			Entrypoint: []string{"/sixnines"}, WorkingDir: "/work", Env: []string{"HOME=/tmp"},
			Labels: map[string]string{
				"org.opencontainers.image.title":    "sixnines",
				"org.opencontainers.image.version":  b.version,
				"org.opencontainers.image.revision": r.revision,
				"org.opencontainers.image.licenses": "Apache-2.0",
			},
		},
	})
	if err != nil {
		return err
	}
	image, err = mutate.Append(image, mutate.Addendum{Layer: layer, MediaType: types.OCILayer,
		History: v1.History{Created: v1.Time{Time: r.at}, CreatedBy: "make dist"}})
	if err != nil {
		return err
	}
	i.manifests = append(i.manifests, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: &platform}})
	return nil
}

// write writes the images of all platforms as one archive in OCI's layout.
func (i *imageIndex) write(r *release, file string) error {
	dir := filepath.Join(r.temp, "oci")
	index := mutate.AppendManifests(mutate.IndexMediaType(empty.Index, types.OCIImageIndex), i.manifests...)
	path, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	if err := path.AppendIndex(index, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": r.version()})); err != nil {
		return err
	}
	var entries []entry
	err = filepath.WalkDir(dir, func(from string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, from)
		entries = append(entries, entry{filepath.ToSlash(name), from, 0o644})
		return err
	})
	if err != nil {
		return err
	}
	return writeFile(file, func(w io.Writer) error { return writeTar(w, entries, r.at) })
}

// tryImage unpacks an image for this machine from its archive and runs it: its
// version, and a second of load with the server that is built in. As root it
// runs with the image as its root directory; else the program alone is tried.
func tryImage(ctx context.Context, file, temp string) error {
	dir, root := filepath.Join(temp, "unpacked"), filepath.Join(temp, "root")
	if err := untar(file, dir); err != nil {
		return err
	}
	path, err := layout.FromPath(dir)
	if err != nil {
		return err
	}
	outer, err := path.ImageIndex()
	if err != nil {
		return err
	}
	top, err := outer.IndexManifest()
	if err != nil {
		return err
	}
	inner, err := outer.ImageIndex(top.Manifests[0].Digest)
	if err != nil {
		return err
	}
	manifests, err := inner.IndexManifest()
	if err != nil {
		return err
	}
	for _, m := range manifests.Manifests {
		if m.Platform.OS != runtime.GOOS || m.Platform.Architecture != runtime.GOARCH {
			continue
		}
		image, err := inner.Image(m.Digest)
		if err != nil {
			return err
		}
		flat := mutate.Extract(image)
		defer flat.Close()
		if err := untarFrom(flat, root); err != nil {
			return err
		}
		config, err := image.ConfigFile()
		if err != nil {
			return err
		}
		return tryRoot(ctx, root, config.Config)
	}
	return fmt.Errorf("it has none for %s/%s", runtime.GOOS, runtime.GOARCH)
}

// tryRoot runs the image whose files are in root.
func tryRoot(ctx context.Context, root string, config v1.Config) error {
	for _, args := range [][]string{{"version"}, {"run", "--duration", "1s", "--rate", "1000/s", "--json"}} {
		c := exec.CommandContext(ctx, filepath.Join(root, config.Entrypoint[0]), args...)
		c.Env, c.Dir = config.Env, filepath.Join(root, config.WorkingDir)
		if where := changeRoot(root); where != nil {
			c.Path, c.Dir, c.SysProcAttr = config.Entrypoint[0], config.WorkingDir, where
		}
		c.Args = append(config.Entrypoint[:1:1], args...)
		out, err := c.CombinedOutput()
		// 4 is a verdict about this machine at this moment, not about the image.
		var exit *exec.ExitError
		if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 4) {
			return fmt.Errorf("%s: %w\n%s", strings.Join(c.Args, " "), err, out)
		}
		first, _, _ := strings.Cut(string(out), "\n")
		if len(first) > 100 {
			first = first[:100] + "…"
		}
		fmt.Printf("image: %s: %s\n", strings.Join(c.Args, " "), first)
	}
	results, err := filepath.Glob(filepath.Join(root, config.WorkingDir, "results", "*.jsonl"))
	if err != nil {
		return err
	}
	if len(results) != 1 {
		return fmt.Errorf("the run left %d result files in %s/results, not one", len(results), config.WorkingDir)
	}
	return nil
}

func untar(file, dir string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	return untarFrom(f, dir)
}

// untarFrom unpacks files and directories, none outside dir.
func untarFrom(r io.Reader, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for t := tar.NewReader(r); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		parent := filepath.Dir(filepath.Clean(h.Name))
		if h.Typeflag == tar.TypeDir {
			parent = filepath.Clean(h.Name)
		}
		if err := root.MkdirAll(parent, 0o755); err != nil {
			return err
		}
		if h.Typeflag == tar.TypeDir {
			continue
		}
		f, err := root.OpenFile(h.Name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, os.FileMode(h.Mode).Perm())
		if err != nil {
			return err
		}
		if _, err := io.Copy(f, t); err != nil {
			f.Close()
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
}
