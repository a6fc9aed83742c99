package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"sixnines/drivers/all"
)

// signaller is a stderr that sends a signal whenever the next of its cues is
// written.
type signaller struct {
	mu      sync.Mutex
	text    bytes.Buffer
	cues    []string
	signals chan os.Signal
}

func (s *signaller) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.cues) > 0 && strings.Contains(string(p), s.cues[0]) {
		s.cues = s.cues[1:]
		s.signals <- os.Interrupt // has room for all
	}
	return s.text.Write(p)
}

// The first Ctrl-C ends an ab after the run under way, the second that run, too;
// what there is is compared.
func TestABInterrupted(t *testing.T) {
	for _, tt := range []struct {
		name, duration string
		cues           []string
		files          int
		code           []int
		want           string
	}{
		{"in the third run", "100ms", []string{"(run 3 of"}, 3, []int{exitOK, exitFailure}, "ending after this run"},
		{"twice in a long run", "10m", []string{"measure", "ending after this run"}, 1, []int{exitFailure}, "stopped before there was a pair"},
		{"twice before a window", "10m", []string{"(run 1 of", "ending after this run"}, -1, []int{exitFailure}, "stopped before there was a pair"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			errs := &signaller{cues: tt.cues, signals: make(chan os.Signal, len(tt.cues))}
			var out bytes.Buffer
			code := Main(t.Context(), Env{Args: []string{"ab", "mem", "--pairs", "6", "--duration", tt.duration, "--warmup", "0s", "--rate", "200/s"},
				Stdin: strings.NewReader(""), Stdout: &out, Stderr: errs, Dir: dir, Drivers: all.Set(), Tool: BuiltTool(),
				Signals: func() (<-chan os.Signal, func()) { return errs.signals, func() {} }})
			text := errs.text.String()
			files, err := filepath.Glob(filepath.Join(dir, "results", "ab-*", "*.jsonl"))
			if err != nil || tt.files >= 0 && len(files) != tt.files || tt.files < 0 && len(files) > 1 {
				t.Errorf("%v, %v", files, err)
			}
			if !strings.Contains(text, tt.want) || code != tt.code[0] && code != tt.code[len(tt.code)-1] {
				t.Errorf("exit code %d, want %v and %q on\n%s%s", code, tt.code, tt.want, out.String(), text)
			}
			if tt.files == 3 && !strings.Contains(out.String(), "pair 2 has no ") {
				t.Errorf("the lone run is not named:\n%s", out.String())
			}
		})
	}
}
