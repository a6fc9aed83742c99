package clock

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"testing/synctest"
	"time"
)

// childVariable makes the test binary print its clock and end.
const childVariable = "SIXNINES_TEST_CLOCK_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		fmt.Printf("%d %q\n", Now(), Domain())
		return
	}
	os.Exit(m.Run())
}

// The clock read between two of our readings is between them, to within
// the width of the bracket.
func TestNowIsTheSystemsClock(t *testing.T) {
	for range 10_000 {
		before := absolute()
		now := Now()
		after := absolute()
		if slack := int64(Bracket()); now < before-slack || now > after+slack {
			t.Fatalf("Now = %d, the system's clock was in [%d, %d], bracket %d", now, before, after, slack)
		}
	}
}

func TestNowNeverGoesBack(t *testing.T) {
	last := Now()
	for range 100_000 {
		now := Now()
		if now < last {
			t.Fatalf("Now went from %d back to %d", last, now)
		}
		last = now
	}
}

func TestNowDoesNotAllocate(t *testing.T) {
	var sink int64
	if n := testing.AllocsPerRun(1000, func() { sink += Now() }); n != 0 {
		t.Errorf("%v allocations a reading", n)
	}
	_ = sink
}

func TestBracketBestKeepsTheNarrowest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// A clock that is 1 h ahead of Go's, read with delays on either side.
		delays := []struct{ before, after time.Duration }{{50, 50}, {4, 6}, {3, 30}, {20, 20}}
		start, i := time.Now(), 0
		m := bracketBest(func() int64 {
			d := delays[i]
			i++
			time.Sleep(d.before)
			v := int64(time.Since(start) + time.Hour)
			time.Sleep(d.after)
			return v
		}, len(delays))
		if m.width != 10 {
			t.Errorf("width %d, want the narrowest bracket's 10", m.width)
		}
		// 4 of 10 ns before the reading: the middle is 1 ns later than it.
		if want := int64(time.Hour) - 1; m.offset != want {
			t.Errorf("offset %d, want %d", m.offset, want)
		}
	})
}

func TestNowFollowsABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before := Now()
		time.Sleep(time.Hour)
		if got := Now() - before; got != int64(time.Hour) {
			t.Errorf("an hour in the bubble is %d ns of Now", got)
		}
	})
}

func TestWallHasNoMonotonicReading(t *testing.T) {
	if w := Wall(); w != w.Round(0) {
		t.Errorf("%v has a monotonic reading", w)
	}
}

func TestDomainIsStable(t *testing.T) {
	if a, b := Domain(), Domain(); a != b || a == "" {
		t.Errorf("domains %q and %q", a, b)
	}
}

// child runs the test binary as another process and returns its clock's
// reading and domain.
func child(t *testing.T) (now int64, dom string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), childVariable+"=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, scanErr := fmt.Fscanf(bufio.NewReader(out), "%d %q\n", &now, &dom)
	if err := cmd.Wait(); err != nil || scanErr != nil {
		t.Fatalf("child: %v, its output: %v", err, scanErr)
	}
	return now, dom
}

func TestSleepsAreNeverEarly(t *testing.T) {
	for name, sleep := range map[string]func(int64){
		"SleepUntil":         SleepUntil,
		"SleepUntilBlocking": SleepUntilBlocking,
		"SleepUntilStamped": func(at int64) {
			if woke := SleepUntilStamped(at); woke < at {
				t.Errorf("SleepUntilStamped(%d) says it woke at %d", at, woke)
			}
		},
		"SleepUntilKeeping": func(at int64) {
			for { // it may be cut short
				if woke := SleepUntilKeeping(at); woke >= at || at < 0 {
					return
				} else if woke > Now() {
					t.Errorf("SleepUntilKeeping(%d) says it woke at %d, which is to come", at, woke)
				}
			}
		},
	} {
		for _, d := range []int64{-int64(time.Hour), -1, 0, 1, 1000, 100_000, 2_000_000} {
			at := Now() + d
			sleep(at)
			if now := Now(); now < at-int64(Bracket()) {
				t.Errorf("%s(%d) returned %d ns early", name, at, at-now)
			}
		}
		sleep(-1) // no time that the kernel takes: must come back
	}
}

func BenchmarkNow(b *testing.B) {
	b.ReportAllocs()
	var sink int64
	for b.Loop() {
		sink += Now()
	}
	_ = sink
}

// The cost of alternatives to Now.
func BenchmarkTimeNow(b *testing.B) {
	for b.Loop() {
		_ = time.Now()
	}
}

func BenchmarkSystemCall(b *testing.B) {
	for b.Loop() {
		_ = absolute()
	}
}
