package cli

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"sixnines/drivers/all"
)

// Records are on stdout while the run goes on: who has read an interval can end it.
func TestRecordsWhileRunning(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	records, to := io.Pipe()
	code := make(chan int, 1)
	go func() {
		defer to.Close()
		code <- Main(ctx, Env{Args: []string{"run", "mem", "--out", "-", "--rate", "500/s", "--duration", "5m", "--warmup", "0s", "--set", "record.interval=100ms", "--quiet"},
			Dir: t.TempDir(), Stdin: strings.NewReader(""), Stdout: to, Stderr: io.Discard, Drivers: all.Set()})
	}()
	lines := bufio.NewScanner(records)
	lines.Buffer(nil, 1<<24)
	last := ""
	for lines.Scan() {
		if last = lines.Text(); strings.HasPrefix(last, `{"type":"interval"`) {
			cancel()
		}
	}
	if err := lines.Err(); err != nil {
		t.Error(err)
	}
	if !strings.HasPrefix(last, `{"type":"summary"`) || !strings.Contains(last, `"interrupted":true`) {
		t.Errorf("the last record is %.80s", last)
	}
	if c := <-code; c != exitOK && c != exitInvalid {
		t.Errorf("exit code %d", c)
	}
}

// Where the records cannot be written the command fails, whatever the verdict.
func TestRecordsThatNobodyTakes(t *testing.T) {
	records, to := io.Pipe()
	records.CloseWithError(errors.New("the pipe is closed"))
	var errs strings.Builder
	code := Main(t.Context(), Env{Args: []string{"run", "mem", "--out", "-", "--duration", "200ms", "--warmup", "0s", "--quiet"},
		Dir: t.TempDir(), Stdin: strings.NewReader(""), Stdout: to, Stderr: &errs, Drivers: all.Set()})
	if code != exitFailure || !strings.Contains(errs.String(), "the pipe is closed") {
		t.Errorf("exit code %d: %s", code, errs.String())
	}
}
