package vitals

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sixnines/internal/clock"
	"sixnines/result"
)

func TestUsageIsThatOfTheProcess(t *testing.T) {
	m := start(t, Options{})
	m.Sample()
	var before, after unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &before); err != nil {
		t.Fatal(err)
	}
	for used := int64(0); used < 20_000_000; { // 20 ms of CPU, however long it takes
		for range 1000 {
			_ = clock.Now()
		}
		if err := unix.Getrusage(unix.RUSAGE_SELF, &after); err != nil {
			t.Fatal(err)
		}
		used = after.Utime.Nano() + after.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano()
	}
	s := m.Sample()
	user, _ := s.Lookup(result.VitalProcessCPUUser)
	system, _ := s.Lookup(result.VitalProcessCPUSystem)
	share, _ := s.Lookup(result.VitalProcessCPU)
	cpu := user.Value + system.Value
	if ratio := share.Value * s.Elapsed().Seconds() / cpu; ratio < 0.999 || ratio > 1.001 {
		t.Errorf("share %v of %v is not %v s", share.Value, s.Elapsed(), cpu)
	}
	if cpu < 0.019 {
		t.Errorf("%v s of CPU in an interval that used 0.02", cpu)
	}
}

func TestSizeIsThatOfTheProcess(t *testing.T) {
	m := start(t, Options{})
	s := m.Sample()
	threads, _ := s.Lookup(result.VitalProcessThreads)
	rss, _ := s.Lookup(result.VitalProcessRSS)
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	if ratio := threads.Value / float64(len(tasks)); ratio < 0.5 || ratio > 2 {
		t.Errorf("%v threads, %d tasks", threads.Value, len(tasks))
	}
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	if rss.Value < float64(mem.HeapAlloc)/4 {
		t.Errorf("%v bytes resident with a heap of %d", rss.Value, mem.HeapAlloc)
	}
}

