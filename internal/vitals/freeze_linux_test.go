package vitals

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"sixnines/internal/clock"
)

// watchUntilEOF is the child of TestStoppedProcessIsFrozen.
func watchUntilEOF(opt Options) {
	m := Start(opt)
	for m.thread.due.Load() == 0 || m.goroutine.due.Load() == 0 {
		time.Sleep(time.Millisecond) // on a busy machine a meter may not run yet
	}
	fmt.Println("ready")
	io.Copy(io.Discard, os.Stdin)
	m.Stop()
	for _, f := range Freezes(m.Pauses()) {
		fmt.Println(f.Start, f.End, f.Source)
	}
}

// lineReader reads what a child prints.
type lineReader struct{ *bufio.Reader }

func newLineReader(r io.Reader) lineReader { return lineReader{bufio.NewReader(r)} }

func (r lineReader) expect(t *testing.T, want string) {
	t.Helper()
	if got, err := r.ReadString('\n'); got != want {
		t.Fatalf("the child said %q (%v), want %q", got, err, want)
	}
}

// longest returns the longest pause that the child prints until it ends.
func (r lineReader) longest(t *testing.T) (longest Pause) {
	t.Helper()
	rest, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	for l := range strings.Lines(string(rest)) {
		var p Pause
		if _, err := fmt.Sscan(l, &p.Start, &p.End, &p.Source); err != nil {
			t.Fatalf("the child said %q: %v", l, err)
		}
		if p.Length() > longest.Length() {
			longest = p
		}
	}
	return longest
}

// state returns a process's state letter.
func state(t *testing.T, pid int) byte {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	return text[bytes.LastIndexByte(text, ')')+2]
}

// awaitState waits, up to a minute, until a process is in a state.
func awaitState(t *testing.T, pid int, want byte) {
	t.Helper()
	await(t, func() bool { return state(t, pid) == want })
}

// awaitOtherState waits until it is not.
func awaitOtherState(t *testing.T, pid int, not byte) {
	t.Helper()
	await(t, func() bool { return state(t, pid) != not })
}

func await(t *testing.T, condition func() bool) {
	t.Helper()
	for end := clock.Now() + int64(time.Minute); !condition(); {
		if clock.Now() > end {
			t.Fatal("the condition never came")
		}
		clock.SleepUntilBlocking(clock.Now() + 100_000)
	}
}
