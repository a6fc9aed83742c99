package main

import (
	"archive/tar"
	"bytes"
	"io"
	"os"
	"runtime"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/google/go-containerregistry/pkg/name"
)

// imageName is that of all images of a trial, which are in no registry.
const (
	imageName  = "localhost/sixnines"
	pauseImage = imageName + ":pause"
)

// writePause writes the image of what holds a pod's namespaces, which is this program.
func writePause(file string) error {
	program, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		return err
	}
	var files bytes.Buffer
	t := tar.NewWriter(&files)
	if err := t.WriteHeader(&tar.Header{Name: "pause", Mode: 0o755, Size: int64(len(program))}); err != nil {
		return err
	}
	if _, err := t.Write(program); err != nil {
		return err
	}
	if err := t.Close(); err != nil {
		return err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(files.Bytes())), nil })
	if err != nil {
		return err
	}
	image, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		return err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return err
	}
	config.OS, config.Architecture = "linux", runtime.GOARCH
	config.Config = v1.Config{Entrypoint: []string{"/pause", pauseCommand}}
	if image, err = mutate.ConfigFile(image, config); err != nil {
		return err
	}
	tag, err := name.NewTag(pauseImage)
	if err != nil {
		return err
	}
	return tarball.WriteToFile(file, tag, image)
}
