package engine

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"sixnines/internal/engine/plan"
	"sixnines/scenario"
)

// The digest of an input changes with its content, and with nothing else.
func TestInputDigest(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return file
	}
	for _, tt := range []struct {
		key, value string
		changes    []string // file and content, from one state to the next
	}{
		{"workload.arrivals", "trace:" + write("trace", "1ms\n"), []string{"trace", "1ms\n2ms\n"}},
		{"workload.payload", "file:" + write("text", "abc"), []string{"text", "abd"}},
		{"workload.payload", "corpus:" + filepath.Dir(write("corpus/a", "ab")), []string{"corpus/b", "c", "corpus/a", "a", "corpus/b", "bc"}},
	} {
		s := &scenario.Scenario{}
		if err := s.Apply(scenario.Override{Key: tt.key, Value: tt.value}); err != nil {
			t.Fatal(err)
		}
		s.Normalise()
		inputs := Inputs(s)
		if len(inputs) != 1 || inputs[0].Name != tt.value {
			t.Fatalf("%s: %+v", tt.value, inputs)
		}
		seen := map[string]bool{}
		for k := 0; ; k += 2 {
			digest, err := inputs[0].Digest()
			again, err2 := inputs[0].Digest()
			if err = errors.Join(err, err2); err != nil || again != digest || seen[digest] {
				t.Errorf("%s in state %d: %s, then %s, %v", tt.value, k/2, digest, again, err)
			}
			seen[digest] = true
			if k == len(tt.changes) {
				break
			}
			write(tt.changes[k], tt.changes[k+1])
		}
	}
	gone := Input{Name: "trace:gone", trace: filepath.Join(dir, "gone")}
	if _, err := gone.Digest(); !errors.Is(err, plan.ErrUsage) {
		t.Errorf("a trace that is not there: %v", err)
	}
	s := &scenario.Scenario{}
	s.Normalise()
	if inputs := Inputs(s); inputs != nil {
		t.Errorf("%+v", inputs)
	}
}
