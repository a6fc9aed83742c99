// Package judgetest checks of the run in a test what must hold of every run.
package judgetest

import (
	"path/filepath"
	"strings"
	"testing"

	"sixnines/internal/judge"
	"sixnines/result"
)

// Verified checks that the accounts of a run, or of each of its workloads, close, and
// that every figure in its file, and in the raw file beside it if there is one, can be
// computed again, and that a reason about one metric names it, since reports show its text
// alone. It returns the run as the file has it.
func Verified(t testing.TB, r *result.Run, file string) *result.Run {
	t.Helper()
	for _, part := range r.Parts() {
		if ok, why := part.Counters.Conserved(); !ok {
			t.Errorf("%s: %+v", why, part.Counters)
		}
	}
	read, err := result.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range read.Parts() {
		for _, p := range judge.Verify(part, part.Header.Tool) {
			t.Errorf("verify: %s %v", part.Header.Workload, p)
		}
		for _, r := range part.Summary.Verdict.Reasons {
			if !strings.Contains(r.Text, string(r.Metric)) {
				t.Errorf("the reason %s is about %s, and its text does not say so: %s", r.Code, r.Metric, r.Text)
			}
		}
	}
	if read.Header.Raw != "" {
		problems, err := judge.VerifyRaw(read, filepath.Join(filepath.Dir(file), read.Header.Raw))
		if err != nil {
			t.Error(err)
		}
		for _, p := range problems {
			t.Errorf("verify raw: %v", p)
		}
	}
	return read
}
