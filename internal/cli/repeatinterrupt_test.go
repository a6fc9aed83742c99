package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sixnines/drivers/all"
)

// Wherever Ctrl-C comes between the window of one run and that of the next, it
// is neither lost nor the end of the process, and what was made stays.
func TestCtrlCBetweenRuns(t *testing.T) {
	for name, cues := range map[string][]string{
		"after a run":     {awaits + "run 1 of 3: mem-deliver", "run 1 of 3: "}, // the second line that begins so: the verdict
		"before the next": {"run 2 of 3: mem-deliver"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			stderr := &signaller{cues: cues, signals: make(chan os.Signal, 3)}
			released := 0
			var stdout bytes.Buffer
			env := Env{Args: []string{"run", "mem", "--duration", "150ms", "--warmup", "500ms", "--rate", "200/s", "--repeat", "3", "--json", "--junit", "j.xml"},
				Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: stderr, Dir: dir, Drivers: all.Set(), Tool: BuiltTool(),
				Signals: func() (<-chan os.Signal, func()) { return stderr.signals, func() { released++ } }}
			code := Main(context.Background(), env)
			if code != exitOK && code != exitInvalid {
				t.Errorf("exit code %d", code)
			}
			want := 1
			if strings.Contains(stderr.text.String(), "run 2 of 3: Ctrl-C: ending after this run") {
				want = 2 // the machine stood still for longer than the warm-up lasts
			}
			var o setObject
			if err := json.Unmarshal(stdout.Bytes(), &o); err != nil || len(o.Runs) != want || o.Stopped != fmt.Sprintf("stopped after %d of 3", want) {
				t.Errorf("%v: %d runs, %q", err, len(o.Runs), o.Stopped)
			}
			files, err := filepath.Glob(filepath.Join(dir, "results", "*", "*.jsonl"))
			if err != nil || len(files) != want || released != 1 {
				t.Errorf("%q, %v; %d times released", files, err, released)
			}
			text, err := os.ReadFile(filepath.Join(dir, "j.xml"))
			if err != nil || !strings.Contains(string(text), `type="incomplete"`) {
				t.Errorf("%v\n%s", err, text)
			}
			if t.Failed() {
				t.Log(stderr.text.String())
			}
		})
	}
}