func TestCounterFilesGrowAndRepeat(t *testing.T) {
	name := filepath.Join(t.TempDir(), "counters")
	text := make([]byte, 10_000) // more than the first buffer
	for i := range text {
		text[i] = 'a' + byte(i%26)
	}
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := openCounters(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	for range 3 {
		if got, err := f.read(); err != nil || string(got) != string(text) {
			t.Fatalf("%d bytes, %v; want %d", len(got), err, len(text))
		}
	}
	if got, err := f.prefix(); err != nil || len(got) < 4096 || string(got) != string(text[:len(got)]) {
		t.Errorf("prefix of %d bytes, %v", len(got), err)
	}
	if _, err := openCounters(name + ".absent"); err == nil {
		t.Error("an absent file was opened")
	}
	if _, err := openCounters(t.TempDir()); err == nil {
		t.Error("a directory was read")
	}
}

// A source that fails later becomes missing, and the others continue.
func TestSourcesThatFailLaterAreMissing(t *testing.T) {
	name := filepath.Join(t.TempDir(), "counter")
	if err := os.WriteFile(name, []byte("pswpin 7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	m := start(t, Options{})
	s, err := openSingle(name, "test.counter", 1,
		func(text []byte) (uint64, bool) { return counter(text, "pswpin") })
	if err != nil {
		t.Fatal(err)
	}
	m.mu.Lock()
	m.sources = append(m.sources, opened{[]result.Vital{"test.counter"}, s})
	m.mu.Unlock()
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("pswpin 10\n")
	if v, ok := m.Sample().Lookup("test.counter"); !ok || v.Value != 3 {
		t.Errorf("%v, %v; want 3", v.Value, ok)
	}
	missing := len(m.Missing())
	write("nothing\n")
	if v, ok := m.Sample().Lookup("test.counter"); ok {
		t.Errorf("a file without the counter gives %v", v.Value)
	}
	if got := m.Missing(); len(got) != missing+1 {
		t.Errorf("missing %q, want one more than %d", got, missing)
	}
	write("pswpin 4\n") // and one that goes backwards is no huge number
	if v, ok := m.Sample().Lookup("test.counter"); !ok || v.Value != 0 {
		t.Errorf("%v, %v; want 0", v.Value, ok)
	}
}

// freezeVariable makes the test binary watch itself: it says so, waits for its
// standard input to end and prints its freezes; with causeChild, all pauses.
const freezeVariable = "SIXNINES_TEST_VITALS_CHILD"

// keepingChild is the variable's value for a meter that keeps its processor.
const keepingChild = "keeping"

// idleArgument makes the test binary an idle process.
const idleArgument = "__idle"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == idleArgument {
		if err := ServeIdle(os.Stdin, os.Stdout, os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	switch os.Getenv(freezeVariable) {
	case "":
		os.Exit(m.Run())
	case causeChild:
		tellPauses()
	case starvedChild:
		serveStarved()
	case keepingChild:
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1)
		watchUntilEOF(Options{KeepProcessor: true})
	default:
		watchUntilEOF(Options{})
	}
}

// About one pause in a hundred falls between two sleeps of the thread meter, which then
// cannot tell it from a wait for the runtime. And a busy machine may delay a stopped
// process before it continues.
func TestStoppedProcessIsFrozen(t *testing.T) {
	for _, child := range []string{"1", keepingChild} {
		t.Run(child, func(t *testing.T) {
			for range 3 {
				longest, stopped, thawed := stopWatcher(t, child)
				err := judgeFreeze(longest, stopped, thawed)
				if err == nil {
					return
				}
				t.Log(err)
			}
			t.Error("of three stops none was found as it was")
		})
	}
}

// stopWatcher stops a child that watches itself, and returns the longest freeze
// that it found and when it was stopped.
func stopWatcher(t *testing.T, as string) (longest Pause, stopped, thawed int64) {
	t.Helper()
	s := startWatcher(t, as, nil)
	child := s.cmd.Process
	if err := child.Signal(unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	awaitState(t, child.Pid, 'T')
	stopped = clock.Now()
	time.Sleep(300 * time.Millisecond) // how long it is stopped: the thing measured, not a wait
	thawed = clock.Now()
	if err := child.Signal(unix.SIGCONT); err != nil {
		t.Fatal(err)
	}
	awaitOtherState(t, child.Pid, 'T')
	s.in.Close()
	return s.out.longest(t), stopped, thawed
}

func judgeFreeze(longest Pause, stopped, thawed int64) error {
	if longest.Source != result.PauseProcess {
		return fmt.Errorf("no freeze found: %+v", longest)
	}
	if ratio := float64(longest.Length()) / float64(thawed-stopped); ratio < 0.97 || ratio > 1.25 {
		return fmt.Errorf("a freeze of %v, the process was stopped for %v", longest.Length(), time.Duration(thawed-stopped))
	}
	// The child has the same clock: the freeze must lie where the test stopped it.
	overlap := min(longest.End, thawed) - max(longest.Start, stopped)
	if ratio := float64(overlap) / float64(thawed-stopped); ratio < 0.95 {
		return fmt.Errorf("the freeze [%d, %d] shares only %v of [%d, %d]", longest.Start, longest.End, ratio, stopped, thawed)
	}
	return nil
}

// A pause of the runtime only must not look like a frozen process: the thread meter
// continues while the world is stopped.
func TestRuntimeStallIsNoFreeze(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const threshold = 2 * time.Millisecond
	m := start(t, Options{HiccupThreshold: threshold})
	// A raw sleep holds the only processor: goroutines wait, threads do not.
	from := clock.Now()
	held := 0
	for range 10 {
		clock.SleepUntil(clock.Now() + int64(8*time.Millisecond))
		held++
	}
	to := clock.Now()
	m.Stop()
	var thread, goroutine int64
	for _, p := range m.Pauses() {
		inside := max(0, min(p.End, to)-max(p.Start, from))
		if p.Source == result.PauseThread {
			thread += inside
		} else {
			goroutine += inside
		}
	}
	t.Logf("held the processor %d times in %v: pauses of the thread %v, of the goroutine %v", held, time.Duration(to-from), time.Duration(thread), time.Duration(goroutine))
	if goroutine <= 2*thread {
		t.Errorf("pauses of the goroutine sum up to %v, of the thread to %v", time.Duration(goroutine), time.Duration(thread))
	}
}

// When the runtime takes the processor of a thread that keeps it, that is not a pause of
// the thread.
func TestLostProcessorIsNoPauseOfItsThread(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	m := start(t, Options{KeepProcessor: true, HiccupThreshold: 2 * time.Millisecond})
	await(t, func() bool { return m.thread.due.Load() != 0 && m.goroutine.due.Load() != 0 })
	var stop atomic.Bool
	var wait sync.WaitGroup
	for range 4 { // enough to keep a queue for the processor
		wait.Go(func() {
			for !stop.Load() {
			}
		})
	}
	clock.SleepUntilBlocking(clock.Now() + int64(500*time.Millisecond))
	stop.Store(true)
	wait.Wait()
	m.Stop()
	var thread, goroutine time.Duration
	for _, p := range m.Pauses() {
		switch p.Source {
		case result.PauseThread:
			thread += p.Length()
		case result.PauseGoroutine:
			goroutine += p.Length()
		}
	}
	t.Logf("pauses of the thread %v, of the goroutine %v", thread, goroutine)
	if goroutine <= 2*thread {
		t.Errorf("pauses of the goroutine sum up to %v, of the thread to %v", goroutine, thread)
	}
}

// benchmarkMeters reports what the meters cost: CPU of the process as a share
// of one core, in parts per thousand.
func benchmarkMeters(b *testing.B, period time.Duration, threads, goroutines int) {
	benchmarkMetersOn(clock.SleepUntilStamped, b, period, threads, goroutines)
}

func benchmarkMetersOn(sleep func(int64) int64, b *testing.B, period time.Duration, threads, goroutines int) {
	m := &Monitor{pauses: newPauseList(4096), missing: map[string]string{}}
	var meters []*meter
	opt := Options{Period: period, HiccupThreshold: time.Second}
	slack := make(chan error, threads)
	for range threads {
		meter := m.newMeter(result.PauseThread, opt)
		meters = append(meters, meter)
		m.meters.Go(func() { meter.onThread(sleep, slack) })
	}
	for range goroutines {
		meter := m.newMeter(result.PauseGoroutine, opt)
		meters = append(meters, meter)
		m.meters.Go(meter.onGoroutine)
	}
	var before, after unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &before); err != nil {
		b.Fatal(err)
	}
	from := clock.Now()
	for b.Loop() {
		clock.SleepUntilBlocking(clock.Now() + int64(100*time.Millisecond))
	}
	elapsed := clock.Now() - from
	if err := unix.Getrusage(unix.RUSAGE_SELF, &after); err != nil {
		b.Fatal(err)
	}
	for _, meter := range meters {
		meter.stop.Store(true)
	}
	m.meters.Wait()
	used := after.Utime.Nano() + after.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano()
	b.ReportMetric(1000*float64(used)/float64(elapsed), "‰-of-a-core")
}

func BenchmarkNoMeter(b *testing.B)        { benchmarkMeters(b, time.Millisecond, 0, 0) }
func BenchmarkThreadMeter(b *testing.B)    { benchmarkMeters(b, time.Millisecond, 1, 0) }
func BenchmarkGoroutineMeter(b *testing.B) { benchmarkMeters(b, time.Millisecond, 0, 1) }
func BenchmarkBothMeters(b *testing.B)     { benchmarkMeters(b, time.Millisecond, 1, 1) }
func BenchmarkBothMeters4ms(b *testing.B)  { benchmarkMeters(b, 4*time.Millisecond, 1, 1) }

// BenchmarkMetersOfRuns measures the meters with the settings of a run.
func BenchmarkMetersOfRuns(b *testing.B) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1)
	benchmarkMetersOn(clock.SleepUntilKeeping, b, 4*time.Millisecond, 1, 1)
}
