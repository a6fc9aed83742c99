package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// What was not made by a release is not removed.
func TestEmptied(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dist")
	if err := emptied(dir); err != nil {
		t.Fatal(err)
	}
	mine := filepath.Join(dir, "mine")
	if err := os.WriteFile(mine, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := emptied(dir); err == nil {
		t.Error("a directory that is no release was emptied")
	}
	if err := writeSums(dir); err != nil {
		t.Fatal(err)
	}
	if err := emptied(dir); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(mine); err == nil {
		t.Error("an earlier release's file is still there")
	}
}

func TestUsage(t *testing.T) {
	out := filepath.Join(t.TempDir(), "dist")
	for _, args := range [][]string{{}, {"-out", out, "more"}, {"-out", out, "-platforms", "plan9/mips"}, {"-speed"}} {
		if err := run(t.Context(), args); !errors.Is(err, errUsage) {
			t.Errorf("%q: %v", args, err)
		}
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("something was written")
	}
}

func TestUntarStaysInside(t *testing.T) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := w.WriteHeader(&tar.Header{Name: "../outside", Mode: 0o644}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := untarFrom(&b, filepath.Join(dir, "inside")); err == nil {
		t.Error("a name outside was taken")
	}
	if _, err := os.Stat(filepath.Join(dir, "outside")); err == nil {
		t.Error("a file outside was written")
	}
}
