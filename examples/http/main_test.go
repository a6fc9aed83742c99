package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sixnines/result"
)

func TestRun(t *testing.T) {
	var out strings.Builder
	file := filepath.Join(t.TempDir(), "http.jsonl")
	if err := run(t.Context(), []string{"-rate", "200/s", "-for", "1s", "-workers", "64", "-out", file}, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`open loop: 200 requests due, 200 answered, 0 failed, 0 without an answer`,
		`(?m)^ *99 +\S+`, `99\.9 +n/a \(needs 3,?688\)`, `(?m)^ *max`, `VALID|SUSPECT|UNSTABLE|INVALID`,
	} {
		if !regexp.MustCompile(want).MatchString(out.String()) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	r, err := result.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Header.SameHost {
		t.Error("a loopback address is this host")
	}
	if err := run(t.Context(), []string{"-rate", "fast"}, &out); err == nil {
		t.Error("a rate that is none")
	}
	if err := run(t.Context(), []string{"-url", "http://127.0.0.1:1/"}, &out); err == nil {
		t.Error("nobody listens there")
	}
}
