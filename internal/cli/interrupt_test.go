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
// written, unless that begins with awaits.
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
	if len(s.cues) > 0 && strings.HasPrefix(s.cues[0], awaits) && strings.Contains(string(p), s.cues[0][len(awaits):]) {
		s.cues = s.cues[1:]
	}
	return s.text.Write(p)
}

const awaits = "await "

// The first Ctrl-C ends an ab with the run under way, the second the window of
// that run, too; what there is is compared. A run that has measured nothing yet
// is not made.
func TestABInterrupted(t *testing.T) {
	for _, tt := range []struct {
		name, duration string
		cues           []string
		files          int
		code           []int
		want           string
	}{
		{"in the third run", "400ms", []string{awaits + "(run 3 of", "measure"}, 3, []int{exitOK, exitFailure}, "ending after this run"},
		{"twice in a long run", "10m", []string{"measure", "ending after this run"}, 1, []int{exitFailure}, "stopped before a pair of runs was complete"},
		{"before the third run", "100ms", []string{"(run 3 of"}, 2, []int{exitOK, exitFailure}, "stopping; nothing of this run"},
		{"before a window", "10m", []string{"(run 1 of"}, 0, []int{exitFailure}, "stopped before a pair of runs was complete"},
		{"in the second pair at once", "400ms", []string{awaits + "(runs 3 and", "measure"}, 4, []int{exitOK, exitFailure}, "ending after this run"},
		{"before the second pair at once", "100ms", []string{"(runs 3 and"}, 2, []int{exitOK, exitFailure}, "stopping; nothing of this run"},
		{"in the pilot", "10m", []string{"pilot: A alone"}, 0, []int{exitFailure}, "stopped before a pair of runs was complete"},
		{"in the window of the pilot", "10m", []string{"measure"}, 0, []int{exitFailure}, "stopped before a pair of runs was complete"},
		{"twice in a pair at once", "10m", []string{"measure", "ending after this run"}, 2, []int{exitOK, exitFailure}, "the window ends here"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			errs := &signaller{cues: tt.cues, signals: make(chan os.Signal, len(tt.cues))}
			var out bytes.Buffer
			code := Main(t.Context(), Env{Args: append([]string{"ab", "mem", "--pairs", "6", "--duration", tt.duration, "--warmup", "500ms", "--rate", "200/s", "--set", "record.interval=100ms"}, designOfTest(tt.name)...),
				Stdin: strings.NewReader(""), Stdout: &out, Stderr: errs, Dir: dir, Drivers: all.Set(), Tool: BuiltTool(),
				Signals: func() (<-chan os.Signal, func()) { return errs.signals, func() {} }})
			text := errs.text.String()
			files, err := filepath.Glob(filepath.Join(dir, "results", "ab-*", "*.jsonl"))
			if err != nil || len(files) != tt.files {
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

// designOfTest are the flags for the design that a test's name speaks of; none: a pilot chooses.
func designOfTest(name string) []string {
	switch {
	case strings.HasSuffix(name, "at once"):
		return []string{"--design", "beside"}
	case strings.HasSuffix(name, "pilot"):
		return nil
	}
	return []string{"--design", "apart"}
}

// A series understands one signal more than a run, but before a window as many.
func TestSeriesSignals(t *testing.T) {
	for _, tt := range []struct {
		name      string
		measuring bool
		want      []string
	}{
		{"in a window", true, []string{"ending after this run", "the window ends here", "stopping at once", "not waiting any longer"}},
		{"before one", false, []string{"nothing of this run has been measured", "not waiting any longer"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			signals, said := make(chan os.Signal, 4), make(chan string, 4)
			a := &app{Env: Env{Signals: func() (<-chan os.Signal, func()) { return signals, func() {} }}}
			s := a.seriesStops(t.Context())
			i := s.next(func(text string) { said <- text })
			if tt.measuring {
				i.observe(measuring())
			}
			signals <- os.Interrupt
			<-s.ended
			if tt.measuring {
				select {
				case <-i.early.Done():
					t.Error("the first ends the window")
				default:
				}
			}
			signals <- os.Interrupt
			<-i.early.Done()
			signals <- os.Interrupt
			<-i.abort
			if tt.measuring {
				signals <- os.Interrupt
			}
			<-i.giveUp
			for _, want := range tt.want {
				if got := <-said; !strings.Contains(got, want) {
					t.Errorf("said %q, want %q", got, want)
				}
			}
			s.done()
			if i = s.next(func(string) {}); !i.vain.Load() || i.early.Err() == nil {
				t.Error("another run begins")
			}
			s.stop()
		})
	}
}
