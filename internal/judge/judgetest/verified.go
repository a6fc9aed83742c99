// Package judgetest checks of the run in a test what must hold of every run.
package judgetest

import (
	"path/filepath"
	"testing"

	"sixnines/internal/judge"
	"sixnines/result"
)

// Verified checks that the accounts of a run close, and that every figure in its
// file, and in the raw file beside it if there is one, can be computed again. It
// returns the run as the file has it.
func Verified(t testing.TB, r *result.Run, file string) *result.Run {
	t.Helper()
	if ok, why := r.Counters.Conserved(); !ok {
		t.Errorf("%s: %+v", why, r.Counters)
	}
	read, err := result.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range judge.Verify(read) {
		t.Errorf("verify: %v", p)
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
